//! The quality of a rule on decisions that it was not fitted on: an owner or a person is held back, the rule is
//! fitted on all others, and then chooses for those.

use std::collections::BTreeSet;
use std::fmt;

use app::eval::selection::choice;
use measure::{ChoiceMetrics, Estimate, LabelledTask, TaskAction, TaskChoice, estimate, tally};
use selection::chance::{BranchRelation, ChanceModel, branch_relation};
use selection::{Bars, Decision, Rule, Weights};

use super::{Case, model};
use crate::Failure;

/// The decisions that are held back together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// All decisions in the repositories of an owner.
    Owner,
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
    alone: Option<Alone>,
    short_alone: Option<Alone>,
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
        Group::Owner => moment.group.as_deref().map(owner),
        Group::Person => moment.person.clone(),
    };
    named.unwrap_or_else(|| case.point.root.display().to_string())
}

/// The owner in `owner+repository`.
fn owner(repository: &str) -> String {
    repository.split(['+', '/']).next().unwrap_or(repository).to_owned()
}

/// What the fitted rule decides without asking.
#[derive(Debug)]
struct Alone {
    share: Estimate,
    tally: ChoiceMetrics,
}

/// Holds each group back in turn.
pub fn held_back(long: &[Case], short: &[Case], group: Group) -> Result<Held, Failure> {
    let names: BTreeSet<String> = long.iter().chain(short).map(|case| by(group, case)).collect();
    let (mut of_long, mut of_short) = (Choices::default(), Choices::default());
    for name in names {
        let split = |cases: &[Case]| -> (Vec<Case>, Vec<Case>) {
            cases.iter().cloned().partition(|case| by(group, case) == name)
        };
        let ((held, others), (held_short, others_short)) = (split(long), split(short));
        let fitted = model(&others, &others_short);
        of_long.add(&held, &others, fitted);
        of_short.add(&held_short, &others_short, fitted);
    }
    Ok(Held {
        group,
        alone: of_long.alone(),
        short_alone: of_short.alone(),
        differences: of_long.differences(),
        calibration: of_long.calibration(),
        long: of_long.tallies().ok_or("there are no decisions")?,
        short: of_short.tallies().unwrap_or_default(),
    })
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
    asks: Vec<bool>,
    chosen: [Vec<TaskChoice>; RULES.len()],
}

impl Choices {
    fn add(&mut self, held: &[Case], others: &[Case], fitted: ChanceModel) {
        let newest = best_hours(others, false);
        let of_branch = best_hours(others, true);
        for case in held {
            let decision = case.point.choose_by(fitted, Bars::DEFAULT);
            self.asks.push(decision.ask);
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

    fn alone(&self) -> Option<Alone> {
        let decided: Vec<f64> = self.asks.iter().map(|asks| f64::from(u8::from(!asks))).collect();
        let places = || (0..self.asks.len()).filter(|at| !self.asks[*at]);
        let moments: Vec<LabelledTask> = places().map(|at| self.moments[at].clone()).collect();
        let chosen: Vec<TaskChoice> = places().map(|at| self.chosen[0][at].clone()).collect();
        Some(Alone { share: estimate(&decided)?, tally: tally(&moments, &chosen)? })
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
    let rule = Rule::Calibrated(Bars::DEFAULT);
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
            Group::Owner => "owner",
            Group::Person => "person",
        };
        for (name, rules, alone) in
            [("after half an hour", &self.long, &self.alone), ("after less", &self.short, &self.short_alone)]
        {
            let count = rules.first().map_or(0, |(_, tally)| tally.decisions);
            writeln!(to, "\nheld back by {what}, {name}: {count} decisions")?;
            rules.iter().try_for_each(|(rule, tally)| row(to, rule, tally))?;
            if let Some(Alone { share, tally }) = alone {
                row(to, &format!("fitted, without asking in {}", tally.decisions), tally)?;
                writeln!(to, "  decided without asking: {}", percent(share))?;
            }
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
