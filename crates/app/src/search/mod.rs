//! `search`: the sessions that answer a question, each with the line that does so best.

pub(crate) mod annotated;
pub mod answer;
mod by_id;
pub(crate) mod chosen;
pub mod embed;
pub mod excerpts;
pub mod export;
pub mod export_schedule;
pub(crate) mod find;
pub(crate) mod found;
pub mod grep;
pub mod hint;
pub mod hit;
pub mod index;
pub mod intent;
pub mod last_results;
pub mod memory;
pub(crate) mod parsed_question;
pub(crate) mod pattern;
pub(crate) mod question;
mod recency;
pub(crate) mod relaxation;
pub(crate) mod repetitions;
pub mod request;
mod suggestions;
pub(crate) mod time_limit;
pub(crate) mod unknown_value;

pub use answer::Answer;
pub use hint::Hint;
pub use hit::Hit;
pub use question::{Suggestions, names_project, without_last_filter};
pub use request::Request;
pub use search::{ChunkKind, HitTexts, Mode, SourceKind};
pub use transcript::Role;

use std::sync::Arc;

use catalog::{CatalogEntry, Projection, SessionFilter};

use crate::search::by_id::by_id;
use crate::sessions::citation::split_line;
use crate::sessions::resolve::looks_like_id;
use crate::sessions::totals::map_visible_sessions;
use crate::{Context, Error, Moment, NextStep};

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow.
pub fn search(context: &Context, request: &Request) -> Result<Answer, Error> {
    let context = &match request.max_age_seconds {
        0 => context.clone(),
        seconds => context.with_max_age(seconds),
    };
    let context = &context.looking_once();
    let (id, line) = split_line(request.query.trim());
    if request.session.is_none() && looks_like_id(id) {
        return by_id(context, request, id, line);
    }
    let hint = hint_of(context, request)?;
    if hint.as_ref().is_some_and(|hint| hint.is_all) {
        return Ok(Answer { hint, ..Answer::of_no_words(request) });
    }
    let mut question = request.question(context)?;
    // The words of a day were said in no session of that day.
    if let Some(words) = hint.as_ref().and_then(|hint| hint.searched.as_ref()) {
        question.text.clone_from(words);
    }
    if let Some(NextStep::SearchBetween { since, until, .. }) = hint.as_ref().map(|hint| &hint.next_step) {
        let first = Moment::from(since.as_str()).at(context)?;
        question.favored = Some((first, Moment::from(until.as_str()).end(context)?));
    }
    let mut found = find::find(context, &question)?;
    if request.session.is_none() {
        annotated::put_first(context, request, &mut found)?;
    }
    found.unknown_words.retain(|word| !hint::is_understood(word, hint.as_ref()));
    Ok(Answer { hint, ..Answer::new(context, request, found) })
}

/// What a question asks for besides words; nothing where filters say it.
fn hint_of(context: &Context, request: &Request) -> Result<Option<Hint>, Error> {
    let is_filtered = request.since.is_some() || request.until.is_some() || request.branch.is_some();
    // What is asked for in this way are always Claude Code's sessions.
    let is_elsewhere = request.source.is_some_and(|source| source != SourceKind::ClaudeSessions);
    if is_filtered || request.file.is_some() || is_elsewhere {
        return Ok(None);
    }
    let today = context.now.to_zoned(context.zone()).date();
    let mut known = Ok(Vec::new());
    let hint = hint::hint(&request.query, today, || {
        known = branches(context);
        known.iter().flatten().map(|branch| &**branch).collect()
    });
    known?;
    match hint {
        Some(hint) if !is_answered(context, &hint)? => Ok(None),
        hint => Ok(hint),
    }
}

/// Whether a list of sessions by words that a hint names would hold any.
fn is_answered(context: &Context, hint: &Hint) -> Result<bool, Error> {
    let NextStep::ListWords { words, .. } = &hint.next_step else { return Ok(true) };
    let words = words.split_whitespace().map(str::to_lowercase).collect();
    let filter = SessionFilter { words, ..SessionFilter::default() };
    let matching = |entry: CatalogEntry| filter.matches(&entry.session).then_some(());
    Ok(!map_visible_sessions(context, None, Projection::Full, matching)?.is_empty())
}

/// The branches that sessions were on last, those of the newest first.
fn branches(context: &Context) -> Result<Vec<Arc<str>>, Error> {
    let shown = |branch: &str| context.secrets.redacted_beginning(branch.to_owned()).into();
    let branch =
        |entry: CatalogEntry| Some((entry.session.last_modified, shown(entry.session.branch.as_deref()?)));
    let mut branches: Vec<(_, Arc<str>)> = map_visible_sessions(context, None, Projection::Scalars, branch)?;
    branches.sort_by(|one, other| other.cmp(one));
    Ok(branches.into_iter().map(|(_, branch)| branch).collect())
}

/// Whether nothing was ever indexed here.
pub(crate) fn is_first(context: &Context) -> bool {
    !index::folder(context).join("files.sqlite").exists()
}
