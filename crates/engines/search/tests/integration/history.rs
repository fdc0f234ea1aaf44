//! A scratch history and its index.

use std::path::{Path, PathBuf};

use model::SessionId;
use search::{Mode, Query, RankedHit, SearchScope, Searcher, SourceFile, SourceKind, SyncReport, sync};
use testkit::transcript::Transcript;
use transcript::ConfigFolder;

/// A config folder with transcripts, and an index of them.
pub(crate) struct History {
    folder: tempfile::TempDir,
}

impl History {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.folder.path().join(".claude")
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    pub(crate) fn write(&self, transcript: &Transcript) -> PathBuf {
        self.write_in("-p", transcript.id(), &transcript.bytes())
    }

    pub(crate) fn write_in(&self, project: &str, id: &str, bytes: &[u8]) -> PathBuf {
        let path = self.config().join("projects").join(project).join(format!("{id}.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn sync(&self) -> SyncReport {
        sync_folders(&self.config(), &self.index())
    }

    pub(crate) fn hits(&self, question: &str) -> Vec<RankedHit> {
        self.hits_in(question, &SearchScope::default())
    }

    /// The sessions that answer.
    pub(crate) fn hits_in(&self, question: &str, scope: &SearchScope) -> Vec<RankedHit> {
        let query = Query::parse(question);
        let mut searcher = Searcher::open(&self.index()).unwrap().unwrap();
        searcher.search(&query, scope, Mode::Lexical, 2, 50).unwrap().hits
    }

    /// The sessions found, best first, as text.
    pub(crate) fn found(&self, question: &str) -> Vec<String> {
        self.hits(question).iter().map(|hit| hit.session.to_string()).collect()
    }
}

pub(crate) fn sync_folders(config: &Path, index: &Path) -> SyncReport {
    sync(index, &sources(config), &mut |_| true).unwrap()
}

pub(crate) fn sources(config: &Path) -> Vec<SourceFile> {
    let found = ConfigFolder::new(config).find(2);
    let mut sources = Vec::new();
    for session in found.transcripts {
        let source = |path, stamp, subagent| SourceFile {
            path,
            stamp,
            kind: SourceKind::ClaudeSessions,
            session: Some(session.id.clone()),
            subagent,
        };
        sources.extend(session.subagents.into_iter().map(|agent| source(agent.path, agent.stamp, true)));
        sources.push(source(session.path.to_path_buf(), session.stamp, false));
    }
    let flat = found.flat_subagents.into_iter();
    sources.extend(flat.map(|agent| SourceFile {
        path: agent.path,
        stamp: agent.stamp,
        kind: SourceKind::ClaudeSessions,
        session: None,
        subagent: true,
    }));
    sources
}

pub(crate) fn ids(ids: &[&str]) -> std::collections::HashSet<SessionId> {
    ids.iter().map(|id| id.parse().unwrap()).collect()
}

/// A session in which one thing is asked and answered.
pub(crate) fn session(id: &str, prompt: &str, answer: &str) -> Transcript {
    Transcript::new(id).cwd("/p").prompt(prompt).answer(answer)
}
