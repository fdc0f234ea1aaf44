//! Finds the session that a session was copied from: by the marks in its records or, where old versions left none, by
//! the records that it begins with.
//!
//! A fork begins with a run of another session's records. One that two files share further on says nothing: a prompt may be
//! delivered to two windows.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use model::{ForkOrigin, SessionId};
use transcript::TranscriptFile;

/// The number of files holding the same record that a file is compared with: the oldest ones.
pub(crate) const COMPARED: usize = 8;
/// How much later than its last record a file may have been created, in nanoseconds: records are written in batches.
const BATCH: i64 = 10_000_000_000;

/// The clues in a session's file to the session it was copied from.
#[derive(Debug, Clone)]
pub(crate) struct LineageClues<'a> {
    /// The session's id.
    pub(crate) id: &'a SessionId,
    /// When the session itself began: the time of its first record that is not a copy.
    pub(crate) began: Option<Timestamp>,
    /// The time of its last record.
    pub(crate) last: Option<Timestamp>,
    /// When the file was created.
    pub(crate) created: CreationTime<'a>,
    /// The session that a mark names.
    pub(crate) marked: Option<&'a ForkOrigin>,
    /// Another session's id in the records.
    pub(crate) named: Option<&'a SessionId>,
    /// Hashes of the first records, and of those after each compaction, in the order of the file.
    pub(crate) anchors: &'a [u64],
}

/// A file's creation time, in nanoseconds since 1970. It is looked up only when needed: most sessions are not copies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CreationTime<'a> {
    /// The time is known.
    At(i64),
    /// The time has to be read from this file.
    Of(&'a TranscriptFile),
}

impl CreationTime<'_> {
    fn at(self) -> i64 {
        match self {
            Self::At(moment) => moment,
            Self::Of(file) => file.created(),
        }
    }
}

/// The order among sessions that share records: a parent before its copies.
///
/// What the records say comes first, because files are copied and restored in any order. Where a fork made on a
/// terminal says nothing, the file system decides, unless the file was created after its last record: then it is
/// itself a copy, and at least as old as that record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Age<'a> {
    began: Timestamp,
    made: i64,
    id: &'a SessionId,
}

impl<'a> LineageClues<'a> {
    /// Asks the file system.
    pub(crate) fn age(&self) -> Age<'a> {
        let nanoseconds = |at: Timestamp| i64::try_from(at.as_nanosecond()).unwrap_or(i64::MAX);
        let last = self.last.map_or(i64::MAX, nanoseconds);
        let created = self.created.at();
        let made = if created <= last.saturating_add(BATCH) { created } else { last };
        Age { began: self.began.unwrap_or(Timestamp::MAX), made, id: self.id }
    }
}

/// The parent of each session, in the order given; following parents never leads back.
pub(crate) fn parents(sessions: &[LineageClues<'_>]) -> Vec<Option<ForkOrigin>> {
    let places: HashMap<&SessionId, usize> =
        sessions.iter().enumerate().map(|(at, session)| (session.id, at)).collect();
    let holders = Copies::new(sessions);
    let (mut parents, mut signs) = (Vec::with_capacity(sessions.len()), Vec::with_capacity(sessions.len()));
    for (at, session) in sessions.iter().enumerate() {
        let unmarked = |session_id: SessionId| ForkOrigin { session_id, message_uuid: None };
        let marked = session.marked.filter(|mark| mark.session_id != *session.id).cloned();
        let named =
            || session.named.filter(|named| *named != session.id && places.contains_key(named)).cloned();
        let copied = || holders.parent(at, sessions).map(|parent| sessions[parent].id.clone());
        let (parent, sign) = marked
            .map(|mark| (mark, ClueKind::Mark))
            .or_else(|| Some((unmarked(named()?), ClueKind::Name)))
            .or_else(|| Some((unmarked(copied()?), ClueKind::Records)))
            .unzip();
        parents.push(parent);
        signs.push(sign);
    }
    let next: Vec<Option<usize>> =
        parents.iter().map(|parent| places.get(&parent.as_ref()?.session_id).copied()).collect();
    // Of sessions that name one another, the weakest clue is dropped; of equal ones, that of the oldest session.
    for circle in circles(&next) {
        if let Some(weakest) = circle.into_iter().min_by_key(|at| (signs[*at], sessions[*at].age())) {
            parents[weakest] = None;
        }
    }
    parents
}

/// The kind of clue that identified a parent; the stronger one is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ClueKind {
    /// Records that another session also holds.
    Records,
    /// Another's id in its records.
    Name,
    /// An explicit mark in a record.
    Mark,
}

/// The cycles that following `next` ends in.
fn circles(next: &[Option<usize>]) -> Vec<Vec<usize>> {
    /// Not visited yet.
    const NEW: usize = usize::MAX;
    let mut walks = vec![NEW; next.len()];
    let mut circles = Vec::new();
    for start in 0..next.len() {
        let mut at = Some(start);
        while let Some(place) = at.filter(|place| walks[*place] == NEW) {
            walks[place] = start;
            at = next[place];
        }
        // The walk closed a cycle.
        if let Some(first) = at.filter(|place| walks[*place] == start) {
            let following = |place: &usize| next[*place].filter(|next| *next != first);
            circles.push(std::iter::successors(Some(first), following).collect());
        }
    }
    circles
}

/// The files that hold a record, in any project folder: people copy those.
struct Copies<'a> {
    /// The files that hold each record, oldest first.
    holders: HashMap<u64, Vec<usize>>,
    /// The age of each file that shares a record.
    ages: HashMap<usize, Age<'a>>,
}

impl<'a> Copies<'a> {
    fn new(sessions: &[LineageClues<'a>]) -> Self {
        let held = |(at, session): (usize, &LineageClues<'a>)| {
            session.anchors.iter().map(move |anchor| (*anchor, at))
        };
        let mut all: Vec<(u64, usize)> = sessions.iter().enumerate().flat_map(held).collect();
        all.sort_unstable();
        all.dedup();
        let mut holders: HashMap<_, Vec<usize>> = HashMap::new();
        // Almost every record is in one file.
        for same in all.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            for &(anchor, at) in same {
                holders.entry(anchor).or_default().push(at);
            }
        }
        holders.retain(|_, same| same.len() > 1);
        let sharing: HashSet<usize> = holders.values().flatten().copied().collect();
        let ages: HashMap<_, _> = sharing.into_iter().map(|at| (at, sessions[at].age())).collect();
        for same in holders.values_mut() {
            same.sort_unstable_by_key(|at| &ages[at]);
        }
        Self { holders, ages }
    }

    /// The older file with the longest run of records that this one begins with; of several the oldest.
    fn parent(&self, at: usize, sessions: &[LineageClues<'_>]) -> Option<usize> {
        let own = self.ages.get(&at)?;
        let session = &sessions[at];
        let same = self.holders.get(session.anchors.first()?)?;
        let older = same.iter().take(COMPARED).filter(|other| self.ages[other] < *own);
        let runs = older.map(|other| (shared_run(session.anchors, sessions[*other].anchors), other));
        let copied = runs.filter(|(run, _)| run.is_some());
        copied.max_by_key(|(run, other)| (*run, Reverse(&self.ages[other]))).map(|(_, other)| *other)
    }
}

/// How many records a file begins with that follow one another in another file, too. `None` where that is no copy: one
/// record may be in both because it was delivered to both; one that continues with others was written there.
fn shared_run(own: &[u64], theirs: &[u64]) -> Option<usize> {
    let from = theirs.iter().position(|anchor| Some(anchor) == own.first())?;
    let theirs = &theirs[from..];
    let run = own.iter().zip(theirs).take_while(|(one, other)| one == other).count();
    let is_all = from == 0 && run == own.len().min(theirs.len());
    (run > 1 || is_all).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `id began-last-born anchors mark named`, or `id born anchors mark named`; `-` for none.
    fn check(table: &str, expected: &str) {
        struct Row {
            id: SessionId,
            times: Vec<i64>,
            anchors: Vec<u64>,
            marked: Option<ForkOrigin>,
            named: Option<SessionId>,
        }
        let rows: Vec<Row> = table
            .lines()
            .map(|line| {
                let words: Vec<_> = line.split_whitespace().collect();
                let id = |word: &str| (word != "-").then(|| word.parse::<SessionId>().unwrap());
                Row {
                    id: words[0].parse().unwrap(),
                    times: words[1].split('-').map(|second| second.parse().unwrap()).collect(),
                    anchors: words[2].bytes().filter(|byte| *byte != b'-').map(u64::from).collect(),
                    marked: id(words[3]).map(|session_id| ForkOrigin { session_id, message_uuid: None }),
                    named: id(words[4]),
                }
            })
            .collect();
        let at = |second: &i64| Timestamp::from_second(*second * 100).unwrap();
        let kin: Vec<_> = rows
            .iter()
            .map(|row| LineageClues {
                id: &row.id,
                began: row.times.get(1).and(row.times.first()).map(at),
                last: row.times.get(1).map(at),
                created: CreationTime::At(row.times.last().unwrap() * 100_000_000_000),
                marked: row.marked.as_ref(),
                named: row.named.as_ref(),
                anchors: &row.anchors,
            })
            .collect();
        let parents = parents(&kin);
        let found: Vec<_> = parents
            .iter()
            .map(|parent| parent.as_ref().map_or("-", |parent| parent.session_id.as_str()))
            .collect();
        assert_eq!(found.join(" "), expected, "{table}");
    }

    #[test]
    fn the_parent_is_found_by_marks_then_names_then_shared_records() {
        check("a 1 x - -\nb 2 y a -", "- a");
        check("a 1 x - -\nb 2 y gone -", "- gone");
        check("a 1 x - -\nb 2 y - a", "- a");
        check("a 1 x - -\nb 2 y - gone", "- -");
        check("b 2 xy - -\na 1 xy - -\nc 3 x - -", "a - a");
        check("a 1 x - -\nb 2 xyz - -\nc 3 xyz - -", "- a b");
        check("a 1 - - -\nb 2 - - -", "- -");
        check("a 1 x a a", "-");
    }

    #[test]
    fn a_fork_begins_with_anothers_records() {
        // Delivered to both, further on or at the beginning.
        check("a 1 pqx - -\nb 2 rsx - -", "- -");
        check("a 1 xpq - -\nb 2 xrs - -", "- -");
        check("a 1 pqx - -\nb 2 xrs - -", "- -");
        check("a 1 pqx - -\nb 2 x - -", "- -");
        check("a 1 pqxy - -\nb 2 xyrs - -", "- a");
        // The longest run, not the most records.
        check("a 1 xyz - -\nb 2 xyw - -\nc 3 xywv - -", "- a b");
    }

    #[test]
    fn record_times_win_over_file_times() {
        // A fork's own first record is later than those it copied, however the files were made.
        for created in ["9", "3"] {
            check(&format!("a 1-2-{created} xy - -\nb 3-4-4 xy - -"), "- a");
            check(&format!("b 3-4-4 xy - -\na 1-2-{created} xy - -"), "a -");
        }
        // Both consist of copies: the file system's times decide, if the files were written after their creation.
        check("a 1-5-1 xy - -\nb 1-4-3 xy - -", "- a");
        check("b 1-4-1 xy - -\na 1-5-3 xy - -", "- b");
        // Files that were copied themselves are as old as their last records.
        check("a 1-2-8 xy - -\nb 1-4-7 xy - -", "- a");
        check("a 1-2-7 xy - -\nb 1-4-8 xy - -", "- a");
        check("a 1-2-8 xy - -\nb 1-4-3 xy - -", "- a");
    }

    #[test]
    fn many_forks_of_one_session() {
        let table: Vec<_> = (0..50).map(|at| format!("s{at} {at} xyz - -")).collect();
        check(&table.join("\n"), &["-"].into_iter().chain(["s0"; 49]).collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn no_session_is_its_own_ancestor() {
        check("a 1 - b -\nb 2 - a -", "- a");
        check("b 2 - a -\na 1 - b -", "a -");
        // A mark is stronger than a name, and a name than shared records.
        check("a 1 - b -\nb 2 - - a", "b -");
        check("a 2 xy b -\nb 1 xy - -", "b -");
        check("a 1 xy - b\nb 2 xy - -", "b -");
        check("a 1 - b -\nb 2 - c -\nc 3 - a -\nd 4 - a -", "- c a a");
    }
}
