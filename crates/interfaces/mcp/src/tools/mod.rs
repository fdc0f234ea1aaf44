//! The tools, one file each, named as models call them.

mod answer_worker;
mod list_workers;
mod message_worker;
mod paging;
mod pick_session;
mod project_status;
mod read_session;
mod search;
mod session_list;
mod smart_fork;
mod spawn_worker;
mod stop_worker;
mod transcript;
mod wait_workers;
mod worker_log;

use std::sync::Arc;

use app::{Context, Error, Kind};
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData, JsonObject, ToolAnnotations};
use rmcp::service::RequestContext;
use serde::Serialize;
use serde_json::Value;

use crate::Mode;
use crate::call::{Patience, call as answer};
use crate::failure::failed;
use crate::server::Server;

/// A tool.
pub(crate) struct Tool {
    name: &'static str,
    title: &'static str,
    /// What it does, when to call it, and an example.
    description: &'static str,
    effect: Effect,
    patience: Patience,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    run: fn(&Context, JsonObject) -> Result<Reply, Error>,
}

/// What a call of a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing.
    Nothing,
    /// Something begins that was not there before: a worker acts, within its permissions.
    Starts,
    /// Something ends or is gone.
    Ends,
}

/// What a tool replies.
enum Reply {
    /// What was asked for.
    Answer(Value),
    /// What to do instead.
    Guidance(Value),
}

impl Reply {
    fn new(answer: &impl Serialize) -> Result<Self, Error> {
        value(answer).map(Self::Answer)
    }
}

/// An answer as JSON.
fn value(answer: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(answer)
        .map_err(|error| Error::caused(Kind::Internal, "the answer cannot be written as JSON", &error))
}

/// The tools that clients of this server are shown.
pub(crate) fn list(server: &Server) -> Vec<rmcp::model::Tool> {
    shown(server).into_iter().map(Tool::definition).collect()
}

/// Calls a tool.
pub(crate) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = shown(server).into_iter().find(|tool| tool.name == request.name) else {
        return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
    };
    let (run, arguments) = (tool.run, request.arguments.unwrap_or_default());
    Ok(match answer(server, &context, tool.patience, move |context| run(context, arguments)).await {
        Ok(Reply::Answer(value)) => CallToolResult::structured(value),
        Ok(Reply::Guidance(value)) => CallToolResult::structured_error(value),
        Err(error) => failed(&error),
    })
}

fn shown(server: &Server) -> Vec<&'static Tool> {
    let mut tools = match server.mode {
        Mode::Standalone => vec![
            &smart_fork::TOOL,
            &search::TOOL,
            &read_session::TOOL,
            &session_list::TOOL,
            &project_status::TOOL,
            &pick_session::TOOL,
            &spawn_worker::TOOL,
            &message_worker::TOOL,
            &list_workers::TOOL,
            &wait_workers::TOOL,
            &stop_worker::TOOL,
            &worker_log::TOOL,
        ],
    };
    if server.app.config.settings.mcp.answer_permissions {
        tools.push(&answer_worker::TOOL);
    }
    tools
}

impl Tool {
    fn definition(&self) -> rmcp::model::Tool {
        let (input, output) = ((self.input)(), (self.output)());
        rmcp::model::Tool::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(self.effect.annotations())
    }
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let (reads, destroys, repeats, reaches_out) = match self {
            Self::Nothing => (true, false, true, false),
            Self::Starts => (false, false, false, true),
            Self::Ends => (false, true, true, false),
        };
        ToolAnnotations::new()
            .read_only(reads)
            .destructive(destroys)
            .idempotent(repeats)
            .open_world(reaches_out)
    }
}
