//! Delivers a message of a chat: as the answer to what the session's worker asks, to the session, or as the first task of a
//! fixed agent.

use app::workers::{answer, start};
use app::{Context, Error, Kind};
use model::{AgentId, SessionId};

use crate::chat::turn::Turn;
use crate::crewhub::chat::message::{ChatMessage, Purpose};
use crate::crewhub::key::Key;
use crate::crewhub::requests::{RequestAnswer, TextAnswer, WaitingSession};
use crate::crewhub::store::Agent;
use crate::crewhub::{context, layout};
use crate::state::Server;

/// What became of a message.
pub(super) enum Delivery {
    /// It was delivered, and this follows.
    Delivered(Box<Turn>),
    /// It was not: the session's worker waits for an answer.
    Waiting(WaitingSession),
}

fn delivered(turn: Turn) -> Delivery {
    Delivery::Delivered(Box::new(turn))
}

/// Delivers a message.
pub(super) fn deliver(server: &Server, context: &Context, message: &ChatMessage) -> Result<Delivery, Error> {
    if let Some(session) = message.key.session(&server.store) {
        return match WaitingSession::find(context, &session) {
            Some(waiting) => to_waiting(server, context, waiting, message),
            // As a message it would have had to pass more checks.
            None if message.purpose == Purpose::Answer => Err(answered_already()),
            None => match &message.key {
                Key::Agent(agent) => of_agent(server, context, (agent, &session), message),
                _ => Turn::of_session(context, &session, &in_room(server, context, message)?),
            }
            .map(delivered),
        };
    }
    match &message.key {
        Key::Agent(agent) => begin(server, context, agent, message).map(delivered),
        other => Err(Error::new(Kind::NotFound, format!("{other} has no session"))),
    }
}

/// Delivers a message to a session whose worker waits, which may be the answer.
fn to_waiting(
    server: &Server,
    context: &Context,
    waiting: WaitingSession,
    message: &ChatMessage,
) -> Result<Delivery, Error> {
    match waiting.answered_by(&server.shown, &message.text) {
        Some(TextAnswer::Whole(answer)) => give(server, context, &waiting.session, answer).map(delivered),
        Some(TextAnswer::Part { request, answers }) => {
            server.shown.note_answers(&waiting.session, &request, answers);
            Ok(Delivery::Waiting(waiting))
        }
        None if message.purpose == Purpose::Answer => Err(answered_already()),
        None => Ok(Delivery::Waiting(waiting)),
    }
}

fn answered_already() -> Error {
    Error::new(Kind::Held, "what was asked is answered already")
}

/// Goes on with an agent's session: its living worker as it is, or a new one as the agent is now.
fn of_agent(
    server: &Server,
    context: &Context,
    (agent, session): (&AgentId, &SessionId),
    message: &ChatMessage,
) -> Result<Turn, Error> {
    let text = in_room(server, context, message)?;
    if let Some(turn) = Turn::of_living_worker(context, session, &text)? {
        return Ok(turn);
    }
    let resumed = start::Request {
        resume: Some(session.to_string()),
        fresh: false,
        repo: None,
        name: None,
        ..task(server, context, agent, message)?
    };
    match Turn::of_task(context, &resumed) {
        // Its worker failed before it had begun a transcript.
        Err(error) if error.kind == Kind::NotFound => begin(server, context, agent, message),
        turn => turn,
    }
}

/// Begins an agent's session.
fn begin(server: &Server, context: &Context, agent: &AgentId, message: &ChatMessage) -> Result<Turn, Error> {
    let turn = Turn::of_task(context, &task(server, context, agent, message)?)?;
    let (agent, session) = (agent.to_string(), turn.session.to_string());
    // Where this fails, the next message starts another session; this one was delivered.
    let _ = server.store.edit(|stored| {
        for known in stored.agents.iter_mut().filter(|known| known.id == agent) {
            known.current_session_id = Some(session.clone());
        }
        Ok(())
    });
    Ok(turn)
}

/// A message as the first task of a fixed agent.
fn task(
    server: &Server,
    context: &Context,
    agent: &AgentId,
    message: &ChatMessage,
) -> Result<start::Request, Error> {
    let known =
        server.store.read(|stored| stored.agents.iter().find(|known| known.id == agent.as_str()).cloned());
    let known = known.ok_or_else(|| Error::new(Kind::NotFound, format!("there is no agent `{agent}`")))?;
    let repo = known.project_path.clone().ok_or_else(|| {
        let message = format!("agent `{agent}` has no project_path: the directory that it works in");
        Error::new(Kind::Usage, message).hint("give the agent a project_path")
    })?;
    Ok(start::Request {
        task: in_room(server, context, message)?,
        repo: Some(repo),
        fresh: true,
        model: known.default_model,
        permission_mode: Some(known.permission_mode),
        append_system_prompt: known.system_prompt,
        name: Some(known.name),
        ..start::Request::default()
    })
}

/// The text behind the description of its room: the one in which it is written, else the agent's own.
fn in_room(server: &Server, context: &Context, message: &ChatMessage) -> Result<String, Error> {
    // A command has to come first.
    let alone = || Ok(message.text.clone());
    if message.text.starts_with('/') {
        return alone();
    }
    let agent = server.store.read(|stored| {
        let is_it = |known: &&Agent| matches!(&message.key, Key::Agent(id) if known.id == id.as_str());
        stored.agents.iter().find(is_it).cloned()
    });
    let own = agent.as_ref().and_then(|agent| agent.default_room_id.as_deref());
    let Some(room) = message.room.as_deref().or(own) else { return alone() };
    let sessions = layout::sessions(context)?;
    let rooms = server.store.read(|stored| layout::rooms(stored, &layout::projects(stored, &sessions)));
    let Some(room) = rooms.into_iter().find(|known| known.id == room) else { return alone() };
    let envelope = context::of_room(server, &room, context::OWN_CHANNEL, agent.as_ref());
    Ok(context::before(&envelope, agent.as_ref().map(|agent| agent.name.as_str()), &message.text))
}

/// Gives an answer, and follows what it leads to.
fn give(
    server: &Server,
    context: &Context,
    session: &SessionId,
    answer: RequestAnswer,
) -> Result<Turn, Error> {
    let RequestAnswer { worker, request, reply } = answer;
    let turn = Turn::of_answer(context, worker, &request)?;
    answer::answer(
        context,
        &answer::Request { worker: worker.to_string(), request: request.clone(), reply },
    )?;
    server.shown.forget(session, &request);
    Ok(turn)
}
