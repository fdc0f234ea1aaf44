//! `eval selection`: moments at which people began a task, chosen for as `pick --as-of` chooses.

use std::path::{Path, PathBuf};

use catalog::PastCatalog;
use jiff::{SignedDuration, SignedDurationRound, Timestamp, Unit};
use measure::{
    ChoiceMetrics, Estimate, LabelledTask, TaskAction, TaskChoice, estimate, newest, newest_of_branch, tally,
};
use model::Keywords;
use schemars::JsonSchema;
use selection::calibrated::{self, Calibration, TrackRecord};
use selection::chance::{ChanceModel, Habit, HabitCounter, LatestMessages};
use selection::seed::{self, Seed};
use selection::{
    Action, Asker, Bars, Budget, Candidate, Considered, Decision, Judge, Judgement, Relevance, Rule, Task,
};
use serde::{Deserialize, Serialize};

use crate::choose::{candidates, pick, relevance};
use crate::config::settings::RuleName;
use crate::search::index;
use crate::sessions::ledger;
use crate::{Context, Error, Kind};

/// Of so many moments the past is held at once.
const AT_ONCE: usize = 25;
/// How many of the sessions that were considered are shown of each moment.
const SHOWN: usize = 10;

/// Labelled decisions, and the rule to repeat them by.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "EvalSelectionRequest")]
pub struct Request {
    /// The file of labelled decisions, one `{"id", "at", "task", "cwd", "branch", "action", "session"}` per line; `at` in
    /// seconds since 1970.
    pub decisions: PathBuf,
    /// With the weights `seed`: who says how much a session has to do with a task.
    #[serde(default)]
    pub judge: EvalJudge,
    /// The scoring rule: the chance that the user continues a session (`calibrated`), or OpenClaw's five factors (`seed`); by default
    /// the one in the settings.
    pub weights: Option<RuleName>,
}

/// Who says how much a session has to do with a task; no model is ever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "EvalJudge")]
pub enum EvalJudge {
    /// Common words, as `pick` has them where there is no model.
    #[default]
    Words,
    /// The index, asked for what was there at the moment.
    Index,
}

/// How good the choices are.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "EvalSelectionAnswer")]
pub struct Answer {
    /// The rule: `calibrated` or `seed`.
    pub weights: &'static str,
    /// A score from here on was enough.
    pub threshold: f64,
    /// By the seed's weights: who said how much a session had to do with a task.
    pub judge: Option<Judge>,
    /// `pick`, then the simple rules it has to beat.
    pub rules: Vec<RuleTally>,
    /// `pick` where it decides without asking the user; `null` where it asks at every moment.
    pub alone: Option<Alone>,
    /// `pick` at the moments that are marked as quiet; `null` where none is.
    pub quiet: Option<ChoiceMetrics>,
    /// `pick` at those of them at which it decides without asking the user.
    pub quiet_alone: Option<Alone>,
    /// `pick` at those of them that are marked as seen.
    pub seen: Option<ChoiceMetrics>,
    /// What was chosen at each moment, earliest first.
    pub decisions: Vec<Chosen>,
}

/// A way to choose, and how good it is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleTally {
    /// The rule's name.
    pub name: &'static str,
    /// The rule's figures over all decisions.
    #[serde(flatten)]
    pub tally: ChoiceMetrics,
}

/// How good `pick` is where it decides without asking.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Alone {
    /// The share of the moments at which it does.
    pub share: Estimate,
    /// Its figures at these.
    #[serde(flatten)]
    pub tally: ChoiceMetrics,
}

/// What was chosen at one moment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Chosen {
    /// The moment, with what the person did.
    #[serde(flatten)]
    pub moment: LabelledTask,
    /// What `pick` would have done.
    pub chosen: TaskAction,
    /// Whether it would rather have asked.
    pub ask: bool,
    /// The best of the sessions it looked at.
    pub scores: Vec<Considered>,
    /// How many it looked at.
    pub candidates: usize,
}

/// Chooses at every moment from what there was then, and counts how often that was right.
///
/// No model is asked and no decision is kept.
pub fn selection(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("measuring the choice")?;
    measured(context, decision_points(context, request)?, request.judge, request.weights)?.ok_or_else(|| {
        Error::new(Kind::Usage, format!("{} contains no decisions", request.decisions.display()))
    })
}

/// The figures of some moments; `None` of none.
pub(super) fn measured(
    context: &Context,
    then: Vec<DecisionPoint>,
    by: EvalJudge,
    weights: Option<RuleName>,
) -> Result<Option<Answer>, Error> {
    let rule = rule(context, weights)?;
    let moments: Vec<LabelledTask> = then.iter().map(|point| point.moment.clone()).collect();
    let decisions: Vec<Decision> = then.iter().map(|point| point.choose(&rule)).collect();
    let picked: Vec<TaskChoice> = decisions.iter().map(choice).collect();
    let Some(rules) = rules(&then, &moments, &picked) else { return Ok(None) };
    let marked = |is: &dyn Fn(&LabelledTask) -> bool| {
        let all = moments.iter().zip(&picked).zip(&decisions);
        Marked::new(
            all.filter(|((moment, _), _)| is(moment))
                .map(|((moment, choice), one)| (moment, choice, one.ask)),
        )
    };
    let is_quiet = |moment: &LabelledTask| moment.quiet == Some(true);
    let (all, quiet) = (marked(&|_| true), marked(&is_quiet));
    let seen = marked(&|moment| is_quiet(moment) && moment.seen == Some(true)).tally();
    let judge = match rule {
        Rule::Calibrated(_) => None,
        Rule::Seed { .. } if by == EvalJudge::Words => Some(Judge::Keyword),
        Rule::Seed { .. } => Some(Judge::Index),
    };
    let decisions =
        then.into_iter().zip(decisions).map(|(point, decision)| chosen(context, point, decision)).collect();
    let (weights, threshold) = (rule.name(), rule.threshold());
    let (alone, quiet_alone, quiet) = (all.alone(), quiet.alone(), quiet.tally());
    Ok(Some(Answer { weights, threshold, judge, rules, alone, quiet, quiet_alone, seen, decisions }))
}

/// Some of the moments, with what was chosen.
#[derive(Default)]
struct Marked {
    moments: Vec<LabelledTask>,
    picked: Vec<TaskChoice>,
    asks: Vec<bool>,
}

impl Marked {
    fn new<'a>(all: impl Iterator<Item = (&'a LabelledTask, &'a TaskChoice, bool)>) -> Self {
        let mut marked = Self::default();
        for (moment, choice, asks) in all {
            marked.moments.push(moment.clone());
            marked.picked.push(choice.clone());
            marked.asks.push(asks);
        }
        marked
    }

    fn tally(&self) -> Option<ChoiceMetrics> {
        tally(&self.moments, &self.picked)
    }

    fn alone(&self) -> Option<Alone> {
        let decided: Vec<f64> = self.asks.iter().map(|asks| f64::from(u8::from(!asks))).collect();
        let all = self.moments.iter().zip(&self.picked).zip(&self.asks);
        let alone =
            Self::new(all.filter(|(_, asks)| !**asks).map(|((moment, choice), _)| (moment, choice, false)));
        Some(Alone { share: estimate(&decided)?, tally: alone.tally()? })
    }
}

/// The rule by which `pick` chooses for the person.
pub(super) fn rule(context: &Context, weights: Option<RuleName>) -> Result<Rule, Error> {
    let openclaw = pick::openclaw_config(context);
    Ok(context.config().settings.selection_for(None, &openclaw.selection)?.rule(weights))
}

/// `pick`, then the rules it has to beat; `None` of no moments.
fn rules(
    decision_points: &[DecisionPoint],
    moments: &[LabelledTask],
    picked: &[TaskChoice],
) -> Option<Vec<RuleTally>> {
    let rule = |name, choices: &[TaskChoice]| tally(moments, choices).map(|tally| RuleTally { name, tally });
    let always = |choice: &dyn Fn(&DecisionPoint) -> TaskChoice| {
        decision_points.iter().map(choice).collect::<Vec<_>>()
    };
    [
        rule("pick", picked),
        rule("always fresh", &always(&|_| TaskChoice { action: TaskAction::Fresh, ranked: Vec::new() })),
        rule("newest", &always(&|point| newest(&point.sessions))),
        rule(
            "newest of the same branch",
            &always(&|point| newest_of_branch(&point.sessions, point.moment.branch.as_deref())),
        ),
    ]
    .into_iter()
    .collect()
}

/// The labelled moments of a file, earliest first, each with what there was to choose from.
pub fn decision_points(context: &Context, request: &Request) -> Result<Vec<DecisionPoint>, Error> {
    if request.judge == EvalJudge::Index {
        index::sync(context)?;
    }
    decision_points_of(context, super::labels(context, &request.decisions)?, request.judge)
}

/// The same of moments that stand in no file.
pub(super) fn decision_points_of(
    context: &Context,
    mut moments: Vec<LabelledTask>,
    by: EvalJudge,
) -> Result<Vec<DecisionPoint>, Error> {
    moments.sort_by(|one, other| one.at.total_cmp(&other.at));
    let mut decision_points: Vec<DecisionPoint> = Vec::with_capacity(moments.len());
    for some in moments.chunks(AT_ONCE) {
        let times = some.iter().map(time).collect::<Result<Vec<Timestamp>, Error>>()?;
        let keep_going = || !context.cancellation.is_cancelled();
        let past = catalog::catalogs_at(&context.config().places(), &times, keep_going);
        context.check_cancelled()?;
        for ((moment, now), past) in some.iter().zip(times).zip(past) {
            decision_points.push(DecisionPoint::look(context, moment, now, past, by)?);
        }
    }
    Ok(decision_points)
}

/// The moment of a decision, to the millisecond as records have it: a binary fraction differs from the one that was
/// written, and what lay after it would hold the task's own first record.
fn time(moment: &LabelledTask) -> Result<Timestamp, Error> {
    let since = SignedDuration::try_from_secs_f64(moment.at)
        .and_then(|since| since.round(SignedDurationRound::new().smallest(Unit::Millisecond)));
    since.and_then(|since| Timestamp::UNIX_EPOCH.checked_add(since)).map_err(|error| {
        Error::caused(Kind::Usage, format!("decision {} has no valid time", moment.id), &error)
    })
}

/// A moment, and what there was to choose from.
#[derive(Debug, Clone)]
pub struct DecisionPoint {
    /// The moment, with what the person did.
    pub moment: LabelledTask,
    /// The time of the decision.
    pub now: Timestamp,
    /// The root of the repository.
    pub root: PathBuf,
    /// What could be resumed.
    pub candidates: Vec<Candidate>,
    /// What each of these had to do with the task.
    pub judged: Judgement,
    /// All sessions of the repository, newest first, each with its branch.
    pub sessions: Vec<(String, Option<String>)>,
    /// How often the person had gone on with a session.
    pub habit: Habit,
    /// The candidates by rank.
    pub ranked: Vec<usize>,
    /// What was said last in the one that ranks first.
    pub said: Vec<LatestMessages>,
}

impl DecisionPoint {
    fn look(
        context: &Context,
        moment: &LabelledTask,
        now: Timestamp,
        mut past: PastCatalog,
        by: EvalJudge,
    ) -> Result<Self, Error> {
        ledger::enter(context, &mut past.entries);
        let root = catalog::repository(&context.config().places(), Path::new(&moment.cwd));
        let here = past.entries.iter().map(|entry| &entry.session);
        let own: Vec<_> =
            here.filter(|session| session.is_of_repository(&root) && Asker::Person.owns(session)).collect();
        let candidates: Vec<Candidate> =
            own.iter().map(|session| Candidate::from_session(session, Budget::None)).collect();
        let judged = match by {
            EvalJudge::Words => {
                let words = Keywords::from_text(&moment.task);
                let about = |one: &Candidate| Keywords::from_text(one.about.as_deref().unwrap_or_default());
                let relevance = |one: &Candidate| Relevance::by_words(&words, &about(one));
                Judgement::by_words(candidates.iter().map(relevance).collect())
            }
            EvalJudge::Index => relevance::by_index(context, &moment.task, &candidates, now)?,
        };
        // Of two files that held the same then, the older one is the session.
        let label = moment.session.as_deref();
        let original = label.and_then(|id| past.copies.get(id)).map(ToString::to_string);
        let mut moment = moment.clone();
        moment.session = original.or(moment.session);
        let branch = |session: &model::Session| session.branch.as_deref().map(ToOwned::to_owned);
        let sessions = own.iter().map(|session| (session.id.to_string(), branch(session))).collect();
        let mut beginnings = HabitCounter::default();
        for one in &own {
            beginnings.add(&one.beginnings, one.forked_from.is_some());
        }
        let ranked = calibrated::rank(&candidates, &task(&moment, now));
        let first = ranked.first().and_then(|place| own[*place].file.as_deref());
        let said = first
            .map(|file| candidates::latest_messages(Some(&moment.task), Some(file), Some(now)))
            .into_iter()
            .collect();
        let habit = beginnings.habit(now);
        Ok(Self { moment, now, root, candidates, judged, sessions, habit, ranked, said })
    }

    /// What a rule chooses.
    pub fn choose(&self, rule: &Rule) -> Decision {
        let task = task(&self.moment, self.now);
        match *rule {
            Rule::Seed { weights, threshold } => {
                seed::choose(&task, &Seed { weights, threshold }, &self.candidates, &self.judged)
            }
            Rule::Calibrated(bars) => self.choose_by(ChanceModel::FITTED, bars),
        }
    }

    /// What the calibrated rule chooses by these coefficients.
    pub fn choose_by(&self, model: ChanceModel, bars: Bars) -> Decision {
        let task = task(&self.moment, self.now);
        let relevance = |place: usize| self.judged.relevance[place].clone();
        let (habit, said) = (self.habit, self.said.clone());
        let known = Calibration { habit, record: TrackRecord::default(), said, bars, model };
        calibrated::decide(&task, &self.candidates, relevance, &self.ranked, &known)
    }
}

/// The task of a moment.
fn task(moment: &LabelledTask, now: Timestamp) -> Task<'_> {
    Task { text: &moment.task, branch: moment.branch.as_deref(), label: None, taken_by: None, now }
}

/// A decision as it is compared with what the person did.
pub fn choice(decision: &Decision) -> TaskChoice {
    let action = if decision.action == Action::Resume { TaskAction::Resume } else { TaskAction::Fresh };
    TaskChoice { action, ranked: decision.considered.iter().map(|one| one.session_id.to_string()).collect() }
}

fn chosen(context: &Context, point: DecisionPoint, decision: Decision) -> Chosen {
    let redacted = |text: String| context.secrets.redacted(text.into());
    let beginning = |text: String| context.secrets.redacted_beginning(text);
    let DecisionPoint { moment, .. } = point;
    let moment = LabelledTask {
        task: redacted(moment.task),
        cwd: redacted(moment.cwd),
        branch: moment.branch.map(beginning),
        ..moment
    };
    let (chosen, ask, candidates) = (choice(&decision).action, decision.ask, decision.considered.len());
    let shown = decision.considered.into_iter().take(SHOWN);
    let scores = shown.map(|one| Considered {
        title: one.title.map(beginning),
        branch: one.branch.map(beginning),
        ..one
    });
    Chosen { moment, chosen, ask, candidates, scores: scores.collect() }
}
