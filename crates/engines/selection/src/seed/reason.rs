//! Reasons in words, and what would change an answer.

use super::{Scored, Seed};
use crate::{Candidate, Ceiling, Considered, Factors, Relevance, ResumeObstacle, Weights};

/// A factor below this is mentioned: half of what it can be.
const LOW: f64 = 0.08;

/// One session's score in words.
pub(super) fn words(one: &Scored, candidate: &Candidate) -> String {
    let Scored { factors, relevance, ceiling, obstacle } = one;
    let mut parts: Vec<String> = Vec::new();
    let mut say = |is_so: bool, text: &str| parts.extend(is_so.then(|| text.to_owned()));
    say(*obstacle == Some(ResumeObstacle::Held), "open in another process");
    say(*obstacle == Some(ResumeObstacle::Gone), "its transcript is gone");
    if let Some(ceiling) = ceiling {
        say(true, &forbidden(*ceiling, relevance));
        return parts.join(", ");
    }
    say(factors.branch_match > 0.0, "same branch");
    say(factors.branch_match <= 0.0, "another branch");
    say(factors.recency >= 0.16, "recent");
    say(factors.recency <= 0.0, "stale (over a week)");
    say(factors.task_relevance >= 0.15, &format!("related: {}", relevance.reason));
    say(factors.task_relevance < 0.0, &format!("unrelated: {}", relevance.reason));
    say(factors.session_health < LOW, "large or old");
    say(factors.context_capacity < LOW, "little room in its context");
    say(candidate.compactions > 0, &crate::ceilings::times(candidate.compactions));
    if let Some(used) = candidate.budget_used_pct.filter(|used| *used > 30.0) {
        say(true, &format!("{used:.0}% of the budget used"));
    }
    parts.join(", ")
}

fn forbidden(ceiling: Ceiling, relevance: &Relevance) -> String {
    match ceiling {
        Ceiling::Unrelated(lines) => format!("unrelated ({}) and {lines} lines long", relevance.reason),
        hard => hard.words(),
    }
}

/// The decision in one line, by the best session.
pub(super) fn decided(best: &Considered, resumes: bool) -> String {
    let action = if resumes { "Resume" } else { "Start fresh" };
    format!("{action} (score: {:.2}) — {}", best.score.unwrap_or_default(), best.reason)
}

/// The changes that would lead to another decision; `considered` is not empty and begins with `candidate`.
pub(super) fn changes(
    seed: &Seed,
    candidate: &Candidate,
    considered: &[Considered],
    resumes: bool,
) -> Vec<String> {
    let Some(best) = considered.first() else { return Vec::new() };
    match (best.ceiling, best.obstacle) {
        (_, Some(ResumeObstacle::Held)) => {
            vec![format!("closing session {} in the other process", candidate.id.short())]
        }
        (_, Some(ResumeObstacle::Gone)) => {
            vec![format!("putting back the transcript of session {}", candidate.id.short())]
        }
        (Some(ceiling), None) => vec![ceiling.remedy().to_owned()],
        (None, None) if resumes => against(seed, best, considered.get(1)),
        (None, None) => in_favour(seed, candidate, best),
    }
}

/// The single changes that would start a fresh session instead.
fn against(seed: &Seed, best: &Considered, second: Option<&Considered>) -> Vec<String> {
    let without = |factors: Factors| factors.score();
    let now = best.factors;
    let cases = [
        ("another branch", without(Factors { branch_match: 0.0, ..now })),
        ("a week without use", without(Factors { recency: 0.0, ..now })),
        ("a task about something else", without(Factors { task_relevance: seed.weights.unrelated, ..now })),
    ];
    let falls = cases.iter().filter(|(_, score)| *score < seed.threshold);
    let mut lines: Vec<String> = falls
        .map(|(what, score)| format!("{what} ({score:.2}, under {:.2}): fresh", seed.threshold))
        .collect();
    lines
        .push(format!("`selection.resume_threshold` set above {:.2}: fresh", best.score.unwrap_or_default()));
    if let Some(second) = second.filter(|second| second.is_eligible() && second.score >= Some(seed.threshold))
    {
        let score = second.score.unwrap_or_default();
        lines
            .push(format!("without that session ({score:.2}): resume session {}", second.session_id.short()));
    }
    lines
}

/// The single changes that would let a session be resumed.
fn in_favour(seed: &Seed, candidate: &Candidate, best: &Considered) -> Vec<String> {
    let (now, weights) = (best.factors, &seed.weights);
    let newest = weights.recency.first().map_or(0.0, |(_, worth)| *worth);
    let branch = candidate.branch.as_deref().filter(|_| now.branch_match <= 0.0);
    let mut cases = vec![
        (
            format!("a task about the same subject (relevance from {})", Weights::RELATED),
            Factors { task_relevance: weights.related, ..now }.score(),
        ),
        ("use within the last hour".to_owned(), Factors { recency: newest, ..now }.score()),
    ];
    if let Some(branch) = branch {
        let score = Factors { branch_match: weights.branch, ..now }.score();
        cases.push((format!("checking out the branch {branch}"), score));
    }
    let id = best.session_id.short();
    let rises = cases.into_iter().filter(|(_, score)| *score >= seed.threshold);
    let mut lines: Vec<String> =
        rises.map(|(what, score)| format!("{what} ({score:.2}): resume session {id}")).collect();
    if let Some(score) = best.score.filter(|score| *score > 0.0) {
        lines.push(format!(
            "`selection.resume_threshold` set to {:.2}: resume session {id}",
            (score * 100.0).floor() / 100.0
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Task;
    use crate::candidate::tests::{at, candidate};
    use crate::seed::choose;
    use crate::{Action, Judge, Judgement, Occupancy, keyword_relevance};

    const SEED: Seed = Seed { weights: Weights::SEED, threshold: 0.6 };

    fn task(branch: Option<&'static str>) -> Task<'static> {
        Task { text: "", branch, label: None, taken_by: None, now: at(600) }
    }

    fn judged(text: &str, candidates: &[Candidate]) -> Judgement {
        let relevance = candidates.iter().map(|one| keyword_relevance(text, one.about.as_deref())).collect();
        Judgement { relevance, judge: Judge::Keyword, fallback: None }
    }

    #[test]
    fn a_reason_says_why_and_what_would_change_it() {
        let check = |branch, text: &str, reason: &str, changes: &[&str]| {
            let candidates = [candidate("aaaa")];
            let found = choose(&task(branch), &SEED, &candidates, &judged(text, &candidates));
            assert_eq!(found.reason, reason);
            assert_eq!(found.changes, changes, "{reason}");
        };
        check(
            Some("main"),
            "refresh token",
            "Resume (score: 1.00) — same branch, recent, related: keyword overlap: 2/3 words",
            &["`selection.resume_threshold` set above 1.00: fresh"],
        );
        check(
            Some("other"),
            "refresh token",
            "Resume (score: 0.75) — another branch, recent, related: keyword overlap: 2/3 words",
            &[
                "a week without use (0.55, under 0.60): fresh",
                "a task about something else (0.35, under 0.60): fresh",
                "`selection.resume_threshold` set above 0.75: fresh",
            ],
        );
        check(
            Some("other"),
            "paint walls",
            "Start fresh (score: 0.35) — another branch, recent, unrelated: keyword overlap: 0/5 words",
            &[
                "a task about the same subject (relevance from 0.6) (0.75): resume session aaaa",
                "checking out the branch main (0.60): resume session aaaa",
                "`selection.resume_threshold` set to 0.35: resume session aaaa",
            ],
        );
    }

    #[test]
    fn ceilings_and_obstacles_are_named() {
        let check = |candidate: Candidate, reason: &str, change: &str| {
            let candidates = [candidate];
            let found =
                choose(&task(Some("main")), &SEED, &candidates, &judged("refresh token", &candidates));
            assert_eq!((found.action, found.reason.as_str()), (Action::Fresh, reason));
            assert_eq!(found.changes, [change]);
        };
        let one = || candidate("aaaa");
        check(
            Candidate { compactions: 3, ..one() },
            "Start fresh (score: 0.00) — compacted 3 times: too little of its context is left",
            "a session that was compacted fewer than 3 times",
        );
        check(
            Candidate { budget_used_pct: Some(71.0), ..one() },
            "Start fresh (score: 0.00) — 71% of its budget is used",
            "a larger budget (--budget)",
        );
        check(
            Candidate { about: Some("paint walls".into()), lines: 201, ..one() },
            "Start fresh (score: 0.00) — unrelated (keyword overlap: 0/4 words) and 201 lines long",
            "a task that has to do with one of these sessions",
        );
        check(
            Candidate { hold: Occupancy::Person, ..one() },
            "Start fresh (score: 1.00) — open in another process, same branch, recent, \
             related: keyword overlap: 2/3 words",
            "closing session aaaa in the other process",
        );
        check(
            Candidate { has_transcript: false, ..one() },
            "Start fresh (score: 1.00) — its transcript is gone, same branch, recent, \
             related: keyword overlap: 2/3 words",
            "putting back the transcript of session aaaa",
        );
    }

    #[test]
    fn minor_factors_are_named() {
        let worn = Candidate {
            compactions: 2,
            budget_used_pct: Some(55.0),
            lines: 900,
            bytes: 9_000_000,
            last_active: Some(at(-3 * 86_400)),
            ..candidate("aaaa")
        };
        let candidates = [worn];
        let found = choose(&task(Some("main")), &SEED, &candidates, &judged("refresh token", &candidates));
        assert_eq!(
            found.reason,
            "Resume (score: 0.60) — same branch, related: keyword overlap: 2/3 words, large or old, \
             little room in its context, compacted 2 times, 55% of the budget used"
        );
    }
}
