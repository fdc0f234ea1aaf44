//! `pick`: which session a task should go to, and why.

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::Timestamp;
use model::{AgentId, SessionId};
use selection::calibrated::{self, Known, Record};
use selection::chance::Model;
use selection::seed::{self, Seed};
use selection::{Action, Budget, Decision, Factors, Judge, Judged, Rule, Task};
use serde::Serialize;
use transcript::{both, let_go};

use crate::choose::candidates::Field;
use crate::choose::decisions::Advice;
pub use crate::choose::pack::Pack;
pub use crate::choose::resume_cost::Outlay;
use crate::choose::{decisions, labels, relevance};
use crate::choose::{pack, resume_cost};
use crate::config::settings::{RuleName, Selection};
use crate::{Context, Error, Kind};
pub use selection::Considered;

/// How many of the sessions that were considered an answer shows; the best 200 are kept.
const SHOWN: usize = 10;

/// A task, and who wants it done where.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What is to be done.
    pub task: String,
    /// A path or a project's name; the directory the person stands in without it.
    pub repo: Option<String>,
    /// The name of the session it must go to.
    pub label: Option<String>,
    /// The OpenClaw agent that asks; the person without one.
    pub agent: Option<AgentId>,
    /// What a session may cost, in US dollars.
    pub budget: Option<f64>,
    /// The branch, where it is not the one that is checked out.
    pub branch: Option<String>,
    /// By which rule, where it is not the setting's.
    pub weights: Option<RuleName>,
    /// The moment of the past to choose at, from what there was then.
    pub as_of: Option<Timestamp>,
    /// Whether what is chosen is done at once: then Backstory's own workers are waited for, and what the person does next
    /// says nothing of the choice.
    pub is_carried_out: bool,
}

/// What to do with the task, and why.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// `resume`, `fresh` or `queue`.
    pub action: Action,
    /// Why, in one line.
    pub reason: String,
    /// The session to resume, or the one to wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// That session's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The chance that the person goes on with the session that ranks first, between 0 and 1; `null` where it was not
    /// estimated.
    pub chance: Option<f64>,
    /// The five factors of that session; `null` where none was considered.
    pub factors: Option<Factors>,
    /// Its score: the chance, or by the seed's weights the sum of the factors.
    pub score: Option<f64>,
    /// A score from here on is enough.
    pub threshold: f64,
    /// The rule: `calibrated` or `seed`.
    pub weights: &'static str,
    /// What the rule advised, where the person's own record overrode it.
    pub overridden: Option<Action>,
    /// How often the rule was right for whoever asks, as far as it was seen.
    pub record: Option<Record>,
    /// What would change the answer.
    pub would_change: Vec<String>,
    /// Who judged relevance, by the seed's weights; `null` where nobody had to.
    pub judge: Option<Judge>,
    /// Why a model did not judge that was to.
    pub judge_fell_back: Option<String>,
    /// What going on with the session takes at first.
    pub before_resume: Option<Outlay>,
    /// What a fresh session is told of earlier ones, where some have to do with the task.
    pub pack: Option<Pack>,
    /// The pack that a fresh session would be given, where it is left open whether it is begun.
    #[serde(skip)]
    pub(crate) pack_if_fresh: Option<Pack>,
    /// The best of the sessions that were considered.
    pub scores: Vec<Considered>,
    /// How many were considered.
    pub candidates: usize,
    /// The task.
    pub task: String,
    /// The repository.
    #[serde(serialize_with = "model::path")]
    pub repo_path: PathBuf,
    /// The branch.
    pub branch: Option<String>,
    /// The agent that asked.
    pub agent_id: Option<AgentId>,
    /// The moment of the past.
    pub as_of: Option<Timestamp>,
    /// The number it is kept under.
    pub decision: Option<i64>,
    /// Why it could not be kept, where it could not.
    pub not_kept: Option<String>,
    /// What could not be learned.
    pub notes: Vec<String>,
}

/// Between these chances a person is asked, and where nobody can be asked a session is begun fresh.
const UNCERTAIN: std::ops::Range<f64> = 0.35..0.65;

impl Answer {
    /// Whether the rule leaves it open, so that a person is asked: the chance is neither high nor low, or not known.
    pub fn is_uncertain(&self) -> bool {
        let is_open = self.chance.is_none_or(|chance| UNCERTAIN.contains(&chance));
        let was_estimated = self.first().is_some_and(|first| first.estimate.is_some());
        is_open && was_estimated && self.action != Action::Queue
    }

    /// The session that ranks first, which could be resumed or forked.
    pub fn first(&self) -> Option<&Considered> {
        self.scores.first().filter(|first| first.is_eligible())
    }

    /// What the calibrated rule advised by itself; `None` where it was not asked.
    pub(crate) fn advice(&self) -> Option<Advice> {
        let first = self.scores.first().filter(|first| first.estimate.is_some())?;
        let action = self.overridden.unwrap_or(self.action);
        Some(Advice { action, candidate: Some(first.session_id.clone()) })
    }

    /// The same; a fresh session where it is left open and nobody can be asked.
    #[must_use]
    pub(crate) fn settled_by_nobody(self) -> Self {
        if self.is_uncertain() && self.action == Action::Resume {
            self.fresh("that leaves it open, and nobody can be asked")
        } else {
            self
        }
    }

    /// The same, but a fresh session, for the reason given.
    #[must_use]
    pub fn fresh(self, why: &str) -> Self {
        let reason = format!("{}; {why}", self.reason);
        let pack = self.pack.or(self.pack_if_fresh);
        Self {
            action: Action::Fresh,
            session_id: None,
            title: None,
            before_resume: None,
            pack,
            pack_if_fresh: None,
            reason,
            ..self
        }
    }
}

/// Chooses.
pub fn pick(context: &Context, request: &Request) -> Result<Answer, Error> {
    if request.task.trim().is_empty() && request.label.is_none() {
        return Err(Error::new(Kind::Usage, "the task is empty: say what is to be done"));
    }
    let openclaw = openclaw_config(context);
    let settings = context.config().settings.selection_for(request.agent.as_ref(), &openclaw.selection)?;
    let rule = settings.rule(request.weights);
    let asks_model = matches!(rule, Rule::Seed { .. }) && relevance::asks_model(context, &settings);
    let look = || Field::look(context, request, budget(request, openclaw.max_budget_usd), asks_model);
    let (field, mut book) = both(look, || decisions::Book::open(context));
    let mut field = field?;
    if let Some(label) = &request.label {
        labels::name(context, request.agent.as_ref(), &field.meant, label, &mut field.own)?;
    }
    let record = match &mut book {
        Ok(book) if request.as_of.is_none() => book.record(&field).unwrap_or_default(),
        _ => Record::default(),
    };
    let asked = Asked { context, request, settings: &settings, rule, record };
    let (decision, judged) = asked.decide(&field);
    let mut answer = asked.answer(&field, &decision, judged);
    if answer.action == Action::Fresh {
        answer.pack = pack::of(context, request, &field, &decision);
    } else if answer.is_uncertain() {
        answer.pack_if_fresh = pack::of(context, request, &field, &decision);
    }
    let advice = (!request.is_carried_out && request.as_of.is_none()).then(|| answer.advice()).flatten();
    match book.and_then(|book| book.keep(&answer, &decision.considered, advice.as_ref())) {
        Ok(id) => answer.decision = Some(id),
        Err(error) => answer.not_kept = Some(error.message),
    }
    let_go((field, decision));
    Ok(answer)
}

/// OpenClaw's configuration in the first of its folders that has one.
pub(crate) fn openclaw_config(context: &Context) -> openclaw::Config {
    let named = context.config().openclaw_configuration.iter().map(|file| openclaw::Config::read(file));
    let folders = context.config().openclaw_folders.iter();
    named
        .chain(folders.map(|folder| openclaw::Config::find(folder)))
        .find(|config| config.file.is_some())
        .unwrap_or_default()
}

fn budget(request: &Request, of_agents: Option<f64>) -> Budget {
    let of_agent = of_agents.filter(|_| request.agent.is_some());
    request.budget.or(of_agent).filter(|budget| *budget > 0.0).map_or(Budget::None, Budget::Dollars)
}

/// A question, with the rule by which it is answered.
struct Asked<'a> {
    context: &'a Context,
    request: &'a Request,
    settings: &'a Selection,
    rule: Rule,
    record: Record,
}

impl Asked<'_> {
    fn decide(&self, field: &Field) -> (Decision, Option<Judged>) {
        let task = Task {
            text: &self.request.task,
            branch: field.branch.as_deref(),
            label: self.request.label.as_deref(),
            taken_by: field.taken_by.clone(),
            now: self.now(),
        };
        match self.rule {
            Rule::Seed { weights, threshold } => self.by_seed(&task, &Seed { weights, threshold }, field),
            Rule::Calibrated { threshold } => (self.calibrated(&task, threshold, field), None),
        }
    }

    fn by_seed(&self, task: &Task<'_>, seed: &Seed, field: &Field) -> (Decision, Option<Judged>) {
        let judged = seed::needs_relevance(task, &field.own)
            .then(|| relevance::judged(self.context, self.settings, &self.request.task, &field.own));
        // Where nobody had to be asked, what words say is shown all the same.
        let decision = match &judged {
            Some(judged) => seed::choose(task, seed, &field.own, judged),
            None => seed::choose(task, seed, &field.own, &relevance::by_words(&field.own)),
        };
        (decision, judged)
    }

    fn calibrated(&self, task: &Task<'_>, threshold: f64, field: &Field) -> Decision {
        let ranked = calibrated::rank(&field.own, task);
        let read = &ranked[..ranked.len().min(calibrated::READ)];
        let is_settled = task.label.is_some() || task.taken_by.is_some();
        let known = Known {
            habit: field.habit(task.now),
            record: self.record,
            said: if is_settled { Vec::new() } else { field.said(task.text, read, self.request.as_of) },
            threshold,
            model: Model::FITTED,
        };
        calibrated::decide(task, &field.own, |place| field.own[place].by_words.clone(), &ranked, &known)
    }

    fn now(&self) -> Timestamp {
        self.request.as_of.unwrap_or(self.context.now)
    }

    fn answer(&self, field: &Field, decision: &Decision, judged: Option<Judged>) -> Answer {
        let Self { context, request, rule, .. } = *self;
        let best = decision.considered.first();
        let one = |id: &SessionId| field.own.iter().find(|one| one.candidate.id == *id);
        let session = decision.session.as_ref().and_then(one);
        let resumed = session.filter(|_| decision.action == Action::Resume);
        let (judge, judge_fell_back) =
            judged.map_or((None, None), |judged| (Some(judged.judge), judged.fell_back));
        let unknown =
            field.branch.is_none().then(|| "no branch is checked out, so none can match".to_owned());
        // The answer is kept: no secret, whoever asks to see some.
        let title = |id: &SessionId| {
            one(id)
                .and_then(|one| one.title.as_deref())
                .map(|text| redact::redact_beginning(text).into_owned())
        };
        let scores = decision.considered.iter().take(SHOWN).cloned();
        Answer {
            action: decision.action,
            reason: decision.reason.clone(),
            session_id: decision.session.clone(),
            title: decision.session.as_ref().and_then(title),
            chance: decision.chance,
            factors: best.map(|best| best.factors),
            score: best.and_then(|best| best.score),
            threshold: rule.threshold(),
            weights: rule.name(),
            overridden: decision.overridden,
            record: (self.record.decisions > 0).then_some(self.record),
            would_change: decision.changes.clone(),
            judge,
            judge_fell_back,
            before_resume: resumed.map(|one| resume_cost::of(context, one, self.now())),
            pack: None,
            pack_if_fresh: None,
            scores: scores.map(|one| Considered { title: title(&one.session_id), ..one }).collect(),
            candidates: field.own.len(),
            task: redact::redacted(Cow::Borrowed(&request.task)).into_owned(),
            repo_path: field.meant.root.clone(),
            branch: field.branch.clone(),
            agent_id: request.agent.clone(),
            as_of: request.as_of,
            decision: None,
            not_kept: None,
            notes: unknown.into_iter().chain(field.notes.iter().cloned()).collect(),
        }
    }
}
