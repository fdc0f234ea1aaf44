//! The request of `search`.

use catalog::SessionFilter;
use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::question::{Question, Suggestions};
use crate::search::{HitTexts, Mode, Role, SourceKind};
use crate::sessions::origin_name::OriginName;
use crate::{Context, Error, Kind, Moment};

/// How many sessions are found where nobody says how many.
const LIMIT: usize = 10;
/// The longest query, in kB.
const LONGEST: usize = 20;
/// How many further places a hit names where all are wanted.
const MOST_PLACES: usize = 20;

/// What to search for, and where.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SearchRequest")]
pub struct Request {
    /// Words, a "phrase" or a file to find, with filters such as `project:web` and `role:user` among them, which the
    /// other fields override. Filters alone list the newest matching sessions; a session id, or its beginning, finds that
    /// session.
    pub query: String,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
    /// Only sessions whose last known branch is this one.
    pub branch: Option<String>,
    /// Only sessions started by a person (`native`) or an OpenClaw agent (`openclaw`), or of which only the archive (`archived`) or
    /// other files (`ghost`) are left.
    pub origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    pub agent: Option<AgentId>,
    /// Only sessions with this tag.
    pub tag: Option<String>,
    /// Only pinned sessions.
    #[serde(default)]
    pub pinned: bool,
    /// Only Claude Code sessions (`claude-sessions`), OpenClaw conversations (`sessions`) or notes in OpenClaw workspaces (`memory`).
    pub source: Option<SourceKind>,
    /// Only this session: its id, a prefix of it, or the key of an OpenClaw conversation.
    pub session: Option<String>,
    /// Only what was said or done by the person, the model or a tool.
    pub role: Option<Role>,
    /// Only sessions that touched this file.
    pub file: Option<String>,
    /// Only what was said since then.
    pub since: Option<Moment>,
    /// Only what was said before this time, or on this day or earlier.
    pub until: Option<Moment>,
    /// Search by words (`lexical`), by meaning (`semantic`) or both (`hybrid`).
    #[serde(default)]
    pub mode: Mode,
    /// The embedding model: `built-in`, a model's folder or its name on the hub, or an endpoint's address; the one of
    /// the settings without it. An endpoint is sent the person's key, so that only their own command line names one.
    #[serde(skip)]
    pub model: Option<String>,
    /// Rescore the best sessions with the embedding model: slower and more accurate.
    #[serde(default)]
    pub deep: bool,
    /// List in `places` of each hit further places that contain most of the query's words.
    #[serde(default)]
    pub all_hits: bool,
    /// The maximum number of sessions; default 10.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
    /// How many seconds old the list of files may be, for callers that search at every key; what was written since may
    /// be missing. Default 0.
    #[serde(default)]
    pub max_age_seconds: u32,
    /// Whether hits have `snippet` and `later`; callers that show neither leave them out.
    #[serde(skip)]
    pub texts: HitTexts,
    /// Whether an answer without hits has suggestions.
    #[serde(skip)]
    pub suggestions: Suggestions,
}

impl Request {
    /// The question it asks, with its times resolved.
    pub(crate) fn question(&self, context: &Context) -> Result<Question, Error> {
        let length = self.query.len().div_ceil(1000);
        if length > LONGEST {
            let message = format!("a query may have at most {LONGEST} kB; this one has {length} kB");
            return Err(Error::new(Kind::Usage, message).hint("search for its most telling words or line"));
        }
        Ok(Question {
            text: self.query.clone(),
            filter: SessionFilter {
                project: self.project.clone(),
                branch: self.branch.clone(),
                origin: self.origin.map(|origin| origin.as_str().to_owned()),
                agent: self.agent.clone(),
                tag: self.tag.clone(),
                pinned: self.pinned,
                ..SessionFilter::default()
            },
            source: self.source,
            session: self.session.clone(),
            role: self.role,
            file: self.file.clone(),
            since: self.since.as_ref().map(|since| since.at(context)).transpose()?,
            until: self.until.as_ref().map(|until| until.end(context)).transpose()?,
            favored: None,
            mode: self.mode,
            model: self.model.clone(),
            deep: self.deep,
            places: if self.all_hits { MOST_PLACES } else { 0 },
            texts: self.texts,
            suggestions: self.suggestions,
            limit: self.limit.unwrap_or(LIMIT),
            may_only_filter: true,
            is_without_repetitions: context.caller.is_model() && self.session.is_none(),
        })
    }
}
