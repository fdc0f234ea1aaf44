//! Weights are found where there are any to be found, and nothing is claimed where there are none.

#![allow(clippy::unwrap_used, reason = "a helper that cannot go on fails the test that called it")]

use std::path::PathBuf;

use app::eval::selection::Field;
use jiff::{SignedDuration, Timestamp};
use measure::{Act, Moment};
use selection::{Candidate, Grounds, Hold, Judge, Judged, Relevance, Weights};
use xtask::calibrate::{by_project, by_time, held_back, right, sets};

/// A decision with one session to go on with, which is on the branch or not, and has to do with the task or not.
fn field(at: i64, same_branch: bool, relevance: f64, act: Act) -> Field {
    let now = Timestamp::from_second(1_780_000_000 + at * 86_400).unwrap();
    let id = format!("s{at}");
    let candidate = Candidate {
        id: id.parse().unwrap(),
        branch: Some(if same_branch { "main" } else { "other" }.into()),
        about: None,
        last_active: now.checked_sub(SignedDuration::from_hours(2)).ok(),
        lines: 100,
        bytes: 1000,
        tokens: 1000,
        compactions: 0,
        budget_used_pct: None,
        label: None,
        hold: Hold::Free,
        has_transcript: true,
    };
    let moment = Moment {
        id: id.clone(),
        at: 0.0,
        task: "x".to_owned(),
        cwd: String::new(),
        branch: Some("main".to_owned()),
        act,
        session: Some(id.clone()),
    };
    Field {
        moment,
        now,
        root: PathBuf::from(format!("/p/{}", at % 4)),
        sessions: vec![(id, candidate.branch.as_deref().map(ToOwned::to_owned))],
        judged: Judged {
            relevance: vec![Relevance { score: relevance, reason: Grounds::Said(String::new()) }],
            judge: Judge::Keyword,
            fell_back: None,
        },
        candidates: vec![candidate],
    }
}

#[test]
fn what_decides_is_found_and_clears() {
    // Relevance alone decides; the branch, which the usual weights reward as much, is noise.
    let fields: Vec<Field> = (0..80)
        .map(|at| {
            let related = at % 3 == 0;
            let act = if related { Act::Resume } else { Act::Fresh };
            field(at, at % 2 == 0, if related { 0.8 } else { 0.2 }, act)
        })
        .collect();
    let sets = sets();
    let right = right(&fields, &sets);
    for folds in [by_project(&fields), by_time(fields.len())] {
        let outcome = held_back(&fields, &folds, &sets, &right).unwrap();
        assert!((outcome.tally.accuracy.mean - 1.0).abs() < 1e-9, "{outcome:?}");
        assert!(outcome.clears() && outcome.difference.low > 0.0, "{outcome:?}");
        assert_eq!(outcome.chosen.len(), folds.iter().max().unwrap() + 1);
    }
}

#[test]
fn where_nothing_decides_nothing_is_claimed() {
    let mut random = 7_u64;
    let mut coin = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 63 == 0
    };
    let fields: Vec<Field> = (0..80)
        .map(|at| {
            let (branch, related, act) = (coin(), coin(), coin());
            field(at, branch, if related { 0.8 } else { 0.2 }, if act { Act::Resume } else { Act::Fresh })
        })
        .collect();
    let sets = sets();
    let right = right(&fields, &sets);
    for folds in [by_project(&fields), by_time(fields.len())] {
        let outcome = held_back(&fields, &folds, &sets, &right).unwrap();
        assert!(!outcome.clears(), "{outcome:?}");
    }
}

#[test]
fn every_set_shares_one_and_the_usual_proportions_are_among_them() {
    let sets = sets();
    assert_eq!(sets.len(), 1771 * 3);
    for set in &sets {
        let sum = set.branch + set.recency[0].1 + set.related + set.health + set.capacity;
        assert!((sum - 1.0).abs() < 1e-9, "{set:?}");
    }
    let near = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let seed = Weights::SEED;
    let is_seed = |set: &&Weights| {
        near(set.branch, seed.branch)
            && near(set.tangential, seed.tangential)
            && near(set.unrelated, seed.unrelated)
            && near(set.crowded[1], seed.crowded[1])
            && near(set.recency[4].1, seed.recency[4].1)
    };
    assert_eq!(sets.iter().filter(is_seed).count(), 1);
}

#[test]
fn time_is_cut_evenly() {
    assert_eq!(by_time(10), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    assert_eq!(by_time(0), Vec::<usize>::new());
}
