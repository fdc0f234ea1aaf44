//! Which session was copied from which: by the marks in the records, and where old versions left none, by
//! records that two files share.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;

use model::{ForkOrigin, SessionId};
use transcript::TranscriptFile;

/// What a session's file tells of its origin.
#[derive(Debug, Clone)]
pub(crate) struct Kin<'a> {
    /// The session.
    pub(crate) id: &'a SessionId,
    /// The project folder its file lies in.
    pub(crate) folder: &'a OsStr,
    /// When the file was made; the older of two copies is the parent.
    pub(crate) born: Born<'a>,
    /// The session that a mark names.
    pub(crate) marked: Option<&'a ForkOrigin>,
    /// Another session's id in the records.
    pub(crate) named: Option<&'a SessionId>,
    /// Hashes of records; copies share some.
    pub(crate) anchors: &'a [u64],
}

/// When a file was made, in nanoseconds since 1970: most sessions are nobody's copy, and of those no file system is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Born<'a> {
    /// It is known.
    At(i64),
    /// The file knows.
    Of(&'a TranscriptFile),
}

impl Born<'_> {
    fn at(self) -> i64 {
        match self {
            Self::At(moment) => moment,
            Self::Of(file) => file.born(),
        }
    }
}

/// The parent of each session, in the order given; following parents never leads back.
pub(crate) fn parents(sessions: &[Kin<'_>]) -> Vec<Option<ForkOrigin>> {
    let places: HashMap<&SessionId, usize> =
        sessions.iter().enumerate().map(|(at, session)| (session.id, at)).collect();
    let holders = Copies::of(sessions);
    let (mut parents, mut signs) = (Vec::with_capacity(sessions.len()), Vec::with_capacity(sessions.len()));
    for (at, session) in sessions.iter().enumerate() {
        let unmarked = |session_id: SessionId| ForkOrigin { session_id, message_uuid: None };
        let marked = session.marked.filter(|mark| mark.session_id != *session.id).cloned();
        let named =
            || session.named.filter(|named| *named != session.id && places.contains_key(named)).cloned();
        let copied = || holders.parent(at, sessions).map(|parent| sessions[parent].id.clone());
        let (parent, sign) = marked
            .map(|mark| (mark, Sign::Mark))
            .or_else(|| Some((unmarked(named()?), Sign::Name)))
            .or_else(|| Some((unmarked(copied()?), Sign::Records)))
            .unzip();
        parents.push(parent);
        signs.push(sign);
    }
    // Of sessions that name one another the weakest sign gives way, and of equal ones that of the oldest session.
    let mut weakest_first: Vec<usize> = (0..sessions.len()).filter(|at| parents[*at].is_some()).collect();
    weakest_first.sort_by_cached_key(|at| (signs[*at], sessions[*at].born.at(), sessions[*at].id));
    for at in weakest_first {
        if leads_back(at, &parents, &places) {
            parents[at] = None;
        }
    }
    parents
}

/// What told whose copy a session is; the stronger is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sign {
    /// Records that another holds, too.
    Records,
    /// Another's id in its records.
    Name,
    /// A mark.
    Mark,
}

fn leads_back(start: usize, parents: &[Option<ForkOrigin>], places: &HashMap<&SessionId, usize>) -> bool {
    let next = |at: usize| parents[at].as_ref().and_then(|parent| places.get(&parent.session_id).copied());
    let mut seen = HashSet::from([start]);
    let mut at = start;
    while let Some(parent) = next(at) {
        if parent == start {
            return true;
        }
        if !seen.insert(parent) {
            return false;
        }
        at = parent;
    }
    false
}

/// Which files hold a record, by project folder.
struct Copies<'a> {
    holders: HashMap<(&'a OsStr, u64), Vec<usize>>,
}

impl<'a> Copies<'a> {
    fn of(sessions: &[Kin<'a>]) -> Self {
        let held = |(at, session): (usize, &Kin<'a>)| session.anchors.iter().map(move |anchor| (*anchor, at));
        let mut all: Vec<(u64, usize)> = sessions.iter().enumerate().flat_map(held).collect();
        all.sort_unstable();
        let mut holders: HashMap<_, Vec<usize>> = HashMap::new();
        // Almost every record stands in one file.
        for same in all.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            for &(anchor, at) in same {
                holders.entry((sessions[at].folder, anchor)).or_default().push(at);
            }
        }
        Self { holders }
    }

    /// The older file that shares the most records; of several the oldest.
    fn parent(&self, at: usize, sessions: &[Kin<'_>]) -> Option<usize> {
        let age = |at: usize| (sessions[at].born.at(), sessions[at].id);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for anchor in sessions[at].anchors {
            let holders = self.holders.get(&(sessions[at].folder, *anchor));
            for &holder in holders.into_iter().flatten().filter(|holder| age(**holder) < age(at)) {
                *shared.entry(holder).or_default() += 1;
            }
        }
        shared
            .into_iter()
            .max_by_key(|(holder, count)| (*count, std::cmp::Reverse(age(*holder))))
            .map(|(holder, _)| holder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `id born anchors mark named`; `-` for none.
    fn check(table: &str, expected: &str) {
        struct Row {
            id: SessionId,
            born: i64,
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
                    born: words[1].parse().unwrap(),
                    anchors: words[2].bytes().filter(|byte| *byte != b'-').map(u64::from).collect(),
                    marked: id(words[3]).map(|session_id| ForkOrigin { session_id, message_uuid: None }),
                    named: id(words[4]),
                }
            })
            .collect();
        let kin: Vec<_> = rows
            .iter()
            .map(|row| Kin {
                id: &row.id,
                folder: OsStr::new("-p"),
                born: Born::At(row.born),
                marked: row.marked.as_ref(),
                named: row.named.as_ref(),
                anchors: &row.anchors,
            })
            .collect();
        let parents = parents(&kin);
        let told: Vec<_> = parents
            .iter()
            .map(|parent| parent.as_ref().map_or("-", |parent| parent.session_id.as_str()))
            .collect();
        assert_eq!(told.join(" "), expected, "{table}");
    }

    #[test]
    fn marks_then_names_then_shared_records() {
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
    fn nobody_is_its_own_ancestor() {
        check("a 1 - b -\nb 2 - a -", "- a");
        check("b 2 - a -\na 1 - b -", "a -");
        // A mark is stronger than a name, and a name than shared records.
        check("a 1 - b -\nb 2 - - a", "b -");
        check("a 2 xy b -\nb 1 xy - -", "b -");
        check("a 1 xy - b\nb 2 xy - -", "b -");
        check("a 1 - b -\nb 2 - c -\nc 3 - a -\nd 4 - a -", "- c a a");
    }
}
