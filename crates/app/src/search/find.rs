//! Finds the sessions that answer a question.

use std::collections::{HashMap, HashSet};

use catalog::{AnnotationIndex, Discovery, SessionFilter};
use model::{Session, SessionId};
use search::{EncoderReport, MeaningStatus, Query, RankedHit, SearchResults, SearchScope, Searcher};
use system::join;

use crate::context::{FoundFiles, IndexedFiles};
use crate::retention::ghosts::{self, GhostHit};
use crate::search::chosen::{Chosen, chosen, named, project};
use crate::search::index::share::pending_after;
use crate::search::index::{Opened, Refreshed, repair};
use crate::search::question::{Question, Suggestions};
use crate::search::relaxation::{Relaxed, SearchInputs, relaxed};
use crate::search::repetitions::without_repetitions;
use crate::search::unknown_value::{self, UnknownValue};
use crate::search::{embed, index};
use crate::sessions::annotate;
use crate::{Context, Error, Kind};

/// How many times as many sessions are ranked at most, where some only repeat others.
const MOST_WIDENED: usize = 8;

/// The answers, and how they came about.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The sessions that answer, best first.
    pub(crate) hits: Vec<Answered>,
    /// Sessions that answer at all.
    pub(crate) total: u64,
    /// Files that hold something the index does not.
    pub(crate) pending_files: u64,
    /// How much that is, in bytes.
    pub(crate) pending_bytes: u64,
    /// Another process was writing the index.
    pub(crate) busy: bool,
    /// The index could not be brought up to date, and why.
    pub(crate) stale: Option<String>,
    /// Words of a very long question were left out.
    pub(crate) cut: bool,
    /// How many sessions there are in all.
    pub(crate) known: usize,
    /// Whether the question's meaning was looked at.
    pub(crate) meaning: MeaningStatus,
    /// Who looked at it; absent where nobody did.
    pub(crate) understood: Option<EncoderReport>,
    /// Where nothing was found: indexed words near those of the question.
    pub(crate) near: Vec<String>,
    /// Where something was found: words of the question that no session holds.
    pub(crate) unknown_words: Vec<String>,
    /// Sessions without a transcript in which the person wrote the words; where nothing else was found.
    pub(crate) ghosts: Vec<GhostHit>,
    /// Whether the question has filters alone: the newest sessions that pass are given.
    pub(crate) is_filtered: bool,
    /// What the person annotated, as it was read for this answer.
    pub(crate) annotations: AnnotationIndex,
    /// Values of filters that no session has, where nothing was found.
    pub(crate) unknown_values: Vec<UnknownValue>,
    /// Where nothing good was found: the filters without which something is.
    pub(crate) relaxed: Vec<Relaxed>,
}

/// A session that answers.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// Where and how well.
    pub(crate) hit: RankedHit,
    /// Its facts; absent when its transcript is gone.
    pub(crate) session: Option<Session>,
}

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow. A damaged
/// index is set aside, and the question asked once more.
pub(crate) fn find(context: &Context, question: &Question) -> Result<Found, Error> {
    let (mut opened, mut is_set_aside) = (index::find(context), false);
    let mut found = find_once(context, question, &mut opened, &mut is_set_aside);
    if is_set_aside {
        let context = context.with_max_age(0);
        opened = index::find(&context);
        found = find_once(&context, question, &mut opened, &mut false);
    }
    if context.asks_at_every_key() {
        if let Some(searcher) = opened.searcher {
            context.app.recent_files.keep_searcher(searcher);
        }
        index::renew_behind(context);
    }
    found
}

fn find_once(
    context: &Context,
    question: &Question,
    opened: &mut Opened,
    is_set_aside: &mut bool,
) -> Result<Found, Error> {
    let (files, is_recent) = (opened.files.clone(), opened.is_recent());
    let FoundFiles { transcripts: found, memory, .. } = &*files;
    let question = question.with_project_tag(context, found)?;
    let query = Query::parse(&question.text);
    let mut question = question.with_written_filters(context, &query)?;
    let typed = question.filter.project.take();
    question.filter.project = typed.as_deref().map(|typed| project(context, typed, found)).transpose()?;
    let has_words = !query.is_empty() || question.file.is_some();
    let may_be_asked = has_words || (question.may_only_filter && question.has_filter());
    if !may_be_asked {
        return Err(Error::new(Kind::Usage, "the question has no words to search for")
            .hint("ask with at least one word or number, or with a filter such as project:web"));
    }
    let understanding = embed::understanding(context, question.model.as_deref(), question.deep)?;
    let visible = context.visible(found, memory)?;
    let known = visible.as_ref().map_or(found.sessions.len(), |visible| visible.sessions.len());
    let mut answer = Found { cut: query.cut, known, is_filtered: !has_words, ..Found::default() };
    let mut refresh = || index::refresh(context, opened);
    let (Refreshed { synced, opened: reopened }, chosen) =
        match named(question.session.as_deref(), found, memory, visible.as_ref())? {
            Some(named) => (refresh(), Ok(named)),
            None if question.filter == SessionFilter::default() => (refresh(), Ok(Chosen::default())),
            // The filter reads other files than the check whether the index is fresh, so both run at once.
            None => join(refresh, || chosen(context, &question.filter, found, memory)),
        };
    context.check_cancelled()?;
    let chosen = chosen?;
    let mut failure = None;
    match synced {
        Ok(synced) => {
            if context.asks_at_every_key() && !is_recent {
                let (files, synced) = (files.clone(), synced.clone());
                context.app.recent_files.keep(IndexedFiles { files, synced });
            }
            let sources = || index::sources(found, memory);
            let pending = pending_after(context, &synced, sources, visible.as_ref())?;
            answer.pending_files = pending.files;
            answer.pending_bytes = pending.bytes;
            answer.busy = synced.busy;
        }
        // What is indexed can still be asked: a read-only disk is no reason to say nothing.
        Err(error) => {
            answer.stale = Some(error.message.clone());
            failure = Some(error);
        }
    }
    answer.annotations = annotate::index(context)?;
    let scope = question.scope(context, chosen, visible.as_ref(), answer.annotations.hidden());
    let ghosts = || match question.of_ghosts() {
        Some(filter) if !query.text.is_empty() || filter.origin.is_some() => {
            ghosts::matching(context, &query.text, &filter)
        }
        _ => Vec::new(),
    };
    reopened?;
    let Some(searcher) = &mut opened.searcher else {
        // Where nothing was ever indexed, "no matches" would be wrong.
        return failure.map_or_else(|| Ok(Found { ghosts: ghosts(), ..answer }), Err);
    };
    searcher.set_query_encoder(understanding);
    let ranked = ranked(context, found, searcher, (&query, &scope), &question);
    let (outcome, mut by_id) = match ranked {
        Ok(ranked) => ranked,
        Err(error) => {
            // The next search opens it again.
            opened.searcher = None;
            *is_set_aside = repair::set_aside_if_damaged(context, &error);
            return Err(index::failed(&error));
        }
    };
    let hits = outcome.hits;
    answer.meaning = outcome.meaning;
    answer.understood = outcome.understood;
    let gives_suggestions = question.suggestions == Suggestions::Given;
    let has_suggestions = hits.is_empty() && gives_suggestions;
    // The words of others are theirs.
    if visible.is_none() {
        let failed = |error| index::failed(&error);
        if has_suggestions {
            answer.near = searcher.nearest_words(&query).map_err(failed)?;
        } else if !hits.is_empty() {
            answer.unknown_words = searcher.unknown_words(&query).map_err(failed)?;
        }
    }
    let typed = typed.as_deref();
    if has_suggestions {
        answer.unknown_values = unknown_value::of_question(context, &question, typed, found, searcher)?;
    }
    // Whoever types a filter letter by letter is told only where nothing is left, and nobody but who searches.
    let is_bare = hits.is_empty() || (outcome.likely == 0 && !context.asks_at_every_key());
    if question.may_only_filter && gives_suggestions && is_bare {
        let hidden = answer.annotations.hidden();
        let inputs = SearchInputs { context, found, memory, visible: visible.as_ref(), hidden: &hidden };
        answer.relaxed = relaxed(&inputs, (&query, &question), typed, searcher)?;
    }
    answer.ghosts = if has_suggestions { ghosts() } else { Vec::new() };
    answer.total = outcome.total;
    let hits = hits.into_iter().take(question.limit);
    answer.hits = hits.map(|hit| Answered { session: by_id.remove(&hit.session), hit }).collect();
    Ok(answer)
}

/// The best sessions and their facts. Where repetitions are left out, more are asked for until there are enough.
fn ranked(
    context: &Context,
    found: &Discovery,
    searcher: &mut Searcher,
    (query, scope): (&Query, &SearchScope),
    question: &Question,
) -> Result<(SearchResults, HashMap<SessionId, Session>), search::Error> {
    let threads = context.config().places().threads;
    let is_filtered = query.is_empty() && scope.file.is_none();
    let mut limit = question.limit;
    loop {
        let mut outcome = if is_filtered {
            searcher.newest(scope, limit)?
        } else {
            searcher.search(query, scope, question.mode, threads, limit)?
        };
        let mut hits = std::mem::take(&mut outcome.hits);
        let by_id = described(context, found, &hits);
        let is_all = hits.len() < limit;
        if question.is_without_repetitions {
            let before = hits.len();
            hits = without_repetitions(hits, &by_id);
            // What is left out is no match, as far as it was looked at.
            outcome.total = outcome.total.saturating_sub((before - hits.len()) as u64);
        }
        if is_all || hits.len() >= question.limit || limit / MOST_WIDENED >= question.limit {
            return Ok((SearchResults { hits, ..outcome }, by_id));
        }
        limit = limit.saturating_mul(2);
    }
}

/// The sessions of hits, as they may leave.
fn described(context: &Context, found: &Discovery, hits: &[RankedHit]) -> HashMap<SessionId, Session> {
    let hit: HashSet<&SessionId> = hits.iter().map(|hit| &hit.session).collect();
    let cited: Vec<_> = found.sessions.iter().filter(|file| hit.contains(&file.id)).collect();
    let mut sessions = catalog::describe_some(&context.config().places(), &cited);
    for session in &mut sessions {
        context.redact_session(session);
    }
    sessions.into_iter().map(|session| (session.id.clone(), session)).collect()
}
