//! The digests of all sessions in one file, each valid until its transcript changes: listing thousands of sessions
//! then takes one small file and no database.
//!
//! Derived: digests that do not match the transcripts are created again.

use std::cmp::Reverse;
use std::mem;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use system::{FileStamp, Snapshot, fold_in_parallel};
use transcript::TranscriptFile;

use crate::assembly::FromOtherFiles;
use crate::describe::{Describer, last_modified};
use crate::digest::{LaunchContext, SessionDigest};
use crate::types::{Discovery, Locations};

/// The version of the format: raise it when [`SessionDigest`], [`LaunchContext`], the order of discovery or what is read
/// from a transcript changes.
const FORMAT: u32 = 26;
/// The number of digests in a section, the unit of work of a thread.
const SECTION: usize = 256;

/// A digest with its position; the newest session's is first. A section begins with the launch contexts of its rows,
/// each once.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    /// The index of its launch context in the section.
    setting: usize,
    /// The index of its transcript in the discovery.
    at: usize,
    /// The fingerprint of the session's files.
    files: u64,
    /// The fingerprint of its transcript's path alone.
    place: u64,
    /// Whether it holds messages that other sessions hold, too, or that are marked as others'.
    shares: bool,
    #[serde(borrow)]
    digest: SessionDigest<'a>,
}

/// A session in which something has changed since its digest was kept.
#[derive(Debug)]
pub(crate) struct Changed {
    /// The index of its transcript in the discovery.
    pub(crate) at: usize,
    /// Whether its transcript has moved since.
    pub(crate) moved: bool,
    /// Whether it held messages that other sessions hold, too, or that are marked as others'.
    pub(crate) shares: bool,
    /// How many files sub-agents of it had.
    pub(crate) agents: usize,
    /// What other files said of it.
    pub(crate) others: FromOtherFiles,
}

/// The section with the version of the pricing rules by which spending was computed, if it was; the digests follow.
const PRICING_SECTION: usize = 0;

/// The open file; digests are read on demand.
#[derive(Debug)]
pub(crate) struct KeptDigests {
    snapshot: Snapshot,
    /// The version of the pricing rules by which spending was computed, if it was.
    pricing_version: Option<u64>,
}

impl KeptDigests {
    /// Opens the file; `None` where there is none of this format, or where sub-agents' files whose session only their
    /// records name have changed since.
    pub(crate) fn open(places: &Locations, found: &Discovery) -> Option<Self> {
        let snapshot = Snapshot::open(&file(places)?, FORMAT, found.flat_fingerprint().into())?;
        let mut pricing_version = Vec::new();
        snapshot.read_section(PRICING_SECTION, &mut pricing_version)?;
        let pricing_version = postcard::from_bytes(&pricing_version).ok()?;
        Some(Self { snapshot, pricing_version })
    }

    /// Maps the digest of each unchanged session with `map`, its launch context interned by `intern`, in
    /// any order, on this number of threads; also returns the changed sessions. `None` results of `map` are left out.
    ///
    /// `None` if a session was added or removed since, or spending was computed with another `pricing_version`.
    pub(crate) fn map_unchanged<S, T: Send>(
        &self,
        found: &Discovery,
        pricing_version: Option<u64>,
        threads: usize,
        describer: &Describer,
        settle: impl Fn(&mut Describer, &LaunchContext<'_>) -> S + Sync,
        map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T> + Sync,
    ) -> Option<(Vec<T>, Vec<Changed>)> {
        let is_current = pricing_version.is_none() || self.pricing_version == pricing_version;
        if !is_current {
            return None;
        }
        let places = TranscriptPositions::new(found);
        let all = Mutex::new(Vec::with_capacity(found.sessions.len()));
        let hand_in = |mapped: &mut Vec<T>| all.lock().unwrap_or_else(PoisonError::into_inner).append(mapped);
        let begin = || ThreadResult::new(describer.clone());
        let sections = self.snapshot.sections().skip(PRICING_SECTION + 1);
        let parts = fold_in_parallel(threads, sections, begin, |part: &mut ThreadResult<T>, section| {
            part.is_whole &= self.section(section, &places, part, &settle, &map).is_some();
            hand_in(&mut part.mapped);
        });
        let ThreadResult { unchanged, changed, is_whole, .. } =
            parts.into_iter().reduce(ThreadResult::merge)?;
        let known = unchanged + changed.len();
        let all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        (is_whole && known == found.sessions.len()).then_some((all, changed))
    }

    /// Maps the sessions of one section; `None` where it cannot be read, or a session has gone.
    fn section<S, T>(
        &self,
        section: usize,
        places: &TranscriptPositions<'_>,
        part: &mut ThreadResult<T>,
        settle: impl Fn(&mut Describer, &LaunchContext<'_>) -> S,
        map: impl Fn(&TranscriptFile, &SessionDigest<'_>, &S) -> Option<T>,
    ) -> Option<()> {
        let mut bytes = mem::take(&mut part.bytes);
        self.snapshot.read_section(section, &mut bytes)?;
        let (settings, rows) = postcard::take_from_bytes::<Vec<LaunchContext<'_>>>(&bytes).ok()?;
        let settings: Vec<S> = settings.iter().map(|setting| settle(&mut part.describer, setting)).collect();
        each_row(rows, places, |at, is_unchanged, row| {
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

/// The results of one thread.
struct ThreadResult<T> {
    /// The results of its latest section.
    mapped: Vec<T>,
    /// The number of unchanged sessions.
    unchanged: usize,
    changed: Vec<Changed>,
    /// Whether every section could be read and every session still exists.
    is_whole: bool,
    describer: Describer,
    /// Buffer for a section.
    bytes: Vec<u8>,
}

impl<T> ThreadResult<T> {
    fn new(describer: Describer) -> Self {
        let (mapped, changed, bytes) = (Vec::new(), Vec::new(), Vec::new());
        Self { mapped, unchanged: 0, changed, is_whole: true, describer, bytes }
    }

    fn merge(mut self, mut other: Self) -> Self {
        self.changed.append(&mut other.changed);
        self.unchanged += other.unchanged;
        self.is_whole &= other.is_whole;
        self
    }
}

impl Row<'_> {
    fn changed(self, at: usize, file: &TranscriptFile) -> Changed {
        let SessionDigest { agent_files, forked_from, summary_elsewhere, .. } = self.digest;
        let summary = summary_elsewhere.map(ToOwned::to_owned);
        Changed {
            at,
            moved: self.place != place(file),
            shares: self.shares,
            agents: agent_files,
            others: FromOtherFiles { forked_from, summary },
        }
    }
}

fn place(file: &TranscriptFile) -> u64 {
    system::fingerprint(std::iter::once((&*file.path, &FileStamp::default())))
}

/// The position of each session's transcript in the discovery.
struct TranscriptPositions<'a> {
    found: &'a Discovery,
    /// Built only when a transcript is not at its former position.
    by_id: OnceLock<FxHashMap<&'a str, usize>>,
}

impl<'a> TranscriptPositions<'a> {
    fn new(found: &'a Discovery) -> Self {
        Self { found, by_id: OnceLock::new() }
    }

    /// The position of the row's transcript, and whether the transcript is unchanged.
    fn at(&self, row: &Row<'_>) -> Option<(usize, bool)> {
        let was = self.found.sessions.get(row.at);
        // An unchanged fingerprint includes the path and so the id.
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

/// Reads a section's rows, each with the position of its transcript and whether that is unchanged; `None` if a row has
/// no transcript.
fn each_row(
    section: &[u8],
    places: &TranscriptPositions<'_>,
    mut take: impl FnMut(usize, bool, Row<'_>),
) -> Option<()> {
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

/// Saves the digests of all discovered transcripts, in that order, atomically; if they cannot be saved,
/// they are created again the next time.
pub(crate) fn save(
    places: &Locations,
    found: &Discovery,
    pricing_version: Option<u64>,
    digests: Vec<SessionDigest<'_>>,
    shares: impl Fn(&str) -> bool,
) {
    // An unreadable session has to be reported the next time, too.
    let Some(file) = file(places).filter(|_| digests.len() == found.sessions.len()) else { return };
    let Ok(sections) = sections(found, pricing_version, digests, shares) else { return };
    // A failure only costs time.
    let _ = Snapshot::write(&file, FORMAT, found.flat_fingerprint().into(), &sections);
}

fn sections<'a>(
    found: &Discovery,
    pricing_version: Option<u64>,
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
    let mut sections = vec![postcard::to_stdvec(&pricing_version)?];
    for rows in rows.chunks_mut(SECTION) {
        let mut section = postcard::to_stdvec(&launch_contexts(rows))?;
        for row in rows {
            section = postcard::to_extend(row, section)?;
        }
        sections.push(section);
    }
    Ok(sections)
}

/// The distinct launch contexts of these rows; every row gets the index of its own.
fn launch_contexts<'a>(rows: &mut [Row<'a>]) -> Vec<LaunchContext<'a>> {
    let (mut settings, mut places) = (Vec::new(), FxHashMap::default());
    for row in rows {
        row.setting = *places.entry(row.digest.launch).or_insert_with(|| {
            settings.push(row.digest.launch);
            settings.len() - 1
        });
    }
    settings
}

#[cfg(test)]
mod tests {
    use model::ForkOrigin;

    use super::*;

    #[test]
    fn the_format_is_unchanged() {
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
            (26, 5_146_778_853_112_454_648),
            "a digest has changed: raise FORMAT, then put the new figure here"
        );
    }
}
