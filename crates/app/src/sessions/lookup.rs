//! Finds the session a person refers to: the last one, an id or its prefix, or words that were said in it.

use std::path::PathBuf;

use catalog::{CatalogEntry, Projection};
use model::{AgentId, Session, SessionId};
use workers::store::Worker;

use qmd::DocumentHead;

use crate::proceed::location;
use crate::retention::ghosts;
use crate::search::SourceKind;
use crate::search::find::find;
use crate::search::found::{Answered, Found};
use crate::search::question::Question;
pub use crate::sessions::resolve::looks_like_id;
use crate::sessions::resolve::{is_named, no_sessions, resolve};
use crate::sessions::select::all;
use crate::sessions::totals::map_all_sessions;
use crate::store::claude_behind::claude_behind;
use crate::store::of_another;
use crate::workers::table::{self, open_recovered, unusable};
use crate::{Context, Error, Kind, NextStep};

/// The shortest prefix that is treated as an id; shorter texts are words.
const SHORTEST: usize = 4;

/// The score from which words can be certain to mean a session: what it was chosen from is in
/// docs/search-quality.md.
const CERTAIN: f32 = 0.35;

/// What a person says to name a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionRef {
    /// The one in which something happened last: of the request's directory, else of its repository, else of all. Never one
    /// that the person hid.
    Last,
    /// An id, the beginning of one, or words to search for.
    Named(String),
}

/// Among which sessions the last one was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastOf {
    /// Those that were started in the request's directory.
    Directory,
    /// Those of its repository.
    Repository,
    /// All of them.
    All,
}

/// A session that may be meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The session's id.
    pub id: SessionId,
    /// The session; absent when only the index still knows it.
    pub session: Option<Session>,
    /// Between 0 and 1; 1 where it was named.
    pub score: f32,
    /// The words that were found.
    pub snippet: Option<String>,
    /// The transcript that holds them, or what qmd calls its document.
    pub source: Option<PathBuf>,
    /// The line of the transcript that holds them, from 1.
    pub line: Option<u64>,
    /// What qmd's document says of the session, where that is all there is.
    pub document: Option<DocumentHead>,
    /// Whether its id, or the beginning of it, was given, or it is the last one: nobody has to choose.
    pub is_named: bool,
    /// For the last one, among which.
    pub last_of: Option<LastOf>,
}

impl Ranked {
    /// The session, or why it cannot be continued.
    pub fn session(&self) -> Result<&Session, Error> {
        self.session.as_ref().ok_or_else(|| match &self.document {
            Some(_) => location::only_document(&self.id, self.source.as_deref()),
            None => ghosts::deleted_uncopied(&self.id, self.source.as_deref()),
        })
    }
}

/// The sessions that may be meant, best first, at most `limit`; never none.
///
/// Words are searched for in the index.
pub fn find_candidates(context: &Context, which: &SessionRef, limit: usize) -> Result<Vec<Ranked>, Error> {
    let sessions = all(context)?.sessions;
    match (by_name(context, which, &sessions)?, which) {
        (Some(ranked), _) => Ok(vec![ranked]),
        (None, SessionRef::Named(text)) => {
            let question = Question { text: text.clone(), limit, ..Question::default() };
            searched(context, question)
        }
        (None, SessionRef::Last) => Ok(Vec::new()),
    }
}

/// The session that is named by its id or as the last one; none where words have to be searched for.
pub(crate) fn by_name(
    context: &Context,
    which: &SessionRef,
    sessions: &[Session],
) -> Result<Option<Ranked>, Error> {
    match which {
        SessionRef::Last => {
            let (session, last_of) = last(context, sessions)?;
            Ok(Some(Ranked { last_of: Some(last_of), ..ranked_by_name(session.clone()) }))
        }
        SessionRef::Named(text) => {
            let text = text.trim();
            let behind = claude_behind(context, text)?;
            let id = behind.as_ref().map_or(text, SessionId::as_str);
            let found = by_id(context, sessions, id)?;
            Ok(found.map(|session| ranked_by_name(session.clone())))
        }
    }
}

/// Whether nobody needs to be asked: the session was named, or it answers the words well and so much better than the
/// others.
pub fn is_certain(ranked: &[Ranked]) -> bool {
    const CLEARLY: f32 = 1.5;
    let Some((first, others)) = ranked.split_first() else { return false };
    let is_best = others.first().is_none_or(|second| first.score >= CLEARLY * second.score);
    first.is_named || (first.score >= CERTAIN && is_best)
}

fn ranked_by_name(session: Session) -> Ranked {
    Ranked {
        id: session.id.clone(),
        score: 1.0,
        snippet: session.first_message.as_deref().map(ToOwned::to_owned),
        source: session.file.as_deref().map(ToOwned::to_owned),
        line: None,
        document: None,
        is_named: true,
        last_of: None,
        session: Some(session),
    }
}

fn last<'a>(context: &Context, sessions: &'a [Session]) -> Result<(&'a Session, LastOf), Error> {
    let asking = context.asking_session();
    let kept: Vec<&Session> = sessions
        .iter()
        .filter(|session| session.file.is_some() && asking.as_ref() != Some(&session.id))
        .filter(|session| !session.is_hidden())
        .collect();
    let newest = |is_of: &dyn Fn(&Session) -> bool| {
        kept.iter().copied().filter(|session| is_of(session)).max_by_key(|session| session.last_modified)
    };
    let directory = context.directory.as_path();
    if let Some(session) = newest(&|session| session.cwd.as_deref() == Some(directory)) {
        return Ok((session, LastOf::Directory));
    }
    let root = catalog::repository(&context.config().places(), directory);
    if let Some(session) = newest(&|session| session.is_of_repository(&root)) {
        return Ok((session, LastOf::Repository));
    }
    let any = newest(&|_| true).map(|session| (session, LastOf::All));
    any.ok_or_else(no_sessions)
}

/// The session whose id this is or begins with; none where it must be words. What looks like an id is never words: a
/// slip in one must not lead to another session. To an agent another agent's is refused, with its owner's name.
fn by_id<'a>(context: &Context, sessions: &'a [Session], text: &str) -> Result<Option<&'a Session>, Error> {
    let is_word = |session: &Session| session.id.as_str() != text;
    if text.len() < SHORTEST && sessions.iter().all(is_word) {
        return Ok(None);
    }
    match resolve(sessions.iter(), text, |title| context.title_in_error(title)) {
        Ok(session) => Ok(Some(session)),
        Err(error) if error.kind == Kind::NotFound => {
            refuse_of_another(context, text)?;
            if !looks_like_id(text) {
                return Ok(None);
            }
            match ghosts::named(context, text) {
                Some(ghost) => Err(ghosts::cannot_continue(&ghost)),
                None => Err(error.next(NextStep::Search { words: text.to_owned() })),
            }
        }
        Err(error) => Err(error),
    }
}

/// Refuses an agent what is the id of another agent's session, or the beginning of one.
fn refuse_of_another(context: &Context, text: &str) -> Result<(), Error> {
    // Words are no id.
    let (Some(own), Ok(_)) = (context.caller.agent(), text.parse::<SessionId>()) else { return Ok(()) };
    let is_it = |id: &SessionId| id.as_str() == text || (looks_like_id(text) && is_named(id, text));
    let other = |agent: Option<&AgentId>| agent.filter(|agent| *agent != own).cloned();
    let of_catalog = |entry: CatalogEntry| {
        let agent = other(entry.session.origin.agent())?;
        is_it(&entry.session.id).then_some((entry.session.id, agent))
    };
    let mut found = map_all_sessions(context, None, Projection::Scalars, of_catalog)?;
    if found.is_empty() && table::exists(context) {
        // One that was just started has no transcript yet.
        let workers = open_recovered(context)?.newest(usize::MAX).map_err(unusable)?;
        let of_worker = |worker: Worker| {
            let agent = other(worker.agent.as_ref())?;
            is_it(&worker.session).then_some((worker.session, agent))
        };
        found.extend(workers.into_iter().filter_map(of_worker));
    }
    found.first().map_or(Ok(()), |(id, agent)| Err(of_another(&format!("session {id}"), agent, own)))
}

/// The sessions that answer words, from our own index.
pub(crate) fn searched(context: &Context, question: Question) -> Result<Vec<Ranked>, Error> {
    // What is continued is one of Claude's sessions.
    let question = Question { source: Some(SourceKind::ClaudeSessions), ..question };
    let found = find(context, &question)?;
    if found.hits.is_empty() {
        return Err(no_match(&question.text, &found));
    }
    Ok(found.hits.into_iter().map(answered).collect())
}

fn answered(found: Answered) -> Ranked {
    let Answered { hit, session, .. } = found;
    Ranked {
        id: hit.session,
        session,
        score: hit.score,
        snippet: hit.snippet.map(|snippet| snippet.text),
        source: Some(hit.file),
        line: Some(hit.line),
        document: None,
        is_named: false,
        last_of: None,
    }
}

fn no_match(text: &str, found: &Found) -> Error {
    if found.known == 0 {
        return no_sessions();
    }
    let error = Error::new(
        Kind::NotFound,
        format!(
            "no session id starts with `{text}` (at least {SHORTEST} characters), and no session matches it"
        ),
    );
    let error = match &found.stale {
        Some(why) => error.hint(format!("the search index is not up to date: {why}")),
        None if found.pending_files > 0 => error
            .hint(format!("{} files are not indexed yet", found.pending_files))
            .next(NextStep::UpdateIndex),
        None => error,
    };
    error.next(NextStep::ListSessions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::testing::{context, session};

    #[test]
    fn ids_are_not_searched_for_as_words() {
        let sessions = ["3601d36e-b6c0-4e4b-9000-7b07e25374f7", "beef"].map(session);
        let check = |text: &str, expected: Result<Option<&str>, Kind>| {
            let found = by_id(&context(Config::default()), &sessions, text)
                .map(|found| found.map(|session| session.id.as_str()));
            assert_eq!(found.map_err(|error| error.kind), expected, "{text}");
        };
        check("3601d36e", Ok(Some("3601d36e-b6c0-4e4b-9000-7b07e25374f7")));
        check("3601d36f", Err(Kind::NotFound));
        check("99999999-b6c0-4e4b-9000-7b07e25374f7", Err(Kind::NotFound));
        check("beef", Ok(Some("beef")));
        check("cafe", Ok(None));
        check("the parser of step 4", Ok(None));
    }

    #[test]
    fn the_last_session_is_one_of_this_directory_if_it_has_any() {
        let at = |id: &str, cwd: &str, second: i64| Session {
            file: Some(std::path::Path::new(id).into()),
            cwd: Some(std::path::Path::new(cwd).into()),
            repo_path: Some(
                std::path::Path::new(if cwd.starts_with("/shop") { "/shop" } else { cwd }).into(),
            ),
            last_modified: jiff::Timestamp::from_second(second).ok(),
            ..session(id)
        };
        let sessions =
            [at("a", "/shop", 1), at("b", "/shop/web", 2), at("c", "/else", 3), at("d", "/shop", 0)];
        let check = |directory: &str, expected: (&str, LastOf)| {
            let context = Context { directory: directory.into(), ..context(Config::default()) };
            let (found, of) = last(&context, &sessions).unwrap();
            assert_eq!((found.id.as_str(), of), expected, "{directory}");
        };
        check("/shop", ("a", LastOf::Directory));
        check("/shop/web", ("b", LastOf::Directory));
        check("/nowhere", ("c", LastOf::All));
        assert!(last(&context(Config::default()), &[]).is_err());
        let annotations = Some(model::Annotations { hidden: true, ..Default::default() }.into());
        let hidden = [Session { annotations, ..at("e", "/shop", 9) }];
        let context = Context { directory: "/shop".into(), ..context(Config::default()) };
        assert!(last(&context, &hidden).is_err(), "what is hidden is named by its id alone");
        let both: Vec<Session> = hidden.into_iter().chain(sessions).collect();
        assert_eq!(last(&context, &both).unwrap().0.id.as_str(), "a");
    }

    #[test]
    fn a_single_poor_answer_is_not_certain() {
        let check = |scores: &[f32], is_named: bool, expected: bool| {
            let ranked = |score: &f32| Ranked { score: *score, is_named, ..ranked_by_name(session("s")) };
            let ranked: Vec<_> = scores.iter().map(ranked).collect();
            assert_eq!(is_certain(&ranked), expected, "{scores:?}");
        };
        check(&[0.9], false, true);
        check(&[0.009], false, false);
        check(&[0.9, 0.5], false, true);
        check(&[0.9, 0.8], false, false);
        check(&[0.02, 0.01], false, false);
        check(&[1.0], true, true);
        check(&[], false, false);
    }
}
