//! The answer to a question without words: the sessions with text in its scope, newest first, each cited at the last such
//! text.

use transcript::Role;

use super::{Asked, Evidence, Searcher, unless_damaged};
use crate::columns::{ChunkAt, ChunkFilter as _, NumberColumn};
use crate::error::{Error, index_failed};
use crate::features::{Features, load_postings};
use crate::gather::gather;
use crate::kind::ChunkKind;
use crate::meaning::Similarities;
use crate::outcome::{MeaningStatus, Mode, SearchResults, SearchScope};
use crate::query::Query;
use crate::rank::CosineScale;
use crate::ranked::Ranked;

/// The last texts of a session that are in a scope.
#[derive(Debug, Clone, Copy)]
struct Last {
    /// When the last of all was said.
    latest: u64,
    /// Whether a person or the model said the cited one, and where it is among those that they said.
    order: (bool, [u64; 4]),
    cited: ChunkAt,
}

impl Searcher {
    /// The sessions with text in `scope`, newest first.
    pub fn newest(&mut self, scope: &SearchScope, limit: usize) -> Result<SearchResults, Error> {
        let folder = self.folder.clone();
        unless_damaged(folder, || self.newest_in(scope, limit))
    }

    fn newest_in(&mut self, scope: &SearchScope, limit: usize) -> Result<SearchResults, Error> {
        self.admit(scope);
        let query = Query::default();
        let asked = Asked { query: &query, scope, mode: Mode::Lexical, threads: 1, is_understood: true };
        if !self.sessions.admits_any() {
            return Ok(SearchResults::default());
        }
        let index = self.index();
        let mut gathered = load_postings(&index, &query, scope, Features::default(), 1)
            .and_then(|features| gather(&index, None, None, scope, &features))
            .map_err(index_failed("search", &self.folder))?;
        let mut newest: Vec<(u64, usize)> = Vec::new();
        for (session, last) in self.last_texts(scope).into_iter().enumerate() {
            let Some(last) = last else { continue };
            gathered.found[session].fact = Some(((0, last.latest), last.cited));
            newest.push((last.latest, session));
        }
        let total = newest.len() as u64;
        newest.sort_by(|one, other| {
            let id = |session: usize| self.sessions.id(session);
            other.0.cmp(&one.0).then_with(|| id(one.1).cmp(id(other.1)))
        });
        newest.sort_by_key(|(_, session)| self.has_vanished(*session));
        newest.truncate(limit);
        let evidence =
            Evidence { gathered, near: Similarities::default(), excerpts: None, scale: CosineScale::TABLE };
        let found = &evidence.gathered.found;
        let of = |(_, session): &(u64, usize)| Ranked {
            score: 1.0,
            plain_score: 1.0,
            by_excerpts: None,
            confidence: 1.0,
            session: *session,
            found: &found[*session],
            nearness: None,
        };
        let ranked: Vec<Ranked<'_>> = newest.iter().map(of).collect();
        let context = self.hit_context(&asked, &evidence, &ranked, None);
        let context = context.map_err(index_failed("search", &self.folder))?;
        let hits = self.hits(&ranked, &context, scope, limit)?;
        Ok(SearchResults { hits, total, likely: total, meaning: MeaningStatus::NotAsked, understood: None })
    }

    /// By session number; what was said comes before what a tool did.
    fn last_texts(&self, scope: &SearchScope) -> Vec<Option<Last>> {
        let mut all: Vec<Option<Last>> = vec![None; self.sessions.len()];
        let wanted = [NumberColumn::File, NumberColumn::Kind, NumberColumn::Record, NumberColumn::Time];
        for (at, (segment, columns)) in self.text.segment_readers().iter().zip(&self.columns).enumerate() {
            columns.each(segment, wanted, |document, [file, kind, record, time]| {
                let kind = ChunkKind::from_number(kind).filter(|kind| kind.is_found_by_words());
                let Some(kind) = kind.filter(|kind| scope.chunk(*kind, &|| time)) else { return };
                let is_said = kind.is_place() && matches!(kind.role(), Role::User | Role::Assistant);
                let cited = ChunkAt { segment: at, document };
                let order = (is_said, columns.order(document));
                self.sessions.holders(
                    Some(file),
                    || Some(record),
                    |session| {
                        let last = all[session].get_or_insert(Last { latest: time, order, cited });
                        last.latest = last.latest.max(time);
                        if order > last.order {
                            (last.order, last.cited) = (order, cited);
                        }
                    },
                );
            });
        }
        all
    }
}
