//! What a question finds.

use std::collections::{HashMap, HashSet};

use catalog::AnnotationIndex;
use model::{Session, SessionId};
use search::{EncoderReport, MeaningStatus, RankedHit, SearchResults};

use crate::Context;
use crate::retention::ghosts::{self, GhostHit};
use crate::search::SourceKind;
use crate::search::relaxation::Relaxed;
use crate::search::unknown_value::UnknownValue;

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
    /// Words of the question that were misspelt, each with the one that was searched for in its place.
    pub(crate) corrections: Vec<(String, String)>,
    /// Sessions without a transcript in which the person wrote the words; where nothing else was found.
    pub(crate) ghosts: Vec<GhostHit>,
    /// Whether the question has filters alone: the newest sessions that pass are given.
    pub(crate) is_filtered: bool,
    /// What the person annotated, as it was read for this answer.
    pub(crate) annotations: AnnotationIndex,
    /// Why the annotations could not be read.
    pub(crate) not_annotated: Option<String>,
    /// Values of filters that no session has, where nothing was found.
    pub(crate) unknown_values: Vec<UnknownValue>,
    /// What is said of words that are filters but for their value.
    pub(crate) misfits: Vec<String>,
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
    /// What is known of it when its transcript is gone.
    pub(crate) ghost: Option<Session>,
    /// The person's note and tags, where it is meant by them.
    pub(crate) annotated: Option<String>,
}

impl Found {
    /// Adds what a search found, `limit` sessions at most, with their facts.
    pub(crate) fn add_hits(
        &mut self,
        results: SearchResults,
        mut sessions: HashMap<SessionId, Session>,
        limit: usize,
    ) {
        self.meaning = results.meaning;
        self.understood = results.understood;
        self.total = results.total;
        let hits = results.hits.into_iter().take(limit);
        self.hits = hits
            .map(|hit| Answered { session: sessions.remove(&hit.session), ghost: None, hit, annotated: None })
            .collect();
    }

    /// Adds what is known of the sessions whose transcripts are gone.
    pub(crate) fn add_ghosts(&mut self, context: &Context) {
        let is_lost = |found: &&Answered| {
            found.session.is_none() && found.hit.gone && found.hit.source == SourceKind::ClaudeSessions
        };
        let lost: HashSet<SessionId> =
            self.hits.iter().filter(is_lost).map(|found| found.hit.session.clone()).collect();
        if lost.is_empty() {
            return;
        }
        let mut known = ghosts::sessions(context, &lost);
        for found in &mut self.hits {
            found.ghost = known.remove(&found.hit.session);
        }
    }
}
