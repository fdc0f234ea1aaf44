//! `pick`: which session a task should go to, and why.

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::Timestamp;
use model::{AgentId, SessionId};
use selection::{
    Action, Budget, Candidate, Considered, Decision, Factors, Judge, Judged, Task, Weights, choose,
    needs_relevance,
};
use serde::Serialize;
use transcript::{both, let_go};

use crate::field::{Contender, Field};
use crate::{App, Error, Kind, decisions, labels, relevance};

/// How many of the sessions that were looked at an answer tells; all are kept.
const TOLD: usize = 10;

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
    /// The factors of the best session; `null` where none was scored.
    pub factors: Option<Factors>,
    /// The best session's score.
    pub score: Option<f64>,
    /// A score from here on is enough.
    pub threshold: f64,
    /// The set of weights.
    pub weights: &'static str,
    /// What would change the answer.
    pub would_change: Vec<String>,
    /// Who judged relevance; `null` where nobody had to.
    pub judge: Option<Judge>,
    /// Why a model did not judge that was to.
    pub judge_fell_back: Option<String>,
    /// What going on with the session takes at first.
    pub before_resume: Option<Outlay>,
    /// The best of the sessions that were looked at.
    pub scores: Vec<Considered>,
    /// How many were looked at.
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

/// What a resumed session reads again before its first word.
#[derive(Debug, Clone, Serialize)]
pub struct Outlay {
    /// In tokens.
    pub tokens: u64,
    /// Whether they are still in the prompt cache.
    pub cached: bool,
    /// In US dollars, where the model's price is known.
    pub cost_usd: Option<f64>,
    /// The model.
    pub model: Option<String>,
    /// How much of the context window they fill, between 0 and 1.
    pub window_used: f64,
    /// How many tokens are left before Claude Code compacts.
    pub until_compaction: u64,
    /// What would take less.
    pub cheaper: Vec<String>,
}

/// Chooses.
pub fn pick(app: &App, request: &Request) -> Result<Answer, Error> {
    if request.task.trim().is_empty() && request.label.is_none() {
        return Err(Error::new(Kind::Usage, "the task is empty: say what is to be done"));
    }
    let openclaw = openclaw_config(app);
    let settings = app.config.settings.selection_for(request.agent.as_ref(), &openclaw.selection)?;
    let asks_model = relevance::asks_model(app, &settings);
    let mut field = Field::look(app, request, budget(request, openclaw.max_budget_usd), asks_model)?;
    if let Some(label) = &request.label {
        labels::name(app, request.agent.as_ref(), &field.meant, label, &mut field.own)?;
    }
    let task = Task {
        branch: field.branch.as_deref(),
        label: request.label.as_deref(),
        taken_by: field.taken_by.clone(),
        now: request.as_of.unwrap_or(app.now),
        threshold: settings.resume_threshold,
        weights: Weights::SEED,
    };
    let decide = || {
        let judged = needs_relevance(&task, &field.own)
            .then(|| relevance::judged(app, &settings, &request.task, &field.own));
        // Where nobody had to be asked, what words say is told all the same.
        let decision = match &judged {
            Some(judged) => choose(&task, &field.own, judged),
            None => choose(&task, &field.own, &relevance::by_words(&field.own)),
        };
        (decision, judged)
    };
    let ((decision, judged), book) = both(decide, || decisions::Book::open(app));
    let mut answer = answer(app, request, &field, &task, &decision, judged);
    match book.and_then(|book| book.keep(&answer, &decision.considered)) {
        Ok(id) => answer.decision = Some(id),
        Err(error) => answer.not_kept = Some(error.message),
    }
    let_go((field, decision));
    Ok(answer)
}

/// OpenClaw's configuration in the first of its folders that has one.
pub(crate) fn openclaw_config(app: &App) -> openclaw::Config {
    let named = app.config.openclaw_configuration.iter().map(|file| openclaw::Config::read(file));
    let folders = app.config.openclaw_folders.iter();
    named
        .chain(folders.map(|folder| openclaw::Config::find(folder)))
        .find(|config| config.file.is_some())
        .unwrap_or_default()
}

fn budget(request: &Request, of_agents: Option<f64>) -> Budget {
    let of_agent = of_agents.filter(|_| request.agent.is_some());
    request.budget.or(of_agent).filter(|budget| *budget > 0.0).map_or(Budget::None, Budget::Dollars)
}

fn answer(
    app: &App,
    request: &Request,
    field: &Field,
    task: &Task<'_>,
    decision: &Decision,
    judged: Option<Judged>,
) -> Answer {
    let best = decision.considered.first();
    let resumed = decision.session.as_ref().filter(|_| decision.action == Action::Resume);
    let resumed = resumed.and_then(|id| field.own.iter().find(|one| one.candidate.id == *id));
    let (judge, judge_fell_back) =
        judged.map_or((None, None), |judged| (Some(judged.judge), judged.fell_back));
    let unknown = field.branch.is_none().then(|| "no branch is checked out, so none can match".to_owned());
    Answer {
        action: decision.action,
        reason: decision.reason.clone(),
        session_id: decision.session.clone(),
        factors: best.map(|best| best.factors),
        score: best.map(|best| best.score),
        threshold: task.threshold,
        weights: task.weights.name,
        would_change: decision.changes.clone(),
        judge,
        judge_fell_back,
        before_resume: resumed.map(|one| outlay(app, one, task.now)),
        scores: decision.considered.iter().take(TOLD).cloned().collect(),
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

fn outlay(app: &App, resumed: &Contender, now: Timestamp) -> Outlay {
    let Candidate { id, last_active, .. } = &resumed.candidate;
    let transcript = resumed.file.as_deref();
    let messages =
        transcript.map(|file| catalog::messages(&app.config.places(), id, file)).unwrap_or_default();
    let before = |at: Option<Timestamp>| at.is_none_or(|at| at < now);
    let last = messages.iter().rev().find(|message| !message.subagent && before(message.at));
    let minutes = last_active.map(|then| (now.as_second() - then.as_second()) / 60);
    let long_cache = last.is_some_and(|message| message.usage.cache_write_1h > 0);
    let found = selection::outlay(resumed.context_tokens, minutes, long_cache);
    let cheaper = [
        format!("a fork at an earlier message: backstory fork {id} --at <uuid>"),
        "a new session, which reads nothing again".to_owned(),
    ];
    Outlay {
        tokens: found.tokens,
        cached: found.cached,
        cost_usd: last.and_then(|message| cost::price(&message.model, &found.usage, message.terms)),
        model: last.map(|message| message.model.clone()),
        window_used: found.window_used,
        until_compaction: found.until_compaction,
        cheaper: if found.offer_cheaper { cheaper.into() } else { Vec::new() },
    }
}
