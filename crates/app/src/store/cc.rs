//! `cc`: the Claude sessions of OpenClaw's agents, in the grammar and JSON of `openclaw cc`.

use std::collections::{BTreeMap, HashSet};

use catalog::{Locations, agents_sessions};
use model::{AgentId, Origin, Session, SessionId};
use serde::Serialize;

use crate::sessions::list::{self, OriginName, list};
use crate::{Config, Context, Error, Kind};

/// Which sessions.
#[derive(Debug, Clone, Default)]
pub struct CcRequest {
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Those that people started too; of a repository they are there anyway.
    pub all: bool,
    /// Only of this repository.
    pub repo: Option<String>,
    /// Only those active since then.
    pub since: Option<crate::Moment>,
}

/// One session.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CcSession {
    /// Its id.
    pub session_id: String,
    /// `openclaw` or `native`.
    pub origin: &'static str,
    /// The agent that started it.
    pub agent_id: Option<AgentId>,
    /// The label it was started under.
    pub label: Option<String>,
    /// Its repository.
    pub repo_path: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// What was said first.
    pub first_message: Option<String>,
    /// When it was active last.
    pub last_modified: Option<jiff::Timestamp>,
    /// The lines of its transcript.
    pub message_count: u64,
    /// Its cost in US dollars, of the registry, else estimated.
    pub total_cost_usd: f64,
    /// Its turns.
    pub total_turns: Option<u64>,
    /// Whether a process has it open.
    pub is_running: bool,
}

impl From<&Session> for CcSession {
    fn from(session: &Session) -> Self {
        let (agent_id, label) = match &session.origin {
            Origin::OpenClaw { agent, label } => {
                (Some(agent.clone()), label.as_ref().map(ToString::to_string))
            }
            Origin::Native | Origin::Archived | Origin::Ghost => (None, None),
        };
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        Self {
            session_id: session.id.to_string(),
            origin: OriginName::from(&session.origin).as_str(),
            agent_id,
            label,
            repo_path: session.repo_path.as_ref().map(|path| path.display().to_string()),
            branch: text(&session.branch),
            first_message: text(&session.first_message),
            last_modified: session.last_modified,
            message_count: session.message_count,
            total_cost_usd: session.registry_cost_usd.or(session.cost_usd).unwrap_or(0.0),
            total_turns: session.registry_turns,
            is_running: session.is_running,
        }
    }
}

/// Lists Claude sessions: with an installation that the environment names, those that agents of others started are
/// left out.
pub fn sessions(context: &Context, request: &CcRequest) -> Result<Vec<CcSession>, Error> {
    let (context, elsewhere) = in_installation(context);
    let context = &context;
    let has_people = request.all || request.repo.is_some();
    let wanted = list::Request {
        project: request.repo.clone(),
        origin: (!has_people).then_some(OriginName::OpenClaw),
        agent: request.agent.clone(),
        since: request.since.clone(),
        ..list::Request::default()
    };
    let found = list(context, &wanted)?.sessions;
    let is_meant = |session: &&Session| !session.is_conversation && !elsewhere.contains(&session.id);
    Ok(found.iter().filter(is_meant).map(CcSession::from).collect())
}

/// The same request, limited to the installation that the environment names, and the sessions that only others know.
fn in_installation(context: &Context) -> (Context, HashSet<SessionId>) {
    let config = context.config();
    let named = &config.openclaw_installation;
    if named.is_empty() {
        return (context.clone(), HashSet::new());
    }
    let others = config.openclaw_folders.iter().filter(|folder| !named.contains(folder)).cloned().collect();
    let of = |folders| agents_sessions(&Locations { openclaw_folders: folders, ..config.places() });
    let (own, mut elsewhere) = (of(named.clone()), of(others));
    elsewhere.retain(|session| !own.contains(session));
    let config = Config { openclaw_folders: named.clone(), ..config.clone() };
    (context.with_config(config), elsewhere)
}

/// One session, by its id or the beginning of it.
pub fn info(context: &Context, id: &str) -> Result<CcSession, Error> {
    let all = sessions(context, &CcRequest { all: true, ..CcRequest::default() })?;
    let mut found = all.into_iter().filter(|session| session.session_id.starts_with(id));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Error::new(
            Kind::Ambiguous,
            format!("several sessions start with `{id}`; give more of the id"),
        )),
        _ => Err(Error::new(Kind::NotFound, format!("there is no session `{id}`"))),
    }
}

/// What sessions have cost.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Costs {
    /// In US dollars.
    pub total_cost: f64,
    /// Turns.
    pub total_turns: u64,
    /// Sessions.
    pub total_sessions: usize,
    /// By repository.
    pub by_repo: BTreeMap<String, CcShare>,
    /// By agent.
    pub by_agent: BTreeMap<String, CcShare>,
}

/// The part of one repository or agent.
#[derive(Debug, Default, Serialize)]
pub struct CcShare {
    /// In US dollars.
    pub cost: f64,
    /// Turns.
    pub turns: u64,
    /// Sessions.
    pub sessions: usize,
}

impl CcShare {
    fn add(&mut self, session: &CcSession) {
        self.cost += session.total_cost_usd;
        self.turns += session.total_turns.unwrap_or(0);
        self.sessions += 1;
    }
}

/// Adds up what sessions have cost.
pub fn costs(context: &Context, request: &CcRequest) -> Result<Costs, Error> {
    let mut costs = Costs::default();
    for session in sessions(context, request)? {
        costs.total_cost += session.total_cost_usd;
        costs.total_turns += session.total_turns.unwrap_or(0);
        costs.total_sessions += 1;
        let repo = session.repo_path.clone().unwrap_or_else(|| "unknown".to_owned());
        costs.by_repo.entry(repo).or_default().add(&session);
        let agent = session.agent_id.as_ref().map_or_else(|| "native".to_owned(), ToString::to_string);
        costs.by_agent.entry(agent).or_default().add(&session);
    }
    Ok(costs)
}
