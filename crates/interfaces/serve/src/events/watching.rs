//! Turns what sessions do into events for the stream.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use app::live::annotation_watch::AnnotationWatch;
use app::live::watch::{Live, MonitorSnapshot};
use app::workers::{self, RequestKind, WorkerInfo, WorkerState, list};
use app::{Context, Error};
use model::{Evidence, SessionActivity, SessionEvent, SessionId, SessionInfo};
use serde::Serialize;
use serde_json::{Value, json};

use crate::crewhub::sessions::{UPDATED, connection_of, crewhub_key, crewhub_session, lately, thin};
use crate::events::hub::{Dialect, Named};
use crate::marks;
use crate::notice::Notice;
use crate::state::{Server, Shared};

/// The name of the event with all sessions.
pub(crate) const REFRESH: &str = "sessions-refresh";
/// The name of the event of a session that was annotated.
const ANNOTATED: &str = "session-annotated";
/// The name of the event of a worker that asks.
pub(crate) const ASKS: &str = "worker-asks";
/// How often it is checked whether the server stops, and whether sessions were annotated.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The longest description of what a worker asks, in characters.
const LONGEST: usize = 200;

/// A worker asks for a permission, or a question.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkerAsks {
    session_id: SessionId,
    session_key: String,
    worker: i64,
    requests: Vec<Asked>,
}

impl WorkerAsks {
    /// The data of the event; CrewHub's front end knows a fixed agent's session by the agent's key.
    pub(crate) fn written(&self, server: &Server, dialect: Dialect) -> Value {
        let mut data = json!(self);
        if dialect == Dialect::CrewHub {
            data["sessionKey"] = json!(crewhub_key(server, &self.session_id));
        }
        data
    }
}

#[derive(Serialize)]
struct Asked {
    request: String,
    tool: String,
    /// `permission`, `question` or `plan`.
    kind: &'static str,
    detail: Option<String>,
}

/// Watches until the server stops.
pub(crate) fn watch(server: &Shared) {
    let mut annotated = AnnotationWatch::start(&server.context());
    if let Err(problem) = marks::take_over(server) {
        let why = format!("the dashboard's earlier pins and tags are not taken over: {}", problem.detail());
        server.report(Notice::Warning(why));
    }
    loop {
        match follow(server, &mut annotated) {
            Ok(Followed::OtherFolders) => {}
            Ok(Followed::Ended) => break,
            Err(error) => {
                server.report(Notice::Warning(format!("sessions are not watched: {}", error.message)));
                break;
            }
        }
    }
    server.hub.set_live(None);
}

/// Why it is not watched any more.
enum Followed {
    /// The server stops, or the monitor has ended.
    Ended,
    /// A connection says that other folders are to be read.
    OtherFolders,
}

fn follow(server: &Server, annotated: &mut AnnotationWatch) -> Result<Followed, Error> {
    let changes = server.sources.now().changes;
    let live = Live::start(&server.context())?;
    let (snapshot, mut events) = live.subscribe(&server.context())?;
    server.hub.set_live(Some(live));
    let mut placed = Placed::of(&snapshot.sessions);
    refresh(server, &snapshot);
    publish_open_asks(server);
    let stop = server.stop();
    let mut looked: Option<Instant> = None;
    while !*stop.borrow() {
        if looked.is_none_or(|looked| looked.elapsed() >= POLL_INTERVAL) {
            looked = Some(Instant::now());
            publish_annotated(server, annotated);
        }
        // The monitor has ended.
        let Ok(event) = events.next(POLL_INTERVAL) else { return Ok(Followed::Ended) };
        if let Some(event) = &event {
            publish(server, event, || events.snapshot());
            match &**event {
                SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => {
                    placed.note(server, std::slice::from_ref(info));
                }
                SessionEvent::SessionRemoved { session_id, .. } => placed.forget(session_id),
                _ => {}
            }
        }
        let is_lost = matches!(event.as_deref(), Some(SessionEvent::Resync { .. }));
        // A new listing has the titles that are not watched.
        if is_lost || (events.new_facts().is_some() && server.hub.subscribers() > 0) {
            let Some(snapshot) = events.snapshot() else { return Ok(Followed::Ended) };
            placed.note(server, &snapshot.sessions);
            refresh(server, &snapshot);
        }
        if is_lost {
            publish_open_asks(server);
        }
        if server.sources.now().changes != changes {
            return Ok(Followed::OtherFolders);
        }
    }
    Ok(Followed::Ended)
}

/// The sessions that are in a room: their directory is known, and they are listed.
struct Placed(HashSet<SessionId>);

impl Placed {
    /// Those that are known from the beginning.
    fn of(sessions: &[SessionInfo]) -> Self {
        let mut placed = Self(HashSet::new());
        placed.take(sessions);
        placed
    }

    /// Notes them; returns whether one was in no room before.
    fn take(&mut self, sessions: &[SessionInfo]) -> bool {
        let is_placed = |info: &&SessionInfo| info.cwd.is_some() && info.created.is_some();
        let before = self.0.len();
        self.0.extend(sessions.iter().filter(is_placed).map(|info| info.session_id.clone()));
        self.0.len() > before
    }

    /// Has front ends ask for the rooms again where a session is in one that was in none, which may be a new room.
    fn note(&mut self, server: &Server, sessions: &[SessionInfo]) {
        if self.take(sessions) {
            server.hub.publish("rooms-refresh", &json!({ "action": "session_placed" }));
        }
    }

    fn forget(&mut self, session: &SessionId) {
        self.0.remove(session);
    }
}

/// Publishes what sessions were annotated with, and has the titles of those that are watched looked up.
fn publish_annotated(server: &Server, annotated: &mut AnnotationWatch) {
    let changed = annotated.changed(&server.context());
    for change in &changed {
        if let Ok(data) = serde_json::to_value(change) {
            server.hub.publish_both(&(ANNOTATED, data), &[]);
        }
    }
    if let Some(live) = server.hub.live().filter(|_| !changed.is_empty()) {
        live.request_listing();
    }
}

/// Publishes all sessions.
fn refresh(server: &Server, snapshot: &MonitorSnapshot) {
    let own = json!({ "sessions": snapshot.sessions });
    server.hub.publish_both(&(REFRESH, own), &[(REFRESH, crewhub_refresh(server, snapshot))]);
}

fn crewhub_refresh(server: &Server, snapshot: &MonitorSnapshot) -> Value {
    json!(lately(server, &server.context(), snapshot))
}

fn publish(server: &Server, event: &SessionEvent, snapshot: impl FnOnce() -> Option<MonitorSnapshot>) {
    let Ok(mut json) = serde_json::to_value(event) else { return };
    let data = json.get_mut("data").map_or(Value::Null, Value::take);
    let own = (event.name(), data);
    match event {
        SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => {
            let crew: Vec<Named> =
                crewhub_session(server, info).map(|row| (own.0, row)).into_iter().collect();
            server.hub.publish_both(&own, &crew);
        }
        SessionEvent::SessionRemoved { session_id, .. } => {
            let key = crewhub_key(server, session_id);
            server.hub.publish_both(&own, &[(own.0, json!({ "key": key, "sessionId": session_id }))]);
        }
        SessionEvent::SessionActivity(activity) => {
            let is_shown = connection_of(server, &activity.session_id, None).is_some();
            let crew =
                if is_shown { vec![own.clone(), (UPDATED, thin(server, activity))] } else { Vec::new() };
            server.hub.publish_both(&own, &crew);
            ask(server, activity);
        }
        // Its row comes or goes.
        SessionEvent::SubagentSpawned(_) | SessionEvent::SubagentCompleted(_) => {
            let rows = snapshot().map(|snapshot| (REFRESH, crewhub_refresh(server, &snapshot)));
            let crew: Vec<Named> = Some(own.clone()).into_iter().chain(rows).collect();
            server.hub.publish_both(&own, &crew);
        }
        SessionEvent::SessionsRefresh { .. }
        | SessionEvent::SessionEvent(_)
        | SessionEvent::SubagentProgress(_)
        | SessionEvent::Announcement(_)
        | SessionEvent::SessionsChanged { .. }
        | SessionEvent::Resync { .. }
        | SessionEvent::Watching(_) => server.hub.publish(own.0, &own.1),
    }
}

/// Publishes what a worker asks, where its activity says that it waits for an answer.
fn ask(server: &Server, activity: &SessionActivity) {
    if activity.evidence == Evidence::Protocol
        && activity.is_blocked()
        && let Some(asks) = asks(&server.context(), &activity.session_id)
    {
        publish_asks(server, &asks);
    }
}

/// Publishes what a worker asks, with the session's key in each dialect.
fn publish_asks(server: &Server, asks: &WorkerAsks) {
    let [own, crew] = [Dialect::Own, Dialect::CrewHub].map(|dialect| (ASKS, asks.written(server, dialect)));
    server.hub.publish_both(&own, &[crew]);
}

/// What the worker of a session asks at this moment.
fn asks(context: &Context, session: &SessionId) -> Option<WorkerAsks> {
    asked_by(&workers::find(context, session.as_str()).ok()?)
}

/// What all workers ask at this moment, for who was not there when they began to.
pub(crate) fn open_asks(context: &Context) -> Vec<WorkerAsks> {
    let status = Some("waiting_permission".to_owned());
    let request = list::Request { status, active: true, limit: Some(usize::MAX), ..list::Request::default() };
    // Without a table of workers there are no requests.
    let found = list::list(context, &request).map(|found| found.workers).unwrap_or_default();
    found.iter().filter_map(asked_by).collect()
}

fn publish_open_asks(server: &Server) {
    for asks in open_asks(&server.context()) {
        publish_asks(server, &asks);
    }
}

fn asked_by(worker: &WorkerInfo) -> Option<WorkerAsks> {
    let WorkerState::WaitingPermission { requests } = &worker.state else { return None };
    let asked = requests.iter().map(|request| Asked {
        request: request.request.clone(),
        tool: request.tool.clone(),
        kind: match request.kind() {
            RequestKind::Permission => "permission",
            RequestKind::Questions(_) => "question",
            RequestKind::Plan(_) => "plan",
        },
        detail: request.detail().map(|detail| detail.chars().take(LONGEST).collect()),
    });
    Some(WorkerAsks {
        session_key: SessionInfo::key(&worker.session_id),
        session_id: worker.session_id.clone(),
        worker: worker.worker,
        requests: asked.collect(),
    })
}
