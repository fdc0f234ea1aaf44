//! The tools, one file each, named as models call them.

mod answer_worker;
mod asking;
mod list_workers;
mod message_worker;
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
use crate::failure::{failed, named};
use crate::server::Server;
use crate::tool::{Reply, Tool};

/// The tools that clients of this server are shown.
pub(crate) fn list(server: &Server) -> Vec<rmcp::model::Tool> {
    shown(server).iter().map(Tool::definition).collect()
}

/// Calls a tool that clients are shown; what the app refuses is an answer, not an error of the protocol.
pub(crate) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = shown(server).into_iter().find(|tool| tool.name == request.name) else {
        return Err(ErrorData::invalid_params(format!("there is no tool `{}`", named(&request.name)), None));
    };
    let arguments = request.arguments.unwrap_or_default();
    Ok(match answer(server, &context, tool.patience, move |context| tool.run(context, arguments)).await {
        Ok(Reply::Answer(value)) => CallToolResult::structured(value),
        Ok(Reply::Guidance(value)) => CallToolResult::structured_error(value),
        Err(error) => failed(&error),
    })
}

fn shown(server: &Server) -> Vec<Tool> {
    let mut tools = vec![
        smart_fork::tool(),
        search::tool(),
        read_session::tool(),
        session_list::tool(),
        project_status::tool(),
        pick_session::tool(),
        spawn_worker::tool(),
        message_worker::tool(),
        list_workers::tool(),
        wait_workers::tool(),
        stop_worker::tool(),
        worker_log::tool(),
    ];
    if server.app.config.settings.mcp.answer_permissions {
        tools.push(answer_worker::tool());
    }
    tools
}
