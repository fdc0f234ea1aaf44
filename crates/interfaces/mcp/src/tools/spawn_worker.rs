//! `spawn_worker`: another Claude works in the background.

use app::workers::run::Ready;
use app::workers::spawn::{Request, spawn};
use app::{Context, Error};

use crate::bounds;
use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, schema};

pub(super) const TOOL: Tool = Tool {
    name: "spawn_worker",
    title: "Start a worker",
    description: "Starts another Claude Code session in the background that works on a task in a project, and returns at once with \
its number: follow it with wait_workers, worker_log and message_worker. It begins a new session unless resume_session_id or \
continue_session names an old one; fork_session continues a copy of that one instead. It asks the person for permissions as any \
session does. One worker works in a directory at a time: give new_worktree for work beside others.\n\
Example: {\"task\": \"Run the test suite and fix what fails\", \"project_path\": \"/home/sam/web\", \"new_worktree\": true}",
    effect: Effect::Starts,
    patience: Patience::Works,
    input: schema::input::<Request>,
    output: schema::output::<Ready>,
    run,
};

fn run(context: &Context, given: rmcp::model::JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    let mut answer = value(&spawn(context, &request)?)?;
    bounds::shrink(&mut answer);
    Ok(Reply::Answer(answer))
}
