//! `project_status`: the state of a repository.

use app::repository::status::{Answer, Request, status};
use app::{Context, Error};
use rmcp::model::JsonObject;
use serde_json::json;

use crate::bounds;
use crate::call::Patience;
use crate::instructions::NOTICE;
use crate::tool::{Effect, Reply, Tool, value};
use crate::{arguments, lean, schema};

pub(super) const TOOL: Tool = Tool {
    name: "project_status",
    title: "State of a project",
    description: "Tells the state of a repository: branch, uncommitted changes, recent commits, open pull requests, documents, its \
running and newest sessions, and which files live sessions are writing to right now. Call it before you begin to work in a \
repository that others may be working in.\n\
Example: {\"repo\": \"web\"}",
    effect: Effect::Nothing,
    patience: Patience::Works,
    input: schema::input::<Request>,
    output,
    run,
};

fn output() -> JsonObject {
    let mut schema = schema::output::<Answer>();
    lean::SESSION.apply_to_schema(&mut schema);
    schema::add_truncated(&mut schema);
    schema::add_notice(&mut schema);
    schema
}

fn run(context: &Context, given: JsonObject) -> Result<Reply, Error> {
    let request: Request = arguments::parse(given)?;
    let mut answer = value(&status(context, &request)?)?;
    for list in ["/sessions/active", "/sessions/recent", "/sessions/own_recent"] {
        lean::SESSION.apply(&mut answer, list);
    }
    answer["notice"] = json!(NOTICE);
    let is_shorter = bounds::shrink(&mut answer);
    answer["truncated"] = json!(is_shorter);
    Ok(Reply::Answer(answer))
}
