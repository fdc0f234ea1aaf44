//! Looks for weights of the choice that do better than the usual ones, and says what they are worth on decisions they
//! were not chosen on (docs/selection-quality.md).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use app::eval::selection::{By, Field, Request, choice, fields};
use app::{App, Config, Secrets};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use measure::{Act, Choice, Estimate, Moment, Tally, estimate, newest, newest_of_branch, tally};
use selection::{Candidate, Ceiling, Hold, Relevance, Weights, factors};

use crate::Failure;

/// A score from here on is enough: what people have who set nothing.
const THRESHOLD: f64 = 0.6;
/// What the four parts of a set share, in steps.
const STEPS: u32 = 20;
/// What may be taken away where a session has nothing to do with the task.
const UNRELATED: [f64; 3] = [0.0, -0.15, -0.30];
/// Into how many pieces time is cut.
const PIECES: usize = 5;

/// What to choose weights on.
#[derive(Debug, clap::Args)]
pub struct Order {
    /// A Claude config folder with `decisions.jsonl` in it.
    #[arg(long, value_name = "ROOT")]
    pub root: PathBuf,
    /// Who says how much a session has to do with a task.
    #[arg(long, value_parser = ["words", "index"], default_value = "words")]
    pub judge: String,
}

/// What came of one way to hold decisions back.
#[derive(Debug)]
pub struct Outcome {
    /// The weights that were chosen without each fold.
    pub chosen: Vec<Weights>,
    /// What they chose for the decisions that were held back, all folds together.
    pub tally: Tally,
    /// The name of the best simple rule, and how often it was right on the same decisions.
    pub baseline: (&'static str, Tally),
    /// How much more often the weights were right than that rule, paired.
    pub difference: Estimate,
}

impl Outcome {
    /// Whether the whole interval lies above what the best simple rule reaches.
    pub fn clears(&self) -> bool {
        self.tally.accuracy.low > self.baseline.1.accuracy.mean
    }
}

/// Chooses and measures; answers what is to be printed.
pub fn calibrate(order: &Order) -> Result<String, Failure> {
    let state = tempfile::tempdir()?;
    let mut config = Config::of_process()?;
    config.claude_folders = vec![order.root.clone()];
    (config.claude_projects, config.openclaw_folders) = (Vec::new(), Vec::new());
    state.path().clone_into(&mut config.state);
    #[expect(clippy::disallowed_methods, reason = "the clock is read here, once")]
    let now = Timestamp::now();
    let app = App { config, now, zone: || TimeZone::UTC, secrets: Secrets::Redacted };
    let by = if order.judge == "index" { By::Index } else { By::Words };
    let fields = fields(&app, &Request { decisions: order.root.join("decisions.jsonl"), by })?;
    let sets = sets();
    let right = right(&fields, &sets);
    let mut text = format!("{} decisions, {} sets of weights\n", fields.len(), sets.len());
    for (name, folds) in [("project", by_project(&fields)), ("time", by_time(fields.len()))] {
        let outcome = held_back(&fields, &folds, &sets, &right).ok_or("there are no decisions")?;
        report(&mut text, name, &folds, &outcome)?;
    }
    let all: Vec<usize> = (0..fields.len()).collect();
    let best = sets[best(&sets, &right, &all)];
    let hits = all.iter().filter(|at| right_of(&fields[**at], &best)).count();
    writeln!(text, "\nchosen on all, seen on all: {hits} of {}: {}", all.len(), parts(&best))?;
    Ok(text)
}

/// Every set of weights that is tried: branch, recency, relevance, and health with capacity share one, within each
/// part as the usual set has it.
pub fn sets() -> Vec<Weights> {
    let mut sets = Vec::new();
    for branch in 0..=STEPS {
        for recency in 0..=STEPS - branch {
            for relevance in 0..=STEPS - branch - recency {
                let rest = STEPS - branch - recency - relevance;
                let shares =
                    [branch, recency, relevance, rest].map(|share| f64::from(share) / f64::from(STEPS));
                sets.extend(UNRELATED.map(|unrelated| set(shares, unrelated)));
            }
        }
    }
    sets
}

fn set([branch, recency, relevance, rest]: [f64; 4], unrelated: f64) -> Weights {
    let seed = Weights::SEED;
    let newest = seed.recency[0].1;
    let of_rest = rest / (seed.health + seed.capacity);
    Weights {
        name: "calibrated",
        branch,
        recency: seed.recency.map(|(under, worth)| (under, worth / newest * recency)),
        related: relevance,
        tangential: seed.tangential / seed.related * relevance,
        unrelated,
        health: seed.health * of_rest,
        unhealthy: seed.unhealthy.map(|takes| takes * of_rest),
        capacity: seed.capacity * of_rest,
        crowded: seed.crowded.map(|takes| takes * of_rest),
    }
}

/// For each set, at which decisions it does what the person did.
pub fn right(fields: &[Field], sets: &[Weights]) -> Vec<Vec<bool>> {
    sets.iter().map(|set| fields.iter().map(|field| right_of(field, set)).collect()).collect()
}

/// As [`selection::choose`] decides, without the words it says of every session.
fn right_of(field: &Field, weights: &Weights) -> bool {
    let branch = field.moment.branch.as_deref();
    let is_enough = |(one, how): (&Candidate, &Relevance)| {
        let forbidden = Ceiling::hard(one).is_some() || Ceiling::soft(one, how.score).is_some();
        let can = !forbidden && one.hold == Hold::Free && one.has_transcript;
        can && factors(one, branch, how.score, field.now, weights).score() >= THRESHOLD
    };
    let resumes = field.candidates.iter().zip(&field.judged.relevance).any(is_enough);
    resumes == (field.moment.act == Act::Resume)
}

/// The set that is right most often at some decisions; of equal ones the nearest to the usual set.
fn best(sets: &[Weights], right: &[Vec<bool>], at: &[usize]) -> usize {
    let score = |set: usize| at.iter().filter(|one| right[set][**one]).count();
    let far = |set: usize| distance(&sets[set], &Weights::SEED);
    let better = |one: &usize, other: &usize| {
        score(*one).cmp(&score(*other)).then(far(*other).total_cmp(&far(*one))).then(other.cmp(one))
    };
    (0..sets.len()).max_by(better).unwrap_or_default()
}

fn distance(one: &Weights, other: &Weights) -> f64 {
    let parts = |of: &Weights| [of.branch, of.recency[0].1, of.related, of.unrelated, of.health];
    parts(one).iter().zip(parts(other)).map(|(one, other)| (one - other).abs()).sum()
}

/// Chooses a set without each fold and asks it about the fold; `None` of no decisions.
pub fn held_back(
    fields: &[Field],
    folds: &[usize],
    sets: &[Weights],
    right: &[Vec<bool>],
) -> Option<Outcome> {
    let mut chosen = Vec::new();
    let mut choices: Vec<Option<Choice>> = vec![None; fields.len()];
    for fold in folds.iter().copied().collect::<BTreeSet<usize>>() {
        let (held, others): (Vec<usize>, Vec<usize>) =
            (0..fields.len()).partition(|at| folds.get(*at) == Some(&fold));
        let weights = sets[best(sets, right, &others)];
        for at in held {
            choices[at] = Some(choice(&fields[at].choose(weights, THRESHOLD)));
        }
        chosen.push(weights);
    }
    let choices: Vec<Choice> = choices.into_iter().collect::<Option<_>>()?;
    let moments: Vec<Moment> = fields.iter().map(|field| field.moment.clone()).collect();
    let tally_of = |choices: &[Choice]| tally(&moments, choices);
    let (name, simple) = simple_rules(fields).into_iter().max_by(|(_, one), (_, other)| {
        let accuracy = |choices: &[Choice]| tally_of(choices).map_or(0.0, |tally| tally.accuracy.mean);
        accuracy(one).total_cmp(&accuracy(other))
    })?;
    let is_right = |moment: &Moment, choice: &Choice| f64::from(u8::from(moment.act == choice.act));
    let differences: Vec<f64> = moments
        .iter()
        .zip(&choices)
        .zip(&simple)
        .map(|((moment, ours), theirs)| is_right(moment, ours) - is_right(moment, theirs))
        .collect();
    Some(Outcome {
        chosen,
        tally: tally_of(&choices)?,
        baseline: (name, tally_of(&simple)?),
        difference: estimate(&differences)?,
    })
}

fn simple_rules(fields: &[Field]) -> [(&'static str, Vec<Choice>); 3] {
    let rule = |choice: &dyn Fn(&Field) -> Choice| fields.iter().map(choice).collect();
    [
        (
            "newest of the same branch",
            rule(&|field| newest_of_branch(&field.sessions, field.moment.branch.as_deref())),
        ),
        ("newest", rule(&|field| newest(&field.sessions))),
        ("always fresh", rule(&|_| Choice { act: Act::Fresh, ranked: Vec::new() })),
    ]
}

/// A fold for each repository.
pub fn by_project(fields: &[Field]) -> Vec<usize> {
    let roots: BTreeSet<&PathBuf> = fields.iter().map(|field| &field.root).collect();
    let fold = |field: &Field| roots.iter().position(|root| **root == field.root).unwrap_or_default();
    fields.iter().map(fold).collect()
}

/// Folds of about one size, each of decisions that follow one another.
pub fn by_time(decisions: usize) -> Vec<usize> {
    (0..decisions).map(|at| at * PIECES / decisions.max(1)).collect()
}

fn report(text: &mut String, name: &str, folds: &[usize], outcome: &Outcome) -> Result<(), Failure> {
    writeln!(text, "\nheld back by {name}")?;
    for (fold, weights) in outcome.chosen.iter().enumerate() {
        let held = folds.iter().filter(|one| **one == fold).count();
        writeln!(text, "  without fold {fold} ({held} decisions): {}", parts(weights))?;
    }
    let row = |text: &mut String, name: &str, tally: &Tally| {
        let exact = percent(&tally.exact);
        writeln!(text, "  {name:<26} accuracy {}   right session, too {exact}", percent(&tally.accuracy))
    };
    row(text, "calibrated", &outcome.tally)?;
    row(text, outcome.baseline.0, &outcome.baseline.1)?;
    writeln!(text, "  difference {}", percent(&outcome.difference))?;
    let verdict = if outcome.clears() { "clears" } else { "does not clear" };
    writeln!(text, "  the interval {verdict} the best simple rule")?;
    Ok(())
}

fn parts(of: &Weights) -> String {
    format!(
        "branch {:.2}, recency {:.2}, relevance {:.2} ({:+.2}), health {:.3}, capacity {:.3}",
        of.branch, of.recency[0].1, of.related, of.unrelated, of.health, of.capacity
    )
}

fn percent(of: &Estimate) -> String {
    format!("{:.1} % [{:.1}, {:.1}]", of.mean * 100.0, of.low * 100.0, of.high * 100.0)
}
