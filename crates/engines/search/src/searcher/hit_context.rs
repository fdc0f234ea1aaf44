//! What the hits of one query are built from.

use std::collections::HashSet;

use embedding::Vector;
use model::SessionId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Asked, Evidence, Searcher};
use crate::columns::{ChunkAt, RecordKey};
use crate::file_runs::FileRuns;
use crate::files::FileRow;
use crate::outcome::HitTexts;
use crate::places::{Places, TextEvidence, places};
use crate::ranked::Ranked;
use crate::source::SourceKind;

/// The context in which the hits of one query are built.
pub(super) struct HitContext<'a> {
    /// The places in each of the sessions that answer.
    pub(super) places: FxHashMap<usize, Places>,
    /// The chunks of the records that are nearest in meaning.
    pub(super) chunks: FxHashMap<RecordKey, Vec<ChunkAt>>,
    /// The words of the query, with their inverse document frequencies.
    pub(super) terms: FxHashMap<&'a str, f32>,
    /// The question as the table embeds it.
    pub(super) meaning: Option<&'a Vector>,
    pub(super) shows_secrets: bool,
    /// How many places of each session are named besides the cited one.
    pub(super) further: usize,
    /// Whether a session is one hit that names no further places.
    pub(super) is_one_hit: bool,
    /// What is read of the transcripts for each hit.
    pub(super) texts: HitTexts,
    /// The sessions of Claude that may be cited and named; `None` for all.
    pub(super) citable: Option<&'a HashSet<SessionId>>,
}

impl HitContext<'_> {
    pub(super) fn may_cite(&self, file: &FileRow) -> bool {
        file.source != SourceKind::ClaudeSessions
            || self.citable.is_none()
            || file.session.as_ref().is_some_and(|session| self.may_name(session))
    }

    pub(super) fn may_name(&self, session: &SessionId) -> bool {
        self.citable.is_none_or(|citable| citable.contains(session))
    }

    /// Whether a later place is named beside the cited one.
    pub(super) fn names_later(&self) -> bool {
        self.is_one_hit && self.texts == HitTexts::Read
    }

    /// The places in a session that answer.
    pub(super) fn places_of(&self, session: usize) -> Option<&Places> {
        self.places.get(&session)
    }
}

impl Searcher {
    /// What the hits of these sessions are built from.
    pub(super) fn hit_context<'a>(
        &self,
        asked: &Asked<'a>,
        evidence: &Evidence,
        ranked: &[Ranked<'_>],
        question: Option<&'a Vector>,
    ) -> tantivy::Result<HitContext<'a>> {
        let Asked { query, scope, threads, .. } = *asked;
        let sessions = || ranked.iter().map(|ranked| ranked.session);
        let related = self.related(evidence, ranked);
        // What does not hold a quoted phrase is no answer, whatever it means.
        let by_meaning =
            ranked.iter().filter_map(|ranked| ranked.nearness).filter(|_| query.phrases.is_empty());
        let by_meaning = by_meaning.map(|nearness| nearness.place).collect();
        let chunks = self.chunks_of(&by_meaning, threads);
        let texts = TextEvidence { chunks: &evidence.gathered.chunks, related: &related, nearest: &chunks };
        let wanted = scope.wanted_passages();
        let has_texts = !evidence.gathered.chunks.is_empty() || !chunks.is_empty();
        let places = has_texts.then(|| places(&self.index(), self.runs(threads), &texts, sessions(), wanted));
        let places = places.transpose()?.unwrap_or_default();
        let is_one_hit = scope.places == 0 && scope.passages == 0;
        Ok(HitContext {
            places,
            chunks,
            terms: query
                .terms
                .iter()
                .map(String::as_str)
                .zip(evidence.gathered.idfs.iter().copied())
                .collect(),
            meaning: question,
            shows_secrets: scope.shows_secrets,
            further: wanted.most.saturating_sub(1),
            is_one_hit,
            texts: scope.texts,
            citable: scope.citable.as_ref(),
        })
    }

    /// The chunks of some records.
    pub(crate) fn chunks_of(
        &self,
        records: &FxHashSet<RecordKey>,
        threads: usize,
    ) -> FxHashMap<RecordKey, Vec<ChunkAt>> {
        if records.is_empty() {
            return FxHashMap::default();
        }
        self.runs(threads).chunks_of(&self.columns, &self.text, records)
    }

    pub(super) fn runs(&self, threads: usize) -> &FileRuns {
        self.runs.get_or_init(|| FileRuns::find(&self.columns, &self.text, &self.runs_folder, threads))
    }

    /// How related to the question the records of these sessions are, from 0 to 1.
    fn related(&self, evidence: &Evidence, ranked: &[Ranked<'_>]) -> FxHashMap<RecordKey, f32> {
        let sessions = ranked.iter().map(|ranked| ranked.session);
        let mut related = evidence.near.records_of(&self.sessions, sessions);
        // The one that a chosen model named may be nearer than the table found it.
        let nearest = ranked.iter().filter_map(|ranked| ranked.nearness);
        related.extend(nearest.map(|near| (near.place, near.nearest)));
        for cosine in related.values_mut() {
            *cosine = evidence.scale.related(*cosine);
        }
        related
    }
}
