//! Turns what sessions do into events for the stream.

use std::time::Duration;

use app::live::watch::{Live, MonitorSnapshot};
use app::workers::{self, RequestKind, WorkerState};
use app::{Context, Error};
use model::{Evidence, SessionEvent, SessionId, SessionInfo};
use serde::Serialize;
use serde_json::Value;

use crate::notice::Notice;
use crate::state::{Server, Shared};

/// How often it is looked whether the server stops.
const GLANCE: Duration = Duration::from_millis(250);
/// The longest description of what a worker asks, in characters.
const LONGEST: usize = 200;

/// Every session that is watched, at the beginning and after events were lost.
#[derive(Serialize)]
struct Refresh<'a> {
    sessions: &'a [SessionInfo],
}

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
    if let Err(error) = follow(server) {
        server.report(Notice::Warning(format!("sessions are not watched: {}", error.message)));
    }
    server.hub.set_live(None);
}

fn follow(server: &Server) -> Result<(), Error> {
    let live = Live::start(&server.context())?;
    let (snapshot, mut events) = live.subscribe(&server.context())?;
    server.hub.set_live(Some(live));
    refresh(server, &snapshot);
    let stop = server.stop();
    while !*stop.borrow() {
        // There is nobody who watches any more.
        let Ok(event) = events.next(GLANCE) else { return Ok(()) };
        if let Some(event) = &event {
            publish(server, event);
        }
        let is_lost = matches!(event.as_deref(), Some(SessionEvent::Resync { .. }));
        // A new listing has the titles that are not watched.
        if is_lost || (events.new_facts().is_some() && server.hub.listeners() > 0) {
            let Some(snapshot) = events.snapshot() else { return Ok(()) };
            refresh(server, &snapshot);
        }
    }
    Ok(())
}

fn refresh(server: &Server, snapshot: &MonitorSnapshot) {
    server.hub.publish("sessions-refresh", &Refresh { sessions: &snapshot.sessions });
}

fn publish(server: &Server, event: &SessionEvent) {
    let Ok(mut json) = serde_json::to_value(event) else { return };
    server.hub.publish(event.name(), &json.get_mut("data").map_or(Value::Null, Value::take));
    if let SessionEvent::SessionActivity(activity) = event
        && activity.evidence == Evidence::Protocol
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
