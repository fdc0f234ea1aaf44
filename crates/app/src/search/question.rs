//! A question as it is asked of the index: what a request means, with the filters among its words.

use std::collections::HashSet;

use catalog::{Discovery, Hidden, SessionFilter};
use jiff::Timestamp;
use model::SessionId;
use search::{FilterName, Query, SearchScope, role};

use crate::context::Visible;
use crate::search::chosen::{Chosen, of_project};
use crate::search::{Mode, Role, SourceKind};
use crate::{Context, Error, Kind, Moment, Secrets};

/// A question and what its answers have to be.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The question; filters may be among its words.
    pub(crate) text: String,
    /// What the sessions have to be.
    pub(crate) filter: SessionFilter,
    /// Only from this source.
    pub(crate) source: Option<SourceKind>,
    /// Only this session, by its id or the beginning of it, or OpenClaw's key of a conversation.
    pub(crate) session: Option<String>,
    /// Only what this role said or did.
    pub(crate) role: Option<Role>,
    /// Only sessions that touched this file.
    pub(crate) file: Option<String>,
    /// Only records from then on.
    pub(crate) since: Option<Timestamp>,
    /// Only records before then.
    pub(crate) until: Option<Timestamp>,
    /// By words, by meaning, or both.
    pub(crate) mode: Mode,
    /// The model that reads the question, where it is not that of the settings.
    pub(crate) model: Option<String>,
    /// Whether the model reads the best sessions again.
    pub(crate) deep: bool,
    /// How many further places each hit names.
    pub(crate) places: usize,
    /// At most so many sessions.
    pub(crate) limit: usize,
    /// Whether sessions that only repeat others are left out.
    pub(crate) is_without_repetitions: bool,
}

impl Question {
    /// What may be found.
    pub(crate) fn scope(
        &self,
        context: &Context,
        chosen: Chosen,
        visible: Option<&Visible>,
        hidden: HashSet<SessionId>,
    ) -> SearchScope {
        let chosen = chosen.within(visible);
        SearchScope {
            sessions: chosen.sessions,
            citable: visible.map(|visible| visible.sessions.clone()),
            conversations: chosen.conversations,
            sources: self.source.map(|source| HashSet::from([source])),
            owned: Vec::new(),
            left_out: self.left_out(context, hidden),
            role: self.role,
            file: self.file.clone(),
            since: self.since,
            until: self.until,
            shows_secrets: context.secrets == Secrets::Shown,
            passages: 0,
            places: self.places,
        }
    }

    /// Whoever asks what was done before means neither the asking itself nor what was hidden, unless it is named.
    fn left_out(&self, context: &Context, hidden: HashSet<SessionId>) -> HashSet<SessionId> {
        if self.session.is_some() || self.filter.hidden == Hidden::Only {
            return HashSet::new();
        }
        hidden.into_iter().chain(context.asking_session()).collect()
    }

    /// The same with the filters among the words; those given apart win.
    pub(crate) fn with_written_filters(&self, context: &Context, query: &Query) -> Result<Self, Error> {
        let mut question = self.clone();
        let filter = &mut question.filter;
        for written in &query.filters {
            let value = written.value.clone();
            match written.name {
                FilterName::Project | FilterName::Repo => set(&mut filter.project, value),
                FilterName::Branch => set(&mut filter.branch, value),
                FilterName::Origin => set(&mut filter.origin, value),
                FilterName::Source => question.source = question.source.or_else(|| SourceKind::parse(&value)),
                FilterName::Session => set(&mut question.session, value),
                FilterName::File => set(&mut question.file, value),
                FilterName::Role => question.role = question.role.or_else(|| role(&value)),
                FilterName::Since => set(&mut question.since, Moment::from(value.as_str()).at(context)?),
                FilterName::Until => set(&mut question.until, Moment::from(value.as_str()).at(context)?),
                FilterName::Tag => set(&mut filter.tag, value),
                FilterName::Is if value == "pinned" => filter.pinned = true,
                FilterName::Is if value == "hidden" => filter.hidden = Hidden::Only,
                FilterName::Is => filter.running = true,
                FilterName::Agent => {
                    let agent = value
                        .parse()
                        .map_err(|error| Error::new(Kind::Usage, format!("agent:{value}: {error}")))?;
                    set(&mut filter.agent, agent);
                }
            }
        }
        Ok(question)
    }

    /// The same with `#name` taken for the project of that name, where there is one.
    pub(crate) fn with_project_tag(&self, context: &Context, found: &Discovery) -> Result<Self, Error> {
        let mut question = self.clone();
        if question.filter.project.is_none()
            && let Some((text, project)) = tagged(context, &self.text, found)?
        {
            question.text = text;
            question.filter.project = Some(project);
        }
        Ok(question)
    }
}

fn set<T>(slot: &mut Option<T>, value: T) {
    slot.get_or_insert(value);
}

/// The question without `#name`, and the name, where there is a project of that name.
pub(crate) fn tagged(
    context: &Context,
    question: &str,
    found: &Discovery,
) -> Result<Option<(String, String)>, Error> {
    for name in search::tags(question) {
        if !of_project(context, name, found)?.is_empty() {
            return Ok(Some((search::without_tag(question, name), name.to_owned())));
        }
    }
    Ok(None)
}
