//! Explains a decision: the facts for and against, and what would change it.

use super::{Calibration, Verdict};
use crate::chance::{BranchRelation, Chance, Opening, Overlap, QuietPeriod, ResumeFact, ResumeFacts};
use crate::{Candidate, Ceiling, Considered, ResumeEstimate, ResumeObstacle, Task, ago};

/// A fact that moves the logarithm of the odds by less is not mentioned.
const MIN_EFFECT: f64 = 0.15;

/// Nobody resumes sessions that they continue more rarely.
const LEAST_SETTING: f64 = 0.1;

/// A decision in words.
pub(super) struct Explained {
    pub(super) reason: String,
    pub(super) changes: Vec<String>,
}

/// Why, and what would change it. `considered` is not empty, and its first one is of `first`.
pub(super) fn explain(
    verdict: &Verdict,
    ask: bool,
    considered: &[Considered],
    first: &Candidate,
    quiet: QuietPeriod,
    known: &Calibration,
) -> Explained {
    let best = considered.first();
    let estimate = best.and_then(|best| best.estimate.as_ref());
    let id = first.id.short();
    let all = best.map_or("", |best| best.reason.as_str());
    let reason = match verdict {
        Verdict::Likely | Verdict::Unlikely if ask => {
            format!("Ask ({} of going on with {id}): {all}", chance_words(estimate))
        }
        Verdict::Likely => format!("Resume ({}): {all}", chance_words(estimate)),
        Verdict::Unlikely => {
            let needed = percent(known.bars.resume_from);
            format!("Start fresh ({} for {id}, {needed} needed): {all}", chance_words(estimate))
        }
        Verdict::Forbidden(ceiling) => format!("Start fresh: {id} was {}", ceiling_words(*ceiling)),
        Verdict::Kept(ResumeObstacle::Held) => {
            format!("Start fresh: the best match, {id}, is open in another process; you could fork it")
        }
        Verdict::Kept(ResumeObstacle::Gone) => format!("Start fresh: the transcript of {id} is gone"),
        Verdict::NotQuiet => {
            "Start fresh: a session here was used less than five minutes ago, too recently for an estimate"
                .to_owned()
        }
        Verdict::Unrelated => {
            format!(
                "Start fresh: the task sounds like something new, and is not about what session {id} was about"
            )
        }
        Verdict::BadRecord => format!(
            "Start fresh: for your last {} tasks a new session would have been right {} times, this rule {} times",
            known.record.decisions, known.record.fresh, known.record.right
        ),
    };
    let changes = match (verdict, estimate) {
        (Verdict::Likely | Verdict::Unlikely, Some(estimate)) => {
            reversing_changes(verdict, estimate, first, quiet, known, considered)
        }
        (Verdict::Forbidden(ceiling), _) => vec![ceiling.remedy().to_owned()],
        (Verdict::Kept(ResumeObstacle::Held), _) => {
            vec![format!("closing session {id} in the other process")]
        }
        (Verdict::Kept(ResumeObstacle::Gone), _) => {
            vec![format!("putting back the transcript of session {id}")]
        }
        (Verdict::NotQuiet, _) => vec![
            "five minutes without a message".to_owned(),
            format!("a task that names session {id}: resume it"),
        ],
        (Verdict::Unrelated, _) => vec![format!("a task that refers to what was said last in session {id}")],
        (Verdict::BadRecord, Some(estimate)) => {
            vec![format!(
                "the rule being right more often ({}): resume session {id}",
                percent(estimate.chance.value)
            )]
        }
        _ => Vec::new(),
    };
    Explained { reason, changes }
}

fn ceiling_words(ceiling: Ceiling) -> String {
    match ceiling {
        Ceiling::Budget(_) => format!("used: {}", ceiling.words()),
        _ => ceiling.words(),
    }
}

fn chance_words(estimate: Option<&ResumeEstimate>) -> String {
    estimate
        .map_or_else(|| "chance unknown".to_owned(), |one| format!("{} chance", percent(one.chance.value)))
}

fn percent(chance: f64) -> String {
    format!("{:.0}%", chance * 100.0)
}

/// Describes one session: the facts in favour of resuming it, then those against.
pub(super) fn session(
    candidate: &Candidate,
    estimate: Option<&ResumeEstimate>,
    ceiling: Option<Ceiling>,
    obstacle: Option<ResumeObstacle>,
    task: &Task<'_>,
) -> String {
    let mut parts: Vec<String> = Vec::new();
    match obstacle {
        Some(ResumeObstacle::Held) => parts.push("open in another process".to_owned()),
        Some(ResumeObstacle::Gone) => parts.push("its transcript is gone".to_owned()),
        None => {}
    }
    parts.extend(ceiling.map(Ceiling::words));
    let Some(ResumeEstimate { chance, facts }) = estimate else {
        parts.push(branch_words(candidate, task));
        parts.extend(candidate.silent_hours(task.now).map(|hours| format!("used {} ago", ago(hours))));
        return parts.join(", ");
    };
    let (speaks_for, against) = split_effects(chance, facts, candidate);
    if !speaks_for.is_empty() {
        parts.push(format!("in favour: {}", speaks_for.join(", ")));
    }
    if !against.is_empty() {
        parts.push(format!("against: {}", against.join(", ")));
    }
    parts.join("; ")
}

fn branch_words(candidate: &Candidate, task: &Task<'_>) -> String {
    match (crate::chance::branch_relation(candidate, task.branch), &candidate.branch) {
        (BranchRelation::Same, _) => "on this branch".to_owned(),
        (BranchRelation::Elsewhere, _) if candidate.is_in_other_tree => "in another work tree".to_owned(),
        (_, Some(branch)) => format!("on branch {branch}"),
        (_, None) => "on no branch".to_owned(),
    }
}

/// The facts in favour of resuming and those against, strongest first.
fn split_effects(chance: &Chance, facts: &ResumeFacts, candidate: &Candidate) -> (Vec<String>, Vec<String>) {
    let mut effects: Vec<_> =
        chance.effects.iter().filter(|one| one.effect.abs() >= MIN_EFFECT).copied().collect();
    effects.sort_by(|one, other| other.effect.abs().total_cmp(&one.effect.abs()));
    let (mut speaks_for, mut against) = (Vec::new(), Vec::new());
    for one in effects {
        let Some(words) = words(one.fact, facts, candidate, one.effect > 0.0) else { continue };
        if one.effect > 0.0 { speaks_for.push(words) } else { against.push(words) }
    }
    (speaks_for, against)
}

/// Describes a fact; `None` if its absence need not be mentioned.
fn words(fact: ResumeFact, facts: &ResumeFacts, candidate: &Candidate, is_for: bool) -> Option<String> {
    Some(match fact {
        ResumeFact::Age => format!("used {} ago", ago(facts.hours)),
        ResumeFact::Elsewhere => match (facts.whereabouts, &candidate.branch) {
            (BranchRelation::Same, _) => "on this branch".to_owned(),
            (BranchRelation::Elsewhere, _) if candidate.is_in_other_tree => "in another work tree".to_owned(),
            (BranchRelation::Elsewhere, Some(branch)) => {
                format!("it was on another branch ({branch})")
            }
            (BranchRelation::Elsewhere, None) => "it was on another branch".to_owned(),
            (BranchRelation::Unknown, _) => return None,
        },
        ResumeFact::Exit if facts.was_exited => "you left it with /exit".to_owned(),
        ResumeFact::Exit => return None,
        ResumeFact::Opening => match facts.opening {
            Opening::Continuation => "the task sounds like a continuation".to_owned(),
            Opening::Request => "the task sounds like something new".to_owned(),
            Opening::Neither => return None,
        },
        ResumeFact::Habit if facts.habit.of == 0 => return None,
        ResumeFact::Habit => {
            format!(
                "you continued a session for {} of your last {} tasks here",
                facts.habit.resumed, facts.habit.of
            )
        }
        ResumeFact::InPrompts => common(facts.in_prompts, "its last prompts", is_for)?,
        ResumeFact::InAnswer => common(facts.in_answer, "its last answer", is_for)?,
    })
}

fn common(overlap: Overlap, place: &str, is_for: bool) -> Option<String> {
    match overlap {
        Overlap { of: 0, .. } => None,
        Overlap { common: 0, .. } => Some(format!("no word of the task is in {place}")),
        Overlap { common: 1, of: 1 } => Some(format!("the task's only word is in {place}")),
        Overlap { common, of } => {
            let only = if is_for { "" } else { "only " };
            let are = if common == 1 { "is" } else { "are" };
            Some(format!("{only}{common} of the task's {of} words {are} in {place}"))
        }
    }
}

/// The single changes that would reverse the decision.
fn reversing_changes(
    verdict: &Verdict,
    estimate: &ResumeEstimate,
    first: &Candidate,
    quiet: QuietPeriod,
    known: &Calibration,
    considered: &[Considered],
) -> Vec<String> {
    let resumes = *verdict == Verdict::Likely;
    let (coefficients, facts) = (known.model.coefficients(quiet), estimate.facts);
    let otherwise = |facts: ResumeFacts| coefficients.chance(&facts).value;
    let turns = |chance: f64| (chance >= known.bars.resume_from) != resumes;
    let result = if resumes { "fresh".to_owned() } else { format!("resume session {}", first.id.short()) };
    let mut lines = Vec::new();
    let mut case = |what: String, facts: ResumeFacts| {
        let chance = otherwise(facts);
        lines.extend(turns(chance).then(|| format!("{what} ({}): {result}", percent(chance))));
    };
    if resumes {
        case("another branch".to_owned(), ResumeFacts { whereabouts: BranchRelation::Elsewhere, ..facts });
        case("leaving it with /exit".to_owned(), ResumeFacts { was_exited: true, ..facts });
        let none = Overlap { common: 0, ..facts.in_prompts };
        let request = ResumeFacts { opening: Opening::Request, in_prompts: none, in_answer: none, ..facts };
        case("a request about something else".to_owned(), request);
    } else {
        if let (BranchRelation::Elsewhere, Some(branch)) = (facts.whereabouts, &first.branch) {
            let same = ResumeFacts { whereabouts: BranchRelation::Same, ..facts };
            case(format!("checking out the branch {branch}"), same);
        }
        if facts.was_exited {
            case("not leaving it with /exit".to_owned(), ResumeFacts { was_exited: false, ..facts });
        }
        if facts.opening != Opening::Continuation {
            let continued = ResumeFacts { opening: Opening::Continuation, ..facts };
            case("a task that sounds like a continuation (\"and …\")".to_owned(), continued);
        }
        let half = |of: usize| Overlap { common: of.div_ceil(2), of };
        let about = ResumeFacts {
            in_prompts: half(facts.in_prompts.of),
            in_answer: half(facts.in_answer.of),
            ..facts
        };
        case("a task with half of its words in the last messages there".to_owned(), about);
    }
    let hours = coefficients.hours_at(&facts, known.bars.resume_from);
    match resumes {
        true if hours > facts.hours && hours < 24.0 * 365.0 => {
            lines.push(format!("{} without use: fresh", ago(hours)));
        }
        false if hours < facts.hours && hours * 60.0 >= 5.0 => {
            lines.push(format!("use within the last {}: {result}", ago(hours)));
        }
        _ => {}
    }
    let chance = estimate.chance.value;
    if resumes {
        lines.push(format!("`selection.resume_chance` set above {chance:.2}: fresh"));
    } else if chance >= LEAST_SETTING || lines.is_empty() {
        // Rounded down: the chance itself has to be enough.
        let enough = (chance * 100.0).floor() / 100.0;
        lines.push(format!("`selection.resume_chance` set to {enough:.2}: {result}"));
    }
    if let Some(second) =
        considered.get(1).filter(|second| resumes && second.score >= Some(known.bars.resume_from))
    {
        let chance = percent(second.score.unwrap_or_default());
        lines.push(format!("without that session ({chance}): resume session {}", second.session_id.short()));
    }
    lines
}
