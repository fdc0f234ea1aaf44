//! A Claude config folder, and what lies in it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ProjectSlug, SessionId};

use crate::json::{Raw, raw_fields};
use crate::reader::Reader;
use crate::record::{Block, Kind, parse};
use crate::walk;
use system::{FileStamp, fingerprint};

/// The largest side file that is read, in bytes.
const SIDE_FILE_CAP: u64 = 1 << 20;

/// `~/.claude`, or what `CLAUDE_CONFIG_DIR` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFolder {
    root: PathBuf,
    projects: PathBuf,
}

/// A session's transcript and what lies beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The session's id: the file's stem.
    pub id: SessionId,
    /// The file; shared with whoever describes the session.
    pub path: Arc<Path>,
    /// Its `stat`.
    pub stamp: FileStamp,
    /// Its sub-agents' files.
    pub subagents: Vec<SubagentFile>,
    /// Whether a folder with its name lies beside it.
    pub has_side_folder: bool,
}

/// A sub-agent's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentFile {
    /// Its id, without `agent-`.
    pub id: String,
    /// The file.
    pub path: PathBuf,
    /// Its `stat`.
    pub stamp: FileStamp,
}

/// What a file in the projects folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRole {
    /// A session's transcript.
    Session(SessionId),
    /// A sub-agent's transcript, below its session's folder.
    Subagent {
        /// The session.
        session: SessionId,
        /// Its id, without `agent-`.
        agent: String,
    },
    /// A sub-agent's transcript beside the sessions (2.0.42 to 2.0.77); its records name the session.
    FlatSubagent {
        /// Its id, without `agent-`.
        agent: String,
    },
}

/// By a path relative to the projects folder: `<project>/<session>.jsonl` and so on.
fn role(path: &Path) -> Option<FileRole> {
    let names: Vec<&str> = path.iter().map(|name| name.to_str()).collect::<Option<_>>()?;
    let (last, folders) = names.split_last()?;
    let stem = last.strip_suffix(".jsonl")?;
    let agent = stem.strip_prefix("agent-").map(ToOwned::to_owned);
    match (folders, agent) {
        ([_], None) => stem.parse().ok().map(FileRole::Session),
        ([_], Some(agent)) => Some(FileRole::FlatSubagent { agent }),
        ([_, session, "subagents", deeper @ ..], Some(agent)) if deeper.len() < walk::SUBAGENT_DEPTH => {
            Some(FileRole::Subagent { session: session.parse().ok()?, agent })
        }
        _ => None,
    }
}

/// Something that could not be read as what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// What is wrong, as the end of a sentence.
    pub what: String,
}

/// All that lies in one config folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The transcripts of sessions.
    pub transcripts: Vec<TranscriptFile>,
    /// Sub-agents' files beside the sessions (2.0.42 to 2.0.77); their records name the session.
    pub flat_subagents: Vec<SubagentFile>,
    /// Sub-agents' files below the folder of a session whose own transcript does not lie beside it.
    pub lone_subagents: Vec<SubagentFile>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

impl Found {
    /// What was found elsewhere behind it; what comes first is not moved.
    pub fn add(&mut self, more: Self) {
        if self.transcripts.capacity() == 0 {
            self.transcripts = more.transcripts;
        } else {
            self.transcripts.extend(more.transcripts);
        }
        self.flat_subagents.extend(more.flat_subagents);
        self.lone_subagents.extend(more.lone_subagents);
        self.problems.extend(more.problems);
    }
}

impl ConfigFolder {
    /// The folder at `root`; it need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let projects = root.join("projects");
        Self { root, projects }
    }

    /// The folder whose project folders lie in `projects`, whatever that is called.
    pub fn of_projects(projects: impl Into<PathBuf>) -> Self {
        let projects = projects.into();
        let root = projects.parent().unwrap_or(&projects).to_owned();
        Self { root, projects }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the transcripts lie.
    pub fn projects(&self) -> PathBuf {
        self.projects.clone()
    }

    /// Where live processes register themselves.
    pub fn live_registry(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The folder that holds the transcripts of sessions started in `directory` (a physical path).
    pub fn project_folder(&self, directory: &Path) -> PathBuf {
        self.projects().join(ProjectSlug::from_path(&directory.to_string_lossy()).as_str())
    }

    /// `cleanupPeriodDays` of the user's settings: after how many days Claude Code deletes a transcript.
    pub fn cleanup_days(&self) -> u64 {
        const DEFAULT: u64 = 30;
        let Ok(bytes) = system::read_small(&self.root.join("settings.json"), SIDE_FILE_CAP) else {
            return DEFAULT;
        };
        let text = String::from_utf8_lossy(&bytes);
        Raw::new(&text).get("cleanupPeriodDays").count().unwrap_or(DEFAULT)
    }

    /// What a path below the projects folder is, by its name alone.
    pub fn role(&self, path: &Path) -> Option<FileRole> {
        role(path.strip_prefix(self.projects()).ok()?)
    }

    /// Looks at every project folder, so many at a time.
    pub fn find(&self, threads: usize) -> Found {
        walk::find(&self.projects(), threads)
    }
}

impl TranscriptFile {
    /// The name of the project folder it lies in.
    pub fn folder(&self) -> &OsStr {
        self.path.parent().and_then(Path::file_name).unwrap_or_default()
    }

    /// A number that changes when the transcript or one of its sub-agents' does; those of several can be added.
    pub fn fingerprint(&self) -> u64 {
        let agents = self.subagents.iter().map(|file| (file.path.as_path(), &file.stamp));
        fingerprint(std::iter::once((&*self.path, &self.stamp)).chain(agents))
    }

    /// When it was made, in nanoseconds since 1970; where the file system does not know, when it was last written to.
    pub fn born(&self) -> i64 {
        let made = std::fs::symlink_metadata(&self.path).and_then(|found| found.created()).ok();
        let since = made.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        since.and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(self.stamp.mtime)
    }

    /// The folder beside the transcript.
    pub fn side_folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    /// The title in the side file.
    pub fn side_title(&self) -> Option<String> {
        if !self.has_side_folder {
            return None;
        }
        let bytes = system::read_small(&self.side_folder().join("custom-title.json"), SIDE_FILE_CAP).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        Raw::new(&text).get("customTitle").text().map(Into::into).filter(|title: &String| !title.is_empty())
    }
}

raw_fields! {
    struct MetaFields { agent_type = "agentType", description = "description", tool_use = "toolUseId" }
}

/// What a sub-agent's side file tells of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentMeta {
    /// `general-purpose`, or a custom agent's name.
    pub agent_type: Option<String>,
    /// The task in a few words.
    pub description: Option<String>,
    /// The tool use of the parent that started it.
    pub tool_use: Option<String>,
}

impl SubagentFile {
    /// The session that its first records name; its place does not tell, up to 2.0.77. The model's first answer tells:
    /// a prompt that 2.0.77 wrote while it started may name a session that never was.
    pub fn session(&self) -> Option<SessionId> {
        const LOOKED_AT: usize = 16;
        let mut reader = Reader::open(&self.path).ok()?;
        let mut named = None;
        for _ in 0..LOOKED_AT {
            let Ok(Some(line)) = reader.next_line() else { break };
            let Ok(record) = parse(line.bytes) else { continue };
            let session = record.session().and_then(|session| session.parse().ok());
            if session.is_some() && record.kind() == Kind::Assistant {
                return session;
            }
            named = named.or(session);
        }
        named
    }

    /// What it was told: the words of its first record.
    pub fn task(&self) -> Option<String> {
        let mut reader = Reader::open(&self.path).ok()?;
        let line = reader.next_line().ok()??;
        let message = parse(line.bytes).ok()?.message()?;
        message.each_block().find_map(|block| match block {
            Block::Text(text) => Some(text.into_owned()),
            _ => None,
        })
    }

    /// Reads the side file `agent-<id>.meta.json`; all absent where there is none.
    pub fn meta(&self) -> SubagentMeta {
        let Ok(bytes) = system::read_small(&self.path.with_extension("meta.json"), SIDE_FILE_CAP) else {
            return SubagentMeta::default();
        };
        let text = String::from_utf8_lossy(&bytes);
        let fields = MetaFields::of(Raw::new(&text));
        let owned = |field: Raw<'_>| field.text().map(Cow::into_owned);
        SubagentMeta {
            agent_type: owned(fields.agent_type),
            description: owned(fields.description),
            tool_use: owned(fields.tool_use),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode};

    use super::*;

    fn home() -> (tempfile::TempDir, ConfigFolder) {
        let folder = tempfile::tempdir().unwrap();
        let config = ConfigFolder::new(folder.path().join(".claude"));
        (folder, config)
    }

    fn file(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}\n").unwrap();
    }

    #[test]
    fn a_path_says_what_a_file_is() {
        let check =
            |path: &str, expected: Option<FileRole>| assert_eq!(role(Path::new(path)), expected, "{path}");
        let session: SessionId = "s1".parse().unwrap();
        check("-p/s1.jsonl", Some(FileRole::Session(session.clone())));
        check("-p/agent-a1.jsonl", Some(FileRole::FlatSubagent { agent: "a1".into() }));
        let agent = FileRole::Subagent { session, agent: "a1".into() };
        check("-p/s1/subagents/agent-a1.jsonl", Some(agent.clone()));
        check("-p/s1/subagents/workflows/wf_1/agent-a1.jsonl", Some(agent));
        check("-p/s1/subagents/workflows/wf_1/journal.jsonl", None);
        check("-p/s1/tool-results/x.jsonl", None);
        check("-p/memory/note.jsonl", None);
        check("-p/-bad.jsonl", None);
        check("s1.jsonl", None);
        check("-p/s1.json", None);
    }

    #[test]
    fn a_missing_folder_holds_nothing() {
        let (_folder, config) = home();
        assert_eq!(config.find(2), Found::default());
        assert_eq!(config.cleanup_days(), 30);
    }

    #[test]
    fn subagents_of_every_layout_are_no_sessions() {
        let (_folder, config) = home();
        let project = config.projects().join("-p");
        file(&project.join("s1.jsonl"));
        file(&project.join("agent-flat1.jsonl"));
        file(&project.join("s1/subagents/agent-a1.jsonl"));
        file(&project.join("s1/subagents/workflows/wf_1/agent-a2.jsonl"));
        file(&project.join("s1/subagents/workflows/wf_1/journal.jsonl"));
        file(&project.join("s1/custom-title.json"));
        file(&project.join("memory/note.jsonl"));
        fs::write(project.join("s1/custom-title.json"), r#"{"customTitle":"Renamed"}"#).unwrap();
        let found = config.find(2);
        assert_eq!(found.transcripts.len(), 1);
        let session = &found.transcripts[0];
        let mut ids: Vec<_> = session.subagents.iter().map(|agent| agent.id.as_str()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["a1", "a2"]);
        assert_eq!(session.side_title().as_deref(), Some("Renamed"));
        assert_eq!(found.flat_subagents[0].id, "flat1");
        assert_eq!(found.problems, []);
    }

    #[test]
    fn hostile_entries_are_reported_and_passed_over() {
        let (folder, config) = home();
        let project = config.projects().join("-p");
        file(&project.join("good.jsonl"));
        fs::create_dir_all(project.join("dir.jsonl")).unwrap();
        let fifo = project.join("fifo.jsonl");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        symlink("loop.jsonl", project.join("loop.jsonl")).unwrap();
        let outside = folder.path().join("outside.jsonl");
        file(&outside);
        symlink(&outside, project.join("out.jsonl")).unwrap();
        symlink(project.join("good.jsonl"), project.join("again.jsonl")).unwrap();
        symlink(config.projects(), project.join("round")).unwrap();
        symlink(folder.path(), config.projects().join("-out")).unwrap();
        file(&project.join("-bad.jsonl"));
        file(&folder.path().join("agents/agent-a1.jsonl"));
        fs::create_dir_all(project.join("good")).unwrap();
        symlink(folder.path().join("agents"), project.join("good/subagents")).unwrap();
        let found = config.find(2);
        let ids: Vec<_> = found.transcripts.iter().map(|transcript| transcript.id.as_str()).collect();
        assert_eq!(ids, ["good"]);
        assert_eq!(found.transcripts[0].subagents, []);
        let mut problems: Vec<_> = found
            .problems
            .iter()
            .map(|problem| problem.path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        problems.sort_unstable();
        let expected =
            ["-bad.jsonl", "-out", "dir.jsonl", "fifo.jsonl", "loop.jsonl", "out.jsonl", "subagents"];
        assert_eq!(problems, expected);
    }

    #[test]
    fn what_is_found_has_the_stamp_of_its_file() {
        let (_folder, config) = home();
        let path = config.projects().join("-p/s1.jsonl");
        file(&path);
        let metadata = fs::metadata(&path).unwrap();
        let found = config.find(1).transcripts.remove(0);
        assert_eq!(found.stamp, FileStamp::from_metadata(&metadata));
        let made = metadata.created().unwrap_or_else(|_| metadata.modified().unwrap());
        let since = made.duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(i128::from(found.born()), i128::try_from(since.as_nanos()).unwrap());
    }

    #[test]
    fn a_folder_of_many_sessions_is_told_whole_and_in_order() {
        let (_folder, config) = home();
        let project = config.projects().join("-p");
        fs::create_dir_all(&project).unwrap();
        for number in 0..1500 {
            fs::write(project.join(format!("s{number}.jsonl")), "").unwrap();
        }
        let found = config.find(4);
        assert_eq!((found.transcripts.len(), found.problems.len()), (1500, 0));
        assert_eq!(found, config.find(1));
    }

    #[test]
    fn the_clean_up_period_is_read_from_the_settings() {
        let (_folder, config) = home();
        fs::create_dir_all(config.root()).unwrap();
        fs::write(config.root().join("settings.json"), r#"{"cleanupPeriodDays": 90}"#).unwrap();
        assert_eq!(config.cleanup_days(), 90);
    }
}
