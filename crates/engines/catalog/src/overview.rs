//! The catalog with what each session took: from the cards that are kept, or from the transcripts where one changed.

use std::collections::HashMap;
use std::mem;

use model::{Keywords, MessageUsage, Session, SessionId, Usage};
use rustc_hash::FxHashSet;
use transcript::{Problem, TranscriptFile};

use crate::assembly::{Read, Strays, assemble};
use crate::card::{Card, Setting};
use crate::catalog::{Catalog, Detail, Entry, Found, Places, Progress, Work, find, sort, wanted, whole};
use crate::describe::{Describer, Held, described, figures};
use crate::kept_cards;
use crate::others::Others;
use crate::reading::{Kept, Reading};
use crate::renewal::renewed;

/// The catalog with what each session took.
///
/// `reckon` writes that into entries; it is asked only about those in which something has changed since the last time,
/// or about all where copies have to be told apart, or where `edition` is another, which stands for its rules.
pub fn overview(
    places: &Places,
    edition: u64,
    reckon: impl Fn(&mut [Entry]),
    progress: impl FnMut(Progress),
) -> Catalog {
    let mut catalog = survey(places, edition, Extent::Whole, reckon, progress, Some);
    sort(&mut catalog.sessions);
    catalog
}

/// How much is told of each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All.
    Whole,
    /// What is reckoned with; its prompts, nickname and sub-agents may be missing.
    Figures,
}

/// What `tell` makes of every session, in any order; those it makes nothing of are left out. Each is at hand only while
/// it is told: thousands are not held at once.
///
/// What a session took is known as in [`overview`].
pub fn survey<T: Send>(
    places: &Places,
    edition: u64,
    extent: Extent,
    reckon: impl Fn(&mut [Entry]),
    mut progress: impl FnMut(Progress),
    tell: impl Fn(Entry) -> Option<T> + Sync,
) -> Catalog<T> {
    let found = find(places);
    let others = Others::read(places);
    let tell = |mut entry: Entry| {
        others.tell(&mut entry.session);
        tell(entry)
    };
    let mut describer = Describer::new(&places.global_files);
    let surveyed = match renewed_survey(places, &found, (edition, extent), &reckon, &mut describer, tell) {
        Ok(surveyed) => surveyed,
        Err(work) => {
            let mut fresh = fresh(places, &found, Detail::Spending, &mut progress);
            fresh.told.work += work;
            let entries = fresh.reckoned(places, &found, edition, reckon, &mut describer);
            (entries.into_iter().filter_map(&tell).collect(), fresh.told)
        }
    };
    let (mut sessions, told) = surveyed;
    sessions.extend(others.alone(&found, &mut describer).into_iter().filter_map(&tell));
    whole(&found, sessions, others, told)
}

fn renewed_survey<T: Send>(
    places: &Places,
    found: &Found,
    (edition, extent): (u64, Extent),
    reckon: impl Fn(&mut [Entry]),
    describer: &mut Describer,
    tell: impl Fn(Entry) -> Option<T> + Sync,
) -> Result<(Vec<T>, Told), Work> {
    let describe = match extent {
        Extent::Whole => described,
        Extent::Figures => figures,
    };
    let tell_kept = |file: &TranscriptFile, card: &Card<'_>, held: &Held| {
        let keywords = Some(Keywords::from_bytes(&card.keywords));
        tell(Entry { keywords, ..Entry::of(describe(file, card, held)) })
    };
    let tell_changed = |mut reads: Vec<Read>, describer: &mut Describer| {
        let mut entries: Vec<_> = reads.iter_mut().map(|read| read.entry(describer)).collect();
        reckon(&mut entries);
        entries.into_iter().filter_map(&tell).collect()
    };
    renewed(places, found, Some(edition), describer, Describer::held, tell_kept, tell_changed)
}

/// What is to be told of a reading.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What could not be read.
    pub(crate) problems: Vec<Problem>,
    /// What it took.
    pub(crate) work: Work,
    /// Why it could not be kept, where it could not.
    pub(crate) not_kept: Option<String>,
}

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
    fn reckoned(
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
