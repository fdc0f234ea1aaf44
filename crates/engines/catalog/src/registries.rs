//! Adds what OpenClaw's registries and session stores know of sessions to what their transcripts say.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use model::{AgentId, Origin, Session, SessionId};
use openclaw::{Agents, OpenClawConfig, Registry, RegistryEntry};
use transcript::ReadProblem;

use crate::describe::Describer;
use crate::types::{Discovery, Locations};

/// The sessions that agents' registries name.
#[derive(Debug, Default)]
pub(crate) struct RegistryIndex {
    sessions: HashMap<SessionId, Registrations>,
    /// The sessions behind agents' conversations, by the session stores.
    behind: HashMap<SessionId, AgentId>,
    /// The registries that could not be read.
    pub(crate) problems: Vec<ReadProblem>,
}

/// What the registries say of one session; there is always an entry. It belongs to the agent that registered it first:
/// others may have worked in it, too.
#[derive(Debug, Clone, Default)]
struct Registrations {
    all: Vec<Registration>,
}

#[derive(Debug, Clone)]
struct Registration {
    agent: AgentId,
    entry: RegistryEntry,
    budget: Option<f64>,
}

/// The sessions that registries and session stores of agents name.
pub fn agents_sessions(places: &Locations) -> HashSet<SessionId> {
    let RegistryIndex { sessions, behind, .. } = RegistryIndex::read(places);
    sessions.into_keys().chain(behind.into_keys()).collect()
}

impl RegistryIndex {
    /// Reads every agent's registry and session store below the state folders.
    pub(crate) fn read(places: &Locations) -> Self {
        let mut registered = Self::default();
        for (at, folder) in places.openclaw_folders.iter().enumerate() {
            let config = match &places.openclaw_configuration {
                Some(file) if at == 0 => OpenClawConfig::read(file),
                _ => OpenClawConfig::find(folder),
            };
            registered.add_folder(folder, &config, &places.home);
        }
        registered
    }

    fn add_folder(&mut self, folder: &Path, config: &OpenClawConfig, home: &Path) {
        let found = Agents::find(folder);
        self.report(config.problems.iter().cloned().chain(found.problems));
        for agent in found.agents {
            let (conversations, problems) = openclaw::agent_conversations(&agent, config, home);
            self.report(problems);
            for session in conversations.into_iter().flat_map(|conversation| conversation.claude) {
                self.behind.entry(session).or_insert_with(|| agent.id.clone());
            }
            let registry = Registry::read(&agent.folder);
            self.report(registry.problems);
            for entry in registry.entries {
                self.add(Registration { agent: agent.id.clone(), entry, budget: config.max_budget_usd });
            }
        }
    }

    fn add(&mut self, found: Registration) {
        self.sessions.entry(found.entry.session.clone()).or_default().add(found);
    }

    fn report(&mut self, problems: impl IntoIterator<Item = openclaw::Problem>) {
        let ours = |problem: openclaw::Problem| ReadProblem {
            path: problem.path,
            what: problem.what,
            is_unreadable: false,
        };
        self.problems.extend(problems.into_iter().map(ours));
    }

    /// Adds what the registries know of a session.
    pub(crate) fn apply(&self, session: &mut Session) {
        if let Some(registrations) = self.sessions.get(&session.id) {
            registrations.apply(session);
        } else if session.origin == Origin::Native
            && let Some(agent) = self.behind.get(&session.id)
        {
            session.origin = Origin::OpenClaw { agent: agent.clone(), label: None };
        }
    }

    /// Adds only what the registries knew before a moment: the agent, the label and the newest task then. Their
    /// totals are left out, because they are of now, and so are the session stores, which do not say since when a
    /// session is behind a conversation.
    pub(crate) fn apply_before(&self, moment: Timestamp, session: &mut Session) {
        let known = self.sessions.get(&session.id).map(|registrations| registrations.before(moment));
        let Some(found) = known.as_ref().and_then(Registrations::owner) else { return };
        session.origin = Origin::OpenClaw { agent: found.agent.clone(), label: found.entry.label.clone() };
        session.last_task =
            found.entry.last_task_before(moment).map(|task| transcript::preview(&task.task).into());
    }

    /// The sessions that only a registry names.
    pub(crate) fn registry_only(&self, found: &Discovery, describer: &mut Describer) -> Vec<Session> {
        let mut alone: HashMap<_, _> = self.sessions.iter().collect();
        for file in &found.sessions {
            // Few have a registry, and their sessions are soon found.
            if alone.is_empty() {
                break;
            }
            alone.remove(&file.id);
        }
        let alone = alone.into_iter();
        alone.filter_map(|(id, registered)| registered.registry_only(id.clone(), describer)).collect()
    }
}

impl Registrations {
    /// Adds an entry. Of the same entry in the folders that an installation had one after the other, the one used last
    /// counts.
    fn add(&mut self, found: Registration) {
        match self.all.iter_mut().find(|known| known.is_continued_by(&found)) {
            Some(known) if known.last_used() >= found.last_used() => {}
            Some(known) => *known = found,
            None => self.all.push(found),
        }
    }

    /// Those that were made before a moment.
    fn before(&self, moment: Timestamp) -> Self {
        let is_later = |one: &&Registration| one.entry.created.is_some_and(|created| created >= moment);
        Self { all: self.all.iter().filter(|one| !is_later(one)).cloned().collect() }
    }

    /// Of the entries of the agent that registered it first, the one used last.
    fn owner(&self) -> Option<&Registration> {
        let created = |one: &&Registration| (one.entry.created.is_none(), one.entry.created);
        let agent = &self.all.iter().min_by_key(created)?.agent;
        self.all.iter().filter(|one| one.agent == *agent).max_by_key(|one| one.last_used())
    }

    /// Adds what they know of a session: the costs of all agents that worked in it.
    fn apply(&self, session: &mut Session) {
        let Some(owner) = self.owner() else { return };
        let cost = self.all.iter().filter_map(|one| one.entry.total_cost_usd).reduce(|sum, cost| sum + cost);
        let turns = self.all.iter().filter_map(|one| one.entry.total_turns).reduce(u64::saturating_add);
        let tasks = self.all.iter().filter_map(|one| one.entry.last_task.as_ref());
        let last_task = tasks.max_by_key(|task| task.at);
        session.origin = Origin::OpenClaw { agent: owner.agent.clone(), label: owner.entry.label.clone() };
        session.registry_cost_usd = cost;
        session.registry_turns = turns;
        session.last_task = last_task.map(|task| transcript::preview(&task.task).into());
        session.budget_used_pct =
            cost.zip(owner.budget).map(|(cost, budget)| model::budget_used(cost, budget));
    }

    /// A session that has no transcript on this machine.
    fn registry_only(&self, id: SessionId, describer: &mut Describer) -> Option<Session> {
        let owner = self.owner()?;
        let cwd = owner.entry.repo.to_string_lossy().into_owned();
        let mut session = Session {
            created: owner.entry.created,
            last_modified: self.all.iter().filter_map(Registration::last_used).max(),
            ..describer.in_directory(id, &cwd)
        };
        self.apply(&mut session);
        session.title = session.last_task.clone();
        Some(session)
    }
}

impl Registration {
    fn last_used(&self) -> Option<Timestamp> {
        self.entry.last_resumed.or(self.entry.created)
    }

    /// Whether another one is the same entry, perhaps with what happened since.
    fn is_continued_by(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.entry, &other.entry);
        self.agent == other.agent
            && (&ours.repo, &ours.label, ours.created) == (&theirs.repo, &theirs.label, theirs.created)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use system::FileStamp;
    use transcript::TranscriptFile;

    use super::*;

    #[test]
    fn a_session_behind_a_conversation_belongs_to_its_agent() {
        let scratch = tempfile::tempdir().unwrap();
        let state = scratch.path();
        fs::create_dir_all(state.join("agents/main/sessions")).unwrap();
        fs::create_dir_all(state.join("agents/ops/agent")).unwrap();
        fs::write(
            state.join("agents/main/sessions/sessions.json"),
            r#"{"agent:main:main": {"sessionId": "o1", "cliSessionIds": {"claude-cli": "s1"}}}"#,
        )
        .unwrap();
        fs::write(
            state.join("agents/ops/claude-code-sessions.json"),
            r#"{"sessions":{"/p/web":{"sessionId":"s1","createdAt":"2026-02-20T10:00:00Z"}}}"#,
        )
        .unwrap();
        let places = Locations { openclaw_folders: vec![state.to_owned()], ..Locations::default() };
        let agent_of = |id: &str, origin: Origin| {
            let mut session = Session { origin, ..Session::new(id.parse().unwrap()) };
            RegistryIndex::read(&places).apply(&mut session);
            session.origin.agent().map(ToString::to_string)
        };
        assert_eq!(agent_of("s1", Origin::Native).as_deref(), Some("ops"), "a registry comes first");
        fs::remove_file(state.join("agents/ops/claude-code-sessions.json")).unwrap();
        assert_eq!(agent_of("s1", Origin::Native).as_deref(), Some("main"));
        let marked = Origin::OpenClaw { agent: "ops".parse().unwrap(), label: None };
        assert_eq!(agent_of("s1", marked).as_deref(), Some("ops"), "its own first message says whose it is");
        assert_eq!(agent_of("s2", Origin::Native), None);
    }

    #[test]
    fn a_session_stays_with_its_first_agent_and_all_costs_count() {
        let scratch = tempfile::tempdir().unwrap();
        let write = |path: &str, created: u8, resumed: u8, cost: f64| {
            let path = scratch.path().join(path);
            fs::create_dir_all(&path).unwrap();
            let text = format!(
                r#"{{"sessions":{{"/p/web":{{"sessionId":"s1","createdAt":"2026-02-20T{created:02}:00:00Z",
                    "lastResumedAt":"2026-02-20T{resumed:02}:00:00Z","totalCostUsd":{cost},"totalTurns":2,
                    "taskHistory":[{{"at":"2026-02-20T{resumed:02}:00:00Z","task":"of {cost}"}}]}}}}}}"#
            );
            fs::write(path.join("claude-code-sessions.json"), text).unwrap();
        };
        write("a/agents/main", 10, 11, 0.5);
        write("a/agents/coder", 12, 13, 0.25);
        // The folder that the installation had before: what main did until then is in its entry, too.
        write("b/agents/main", 10, 10, 0.125);
        let folders = ["a", "b"].map(|name| scratch.path().join(name)).to_vec();
        let places = Locations { openclaw_folders: folders, ..Locations::default() };
        let index = RegistryIndex::read(&places);
        let mut session = Session::new("s1".parse().unwrap());
        index.apply(&mut session);
        assert_eq!(session.origin.agent().map(AgentId::as_str), Some("main"));
        assert_eq!((session.registry_cost_usd, session.registry_turns), (Some(0.75), Some(4)));
        assert_eq!(session.last_task.as_deref(), Some("of 0.25"));
        assert_eq!(agents_sessions(&places), HashSet::from([session.id.clone()]));
        let mut past = Session::new("s1".parse().unwrap());
        index.apply_before("2026-02-20T12:00:00Z".parse().unwrap(), &mut past);
        assert_eq!(past.origin.agent().map(AgentId::as_str), Some("main"));
        let mut earlier = Session::new("s1".parse().unwrap());
        index.apply_before("2026-02-20T10:00:00Z".parse().unwrap(), &mut earlier);
        assert_eq!(earlier.origin, Origin::Native);
    }

    #[test]
    fn a_registry_adds_facts_that_are_in_no_transcript() {
        let scratch = tempfile::tempdir().unwrap();
        let state = scratch.path();
        fs::create_dir_all(state.join("agents/main")).unwrap();
        fs::write(
            state.join("agents/main/claude-code-sessions.json"),
            r#"{"sessions":{
                "/p/web":{"sessionId":"s1","createdAt":"2026-02-20T10:00:00Z","totalCostUsd":0.5,"totalTurns":7,
                          "taskHistory":[{"at":"2026-02-20T10:00:00Z","task":"fix tests"}]},
                "/p/gone::auth":{"sessionId":"s2","label":"auth","createdAt":"2026-02-20T10:00:00Z"}}}"#,
        )
        .unwrap();
        fs::write(
            state.join("openclaw.json"),
            r#"{"agents":{"defaults":{"subagents":{"claudeCode":{"maxBudgetUsd":2}}}}}"#,
        )
        .unwrap();
        let places = Locations { openclaw_folders: vec![state.to_owned()], ..Locations::default() };
        let registered = RegistryIndex::read(&places);
        let described = |id: &str| {
            let mut session = Session::new(id.parse().unwrap());
            registered.apply(&mut session);
            session
        };
        let one = described("s1");
        assert_eq!(one.origin.agent().map(AgentId::as_str), Some("main"));
        assert_eq!((one.registry_cost_usd, one.budget_used_pct), (Some(0.5), Some(25.0)));
        assert_eq!((one.registry_turns, one.last_task.as_deref()), (Some(7), Some("fix tests")));
        assert_eq!(described("s3").origin, Origin::Native);

        let transcript =
            |id: &str| TranscriptFile::new(id.parse().unwrap(), Path::new("/x.jsonl"), FileStamp::default());
        let found = Discovery { sessions: ["s1", "s3"].map(transcript).into(), ..Discovery::default() };
        let alone = registered.registry_only(&found, &mut Describer::default());
        let [two] = alone.as_slice() else { panic!("{alone:?}") };
        assert_eq!((two.id.as_str(), two.project.as_deref()), ("s2", Some("gone")));
        let label = Some("auth".to_owned());
        assert_eq!(two.origin, Origin::OpenClaw { agent: "main".parse().unwrap(), label });

        let elsewhere = state.join("set/budget.json5");
        fs::create_dir_all(state.join("set")).unwrap();
        fs::write(&elsewhere, "{agents: {defaults: {subagents: {claudeCode: {maxBudgetUsd: 5}}}}}").unwrap();
        let places = Locations { openclaw_configuration: Some(elsewhere), ..places };
        let mut session = Session::new("s1".parse().unwrap());
        RegistryIndex::read(&places).apply(&mut session);
        assert_eq!(session.budget_used_pct, Some(10.0), "the environment names another file");
    }
}
