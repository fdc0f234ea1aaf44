//! The model that a person chose to say what texts mean, and embedding everything by it.

use std::time::{Duration, Instant};

use embedding::{ApiKey, ModelChoice, is_hub_name};
use schemars::JsonSchema;
use search::{BUILT_IN, EmbedReport, QueryEncoder};
use serde::{Deserialize, Serialize};

use crate::config::ApiKeyText;
use crate::search::index;
use crate::{Context, Error, Kind, NextStep, Progress};

/// What to embed everything with.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "EmbedRequest")]
pub struct Request {
    /// The model: a folder, a name on the hub, or an endpoint's address; the one of the settings without it.
    pub model: Option<String>,
}

/// How much a model has embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "EmbedAnswer")]
pub struct Answer {
    /// How many pieces of text have vectors of the model.
    pub embedded: u64,
    /// How many pieces there are in all.
    pub total: u64,
    /// How many were embedded now.
    pub added: u64,
    /// How many could not be read again; the next pass tries them again.
    pub unreadable: u64,
    /// Whether another process is embedding.
    pub busy: bool,
}

impl Answer {
    /// Whether there are pieces that the next pass can embed.
    pub fn has_more(&self) -> bool {
        self.embedded + self.unreadable < self.total
    }
}

impl From<EmbedReport> for Answer {
    fn from(report: EmbedReport) -> Self {
        let EmbedReport { done, of, added, unread, busy } = report;
        Self { embedded: done, total: of, added, unreadable: unread, busy }
    }
}

/// The model that is chosen by a flag, else by the settings; `None` for the table in the binary.
fn choice(context: &Context, flag: Option<&str>, timeout_ms: u64) -> Option<ModelChoice> {
    let set = &context.config().settings.embedding;
    let model = flag.unwrap_or(&set.model).trim();
    if model.is_empty() || model == BUILT_IN {
        return None;
    }
    if model.contains("://") {
        return Some(ModelChoice::Endpoint {
            url: model.to_owned(),
            model: set.endpoint_model.clone(),
            key: context.config().embedding_key.clone().map(|ApiKeyText(key)| ApiKey(key)),
            timeout: Duration::from_millis(timeout_ms),
        });
    }
    let folder = match model.strip_prefix("~/") {
        Some(inside) => context.config().home.join(inside),
        None => context.path(model),
    };
    let is_hub = is_hub_name(model) && !folder.is_dir();
    Some(if is_hub {
        ModelChoice::Hub { cache: context.config().hub_cache.clone(), name: model.to_owned() }
    } else {
        ModelChoice::Folder(folder)
    })
}

/// Who says what texts mean, in OpenClaw's words: the provider, and the model.
pub fn provider(context: &Context) -> (&'static str, String) {
    match choice(context, None, 0) {
        None => ("local", BUILT_IN.to_owned()),
        Some(ModelChoice::Endpoint { model, .. }) => ("openai", model),
        Some(other) => ("local", other.name()),
    }
}

/// Has a text embedded by whoever says what texts mean; why it cannot be, where it cannot.
pub fn probe(context: &Context) -> Result<(), String> {
    const TEXT: &str = "token refresh";
    let Some(choice) = choice(context, None, context.config().settings.embedding.question_timeout_ms) else {
        return search::can_embed().then_some(()).ok_or_else(|| "the built-in table is damaged".to_owned());
    };
    let model = choice.open().map_err(|error| error.to_string())?;
    model.embed(&[TEXT], 1, |_| false).map(|_| ()).map_err(|error| error.to_string())
}

/// How a question is understood: by the chosen model, if there is one. A busy endpoint is not waited for.
pub(crate) fn understanding(
    context: &Context,
    flag: Option<&str>,
    deep: bool,
) -> Result<Option<QueryEncoder>, Error> {
    let set = &context.config().settings.embedding;
    let choice = choice(context, flag, set.question_timeout_ms);
    if deep && choice.is_none() {
        return Err(no_model("rescoring the best sessions needs a model, and none is configured"));
    }
    let deep = if deep { set.deep_sessions } else { 0 };
    Ok(choice.map(|choice| QueryEncoder { choice, deep, pause: |_| false }))
}

/// Embeds what the index holds by the chosen model, for `limit` at most where one is given; `pause` waits before a
/// busy endpoint is asked again, and returns false when it is not to be.
pub fn embed(
    context: &Context,
    request: &Request,
    limit: Option<Duration>,
    pause: fn(Duration) -> bool,
) -> Result<Answer, Error> {
    context.require_person("embedding every session")?;
    let Some(choice) =
        choice(context, request.model.as_deref(), context.config().settings.embedding.timeout_ms)
    else {
        return Err(no_model("embedding everything needs a model, and none is configured"));
    };
    let failed = |error: &dyn std::error::Error| {
        Error::caused(Kind::Unavailable, "the model cannot embed", error).next(NextStep::ContinueEmbedding)
    };
    let model = choice.open().map_err(|error| failed(&error))?;
    let threads = context.config().places().threads;
    let began = Instant::now();
    let mut keep_going = |report: &EmbedReport| {
        context.report(Progress::from(report));
        !context.cancellation.is_hurried() && limit.is_none_or(|limit| began.elapsed() < limit)
    };
    let embedded = search::embed(&index::folder(context), &model, threads, &mut keep_going, pause);
    context.check_cancelled()?;
    embedded.map(Answer::from).map_err(|error| failed(&error))
}

fn no_model(message: &str) -> Error {
    Error::new(Kind::Usage, message).next(NextStep::NameModel)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::testing::context;

    #[test]
    fn what_a_setting_names() {
        let home = ("HOME".to_owned(), "/home/u".into());
        let config = Config::new(&std::iter::once(home).collect()).unwrap();
        let context = context(config);
        let check = |flag: Option<&str>, expected: &str| {
            let choice = choice(&context, flag, 1000);
            let kind = choice.map_or_else(
                || "table".to_owned(),
                |choice| match &choice {
                    ModelChoice::Folder(folder) => format!("folder {}", folder.display()),
                    ModelChoice::Hub { name, .. } => format!("hub {name}"),
                    ModelChoice::Endpoint { .. } => format!("endpoint {}", choice.name()),
                },
            );
            assert_eq!(kind, expected, "{flag:?}");
        };
        check(None, "table");
        check(Some("built-in"), "table");
        check(Some("/models/mini"), "folder /models/mini");
        check(Some("~/mini"), "folder /home/u/mini");
        check(Some("./a"), "folder /./a");
        check(Some("owner/name"), "hub owner/name");
        check(Some("https://x.example/v1"), "endpoint text-embedding-3-small at https://x.example/v1");
        assert!(understanding(&context, None, true).is_err());
        assert!(understanding(&context, None, false).unwrap().is_none());
    }
}
