//! `store`: the sessions of OpenClaw's agents, read and changed as OpenClaw does it. Each question is a function that takes a
//! request and returns an answer. `cc.rs` has its `cc` commands.

pub mod cc;
mod check;
pub(crate) mod claude_behind;
mod cleanup;
pub(crate) mod continue_key;
mod place;
mod policy;
mod sessions;

use jiff::Timestamp;
use model::AgentId;
use openclaw::{AgentStore, SessionKey, StoreError};

pub use openclaw::{SendDecision, SessionRow};

pub use self::check::{CheckAnswer, LockAnswer, StoreProblem, check, lock};
pub use self::cleanup::{Ended, PruneAnswer, PruneRequest, ResetRequest, delete, prune, reset};
pub use self::place::StorePlace;
pub use self::policy::{PolicyAnswer, policy};
pub use self::sessions::{
    GetAnswer, KeyRequest, ListAnswer, ListedStore, SetRequest, StoreRequest, get, list, set,
};
use crate::{Context, Error, Kind};

/// The store of the agent that a request is about: the one it names, else the caller's own, else the one of the key.
fn store_of(
    context: &Context,
    named: Option<&AgentId>,
    key: Option<&SessionKey>,
) -> Result<AgentStore, Error> {
    let of_key = key.and_then(SessionKey::agent);
    if let (Some(own), Some(owner), Some(key)) = (context.caller.agent(), &of_key, key)
        && own != owner
    {
        return Err(of_another(&key.to_string(), owner, own));
    }
    let agent = context.agent(named.or(of_key.as_ref()))?;
    if !context.may_see_conversations() {
        return Err(Error::new(Kind::Forbidden, "the sessions of OpenClaw's agents belong to no project")
            .hint("the person chooses what models see with the settings `mcp.projects` and `mcp.deny`"));
    }
    let config = context.config();
    let agent = agent.unwrap_or_else(|| default_agent(context));
    let variable = |name: &str| config.openclaw_variables.get(name).cloned();
    Ok(AgentStore::find(
        config.store_folders(),
        config.openclaw_configuration.as_deref(),
        &config.home,
        &agent,
        &variable,
    ))
}

fn default_agent(context: &Context) -> AgentId {
    let config = context.config();
    let first = config.store_folders().first();
    let found = match (&config.openclaw_configuration, first) {
        (Some(file), _) => openclaw::OpenClawConfig::read(file),
        (None, Some(state)) => openclaw::OpenClawConfig::find(state),
        (None, None) => openclaw::OpenClawConfig::default(),
    };
    found.default_agent()
}

/// Refuses what is another agent's, with its name.
pub(crate) fn of_another(what: &str, owner: &AgentId, caller: &AgentId) -> Error {
    Error::new(Kind::Forbidden, format!("{what} belongs to agent {owner}, and this is agent {caller}"))
}

/// Refuses to change what only OpenClaw may, with the command of its own that does it.
fn require_writable(store: &AgentStore, own_command: impl FnOnce() -> String) -> Result<(), Error> {
    store.ensure_writable().map_err(|error| match error {
        StoreError::InDatabase { .. } => {
            let message = error.to_string();
            Error::new(Kind::Unavailable, message).hint(format!("let OpenClaw do it: {}", own_command()))
        }
        other => failed(other),
    })
}

fn key(text: &str) -> Result<SessionKey, Error> {
    text.parse().map_err(|error: openclaw::InvalidKey| Error::new(Kind::Usage, error.to_string()))
}

fn clock(context: &Context) -> impl Fn() -> Timestamp + '_ {
    || context.read_clock()
}

/// An error of a store in the words of this crate.
pub(crate) fn failed(error: StoreError) -> Error {
    let message = error.to_string();
    match error {
        StoreError::File(problem) => Error::new(Kind::Unavailable, message).hint(problem.next_step),
        StoreError::Locked { .. } => Error::new(Kind::Held, message)
            .hint("try again when that process is done; remove the lock if it is gone"),
        StoreError::InDatabase { .. } => {
            Error::new(Kind::Unavailable, message).hint("change the session in OpenClaw itself")
        }
        StoreError::OtherAgent { .. } | StoreError::MaySpawn(_) => Error::new(Kind::Forbidden, message),
        StoreError::NoSession { .. } => Error::new(Kind::NotFound, message),
        StoreError::TwoSpellings { .. } => {
            Error::new(Kind::Ambiguous, message).hint("write the key as the store has it")
        }
        StoreError::Outside(_) | StoreError::Unwritable { .. } => Error::new(Kind::Usage, message),
    }
}

fn unreadable(problem: openclaw::Problem) -> Error {
    failed(StoreError::File(problem))
}
