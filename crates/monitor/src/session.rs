//! One session that is watched: its tracker, and how far each of its files has been read.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::{SessionEvent, SessionId};
use transcript::record::{Record, parse};
use transcript::{Change, Mark, SubagentFile, SubagentMeta, Tail};

use crate::moments::moments;
use crate::{Timers, Tracker};

/// How much of the end of a file is read to know what the session does, in bytes; more where that says nothing.
const WINDOW: u64 = 1 << 20;
/// The most that is read for that.
const WIDEST: u64 = 64 << 20;
/// Sub-agents' files that are longer are read from near their end.
const WHOLE: u64 = 4 << 20;
/// A record that was made so much earlier than the file it stands in was copied there: Claude Code writes what
/// has happened seconds later, or, in some releases, when the model's answer is whole.
const COPIED: SignedDuration = SignedDuration::from_mins(10);

/// A session that is watched.
#[derive(Debug)]
pub(crate) struct Session {
    /// What it does.
    pub(crate) tracker: Tracker,
    /// Its transcript, once there is one.
    pub(crate) file: Option<Arc<Path>>,
    mark: Option<Mark>,
    /// Hashes of the records that have been told, so that a rewritten file tells none of them twice.
    seen: HashSet<u64>,
    agents: HashMap<PathBuf, Agent>,
}

/// A sub-agent's file.
#[derive(Debug, Default)]
struct Agent {
    mark: Option<Mark>,
    meta: SubagentMeta,
}

/// Which records of a file are no news.
#[derive(Debug, Clone, Copy)]
struct History {
    /// Those before this offset,
    until: u64,
    /// of which the last was written then;
    written: Timestamp,
    /// and those that were made before this moment.
    copied: Option<Timestamp>,
}

/// What reading a file brought.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// What was said and done.
    pub(crate) events: Vec<SessionEvent>,
    /// Records that were not seen before.
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

    /// Takes up the end of a transcript that was there before: history, of which nothing is told. What stands
    /// behind `from` is news.
    pub(crate) fn take_up(
        &mut self,
        path: &Arc<Path>,
        from: u64,
        written: Timestamp,
        now: Timestamp,
    ) -> News {
        // All that is news has to lie within it.
        let news = size(path).saturating_sub(from);
        let mut window = WINDOW.saturating_add(news);
        loop {
            let Ok(tail) = Tail::open_last(path, window) else { return News::default() };
            let size = tail.stamp().size;
            self.tracker.reread();
            let news = self.read(tail, History { until: from, written, copied: None }, now);
            if self.tracker.is_clear() || window >= size || window >= WIDEST {
                self.file = Some(Arc::clone(path));
                return news;
            }
            window *= 8;
            self.seen.clear();
        }
    }

    /// Reads what is new in the transcript.
    pub(crate) fn read_on(&mut self, path: &Arc<Path>, now: Timestamp) -> News {
        let Ok(tail) = Tail::open(path, self.mark.as_ref()) else { return News::default() };
        self.file = Some(Arc::clone(path));
        let copied = match tail.change() {
            Change::None => return News::default(),
            Change::Replaced => {
                self.tracker.reread();
                None
            }
            Change::New => born(path).and_then(|born| born.checked_sub(COPIED).ok()),
            Change::Appended => None,
        };
        self.read(tail, History { until: 0, written: now, copied }, now)
    }

    /// Its transcript is gone; what was told of it is remembered, in case it comes back.
    pub(crate) fn lose_file(&mut self) {
        self.file = None;
        self.mark = None;
    }

    /// Reads what is new in a sub-agent's file; `session` is the one its records must name, if any.
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
        let mut records = 0;
        while let Ok(Some(line)) = tail.next_line() {
            if let Ok(record) = parse(line.bytes)
                && is_new(&mut self.seen, &record)
            {
                records += 1;
                self.tracker.observe_subagent(&file.id, &agent.meta, &record, now);
            }
        }
        agent.mark = mark(&tail, agent.mark);
        records
    }

    fn read(&mut self, mut tail: Tail, history: History, now: Timestamp) -> News {
        let mut news = News::default();
        while let Ok(Some(line)) = tail.next_line() {
            let Ok(record) = parse(line.bytes) else { continue };
            let seen = history.seen(line.offset, &record);
            self.tracker.observe(&record, seen.unwrap_or(now));
            if is_new(&mut self.seen, &record) && seen.is_none() && record.forked_from().is_none() {
                news.records += 1;
                let moments = moments(self.tracker.id(), &record);
                news.events.extend(moments.into_iter().map(SessionEvent::SessionEvent));
            }
        }
        self.mark = mark(&tail, self.mark);
        news
    }
}

impl History {
    /// When a record was written that is no news.
    fn seen(&self, offset: u64, record: &Record<'_>) -> Option<Timestamp> {
        let copied = |made: &Timestamp| self.copied.is_some_and(|before| *made < before);
        (offset < self.until).then_some(self.written).or_else(|| record.timestamp().filter(copied))
    }
}

/// When a file was made, where its filesystem says so.
pub(crate) fn born(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(std::fs::symlink_metadata(path).ok()?.created().ok()?).ok()
}

fn size(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).map_or(0, |now| now.len())
}

fn mark(tail: &Tail, before: Option<Mark>) -> Option<Mark> {
    let marked: io::Result<Mark> = tail.mark();
    marked.ok().or(before)
}

/// Whether the record was not seen before; one without an id of its own always counts as new.
fn is_new(seen: &mut HashSet<u64>, record: &Record<'_>) -> bool {
    let Some(uuid) = record.uuid() else { return true };
    let mut hasher = DefaultHasher::new();
    uuid.hash(&mut hasher);
    seen.insert(hasher.finish())
}
