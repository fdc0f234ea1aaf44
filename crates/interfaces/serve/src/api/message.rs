//! A message to a session or a worker, as a client sends it.

use std::sync::Arc;

use app::workers::send;
use axum::Json;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::problem::Problem;
use crate::security::{Grant, scopes};
use crate::state::Shared;

/// A message to a session or a worker.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    /// The message.
    message: String,
}

impl Message {
    /// Sends it to a session or a worker. Where that acts without asking, the token's scope has to be `admin`.
    pub(super) async fn send(
        self,
        server: &Shared,
        grant: Arc<Grant>,
        to: String,
    ) -> Result<Json<send::Answer>, Problem> {
        let request = send::Request { to, message: self.message };
        let sent = server.work(move |_, context| {
            scopes::check_unasked(&grant, send::acts_without_asking(context, &request.to)?, "a worker")?;
            Ok(send::send(context, &request)?)
        });
        Ok(Json(sent.await?))
    }
}
