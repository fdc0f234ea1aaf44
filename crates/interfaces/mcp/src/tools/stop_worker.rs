//! `stop_worker`: ends a worker.

use app::workers::stop::{Answer, Request, stop};
use app::{Context, Error};

use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool};
use crate::{arguments, schema};

pub(super) const TOOL: Tool = Tool {
    name: "stop_worker",
    title: "Stop a worker",
    description: "Ends a worker with everything it started: one that waits is cancelled, one that works is interrupted. Its session \
stays and can be continued. With remove_worktree its work tree is removed too, if nothing would be lost.\n\
Example: {\"worker\": 3}",
    effect: Effect::Ends,
    patience: Patience::Works,
    input: schema::input::<Request>,
    output: schema::output::<Answer>,
    run,
};

fn run(context: &Context, given: rmcp::model::JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    Reply::new(&stop(context, &request)?)
}
