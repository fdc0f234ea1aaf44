//! The cards of all sessions in one file, good until any transcript changes: a list of thousands of sessions then
//! takes one small file, and no database.
//!
//! Ours to lose: what does not fit the transcripts as they are now is made anew.

use std::cmp::Reverse;
use std::io::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use transcript::{TranscriptFile, in_parallel};

use crate::card::Card;
use crate::catalog::{Found, Places};
use crate::describe::last_modified;
use crate::project::Projects;

/// Which cards the bytes were made of: whoever changes [`Card`] raises it.
const FORMAT: u32 = 2;
/// The largest file that is read, in bytes.
const CAP: u64 = 1 << 30;
/// So many cards are a section: what a thread takes at least.
const SECTION: usize = 256;

#[derive(Serialize, Deserialize)]
struct Head {
    format: u32,
    /// The fingerprint of all transcripts.
    files: u64,
    /// The rules by which it was reckoned what each session took, where it was.
    edition: Option<u64>,
    /// How many bytes each section has; they follow one another.
    sections: Vec<usize>,
}

/// A card in its place: the newest session's first.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    /// Which of the transcripts that were found it is of.
    at: usize,
    #[serde(borrow)]
    card: Card<'a>,
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

    /// What `tell` makes of each session's card, the newest session first, by so many threads.
    ///
    /// `None` where a transcript has changed since, or what was taken was not reckoned in the `edition` that is asked
    /// for.
    pub(crate) fn told<T: Send>(
        &self,
        found: &Found,
        edition: Option<u64>,
        threads: usize,
        projects: &Projects,
        tell: impl Fn(&TranscriptFile, &Card<'_>, &mut Projects) -> T + Sync,
    ) -> Option<Vec<T>> {
        let sections = self.sections(found, edition)?;
        let parts: Vec<_> = sections.chunks(sections.len().div_ceil(threads.max(1)).max(1)).collect();
        let told = in_parallel(threads, &parts, |sections| {
            let mut projects = projects.clone();
            // There is room for those of the other threads: thousands of sessions are not moved twice.
            let mut told = Vec::with_capacity(found.sessions.len());
            for section in *sections {
                each(section, found, |file, card| told.push(tell(file, card, &mut projects)))?;
            }
            Some(told)
        });
        let mut told = told.into_iter();
        let mut all = told.next().unwrap_or_else(|| Some(Vec::new()))?;
        for part in told {
            all.append(&mut part?);
        }
        (all.len() == found.sessions.len()).then_some(all)
    }

    fn sections(&self, found: &Found, edition: Option<u64>) -> Option<Vec<&[u8]>> {
        let (head, mut rest) = postcard::take_from_bytes::<Head>(&self.0).ok()?;
        let is_reckoned = edition.is_none() || head.edition == edition;
        if head.format != FORMAT || head.files != found.fingerprint() || !is_reckoned {
            return None;
        }
        let mut sections = Vec::with_capacity(head.sections.len());
        for length in head.sections {
            let (section, behind) = rest.split_at_checked(length)?;
            sections.push(section);
            rest = behind;
        }
        rest.is_empty().then_some(sections)
    }
}

/// Reads a section's cards; `None` where they are not those of the transcripts.
fn each(section: &[u8], found: &Found, mut tell: impl FnMut(&TranscriptFile, &Card<'_>)) -> Option<()> {
    let mut rest = section;
    while !rest.is_empty() {
        let (Row { at, card }, behind) = postcard::take_from_bytes::<Row<'_>>(rest).ok()?;
        let file = found.sessions.get(at).filter(|file| file.id.as_str() == card.id)?;
        tell(file, &card);
        rest = behind;
    }
    Some(())
}

fn file(places: &Places) -> Option<PathBuf> {
    Some(places.cache.as_ref()?.with_file_name("overview.bin"))
}

/// Keeps the cards of all transcripts that were found, in that order, whole or not at all; where they cannot be kept
/// they are made again the next time.
pub(crate) fn save(places: &Places, found: &Found, edition: Option<u64>, cards: Vec<Card<'_>>) {
    // One that could not be read is to be told of the next time, too.
    let Some(file) = file(places).filter(|_| cards.len() == found.sessions.len()) else { return };
    let Ok(bytes) = bytes(found, edition, cards) else { return };
    let folder = file.parent().unwrap_or(&file);
    let written = NamedTempFile::new_in(folder).and_then(|mut scratch| {
        scratch.write_all(&bytes)?;
        scratch.persist(&file).map_err(|error| error.error).map(drop)
    });
    // Nothing is lost but time.
    let _ = written;
}

fn bytes(found: &Found, edition: Option<u64>, cards: Vec<Card<'_>>) -> postcard::Result<Vec<u8>> {
    let mut rows: Vec<Row<'_>> = cards.into_iter().enumerate().map(|(at, card)| Row { at, card }).collect();
    rows.sort_unstable_by_key(|row| {
        (Reverse(found.sessions.get(row.at).and_then(|file| last_modified(file, &row.card))), row.card.id)
    });
    let mut sections = Vec::new();
    for rows in rows.chunks(SECTION) {
        let mut section = Vec::new();
        for row in rows {
            section = postcard::to_extend(row, section)?;
        }
        sections.push(section);
    }
    let lengths = sections.iter().map(Vec::len).collect();
    let head = Head { format: FORMAT, files: found.fingerprint(), edition, sections: lengths };
    Ok([postcard::to_stdvec(&head)?, sections.concat()].concat())
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
            took: Some((model::Usage { input: 1, output: 2, ..model::Usage::default() }, Some(0.5))),
            ..Card::default()
        };
        let bytes = postcard::to_stdvec(&card).unwrap();
        assert_eq!(postcard::from_bytes::<Card<'_>>(&bytes).unwrap(), card);
        let hash =
            bytes.iter().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        assert_eq!(
            (FORMAT, hash),
            (2, 11_812_572_190_376_659_987),
            "a card has changed: raise FORMAT, then put the new figure here"
        );
    }
}
