//! A watched session: its tracker and the positions up to which its files were read.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::{SessionEvent, SessionId};
use transcript::record::Record;
use transcript::{Checkpoint, FileChange, SubagentFile, SubagentMeta, Tail};

use crate::moments::moments;
use crate::{Timers, Tracker};

/// A session silent for longer, and not held by a live process, is only checked in rotation.
pub(crate) const RECENT: SignedDuration = SignedDuration::from_hours(1);
/// Number of bytes read from the end of a file to determine the activity; more if they are not conclusive.
const WINDOW: u64 = 256 << 10;
/// Maximum number of bytes read for that.
const WIDEST: u64 = 64 << 20;
/// Sub-agents' files larger than this, in bytes, are read only near their end.
const WHOLE: u64 = 4 << 20;

/// A watched session.
#[derive(Debug)]
pub(crate) struct Session {
    /// The session's state.
    pub(crate) tracker: Tracker,
    /// Path of the transcript, if it exists.
    pub(crate) file: Option<Arc<Path>>,
    mark: Option<Checkpoint>,
    /// Hashes of reported records, so that a rewritten file does not report any record twice.
    seen: HashSet<u64>,
    agents: HashMap<PathBuf, Agent>,
}

/// A sub-agent's file.
#[derive(Debug, Default)]
struct Agent {
    mark: Option<Checkpoint>,
    meta: SubagentMeta,
}

/// What was seen of a file's growth.
struct Seen {
    /// Records before this offset are not reported.
    before: u64,
    /// Records from this offset on were written just now.
    growing_from: u64,
    /// When the records before it were written at the latest.
    written: Timestamp,
}

/// What reading a file yielded.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Events in new records.
    pub(crate) events: Vec<SessionEvent>,
    /// Number of new records.
    pub(crate) records: u64,
}

impl Session {
    pub(crate) fn new(id: SessionId, timers: Timers) -> Self {
        Self {
            tracker: Tracker::new(id, timers),
            file: None,
            mark: None,
            seen: HashSet::new(),
            agents: HashMap::new(),
        }
    }

    /// Reads the end of an existing transcript without reporting it, except for what follows the offset
    /// `from`.
    pub(crate) fn take_up(
        &mut self,
        path: &Arc<Path>,
        from: u64,
        written: Timestamp,
        now: Timestamp,
    ) -> News {
        // It has to include everything that is new.
        let news = size(path).saturating_sub(from);
        let mut window = WINDOW.saturating_add(news);
        loop {
            let Ok(tail) = Tail::open_last(path, window) else { return News::default() };
            let size = tail.stamp().size;
            self.tracker.reread();
            let news = self.read(tail, &Seen { before: from, growing_from: from, written }, now);
            if self.tracker.is_clear() || window >= size || window >= WIDEST {
                self.tracker.date(written);
                self.file = Some(Arc::clone(path));
                return news;
            }
            window *= 8;
            self.seen.clear();
        }
    }

    /// Reads what was added to the transcript.
    pub(crate) fn read_on(&mut self, path: &Arc<Path>, now: Timestamp) -> News {
        let Ok(tail) = Tail::open(path, self.mark.as_ref()) else { return News::default() };
        self.file = Some(Arc::clone(path));
        match tail.change() {
            FileChange::None => return News::default(),
            FileChange::Replaced => self.tracker.reread(),
            FileChange::New | FileChange::Appended => {}
        }
        self.read(tail, &Seen { before: 0, growing_from: 0, written: now }, now)
    }

    /// Reads a new transcript and reports all of it. It may be a copy of an old one.
    pub(crate) fn take_new(&mut self, path: &Arc<Path>, now: Timestamp) -> News {
        let Ok(tail) = Tail::open(path, None) else { return News::default() };
        self.file = Some(Arc::clone(path));
        let news = self.read(tail, &Seen { before: 0, growing_from: u64::MAX, written: now }, now);
        self.tracker.date(now);
        news
    }

    /// Forgets the transcript's position. Reported records are remembered in case the file returns.
    pub(crate) fn lose_file(&mut self) {
        self.file = None;
        self.mark = None;
    }

    /// Reads what was added to a sub-agent's file; returns the number of new records.
    pub(crate) fn read_agent(&mut self, file: &SubagentFile, now: Timestamp) -> u64 {
        let agent = self.agents.entry(file.path.clone()).or_default();
        let opened = match &agent.mark {
            None if file.stamp.size > WHOLE => Tail::open_last(&file.path, WINDOW),
            mark => Tail::open(&file.path, mark.as_ref()),
        };
        let Ok(mut tail) = opened else { return 0 };
        if agent.meta.tool_use.is_none() {
            agent.meta = file.meta();
        }
        let is_history = agent.mark.is_none();
        let mut records = 0;
        while let Ok(Some(line)) = tail.next_line() {
            if let Ok(record) = line.record()
                && is_new(&mut self.seen, &record)
            {
                records += 1;
                // Existing records may have been copied from elsewhere.
                let made =
                    record.timestamp().or(file.stamp.modified()).filter(|made| is_history && *made < now);
                self.tracker.observe_subagent(&file.id, &agent.meta, &record, made.unwrap_or(now));
            }
        }
        agent.mark = mark(&mut tail, agent.mark);
        records
    }

    fn read(&mut self, mut tail: Tail, seen: &Seen, now: Timestamp) -> News {
        let mut news = News::default();
        // The rest of a file that is being copied here was made long ago. A record without a time is as old as the one
        // before it.
        let mut is_copied = false;
        while let Ok(Some(line)) = tail.next_line() {
            let Ok(record) = line.record() else { continue };
            is_copied = record.timestamp().map_or(is_copied, |made| now.duration_since(made) > RECENT);
            let is_history = line.offset < seen.before;
            if line.offset < seen.growing_from || is_copied {
                self.tracker.recall(&record, seen.written);
            } else {
                self.tracker.observe(&record, now);
            }
            // Records copied when the session was branched off were reported for another session.
            if is_new(&mut self.seen, &record) && !is_history && record.forked_from().is_none() {
                news.records += 1;
                let moments = moments(self.tracker.id(), &record);
                news.events.extend(moments.into_iter().map(SessionEvent::SessionEvent));
            }
        }
        self.mark = mark(&mut tail, self.mark);
        news
    }
}

/// Creation time of a file, if the file system records it.
pub(crate) fn born(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(std::fs::symlink_metadata(path).ok()?.created().ok()?).ok()
}

fn size(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).map_or(0, |now| now.len())
}

fn mark(tail: &mut Tail, before: Option<Checkpoint>) -> Option<Checkpoint> {
    let marked: io::Result<Checkpoint> = tail.mark();
    marked.ok().or(before)
}

/// Whether a record is new; one without an id always counts as new.
fn is_new(seen: &mut HashSet<u64>, record: &Record<'_>) -> bool {
    let Some(uuid) = record.uuid() else { return true };
    let mut hasher = DefaultHasher::new();
    uuid.hash(&mut hasher);
    seen.insert(hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use model::Activity;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::*;

    const KEPT: [&str; 4] = ["1.0.60-tools", "2.0.77-subs", "2.1.100-tui", "2.1.197-tui"];

    fn kept(name: &str) -> Vec<u8> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transcripts");
        system::read_small(&folder.join(format!("{name}.jsonl")), 4 << 20).unwrap()
    }

    /// The records read from a file that grows by these pieces, for any sequence of reads.
    fn read(pieces: &[&[u8]], looks: usize) -> (Activity, Vec<SessionEvent>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path: Arc<Path> = folder.path().join("s1.jsonl").into();
        let now = "2026-11-21T12:00:00Z".parse().unwrap();
        let mut session = Session::new("s1".parse().unwrap(), Timers::default());
        let (mut events, mut records) = (Vec::new(), 0);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
        for piece in pieces {
            file.write_all(piece).unwrap();
            for _ in 0..looks {
                let news = session.read_on(&path, now);
                events.extend(news.events);
                records += news.records;
            }
        }
        (session.tracker.activity(now), events, records)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn each_record_is_reported_once_wherever_a_read_ends(name in select(&KEPT[..]), cuts in vec(any::<Index>(), 0..20), looks in 1..3_usize) {
            let bytes = kept(name);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]).collect();
            prop_assert_eq!(read(&pieces, looks), read(&[&bytes[..]], 1));
        }
    }
}
