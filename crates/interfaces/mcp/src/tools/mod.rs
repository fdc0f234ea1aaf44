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

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData};
use rmcp::service::RequestContext;

use crate::call::call as answer;
use crate::failure::failed;
use crate::server::Server;
use crate::tool::{Reply, Tool};

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
    let mut tools = vec![
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
    ];
    if server.app.config.settings.mcp.answer_permissions {
        tools.push(&answer_worker::TOOL);
    }
    tools
}
