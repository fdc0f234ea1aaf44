//! `pick --why-not`: why a decision did not choose a session.

use catalog::Projection;
use jiff::Timestamp;
use schemars::JsonSchema;
use selection::{Considered, Factors};
use serde::{Deserialize, Serialize};

use crate::choose::decisions;
use crate::repository::target::RepoTarget;
use crate::sessions::totals::map_visible_sessions;
use crate::{Context, Error, Kind, NextStep};

/// The session asked about.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WhyNotRequest")]
pub struct Request {
    /// The session's id, or the beginning of it.
    pub session: String,
    /// A path or a project's name; by default the current directory's repository.
    pub repo: Option<String>,
}

/// Why a session was not chosen.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "WhyNotAnswer")]
pub struct WhyNot {
    /// The number of the decision that is explained.
    pub decision: i64,
    /// When it was made.
    #[serde(serialize_with = "model::time")]
    pub at: Timestamp,
    /// What was to be done.
    pub task: String,
    /// What was advised: resume, fresh or wait.
    pub action: String,
    /// The reason that was given with the advice.
    pub reason: String,
    /// The session asked about, as it was looked at then.
    pub session: Considered,
    /// Its place among all, from 1.
    pub rank: usize,
    /// How many sessions were compared.
    pub candidates: usize,
    /// The session that was chosen, in the same shape; `null` where none was.
    pub chosen: Option<Considered>,
    /// The answer in words, one line each.
    pub explanation: Vec<String>,
}

/// Answers, from the newest decision of the repository, why a session was not chosen.
pub fn why_not(context: &Context, request: &Request) -> Result<WhyNot, Error> {
    let (repo, session) = (request.repo.as_deref(), request.session.as_str());
    let target = if let Some(target) = RepoTarget::directory(context, repo)? {
        target
    } else {
        let all = map_visible_sessions(context, None, Projection::Scalars, Some)?;
        RepoTarget::by_name(repo.unwrap_or_default(), all.iter().map(|entry| &*entry.session))?
    };
    let kept = decisions::newest(context, &target.root)?.ok_or_else(|| {
        let message = format!("no decision was made for {} yet", target.root.display());
        Error::new(Kind::NotFound, message).next(NextStep::Pick)
    })?;
    let is_it = |one: &Considered| {
        one.session_id.as_str().starts_with(session) || one.session_id.short().starts_with(session)
    };
    let considered = kept.considered.ok_or_else(|| {
        let message = format!("the sessions that decision {} considered are no longer recorded", kept.id);
        Error::new(Kind::NotFound, message).next(NextStep::Pick)
    })?;
    // A person cannot continue the conversation that they are in.
    let asking = context.asking_session();
    let is_other = |one: &Considered| asking.as_ref() != Some(&one.session_id);
    if asking.as_ref().is_some_and(|asking| !session.is_empty() && asking.as_str().starts_with(session)) {
        let message = format!("session `{session}` is the one that asks: none is chosen for itself");
        return Err(Error::new(Kind::NotFound, message).next(NextStep::Pick));
    }
    let considered: Vec<Considered> = considered.into_iter().filter(is_other).collect();
    let at = considered.iter().position(is_it).filter(|_| !session.is_empty()).ok_or_else(|| {
        let message =
            format!("no session `{session}` is among the best that decision {} considered", kept.id);
        Error::new(Kind::NotFound, message)
            .hint("it may be hidden, have ranked lower, belong to another repository or agent, or a label or a running worker decided")
    })?;
    let answer = &kept.answer;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let one = considered[at].clone();
    let is_chosen = |other: &&Considered| answer["session_id"] == other.session_id.as_str();
    let chosen = considered.iter().find(is_chosen).cloned();
    Ok(WhyNot {
        decision: kept.id,
        at: kept.at,
        task: kept.task.clone(),
        action: text(&answer["action"]),
        reason: text(&answer["reason"]),
        explanation: because(&one, chosen.as_ref(), answer["threshold"].as_f64().unwrap_or_default()),
        session: one,
        rank: at + 1,
        candidates: answer["candidates"]
            .as_u64()
            .and_then(|all| usize::try_from(all).ok())
            .unwrap_or(considered.len()),
        chosen,
    })
}

fn because(one: &Considered, chosen: Option<&Considered>, threshold: f64) -> Vec<String> {
    if chosen.is_some_and(|chosen| chosen.session_id == one.session_id) {
        return vec!["it was chosen".to_owned()];
    }
    let mut lines = vec![one.reason.clone()];
    match one.score {
        Some(score) if one.ceiling.is_none() && score < threshold => {
            lines.push(format!("its score {score:.2} is below the threshold {threshold:.2}"));
        }
        None => lines.push("others come first, by branch and then by how recently they were used".to_owned()),
        _ => {}
    }
    // By the calibrated rule the five factors decide nothing.
    let by_factors = one.estimate.is_none() && chosen.is_none_or(|chosen| chosen.estimate.is_none());
    let theirs = chosen.filter(|_| by_factors).map(|chosen| named(&chosen.factors)).into_iter().flatten();
    for ((word, ours), (_, theirs)) in named(&one.factors).into_iter().zip(theirs) {
        if ours < theirs {
            lines.push(format!("{word}: {ours:.2}, the chosen session has {theirs:.2}"));
        }
    }
    lines
}

fn named(factors: &Factors) -> [(&'static str, f64); 5] {
    [
        ("branch", factors.branch_match),
        ("recency", factors.recency),
        ("relevance", factors.task_relevance),
        ("health", factors.session_health),
        ("capacity", factors.context_capacity),
    ]
}
