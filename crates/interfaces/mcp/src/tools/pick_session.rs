//! `pick_session`: which session a task belongs to.

use app::choose::pick::pick;
use app::choose::request::Request;

use crate::tool::Tool;

/// How many of the considered sessions an answer shows.
const SHOWN: usize = 3;

pub(super) fn tool() -> Tool {
    Tool::new("pick_session", "Choose a session for a task", DESCRIPTION, |context, request: &Request| {
        let mut answer = pick(context, request)?;
        answer.scores.truncate(SHOWN);
        Ok(answer)
    })
    .quoting()
    .shrinking()
}

const DESCRIPTION: &str = "Chooses for a task in a repository whether to resume one of its sessions, to begin a fresh one or to wait, and says \
why: `action` is resume, fresh or queue. Nothing is started; spawn_worker carries it out.\n\
Example: {\"task\": \"fix the flaky login test\", \"repo\": \"web\"}";
