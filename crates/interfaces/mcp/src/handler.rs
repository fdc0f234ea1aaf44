//! Dispatches each request of the protocol to the tools, resources and prompts.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, ErrorCode, ErrorData,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};

use crate::frames::with_next_step;
use crate::instructions::INSTRUCTIONS;
use crate::server::{Server, ServerMode};
use crate::validation::{invalid_cursor, with_default_next_step};
use crate::{bridge, prompts, resources, tools};

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        if let ServerMode::Bridge(_) = &self.mode {
            return bridge::info();
        }
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let implementation =
            Implementation::new("backstory", env!("CARGO_PKG_VERSION")).with_title("Backstory");
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(INSTRUCTIONS)
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {
        self.prepare();
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        require_first_page(request)?;
        Ok(ListToolsResult::with_all_items(match &self.mode {
            ServerMode::Standalone => tools::list(self),
            ServerMode::Bridge(bridge) => bridge::list(self, bridge)?,
        }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = match &self.mode {
            ServerMode::Standalone => tools::call(self, request, context).await,
            ServerMode::Bridge(bridge) => {
                let called = bridge::call(self, bridge, request, context).await;
                self.prepare();
                called
            }
        };
        called.map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        require_standalone(self)?;
        resources::list(self, request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        require_standalone(self)?;
        require_first_page(request)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        require_standalone(self)?;
        resources::read(self, request, context).await.map(ReadResourceResponse::from)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        require_standalone(self)?;
        require_first_page(request)?;
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        require_standalone(self)?;
        prompts::get(self, request, context).await.map(GetPromptResponse::from)
    }
}

/// Refuses the cursor of a list that has one page.
fn require_first_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    let cursor = request.and_then(|request| request.cursor).filter(|cursor| !cursor.is_empty());
    if cursor.is_none() { Ok(()) } else { Err(invalid_cursor()) }
}

/// Refuses requests that a bridge does not support.
fn require_standalone(server: &Server) -> Result<(), ErrorData> {
    match &server.mode {
        ServerMode::Standalone => Ok(()),
        ServerMode::Bridge(_) => {
            let missing = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this server has tools only", None);
            Err(with_next_step(missing, "list the tools with tools/list, and call one with tools/call"))
        }
    }
}

/// Asks for the version that is answered, where another one was asked for: what follows is spoken in that one.
fn negotiate(request: &mut ClientRequest) {
    let ClientRequest::InitializeRequest(initialize) = request else { return };
    let asked = &mut initialize.params.protocol_version;
    if !asked.has_initialize() || !ProtocolVersion::KNOWN_VERSIONS.contains(asked) {
        *asked = ProtocolVersion::LATEST_WITH_INITIALIZE;
    }
}

/// The server with the rule that `initialize` comes first: an earlier request is refused, after which the client may still
/// initialize.
pub(crate) struct RequireInitialize(Server);

impl RequireInitialize {
    pub(crate) fn new(server: Server) -> Self {
        Self(server)
    }
}

impl Service<RoleServer> for RequireInitialize {
    async fn handle_request(
        &self,
        mut request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        negotiate(&mut request);
        let may_be_first = matches!(
            request,
            ClientRequest::InitializeRequest(_)
                | ClientRequest::DiscoverRequest(_)
                | ClientRequest::PingRequest(_)
        );
        // Since 2026-07-28 each request names its version, and nothing has to come before it.
        let is_without_handshake = context.meta.protocol_version().is_some();
        if !may_be_first && !is_without_handshake && context.peer.peer_info().is_none() {
            let early = ErrorData::invalid_request("the first request must be `initialize`", None);
            return Err(with_next_step(
                early,
                "send `initialize`, then `notifications/initialized`, then this again",
            ));
        }
        Service::handle_request(&self.0, request, context).await.map_err(with_default_next_step)
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }
}
