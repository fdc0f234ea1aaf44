//! `pick`: chooses the session for a task.

use std::borrow::Cow;
use std::path::Path;

use jiff::Timestamp;
use model::SessionId;
use selection::calibrated::{self, Calibration, TrackRecord};
use selection::chance::ChanceModel;
use selection::seed::{self, Seed};
use selection::{Action, Bars, Budget, Considered, Decision, Judgement, Rule, Task};
use system::join;

use crate::choose::answer::{Answer, OfferedSession};
use crate::choose::candidates::CandidateSet;
use crate::choose::directory_schedules::DirectorySchedules;
use crate::choose::request::{Question, Request};
use crate::choose::{decisions, labels, pack, relevance, resume_cost};
use crate::config::settings::SelectionSettings;
use crate::workers::instruction::{require_short, require_task};
use crate::{Context, Error};

/// How many of the considered sessions an answer shows; the best 200 are saved.
const SHOWN: usize = 10;

/// Chooses the session for a task and saves the decision.
pub fn pick(context: &Context, request: &Request) -> Result<Answer, Error> {
    choose(context, &request.question(context)?)
}

/// Chooses the session for a task, which may be carried out at once, and saves the decision.
pub(crate) fn choose(context: &Context, question: &Question) -> Result<Answer, Error> {
    match question.label {
        Some(_) => require_short("a task", &question.task)?,
        None => require_task(&question.task)?,
    }
    let agent = context.agent(question.agent.as_ref())?;
    let question = &Question { agent, ..question.clone() };
    let openclaw = openclaw_config(context);
    let settings = context.config().settings.selection_for(question.agent.as_ref(), &openclaw.selection)?;
    let rule = settings.rule(question.weights);
    let asks_model = matches!(rule, Rule::Seed { .. }) && relevance::asks_model(context, &settings);
    let look =
        || CandidateSet::load(context, question, budget(question, openclaw.max_budget_usd), asks_model);
    let (candidates, mut store) = join(look, || decisions::DecisionStore::open(context));
    let mut candidates = candidates?;
    if let Some(label) = &question.label {
        labels::name(context, question.agent.as_ref(), &candidates.target, label, &mut candidates.own)?;
    }
    let record = match &mut store {
        Ok(store) if question.as_of.is_none() => store.record(&candidates).unwrap_or_default(),
        _ => TrackRecord::default(),
    };
    let chooser = Chooser { context, question, settings: &settings, rule, record };
    let (mut decision, judged) = chooser.decide(&candidates);
    // The answer is saved, so it never holds secrets, even if the caller may see them.
    for one in &mut decision.considered {
        one.branch = one.branch.take().map(without_secrets);
    }
    let mut answer = chooser.answer(&candidates, &decision, judged);
    if answer.action == Action::Fresh {
        answer.pack = pack::brief(context, question, &candidates, &decision);
    } else if answer.ask {
        answer.pack_if_fresh = pack::brief(context, question, &candidates, &decision);
    }
    // Nobody sees the answer of a cancelled request; saving it would count as advice.
    context.check_cancelled()?;
    // What a model asks says nothing of what the person does next.
    let is_advice = !question.is_carried_out && question.as_of.is_none() && !context.caller.is_model();
    let advice = is_advice.then(|| answer.advice()).flatten();
    match store.and_then(|store| store.save(&answer, &decision.considered, advice.as_ref())) {
        Ok(id) => answer.decision = Some(id),
        Err(error) => answer.save_error = Some(error.message),
    }
    Ok(answer)
}

/// OpenClaw's configuration in the first of its folders that has one.
pub(crate) fn openclaw_config(context: &Context) -> openclaw::OpenClawConfig {
    let named =
        context.config().openclaw_configuration.iter().map(|file| openclaw::OpenClawConfig::read(file));
    let folders = context.config().openclaw_folders.iter();
    named
        .chain(folders.map(|folder| openclaw::OpenClawConfig::find(folder)))
        .find(|config| config.file.is_some())
        .unwrap_or_default()
}

fn budget(question: &Question, of_agents: Option<f64>) -> Budget {
    let of_agent = of_agents.filter(|_| question.agent.is_some());
    question.budget.or(of_agent).filter(|budget| *budget > 0.0).map_or(Budget::None, Budget::Dollars)
}

/// A question with the rule that decides it.
struct Chooser<'a> {
    context: &'a Context,
    question: &'a Question,
    settings: &'a SelectionSettings,
    rule: Rule,
    record: TrackRecord,
}

impl Chooser<'_> {
    fn decide(&self, candidates: &CandidateSet) -> (Decision, Option<Judgement>) {
        let task = Task {
            text: &self.question.task,
            branch: candidates.branch.as_deref(),
            label: self.question.label.as_deref(),
            taken_by: candidates.taken_by.clone(),
            now: self.now(),
        };
        match self.rule {
            Rule::Seed { weights, threshold } => {
                self.by_seed(&task, &Seed { weights, threshold }, candidates)
            }
            Rule::Calibrated(bars) => (self.calibrated(&task, bars, candidates), None),
        }
    }

    fn by_seed(
        &self,
        task: &Task<'_>,
        seed: &Seed,
        candidates: &CandidateSet,
    ) -> (Decision, Option<Judgement>) {
        let judged = seed::needs_relevance(task, &candidates.own).then(|| {
            relevance::judge_relevance(self.context, self.settings, &self.question.task, &candidates.own)
        });
        // Relevance by words is shown even if no judge was needed.
        let decision = match &judged {
            Some(judged) => seed::choose(task, seed, &candidates.own, judged),
            None => seed::choose(task, seed, &candidates.own, &relevance::by_words(&candidates.own)),
        };
        (decision, judged)
    }

    fn calibrated(&self, task: &Task<'_>, bars: Bars, candidates: &CandidateSet) -> Decision {
        let ranked = calibrated::rank(&candidates.own, task);
        let read = &ranked[..ranked.len().min(calibrated::MAX_READ)];
        let is_settled = task.label.is_some() || task.taken_by.is_some();
        let known = Calibration {
            habit: candidates.habit(task.now),
            record: self.record,
            said: if is_settled {
                Vec::new()
            } else {
                candidates.latest_messages(task.text, read, self.question.as_of)
            },
            bars,
            model: ChanceModel::FITTED,
        };
        calibrated::decide(
            task,
            &candidates.own,
            |place| candidates.own[place].by_words.clone(),
            &ranked,
            &known,
        )
    }

    fn now(&self) -> Timestamp {
        self.question.as_of.unwrap_or(self.context.now)
    }

    fn answer(&self, candidates: &CandidateSet, decision: &Decision, judged: Option<Judgement>) -> Answer {
        let Self { context, question, rule, .. } = *self;
        let best = decision.considered.first();
        let one = |id: &SessionId| candidates.own.iter().find(|one| one.candidate.id == *id);
        let session = decision.session.as_ref().and_then(one);
        let resumed = session.filter(|_| decision.action == Action::Resume);
        let (judge, relevance_fallback) =
            judged.map_or((None, None), |judged| (Some(judged.judge), judged.fallback));
        let is_branch_unknown = candidates.branch.is_none() && !candidates.own.is_empty();
        let unknown = is_branch_unknown.then(|| "no branch is checked out, so none can match".to_owned());
        let elsewhere = outside_repository(&candidates.target.root, decision);
        let (reason, changes) = elsewhere.unwrap_or((decision.reason.clone(), decision.changes.clone()));
        let title = |id: &SessionId| {
            one(id).and_then(|one| one.title.as_deref()).map(|text| without_secrets(text.to_owned()))
        };
        let scores = decision.considered.iter().take(SHOWN).cloned();
        Answer {
            action: decision.action,
            ask: decision.ask,
            offered: decision.considered.first().filter(|_| decision.ask).map(|first| OfferedSession {
                session_id: first.session_id.clone(),
                title: title(&first.session_id),
                branch: first.branch.clone(),
                last_active: first.last_active,
            }),
            reason,
            session_id: decision.session.clone(),
            title: decision.session.as_ref().and_then(title),
            chance: decision.chance,
            factors: best.map(|best| best.factors),
            score: best.and_then(|best| best.score),
            threshold: rule.threshold(),
            weights: rule.name(),
            advised_action: decision.overridden,
            record: (self.record.decisions > 0).then_some(self.record),
            what_would_change: changes,
            judge,
            relevance_fallback,
            resume_cost: resumed.map(|one| {
                let mut schedules = DirectorySchedules::default();
                let known = resume_cost::Known {
                    tokens: one.context_tokens,
                    last: one.candidate.last_active,
                    of: &one.resumption,
                    schedules: schedules.of(one.cwd.as_deref()),
                };
                resume_cost::compute(context, &known, self.now())
            }),
            pack: None,
            pack_if_fresh: None,
            scores: scores.map(|one| Considered { title: title(&one.session_id), ..one }).collect(),
            candidates: candidates.own.len(),
            task: redact::redacted(Cow::Borrowed(&question.task)).into_owned(),
            repo_path: candidates.target.root.clone(),
            branch: candidates.branch.clone().map(without_secrets),
            agent_id: question.agent.clone(),
            as_of: question.as_of,
            decision: None,
            save_error: None,
            notes: unknown.into_iter().chain(candidates.notes.iter().cloned()).collect(),
        }
    }
}

/// Why there is no session, and what would change that, where the directory is in no repository.
fn outside_repository(root: &Path, decision: &Decision) -> Option<(String, Vec<String>)> {
    let is_outside = *decision == selection::no_sessions() && !root.join(".git").exists();
    is_outside.then(|| {
        let reason =
            format!("{} is not in a git repository, and no session was started there", root.display());
        (reason, vec!["change into a repository, or name one with --repo".to_owned()])
    })
}

/// Redacts the beginning of a longer text, in which a secret may be cut off.
fn without_secrets(text: String) -> String {
    match redact::redact_beginning(&text) {
        Cow::Owned(redacted) => redacted,
        Cow::Borrowed(_) => text,
    }
}
