//! Indexing that is killed, or refused by the disk, at any byte: what was found before is found after, and the next pass
//! completes it.
//!
//! A child process indexes under a limit on how large a file may become. Where a write would pass it, the system kills
//! the child in the middle of that write, or, where the signal is ignored, cuts the write short and refuses the rest, as
//! a full disk does.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, setrlimit};
use search::{Mode, Query, SearchScope, Searcher, sync};

use crate::history::{History, session, sources, sync_folders};

/// Where the points come from.
const SEED: u64 = 20_261_123;
/// How many points share a history.
const ROUNDS: u64 = 20;
const WORK: &str = "BACKSTORY_INDEX_WORK";

/// Not a test of its own: the process that is killed.
#[test]
fn child_under_a_limit() {
    let Ok(work) = env::var(WORK) else { return };
    let words: Vec<&str> = work.splitn(3, ' ').collect();
    let [limit, config, index] = words.as_slice() else { panic!("{work}") };
    let limit = limit.parse().ok();
    setrlimit(Resource::Fsize, Rlimit { current: limit, maximum: limit }).unwrap();
    let done = sync(Path::new(index), &sources(Path::new(config)), &mut |_| true);
    std::process::exit(if done.is_ok_and(|report| report.pending_files == 0) { 42 } else { 43 });
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Done,
    Refused,
    Killed,
}

fn index(history: &History, limit: u64, is_killed: bool) -> End {
    let script = if is_killed { "exec \"$0\" \"$@\"" } else { "trap '' XFSZ; exec \"$0\" \"$@\"" };
    let mut child = Command::new("/bin/sh");
    child.arg("-c").arg(script).arg(env::current_exe().unwrap());
    child.args(["--exact", "faults::child_under_a_limit", "--nocapture"]);
    child.env(WORK, format!("{limit} {} {}", history.config().display(), history.index().display()));
    match child.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code() {
        Some(42) => End::Done,
        Some(43) => End::Refused,
        None => End::Killed,
        Some(other) => panic!("with {limit}: {other}"),
    }
}

/// A small reproducible generator.
struct Seed(u64);

impl Seed {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// Every place that answers.
fn found(index: &Path) -> BTreeSet<(String, u64)> {
    let mut searcher = Searcher::open(index).unwrap().unwrap();
    let query = Query::parse("walrus");
    let hits = searcher.search(&query, &SearchScope::default(), Mode::Lexical, 2, 500).unwrap().hits;
    hits.iter().map(|hit| (hit.session.to_string(), hit.line)).collect()
}

/// A new session, and more of one that was there; returns a limit that may or may not let all of it be indexed.
fn add_work(history: &History, random: &mut Seed, round: u64) -> u64 {
    let filler = |random: &mut Seed| {
        (0..200).map(|_| format!("word{}", random.below(5000))).collect::<Vec<_>>().join(" ")
    };
    let new = session(&format!("s{round}"), "feed the walrus", &filler(random));
    history.write(&(0..20).fold(new, |transcript, _| transcript.answer(&filler(random))));
    let longer = session("old", "where is the walrus", "there");
    history.write(&(0..round).fold(longer, |transcript, more| transcript.answer(&format!("step {more}"))));
    let files = std::fs::read_dir(history.index().join("text"))
        .unwrap()
        .chain(std::fs::read_dir(history.index()).unwrap());
    let largest = files.map(|file| file.unwrap().metadata().unwrap().len()).max().unwrap_or_default();
    random.below(largest * 3 / 2)
}

#[test]
fn nothing_that_was_found_is_lost_at_any_of_many_points() {
    let mut random = Seed(SEED);
    let mut ends: BTreeMap<End, u64> = BTreeMap::new();
    for _ in 0..testkit::long::amount(2, 50) {
        let history = History::new();
        history.write(&session("old", "where is the walrus", "there"));
        history.sync();
        for round in 0..ROUNDS {
            let limit = add_work(&history, &mut random, round);
            let before = found(&history.index());
            let end = index(&history, limit, random.below(2) == 0);
            *ends.entry(end).or_default() += 1;
            let after = found(&history.index());
            assert!(before.is_subset(&after), "{end:?} at {limit}: {before:?} became {after:?}");
            if random.below(3) == 0 {
                history.sync();
                let sessions = round + 2;
                assert_eq!(found(&history.index()).len() as u64, sessions, "{end:?} at {limit}");
            }
        }
        history.sync();
        let fresh = History::new();
        sync_folders(&history.config(), &fresh.index());
        assert_eq!(found(&history.index()), found(&fresh.index()), "as if nothing had happened");
    }
    println!("{ends:?}");
    for end in [End::Done, End::Refused, End::Killed] {
        assert!(ends.contains_key(&end), "{ends:?}");
    }
}
