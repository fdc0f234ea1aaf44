//! Adds what OpenClaw's registries and session stores know of sessions to what their transcripts say.

use std::collections::HashMap;
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
    sessions: HashMap<SessionId, Registration>,
    /// The sessions behind agents' conversations, by the session stores.
    behind: HashMap<SessionId, AgentId>,
    /// The registries that could not be read.
    pub(crate) problems: Vec<ReadProblem>,
}

#[derive(Debug, Clone)]
struct Registration {
    agent: AgentId,
    entry: RegistryEntry,
    budget: Option<f64>,
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

    /// Adds an entry. Of one session under several keys or agents, the entry used last counts.
    fn add(&mut self, found: Registration) {
        let last =
            |registration: &Registration| registration.entry.last_resumed.or(registration.entry.created);
        match self.sessions.get(&found.entry.session) {
            Some(known) if last(known) >= last(&found) => {}
            _ => {
                self.sessions.insert(found.entry.session.clone(), found);
            }
        }
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
        if let Some(registration) = self.sessions.get(&session.id) {
            registration.clone().apply(session);
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
        let Some(found) = self.sessions.get(&session.id) else { return };
        if found.entry.created.is_some_and(|created| created >= moment) {
            return;
        }
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
        alone.map(|(id, registration)| registration.clone().registry_only(id.clone(), describer)).collect()
    }
}

impl Registration {
    fn apply(self, session: &mut Session) {
        let cost = self.entry.total_cost_usd;
        session.origin = Origin::OpenClaw { agent: self.agent, label: self.entry.label };
        session.registry_cost_usd = cost;
        session.registry_turns = self.entry.total_turns;
        session.last_task = self.entry.last_task.map(|task| transcript::preview(&task.task).into());
        session.budget_used_pct =
            cost.zip(self.budget).map(|(cost, budget)| model::budget_used(cost, budget));
    }

    /// A session that has no transcript on this machine.
    fn registry_only(self, id: SessionId, describer: &mut Describer) -> Session {
        let cwd = self.entry.repo.to_string_lossy().into_owned();
        let mut session = Session {
            created: self.entry.created,
            last_modified: self.entry.last_resumed.or(self.entry.created),
            ..describer.in_directory(id, &cwd)
        };
        self.apply(&mut session);
        session.title = session.last_task.clone();
        session
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

        let transcript = |id: &str| TranscriptFile {
            id: id.parse().unwrap(),
            path: Path::new("/x.jsonl").into(),
            stamp: FileStamp::default(),
            subagents: Vec::new(),
            has_side_folder: false,
            archived: false,
            missing: 0,
            deleted_at: None,
            unreadable_folder: None,
        };
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
