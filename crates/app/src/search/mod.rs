//! `search`: the sessions that answer a question, each with the line that does so best.

pub mod embed;
pub mod export;
pub mod export_schedule;
pub mod index;
pub mod intent;
pub mod memory;
mod memory_score;
pub(crate) mod time_limit;

use std::collections::{HashMap, HashSet};

use catalog::{Discovery, SessionFilter};
use jiff::Timestamp;
use model::{Session, SessionId};
use openclaw::{Memory, StoredConversation};
pub use search::{EncoderReport, Hit, IndexProgress, MeaningStatus, Mode, Snippet, SourceKind, role};
use search::{FilterName, Query, QueryPostings, SearchResults, SearchScope, Searcher};
use system::join;
use transcript::Role;

use crate::repository::target;
use crate::search::index::Refreshed;

use crate::context::Visible;
use crate::{Context, Error, Kind, Moment, NextStep, Secrets};

/// A question and what its answers have to be.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The question; filters may stand among its words.
    pub question: String,
    /// What the sessions have to be.
    pub filter: SessionFilter,
    /// Only from this source.
    pub source: Option<SourceKind>,
    /// Only this session, by its id or the beginning of it, or OpenClaw's key of a conversation.
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
    /// The model that reads the question, where it is not that of the settings.
    pub model: Option<String>,
    /// Whether the model reads the best sessions again.
    pub deep: bool,
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
    pub meaning: MeaningStatus,
    /// Who looked at it; absent where nobody did.
    pub understood: Option<EncoderReport>,
    /// Where nothing was found: indexed words near those of the question.
    pub near: Vec<String>,
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
pub fn is_first(context: &Context) -> bool {
    !index::folder(context).join("files.sqlite").exists()
}

/// Answers a question from the index, which is brought up to date first, for as long as the settings allow.
pub fn search(context: &Context, request: &Request) -> Result<Answer, Error> {
    let (found, opened) = index::find(context, |searcher| Ahead::ask(context, request, searcher));
    let request = &with_tag(context, request, &found);
    let query = Query::parse(&request.question);
    let mut request = with_written_filters(context, request, &query)?;
    let typed = request.filter.project.take();
    request.filter.project = typed.map(|typed| project(context, &typed, &found));
    if query.is_empty() && request.file.is_none() {
        return Err(Error::new(Kind::Usage, "the question has no words to search for"));
    }
    let understanding = embed::understanding(context, request.model.as_deref(), request.deep)?;
    let memory = index::memory(context);
    let visible = context.visible(&found, &memory);
    let known = visible.as_ref().map_or(found.sessions.len(), |visible| visible.sessions.len());
    let mut answer = Answer { cut: query.cut, known, ..Answer::default() };
    let refresh = || index::refreshed(context, opened, &found, &memory);
    let (Refreshed { synced, searcher, answer: ahead }, chosen) =
        match named(&request, &found, &memory, visible.as_ref())? {
            Some(named) => (refresh(), named),
            None if request.filter == SessionFilter::default() => (refresh(), Chosen::default()),
            // The filter reads other files than the check whether the index is fresh, so both run at once.
            None => join(refresh, || chosen(context, &request, &found, &memory)),
        };
    context.check_cancelled()?;
    match synced {
        Ok(synced) => {
            answer.pending_files = synced.pending_files;
            answer.pending_bytes = synced.pending_bytes;
            answer.busy = synced.busy;
        }
        // What is indexed can still be asked: a read-only disk is no reason to say nothing.
        Err(error) => answer.stale = Some(error.message),
    }
    let scope = scope(context, &request, chosen.within(visible.as_ref()));
    let Some(mut searcher) = searcher? else { return Ok(answer) };
    let ask = |walked| {
        searcher.set_query_encoder(understanding);
        let threads = context.config().places().threads;
        searcher.search_with_postings(&query, &scope, request.mode, threads, request.limit, walked)
    };
    let outcome = match ahead {
        Some(Ahead::Answered(outcome)) => outcome,
        Some(Ahead::QueryPostings(walked)) => ask(Some(walked)),
        Some(Ahead::Nothing) | None => ask(None),
    };
    let outcome = outcome.map_err(|error| index::failed(&error))?;
    answer.meaning = outcome.meaning;
    answer.understood = outcome.understood;
    // The words of others are theirs.
    if outcome.hits.is_empty() && visible.is_none() {
        answer.near = searcher.nearest_words(&query).map_err(|error| index::failed(&error))?;
    }
    let hit: HashSet<&SessionId> = outcome.hits.iter().map(|hit| &hit.session).collect();
    let cited: Vec<_> = found.sessions.iter().filter(|file| hit.contains(&file.id)).collect();
    let sessions = catalog::describe_some(&context.config().places(), &cited);
    let mut by_id: HashMap<SessionId, Session> =
        sessions.into_iter().map(|session| (session.id.clone(), session)).collect();
    for session in by_id.values_mut() {
        context.redact_session(session);
    }
    answer.total = outcome.total;
    answer.found =
        outcome.hits.into_iter().map(|hit| Answered { session: by_id.remove(&hit.session), hit }).collect();
    Ok(answer)
}

/// What the index was asked before it was known whether it is up to date.
enum Ahead {
    /// All, where no more than the question says which sessions may answer, and nobody else reads it.
    Answered(Result<SearchResults, ::search::Error>),
    /// What it holds of the words.
    QueryPostings(QueryPostings),
    /// Nothing: the words are not known yet, or it failed and will fail again.
    Nothing,
}

impl Ahead {
    fn ask(context: &Context, request: &Request, searcher: &mut Searcher) -> Self {
        let query = Query::parse(&request.question);
        let Ok(request) = with_written_filters(context, request, &query) else { return Self::Nothing };
        let has_tag = ::search::tags(&request.question).next().is_some();
        if has_tag || query.is_empty() || context.caller.agent().is_some() {
            return Self::Nothing;
        }
        let (scope, threads) =
            (scope(context, &request, Chosen::default()), context.config().places().threads);
        let is_of_all = request.session.is_none() && request.filter == SessionFilter::default();
        let chosen = || embed::understanding(context, request.model.as_deref(), request.deep);
        if is_of_all && matches!(chosen(), Ok(None)) {
            return Self::Answered(searcher.search(&query, &scope, request.mode, threads, request.limit));
        }
        searcher.load_postings(&query, &scope, threads).map_or(Self::Nothing, Self::QueryPostings)
    }
}

/// What may be found.
fn scope(context: &Context, request: &Request, chosen: Chosen) -> SearchScope {
    SearchScope {
        sessions: chosen.sessions,
        conversations: chosen.conversations,
        sources: request.source.map(|source| HashSet::from([source])),
        owned: Vec::new(),
        role: request.role,
        file: request.file.clone(),
        since: request.since,
        until: request.until,
        shows_secrets: context.secrets == Secrets::Shown,
        passages: 0,
    }
}

/// The request with the filters that stand among the words; those given apart win.
fn with_written_filters(context: &Context, request: &Request, query: &Query) -> Result<Request, Error> {
    let mut request = request.clone();
    for written in &query.filters {
        let value = written.value.clone();
        match written.name {
            FilterName::Project | FilterName::Repo => set(&mut request.filter.project, value),
            FilterName::Branch => set(&mut request.filter.branch, value),
            FilterName::Origin => set(&mut request.filter.origin, value),
            FilterName::Source => request.source = request.source.or_else(|| SourceKind::parse(&value)),
            FilterName::Session => set(&mut request.session, value),
            FilterName::File => set(&mut request.file, value),
            FilterName::Role => request.role = request.role.or_else(|| role(&value)),
            FilterName::Since => set(&mut request.since, Moment::from(value.as_str()).at(context)?),
            FilterName::Until => set(&mut request.until, Moment::from(value.as_str()).at(context)?),
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

/// The request with `#name` taken for the project of that name, where there is one.
fn with_tag(context: &Context, request: &Request, found: &Discovery) -> Request {
    let mut request = request.clone();
    if request.filter.project.is_none()
        && let Some((question, project)) = tagged(context, &request.question, found)
    {
        request.question = question;
        request.filter.project = Some(project);
    }
    request
}

/// The question without `#name`, and the name, where there is a project of that name.
pub(crate) fn tagged(context: &Context, question: &str, found: &Discovery) -> Option<(String, String)> {
    let name = search::tags(question).find(|name| !of_project(context, name, found).is_empty())?;
    Some((search::without_tag(question, name), name.to_owned()))
}

/// What filters call the project that a person names.
pub(crate) fn project(context: &Context, typed: &str, found: &Discovery) -> String {
    target::project(context, typed, |name| !of_project(context, name, found).is_empty())
}

/// The Claude sessions of a project.
pub(crate) fn of_project(context: &Context, name: &str, found: &Discovery) -> HashSet<SessionId> {
    let filter = SessionFilter { project: Some(name.to_owned()), ..SessionFilter::default() };
    let places = context.config().places();
    catalog::select(&places, found, &filter)
}

/// The sessions of Claude Code and the conversations of OpenClaw that may be found; `None` for all.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) sessions: Option<HashSet<SessionId>>,
    pub(crate) conversations: Option<HashSet<SessionId>>,
}

impl Chosen {
    /// Of these, what the caller may find.
    pub(crate) fn within(self, visible: Option<&Visible>) -> Self {
        let Some(visible) = visible else { return self };
        Self {
            sessions: Some(common(self.sessions, &visible.sessions)),
            conversations: Some(common(self.conversations, &visible.conversations)),
        }
    }
}

fn common(chosen: Option<HashSet<SessionId>>, with: &HashSet<SessionId>) -> HashSet<SessionId> {
    match chosen {
        Some(chosen) => chosen.intersection(with).cloned().collect(),
        None => with.clone(),
    }
}

/// The session that is asked for by its id or the beginning of it, or by OpenClaw's key with all that works
/// for it.
pub(crate) fn named(
    request: &Request,
    found: &Discovery,
    memory: &Memory,
    visible: Option<&Visible>,
) -> Result<Option<Chosen>, Error> {
    let Some(text) = &request.session else { return Ok(None) };
    let begins =
        |id: &SessionId| id.as_str() == text || id.as_str().starts_with(text.as_str()) || id.short() == text;
    let mut sessions: HashSet<SessionId> =
        found.sessions.iter().map(|file| file.id.clone()).filter(|id| begins(id)).collect();
    let mut conversations: HashSet<SessionId> = memory
        .agents
        .iter()
        .flat_map(|agent| agent.transcripts.iter().map(|file| file.session.clone()))
        .filter(|id| begins(id))
        .collect();
    let key = text.to_lowercase();
    for conversation in all_conversations(memory) {
        if conversation.key.as_ref() == Some(&key) || conversations.contains(&conversation.session) {
            conversations.insert(conversation.session);
            sessions.extend(conversation.claude);
        }
    }
    if let Some(visible) = visible {
        sessions.retain(|id| visible.sessions.contains(id));
        conversations.retain(|id| visible.conversations.contains(id));
    }
    if sessions.is_empty() && conversations.is_empty() {
        return Err(Error::new(
            Kind::NotFound,
            format!("no session id starts with `{text}`, and no conversation has that key"),
        )
        .next(NextStep::ListSessions));
    }
    Ok(Some(Chosen { sessions: Some(sessions), conversations: Some(conversations) }))
}

/// The conversations of all agents' stores.
pub(crate) fn all_conversations(memory: &Memory) -> impl Iterator<Item = StoredConversation> {
    memory.agents.iter().flat_map(|agent| agent.conversations().0)
}

/// The sessions that meet the filter. Only an agent has conversations and notes: whatever else is asked for,
/// none of them has.
fn chosen(context: &Context, request: &Request, found: &Discovery, memory: &Memory) -> Chosen {
    let SessionFilter { agent, .. } = &request.filter;
    let only_agent = request.filter == SessionFilter { agent: agent.clone(), ..SessionFilter::default() };
    let of_agent = memory.agents.iter().filter(|known| only_agent && Some(&known.agent) == agent.as_ref());
    let places = context.config().places();
    Chosen {
        sessions: Some(catalog::select(&places, found, &request.filter)),
        conversations: Some(of_agent.flat_map(search::session_names).collect()),
    }
}
