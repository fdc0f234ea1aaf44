//! The catalog with what each session took: from the cards that are kept, or from the transcripts where one changed.

use model::Keywords;
use transcript::TranscriptFile;

use crate::assembly::Read;
use crate::card::Card;
use crate::describe::{Describer, Held, described, figures};
use crate::discover::find;
use crate::fresh::fresh;
use crate::others::Others;
use crate::renewal::renewed;
use crate::types::{Catalog, Detail, Entry, Found, Places, Progress, Told, Work, sort, whole};

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
    whole(&found, sessions, others.problems(), told)
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
