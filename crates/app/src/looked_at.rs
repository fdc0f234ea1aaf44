//! The sessions that a decision looked at, in as few bytes as may be: there can be thousands, each time.
//!
//! A file for each decision: a database would write them twice, to its log and to itself, while a person waits.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use model::SessionId;
use selection::{Ceiling, Considered, Factors, Grounds, Obstacle, Relevance};
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;

/// One of them. The bytes carry no names: what changes here needs another column.
#[derive(Serialize, Deserialize)]
struct Row {
    session: Name,
    factors: [Worth; 5],
    relevance: Worth,
    grounds: Kind,
    ceiling: Option<Limit>,
    obstacle: u8,
    compactions: u64,
    budget_used_pct: Option<f64>,
}

/// A session's id; nearly all are UUIDs.
#[derive(Serialize, Deserialize)]
enum Name {
    Uuid([u8; 16]),
    Text(SessionId),
}

/// A number; nearly all are hundredths.
#[derive(Serialize, Deserialize)]
enum Worth {
    Hundredths(i8),
    Exact(f64),
}

#[derive(Serialize, Deserialize)]
enum Kind {
    Words { common: u32, all: u32 },
    Said(String),
}

#[derive(Serialize, Deserialize)]
enum Limit {
    Compactions(u64),
    Budget(f64),
    Unrelated(u64),
}

/// By the number that is kept.
const OBSTACLES: [Option<Obstacle>; 3] = [None, Some(Obstacle::Held), Some(Obstacle::Gone)];

/// About how many bytes a row takes.
const ROW: usize = 40;
/// The longest file that is read, in bytes: that of some million sessions.
const CAP: u64 = 64 << 20;

/// Keeps what a decision looked at, in `folder`.
pub(crate) fn keep(folder: &Path, decision: i64, all: &[Considered]) -> io::Result<()> {
    let bytes = pack(all).unwrap_or_default();
    open(folder, decision)?.write_all(&bytes)
}

/// What a decision looked at; `None` where that is not known, or no longer.
pub(crate) fn kept(folder: &Path, decision: i64) -> Option<Vec<Considered>> {
    unpack(&transcript::read_small(&file(folder, decision), CAP).ok()?)
}

/// Gives up what a decision looked at.
pub(crate) fn forget(folder: &Path, decision: i64) {
    // Nobody asks for it; what stays there is only room.
    let _ = std::fs::remove_file(file(folder, decision));
}

fn file(folder: &Path, decision: i64) -> PathBuf {
    folder.join(decision.to_string())
}

/// The file of a decision, empty; one that is there is of a decision that was not kept.
fn open(folder: &Path, decision: i64) -> io::Result<File> {
    let open = || {
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(file(folder, decision))
    };
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            open()
        }
        opened => opened,
    }
}

/// As bytes; `None` where they cannot be written.
fn pack(all: &[Considered]) -> Option<Vec<u8>> {
    postcard::to_extend(&Rows(all), Vec::with_capacity(ROW * all.len())).ok()
}

/// Each as a row, one after the other: thousands are not held twice.
struct Rows<'a>(&'a [Considered]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(row))
    }
}

/// From bytes; `None` where they are no such bytes.
fn unpack(bytes: &[u8]) -> Option<Vec<Considered>> {
    let rows: Vec<Row> = postcard::from_bytes(bytes).ok()?;
    rows.into_iter().map(considered).collect()
}

fn row(one: &Considered) -> Row {
    let Factors { branch_match, recency, task_relevance, session_health, context_capacity } = one.factors;
    Row {
        session: name(&one.session_id),
        factors: [branch_match, recency, task_relevance, session_health, context_capacity].map(Worth::of),
        relevance: Worth::of(one.relevance.score),
        grounds: match &one.relevance.reason {
            Grounds::Words { common, all } => Kind::Words { common: *common, all: *all },
            Grounds::Said(text) => Kind::Said(text.clone()),
        },
        ceiling: one.ceiling.map(|ceiling| match ceiling {
            Ceiling::Compactions(count) => Limit::Compactions(count),
            Ceiling::Budget(used) => Limit::Budget(used),
            Ceiling::Unrelated(lines) => Limit::Unrelated(lines),
        }),
        obstacle: (0..)
            .zip(OBSTACLES)
            .find(|(_, known)| *known == one.obstacle)
            .map_or(0, |(number, _)| number),
        compactions: one.compactions,
        budget_used_pct: one.budget_used_pct,
    }
}

fn considered(row: Row) -> Option<Considered> {
    let [branch_match, recency, task_relevance, session_health, context_capacity] =
        row.factors.map(|worth| worth.value());
    let factors = Factors { branch_match, recency, task_relevance, session_health, context_capacity };
    let reason = match row.grounds {
        Kind::Words { common, all } => Grounds::Words { common, all },
        Kind::Said(text) => Grounds::Said(text),
    };
    Some(Considered {
        session_id: match row.session {
            Name::Uuid(bytes) => Uuid::from_bytes(bytes).to_string().parse().ok()?,
            Name::Text(id) => id,
        },
        score: if row.ceiling.is_some() { 0.0 } else { factors.score() },
        factors,
        relevance: Relevance { score: row.relevance.value(), reason },
        ceiling: row.ceiling.map(|limit| match limit {
            Limit::Compactions(count) => Ceiling::Compactions(count),
            Limit::Budget(used) => Ceiling::Budget(used),
            Limit::Unrelated(lines) => Ceiling::Unrelated(lines),
        }),
        obstacle: *OBSTACLES.get(usize::from(row.obstacle))?,
        compactions: row.compactions,
        budget_used_pct: row.budget_used_pct,
    })
}

/// Only the usual way of writing a UUID comes back as it was.
fn name(id: &SessionId) -> Name {
    let uuid = Uuid::try_parse(id.as_str()).ok();
    uuid.filter(|uuid| uuid.as_hyphenated().encode_lower(&mut Uuid::encode_buffer()) == id.as_str())
        .map_or_else(|| Name::Text(id.clone()), |uuid| Name::Uuid(uuid.into_bytes()))
}

impl Worth {
    #[expect(clippy::cast_possible_truncation, reason = "a whole number of at most 100")]
    fn of(value: f64) -> Self {
        let hundredths = (value * 100.0).round();
        let is_whole = hundredths.abs() <= 100.0 && (hundredths / 100.0).to_bits() == value.to_bits();
        if is_whole { Self::Hundredths(hundredths as i8) } else { Self::Exact(value) }
    }

    fn value(&self) -> f64 {
        match self {
            Self::Hundredths(hundredths) => f64::from(*hundredths) / 100.0,
            Self::Exact(value) => *value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_looked_at_comes_back() {
        let one = |id: &str, ceiling: Option<Ceiling>, obstacle, reason| {
            let factors =
                Factors { branch_match: 0.25, recency: 0.2, task_relevance: -0.1, ..Factors::default() };
            Considered {
                session_id: id.parse().unwrap(),
                score: if ceiling.is_some() { 0.0 } else { factors.score() },
                factors: Factors { session_health: 1.0 / 3.0, ..factors },
                relevance: Relevance { score: 2.0 / 3.0, reason },
                ceiling,
                obstacle,
                compactions: 2,
                budget_used_pct: Some(31.5),
            }
        };
        let words = || Grounds::Words { common: 1, all: 3 };
        let held = Some(Obstacle::Held);
        let said = Grounds::Said("the same files".into());
        let mut all = vec![
            one("0a1b2c3d-0000-4000-8000-0123456789ab", None, None, words()),
            one("0A1B2C3D-0000-4000-8000-0123456789AB", Some(Ceiling::Compactions(3)), held, words()),
            one("s1", Some(Ceiling::Budget(71.0)), Some(Obstacle::Gone), said),
            one("0a1b2c3d00004000800001234567abcd", Some(Ceiling::Unrelated(201)), None, words()),
        ];
        all[0].score = all[0].factors.score();
        let bytes = pack(&all).unwrap();
        assert_eq!(unpack(&bytes).unwrap(), all);
        assert_eq!(unpack(&bytes[..bytes.len() - 1]), None);
    }

    #[test]
    fn each_decision_has_a_file_of_its_own() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("state/looked-at");
        let (one, other) = (vec![usual(); 2], vec![usual(); 1]);
        keep(&folder, 7, &one).unwrap();
        keep(&folder, 8, &one).unwrap();
        // The decision of the same number was not kept.
        keep(&folder, 8, &other).unwrap();
        forget(&folder, 6);
        assert_eq!([6, 7, 8].map(|decision| kept(&folder, decision)), [None, Some(one), Some(other)]);
        forget(&folder, 7);
        assert_eq!(kept(&folder, 7), None);
    }

    fn usual() -> Considered {
        Considered {
            session_id: "0a1b2c3d-0000-4000-8000-0123456789ab".parse().unwrap(),
            score: 0.45,
            factors: Factors { branch_match: 0.25, recency: 0.2, ..Factors::default() },
            relevance: Relevance { score: 0.0, reason: Grounds::Words { common: 0, all: 12 } },
            ceiling: None,
            obstacle: None,
            compactions: 0,
            budget_used_pct: None,
        }
    }

    #[test]
    fn a_usual_session_takes_a_few_bytes() {
        assert!(pack(&vec![usual(); 1000]).unwrap().len() < ROW * 1000);
    }
}
