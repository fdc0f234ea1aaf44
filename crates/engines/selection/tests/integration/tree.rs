//! The decision tree, case by case.

use selection::seed::{Seed, choose, needs_relevance};
use selection::{Action, Candidate, Judge, Judgement, Occupancy, Occupant, Task, Weights, keyword_relevance};

use crate::by_hand::{at, session};

/// The seed's weights and its threshold.
pub(crate) const SEED: Seed = Seed { weights: Weights::SEED, threshold: 0.6 };

pub(crate) fn task(branch: &str) -> Task<'_> {
    Task { branch: Some(branch), label: None, taken_by: None, now: at(0.0), text: "" }
}

pub(crate) fn by_words(text: &str, candidates: &[Candidate]) -> Judgement {
    let relevance = candidates.iter().map(|one| keyword_relevance(text, one.about.as_deref())).collect();
    Judgement { relevance, judge: Judge::Keyword, fallback: None }
}

#[track_caller]
fn check(task: &Task<'_>, text: &str, candidates: &[Candidate], action: Action, session: Option<&str>) {
    let found = choose(task, &SEED, candidates, &by_words(text, candidates));
    let chosen = found.session.as_ref().map(model::SessionId::as_str);
    assert_eq!((found.action, chosen), (action, session), "{}", found.reason);
    assert!(!found.reason.is_empty() && !found.changes.is_empty(), "{found:?}");
}

#[test]
fn same_branch_and_a_similar_task_is_resumed() {
    let all = [session("a", "main", 2.0, "fix the token refresh")];
    check(&task("main"), "token refresh fails again", &all, Action::Resume, Some("a"));
}

#[test]
fn an_unrelated_task_on_another_branch_starts_fresh() {
    let all = [session("a", "main", 2.0, "fix the token refresh")];
    check(&task("feature/paint"), "paint every button green", &all, Action::Fresh, None);
}

#[test]
fn a_session_compacted_three_times_is_never_resumed() {
    let perfect = session("a", "main", 0.1, "fix the token refresh");
    let worn = [Candidate { compactions: 3, ..perfect }];
    check(&task("main"), "fix the token refresh", &worn, Action::Fresh, None);
}

#[test]
fn with_a_label_only_the_labelled_session_counts() {
    let named = |label: &str| Task {
        label: Some(match label {
            "auth" => "auth",
            _ => "other",
        }),
        ..task("main")
    };
    let labelled = |hold| {
        [Candidate {
            label: Some("auth".into()),
            compactions: 9,
            hold,
            ..session("a", "elsewhere", 5000.0, "something else")
        }]
    };
    check(&named("auth"), "paint", &labelled(Occupancy::Free), Action::Resume, Some("a"));
    check(&named("other"), "something else", &labelled(Occupancy::Free), Action::Fresh, None);
    check(&named("auth"), "paint", &labelled(Occupancy::Worker), Action::Queue, Some("a"));
    check(&named("auth"), "paint", &labelled(Occupancy::Person), Action::Fresh, None);
    assert!(!needs_relevance(&named("auth"), &labelled(Occupancy::Free)), "nobody is asked");
}

#[test]
fn an_occupied_work_tree_is_waited_for() {
    let all = [session("a", "main", 2.0, "fix the token refresh")];
    let taken = Task { taken_by: "b".parse().ok().map(Occupant::Session), ..task("main") };
    check(&taken, "fix the token refresh", &all, Action::Queue, Some("b"));
    assert!(!needs_relevance(&taken, &all), "nobody is asked");
}

#[test]
fn without_own_sessions_a_fresh_one_is_started() {
    check(&task("main"), "anything", &[], Action::Fresh, None);
    assert!(!needs_relevance(&task("main"), &[] as &[Candidate]), "nobody is asked");
}

#[test]
fn the_best_of_several_wins_and_the_threshold_counts() {
    let all = [
        session("old", "main", 100.0, "token refresh"),
        session("best", "main", 3.0, "token refresh"),
        session("held", "main", 0.1, "token refresh"),
    ];
    let all = all.map(|one| {
        let hold = if one.id.as_str() == "held" { Occupancy::Person } else { Occupancy::Free };
        Candidate { hold, ..one }
    });
    check(&task("main"), "token refresh", &all, Action::Resume, Some("best"));
    let at_threshold = |threshold| {
        let judged = by_words("token refresh", &all);
        choose(&task("main"), &Seed { threshold, ..SEED }, &all, &judged).action
    };
    assert_eq!(at_threshold(0.97), Action::Fresh);
    // The threshold itself is enough: 0.25 + 0.16 + 0.25 + 0.15 + 0.15.
    assert_eq!(at_threshold(0.96), Action::Resume);
}
