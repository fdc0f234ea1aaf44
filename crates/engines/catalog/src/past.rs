//! The catalog as it was at past moments.
//!
//! Records added to a file after a moment do not change the result for it. Two things are looked up as they are now,
//! because nothing recorded them: the repository of a directory, and live processes, of which there are none then.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{MessageUsage, SessionId};
use system::in_parallel;
use transcript::{PastTranscript, TranscriptFile, TranscriptHistory};

use crate::assembly::clues_of;
use crate::describe::Describer;
use crate::discover::discover;
use crate::lineage::{COMPARED, CreationTime, LineageClues, parents};
use crate::project::Projects;
use crate::registries::RegistryIndex;
use crate::types::{CatalogEntry, Locations};

/// The root of the repository that a directory belongs to, by the same rule as for sessions.
pub fn repository(places: &Locations, directory: &Path) -> PathBuf {
    Projects::root_of_directory(places, directory)
}

/// The sessions that were there before a moment.
#[derive(Debug, Default)]
pub struct PastCatalog {
    /// The sessions, newest first.
    pub entries: Vec<CatalogEntry>,
    /// Files that held nothing but copied records at that moment, because the fork was made later, with the session
    /// they were copied from.
    pub copies: HashMap<SessionId, SessionId>,
}

/// The sessions that were there before each of `moments`, which are given earliest first. No further file is read once
/// `keep_going` returns false; then sessions are missing.
pub fn catalogs_at(
    places: &Locations,
    moments: &[Timestamp],
    keep_going: impl Fn() -> bool + Sync,
) -> Vec<PastCatalog> {
    let found = discover(places).sessions;
    let files: Vec<ReadTranscript> = read(&found, moments, places.threads, &keep_going);
    let holders = holders(&files);
    let mut describer = Describer::new(places);
    let registered = RegistryIndex::read(places);
    let at = |(place, moment): (usize, &Timestamp)| {
        let there = MomentView::at(&files, place);
        there.past(*moment, &holders, &mut describer, &registered)
    };
    moments.iter().enumerate().map(at).collect()
}

/// A session's file, read once for all moments.
struct ReadTranscript {
    file: TranscriptFile,
    created: i64,
    history: TranscriptHistory,
    /// The API messages in its sub-agents' files, of any time.
    subagents: Vec<MessageUsage>,
}

impl ReadTranscript {
    fn clues<'a>(&'a self, then: &'a PastTranscript) -> LineageClues<'a> {
        LineageClues { created: CreationTime::At(self.created), ..clues_of(&self.file, &then.summary) }
    }
}

fn read(
    files: &[TranscriptFile],
    moments: &[Timestamp],
    threads: usize,
    keep_going: &(impl Fn() -> bool + Sync),
) -> Vec<ReadTranscript> {
    let read = |file: &TranscriptFile| {
        // A file that cannot be read now has no known past either.
        let history = transcript::history(&file.path, &file.id, moments).ok()?;
        Some(ReadTranscript {
            file: file.clone(),
            created: file.created(),
            history,
            subagents: subagents(file, moments),
        })
    };
    let files = files.iter().take_while(|_| keep_going());
    let mut all: Vec<ReadTranscript> = in_parallel(threads, files, read).into_iter().flatten().collect();
    all.sort_by(|one, other| one.file.id.cmp(&other.file.id));
    all
}

fn subagents(file: &TranscriptFile, moments: &[Timestamp]) -> Vec<MessageUsage> {
    let last = moments.last().map(std::slice::from_ref).unwrap_or_default();
    let read = |path: &Path| transcript::history(path, &file.id, last).ok()?.then.pop()?;
    let then = file.subagents.iter().filter_map(|agent| read(&agent.path));
    let messages = then.flat_map(|then| then.messages);
    messages.map(|message| MessageUsage { subagent: true, ..message }).collect()
}

/// For each record, the files that hold it, in order, and its position in each.
type Holders = HashMap<u64, Vec<(usize, usize)>>;

fn holders(files: &[ReadTranscript]) -> Holders {
    let mut holders = Holders::new();
    for (file, read) in files.iter().enumerate() {
        for (place, record) in read.history.records.iter().enumerate() {
            holders.entry(*record).or_default().push((file, place));
        }
    }
    holders
}

/// What each file held before one moment; `None` where the file did not exist yet.
struct MomentView<'a> {
    files: &'a [ReadTranscript],
    then: Vec<Option<&'a PastTranscript>>,
}

impl<'a> MomentView<'a> {
    fn at(files: &'a [ReadTranscript], place: usize) -> Self {
        let then = |read: &'a ReadTranscript| read.history.then.get(place).and_then(Option::as_ref);
        Self { files, then: files.iter().map(then).collect() }
    }

    fn past(
        mut self,
        moment: Timestamp,
        holders: &Holders,
        describer: &mut Describer,
        registered: &RegistryIndex,
    ) -> PastCatalog {
        let mut past = PastCatalog::default();
        let copies: Vec<(usize, usize)> =
            (0..self.files.len()).filter_map(|file| Some((file, self.copied_from(file, holders)?))).collect();
        for (file, original) in copies {
            self.then[file] = None;
            past.copies.insert(self.files[file].file.id.clone(), self.files[original].file.id.clone());
        }
        let there: Vec<(&ReadTranscript, &PastTranscript)> =
            self.files.iter().zip(&self.then).filter_map(|(read, then)| Some((read, (*then)?))).collect();
        let clues: Vec<_> = there.iter().map(|(read, then)| read.clues(then)).collect();
        for ((read, then), forked_from) in there.iter().zip(parents(&clues)) {
            let mut session = describer.describe_then(&read.file, then);
            session.forked_from = forked_from;
            registered.apply_before(moment, &mut session);
            let of_then = read.subagents.iter().filter(|message| message.at.is_some_and(|at| at < moment));
            let messages = then.messages.iter().chain(of_then).cloned().collect();
            let cost_state = then.summary.cost_state.clone();
            let earlier_totals = then.summary.earlier_totals.clone();
            past.entries.push(CatalogEntry {
                messages,
                cost_state,
                earlier_totals,
                ..CatalogEntry::new(session)
            });
        }
        past.entries.sort_by_key(|entry| std::cmp::Reverse(entry.session.last_modified));
        past
    }

    /// The session this file was an exact copy of at that moment: its own first record came later.
    fn copied_from(&self, file: usize, holders: &Holders) -> Option<usize> {
        let then = self.then[file]?;
        let records = &self.files[file].history.records[..then.records];
        let marked = then.summary.forked_from.as_ref();
        let held = |record: &u64, by: usize| {
            let places = holders.get(record).map(Vec::as_slice).unwrap_or_default();
            let first = places.get(places.partition_point(|place| *place < (by, 0)));
            self.then[by]
                .is_some_and(|then| first.is_some_and(|(at, place)| *at == by && *place < then.records))
        };
        let age = |at: usize| Some(self.files[at].clues(self.then[at]?).age());
        let own = age(file)?;
        let is_marked =
            |other: usize| marked.is_some_and(|mark| mark.session_id == self.files[other].file.id);
        let with_first = holders.get(records.first()?)?.iter().map(|(other, _)| *other);
        let others = with_first.filter(|other| *other != file);
        let mut originals: Vec<_> = others
            .filter_map(|other| Some((age(other)?, other)))
            .filter(|(age, other)| *age < own || is_marked(*other))
            .collect();
        originals.sort_unstable();
        // A session named by a mark is always examined; of a session's many copies the oldest ones suffice.
        let (marked, unmarked): (Vec<_>, Vec<_>) =
            originals.into_iter().map(|(_, other)| other).partition(|other| is_marked(*other));
        let mut looked_at = marked.into_iter().chain(unmarked.into_iter().take(COMPARED));
        looked_at.find(|other| records.iter().all(|record| held(record, *other)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use testkit::ScratchHome;
    use testkit::Transcript;
    use testkit::transcript::Lineage;

    use super::*;

    fn moment(text: &str) -> Timestamp {
        format!("2026-11-20T{text}:00Z").parse().unwrap()
    }

    fn at(home: &ScratchHome, times: &[&str]) -> Vec<PastCatalog> {
        let places = Locations {
            config_folders: vec![transcript::ConfigFolder::new(home.config_dir())],
            threads: 2,
            ..Locations::default()
        };
        catalogs_at(&places, &times.iter().map(|time| moment(time)).collect::<Vec<_>>(), || true)
    }

    #[test]
    fn a_cancelled_reading_reads_nothing() {
        let home = ScratchHome::new();
        Transcript::new("s1").at("2026-11-20T09:00:00Z").prompt("hello").write_to(&home);
        let places = Locations {
            config_folders: vec![transcript::ConfigFolder::new(home.config_dir())],
            threads: 2,
            ..Locations::default()
        };
        let found =
            |keep_going: bool| catalogs_at(&places, &[moment("10:00")], || keep_going)[0].entries.len();
        assert_eq!((found(true), found(false)), (1, 0));
    }

    fn descriptions(past: &PastCatalog) -> Vec<String> {
        let one = |entry: &CatalogEntry| {
            let session = &entry.session;
            format!(
                "{} {} {} {}",
                session.id,
                session.message_count,
                session.branch.as_deref().unwrap_or("-"),
                session.last_prompt.as_deref().unwrap_or("-")
            )
        };
        past.entries.iter().map(one).collect()
    }

    /// A session of three hours, with what has no time between the turns.
    fn long() -> Transcript {
        Transcript::new("aaaa")
            .at("2026-11-20T09:00:00Z")
            .prompt("one")
            .answer("1")
            .title("Called so later")
            .at("2026-11-20T10:00:00Z")
            .branch("fix")
            .prompt("two")
            .compaction("so far")
            .at("2026-11-20T11:00:00Z")
            .prompt("three")
            .answer("3")
    }

    #[test]
    fn a_session_is_restored_as_of_a_moment() {
        let home = ScratchHome::new();
        let file = long().write_to(&home);
        let found = at(&home, &["08:59", "09:30", "10:30", "11:30"]);
        assert!(found[0].entries.is_empty());
        let sessions: Vec<_> = found[1..].iter().map(|past| &past.entries[0].session).collect();
        let facts: Vec<_> = sessions
            .iter()
            .map(|one| {
                (one.last_prompt.as_deref(), one.branch.as_deref(), one.compactions, one.title.as_deref())
            })
            .collect();
        assert_eq!(facts[0], (Some("one"), Some("main"), 0, Some("one")), "the title has no time");
        assert_eq!(facts[1], (Some("two"), Some("fix"), 1, Some("Called so later")));
        assert_eq!(facts[2].0, Some("three"));
        assert!(sessions[0].file_size < sessions[1].file_size);
        assert!(sessions[2].file_size <= fs::metadata(file).unwrap().len());
        assert_eq!(found[1].entries[0].messages.len(), 1);
    }

    #[test]
    fn a_session_counts_as_left_only_after_its_end() {
        let was_exited = |past: &PastCatalog| past.entries[0].session.was_exited;
        let turn = || Transcript::new("aaaa").at("2026-11-20T09:00:00Z").prompt("one").answer("1");
        let files = |at: &str| {
            let snapshot = serde_json::json!({"trackedFileBackups": {}, "timestamp": at});
            serde_json::json!({"snapshot": snapshot, "isSnapshotUpdate": false})
        };
        let by_signs =
            turn().exit(0.1).note("file-history-snapshot", files("2026-11-20T10:00:00Z")).exit(0.1);
        let by_command = turn()
            .version("2.1.197")
            .at("2026-11-20T10:00:00Z")
            .prompt("<command-name>/exit</command-name>\n<command-message>exit</command-message>");
        for left in [by_signs, by_command] {
            let home = ScratchHome::new();
            left.at("2026-11-20T11:00:00Z").prompt("two").answer("2").write_to(&home);
            let found = at(&home, &["09:30", "10:30", "11:30"]);
            assert_eq!(found.iter().map(was_exited).collect::<Vec<_>>(), [false, true, false]);
        }
    }

    #[test]
    fn a_fork_exists_from_its_first_own_record() {
        for lineage in
            [Lineage::RequestSession, Lineage::ForkedFrom, Lineage::SharedUuids, Lineage::ParentsSessionId]
        {
            let home = ScratchHome::new();
            long().write_to(&home);
            let fork =
                long().fork("bbbb", lineage).at("2026-11-20T15:00:00Z").prompt("elsewhere").answer("4");
            fork.write_to(&home);
            let found = at(&home, &["12:00", "16:00"]);
            assert_eq!(found[0].entries.len(), 1, "{lineage:?}");
            assert_eq!(found[0].entries[0].session.id.as_str(), "aaaa", "{lineage:?}");
            assert_eq!(found[0].copies.len(), 1, "{lineage:?}");
            assert_eq!(found[1].entries.len(), 2, "{lineage:?}");
        }
    }

    #[test]
    fn later_records_do_not_change_the_past() {
        let times = ["09:10", "10:00", "10:20", "11:40"];
        let before = |home: &ScratchHome| at(home, &times).iter().map(descriptions).collect::<Vec<_>>();
        for (cut, time) in times.into_iter().enumerate() {
            let home = ScratchHome::new();
            let then = moment(time);
            let whole = long().bytes();
            // The file as it stood at that moment: all before the first record of it or later.
            let mut held = Vec::new();
            for line in whole.split_inclusive(|byte| *byte == b'\n') {
                let record: serde_json::Value = serde_json::from_slice(line).unwrap();
                let at = record["timestamp"].as_str().and_then(|at| at.parse::<Timestamp>().ok());
                if at.is_some_and(|at| at >= then) {
                    break;
                }
                held.extend_from_slice(line);
            }
            let path = long().write_to(&home);
            fs::write(&path, &held).unwrap();
            let known = before(&home)[..=cut].to_vec();
            fs::write(&path, &whole).unwrap();
            assert_eq!(before(&home)[..=cut], known, "records were added after {time}");
            long().fork("bbbb", Lineage::SharedUuids).at("2026-11-21T09:00:00Z").prompt("x").write_to(&home);
            Transcript::new("cccc").at("2026-11-21T10:00:00Z").prompt("new").answer("5").write_to(&home);
            assert_eq!(before(&home)[..=cut], known, "sessions were added after {time}");
        }
    }
}
