//! `log`: what a worker has said and done, page by page, from the transcript of its session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::page;
use crate::workers::list::{self, WorkerInfo};
use crate::workers::worker_name::{self, WorkerName};
use crate::{Context, Error, Kind};

/// Which worker's messages to show: the last ones, or those at one place.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LogRequest")]
pub struct Request {
    /// The worker's number, or its session's id or a prefix of it.
    #[serde(deserialize_with = "worker_name::deserialize")]
    #[schemars(with = "WorkerName")]
    pub worker: String,
    /// Messages before this place: `older` of a page.
    pub before: Option<String>,
    /// Messages after this place: `newer` of a page.
    pub after: Option<String>,
    /// The maximum number of messages, up to 500; default 50.
    #[schemars(range(min = 1, max = 500))]
    pub limit: Option<usize>,
    /// Include tool calls and their results.
    #[serde(default)]
    pub tools: bool,
    /// Include the model's thinking.
    #[serde(default)]
    pub thinking: bool,
}

/// A worker and consecutive messages of its session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "LogAnswer")]
pub struct Answer {
    /// The worker whose log this is.
    pub worker: WorkerInfo,
    /// The messages; `null` until it has begun.
    pub page: Option<page::Answer>,
}

/// Shows a page of what a worker has said and done.
pub fn log(context: &Context, request: &Request) -> Result<Answer, Error> {
    let worker = list::find(context, &request.worker)?;
    let asked = page::Request {
        session: worker.session_id.to_string(),
        before: request.before.clone(),
        after: request.after.clone(),
        limit: request.limit,
        tools: request.tools,
        thinking: request.thinking,
        ..page::Request::default()
    };
    let page = match page::page(context, &asked) {
        Ok(page) => Some(page),
        // Claude Code writes the transcript with the first message.
        Err(error) if error.kind == Kind::NotFound && asked.before.is_none() && asked.after.is_none() => None,
        Err(error) => return Err(error),
    };
    Ok(Answer { worker, page })
}
