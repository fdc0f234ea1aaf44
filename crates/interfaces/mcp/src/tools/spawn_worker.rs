//! `spawn_worker`: another Claude works in the background.

use app::workers::spawn::spawn;

use crate::tool::{Effect, Tool};

pub(super) fn tool() -> Tool {
    Tool::new("spawn_worker", "Start a worker", DESCRIPTION, spawn)
        .effect(Effect::Starts)
        .quoting()
        .shrinking()
}

const DESCRIPTION: &str = "Starts another Claude Code session in the background that works on a task in a project, and returns at once with \
its number: follow it with wait_workers, worker_log and message_worker. It begins a new session unless resume_session_id or \
continue_session names an old one; fork_session continues a copy of that one instead. It asks the person for permissions as any \
session does. One worker works in a directory at a time: give new_worktree for work beside others.\n\
Example: {\"task\": \"Run the test suite and fix what fails\", \"project_path\": \"/home/sam/web\", \"new_worktree\": true}";
