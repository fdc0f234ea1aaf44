//! The request of `search`.

use catalog::SessionFilter;
use model::AgentId;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search::question::Question;
use crate::search::{Mode, Role, SourceKind};
use crate::sessions::origin_name::OriginName;
use crate::{Caller, Context, Error, Moment};

/// How many sessions are found where nobody says how many.
const LIMIT: usize = 10;
/// How many further places a hit names where all are wanted.
const MOST_PLACES: usize = 20;

/// What to search for, and where.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SearchRequest")]
pub struct Request {
    /// What to look for; filters such as `project:web` and `role:user` may be among the words, and where both are
    /// given the fields of this request win.
    pub query: String,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
    /// Only sessions last seen on this branch.
    pub branch: Option<String>,
    /// Only sessions of this origin.
    pub origin: Option<OriginName>,
    /// Only sessions of this OpenClaw agent.
    pub agent: Option<AgentId>,
    /// Only sessions that the person gave this tag.
    pub tag: Option<String>,
    /// Only sessions that the person pinned.
    #[serde(default)]
    pub pinned: bool,
    /// Only Claude Code's sessions, OpenClaw's conversations, or the notes in OpenClaw's workspaces.
    pub source: Option<SourceKind>,
    /// Only this session: its id, a prefix of it, or OpenClaw's key of a conversation.
    pub session: Option<String>,
    /// Only what was said or done by the person, the model or a tool.
    pub role: Option<Role>,
    /// Only sessions that touched this file.
    pub file: Option<String>,
    /// Only what was said since then.
    pub since: Option<Moment>,
    /// Only what was said before then.
    pub until: Option<Moment>,
    /// Whether to search by words, by meaning, or both.
    #[serde(default)]
    pub mode: Mode,
    /// The embedding model: `built-in`, a model's folder or its name on the hub, or an endpoint's address; the one of
    /// the settings without it. An endpoint is sent the person's key, so that only their own command line names one.
    #[serde(skip)]
    pub model: Option<String>,
    /// Whether that model rescores the best sessions, which is slower and more accurate.
    #[serde(default)]
    pub deep: bool,
    /// Whether each hit names further places in its session that hold most of the question's words.
    #[serde(default)]
    pub all_hits: bool,
    /// At most so many sessions; 10 without it.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

impl Request {
    /// The question it asks, with its times resolved.
    pub(crate) fn question(&self, context: &Context) -> Result<Question, Error> {
        let time = |moment: &Option<Moment>| moment.as_ref().map(|moment| moment.at(context)).transpose();
        Ok(Question {
            text: self.query.clone(),
            filter: SessionFilter {
                project: self.project.clone(),
                branch: self.branch.clone(),
                origin: self.origin.map(|origin| origin.word().to_owned()),
                agent: self.agent.clone(),
                tag: self.tag.clone(),
                pinned: self.pinned,
                ..SessionFilter::default()
            },
            source: self.source,
            session: self.session.clone(),
            role: self.role,
            file: self.file.clone(),
            since: time(&self.since)?,
            until: time(&self.until)?,
            mode: self.mode,
            model: self.model.clone(),
            deep: self.deep,
            places: if self.all_hits { MOST_PLACES } else { 0 },
            limit: self.limit.unwrap_or(LIMIT),
            is_without_repetitions: context.caller == Caller::Assistant && self.session.is_none(),
        })
    }
}
