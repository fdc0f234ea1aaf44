//! `prompts`: everything the person ever asked, newest first, each once.

use std::collections::{HashMap, HashSet};

use catalog::{Hidden, SessionFilter};
use jiff::Timestamp;
use model::{Origin, Session, SessionId, folded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::in_parallel;
use transcript::HistoryEventKind;

use crate::sessions::programs::Programs;
use crate::sessions::readable::UnreadableFiles;
use crate::sessions::select::select;
use crate::{Context, Error, Moment};

/// The longest prompt that is given whole, in characters.
const LONGEST: usize = 16_000;

/// Which prompts to give.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "PromptsRequest")]
pub struct Request {
    /// Only prompts that contain all of these words; capital letters make no difference.
    pub words: Vec<String>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
    /// Only what was asked since then.
    pub since: Option<Moment>,
    /// Only what was asked before this time, or on this day or earlier.
    pub until: Option<Moment>,
    /// The maximum number of sessions; by default all.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// What the person asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PromptsAnswer")]
pub struct Answer {
    /// The prompts, newest first.
    pub prompts: Vec<AskedPrompt>,
    /// How many more match beyond the limit.
    pub more: usize,
    /// How many different prompts there are in the sessions that were looked through.
    pub known: usize,
    /// What else there is to know, in sentences: what could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Something the person asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AskedPrompt {
    /// The words; at most 16,000 characters.
    pub text: String,
    /// The session in which it was asked last.
    pub session_id: SessionId,
    /// The line of its transcript, from 1.
    pub line: u64,
    /// When it was asked last.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// The short name of the session's repository.
    pub project: Option<String>,
    /// How often it was asked.
    pub times: u64,
}

/// Gives what the person asked.
pub fn prompts(context: &Context, request: &Request) -> Result<Answer, Error> {
    let since = request.since.as_ref().map(|since| since.at(context)).transpose()?;
    let until = request.until.as_ref().map(|until| until.end(context)).transpose()?;
    let filter = SessionFilter {
        project: request.project.clone(),
        since,
        hidden: Hidden::Excluded,
        ..SessionFilter::default()
    };
    let mut listing = select(context, &filter, None)?;
    let mut sessions = std::mem::take(&mut listing.sessions);
    let mut unreadable = UnreadableFiles::default();
    unreadable.add_problems(listing.problems);
    // Agents of OpenClaw's are asked by programs. What a fork copied was asked where it was first.
    sessions.retain(|session| matches!(session.origin, Origin::Native));
    let programs = Programs::among(sessions.iter());
    let asked = sessions.len();
    sessions.retain(|session| !programs.has(&session.id));
    let of_programs = asked - sessions.len();
    sessions.sort_by_key(|session| (session.forked_from.is_some(), session.created));
    let asked =
        in_parallel(context.config().places().threads, &sessions, |session| prompts_of(context, session));
    context.check_cancelled()?;
    let (mut seen, mut by_text) = (HashSet::new(), HashMap::<String, AskedPrompt>::new());
    let prompts_of_all = asked.into_iter().flat_map(|(prompts, files)| {
        unreadable.add(files);
        prompts
    });
    for (record, prompt) in prompts_of_all {
        let is_in = since.is_none_or(|since| prompt.at.is_some_and(|at| at >= since))
            && until.is_none_or(|until| prompt.at.is_some_and(|at| at < until));
        if !is_in || record.is_some_and(|record| !seen.insert(record)) {
            continue;
        }
        match by_text.get_mut(&normal(&prompt.text)) {
            Some(known) => {
                let times = known.times + 1;
                if prompt.at >= known.at {
                    *known = prompt;
                }
                known.times = times;
            }
            None => drop(by_text.insert(normal(&prompt.text), prompt)),
        }
    }
    let known = by_text.len();
    let wanted: Vec<String> = request.words.iter().map(|word| folded(word)).collect();
    let mut prompts: Vec<AskedPrompt> = by_text
        .into_iter()
        .filter(|(text, _)| wanted.iter().all(|word| text.contains(word.as_str())))
        .map(|(_, prompt)| prompt)
        .collect();
    prompts.sort_by(|one, other| {
        (other.at, &other.session_id, other.line).cmp(&(one.at, &one.session_id, one.line))
    });
    let more = request.limit.map_or(0, |limit| prompts.len().saturating_sub(limit));
    prompts.truncate(prompts.len() - more);
    let mut notes = unreadable.notes(context);
    if of_programs > 0 {
        notes.push(format!("{of_programs} sessions that programs began, all alike, are left out"));
    }
    Ok(Answer { prompts, more, known, notes })
}

/// What was asked in one session, each with its record, and what could not be read of it.
fn prompts_of(context: &Context, session: &Session) -> (Vec<(Option<u64>, AskedPrompt)>, UnreadableFiles) {
    let (mut all, mut unreadable) = (Vec::new(), UnreadableFiles::default());
    let file = session.file.as_deref().filter(|_| !context.cancellation.is_cancelled());
    let Some(file) = file else { return (all, unreadable) };
    let project = session.project.as_deref().map(ToOwned::to_owned);
    unreadable.each_event(context, file, |event| {
        if let HistoryEventKind::Prompt(text) = event.what
            && !text.trim().is_empty()
        {
            let text = context.secrets.beginning(text.trim(), LONGEST);
            all.push((
                event.record,
                AskedPrompt {
                    text,
                    session_id: session.id.clone(),
                    line: event.line,
                    at: event.at,
                    project: project.clone(),
                    times: 1,
                },
            ));
        }
    });
    (all, unreadable)
}

/// The same for prompts that differ only in spaces and capital letters.
fn normal(text: &str) -> String {
    folded(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}
