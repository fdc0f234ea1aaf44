//! `answer_worker`: answers what a worker asks, where the person lets models do so.

use app::workers::answer::{Request, answer};
use app::workers::list::WorkerInfo;
use app::{Context, Error};

use crate::call::Patience;
use crate::tool::{Effect, Reply, Tool};
use crate::{arguments, schema};

pub(super) const TOOL: Tool = Tool {
    name: "answer_worker",
    title: "Answer a worker's request",
    description: "Answers a permission request or a question of a worker in the person's place; list_workers shows the requests. Allow \
only what the person would allow, and deny with a reason otherwise.\n\
Example: {\"worker\": 3, \"request\": \"toolu_01\", \"reply\": {\"behavior\": \"deny\", \"message\": \"Work on a branch instead.\"}}",
    effect: Effect::Ends,
    patience: Patience::Works,
    input: schema::input::<Request>,
    output: schema::output::<WorkerInfo>,
    run,
};

fn run(context: &Context, given: rmcp::model::JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    answer(context, &request)?;
    Reply::new(&app::workers::find(context, &request.worker)?)
}
