//! The facts that decide are found, and judged on decisions that they were not fitted on.

#![allow(clippy::unwrap_used, reason = "a helper that cannot go on fails the test that called it")]

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use measure::{LabelledTask, TaskAction};
use selection::chance::{Habit, LatestMessages};
use selection::{Candidate, Judgement, Occupancy, keyword_relevance};
use xtask::fit::{Case, Group, held_back};

/// A decision with one session to go on with, that old.
fn case(at: i64, hours: i64, action: TaskAction) -> Case {
    let now = Timestamp::from_second(1_780_000_000 + at * 86_400).unwrap();
    let id = format!("s{at}");
    let candidate = Candidate {
        id: id.parse().unwrap(),
        branch: Some("main".into()),
        about: None,
        last_active: now.checked_sub(SignedDuration::from_hours(hours)).ok(),
        last_message: None,
        was_exited: false,
        is_in_other_tree: false,
        lines: 100,
        bytes: 1000,
        tokens: 1000,
        compactions: 0,
        budget_used_pct: None,
        label: None,
        hold: Occupancy::Free,
        has_transcript: true,
        is_idle_worker: false,
    };
    let moment = LabelledTask {
        id: id.clone(),
        at: 0.0,
        task: "the parser".to_owned(),
        cwd: String::new(),
        branch: Some("main".to_owned()),
        action,
        session: Some(id.clone()),
        group: Some(format!("group{}", at % 4)),
        person: None,
        quiet: Some(true),
        seen: Some(true),
    };
    Case::new(app::eval::selection::DecisionPoint {
        moment,
        now,
        root: PathBuf::from("/p"),
        sessions: vec![(id, Some("main".to_owned()))],
        judged: Judgement::by_words(vec![keyword_relevance("", None)]),
        candidates: vec![candidate],
        habit: Habit::default(),
        ranked: vec![0],
        said: vec![LatestMessages::default()],
    })
}

#[test]
fn the_deciding_age_is_found_in_held_back_data() {
    let cases: Vec<Case> = (0..80)
        .map(
            |at| if at % 2 == 0 { case(at, 1, TaskAction::Resume) } else { case(at, 200, TaskAction::Fresh) },
        )
        .collect();
    let found = held_back(&cases, &[], Group::Owner).unwrap();
    let (name, fitted) = &found.long()[0];
    assert_eq!((*name, fitted.decisions), ("fitted", 80));
    assert!(fitted.accuracy.mean > 0.99, "{fitted:?}");
}

#[test]
fn random_outcomes_show_no_effect() {
    let mut random = fastrand::Rng::with_seed(3);
    let cases: Vec<Case> = (0..80)
        .map(|at| {
            case(at, random.i64(1..200), if random.bool() { TaskAction::Resume } else { TaskAction::Fresh })
        })
        .collect();
    let found = held_back(&cases, &[], Group::Owner).unwrap();
    let (_, fitted) = &found.long()[0];
    assert!(fitted.accuracy.mean < 0.7, "{fitted:?}");
}
