//! `spawn_worker`: starts a background worker.

use app::workers::spawn::spawn;

use crate::tool::{Effect, Tool};

pub(super) fn tool() -> Tool {
    Tool::new("spawn_worker", "Start a worker", DESCRIPTION, spawn)
        .effect(Effect::Starts)
        .quoting()
        .truncating()
}

const DESCRIPTION: &str = "Starts another Claude Code session in the background on a task in a project, and returns its number at once; follow it \
with wait_workers, worker_log and message_worker. The session is new unless resume_session_id, continue_session, label or \
choose_session selects an old one; fork_session continues a copy of that one. A worker asks the person for permissions, as any \
session does. A directory has one worker at a time: set new_worktree to work beside others.\n\
Example: {\"task\": \"Run the test suite and fix what fails\", \"project_path\": \"/home/sam/web\", \"new_worktree\": true}";
