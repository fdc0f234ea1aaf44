//! A Claude config folder and its layout.

use std::path::{Path, PathBuf};

use model::{ProjectSlug, SessionId};
use system::FileStamp;

use crate::files::{FolderContents, SIDE_FILE_CAP};
use crate::json::Raw;
use crate::walk;

/// `~/.claude`, or what `CLAUDE_CONFIG_DIR` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFolder {
    root: PathBuf,
    projects: PathBuf,
}

/// The role of a file in the projects folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileRole {
    /// The transcript of a session.
    Session(SessionId),
    /// A sub-agent's transcript, below its session's folder.
    Subagent {
        /// The session's id.
        session: SessionId,
        /// Its id, without `agent-`.
        agent: String,
    },
    /// A sub-agent's transcript next to the sessions (2.0.42 to 2.0.77); its records name the session.
    FlatSubagent {
        /// Its id, without `agent-`.
        agent: String,
    },
}

/// The role of a path relative to the projects folder: `<project>/<session>.jsonl` and so on.
fn role(path: &Path) -> Option<FileRole> {
    let names: Vec<&str> = path.iter().map(|name| name.to_str()).collect::<Option<_>>()?;
    let (last, folders) = names.split_last()?;
    let stem = last.strip_suffix(".jsonl")?;
    let agent = stem.strip_prefix("agent-").map(ToOwned::to_owned);
    match (folders, agent) {
        ([_], None) => SessionId::from_file_stem(stem).ok().map(FileRole::Session),
        ([_], Some(agent)) => Some(FileRole::FlatSubagent { agent }),
        ([_, session, "subagents", deeper @ ..], Some(agent)) if deeper.len() < walk::SUBAGENT_DEPTH => {
            Some(FileRole::Subagent { session: session.parse().ok()?, agent })
        }
        _ => None,
    }
}

/// The id of the sub-agent whose transcript this is, by the name of the file or of its archived copy.
pub fn agent_of(file: &Path) -> Option<&str> {
    let (stem, _) = file.file_name()?.to_str()?.split_once(".jsonl")?;
    stem.strip_prefix("agent-")
}

impl ConfigFolder {
    /// The folder at `root`; it need not exist.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let projects = root.join("projects");
        Self { root, projects }
    }

    /// The config folder whose project folders are in `projects`, whatever that is called.
    pub fn from_projects(projects: impl Into<PathBuf>) -> Self {
        let projects = projects.into();
        let root = projects.parent().unwrap_or(&projects).to_owned();
        Self { root, projects }
    }

    /// The path of the config folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that contains the project folders.
    pub fn projects(&self) -> PathBuf {
        self.projects.clone()
    }

    /// The folder in which live processes register themselves.
    pub fn live_registry(&self) -> PathBuf {
        self.root.join("sessions")
    }

    /// The folder of the transcripts of sessions started in `directory` (a physical path).
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

    /// The role of a path below the projects folder, by its name alone.
    pub fn role(&self, path: &Path) -> Option<FileRole> {
        role(path.strip_prefix(self.projects()).ok()?)
    }

    /// Finds the files of all project folders on `threads` threads.
    pub fn find(&self, threads: usize) -> FolderContents {
        walk::find(&self.projects(), threads)
    }

    /// The transcripts of one session, with their stamps; no other file is looked at.
    pub fn transcripts_of(&self, id: &SessionId) -> Vec<(PathBuf, FileStamp)> {
        walk::find_session(&self.projects(), id)
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
    fn the_role_of_a_file_follows_from_its_path() {
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
        check("-p/s1.sync-conflict-20260115-120000-ABCDEFG.jsonl", None);
        check("s1.jsonl", None);
        check("-p/s1.json", None);
    }

    #[test]
    fn a_missing_folder_holds_nothing() {
        let (_folder, config) = home();
        assert_eq!(config.find(2), FolderContents::default());
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
        assert_eq!(session.side_title(), Some(("Renamed".to_owned(), false)));
        assert_eq!(found.flat_subagents[0].id, "flat1");
        assert_eq!(found.problems, []);
    }

    #[test]
    fn hostile_entries_are_reported_and_skipped() {
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
    fn a_projects_folder_may_be_a_link() {
        let (folder, config) = home();
        fs::create_dir_all(config.projects()).unwrap();
        let elsewhere = folder.path().join("dotfiles/shop");
        file(&elsewhere.join("s1.jsonl"));
        file(&elsewhere.join("s1/subagents/agent-a1.jsonl"));
        symlink(&elsewhere, config.projects().join("-shop")).unwrap();
        symlink("-shop", config.projects().join("-again")).unwrap();
        symlink(folder.path(), config.projects().join("-above")).unwrap();
        let found = config.find(2);
        let paths: Vec<_> = found.transcripts.iter().map(|found| found.path.clone()).collect();
        let projects = config.projects().canonicalize().unwrap();
        assert!(paths.contains(&projects.join("-shop/s1.jsonl").into()), "{paths:?}");
        assert_eq!(found.transcripts[0].subagents.len(), 1);
        let id = "s1".parse().unwrap();
        assert!(config.transcripts_of(&id).iter().any(|(path, _)| *path == projects.join("-shop/s1.jsonl")));
        assert_eq!(found.problems.len(), 1);
    }

    #[test]
    fn found_files_have_their_stamps() {
        let (_folder, config) = home();
        let path = config.projects().join("-p/s1.jsonl");
        file(&path);
        let metadata = fs::metadata(&path).unwrap();
        let found = config.find(1).transcripts.remove(0);
        assert_eq!(found.stamp, FileStamp::from_metadata(&metadata));
        let made = metadata.created().unwrap_or_else(|_| metadata.modified().unwrap());
        let since = made.duration_since(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(i128::from(found.created()), i128::try_from(since.as_nanos()).unwrap());
    }

    #[test]
    fn a_folder_of_many_sessions_is_listed_completely_and_in_order() {
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
