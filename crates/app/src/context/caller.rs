//! Who asks, and what they may see: agents their own sessions, the person all.
//!
//! Everything that finds or names a session, a worker or a conversation asks here, so that every interface keeps agents
//! apart in the same way. What a caller may not see does not exist for them: it is not found, not refused. Only an
//! agent that wants to continue another agent's session learns its owner.

use std::collections::HashSet;
use std::path::Path;

use catalog::{Discovery, ProjectScope, SessionFilter};
use model::{AgentId, SessionId};
use openclaw::Memory;
use search::SourceKind;
use workers::WorkerId;
use workers::store::Worker;

use crate::{Context, Error, Kind};

/// Who makes a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Caller {
    /// The person at the machine.
    #[default]
    Person,
    /// A model that acts for the person over MCP: it sees what they see, within `mcp.projects` and `mcp.deny`, and may
    /// do nothing that is theirs alone.
    Assistant,
    /// One of OpenClaw's agents.
    Agent(AgentId),
    /// The `claude` of a worker, for the person or for the agent it works for.
    Worker {
        /// The worker that the agent runs in.
        worker: WorkerId,
        /// The agent it works for.
        agent: Option<AgentId>,
    },
}

impl Caller {
    /// The agent to whose sessions the caller is limited; `None` where nothing limits them.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Person | Self::Assistant => None,
            Self::Agent(agent) => Some(agent),
            Self::Worker { agent, .. } => agent.as_ref(),
        }
    }

    /// Whether the caller is a model.
    pub(crate) fn is_model(&self) -> bool {
        matches!(self, Self::Assistant | Self::Worker { .. })
    }
}

/// The sessions and conversations that a caller with limits may see.
#[derive(Debug, Clone)]
pub(crate) struct Visible {
    pub(crate) sessions: HashSet<SessionId>,
    pub(crate) conversations: HashSet<SessionId>,
}

impl Visible {
    /// What may be found of a source, by the names that the index has for it.
    pub(crate) fn names(&self, source: SourceKind) -> &HashSet<SessionId> {
        if source == SourceKind::ClaudeSessions { &self.sessions } else { &self.conversations }
    }
}

impl Context {
    /// The filter that a session has to match for the caller to see it; the default one if nothing limits the caller.
    /// Create it once for many sessions.
    pub(crate) fn visible_filter(&self) -> SessionFilter {
        SessionFilter { agent: self.caller.agent().cloned(), scope: self.scope(), ..SessionFilter::default() }
    }

    /// Whether there are sessions that the caller may not see.
    pub(crate) fn is_limited(&self) -> bool {
        self.visible_filter() != SessionFilter::default()
    }

    /// Whether the caller may see a worker.
    pub(crate) fn may_see_worker(&self, worker: &Worker) -> bool {
        self.is_of(worker.agent.as_ref()) && self.may_see_directory(&worker.directory)
    }

    /// Whether the caller may see the project that a directory belongs to.
    pub(crate) fn may_see_directory(&self, directory: &Path) -> bool {
        let scope = self.scope();
        let root = || catalog::repository(&self.config().places(), directory);
        scope.is_everything() || scope.admits_directory(&root(), directory)
    }

    /// Refuses a directory of a project that the caller may not see.
    pub(crate) fn require_visible(&self, directory: &Path) -> Result<(), Error> {
        if self.may_see_directory(directory) {
            return Ok(());
        }
        let message = format!("{} is not in a project that models may see", directory.display());
        Err(Error::new(Kind::Forbidden, message)
            .hint("the person chooses these with the settings `mcp.projects` and `mcp.deny`"))
    }

    /// Whether the caller may see what belongs to no project: OpenClaw's conversations and notes.
    pub(crate) fn may_see_conversations(&self) -> bool {
        !self.scope().names_projects()
    }

    /// The projects that the caller may see.
    fn scope(&self) -> ProjectScope {
        match self.caller {
            Caller::Person | Caller::Agent(_) => ProjectScope::default(),
            Caller::Assistant | Caller::Worker { .. } => {
                let config = self.config();
                ProjectScope::new(&config.settings.mcp.projects, &config.settings.mcp.deny, &config.home)
            }
        }
    }

    /// Whether the caller may see what belongs to `owner`; `None` is the person.
    pub(crate) fn is_of(&self, owner: Option<&AgentId>) -> bool {
        self.caller.agent().is_none_or(|agent| owner == Some(agent))
    }

    /// The agent for whom a request is made: the one it names, else the caller. An agent may name itself alone.
    pub(crate) fn agent(&self, named: Option<&AgentId>) -> Result<Option<AgentId>, Error> {
        match (self.caller.agent(), named) {
            (Some(agent), Some(named)) if agent != named => {
                Err(Error::new(Kind::Forbidden, format!("agent {agent} may not act for agent {named}")))
            }
            (Some(agent), _) => Ok(Some(agent.clone())),
            (None, named) => Ok(named.cloned()),
        }
    }

    /// A session's title as an error may hold it: redacted, and for the person alone. Next steps are read as advice,
    /// and a title is the text of a transcript.
    pub(crate) fn title_in_error(&self, title: &str) -> Option<String> {
        (self.caller == Caller::Person).then(|| self.secrets.redacted_beginning(title.to_owned()))
    }

    /// Refuses what only the person may do; `what` is the subject of the error message.
    pub(crate) fn require_person(&self, what: &str) -> Result<(), Error> {
        let who = match &self.caller {
            Caller::Person => return Ok(()),
            Caller::Assistant => "a model over MCP".to_owned(),
            Caller::Agent(agent) | Caller::Worker { agent: Some(agent), .. } => format!("agent {agent}"),
            Caller::Worker { worker, agent: None } => format!("worker {worker}"),
        };
        Err(Error::new(Kind::Forbidden, format!("{what} is not available to {who}")))
    }

    /// The sessions and conversations that the caller may find; `None` for all.
    pub(crate) fn visible(&self, found: &Discovery, memory: &Memory) -> Result<Option<Visible>, Error> {
        let filter = self.visible_filter();
        if filter == SessionFilter::default() {
            return Ok(None);
        }
        let keep_going = |_| !self.cancellation.is_cancelled();
        let sessions = catalog::select(&self.config().places(), found, &filter, keep_going);
        self.check_cancelled()?;
        let is_visible = |agent: &AgentId| self.is_of(Some(agent)) && self.may_see_conversations();
        let agents = memory.agents.iter().filter(|known| is_visible(&known.agent));
        Ok(Some(Visible { sessions, conversations: agents.flat_map(search::session_names).collect() }))
    }
}
