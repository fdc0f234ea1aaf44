//! Finds the sessions that answer a question.

use std::collections::{HashMap, HashSet};

use catalog::{AnnotationIndex, Discovery, Hidden, SessionFilter};
use model::{Session, SessionId};
use search::{RankedHit, SearchResults, SearchScope, Searcher, SyncReport};
use system::join;

use crate::context::{FoundFiles, IndexedFiles, Visible};
use crate::search::chosen::{Chosen, chosen, named};
use crate::search::found::Found;
use crate::search::index::share::pending_after;
use crate::search::index::{Opened, Refreshed, repair};
use crate::search::parsed_question::ParsedQuestion;
use crate::search::question::Question;
use crate::search::recency;
use crate::search::relaxation::SearchInputs;
use crate::search::repetitions::without_repetitions;
use crate::search::{embed, excerpts, index, suggestions};
use crate::sessions::annotate;
use crate::{Context, Error};

/// How many times as many sessions are ranked at most, where some only repeat others.
const MOST_WIDENED: usize = 8;

/// Why there is no answer.
enum Failure {
    /// To ask again would not help.
    Final(Error),
    /// The index was damaged and is set aside: whoever asks again makes a new one.
    SetAside(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow. A damaged
/// index is set aside, and the question asked once more.
pub(crate) fn find(context: &Context, question: &Question) -> Result<Found, Error> {
    let context = &context.looking_once();
    let mut opened = index::find(context);
    let mut found = find_once(context, question, &mut opened);
    if let Err(Failure::SetAside(_)) = found {
        let context = context.with_max_age(0);
        opened = index::find(&context);
        found = find_once(&context, question, &mut opened);
    }
    if let Some(searcher) = &opened.searcher {
        excerpts::continue_behind(context, searcher);
    }
    if context.asks_at_every_key() {
        if let Some(searcher) = opened.searcher {
            context.app.recent_files.keep_searcher(searcher);
        }
        index::renew_behind(context);
    }
    found.map_err(|(Failure::Final(error) | Failure::SetAside(error))| error)
}

fn find_once(context: &Context, question: &Question, opened: &mut Opened) -> Result<Found, Failure> {
    let files = opened.files.clone();
    let FoundFiles { transcripts: found, memory, .. } = &*files;
    let mut parsed = ParsedQuestion::new(context, question, found)?;
    let question = &parsed.question.clone();
    let understanding = embed::understanding(context, question.model.as_deref(), question.deep)?;
    let visible = context.visible(found, memory)?;
    let visible = visible.as_ref();
    let (refreshed, chosen) = refresh_and_choose(context, question, opened, visible)?;
    let (annotations, not_annotated) = match annotate::index(context) {
        Ok(annotations) => (annotations, None),
        Err(error) => (AnnotationIndex::default(), Some(error.message)),
    };
    let mut answer = Found {
        cut: parsed.query.cut,
        known: visible.map_or(found.sessions.len(), |visible| visible.sessions.len()),
        is_filtered: !parsed.has_words(),
        misfits: parsed.misfits(context.asks_at_every_key()),
        annotations,
        not_annotated,
        ..Found::default()
    };
    let failure = match refreshed.synced {
        Ok(synced) => {
            cache_files(context, opened, &synced);
            let pending = pending_after(context, &synced, || index::sources(found, memory), visible)?;
            answer.pending_files = pending.files;
            answer.pending_bytes = pending.bytes;
            answer.busy = synced.busy;
            None
        }
        // What is indexed can still be asked: a read-only disk is no reason to say nothing.
        Err(error) => {
            answer.stale = Some(error.message.clone());
            Some(error)
        }
    };
    refreshed.opened?;
    let mut hidden = answer.annotations.hidden();
    hidden.extend(left_out_by_settings(context, found));
    let inputs = SearchInputs { context, found, memory, visible, hidden: &hidden };
    let Some(searcher) = &mut opened.searcher else {
        // Where nothing was ever indexed, "no matches" would be wrong.
        return match failure {
            Some(error) => Err(error.into()),
            None => Ok(Found { ghosts: suggestions::ghosts(context, &parsed), ..answer }),
        };
    };
    searcher.set_query_encoder(understanding);
    searcher.set_excerpt_model(excerpts::for_question(context));
    let scope = question.scope(context, chosen, visible, hidden.clone());
    let is_typing = context.asks_at_every_key();
    // Whoever may not see every session gets no words of others.
    let corrected = match visible {
        None => searcher.corrected(&parsed.query, is_typing),
        Some(_) => Ok(parsed.query.clone()),
    };
    let fitted = corrected.and_then(|query| searcher.fitted(&query, is_typing));
    let ranked = fitted.and_then(|query| {
        parsed.query = query;
        ranked(context, found, searcher, &scope, &parsed)
    });
    let (outcome, by_id) = match ranked {
        Ok(ranked) => ranked,
        Err(error) => {
            // The next search opens it again.
            opened.searcher = None;
            return Err(index_failed(context, &error));
        }
    };
    answer.corrections.clone_from(&parsed.query.corrections);
    suggestions::add(&mut answer, &inputs, &parsed, &outcome, searcher)?;
    answer.add_hits(outcome, by_id, question.limit);
    answer.add_ghosts(context);
    Ok(answer)
}

/// Brings the index up to date, and chooses the sessions that may answer.
fn refresh_and_choose(
    context: &Context,
    question: &Question,
    opened: &mut Opened,
    visible: Option<&Visible>,
) -> Result<(Refreshed, Chosen), Error> {
    let files = opened.files.clone();
    let FoundFiles { transcripts: found, memory, .. } = &*files;
    let mut refresh = || index::refresh(context, opened);
    let (refreshed, chosen) = match named(question.session.as_deref(), found, memory, visible)? {
        Some(named) => (refresh(), Ok(named)),
        None if question.filter == SessionFilter::default() => (refresh(), Ok(Chosen::default())),
        // The filter reads other files than the check whether the index is fresh, so both run at once.
        None => join(refresh, || chosen(context, &question.filter, found, memory)),
    };
    context.check_cancelled()?;
    Ok((refreshed, chosen?))
}

/// Caches files that were just looked for, for whoever asks at the next key.
fn cache_files(context: &Context, opened: &Opened, synced: &SyncReport) {
    if context.asks_at_every_key() && !opened.is_recent() {
        let (files, synced) = (opened.files.clone(), synced.clone());
        context.app.recent_files.keep(IndexedFiles { files, synced });
    }
}

/// A search that failed; where that comes from a damaged index, this is set aside.
fn index_failed(context: &Context, error: &search::Error) -> Failure {
    let failed = index::failed(error);
    if repair::set_aside_if_damaged(context, error) {
        Failure::SetAside(failed)
    } else {
        Failure::Final(failed)
    }
}

/// The best sessions and their facts. Where repetitions are left out, more are asked for until there are enough.
fn ranked(
    context: &Context,
    found: &Discovery,
    searcher: &mut Searcher,
    scope: &SearchScope,
    parsed: &ParsedQuestion,
) -> Result<(SearchResults, HashMap<SessionId, Session>), search::Error> {
    let ParsedQuestion { query, question, .. } = parsed;
    let threads = context.config().places().threads;
    let mut limit = question.limit;
    loop {
        let mut outcome = if parsed.has_words() {
            searcher.search(query, scope, question.mode, threads, limit)?
        } else {
            searcher.newest(scope, limit)?
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
        if recency::asks_for_now(&question.text) {
            let project =
                |hit: &RankedHit| by_id.get(&hit.session).and_then(|session| session.project.clone());
            recency::newest_first(&mut hits, project);
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

/// The sessions in directories that the settings leave out.
fn left_out_by_settings(context: &Context, found: &Discovery) -> HashSet<SessionId> {
    let places = context.config().places();
    if places.left_out.is_empty() {
        return HashSet::new();
    }
    let filter = SessionFilter { hidden: Hidden::Only, ..SessionFilter::default() };
    catalog::select(&places, found, &filter, |_| !context.cancellation.is_cancelled())
}
