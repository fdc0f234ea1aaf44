//! An agent's memory: the notes in its workspace, its transcripts, and its settings.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::{AgentId, SessionId};

use crate::config::OpenClawConfig;
use crate::conversation_file::{ConversationFile, conversation};
use crate::conversations::{SIDE_FILE, StoredConversation};
use crate::settings::MemorySettings;
use crate::{AgentDatabase, Agents, Problem};

/// The folder next to the sessions folder to which OpenClaw moves transcripts it has imported into SQLite.
const IMPORTED: &str = "session-sqlite-import-archive";
/// How deep notes may be nested.
const DEEPEST: usize = 16;

/// A file of an agent's memory.
#[derive(Debug, Clone)]
pub struct MemoryFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The file's metadata, a link not followed.
    pub metadata: Metadata,
}

/// The memory of one agent in one state folder.
#[derive(Debug, Clone)]
pub struct AgentMemory {
    /// The agent's name.
    pub agent: AgentId,
    /// The state folder of the agent.
    pub state: PathBuf,
    /// The agent's workspace folder.
    pub workspace: PathBuf,
    /// The settings of its memory in OpenClaw's configuration.
    pub settings: MemorySettings,
    /// The Markdown files of its workspace and of the paths its settings add.
    pub notes: Vec<MemoryFile>,
    /// Its transcripts, topics and archives among them, and those that OpenClaw has taken over into SQLite.
    pub transcripts: Vec<ConversationFile>,
    /// The database that it keeps its conversations in since then.
    pub database: Option<AgentDatabase>,
    sessions: Sessions,
}

/// The files of an agent's sessions.
#[derive(Debug, Clone, Default)]
struct Sessions {
    store: PathBuf,
    /// Side files of transcripts that name the Claude session behind them.
    sidecars: Vec<(SessionId, PathBuf)>,
}

/// The memory of all agents, and what could not be read.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// The agents by state folder; within one, first as the configuration lists them, then the others by name.
    pub agents: Vec<AgentMemory>,
    /// The files and folders that could not be read.
    pub problems: Vec<Problem>,
}

impl Memory {
    /// Searches the state folders; every file is listed once, for the first agent that has it. `configuration`
    /// replaces the first folder's own (`OPENCLAW_CONFIG_PATH`).
    pub fn find(states: &[PathBuf], configuration: Option<&Path>, home: &Path) -> Self {
        let mut memory = Self::default();
        let mut seen = HashSet::new();
        for (at, state) in states.iter().enumerate() {
            let config = match configuration {
                Some(file) if at == 0 => OpenClawConfig::read(file),
                _ => OpenClawConfig::find(state),
            };
            memory.add_state(state, &config, home, &mut seen);
        }
        memory
    }

    fn add_state(&mut self, state: &Path, config: &OpenClawConfig, home: &Path, seen: &mut HashSet<PathBuf>) {
        let found = Agents::find(state);
        let mut agents = config.agents();
        let mut others: Vec<AgentId> = found.agents.iter().map(|agent| agent.id.clone()).collect();
        others.sort();
        agents.extend(others);
        if agents.is_empty() && (config.file.is_some() || state.join("workspace").is_dir()) {
            agents.push(config.default_agent());
        }
        let mut named = HashSet::new();
        agents.retain(|agent| named.insert(agent.clone()));
        for agent in agents {
            let folder = found.agents.iter().find(|known| known.id == agent).map(|known| &known.folder);
            let folder = folder.cloned().unwrap_or_else(|| state.join("agents").join(agent.as_str()));
            let store = config.store(&agent, home).unwrap_or_else(|| folder.join("sessions/sessions.json"));
            let workspace = config.workspace(&agent, state, home);
            let settings = config.memory(&agent, &workspace, home);
            let mut found = AgentMemory {
                agent,
                state: state.to_owned(),
                workspace,
                settings,
                notes: Vec::new(),
                transcripts: Vec::new(),
                database: AgentDatabase::of_agent(&folder),
                sessions: Sessions { store, sidecars: Vec::new() },
            };
            found.look_for_notes(seen, &mut self.problems);
            found.look_for_transcripts(seen, &mut self.problems);
            self.agents.push(found);
        }
    }
}

impl AgentMemory {
    /// The conversations its store names and the Claude sessions behind them.
    pub fn conversations(&self) -> (Vec<StoredConversation>, Vec<Problem>) {
        let Sessions { store, sidecars } = &self.sessions;
        crate::conversations::of_agent(&self.agent, store, sidecars, self.database.as_ref())
    }

    /// Adds copies of the conversations in the agent's database, in place of the files that OpenClaw took over into it.
    pub fn add_database(&mut self, folder: &Path) -> Vec<Problem> {
        let Some(database) = &self.database else { return Vec::new() };
        let (files, problems) = crate::store::database_copies::copy_conversations(database, folder);
        let is_copied = |file: &ConversationFile| files.iter().any(|copy| copy.session == file.session);
        self.transcripts.retain(|file| !is_copied(file));
        self.transcripts.extend(files);
        problems
    }

    /// The file of the agent's session store, whether or not there is one.
    pub fn store(&self) -> &Path {
        &self.sessions.store
    }

    fn look_for_notes(&mut self, seen: &mut HashSet<PathBuf>, problems: &mut Vec<Problem>) {
        let mut walk = Walk { found: Vec::new(), seen, problems };
        for name in ["MEMORY.md", "memory.md"] {
            walk.file(self.workspace.join(name));
        }
        walk.folder(&self.workspace.join("memory"), 0);
        for path in &self.settings.extra_paths {
            match fs::symlink_metadata(path) {
                Ok(metadata) if metadata.is_dir() => walk.folder(path, 0),
                Ok(metadata) if metadata.is_file() => walk.file(path.clone()),
                // OpenClaw skips links and missing files, too.
                Ok(_) | Err(_) => {}
            }
        }
        self.notes = walk.found;
    }

    fn look_for_transcripts(&mut self, seen: &mut HashSet<PathBuf>, problems: &mut Vec<Problem>) {
        let Some(folder) = self.sessions.store.parent().map(Path::to_owned) else { return };
        for (name, path, metadata) in files(&folder, problems) {
            if let Some(session) = name.strip_suffix(SIDE_FILE).and_then(conversation) {
                self.sessions.sidecars.push((session, path));
            } else if let Some(session) = conversation(&name)
                && seen.insert(path.clone())
            {
                self.transcripts.push(ConversationFile { session, path, metadata });
            }
        }
        for (name, path, metadata) in files(&folder.with_file_name(IMPORTED), problems) {
            if let Some(session) = imported(&name)
                && seen.insert(path.clone())
            {
                self.transcripts.push(ConversationFile { session, path, metadata });
            }
        }
    }
}

/// The regular files in a folder whose names are UTF-8.
fn files(folder: &Path, problems: &mut Vec<Problem>) -> Vec<(String, PathBuf, Metadata)> {
    let files = entries(folder, problems).into_iter().filter(|(_, metadata)| metadata.is_file());
    let named =
        files.filter_map(|(path, metadata)| Some((path.file_name()?.to_str()?.to_owned(), path, metadata)));
    named.collect()
}

/// The conversation in a transcript that OpenClaw imported: its name is `<key>.<file>.imported-<time>`.
fn imported(name: &str) -> Option<SessionId> {
    let (name, _) = name.rsplit_once(".imported-")?;
    let (stem, _) = name.split_once(".jsonl")?;
    let file = stem.rsplit_once('.').map_or(name, |(key, _)| &name[key.len() + 1..]);
    conversation(file)
}

/// A walk over notes.
struct Walk<'a> {
    found: Vec<MemoryFile>,
    seen: &'a mut HashSet<PathBuf>,
    problems: &'a mut Vec<Problem>,
}

impl Walk<'_> {
    fn file(&mut self, path: PathBuf) {
        let is_note = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
        let Ok(metadata) = fs::symlink_metadata(&path) else { return };
        if is_note && metadata.is_file() && self.seen.insert(fs::canonicalize(&path).unwrap_or(path.clone()))
        {
            self.found.push(MemoryFile { path, metadata });
        }
    }

    fn folder(&mut self, folder: &Path, depth: usize) {
        if depth > DEEPEST {
            let next = "Move its files to a folder further up.";
            self.problems.push(Problem::new(folder, "is nested too deep and was passed over", next));
            return;
        }
        for (path, metadata) in entries(folder, self.problems) {
            if metadata.is_dir() {
                self.folder(&path, depth + 1);
            } else {
                self.file(path);
            }
        }
    }
}

/// The entries of a folder by name, links not followed; none where the folder does not exist.
fn entries(folder: &Path, problems: &mut Vec<Problem>) -> Vec<(PathBuf, Metadata)> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
                let next = "Make the folder readable for this user.";
                problems.push(Problem::new(folder, format!("cannot be listed: {error}"), next));
            }
            return Vec::new();
        }
    };
    // What vanishes meanwhile is not there.
    let entries = entries.filter_map(Result::ok);
    let mut found: Vec<_> =
        entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok()?))).collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_conversation_is_read_from_the_file_name() {
        let check = |name: &str, expected: Option<&str>| {
            let found = conversation(name);
            assert_eq!(found.as_ref().map(SessionId::as_str), expected, "{name}");
        };
        check("0b7c.jsonl", Some("0b7c"));
        check("0b7c-topic-12.jsonl", Some("0b7c"));
        check("0b7c-topic-a%20b.jsonl.reset.2026-01-15T12-00-00.000Z", Some("0b7c"));
        check("0b7c.jsonl.deleted.2026-01-15T12-00-00.000Z", Some("0b7c"));
        check("sessions.json", None);
        check("0b7c.jsonl.lock", None);
        check("0b7c.jsonl.bak", None);
        check("0b7c.checkpoint.1a000022-0022-4022-8022-000000000002.jsonl", None);
        check("0b7c.trajectory.jsonl", None);
        check("0b7c.sync-conflict-20260115-120000-ABCDEFG.jsonl.reset.2026-01-15T12-00-00.000Z", None);
        check(".jsonl", None);
    }

    #[test]
    fn the_conversation_is_read_from_archived_file_names() {
        let check = |name: &str, expected: Option<&str>| {
            let found = imported(name);
            assert_eq!(found.as_ref().map(SessionId::as_str), expected, "{name}");
        };
        check("agent_main_main.0b7c.jsonl.imported-1789000000000", Some("0b7c"));
        check("agent_main_mail.example.org.0b7c-topic-5.jsonl.imported-1789000000000.2", Some("0b7c"));
        check("0b7c.jsonl.imported-1", Some("0b7c"));
        check("key.0b7c.jsonl.reset.2026-01-15.imported-1", Some("0b7c"));
        check("0b7c.jsonl", None);
        check("sessions.json.imported-1", None);
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn every_agent_has_its_notes_and_transcripts() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path();
        let state = home.join(".openclaw");
        write(
            &state.join("openclaw.json"),
            r#"{agents: {list: [{id: "main"}, {id: "coder", workspace: "~/code"}],
                defaults: {memorySearch: {extraPaths: ["../shared", "~/one.md", "gone"]}}}}"#,
        );
        for file in [
            ".openclaw/workspace/MEMORY.md",
            ".openclaw/workspace/memory/2026/a.md",
            ".openclaw/workspace/memory/b.txt",
            ".openclaw/workspace/notes.md",
            ".openclaw/shared/c.md",
            "one.md",
            "code/memory.md",
            ".openclaw/agents/main/sessions/s1.jsonl",
            ".openclaw/agents/main/sessions/s1.jsonl.claude-sdk.json",
            ".openclaw/agents/main/sessions/s2-topic-5.jsonl",
            ".openclaw/agents/coder/sessions/s3.jsonl.reset.2026",
            ".openclaw/agents/coder/session-sqlite-import-archive/agent_coder_main.s4.jsonl.imported-1",
        ] {
            write(&home.join(file), "{}");
        }
        std::os::unix::fs::symlink(home.join("one.md"), state.join("workspace/memory/link.md")).unwrap();
        let memory = Memory::find(&[state], None, home);
        let listed: Vec<String> = memory
            .agents
            .iter()
            .map(|agent| {
                let notes = agent.notes.iter().map(|note| &note.path);
                let transcripts = agent.transcripts.iter().map(|transcript| &transcript.path);
                let names = notes.chain(transcripts).map(|path| {
                    path.strip_prefix(home).unwrap().to_string_lossy().replace(".openclaw/", "@")
                });
                format!("{}: {}", agent.agent, names.collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(
            listed,
            [
                "main: @workspace/MEMORY.md @workspace/memory/2026/a.md @workspace/../shared/c.md one.md \
                 @agents/main/sessions/s1.jsonl @agents/main/sessions/s2-topic-5.jsonl",
                "coder: code/memory.md @agents/coder/sessions/s3.jsonl.reset.2026 \
                 @agents/coder/session-sqlite-import-archive/agent_coder_main.s4.jsonl.imported-1",
            ]
        );
        assert!(memory.problems.is_empty(), "{:?}", memory.problems);
    }
}
