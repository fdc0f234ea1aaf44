//! Two writers, and writers that are killed.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::history::{History, session, sync_folders};

const CONFIG: &str = "BACKSTORY_TEST_CONFIG";
const INDEX: &str = "BACKSTORY_TEST_INDEX";

/// Not a test of its own: the process that [`killed_at_any_moment`] kills.
#[test]
fn child_that_indexes() {
    let (Some(config), Some(index)) = (std::env::var_os(CONFIG), std::env::var_os(INDEX)) else { return };
    println!("begins");
    sync_folders(Path::new(&config), Path::new(&index));
}

fn child(history: &History) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_that_indexes", "--nocapture"])
        .env(CONFIG, history.config())
        .env(INDEX, history.index())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("begins")));
    child
}

#[test]
fn killed_at_any_moment() {
    let history = History::new();
    let filler = "the quick brown fox jumps over the lazy dog and the walrus ".repeat(40);
    for n in 0..60 {
        let transcript = (0..20)
            .fold(session(&format!("s{n}"), "walrus", "ok"), |t, m| t.answer(&format!("{filler} {m}")));
        history.write(&transcript);
    }
    for round in 0..8_u32 {
        let mut child = child(&history);
        // Busy work of growing length, so that each round kills at another moment.
        let burnt: u64 = (0..round * 3_000_000).fold(0, |sum, n| sum ^ u64::from(n).wrapping_mul(31));
        std::hint::black_box(burnt);
        let _ = child.kill();
        child.wait().unwrap();
        if let Some(mut searcher) = search::Searcher::open(&history.index()).unwrap() {
            searcher
                .search(
                    &search::Query::parse("walrus"),
                    &search::SearchScope::default(),
                    search::Mode::Lexical,
                    2,
                    5,
                )
                .unwrap();
        }
    }
    history.sync();
    let fresh = History::new();
    let expected = sync_folders(&history.config(), &fresh.index());
    let hits = history.hits("walrus");
    assert_eq!(hits.len(), 50);
    let mut searcher = search::Searcher::open(&fresh.index()).unwrap().unwrap();
    let again = searcher
        .search(
            &search::Query::parse("walrus"),
            &search::SearchScope::default(),
            search::Mode::Lexical,
            2,
            50,
        )
        .unwrap()
        .hits;
    let scores = |hits: &[search::RankedHit]| {
        hits.iter().map(|hit| (hit.session.clone(), hit.line)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(scores(&hits), scores(&again), "as if nothing had happened: {expected:?}");
}

#[test]
fn two_writers_take_turns() {
    let history = History::new();
    for n in 0..30 {
        history.write(&session(&format!("s{n}"), "walrus", "ok"));
    }
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (config, index) = (history.config(), history.index());
            std::thread::spawn(move || sync_folders(&config, &index))
        })
        .collect();
    let done: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(done.iter().any(|synced| !synced.busy));
    history.sync();
    assert_eq!(history.found("walrus").len(), 30);
}
