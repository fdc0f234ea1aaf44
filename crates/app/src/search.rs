//! `search`: the sessions that answer a question, each with the line that does so best.

use std::collections::{HashMap, HashSet};
use std::panic::resume_unwind;
use std::thread;

use catalog::{Filter, Found};
use jiff::Timestamp;
use model::{Session, SessionId};
use search::{FilterName, Query, Scope, Searcher};
pub use search::{Hit, Meaning, Mode, Progress, Snippet, role};
use transcript::Role;

use crate::{App, Error, Kind, Secrets, index, moment};

/// A question and what its answers have to be.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The question; filters may stand among its words.
    pub question: String,
    /// What the sessions have to be.
    pub filter: Filter,
    /// Only this session, by its id or the beginning of it.
    pub session: Option<String>,
    /// Only what this role said or did.
    pub role: Option<Role>,
    /// Only sessions that touched this file.
    pub file: Option<String>,
    /// Only records from then on.
    pub since: Option<Timestamp>,
    /// Only records before then.
    pub until: Option<Timestamp>,
    /// By words, by meaning, or both.
    pub mode: Mode,
    /// At most so many sessions.
    pub limit: usize,
}

/// The answers, and how they came about.
#[derive(Debug, Default)]
pub struct Answer {
    /// Best first.
    pub found: Vec<Answered>,
    /// Sessions that answer at all.
    pub total: u64,
    /// Files that hold something the index does not.
    pub pending_files: u64,
    /// How much that is, in bytes.
    pub pending_bytes: u64,
    /// Another process was writing the index.
    pub busy: bool,
    /// The index could not be brought up to date, and why.
    pub stale: Option<String>,
    /// Words of a very long question were left out.
    pub cut: bool,
    /// How many sessions there are in all.
    pub known: usize,
    /// Whether the question's meaning was looked at.
    pub meaning: Meaning,
}

/// A session that answers.
#[derive(Debug, Clone)]
pub struct Answered {
    /// Where and how well.
    pub hit: Hit,
    /// Its facts; absent when its transcript is gone.
    pub session: Option<Session>,
}

/// Whether nothing was ever indexed here.
pub fn is_first(app: &App) -> bool {
    !index::folder(app).join("files.sqlite").exists()
}

/// Answers a question from the index, brought up to date while `keep_going` says so.
pub fn search(
    app: &App,
    request: &Request,
    keep_going: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Answer, Error> {
    let query = Query::parse(&request.question);
    let request = with_written_filters(app, request, &query)?;
    if query.is_empty() && request.file.is_none() {
        return Err(Error::new(Kind::Usage, "the question holds no words to search for"));
    }
    let found = catalog::find(&app.config.places());
    let named = named(&request, &found)?;
    let files: HashMap<SessionId, usize> =
        found.sessions.iter().enumerate().map(|(at, file)| (file.id.clone(), at)).collect();
    let transcripts = found.sessions.clone();
    let mut answer = Answer { cut: query.cut, known: transcripts.len(), ..Answer::default() };
    let (synced, chosen) = thread::scope(|threads| {
        // Which sessions may answer is told by other files than whether the index is fresh.
        let chosen = threads.spawn(|| named.or_else(|| chosen(app, &request, &found)));
        let synced = index::sync(app, found.clone(), keep_going);
        (synced, chosen.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    match synced {
        Ok(synced) => {
            answer.pending_files = synced.pending_files;
            answer.pending_bytes = synced.pending_bytes;
            answer.busy = synced.busy;
        }
        // What is indexed can still be asked: a read-only disk is no reason to say nothing.
        Err(error) => answer.stale = Some(error.message),
    }
    let scope = Scope {
        sessions: chosen,
        role: request.role,
        file: request.file.clone(),
        since: request.since,
        until: request.until,
        shows_secrets: app.secrets == Secrets::Shown,
    };
    let searcher = Searcher::open(&index::folder(app)).map_err(|error| index::failed(&error))?;
    let Some(mut searcher) = searcher else { return Ok(answer) };
    let outcome = searcher
        .search(&query, &scope, request.mode, app.config.places().threads, request.limit)
        .map_err(|error| index::failed(&error))?;
    answer.meaning = outcome.meaning;
    let cited: Vec<_> =
        outcome.hits.iter().filter_map(|hit| transcripts.get(*files.get(&hit.session)?)).collect();
    let sessions = catalog::describe_some(&app.config.places(), &cited);
    let mut by_id: HashMap<SessionId, Session> =
        sessions.into_iter().map(|session| (session.id.clone(), session)).collect();
    for session in by_id.values_mut() {
        app.told_session(session);
    }
    answer.total = outcome.total;
    answer.found =
        outcome.hits.into_iter().map(|hit| Answered { session: by_id.remove(&hit.session), hit }).collect();
    Ok(answer)
}

/// The request with the filters that stand among the words; those given apart win.
fn with_written_filters(app: &App, request: &Request, query: &Query) -> Result<Request, Error> {
    let mut request = request.clone();
    for written in &query.filters {
        let value = written.value.clone();
        match written.name {
            FilterName::Project | FilterName::Repo => set(&mut request.filter.project, value),
            FilterName::Branch => set(&mut request.filter.branch, value),
            FilterName::Source => set(&mut request.filter.origin, value),
            FilterName::Session => set(&mut request.session, value),
            FilterName::File => set(&mut request.file, value),
            FilterName::Role => request.role = request.role.or_else(|| role(&value)),
            FilterName::Since => set(&mut request.since, moment(app, &value)?),
            FilterName::Until => set(&mut request.until, moment(app, &value)?),
            FilterName::Agent => {
                let agent = value
                    .parse()
                    .map_err(|error| Error::new(Kind::Usage, format!("agent:{value}: {error}")))?;
                set(&mut request.filter.agent, agent);
            }
        }
    }
    Ok(request)
}

fn set<T>(slot: &mut Option<T>, value: T) {
    slot.get_or_insert(value);
}

/// The session that is asked for by its id or the beginning of it.
fn named(request: &Request, found: &Found) -> Result<Option<HashSet<SessionId>>, Error> {
    let Some(text) = &request.session else { return Ok(None) };
    let begins =
        |id: &SessionId| id.as_str() == text || id.as_str().starts_with(text.as_str()) || id.short() == text;
    let ids: HashSet<SessionId> =
        found.sessions.iter().map(|file| file.id.clone()).filter(|id| begins(id)).collect();
    if ids.is_empty() {
        return Err(Error::new(Kind::NotFound, format!("no session's id begins with `{text}`"))
            .hint("`backstory list` shows the ids"));
    }
    Ok(Some(ids))
}

/// The sessions that meet the filter; `None` when there is none to meet.
fn chosen(app: &App, request: &Request, found: &Found) -> Option<HashSet<SessionId>> {
    let asked = request.filter != Filter::default();
    asked.then(|| catalog::select(&app.config.places(), found, &request.filter))
}
