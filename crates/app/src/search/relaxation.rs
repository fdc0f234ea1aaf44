//! Filters that leave nothing of what a question finds without them: what there is to say where an answer is empty.

use std::collections::HashSet;

use catalog::{Discovery, Hidden, SessionFilter};
use jiff::{Timestamp, Zoned};
use model::SessionId;
use openclaw::Memory;
use search::{FilterName, Query, Searcher};

use crate::context::Visible;
use crate::search::chosen::{Chosen, chosen, named};
use crate::search::index;
use crate::search::parsed_question::ParsedQuestion;
use crate::search::question::Question;
use crate::{Context, Error};

/// What a question finds without one of its filters, or without all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relaxed {
    /// The filter that is left out, as it may be typed; `None` for all of them.
    filter: Option<String>,
    /// How many sessions are found then.
    sessions: u64,
}

impl Relaxed {
    /// What is said of it.
    pub(crate) fn sentence(&self) -> String {
        let without = match &self.filter {
            Some(filter) => format!("`{filter}`"),
            None => "these filters".to_owned(),
        };
        let s = if self.sessions == 1 { " matches" } else { "s match" };
        format!("without {without}, {} session{s}", self.sessions)
    }
}

/// What a question is searched in: the sessions and memory that its caller may see.
pub(crate) struct SearchInputs<'a> {
    pub(crate) context: &'a Context,
    pub(crate) found: &'a Discovery,
    pub(crate) memory: &'a Memory,
    pub(crate) visible: Option<&'a Visible>,
    pub(crate) hidden: &'a HashSet<SessionId>,
}

/// For a question that nothing answers: each of its filters without which something likely does; where there is none, how
/// much does without all of them. The project goes by the name that was typed.
pub(crate) fn relaxed(
    inputs: &SearchInputs<'_>,
    parsed: &ParsedQuestion,
    searcher: &mut Searcher,
) -> Result<Vec<Relaxed>, Error> {
    let query = &parsed.query;
    let mut without = without_each(inputs.context, parsed);
    let mut relaxed = Vec::new();
    for (filter, question) in &without {
        let sessions = sessions_found(inputs, (query, question), searcher)?;
        relaxed.extend((sessions > 0).then(|| Relaxed { filter: Some(filter.clone()), sessions }));
    }
    if relaxed.is_empty() && without.len() > 1 {
        let (_, first) = without.swap_remove(0);
        let none = Question { text: first.text, mode: first.mode, limit: first.limit, ..Question::default() };
        let sessions = sessions_found(inputs, (query, &none), searcher)?;
        relaxed.extend((sessions > 0).then_some(Relaxed { filter: None, sessions }));
    }
    Ok(relaxed)
}

/// The question without each of its filters.
fn without_each(
    context: &Context,
    ParsedQuestion { query, question, typed_project }: &ParsedQuestion,
) -> Vec<(String, Question)> {
    let mut all = Vec::new();
    let mut add = |name: &str, value: Option<String>, clear: fn(&mut Question)| {
        let Some(value) = value else { return };
        let mut without = question.clone();
        clear(&mut without);
        all.push((format!("{name}:{value}"), without));
    };
    let filter = &question.filter;
    add("project", typed_project.clone(), |question| question.filter.project = None);
    add("branch", filter.branch.clone(), |question| question.filter.branch = None);
    add("origin", filter.origin.clone(), |question| question.filter.origin = None);
    add("agent", filter.agent.as_ref().map(ToString::to_string), |question| question.filter.agent = None);
    add("tag", filter.tag.clone(), |question| question.filter.tag = None);
    add("is", filter.pinned.then(|| "pinned".to_owned()), |question| question.filter.pinned = false);
    add("is", filter.running.then(|| "running".to_owned()), |question| question.filter.running = false);
    let is_compacted = filter.compacted.then(|| "compacted".to_owned());
    add("is", is_compacted, |question| question.filter.compacted = false);
    let is_hidden = filter.hidden == Hidden::Only;
    add("is", is_hidden.then(|| "hidden".to_owned()), |question| question.filter.hidden = Hidden::default());
    add("source", question.source.map(|source| source.as_str().to_owned()), |question| {
        question.source = None;
    });
    add("session", question.session.clone(), |question| question.session = None);
    add("role", question.role.map(|role| role.as_str().to_owned()), |question| question.role = None);
    add("file", question.file.clone(), |question| question.file = None);
    let since =
        question.since.map(|at| written(query, FilterName::Since).unwrap_or_else(|| begin(context, at)));
    add("since", since, |question| question.since = None);
    let until =
        question.until.map(|at| written(query, FilterName::Until).unwrap_or_else(|| end(context, at)));
    add("until", until, |question| question.until = None);
    all
}

/// The value of a filter as it was written among the words.
fn written(query: &Query, name: FilterName) -> Option<String> {
    query.filters.iter().find(|filter| filter.name == name).map(|filter| filter.value.clone())
}

/// Not always midnight: where clocks are put forward then, the day begins later.
fn begins_day(time: &Zoned) -> bool {
    time.start_of_day().is_ok_and(|first| first == *time)
}

/// A time as it may be written: a midnight is the day that it begins.
fn begin(context: &Context, at: Timestamp) -> String {
    let at = at.to_zoned(context.zone());
    if begins_day(&at) { at.date().to_string() } else { at.strftime("%Y-%m-%dT%H:%M").to_string() }
}

/// A time as it may be written: a midnight is the day that it ends.
fn end(context: &Context, at: Timestamp) -> String {
    let time = at.to_zoned(context.zone());
    let ended = time.date().yesterday().ok().filter(|_| begins_day(&time));
    ended.map_or_else(|| begin(context, at), |day| day.to_string())
}

/// How many sessions likely answer a question.
fn sessions_found(
    inputs: &SearchInputs<'_>,
    (query, question): (&Query, &Question),
    searcher: &mut Searcher,
) -> Result<u64, Error> {
    let SearchInputs { context, found, memory, visible, hidden } = *inputs;
    context.check_cancelled()?;
    let has_words = !query.is_empty() || question.file.is_some();
    if !has_words && !question.has_filter() {
        return Ok(0);
    }
    let chosen = match named(question.session.as_deref(), found, memory, visible)? {
        Some(named) => named,
        None if question.filter == SessionFilter::default() => Chosen::default(),
        None => chosen(context, &question.filter, found, memory)?,
    };
    let scope = question.scope(context, chosen, visible, hidden.clone());
    let results = if has_words {
        searcher.search(query, &scope, question.mode, context.config().places().threads, 1)
    } else {
        searcher.newest(&scope, 1)
    };
    Ok(results.map_err(|error| index::failed(&error))?.likely)
}
