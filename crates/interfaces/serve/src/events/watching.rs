//! Turns what sessions do into events for the stream.

use std::time::{Duration, Instant};

use app::live::annotated::AnnotationWatch;
use app::live::watch::{Live, MonitorSnapshot};
use app::workers::{self, RequestKind, WorkerState};
use app::{Context, Error};
use model::{Evidence, SessionActivity, SessionEvent, SessionId, SessionInfo};
use serde::Serialize;
use serde_json::{Value, json};

use crate::crew::sessions::{connection_of, crew_key, crew_session, lately};
use crate::events::hub::Named;
use crate::marks;
use crate::notice::Notice;
use crate::state::{Server, Shared};

/// The name of the event with all sessions.
const REFRESH: &str = "sessions-refresh";
/// The name of the event of a session that changed.
const UPDATED: &str = "session-updated";
/// The name of the event of a session that was annotated.
const ANNOTATED: &str = "session-annotated";
/// How often it is checked whether the server stops, and whether sessions were annotated.
const GLANCE: Duration = Duration::from_millis(250);
/// The longest description of what a worker asks, in characters.
const LONGEST: usize = 200;

/// A worker asks for a permission, or a question.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkerAsks {
    session_id: SessionId,
    session_key: String,
    worker: i64,
    requests: Vec<Asked>,
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
    refresh(server, &snapshot);
    let stop = server.stop();
    let mut looked: Option<Instant> = None;
    while !*stop.borrow() {
        if looked.is_none_or(|looked| looked.elapsed() >= GLANCE) {
            looked = Some(Instant::now());
            publish_annotated(server, annotated);
        }
        // The monitor has ended.
        let Ok(event) = events.next(GLANCE) else { return Ok(Followed::Ended) };
        if let Some(event) = &event {
            publish(server, event, || events.snapshot());
        }
        let is_lost = matches!(event.as_deref(), Some(SessionEvent::Resync { .. }));
        // A new listing has the titles that are not watched.
        if is_lost || (events.new_facts().is_some() && server.hub.listeners() > 0) {
            let Some(snapshot) = events.snapshot() else { return Ok(Followed::Ended) };
            refresh(server, &snapshot);
        }
        if server.sources.now().changes != changes {
            return Ok(Followed::OtherFolders);
        }
    }
    Ok(Followed::Ended)
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
    server.hub.publish_both(&(REFRESH, own), &[(REFRESH, crew_refresh(server, snapshot))]);
}

fn crew_refresh(server: &Server, snapshot: &MonitorSnapshot) -> Value {
    json!(lately(server, &server.context(), snapshot))
}

fn publish(server: &Server, event: &SessionEvent, snapshot: impl FnOnce() -> Option<MonitorSnapshot>) {
    let Ok(mut json) = serde_json::to_value(event) else { return };
    let data = json.get_mut("data").map_or(Value::Null, Value::take);
    let own = (event.name(), data);
    match event {
        SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => {
            let crew: Vec<Named> = crew_session(server, info).map(|row| (own.0, row)).into_iter().collect();
            server.hub.publish_both(&own, &crew);
        }
        SessionEvent::SessionRemoved { session_id, .. } => {
            let key = crew_key(server, session_id);
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
            let rows = snapshot().map(|snapshot| (REFRESH, crew_refresh(server, &snapshot)));
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

/// An activity as CrewHub's front end merges it into the session that it shows.
fn thin(server: &Server, activity: &SessionActivity) -> Value {
    json!({
        "sessionKey": crew_key(server, &activity.session_id),
        "source": model::SOURCE,
        "status": activity.activity,
        "activity_detail": activity.detail,
        "activity_tool_name": activity.tool_name,
    })
}

/// Publishes what a worker asks, where its activity says that it waits for an answer.
fn ask(server: &Server, activity: &SessionActivity) {
    if activity.evidence == Evidence::Protocol
        && activity.is_blocked()
        && let Some(asks) = asks(&server.context(), &activity.session_id)
    {
        server.hub.publish("worker-asks", &asks);
    }
}

/// What the worker of a session asks at this moment.
fn asks(context: &Context, session: &SessionId) -> Option<WorkerAsks> {
    let worker = workers::find(context, session.as_str()).ok()?;
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
        session_key: SessionInfo::key(session),
        session_id: session.clone(),
        worker: worker.worker,
        requests: asked.collect(),
    })
}
