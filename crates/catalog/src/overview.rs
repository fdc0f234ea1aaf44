//! The catalog with what each session took: from the cards that are kept, or from the transcripts where one changed.

use std::collections::HashMap;

use model::{SessionId, Usage};
use rustc_hash::FxHashSet;
use transcript::{Problem, TranscriptFile};

use crate::assembly::{Read, assemble};
use crate::card::Card;
use crate::catalog::{Catalog, Detail, Entry, Found, Places, Progress, Work, arranged, find, wanted};
use crate::describe::Describer;
use crate::kept_cards;
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
    mut progress: impl FnMut(Progress),
) -> Catalog {
    let found = find(places);
    let found_out = match renewed_overview(places, &found, edition, &reckon) {
        Ok(catalog) => return catalog,
        Err(work) => work,
    };
    let mut fresh = fresh(places, &found, Detail::Spending, &mut progress);
    fresh.told.work += found_out;
    fresh.reckoned(places, &found, edition, reckon)
}

fn renewed_overview(
    places: &Places,
    found: &Found,
    edition: u64,
    reckon: impl Fn(&mut [Entry]),
) -> Result<Catalog, Work> {
    let entry = |file: &TranscriptFile, card: &Card<'_>, describer: &mut Describer| Entry {
        session: Box::new(describer.describe(file, card)),
        messages: Vec::new(),
        cost_state: None,
    };
    let changed = |mut reads: Vec<Read>, describer: &mut Describer| {
        let mut entries: Vec<_> = reads.iter_mut().map(|read| read.entry(describer)).collect();
        reckon(&mut entries);
        entries
    };
    let mut describer = Describer::new(&places.global_files);
    let (entries, told) = renewed(places, found, Some(edition), &mut describer, entry, changed)?;
    Ok(arranged(places, found, entries, &mut describer, told))
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
    told: Told,
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
    let reads = assemble(reading.facts, found.sessions.clone(), found.flat_subagents.clone());
    let problems = [found.problems.clone(), reading.problems].concat();
    Fresh { reads, told: Told { problems, work: reading.work, not_kept: cache.into_trouble() } }
}

impl Fresh {
    /// The catalog; what the sessions took is left to others.
    pub(crate) fn catalog(self, places: &Places, found: &Found) -> Catalog {
        let Self { mut reads, told } = self;
        let mut describer = Describer::new(&places.global_files);
        let entries = reads.iter_mut().map(|read| read.entry(&mut describer)).collect();
        arranged(places, found, entries, &mut describer, told)
    }

    /// The catalog with what the sessions took, kept for the next time.
    fn reckoned(
        self,
        places: &Places,
        found: &Found,
        edition: u64,
        reckon: impl Fn(&mut [Entry]),
    ) -> Catalog {
        let Self { mut reads, told } = self;
        let mut describer = Describer::new(&places.global_files);
        let entries = reads.iter_mut().map(|read| read.entry(&mut describer)).collect();
        let mut catalog = arranged(places, found, entries, &mut describer, told);
        let sharing = sharing(&catalog.sessions);
        reckon(&mut catalog.sessions);
        let took = |Entry { session, .. }: &Entry| (session.id.clone(), (session.usage, session.cost_usd));
        let took: HashMap<SessionId, _> = catalog.sessions.iter().map(took).collect();
        save(places, found, Some(edition), &reads, &took, &sharing);
        catalog
    }

    /// What `tell` makes of each session's card; the cards are kept, so that nobody need read for them again.
    pub(crate) fn kept<T>(
        self,
        places: &Places,
        found: &Found,
        mut describer: Describer,
        tell: impl Fn(&TranscriptFile, &Card<'_>, &mut Describer) -> T,
    ) -> Vec<T> {
        save(places, found, None, &self.reads, &HashMap::new(), &FxHashSet::default());
        self.reads.iter().map(|read| tell(&read.file, &read.card(), &mut describer)).collect()
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
    let cards = reads.iter().map(|read| Card { took: took.get(&read.file.id).copied(), ..read.card() });
    kept_cards::save(places, found, edition, cards.collect(), |id| sharing.contains(id));
}

/// The sessions that hold messages which others hold, too, or which are marked as others'.
fn sharing(entries: &[Entry]) -> FxHashSet<SessionId> {
    let held = entries
        .iter()
        .zip(0..)
        .flat_map(|(entry, at)| entry.messages.iter().map(move |message| (message.key, at)));
    let mut held: Vec<(u64, usize)> = held.collect();
    held.sort_unstable();
    held.dedup();
    let shared = held.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1);
    let shared = shared.flatten().map(|(_, at)| &entries[*at]);
    let marked = entries.iter().filter(|entry| entry.messages.iter().any(|message| message.copied));
    shared.chain(marked).map(|entry| entry.session.id.clone()).collect()
}
