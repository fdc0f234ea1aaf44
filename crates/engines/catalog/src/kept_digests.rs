//! The digests of all sessions in one file, each good until its transcript changes: a list of thousands of sessions
//! then takes one small file, and no database.
//!
//! Derived: what does not match the transcripts is made again.

use std::cmp::Reverse;
use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use model::ForkOrigin;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use system::{FileStamp, Snapshot, fold_in_parallel};
use transcript::TranscriptFile;

use crate::describe::{Describer, last_modified};
use crate::digest::{LaunchContext, SessionDigest};
use crate::types::{Discovery, Locations};

/// Which digests the bytes were made of: whoever changes [`SessionDigest`], [`LaunchContext`], or the order sessions are found in, raises it.
const FORMAT: u32 = 16;
/// So many digests are a section: what a thread takes at least.
const SECTION: usize = 256;

/// A digest in its place: the newest session's first. A section begins with the settings of its rows, each once.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    /// Which of the section's settings is its own.
    setting: usize,
    /// Which of the transcripts that were found it was of.
    at: usize,
    /// The fingerprint of the session's files.
    files: u64,
    /// The same of its transcript's path alone.
    place: u64,
    /// Whether it holds messages that other sessions hold, too, or that are marked as others'.
    shares: bool,
    #[serde(borrow)]
    digest: SessionDigest<'a>,
}

/// A session in which something has changed since its digest was kept.
#[derive(Debug)]
pub(crate) struct Changed {
    /// Which of the transcripts that were found is its own.
    pub(crate) at: usize,
    /// Whether its transcript has moved since.
    pub(crate) moved: bool,
    /// Whether it held messages that other sessions hold, too, or that are marked as others'.
    pub(crate) shares: bool,
    /// How many files sub-agents of it had.
    pub(crate) agents: usize,
    /// The session it was copied from.
    pub(crate) forked_from: Option<ForkOrigin>,
}

/// The section that says by which rules the spending of each session was computed, where it was; the digests follow.
const EDITION: usize = 0;

/// The file, open; its digests are read as they are asked for.
#[derive(Debug)]
pub(crate) struct KeptDigests {
    snapshot: Snapshot,
    /// The rules by which the spending of each session was computed, where it was.
    edition: Option<u64>,
}

impl KeptDigests {
    /// Opens the file; `None` where there is none of this format, or where sub-agents' files whose session only their
    /// records name have changed since.
    pub(crate) fn open(places: &Locations, found: &Discovery) -> Option<Self> {
        let snapshot = Snapshot::open(&file(places)?, FORMAT, found.flat_fingerprint().into())?;
        let mut edition = Vec::new();
        snapshot.read_section(EDITION, &mut edition)?;
        let edition = postcard::from_bytes(&edition).ok()?;
        Some(Self { snapshot, edition })
    }

    /// What `map` makes of the digest of each session that has not changed and of what `settle` makes of its setting, in
    /// any order, with this number of threads; and the changed sessions. Digests for which it returns nothing are left out.
    ///
    /// `None` where a session has come or gone since, or what was spent was computed for another `edition` than this.
    pub(crate) fn map_unchanged<S, T: Send>(
        &self,
        found: &Discovery,
        edition: Option<u64>,
        threads: usize,
        describer: &Describer,
        settle: impl Fn(&mut Describer, &LaunchContext<'_>) -> S + Sync,
        map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T> + Sync,
    ) -> Option<(Vec<T>, Vec<Changed>)> {
        let is_current = edition.is_none() || self.edition == edition;
        if !is_current {
            return None;
        }
        let places = Where::of(found);
        let all = Mutex::new(Vec::with_capacity(found.sessions.len()));
        let hand_in = |mapped: &mut Vec<T>| all.lock().unwrap_or_else(PoisonError::into_inner).append(mapped);
        let begin = || Part::of(describer.clone());
        let sections = self.snapshot.sections().skip(EDITION + 1);
        let parts = fold_in_parallel(threads, sections, begin, |part: &mut Part<T>, section| {
            part.is_whole &= self.section(section, &places, part, &settle, &map).is_some();
            hand_in(&mut part.mapped);
        });
        let Part { unchanged, changed, is_whole, .. } = parts.into_iter().reduce(Part::and)?;
        let known = unchanged + changed.len();
        let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        (is_whole && known == found.sessions.len()).then_some((all, changed))
    }

    /// Maps the sessions of one section; `None` where it cannot be read, or a session has gone.
    fn section<S, T>(
        &self,
        section: usize,
        places: &Where<'_>,
        part: &mut Part<T>,
        settle: impl Fn(&mut Describer, &LaunchContext<'_>) -> S,
        map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T>,
    ) -> Option<()> {
        let mut bytes = mem::take(&mut part.bytes);
        self.snapshot.read_section(section, &mut bytes)?;
        let (settings, rows) = postcard::take_from_bytes::<Vec<LaunchContext<'_>>>(&bytes).ok()?;
        let settings: Vec<S> = settings.iter().map(|setting| settle(&mut part.describer, setting)).collect();
        each(rows, places, |at, is_unchanged, row| {
            let file = &places.found.sessions[at];
            let Some(setting) = settings.get(row.setting) else { return };
            if is_unchanged {
                part.unchanged += 1;
                if !row.digest.is_foreign {
                    part.mapped.extend(map(file, &row.digest, setting));
                }
            } else {
                part.changed.push(row.changed(at, file));
            }
        })?;
        part.bytes = bytes;
        Some(())
    }
}

/// What one thread has made.
struct Part<T> {
    /// What it made of its latest section.
    mapped: Vec<T>,
    /// Sessions in which nothing has changed.
    unchanged: usize,
    changed: Vec<Changed>,
    /// Whether every section could be read, and every session is there still.
    is_whole: bool,
    describer: Describer,
    /// Room for a section.
    bytes: Vec<u8>,
}

impl<T> Part<T> {
    fn of(describer: Describer) -> Self {
        let (mapped, changed, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Self { mapped, unchanged: 0, changed, is_whole: true, describer, bytes }
    }

    fn and(mut self, mut other: Self) -> Self {
        self.changed.append(&mut other.changed);
        self.unchanged += other.unchanged;
        self.is_whole &= other.is_whole;
        self
    }
}

impl Row<'_> {
    fn changed(self, at: usize, file: &TranscriptFile) -> Changed {
        let SessionDigest { agent_files, forked_from, .. } = self.digest;
        Changed {
            at,
            moved: self.place != place(file),
            shares: self.shares,
            agents: agent_files,
            forked_from,
        }
    }
}

fn place(file: &TranscriptFile) -> u64 {
    system::fingerprint(std::iter::once((&*file.path, &FileStamp::default())))
}

/// Where each session's transcript is among those that were found.
struct Where<'a> {
    found: &'a Discovery,
    /// Asked for only when one is not where it was.
    by_id: OnceLock<FxHashMap<&'a str, usize>>,
}

impl<'a> Where<'a> {
    fn of(found: &'a Discovery) -> Self {
        Self { found, by_id: OnceLock::new() }
    }

    /// Which transcript is the row's, and whether it is as it was.
    fn at(&self, row: &Row<'_>) -> Option<(usize, bool)> {
        let was = self.found.sessions.get(row.at);
        // What is not changed has its path, too, and so its id.
        if was.is_some_and(|file| file.fingerprint() == row.files) {
            return Some((row.at, true));
        }
        let was = was.filter(|file| file.id.as_str() == row.digest.id);
        let at = was.map(|_| row.at).or_else(|| self.by_id().get(row.digest.id).copied())?;
        Some((at, self.found.sessions[at].fingerprint() == row.files))
    }

    fn by_id(&self) -> &FxHashMap<&'a str, usize> {
        let sessions = self.found.sessions.iter();
        self.by_id.get_or_init(|| sessions.map(|file| file.id.as_str()).zip(0..).collect())
    }
}

/// Reads a section's rows, each with its transcript and whether that is as it was; `None` where a row has none.
fn each(section: &[u8], places: &Where<'_>, mut take: impl FnMut(usize, bool, Row<'_>)) -> Option<()> {
    let mut rest = section;
    while !rest.is_empty() {
        let (row, behind) = postcard::take_from_bytes::<Row<'_>>(rest).ok()?;
        let (at, is_unchanged) = places.at(&row)?;
        take(at, is_unchanged, row);
        rest = behind;
    }
    Some(())
}

fn file(places: &Locations) -> Option<PathBuf> {
    Some(places.cache.as_ref()?.with_file_name("overview.bin"))
}

/// Keeps the digests of all transcripts that were found, in that order, whole or not at all; where they cannot be kept
/// they are made again the next time.
pub(crate) fn save(
    places: &Locations,
    found: &Discovery,
    edition: Option<u64>,
    digests: Vec<SessionDigest<'_>>,
    shares: impl Fn(&str) -> bool,
) {
    // A session that could not be read has to be reported the next time, too.
    let Some(file) = file(places).filter(|_| digests.len() == found.sessions.len()) else { return };
    let Ok(sections) = sections(found, edition, digests, shares) else { return };
    // Nothing is lost but time.
    let _ = Snapshot::write(&file, FORMAT, found.flat_fingerprint().into(), &sections);
}

fn sections<'a>(
    found: &Discovery,
    edition: Option<u64>,
    digests: Vec<SessionDigest<'a>>,
    shares: impl Fn(&str) -> bool,
) -> postcard::Result<Vec<Vec<u8>>> {
    let digests = (0..).zip(digests).zip(&found.sessions);
    let row = |((at, digest), file): ((usize, SessionDigest<'a>), &TranscriptFile)| {
        let shares = shares(digest.id);
        Row { setting: 0, at, files: file.fingerprint(), place: place(file), shares, digest }
    };
    let mut rows: Vec<Row<'_>> = digests.map(row).collect();
    rows.sort_unstable_by_key(|row| {
        (Reverse(found.sessions.get(row.at).and_then(|file| last_modified(file, &row.digest))), row.digest.id)
    });
    let mut sections = vec![postcard::to_stdvec(&edition)?];
    for rows in rows.chunks_mut(SECTION) {
        let mut section = postcard::to_stdvec(&settings(rows))?;
        for row in rows {
            section = postcard::to_extend(row, section)?;
        }
        sections.push(section);
    }
    Ok(sections)
}

/// The settings of these rows, each once; every row gets the number of its own.
fn settings<'a>(rows: &mut [Row<'a>]) -> Vec<LaunchContext<'a>> {
    let (mut settings, mut places) = (Vec::new(), FxHashMap::default());
    for row in rows {
        row.setting = *places.entry(row.digest.setting).or_insert_with(|| {
            settings.push(row.digest.setting);
            settings.len() - 1
        });
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_this_format() {
        let agent = crate::digest::SubagentDigest {
            id: "a",
            kind: Some("Explore"),
            description: None,
            file: std::path::Path::new("/p/agent-a.jsonl"),
        };
        let digest = SessionDigest {
            id: "s1",
            first_at: "2026-01-02T03:04:05.000000678Z".parse().ok(),
            lines: 300,
            was_exited: true,
            damage: model::Damage { unreadable_lines: 1, mended_lines: 2, is_cut_off: true },
            forked_from: Some(ForkOrigin { session_id: "s0".parse().unwrap(), message_uuid: None }),
            agents: vec![agent],
            agent_files: 2,
            keywords: model::Keywords::from_text("Fix the token").to_bytes().into(),
            took: Some((model::Usage { input: 1, output: 2, ..model::Usage::default() }, Some(0.5))),
            ..SessionDigest::default()
        };
        let setting = LaunchContext { cwd: Some("/p"), branch: Some("main"), ..LaunchContext::default() };
        let bytes = postcard::to_stdvec(&(setting, &digest)).unwrap();
        assert_eq!(
            postcard::from_bytes::<(LaunchContext<'_>, SessionDigest<'_>)>(&bytes).unwrap(),
            (setting, digest)
        );
        let hash =
            bytes.iter().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        assert_eq!(
            (FORMAT, hash),
            (16, 5_053_263_180_033_513_218),
            "a digest has changed: raise FORMAT, then put the new figure here"
        );
    }
}
