//! The relevance of each session to a task: judged by a model where one may and can be asked, else by common words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use judge::ModelName;
use model::SessionId;
use selection::{
    Candidate, Judge, Judgement, MAX_JUDGED, Relevance, RelevanceReason, parse_ratings, prompt, worth_asking,
};
use transcript::ConfigFolder;

use crate::choose::candidates::RepoCandidate;
use crate::config::settings::{JudgeRoute, SelectionSettings};
use crate::proceed::claude;
use crate::search::find::find;
use crate::search::question::Question;
use crate::{Context, Error, Kind};

/// More sessions than any repository has.
const ANSWERS: usize = 5000;

/// The relevance of every candidate, in their order; never later than the settings allow.
///
/// A model is asked about the most promising; common words judge the others, and all where it does not answer.
pub(crate) fn judge_relevance(
    context: &Context,
    settings: &SelectionSettings,
    task: &str,
    candidates: &[RepoCandidate],
) -> Judgement {
    let mut judged = by_words(candidates);
    if !settings.enabled {
        return judged;
    }
    let channel = match Channel::open(context, settings) {
        Ok(channel) => channel,
        Err(why) => {
            judged.fallback = Some(why);
            return judged;
        }
    };
    let likely = worth_asking(candidates, &judged.relevance, MAX_JUDGED);
    let shown: Vec<Candidate> = likely.iter().map(|at| without_secrets(&candidates[*at].candidate)).collect();
    let model = ModelName::from_setting(&settings.relevance_model);
    let task = redact::redacted(Cow::Borrowed(task));
    let question =
        prompt(&task, &shown.iter().collect::<Vec<_>>(), &format!("==={}===", uuid::Uuid::new_v4()));
    let (judge, answer) = channel.ask(context, settings, &model, &question);
    match answer.and_then(|answer| parse_ratings(&answer, shown.len())) {
        Ok(found) => {
            judged.judge = judge;
            for (at, relevance) in likely.into_iter().zip(found) {
                judged.relevance[at] = relevance;
            }
        }
        Err(why) => judged.fallback = Some(why),
    }
    judged
}

/// Whether the settings allow asking a model, and a key for it exists.
pub(crate) fn asks_model(context: &Context, settings: &SelectionSettings) -> bool {
    let has_key = || context.config().api_key.is_some();
    settings.enabled && (settings.relevance_through == JudgeRoute::Claude || has_key())
}

/// A session as a model may see it; its text is the beginning of a longer one, so a secret may be cut off.
fn without_secrets(candidate: &Candidate) -> Candidate {
    let about = candidate.about.as_deref().map(|about| redact::redact_beginning(about).into());
    Candidate { about, ..candidate.clone() }
}

/// Relevance by common words alone.
pub(crate) fn by_words(candidates: &[RepoCandidate]) -> Judgement {
    Judgement::by_words(candidates.iter().map(|one| one.by_words.clone()).collect())
}

/// Relevance as the index sees it: how well each session answered the task as a question before `moment`.
///
/// Only `eval` uses this; docs/selection-quality.md has the results.
pub(crate) fn by_index(
    context: &Context,
    task: &str,
    candidates: &[Candidate],
    moment: Timestamp,
) -> Result<Judgement, Error> {
    let question =
        Question { text: task.to_owned(), until: Some(moment), limit: ANSWERS, ..Question::default() };
    let found = match find(context, &question) {
        Ok(answer) => answer.hits,
        // A task that is no question is near to nothing.
        Err(error) if matches!(error.kind, Kind::Usage | Kind::NotFound) => Vec::new(),
        Err(error) => return Err(error),
    };
    let scores: HashMap<SessionId, f64> =
        found.into_iter().map(|one| (one.hit.session, f64::from(one.hit.score))).collect();
    let one = |candidate: &Candidate| {
        let score = scores.get(&candidate.id).copied().unwrap_or_default();
        Relevance { score, reason: RelevanceReason::Said(format!("nearness in the index: {score:.2}")) }
    };
    Ok(Judgement { relevance: candidates.iter().map(one).collect(), judge: Judge::Index, fallback: None })
}

fn limit(settings: &SelectionSettings) -> Duration {
    Duration::from_millis(settings.relevance_timeout_ms)
}

/// The way a model is asked.
enum Channel<'a> {
    Api { key: &'a str },
    Claude { program: workers::Program, release: workers::Release },
}

impl<'a> Channel<'a> {
    fn open(context: &'a Context, settings: &SelectionSettings) -> Result<Self, String> {
        match settings.relevance_through {
            JudgeRoute::Api => {
                let key = context.config().api_key.as_ref();
                let key = key.ok_or("ANTHROPIC_API_KEY is not set, so no model was asked")?;
                Ok(Self::Api { key: &key.0 })
            }
            JudgeRoute::Claude => {
                let program = claude::installed(context).ok_or_else(|| claude::missing(context))?;
                let release =
                    claude::release(context, &program).ok_or("claude does not report its version")?;
                Ok(Self::Claude { program, release })
            }
        }
    }

    fn ask(
        &self,
        context: &Context,
        settings: &SelectionSettings,
        model: &ModelName,
        question: &str,
    ) -> (Judge, Result<String, String>) {
        match self {
            Self::Api { key } => {
                (Judge::Model(model.api.clone()), through_api(context, settings, model, key, question))
            }
            Self::Claude { program, release } => {
                let answer = through_claude(context, settings, model, (program, *release), question);
                (Judge::Claude(model.alias.clone()), answer)
            }
        }
    }
}

fn through_api(
    context: &Context,
    settings: &SelectionSettings,
    model: &ModelName,
    key: &str,
    question: &str,
) -> Result<String, String> {
    let question = judge::ModelRequest {
        url: context.config().api_url.as_deref(),
        key,
        model: &model.api,
        max_tokens: settings.relevance_max_tokens,
        limit: limit(settings),
        prompt: question,
    };
    judge::ask(&question).map_err(|error| error.to_string())
}

fn through_claude(
    context: &Context,
    settings: &SelectionSettings,
    model: &ModelName,
    (program, release): (&workers::Program, workers::Release),
    question: &str,
) -> Result<String, String> {
    let made = tempfile::Builder::new().prefix("backstory-question-").tempdir_in(&context.config().scratch);
    let scratch = made.map_err(|error| format!("cannot create a folder for claude to run in: {error}"))?;
    let question = workers::OneShotPrompt {
        program,
        release,
        model: &model.alias,
        scratch: scratch.path(),
        limit: limit(settings),
        prompt: question,
    };
    let answer = question.ask();
    remove_claude_folders(context, scratch.path());
    answer
}

/// Removes the folders that `claude` made for the directory it ran in: nobody else has been there, and what holds
/// anything stays.
fn remove_claude_folders(context: &Context, directory: &Path) {
    let usual = || context.config().home.join(".claude");
    let root = context.config().claude_config_dir.clone().unwrap_or_else(usual);
    let physical = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let project = ConfigFolder::new(root).project_folder(&physical);
    for folder in [project.join("memory"), project] {
        // Releases differ in what they make.
        let _ = std::fs::remove_dir(folder);
    }
}
