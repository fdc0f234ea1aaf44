//! The sessions that know most about an intent: from our index, or from qmd with the index behind it. Where
//! neither knows any: what to do, and the newest sessions to choose from.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use model::{Session, SessionId};
use qmd::{DocumentHead, Qmd, QmdCommand, QmdFailure, QmdQuery};
use schemars::JsonSchema;
use serde::Serialize;
use workers::Program;

use crate::config::settings::Engine;
use crate::repository::target::{unknown_project, with_project};
use crate::search::Mode;
use crate::search::question::Question;
use catalog::SessionFilter;

use crate::sessions::lookup::{Ranked, SessionRef, by_name, searched};
use crate::sessions::select::all;
use crate::{Context, Error, Kind, NextStep};

/// How many documents qmd is asked for at the least where most may be left out again.
const WIDE: usize = 100;

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The intent, or the name of a session.
    pub(crate) wanted: SessionRef,
    /// The maximum number of sessions.
    pub(crate) limit: usize,
    /// Only sessions with this score or more.
    pub(crate) min_score: Option<f32>,
    /// What the sessions have to be.
    pub(crate) filter: SessionFilter,
    /// qmd's collection; one that is given is asked.
    pub(crate) collection: Option<String>,
    /// The engine; `None` is the one in the settings.
    pub(crate) engine: Option<Engine>,
    /// How our index looks: by words, by meaning, or both.
    pub(crate) mode: Mode,
}

/// Sessions, or what to do where there are none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    /// Best first, never none, and how they were found.
    Ranked(Vec<Ranked>, HowFound),
    /// No session; what to do now.
    Nothing(Guidance<NextStep>),
}

/// How sessions were found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[schemars(rename = "HowFound")]
pub struct HowFound {
    /// What answered; `own` also where the session was named.
    pub engine: Engine,
    /// qmd's command that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qmd_command: Option<QmdCommand>,
    /// The collection it searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<String>,
    /// Whether something better was asked first and gave no answer.
    pub fallback_used: bool,
    /// Why qmd did not answer; absent if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qmd_error: Option<String>,
}

/// What to do where nothing was found; its next steps are in an interface's own words.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ForkGuidance")]
pub struct Guidance<S = String> {
    /// `qmd_not_available` where qmd was asked in vain, `nothing_indexed` where the index cannot be used, else
    /// `nothing_found`.
    pub error: &'static str,
    /// The same in words.
    pub message: String,
    /// What to do instead, one step each.
    pub next_steps: Vec<S>,
    /// The newest sessions, to choose from by hand.
    pub fallback_sessions: Vec<Recent>,
    /// Why qmd gave no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qmd_error: Option<String>,
}

impl Guidance<NextStep> {
    /// The same with its next steps in an interface's own words.
    pub fn worded(self, word: impl Fn(&NextStep) -> String) -> Guidance {
        Guidance {
            error: self.error,
            message: self.message,
            next_steps: self.next_steps.iter().map(word).collect(),
            fallback_sessions: self.fallback_sessions,
            qmd_error: self.qmd_error,
        }
    }
}

/// A session that can be chosen by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RecentSession")]
pub struct Recent {
    /// The session's id.
    pub session_id: SessionId,
    /// The directory it started in.
    #[serde(serialize_with = "model::optional_path")]
    pub project_path: Option<PathBuf>,
    /// When something last happened in it.
    #[serde(serialize_with = "model::optional_time")]
    pub last_modified: Option<Timestamp>,
    /// The session's title.
    pub title: Option<String>,
}

/// Finds the sessions, in qmd's collections or in our own index.
pub(crate) fn find(context: &Context, request: &Request) -> Result<Found, Error> {
    let sessions = all(context)?.sessions;
    let text = match (by_name(context, &request.wanted, &sessions)?, &request.wanted) {
        (Some(named), _) => return Ok(Found::Ranked(vec![named], HowFound::default())),
        (None, SessionRef::Named(text)) => text,
        (None, SessionRef::Last) => "",
    };
    let filter = with_project(context, &request.filter, &sessions.iter());
    let request = &Request { filter, ..request.clone() };
    let why_not = match by_qmd(context, request, text, &sessions)? {
        Some(Ok((ranked, how))) => return Ok(Found::Ranked(ranked, how)),
        // A complaint of another program's may repeat what it was given.
        Some(Err(why)) => Some(context.secrets.redacted(Cow::Owned(why))),
        None => None,
    };
    let question = Question {
        text: text.to_owned(),
        filter: request.filter.clone(),
        mode: request.mode,
        limit: request.limit,
        is_without_repetitions: context.caller.is_model(),
        ..Question::default()
    };
    match searched(context, question) {
        Ok(ranked) => {
            let how = HowFound {
                fallback_used: why_not.is_some(),
                qmd_error: why_not.clone(),
                ..HowFound::default()
            };
            let best = ranked.first().map(|found| found.score);
            let ranked = good_enough(ranked, request.min_score);
            if !ranked.is_empty() {
                return Ok(Found::Ranked(ranked, how));
            }
            let error = below(request.min_score.unwrap_or_default(), best.unwrap_or(0.0));
            Ok(Found::Nothing(guidance(context, request, &sessions, error, why_not)))
        }
        Err(error) if matches!(error.kind, Kind::NotFound | Kind::Unavailable) => {
            Ok(Found::Nothing(guidance(context, request, &sessions, error, why_not)))
        }
        Err(error) => Err(error),
    }
}

/// What to do where the best session has a score below the least one.
pub(crate) fn none_good_enough(
    context: &Context,
    request: &Request,
    least: f32,
    best: f32,
) -> Result<Guidance<NextStep>, Error> {
    let sessions = all(context)?.sessions;
    let filter = with_project(context, &request.filter, &sessions.iter());
    let request = &Request { filter, ..request.clone() };
    Ok(guidance(context, request, &sessions, below(least, best), None))
}

fn below(least: f32, best: f32) -> Error {
    let message = format!("no session reaches the score {least}; the best one has {best:.2}");
    Error::new(Kind::NotFound, message).next(NextStep::LowerMinScore)
}

/// qmd, where it is installed.
pub(crate) fn installed(context: &Context) -> Option<Qmd> {
    let settings = &context.config().settings.fork;
    let found = Program::find(settings.qmd.as_os_str(), OsStr::new(&context.config().search_path))?;
    Some(Qmd { program: found.path, limit: Duration::from_millis(settings.qmd_timeout_ms) })
}

type Answered = Result<(Vec<Ranked>, HowFound), String>;

/// What qmd answers, or why it does not; none where it is not asked.
fn by_qmd(
    context: &Context,
    request: &Request,
    text: &str,
    sessions: &[Session],
) -> Result<Option<Answered>, Error> {
    let settings = &context.config().settings.fork;
    let given = request.collection.as_ref().map(|_| Engine::Qmd);
    let engine = request.engine.or(given).unwrap_or(settings.engine);
    // qmd's documents are of everybody's sessions.
    if context.is_limited() {
        return Ok(None);
    }
    let qmd = match (engine, installed(context)) {
        (Engine::Own, _) | (Engine::Auto, None) => return Ok(None),
        (Engine::Qmd, None) => {
            return Ok(Some(Err(format!("there is no program `{}`", settings.qmd.display()))));
        }
        (Engine::Qmd | Engine::Auto, Some(qmd)) => qmd,
    };
    let collection = checked(request.collection.as_ref().unwrap_or(&settings.collection))?;
    let is_filtered = request.filter != SessionFilter::default();
    let limit = if is_filtered { request.limit.max(WIDE) } else { request.limit };
    let question = QmdQuery { intent: text, collection, limit, min_score: request.min_score };
    let reply = match qmd.ask(&question) {
        Ok(reply) => reply,
        Err(unanswered) => {
            return Ok(Some(Err(QmdFailure::describe(&unanswered.failures).unwrap_or_default())));
        }
    };
    let ranked = good_enough(ranked(context, request, &qmd, &reply.found, sessions), request.min_score);
    let failed = QmdFailure::describe(&reply.failures);
    if ranked.is_empty() {
        let nothing = format!("qmd {}: no sessions were found", reply.step.as_str());
        return Ok(Some(Err(failed.map_or(nothing.clone(), |failed| format!("{failed}; {nothing}")))));
    }
    let how = HowFound {
        engine: Engine::Qmd,
        qmd_command: Some(reply.step),
        collection: Some(collection.to_owned()),
        fallback_used: failed.is_some(),
        qmd_error: failed.map(|failed| context.secrets.redacted(Cow::Owned(failed))),
    };
    Ok(Some(Ok((ranked, how))))
}

/// A collection's name that cannot be taken for anything else.
fn checked(name: &str) -> Result<&str, Error> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.starts_with(char::is_alphanumeric) && name.chars().all(plain) {
        return Ok(name);
    }
    let message = format!("`{name}` is not a valid collection name");
    Err(Error::new(Kind::Usage, message).hint("`qmd collection list` lists the collections"))
}

/// The sessions behind qmd's documents, each once.
fn ranked(
    context: &Context,
    request: &Request,
    qmd: &Qmd,
    found: &[qmd::QmdHit],
    sessions: &[Session],
) -> Vec<Ranked> {
    let mut seen: HashSet<SessionId> = context.asking_session().into_iter().collect();
    let each = found.iter().filter_map(|found| {
        let (id, session, document) = behind(qmd, found, sessions)?;
        let is_wanted = match session {
            Some(session) => request.filter.matches(session),
            None => request.filter == SessionFilter::default(),
        };
        (is_wanted && seen.insert(id.clone())).then(|| Ranked {
            session: session.cloned(),
            score: found.score,
            snippet: found.snippet().map(|text| context.secrets.redacted(Cow::Owned(text))),
            source: Some(PathBuf::from(&found.path)),
            line: None,
            document,
            is_named: false,
            last_of: None,
            id,
        })
    });
    each.take(request.limit).collect()
}

/// Whose document it is: by its name, else by its head; the head also where no transcript tells more.
fn behind<'a>(
    qmd: &Qmd,
    found: &qmd::QmdHit,
    sessions: &'a [Session],
) -> Option<(SessionId, Option<&'a Session>, Option<DocumentHead>)> {
    let name = found.path.rsplit('/').next().unwrap_or_default();
    let stem = name.strip_suffix(".md").unwrap_or(name);
    // Releases of qmd write names in small letters.
    let known = |text: &str| sessions.iter().find(|session| session.id.as_str().eq_ignore_ascii_case(text));
    if let Some(session) = known(stem) {
        return Some((session.id.clone(), Some(session), None));
    }
    let in_snippet = DocumentHead::parse(&found.text).filter(|document| document.session.is_some());
    let document = in_snippet.or_else(|| qmd.document_head(found)).unwrap_or_default();
    let id = document.session.clone().or_else(|| is_an_id(stem))?;
    Some((id.clone(), known(id.as_str()), Some(document)))
}

/// A name that can only be a session's id.
fn is_an_id(stem: &str) -> Option<SessionId> {
    stem.parse().ok().filter(SessionId::is_uuid)
}

fn good_enough(mut ranked: Vec<Ranked>, min_score: Option<f32>) -> Vec<Ranked> {
    ranked.retain(|found| min_score.is_none_or(|least| found.score >= least));
    ranked
}

fn guidance(
    context: &Context,
    request: &Request,
    sessions: &[Session],
    error: Error,
    qmd_error: Option<String>,
) -> Guidance<NextStep> {
    let (code, message) = match (&qmd_error, error.kind) {
        (Some(why), _) => ("qmd_not_available", format!("qmd gave no answer ({why}), and {}", error.message)),
        (None, Kind::Unavailable) => ("nothing_indexed", error.message),
        (None, _) => ("nothing_found", error.message),
    };
    let unknown = request.filter.project.as_deref().and_then(|typed| unknown_project(typed, sessions.iter()));
    let is_unknown = unknown.is_some();
    let message = unknown.unwrap_or(message);
    let mut next_steps = Vec::new();
    if qmd_error.is_some() {
        next_steps.extend([NextStep::ScheduleExport, NextStep::Export]);
    }
    next_steps.extend(error.next_steps);
    next_steps.push(NextStep::ForkRecent);
    let newest = sessions.iter().filter(|session| session.file.is_some());
    let asking = context.asking_session();
    let is_other = |session: &&Session| asking.as_ref() != Some(&session.id);
    let mut newest: Vec<_> =
        newest.filter(is_other).filter(|session| is_unknown || request.filter.matches(session)).collect();
    newest.sort_by_key(|session| std::cmp::Reverse(session.last_modified));
    let recent = |session: &&Session| Recent {
        session_id: session.id.clone(),
        project_path: session.cwd.as_deref().map(ToOwned::to_owned),
        last_modified: session.last_modified,
        title: session.title.as_deref().map(ToOwned::to_owned),
    };
    Guidance {
        error: code,
        message,
        next_steps,
        fallback_sessions: newest.iter().take(request.limit).map(recent).collect(),
        qmd_error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_collection_is_taken_for_a_flag() {
        let check = |name: &str, expected: bool| assert_eq!(checked(name).is_ok(), expected, "{name}");
        check("claude-sessions", true);
        check("ct_claude.2", true);
        check("--json", false);
        check("", false);
        check("a b", false);
        check("a\n", false);
    }

    #[test]
    fn only_a_uuid_is_an_id_by_its_name_alone() {
        assert!(is_an_id("60309e1e-c4ea-4d6d-8da1-21732781ce4d").is_some());
        assert!(is_an_id("readme").is_none());
    }
}
