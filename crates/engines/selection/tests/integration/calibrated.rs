//! The calibrated rule: what it does with a task, and why.

use selection::calibrated::{Calibration, TrackRecord, decide, rank};
use selection::chance::{ChanceModel, Coefficients, Habit, LatestMessages, ResumeFacts, TaskText};
use selection::{Action, Bars, Candidate, Decision, Occupancy, Relevance, RelevanceReason, Task};

use crate::by_hand::{at, session};

fn task(text: &str) -> Task<'_> {
    Task { text, branch: Some("main"), label: None, taken_by: None, now: at(0.0) }
}

fn known(said: &str) -> Calibration {
    Calibration {
        habit: Habit { resumed: 10, of: 20 },
        record: TrackRecord::default(),
        said: vec![LatestMessages { prompts: vec![said.to_owned()], ..LatestMessages::default() }],
        bars: Bars::DEFAULT,
        model: ChanceModel::FITTED,
    }
}

fn decided(task: &Task<'_>, candidates: &[Candidate], known: &Calibration) -> Decision {
    let nothing = |_| Relevance { score: 0.0, reason: RelevanceReason::Said(String::new()) };
    decide(task, candidates, nothing, &rank(candidates, task), known)
}

#[track_caller]
fn check(task: &Task<'_>, candidates: &[Candidate], known: &Calibration, action: Action, why: &str) {
    let found = decided(task, candidates, known);
    assert_eq!(found.action, action, "{}", found.reason);
    assert!(found.reason.contains(why), "{}", found.reason);
    assert!(!found.changes.is_empty(), "nothing would change: {}", found.reason);
    assert_eq!(found.session.is_some(), action == Action::Resume);
}

#[test]
fn a_follow_up_resumes_its_session() {
    let all = [session("a", "main", 2.0, "fix the token refresh")];
    check(
        &task("option 3"),
        &all,
        &known("fix the token refresh"),
        Action::Resume,
        "sounds like a continuation",
    );
    check(&task("and the tests, too"), &all, &known("fix it"), Action::Resume, "used 2 hours ago");
}

#[test]
fn an_unrelated_request_never_resumes_a_session() {
    let all = [session("a", "main", 1.0, "fix the token refresh")];
    let always = Calibration { habit: Habit { resumed: 20, of: 20 }, ..known("fix the token refresh") };
    check(
        &task("write a haiku about the sea"),
        &all,
        &always,
        Action::Fresh,
        "is not about what session a was about",
    );
    check(
        &task("write a test of the token refresh"),
        &all,
        &always,
        Action::Resume,
        "words are in its last prompts",
    );
    let near = LatestMessages { nearness: Some(0.9), ..LatestMessages::default() };
    check(
        &task("write a haiku"),
        &all,
        &Calibration { said: vec![near], ..always.clone() },
        Action::Resume,
        "",
    );
    check(&task("explain how this works"), &all, &always, Action::Resume, "");
}

#[test]
fn an_old_session_on_another_branch_is_not_resumed() {
    let all = [session("a", "feature/x", 300.0, "fix the token refresh")];
    let found = decided(&task("fix the login"), &all, &known("fix the token refresh"));
    assert_eq!(found.action, Action::Fresh);
    assert!(found.reason.contains("it was on another branch (feature/x)"), "{}", found.reason);
    assert!(found.reason.contains("used 12 days ago"), "{}", found.reason);
}

#[test]
fn the_branch_comes_before_the_age() {
    let all = [
        session("newest", "other", 1.0, ""),
        session("here", "main", 30.0, ""),
        session("older", "main", 40.0, ""),
        Candidate { has_transcript: false, ..session("gone", "main", 0.5, "") },
    ];
    let order =
        |task: &Task<'_>| -> Vec<&str> { rank(&all, task).iter().map(|at| all[*at].id.as_str()).collect() };
    assert_eq!(order(&task("go on")), ["here", "older", "newest", "gone"]);
    assert_eq!(order(&Task { branch: None, ..task("go on") }), ["newest", "here", "older", "gone"]);
    assert_eq!(order(&Task { branch: Some("HEAD"), ..task("go on") })[0], "newest");
    let in_other_tree = Candidate { is_in_other_tree: true, ..session("there", "main", 0.1, "") };
    let both = [in_other_tree, session("here", "main", 9.0, "")];
    assert_eq!(rank(&both, &task("go on")), [1, 0]);
}

#[test]
fn a_named_session_is_resumed() {
    let named = session("3601d36f-b6c0-4e4b-9000-7b07e25374f7", "other", 900.0, "");
    let all = [session("newest", "main", 0.01, ""), named];
    let found = decided(&task("review what 3601d36f did"), &all, &known(""));
    assert_eq!(
        found.session.as_ref().map(model::SessionId::as_str),
        Some("3601d36f-b6c0-4e4b-9000-7b07e25374f7")
    );
}

#[test]
fn ceilings_and_obstacles_hold() {
    let one = || session("a", "main", 2.0, "fix the token refresh");
    let go_on = task("and now the tests of the token refresh");
    let check = |candidate, why| check(&go_on, &[candidate], &known("token refresh"), Action::Fresh, why);
    check(Candidate { compactions: 3, ..one() }, "compacted 3 times");
    check(Candidate { budget_used_pct: Some(70.0), ..one() }, "70% of its budget");
    check(Candidate { hold: Occupancy::Person, ..one() }, "open in another process");
    check(Candidate { has_transcript: false, ..one() }, "transcript of a is gone");
}

#[test]
fn without_facts_a_fresh_session_is_started() {
    let next = task("the login page");
    let all = [session("a", "main", 0.03, "fix the token refresh")];
    check(&next, &all, &known("token refresh"), Action::Fresh, "less than five minutes ago");
    assert_eq!(decided(&next, &all, &known("token refresh")).chance, None);
    // A plain follow-up resumes, where nobody else is at work.
    let go_on = task("and now the tests of the token refresh");
    check(&go_on, &all, &known("token refresh"), Action::Resume, "used a minute ago");
    let busy = [session("a", "main", 5.0, ""), session("b", "other", 0.03, "")];
    check(&go_on, &busy, &known("token refresh"), Action::Fresh, "less than five minutes ago");
    let worker = [Candidate { is_idle_worker: true, ..session("a", "main", 0.03, "fix the token refresh") }];
    check(&next, &worker, &known("token refresh"), Action::Resume, "");
}

#[test]
fn a_bad_track_record_overrides_the_rule_and_is_named() {
    let all = [session("a", "main", 2.0, "fix the token refresh")];
    let bad =
        Calibration { record: TrackRecord { decisions: 20, right: 4, fresh: 16 }, ..known("token refresh") };
    let go_on = task("and now the tests of the token refresh");
    check(
        &go_on,
        &all,
        &bad,
        Action::Fresh,
        "a new session would have been right 16 times, this rule 4 times",
    );
    assert_eq!(decided(&go_on, &all, &bad).overridden, Some(Action::Resume));
}

#[test]
fn the_reported_turning_age_reverses_the_decision() {
    let candidate = session("a", "main", 2.0, "");
    let text = TaskText::new("and the tests");
    let facts = |hours| {
        let one = Candidate { last_active: Some(at(hours)), ..candidate.clone() };
        ResumeFacts::new(
            &one,
            Some("main"),
            &text,
            &LatestMessages::default(),
            Habit { resumed: 3, of: 9 },
            at(0.0),
        )
    };
    let coefficients: &Coefficients = &ChanceModel::FITTED.long;
    let hours = coefficients.hours_at(&facts(2.0), 0.55);
    assert!(coefficients.chance(&facts(hours * 0.99)).value > 0.55);
    assert!(coefficients.chance(&facts(hours * 1.01)).value < 0.55);
}

#[test]
fn a_reason_reads_like_a_sentence() {
    let all = [session("3601d36f", "main", 2.0, "fix the token refresh"), session("b", "other", 9.0, "")];
    let found = decided(&task("now test the token refresh"), &all, &known("fix the token refresh"));
    assert_eq!(
        found.reason,
        "Resume (87% chance): in favour: the task sounds like a continuation, \
         2 of the task's 4 words are in its last prompts, used 2 hours ago, \
         you continued a session for 10 of your last 20 tasks here, on this branch; \
         against: no word of the task is in its last answer"
    );
}

#[test]
fn the_person_is_asked_where_nothing_but_an_open_chance_decides() {
    let all = [session("aaaaaaaa", "main", 2.0, "fix the token refresh")];
    let known = known("fix the token refresh");
    let asks = |task: &Task<'_>, all: &[Candidate], bars: Bars| {
        decided(task, all, &Calibration { bars, ..known.clone() }).ask
    };
    let open = task("try the token refresh on a slow line");
    let chance = decided(&open, &all, &known).chance.unwrap();
    let around = Bars { ask_from: chance - 0.01, ask_below: chance + 0.01, ..Bars::DEFAULT };
    assert!(asks(&open, &all, around), "at {chance}");
    assert!(!asks(&open, &all, Bars { ask_below: chance, ..around }), "the end is not asked at");
    assert!(!asks(&open, &all, Bars { ask_from: chance + 0.001, ..around }));
    // What is decided by something else is not asked.
    let always = Bars { ask_from: 0.0, ask_below: 1.1, ..Bars::DEFAULT };
    assert!(asks(&open, &all, always));
    assert!(!asks(&task("go on with aaaaaaaa"), &all, always), "it is named");
    assert!(!asks(&Task { label: Some("docs"), ..open.clone() }, &all, always), "it is called");
    assert!(!asks(&task("write a haiku about the sea"), &all, always), "it is about something else");
    let held = Candidate { hold: Occupancy::Person, ..all[0].clone() };
    assert!(!asks(&open, &[held], always), "it is open elsewhere");
    let just_now = session("aaaaaaaa", "main", 0.01, "fix the token refresh");
    let other = session("bbbbbbbb", "main", 0.02, "draw a map");
    assert!(
        asks(&open, &[just_now, other], Bars { ask_from: 1.0, ask_below: 1.0, ..always }),
        "nobody knows"
    );
}
