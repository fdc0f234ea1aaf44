//! The sessions as their transcripts are now: what is new in the files is read, and the cards are kept.

use std::collections::HashMap;
use std::mem;

use model::{MessageUsage, Session, SessionId, Usage};
use rustc_hash::FxHashSet;
use transcript::TranscriptFile;

use crate::assembly::{Read, Strays, assemble};
use crate::card::{Card, Setting};
use crate::describe::Describer;
use crate::kept_cards;
use crate::reading::{Kept, Reading, wanted};
use crate::types::{Detail, Entry, Found, Places, Progress, Told};

/// What was read of the transcripts as they are now.
pub(crate) struct Fresh {
    reads: Vec<Read>,
    strays: Strays,
    /// What is to be told of it.
    pub(crate) told: Told,
}

/// Reads what is new in the transcripts.
pub(crate) fn fresh(
    places: &Places,
    found: &Found,
    detail: Detail,
    progress: &mut dyn FnMut(Progress),
) -> Fresh {
    let kept = Kept::load(places.cache.as_deref(), detail);
    fresh_from(kept, places, found, detail, progress)
}

/// Reads what is new in the transcripts, where it is loaded already what is kept of them.
pub(crate) fn fresh_from(
    kept: Kept,
    places: &Places,
    found: &Found,
    detail: Detail,
    progress: &mut dyn FnMut(Progress),
) -> Fresh {
    let (reading, cache) = Reading::new(kept, detail, wanted(found), &found.walked, places.threads, progress);
    let unattached = found.unattached().cloned().collect();
    let (reads, strays) = assemble(reading.facts, found.sessions.clone(), unattached);
    let problems = [found.problems.clone(), reading.problems].concat();
    Fresh { reads, strays, told: Told { problems, work: reading.work, not_kept: cache.into_trouble() } }
}

impl Fresh {
    /// The sessions with their messages, which are given away; what they took is left to others.
    pub(crate) fn entries(&mut self, describer: &mut Describer) -> Vec<Entry> {
        self.reads.iter_mut().filter(|read| !read.is_foreign()).map(|read| read.entry(describer)).collect()
    }

    /// What sub-agents did in sessions without a transcript, which is given away.
    pub(crate) fn strays(&mut self) -> Vec<Entry> {
        let entry = |(id, messages): (SessionId, Vec<MessageUsage>)| {
            let started = messages.iter().filter_map(|message| message.at).min();
            Entry { messages, ..Entry::of(Session { created: started, ..Session::blank(id) }) }
        };
        mem::take(&mut self.strays).into_iter().map(entry).collect()
    }

    /// The sessions with what they took, kept for the next time.
    pub(crate) fn reckoned(
        &mut self,
        places: &Places,
        found: &Found,
        edition: u64,
        reckon: impl Fn(&mut [Entry]),
        describer: &mut Describer,
    ) -> Vec<Entry> {
        let mut entries = self.entries(describer);
        let sharing = sharing(&entries);
        reckon(&mut entries);
        let took = |Entry { session, .. }: &Entry| (session.id.clone(), (session.usage, session.cost_usd));
        let took: HashMap<SessionId, _> = entries.iter().map(took).collect();
        save(places, found, Some(edition), &self.reads, &took, &sharing);
        entries
    }

    /// What `tell` makes of each session's card, and of what `settle` makes of its setting; the cards are kept, so that
    /// nobody need read for them again.
    pub(crate) fn kept<S, T>(
        self,
        places: &Places,
        found: &Found,
        mut describer: Describer,
        settle: impl Fn(&mut Describer, &Setting<'_>) -> S,
        tell: impl Fn(&TranscriptFile, &Card<'_>, &S) -> Option<T>,
    ) -> Vec<T> {
        save(places, found, None, &self.reads, &HashMap::new(), &FxHashSet::default());
        let sessions = self.reads.iter().filter(|read| !read.is_foreign());
        sessions.filter_map(|read| read.tell(&mut describer, &settle, &tell)).collect()
    }
}

/// Keeps the sessions' cards with what they took.
fn save(
    places: &Places,
    found: &Found,
    edition: Option<u64>,
    reads: &[Read],
    took: &HashMap<SessionId, (Usage, Option<f64>)>,
    sharing: &FxHashSet<SessionId>,
) {
    let cards =
        reads.iter().map(|read| Card { took: took.get(&read.file.id).copied(), ..read.card_with_keywords() });
    kept_cards::save(places, found, edition, cards.collect(), |id| sharing.contains(id));
}

/// The sessions that hold messages which others hold, too, or which are marked as others'.
fn sharing(entries: &[Entry]) -> FxHashSet<SessionId> {
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
