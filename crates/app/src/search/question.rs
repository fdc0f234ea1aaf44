//! A question as it is asked of the index: what a request means, with the filters among its words.

use std::collections::HashSet;

use catalog::{Discovery, Hidden, SessionFilter};
use jiff::Timestamp;
use model::SessionId;
use search::{FilterName, HitTexts, Query, SearchScope, role};

use crate::context::Visible;
use crate::search::chosen::{Chosen, of_project};
use crate::search::{Mode, Role, SourceKind};
use crate::{Context, Error, Kind, Moment, Secrets};

/// A question without the filter that it ends in, which may not be typed to its end; `None` where it ends in a word or a
/// space.
pub fn without_last_filter(question: &str) -> Option<&str> {
    let (before, last) = match question.char_indices().rfind(|(_, letter)| letter.is_whitespace()) {
        Some((at, space)) => question.split_at(at + space.len_utf8()),
        None => ("", question),
    };
    let begun = if last.ends_with(':') { format!("{last}x") } else { last.to_owned() };
    let is_filter = !Query::parse(&begun).filters.is_empty();
    is_filter.then(|| before.trim_end())
}

/// Whether a question names a project among its words.
pub fn names_project(question: &str) -> bool {
    let is_project = |name| matches!(name, FilterName::Project | FilterName::Repo);
    Query::parse(question).filters.iter().any(|filter| is_project(filter.name))
}

/// What an answer without hits has in their place: similar words, the filters without which something is found, and sessions
/// that are gone. To look for it takes several searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suggestions {
    /// All of it.
    #[default]
    Given,
    /// Nothing.
    Omitted,
}

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
    /// Sessions with something from between these times come before others.
    pub(crate) favored: Option<(Timestamp, Timestamp)>,
    /// By words, by meaning, or both.
    pub(crate) mode: Mode,
    /// The model that reads the question, where it is not that of the settings.
    pub(crate) model: Option<String>,
    /// Whether the model reads the best sessions again.
    pub(crate) deep: bool,
    /// How many further places each hit names.
    pub(crate) places: usize,
    /// What is read of the transcripts for each hit.
    pub(crate) texts: HitTexts,
    /// Whether suggestions take the place of hits where there are none.
    pub(crate) suggestions: Suggestions,
    /// The maximum number of sessions.
    pub(crate) limit: usize,
    /// Whether filters alone are a question: the newest sessions that pass them answer it.
    pub(crate) may_only_filter: bool,
    /// Whether sessions that only repeat others are left out.
    pub(crate) is_without_repetitions: bool,
}

impl Question {
    /// Whether anything besides words chooses what may be found.
    pub(crate) fn has_filter(&self) -> bool {
        self.filter != SessionFilter::default()
            || self.source.is_some()
            || self.session.is_some()
            || self.role.is_some()
            || self.file.is_some()
            || self.since.is_some()
            || self.until.is_some()
    }

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
            favored: self.favored,
            shows_secrets: context.secrets == Secrets::Shown,
            passages: 0,
            places: self.places,
            texts: self.texts,
        }
    }

    /// What ghosts have to pass, of which prompts alone are left; `None` where none can pass.
    pub(crate) fn of_ghosts(&self) -> Option<SessionFilter> {
        let asks_for_prompts = self.role.is_none_or(|role| role == Role::User);
        let is_of_claude = self.source.is_none_or(|source| source == SourceKind::ClaudeSessions);
        let is_possible = asks_for_prompts && is_of_claude && self.file.is_none() && self.session.is_none();
        let times = (self.since.or(self.filter.since), self.until.or(self.filter.until));
        is_possible.then(|| SessionFilter { since: times.0, until: times.1, ..self.filter.clone() })
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
                FilterName::Until => set(&mut question.until, Moment::from(value.as_str()).end(context)?),
                FilterName::Tag => set(&mut filter.tag, value),
                FilterName::Is if value == "pinned" => filter.pinned = true,
                FilterName::Is if value == "compacted" => filter.compacted = true,
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

/// Sets what was not given yet.
pub(crate) fn set<T>(slot: &mut Option<T>, value: T) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_project_is_recognized() {
        let check =
            |question: &str, expected: bool| assert_eq!(names_project(question), expected, "{question}");
        check("token project:web", true);
        check("repo:web", true);
        check("token branch:web", false);
        check("the project of the web", false);
    }

    #[test]
    fn only_the_filter_at_the_end_is_taken() {
        let check = |question: &str, expected: Option<&str>| {
            assert_eq!(without_last_filter(question), expected, "{question}");
        };
        check("token branch:sop", Some("token"));
        check("role:user since:", Some("role:user"));
        check("since:2026-01-", Some(""));
        check("token branch:sop ", None);
        check("branch:sop token", None);
        check("token", None);
        check("a token:", None);
        check("", None);
    }
}
