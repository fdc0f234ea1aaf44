//! `fork`: the sessions that know most about an intent, and a fork of the one that is wanted.

use std::ffi::OsString;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::settings::Engine;
use crate::proceed::fork::{self, Fork, ForkCandidate, candidates};
use crate::search::Mode;
use crate::search::intent::{self, Found};
pub use crate::search::intent::{Guidance, HowFound, Recent};
use crate::sessions::list::SessionFilter;
use crate::sessions::lookup::{Ranked, SessionRef};
use crate::workers::instruction::require_short;
use crate::workers::{ForkedWorker, work};
use crate::{Context, Error, Kind, NextStep};

/// The score below which a session is not forked unseen, where no other is asked for.
const LEAST_SCORE: f32 = 0.25;

/// What a fork is wanted for, and which session is forked.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ForkRequest")]
pub struct Request {
    /// What you want to do, or a session id or its beginning.
    pub intent: String,
    /// The most recently active session instead of an intent.
    pub last: bool,
    /// The maximum number of sessions.
    #[schemars(range(min = 1))]
    pub limit: usize,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project_path: Option<String>,
    /// Search this qmd collection.
    pub collection: Option<String>,
    /// Only sessions with at least this score, from 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f32>,
    /// Include the matching text of each session.
    pub include_snippets: bool,
    /// Fork the best session, or the one that `fork_index` or `fork_rank` names, and start a background worker on the intent in it.
    pub auto_fork: bool,
    /// Fork the session at this index, counted from 0.
    pub fork_index: Option<usize>,
    /// Fork the session with this rank, counted from 1.
    #[schemars(range(min = 1))]
    pub fork_rank: Option<usize>,
    /// Fork at the message with this `uuid`, leaving out what came after it.
    pub at: Option<String>,
    /// The directory in which the fork continues; by default the session's own.
    pub directory: Option<PathBuf>,
    /// The search engine: Backstory's index (`own`), `qmd`, or qmd if installed (`auto`); by default the one in the settings.
    pub engine: Option<Engine>,
    /// Search Backstory's index by words (`lexical`), by meaning (`semantic`) or both (`hybrid`).
    pub mode: Mode,
    /// What a person passes on to `claude`; a worker takes none.
    #[serde(skip)]
    pub extra: Vec<OsString>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            intent: String::new(),
            last: false,
            limit: 5,
            project_path: None,
            collection: None,
            min_score: None,
            include_snippets: true,
            auto_fork: false,
            fork_index: None,
            fork_rank: None,
            at: None,
            directory: None,
            engine: None,
            mode: Mode::default(),
            extra: Vec::new(),
        }
    }
}

/// The sessions that were found, or what to do where there are none.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ForkAnswer")]
pub enum Answer<S = String> {
    /// The sessions that can be forked, best first.
    ForkSessions(ForkSessions),
    /// No session was found; what to do instead.
    Nothing(Guidance<S>),
}

/// Sessions that can be forked, and the fork that was made.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ForkSessions")]
pub struct ForkSessions {
    /// What was asked for.
    pub query: String,
    /// The intent that was searched for.
    pub intent: String,
    /// How they were found.
    #[serde(flatten)]
    pub how: HowFound,
    /// The sessions, best first.
    pub results: Vec<ForkCandidate>,
    /// How many there are.
    pub count: usize,
    /// The rank of the session that was forked, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_index: Option<usize>,
    /// The rank of the session that was forked, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_rank: Option<usize>,
    /// The fork, in which a worker works on the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_session: Option<ForkedWorker>,
}

impl Answer<NextStep> {
    /// The same with its next steps in an interface's own words.
    pub fn worded(self, word: impl Fn(&NextStep) -> String) -> Answer {
        match self {
            Self::ForkSessions(sessions) => Answer::ForkSessions(sessions),
            Self::Nothing(guidance) => Answer::Nothing(guidance.worded(word)),
        }
    }
}

/// A fork to go on with on the terminal, or what there is to choose from.
#[derive(Debug)]
pub enum Next {
    /// The session was named, or its rank was.
    Fork(Box<Fork>),
    /// Somebody has to choose.
    Choose(Box<Answer<NextStep>>),
}

/// Finds sessions; where a rank is given, a worker in the background works on the query in a fork of that one.
pub fn forks(context: &Context, request: &Request) -> Result<Answer<NextStep>, Error> {
    let (ranked, how) = match find(context, request)? {
        Found::Ranked(ranked, how) => (ranked, how),
        Found::Nothing(guidance) => return Ok(Answer::Nothing(guidance)),
    };
    if let Some(guidance) = too_weak(context, request, &ranked, &how)? {
        return Ok(Answer::Nothing(guidance));
    }
    let forked = match chosen(request, &ranked)? {
        Some(found) => Some(work(context, found.session()?, &request.fork(), task(found, &request.intent)?)?),
        None => None,
    };
    let rank = request.rank()?;
    Ok(Answer::ForkSessions(ForkSessions {
        forked_index: rank.map(|rank| rank - 1),
        forked_rank: rank,
        forked_session: forked,
        ..sessions(context, request, &ranked, how)
    }))
}

/// Finds sessions for a person on a terminal, who continues in a fork of the one named by its rank or id.
pub fn next(context: &Context, request: &Request) -> Result<Next, Error> {
    let (ranked, how) = match find(context, request)? {
        Found::Ranked(ranked, how) => (ranked, how),
        Found::Nothing(guidance) => return Ok(Next::Choose(Box::new(Answer::Nothing(guidance)))),
    };
    match chosen(request, &ranked)?.or_else(|| ranked.first().filter(|found| found.is_named)) {
        Some(found) => Ok(Next::Fork(Box::new(fork::fork(context, found.session()?, &request.fork())?))),
        None => Ok(Next::Choose(Box::new(Answer::ForkSessions(sessions(context, request, &ranked, how))))),
    }
}

fn find(context: &Context, request: &Request) -> Result<Found, Error> {
    if request.min_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return Err(Error::new(Kind::Usage, "the minimum score must be a number from 0 to 1"));
    }
    require_short("an intent", &request.intent)?;
    intent::find(context, &request.intent()?)
}

/// What to do instead where the best session would be forked unseen and hardly answers. Scores of qmd are its own.
fn too_weak(
    context: &Context,
    request: &Request,
    ranked: &[Ranked],
    how: &HowFound,
) -> Result<Option<Guidance<NextStep>>, Error> {
    let is_unseen = request.auto_fork && request.fork_rank.is_none() && request.fork_index.is_none();
    let is_judged = is_unseen && request.min_score.is_none() && how.engine == Engine::Own;
    let best = ranked.first().filter(|best| is_judged && !best.is_named && best.score < LEAST_SCORE);
    best.map(|best| intent::none_good_enough(context, &request.intent()?, LEAST_SCORE, best.score))
        .transpose()
}

/// The session with the rank that was given, if any.
fn chosen<'a>(request: &Request, ranked: &'a [Ranked]) -> Result<Option<&'a Ranked>, Error> {
    let Some(rank) = request.rank()? else { return Ok(None) };
    let found = rank.checked_sub(1).and_then(|at| ranked.get(at));
    found.map(Some).ok_or_else(|| {
        Error::new(Kind::Usage, format!("there is no rank {rank}; the last one is {}", ranked.len()))
            .hint("ask without a rank first: the answer lists the sessions with theirs")
    })
}

/// The task of a worker in the fork; a session that is named comes with none.
fn task<'a>(found: &Ranked, query: &'a str) -> Result<&'a str, Error> {
    if !found.is_named {
        return Ok(query);
    }
    Err(Error::new(Kind::Usage, "a session given by its id comes without a task to work on")
        .next(NextStep::RunInFork { session: found.id.clone() }))
}

fn sessions(context: &Context, request: &Request, ranked: &[Ranked], how: HowFound) -> ForkSessions {
    let mut results = candidates(context, ranked, request.directory.is_some());
    if !request.include_snippets {
        for candidate in &mut results {
            candidate.snippet = None;
        }
    }
    let query = if request.last { String::new() } else { request.intent.clone() };
    ForkSessions {
        intent: query.clone(),
        query,
        how,
        count: results.len(),
        results,
        forked_index: None,
        forked_rank: None,
        forked_session: None,
    }
}

impl Request {
    /// The rank to fork, from 1, if one is to be forked.
    fn rank(&self) -> Result<Option<usize>, Error> {
        let by_index = self.fork_index.map(|index| index.saturating_add(1));
        match (self.fork_rank, by_index) {
            (Some(rank), Some(other)) if rank != other => {
                let message = "`fork_index` counts from 0 and `fork_rank` from 1: these name two sessions";
                Err(Error::new(Kind::Usage, message).hint("give one of them"))
            }
            (Some(rank), _) | (None, Some(rank)) => Ok(Some(rank)),
            (None, None) => Ok(self.auto_fork.then_some(1)),
        }
    }

    fn intent(&self) -> Result<intent::Request, Error> {
        let wanted = if self.last { SessionRef::Last } else { SessionRef::Named(self.intent.clone()) };
        Ok(intent::Request {
            wanted,
            limit: self.limit.max(self.rank()?.unwrap_or(1)),
            min_score: self.min_score,
            filter: SessionFilter { project: self.project_path.clone(), ..SessionFilter::default() },
            collection: self.collection.clone(),
            mode: self.mode,
            engine: self.engine,
        })
    }

    fn fork(&self) -> fork::Request {
        fork::Request { into: self.directory.clone(), at: self.at.clone(), extra: self.extra.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_session_can_be_forked() {
        let check = |json: &str, expected: Result<Option<usize>, Kind>| {
            let request: Request = serde_json::from_str(json).unwrap();
            assert_eq!(request.rank().map_err(|error| error.kind), expected, "{json}");
        };
        check("{}", Ok(None));
        check(r#"{"auto_fork": true}"#, Ok(Some(1)));
        check(r#"{"auto_fork": true, "fork_index": 2}"#, Ok(Some(3)));
        check(r#"{"fork_index": 0}"#, Ok(Some(1)));
        check(r#"{"fork_rank": 2}"#, Ok(Some(2)));
        check(r#"{"fork_rank": 2, "fork_index": 1}"#, Ok(Some(2)));
        check(r#"{"fork_rank": 2, "fork_index": 2}"#, Err(Kind::Usage));
    }
}
