//! Who answers for each request of the protocol.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, CustomRequest, CustomResult,
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};

use crate::failure::named;
use crate::instructions::INSTRUCTIONS;
use crate::server::{Server, ServerMode};
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

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(match &self.mode {
            ServerMode::Standalone => tools::list(self),
            ServerMode::Bridge(bridge) => bridge::list(self, bridge),
        }))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let called = match &self.mode {
            ServerMode::Standalone => tools::call(self, request, context).await,
            ServerMode::Bridge(bridge) => bridge::call(self, bridge, request, context).await,
        };
        called.map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        standalone(self)?;
        resources::list(self, request, context).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        standalone(self)?;
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        standalone(self)?;
        resources::read(self, request, context).await.map(ReadResourceResponse::from)
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        standalone(self)?;
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        standalone(self)?;
        prompts::get(self, request, context).await.map(GetPromptResponse::from)
    }

    /// A request of no kind that the protocol knows: its method is another one, or its parameters are.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 9] = [
            "initialize",
            "server/discover",
            "tools/call",
            "tools/list",
            "resources/list",
            "resources/read",
            "resources/templates/list",
            "prompts/list",
            "prompts/get",
        ];
        let method = request.method;
        Err(if KNOWN.contains(&method.as_str()) {
            ErrorData::invalid_params(format!("the parameters of `{method}` are not what it takes"), None)
        } else {
            ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method `{}`", named(&method)),
                None,
            )
        })
    }
}

/// Refuses what a bridge does not have.
fn standalone(server: &Server) -> Result<(), ErrorData> {
    match &server.mode {
        ServerMode::Standalone => Ok(()),
        ServerMode::Bridge(_) => {
            Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "this server has tools only", None))
        }
    }
}

/// The server to a client that has not necessarily begun as the protocol demands: what comes before `initialize` is
/// refused, and the client may still begin.
pub(crate) struct Opening(Server);

impl Opening {
    pub(crate) fn new(server: Server) -> Self {
        Self(server)
    }
}

impl Service<RoleServer> for Opening {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let begins = matches!(
            request,
            ClientRequest::InitializeRequest(_)
                | ClientRequest::DiscoverRequest(_)
                | ClientRequest::PingRequest(_)
        );
        // Since 2026-07-28 each request names its version, and nothing has to come before it.
        let is_without_handshake = context.meta.protocol_version().is_some();
        if !begins && !is_without_handshake && context.peer.peer_info().is_none() {
            return Err(ErrorData::invalid_request("the first request has to be `initialize`", None));
        }
        Service::handle_request(&self.0, request, context).await
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
