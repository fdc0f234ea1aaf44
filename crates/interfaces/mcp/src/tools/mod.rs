//! The tools, one file each, named as they are called.

mod answer_worker;
mod list_workers;
mod message_page;
mod message_worker;
mod pick_session;
mod project_status;
mod read_session;
mod search;
mod session_list;
mod smart_fork;
mod spawn_worker;
mod stop_worker;
mod truncated_workers;
mod wait_workers;
mod worker_log;
mod worker_requests;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResult, ErrorData};
use rmcp::service::RequestContext;

use crate::call::call as answer;
use crate::errors::{tool_error, truncated_name};
use crate::frames::with_next_step;
use crate::server::Server;
use crate::tool::{Reply, Tool};

/// The answer to `tools/list`.
pub(crate) fn list(server: &Server) -> Vec<rmcp::model::Tool> {
    available(server).iter().map(Tool::definition).collect()
}

/// Calls a listed tool; an error of the app is a result, not an error of the protocol.
pub(crate) async fn call(
    server: &Server,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let Some(tool) = available(server).into_iter().find(|tool| tool.name == request.name) else {
        let unknown =
            ErrorData::invalid_params(format!("unknown tool `{}`", truncated_name(&request.name)), None);
        return Err(with_next_step(unknown, "list the tools: tools/list"));
    };
    let arguments = request.arguments.unwrap_or_default();
    Ok(
        match answer(server, &context, tool.on_disconnect, move |context| tool.run(context, arguments)).await
        {
            Ok(Reply::Answer(value)) => CallToolResult::structured(value),
            Ok(Reply::Guidance(value)) => CallToolResult::structured_error(value),
            Err(error) => tool_error(&error),
        },
    )
}

fn available(server: &Server) -> Vec<Tool> {
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
