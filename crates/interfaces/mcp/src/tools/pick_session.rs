//! `pick_session`: which session a task belongs to.

use app::choose::answer::Answer;
use app::choose::pick::pick;
use app::choose::request::Request;
use app::{Context, Error};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::bounds;
use crate::call::Patience;
use crate::instructions::NOTICE;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, schema};

/// How many of the considered sessions an answer shows.
const SHOWN: usize = 3;

pub(super) const TOOL: Tool = Tool {
    name: "pick_session",
    title: "Choose a session for a task",
    description: "Chooses for a task in a repository whether to resume one of its sessions, to begin a fresh one or to wait, and says \
why: `action` is resume, fresh or queue. Nothing is started; spawn_worker carries it out.\n\
Example: {\"task\": \"fix the flaky login test\", \"repo\": \"web\"}",
    effect: Effect::Nothing,
    patience: Patience::Works,
    input: schema::input::<Request>,
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    schema::add_truncated(&mut schema);
    schema::add_notice(&mut schema);
    schema
}

fn run(context: &Context, given: JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    let mut answer = value(&pick(context, &request)?)?;
    if let Some(scores) = answer["scores"].as_array_mut() {
        scores.truncate(SHOWN);
    }
    answer["notice"] = json!(NOTICE);
    let is_shorter = bounds::shrink(&mut answer);
    answer["truncated"] = json!(is_shorter);
    Ok(Reply::Answer(answer))
}
