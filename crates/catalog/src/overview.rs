//! The cards of all sessions in one file, good until any transcript changes: a list of thousands of sessions then
//! takes one small file, and no database.
//!
//! Ours to lose: what does not fit the transcripts as they are now is made anew.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;

use model::{Session, SessionId, Usage};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use transcript::Problem;

use crate::assembly::{Read, assemble};
use crate::card::Card;
use crate::catalog::{Catalog, Detail, Entry, Found, Places, Progress, Work, arranged, find, wanted};
use crate::describe::{describe, last_modified};
use crate::project::Projects;
use crate::reading::{Kept, Reading};
use crate::select::outlines;

/// Which cards the bytes were made of: whoever changes [`Card`] raises it.
const FORMAT: u32 = 1;
/// The largest file that is read, in bytes.
const CAP: u64 = 1 << 30;

/// The catalog with what each session took.
///
/// `reckon` writes that into the entries; it is asked only where something has changed since the last time, or
/// `edition`, which stands for the rules it reckons by.
pub fn overview(
    places: &Places,
    edition: u64,
    reckon: impl FnOnce(&mut [Entry]),
    mut progress: impl FnMut(Progress),
) -> Catalog {
    let (found, bytes) = std::thread::scope(|scope| {
        let bytes = scope.spawn(|| Bytes::load(places));
        let found = find(places);
        (found, bytes.join().unwrap_or_default())
    });
    if let Some(cards) = bytes.reckoned(&found, edition) {
        return as_kept(places, &found, &cards);
    }
    let fresh = fresh(places, &found, Detail::Spending, &mut progress);
    fresh.reckoned(places, &found, edition, reckon)
}

fn as_kept(places: &Places, found: &Found, cards: &[Card<'_>]) -> Catalog {
    let mut projects = Projects::new(&places.global_files);
    let entry = |(file, card)| Entry {
        session: describe(file, card, &mut projects),
        messages: Vec::new(),
        cost_state: None,
    };
    let mut pairs: Vec<_> = found.sessions.iter().zip(cards).collect();
    // A card's place is cheaper to move than all that is told of a session.
    pairs.sort_unstable_by_key(|(file, card)| (Reverse(last_modified(file, card)), card.id));
    let entries = pairs.into_iter().map(entry).collect();
    let told = Told { problems: found.problems.clone(), ..Told::default() };
    arranged(places, found, entries, &mut projects, told)
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
        let mut projects = Projects::new(&places.global_files);
        let entries = reads.iter_mut().map(|read| read.entry(&mut projects)).collect();
        arranged(places, found, entries, &mut projects, told)
    }

    /// The catalog with what the sessions took, kept for the next time.
    fn reckoned(
        self,
        places: &Places,
        found: &Found,
        edition: u64,
        reckon: impl FnOnce(&mut [Entry]),
    ) -> Catalog {
        let Self { mut reads, told } = self;
        let mut projects = Projects::new(&places.global_files);
        let entries = reads.iter_mut().map(|read| read.entry(&mut projects)).collect();
        let mut catalog = arranged(places, found, entries, &mut projects, told);
        reckon(&mut catalog.sessions);
        let took = |Entry { session, .. }: &Entry| (session.id.clone(), (session.usage, session.cost_usd));
        let took: HashMap<SessionId, _> = catalog.sessions.iter().map(took).collect();
        save(places, found, Some(edition), &cards(&reads, &took));
        catalog
    }

    /// The sessions as far as a filter looks at them; kept, so that the next filter need not read again.
    pub(crate) fn outlines(self, places: &Places, found: &Found) -> Vec<Session> {
        let cards = cards(&self.reads, &HashMap::new());
        save(places, found, None, &cards);
        outlines(places, self.reads.iter().map(|read| &read.file).zip(&cards))
    }
}

fn cards<'a>(reads: &'a [Read], took: &HashMap<SessionId, (Usage, Option<f64>)>) -> Vec<Card<'a>> {
    reads.iter().map(|read| Card { took: took.get(&read.file.id).copied(), ..read.card() }).collect()
}

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    /// The fingerprint of all transcripts.
    files: u64,
    /// The rules by which it was reckoned what each session took, where it was.
    edition: Option<u64>,
}

/// The file's content.
#[derive(Debug, Default)]
pub(crate) struct Bytes(Vec<u8>);

impl Bytes {
    /// Reads the file; nothing where there is none.
    pub(crate) fn load(places: &Places) -> Self {
        let read = file(places).and_then(|file| transcript::read_small(&file, CAP).ok());
        Self(read.unwrap_or_default())
    }

    /// The card of each transcript that was found, in that order; `None` where one of them has changed since.
    pub(crate) fn cards(&self, found: &Found) -> Option<Vec<Card<'_>>> {
        self.matching(found, |_| true)
    }

    fn reckoned(&self, found: &Found, edition: u64) -> Option<Vec<Card<'_>>> {
        self.matching(found, |head| head.edition == Some(edition))
    }

    fn matching(&self, found: &Found, is_wanted: impl Fn(&Head) -> bool) -> Option<Vec<Card<'_>>> {
        let (head, mut rest) = postcard::take_from_bytes::<Head>(&self.0).ok()?;
        if head.format != FORMAT || head.files != found.fingerprint() || !is_wanted(&head) {
            return None;
        }
        let mut cards = Vec::with_capacity(found.sessions.len());
        for file in &found.sessions {
            let (card, behind) = postcard::take_from_bytes::<Card<'_>>(rest).ok()?;
            if card.id != file.id.as_str() {
                return None;
            }
            cards.push(card);
            rest = behind;
        }
        rest.is_empty().then_some(cards)
    }
}

fn file(places: &Places) -> Option<PathBuf> {
    Some(places.cache.as_ref()?.with_file_name("overview.bin"))
}

/// Keeps the cards, whole or not at all; where they cannot be kept they are made again the next time.
fn save(places: &Places, found: &Found, edition: Option<u64>, cards: &[Card<'_>]) {
    let Some(file) = file(places) else { return };
    let head = Head { format: FORMAT, files: found.fingerprint(), edition };
    let mut bytes = postcard::to_stdvec(&head);
    for card in cards {
        bytes = bytes.and_then(|bytes| postcard::to_extend(card, bytes));
    }
    let Ok(bytes) = bytes else { return };
    let folder = file.parent().unwrap_or(&file);
    let written = NamedTempFile::new_in(folder).and_then(|mut scratch| {
        scratch.write_all(&bytes)?;
        scratch.persist(&file).map_err(|error| error.error).map(drop)
    });
    // Nothing is lost but time.
    let _ = written;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_this_format() {
        let agent = crate::card::AgentCard {
            id: "a",
            kind: Some("Explore"),
            description: None,
            file: std::path::Path::new("/p/agent-a.jsonl"),
        };
        let card = Card {
            id: "s1",
            cwd: Some("/p"),
            first_at: "2026-01-02T03:04:05.000000678Z".parse().ok(),
            lines: 300,
            forked_from: Some(model::ForkOrigin { session_id: "s0".parse().unwrap(), message_uuid: None }),
            agents: vec![agent],
            took: Some((Usage { input: 1, output: 2, ..Usage::default() }, Some(0.5))),
            ..Card::default()
        };
        let bytes = postcard::to_stdvec(&card).unwrap();
        assert_eq!(postcard::from_bytes::<Card<'_>>(&bytes).unwrap(), card);
        let hash =
            bytes.iter().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        assert_eq!(
            (FORMAT, hash),
            (1, 11_812_572_190_376_659_987),
            "a card has changed: raise FORMAT, then put the new figure here"
        );
    }
}
