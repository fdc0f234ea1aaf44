//! The sessions as their transcripts are now: what is new in the files is read, and the digests are kept.

use std::collections::HashMap;
use std::mem;

use model::{MessageUsage, Session, SessionId, Usage};
use rustc_hash::FxHashSet;
use transcript::TranscriptFile;

use crate::assembly::{ReadSession, UnattachedMessages, assemble};
use crate::describe::Describer;
use crate::digest::{LaunchContext, SessionDigest};
use crate::kept_digests;
use crate::reading::{LoadedCache, ReadFacts, file_requests};
use crate::types::{CatalogEntry, Detail, Discovery, Locations, ReadProgress, ReadReport};

/// The sessions as read from their transcripts now.
pub(crate) struct FreshSessions {
    reads: Vec<ReadSession>,
    unattached_messages: UnattachedMessages,
    /// Problems, I/O statistics and whether the cache could be written.
    pub(crate) report: ReadReport,
    /// Whether reading was cancelled before all files were read; then nothing is saved.
    is_interrupted: bool,
}

/// Reads what is new in the transcripts.
pub(crate) fn read_fresh(
    places: &Locations,
    found: &Discovery,
    detail: Detail,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
) -> FreshSessions {
    let kept = LoadedCache::load(places.cache.as_deref(), detail);
    read_fresh_from(kept, places, found, detail, progress)
}

/// Reads what is new in the transcripts, given the loaded cache.
pub(crate) fn read_fresh_from(
    kept: LoadedCache,
    places: &Locations,
    found: &Discovery,
    detail: Detail,
    progress: &mut dyn FnMut(ReadProgress) -> bool,
) -> FreshSessions {
    let (reading, cache) =
        ReadFacts::new(kept, detail, file_requests(found), &found.walked, places.threads, progress);
    let unattached = found.unattached().cloned().collect();
    let (reads, unattached_messages) = assemble(reading.facts, found.sessions.clone(), unattached);
    let problems = [found.problems.clone(), reading.problems].concat();
    FreshSessions {
        reads,
        unattached_messages,
        report: ReadReport { problems, work: reading.work, not_kept: cache.into_error() },
        is_interrupted: reading.is_interrupted,
    }
}

impl FreshSessions {
    /// The sessions with their messages, which are moved out, without totals.
    pub(crate) fn entries(&mut self, describer: &mut Describer) -> Vec<CatalogEntry> {
        self.reads.iter_mut().filter(|read| !read.is_foreign()).map(|read| read.entry(describer)).collect()
    }

    /// Takes out the API messages of sub-agents whose session has no transcript, one entry for each session.
    pub(crate) fn unattached_messages(&mut self) -> Vec<CatalogEntry> {
        let entry = |(id, messages): (SessionId, Vec<MessageUsage>)| {
            let started = messages.iter().filter_map(|message| message.at).min();
            CatalogEntry { messages, ..CatalogEntry::new(Session { created: started, ..Session::new(id) }) }
        };
        mem::take(&mut self.unattached_messages).into_iter().map(entry).collect()
    }

    /// The sessions with their totals, saved for the next time.
    pub(crate) fn with_totals(
        &mut self,
        places: &Locations,
        found: &Discovery,
        pricing_version: u64,
        apply_totals: impl Fn(&mut [CatalogEntry]),
        describer: &mut Describer,
    ) -> Vec<CatalogEntry> {
        let mut entries = self.entries(describer);
        let sharing = sharing_messages(&entries);
        apply_totals(&mut entries);
        let took = |CatalogEntry { session, .. }: &CatalogEntry| {
            (session.id.clone(), (session.usage, session.cost_usd))
        };
        let took: HashMap<SessionId, _> = entries.iter().map(took).collect();
        if !self.is_interrupted {
            save(places, found, Some(pricing_version), &self.reads, &took, &sharing);
        }
        entries
    }

    /// Saves the digests for the next time, then maps each of them with `map`, its launch context interned by
    /// `intern`.
    pub(crate) fn kept<S, T>(
        self,
        places: &Locations,
        found: &Discovery,
        mut describer: Describer,
        intern: impl Fn(&mut Describer, &LaunchContext<'_>) -> S,
        map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T>,
    ) -> Vec<T> {
        if !self.is_interrupted {
            save(places, found, None, &self.reads, &HashMap::new(), &FxHashSet::default());
        }
        let sessions = self.reads.iter().filter(|read| !read.is_foreign());
        sessions.filter_map(|read| read.map_digest(&mut describer, &intern, &map)).collect()
    }
}

/// Saves the sessions' digests with their totals.
fn save(
    places: &Locations,
    found: &Discovery,
    pricing_version: Option<u64>,
    reads: &[ReadSession],
    took: &HashMap<SessionId, (Usage, Option<f64>)>,
    sharing: &FxHashSet<SessionId>,
) {
    let digests = reads
        .iter()
        .map(|read| SessionDigest { took: took.get(&read.file.id).copied(), ..read.digest_with_keywords() });
    kept_digests::save(places, found, pricing_version, digests.collect(), |id| sharing.contains(id));
}

/// The sessions that hold messages which other sessions also hold, or which are marked as copies.
fn sharing_messages(entries: &[CatalogEntry]) -> FxHashSet<SessionId> {
    let held = entries
        .iter()
        .zip(0..)
        .flat_map(|(entry, at)| entry.messages.iter().map(move |message| (message.message, at)));
    let mut held: Vec<(u64, usize)> = held.collect();
    held.sort_unstable();
    held.dedup();
    let shared = held.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1);
    let shared = shared.flatten().map(|(_, at)| &entries[*at]);
    let marked = entries.iter().filter(|entry| entry.messages.iter().any(|message| message.copied));
    shared.chain(marked).map(|entry| entry.session.id.clone()).collect()
}
