//! The quality of a rule on decisions that it was not fitted on: a repository or a person is held back, the rule is
//! fitted on all others, and then chooses for those.

use std::collections::BTreeSet;
use std::fmt;

use app::eval::selection::choice;
use measure::{ChoiceMetrics, Estimate, LabelledTask, TaskAction, TaskChoice, estimate, tally};
use selection::chance::{BranchRelation, ChanceModel, branch_relation};
use selection::{Decision, Rule, Weights};

use super::{Case, model};
use crate::Failure;

/// The decisions that are held back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// All decisions in a repository.
    Repository,
    /// All decisions of a person.
    Person,
}

/// For how many hours a session counts as new, in the simple rules.
const HOURS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 12.0, 24.0, 48.0, 72.0, 168.0];

/// How rules did on what was held back.
#[derive(Debug)]
pub struct Held {
    group: Group,
    long: Vec<(&'static str, ChoiceMetrics)>,
    seen: Vec<(&'static str, ChoiceMetrics)>,
    short: Vec<(&'static str, ChoiceMetrics)>,
    differences: Vec<(&'static str, Estimate)>,
    calibration: Vec<(f64, f64, usize)>,
}

impl Held {
    /// How the rules did after half an hour, by name: the fitted one first.
    pub fn long(&self) -> &[(&'static str, ChoiceMetrics)] {
        &self.long
    }
}

/// The name of what a case is held back with.
pub fn by(group: Group, case: &Case) -> String {
    let moment = &case.point.moment;
    let named = match group {
        Group::Repository => moment.group.clone(),
        Group::Person => moment.person.clone(),
    };
    named.unwrap_or_else(|| case.point.root.display().to_string())
}

/// Holds each group back in turn.
pub fn held_back(long: &[Case], short: &[Case], group: Group, threshold: f64) -> Result<Held, Failure> {
    let names: BTreeSet<String> = long.iter().chain(short).map(|case| by(group, case)).collect();
    let (mut of_long, mut of_short) = (Choices::default(), Choices::default());
    for name in names {
        let split = |cases: &[Case]| -> (Vec<Case>, Vec<Case>) {
            cases.iter().cloned().partition(|case| by(group, case) == name)
        };
        let ((held, others), (held_short, others_short)) = (split(long), split(short));
        let fitted = model(&others, &others_short);
        of_long.add(&held, &others, fitted, threshold);
        of_short.add(&held_short, &others_short, fitted, threshold);
    }
    Ok(Held {
        group,
        seen: of_long
            .only(|moment| moment.seen == Some(true))
            .tallies()
            .ok_or("no decision is marked as seen")?,
        differences: of_long.differences(),
        calibration: of_long.calibration(),
        long: of_long.tallies().ok_or("there are no decisions")?,
        short: of_short.tallies().unwrap_or_default(),
    })
}

/// How rules that were fitted on others do on these, as a table.
pub fn evaluate(
    judged: &[Case],
    others: &[Case],
    fitted: ChanceModel,
    threshold: f64,
) -> Result<String, Failure> {
    let mut choices = Choices::default();
    choices.add(judged, others, fitted, threshold);
    let tallies = choices.tallies().ok_or("there are no decisions to judge on")?;
    let mut text = format!("\njudged on others: {} decisions\n", judged.len());
    tallies.iter().try_for_each(|(rule, tally)| row(&mut text, rule, tally))?;
    Ok(text)
}

fn row(to: &mut impl fmt::Write, rule: &str, tally: &ChoiceMetrics) -> fmt::Result {
    let percent = |figure: Option<Estimate>| figure.map_or_else(String::new, |of| percent(&of));
    writeln!(
        to,
        "  {rule:<30} right {:<20} false resumes {:<20} right first {}",
        percent(Some(tally.accuracy)),
        percent(tally.false_resumes),
        percent(tally.right_first)
    )
}

/// The rules, by name: the fitted one first.
const RULES: [&str; 5] =
    ["fitted", "seed", "always fresh", "newest within T", "newest of the branch within T"];

/// The choice of each rule.
#[derive(Debug, Default, Clone)]
struct Choices {
    moments: Vec<LabelledTask>,
    chances: Vec<f64>,
    chosen: [Vec<TaskChoice>; RULES.len()],
}

impl Choices {
    fn add(&mut self, held: &[Case], others: &[Case], fitted: ChanceModel, threshold: f64) {
        let newest = best_hours(others, false);
        let of_branch = best_hours(others, true);
        for case in held {
            let decision = case.point.choose_by(fitted, threshold);
            self.chances.push(decision.considered.first().and_then(|one| one.score).unwrap_or_default());
            let seed = Rule::Seed { weights: Weights::SEED, threshold: 0.6 };
            let chosen = [
                choice(&decision),
                choice(&case.point.choose(&seed)),
                TaskChoice { action: TaskAction::Fresh, ranked: Vec::new() },
                within(&decision, case, newest, false),
                within(&decision, case, of_branch, true),
            ];
            self.chosen.iter_mut().zip(chosen).for_each(|(all, one)| all.push(one));
            self.moments.push(case.point.moment.clone());
        }
    }

    fn only(&self, is: impl Fn(&LabelledTask) -> bool) -> Self {
        let places: Vec<usize> = (0..self.moments.len()).filter(|at| is(&self.moments[*at])).collect();
        Self {
            moments: places.iter().map(|at| self.moments[*at].clone()).collect(),
            chances: places.iter().map(|at| self.chances[*at]).collect(),
            chosen: self.chosen.clone().map(|all| places.iter().map(|at| all[*at].clone()).collect()),
        }
    }

    fn tallies(&self) -> Option<Vec<(&'static str, ChoiceMetrics)>> {
        RULES
            .into_iter()
            .zip(&self.chosen)
            .map(|(name, all)| Some((name, tally(&self.moments, all)?)))
            .collect()
    }

    /// How much more often the fitted rule is right than each other one, paired.
    fn differences(&self) -> Vec<(&'static str, Estimate)> {
        let right = |rule: usize, at: usize| {
            f64::from(u8::from(self.chosen[rule][at].action == self.moments[at].action))
        };
        let difference = |rule: usize| {
            let all: Vec<f64> = (0..self.moments.len()).map(|at| right(0, at) - right(rule, at)).collect();
            estimate(&all)
        };
        (1..RULES.len()).filter_map(|rule| Some((RULES[rule], difference(rule)?))).collect()
    }

    /// For each fifth of the chances: the predicted and the actual share, and how many.
    fn calibration(&self) -> Vec<(f64, f64, usize)> {
        let fifth = |low: f64| {
            let inside: Vec<usize> = (0..self.chances.len())
                .filter(|at| self.chances[*at] >= low && self.chances[*at] < low + 0.2)
                .collect();
            let mean = |of: &dyn Fn(usize) -> f64| {
                inside.iter().map(|at| of(*at)).sum::<f64>() / inside.len() as f64
            };
            let did = |at: usize| f64::from(u8::from(self.moments[at].action == TaskAction::Resume));
            (!inside.is_empty()).then(|| (mean(&|at| self.chances[at]), mean(&did), inside.len()))
        };
        [0.0, 0.2, 0.4, 0.6, 0.8].into_iter().filter_map(fifth).collect()
    }
}

/// Goes on with the session that ranks first where it is young enough, and on the branch where that is asked.
fn within(decision: &Decision, case: &Case, hours: f64, on_branch: bool) -> TaskChoice {
    let first = case.point.ranked.first().map(|place| &case.point.candidates[*place]);
    let is_young = first.and_then(|one| one.silent_hours(case.point.now)).is_some_and(|age| age < hours);
    let is_there = !on_branch
        || first.is_some_and(|one| {
            branch_relation(one, case.point.moment.branch.as_deref()) != BranchRelation::Elsewhere
        });
    let action = if is_young && is_there { TaskAction::Resume } else { TaskAction::Fresh };
    TaskChoice { action, ranked: choice(decision).ranked }
}

/// The number of hours that does best on these.
fn best_hours(cases: &[Case], on_branch: bool) -> f64 {
    let rule = Rule::Calibrated { threshold: 0.5 };
    let decisions: Vec<(&Case, Decision)> =
        cases.iter().map(|case| (case, case.point.choose(&rule))).collect();
    let right = |hours: f64| {
        let is_right = |(case, decision): &&(&Case, Decision)| {
            within(decision, case, hours, on_branch).action == case.point.moment.action
        };
        decisions.iter().filter(is_right).count()
    };
    HOURS.into_iter().max_by_key(|hours| right(*hours)).unwrap_or(HOURS[0])
}

impl fmt::Display for Held {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.group {
            Group::Repository => "repository",
            Group::Person => "person",
        };
        for (name, rules) in
            [("after half an hour", &self.long), ("of them seen", &self.seen), ("after less", &self.short)]
        {
            let count = rules.first().map_or(0, |(_, tally)| tally.decisions);
            writeln!(to, "\nheld back by {what}, {name}: {count} decisions")?;
            rules.iter().try_for_each(|(rule, tally)| row(to, rule, tally))?;
        }
        writeln!(to, "  fitted, beside each, after half an hour:")?;
        for (rule, difference) in &self.differences {
            writeln!(to, "    {rule:<28} {}", percent(difference))?;
        }
        let calibration = self.calibration.iter();
        let calibration: Vec<String> = calibration
            .map(|(said, did, count)| format!("{:.0}% said, {:.0}% did ({count})", said * 100.0, did * 100.0))
            .collect();
        writeln!(to, "  calibration: {}", calibration.join("; "))
    }
}

fn percent(of: &Estimate) -> String {
    format!("{:.1} [{:.1}, {:.1}]", of.mean * 100.0, of.low * 100.0, of.high * 100.0)
}
