//! A Claude config folder, and what lies in it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use model::{ProjectSlug, SessionId};

use crate::json::{Raw, raw_fields};
use crate::open;
use crate::tail::FileStamp;
use crate::walk;

/// The largest side file that is read, in bytes.
const SIDE_FILE_CAP: u64 = 1 << 20;

/// `~/.claude`, or what `CLAUDE_CONFIG_DIR` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFolder {
    root: PathBuf,
}

/// A session's transcript and what lies beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptFile {
    /// The session's id: the file's stem.
    pub id: SessionId,
    /// The name of the project folder it lies in.
    pub folder: String,
    /// The file.
    pub path: PathBuf,
    /// Its `stat`.
    pub stamp: FileStamp,
    /// When it was made, in nanoseconds since 1970, where the file system knows.
    pub born: Option<i64>,
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
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

impl ConfigFolder {
    /// The folder at `root`; it need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the transcripts lie.
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
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
        let Ok(bytes) = open::small(&self.root.join("settings.json"), SIDE_FILE_CAP) else { return DEFAULT };
        let text = String::from_utf8_lossy(&bytes);
        Raw::new(&text).get("cleanupPeriodDays").count().unwrap_or(DEFAULT)
    }

    /// Looks at every project folder, so many at a time.
    pub fn find(&self, threads: usize) -> Found {
        walk::find(&self.projects(), threads)
    }
}

impl TranscriptFile {
    /// The folder beside the transcript.
    pub fn side_folder(&self) -> PathBuf {
        self.path.with_extension("")
    }

    /// The title in the side file.
    pub fn side_title(&self) -> Option<String> {
        if !self.has_side_folder {
            return None;
        }
        let bytes = open::small(&self.side_folder().join("custom-title.json"), SIDE_FILE_CAP).ok()?;
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
    /// Reads the side file `agent-<id>.meta.json`; all absent where there is none.
    pub fn meta(&self) -> SubagentMeta {
        let Ok(bytes) = open::small(&self.path.with_extension("meta.json"), SIDE_FILE_CAP) else {
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
        let found = config.find(2);
        let ids: Vec<_> = found.transcripts.iter().map(|transcript| transcript.id.as_str()).collect();
        assert_eq!(ids, ["good"]);
        let mut problems: Vec<_> = found
            .problems
            .iter()
            .map(|problem| problem.path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        problems.sort_unstable();
        assert_eq!(problems, ["-bad.jsonl", "-out", "dir.jsonl", "fifo.jsonl", "loop.jsonl", "out.jsonl"]);
    }

    #[test]
    fn the_clean_up_period_is_read_from_the_settings() {
        let (_folder, config) = home();
        fs::create_dir_all(config.root()).unwrap();
        fs::write(config.root().join("settings.json"), r#"{"cleanupPeriodDays": 90}"#).unwrap();
        assert_eq!(config.cleanup_days(), 90);
    }
}
