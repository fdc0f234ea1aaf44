//! What the hits of one query are built from.

use std::collections::HashSet;

use embedding::Vector;
use model::SessionId;
use rustc_hash::FxHashMap;

use crate::columns::{ChunkAt, Columns, RecordKey};
use crate::files::FileRow;
use crate::places::Places;
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
    /// Whether a later place is named beside the cited one.
    pub(super) names_later: bool,
    pub(super) columns: &'a [Columns],
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

    /// The places in a session that answer.
    pub(super) fn places_of(&self, session: usize) -> Option<&Places> {
        self.places.get(&session)
    }
}
