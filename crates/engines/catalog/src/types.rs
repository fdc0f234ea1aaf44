//! The types that the catalog exchanges with its callers: where to look, what was found, and each session's entry.

use std::ffi::OsString;
use std::ops::AddAssign;
use std::path::PathBuf;

use model::{CostState, Keywords, MessageUsage, Session, SessionId, SubagentMessages};
use rustc_hash::FxHashMap;
use transcript::{ConfigFolder, ReadProblem, SubagentFile, TranscriptFile};

/// The files and folders that the catalog reads.
#[derive(Debug, Clone, Default)]
pub struct Locations {
    /// The user's home directory, which paths in OpenClaw's configuration may begin with.
    pub home: PathBuf,
    /// Claude Code's config folders.
    pub config_folders: Vec<ConfigFolder>,
    /// OpenClaw's state folders.
    pub openclaw_folders: Vec<PathBuf>,
    /// The configuration of the first state folder, where it is elsewhere (`OPENCLAW_CONFIG_PATH`).
    pub openclaw_configuration: Option<PathBuf>,
    /// Claude Code's `.claude.json` files.
    pub global_files: Vec<PathBuf>,
    /// The cache database; it can be rebuilt.
    pub cache: Option<PathBuf>,
    /// The file that keeps which repositories directories belonged to while they were there.
    pub remembered: Option<PathBuf>,
    /// Directories whose sessions count as hidden, with those below them.
    pub left_out: Vec<PathBuf>,
    /// The file of the person's annotations.
    pub annotations: Option<PathBuf>,
    /// Backstory's archive of sessions that Claude Code may have deleted.
    pub archive: Option<PathBuf>,
    /// The number of threads that read files.
    pub threads: usize,
}

/// Every session that was found, or what each was mapped to.
#[derive(Debug)]
pub struct Catalog<T = CatalogEntry> {
    /// The sessions: running first, then newest; mapped ones are in any order.
    pub sessions: Vec<T>,
    /// API messages of sub-agents whose session has no transcript; filled by [`read`](crate::read) only.
    pub unattached_messages: Vec<CatalogEntry>,
    /// Sub-agents' files, which are no sessions.
    pub subagents: usize,
    /// The files that could not be read.
    pub problems: Vec<ReadProblem>,
    /// The I/O this took.
    pub work: IoStats,
    /// Why it could not be cached for the next time, if so.
    pub not_kept: Option<String>,
}

/// A session with the API messages in its files; messages copied from other sessions are still among them.
#[derive(Debug)]
pub struct CatalogEntry {
    /// The session; its `usage` and `cost_usd` are filled in by the caller that removes copies. Boxed, because
    /// thousands are sorted.
    pub session: Box<Session>,
    /// All API messages in its files, including its sub-agents' files.
    pub messages: Vec<MessageUsage>,
    /// Which of them are in sub-agents' files, in the order of the messages.
    pub subagent_messages: Vec<SubagentMessages>,
    /// The pull request that the session recorded last.
    pub pull_request: Option<String>,
    /// The CLI's own total.
    pub cost_state: Option<CostState>,
    /// The totals before it.
    pub earlier_totals: Vec<CostState>,
    /// The keywords of its first message, where they are known already.
    pub keywords: Option<Keywords>,
}

/// The I/O that reading the catalog took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IoStats {
    /// The number of files opened.
    pub opened: u64,
    /// Bytes read of them.
    pub bytes: u64,
    /// Rows written or taken away.
    pub rows: u64,
}

impl CatalogEntry {
    /// An entry without messages and totals.
    pub(crate) fn new(session: Session) -> Self {
        Self {
            session: Box::new(session),
            messages: Vec::new(),
            subagent_messages: Vec::new(),
            pull_request: None,
            cost_state: None,
            earlier_totals: Vec::new(),
            keywords: None,
        }
    }
}

impl AddAssign for IoStats {
    fn add_assign(&mut self, other: Self) {
        self.opened += other.opened;
        self.bytes += other.bytes;
        self.rows += other.rows;
    }
}

/// How far reading has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// The number of files read.
    pub files: usize,
    /// The number of files to read.
    pub of_files: usize,
    /// The number of bytes read.
    pub bytes: u64,
    /// Bytes to read, about.
    pub of_bytes: u64,
}

/// The transcripts of all config folders, each session once.
#[derive(Debug, Clone, Default)]
pub struct Discovery {
    /// One for each session, with its sub-agents' files; in no order that means anything.
    pub sessions: Vec<TranscriptFile>,
    /// Sub-agents' files whose session only their records name.
    pub flat_subagents: Vec<SubagentFile>,
    /// Sub-agents' files below the folder of a session whose own transcript is elsewhere or missing.
    pub lone_subagents: Vec<SubagentFile>,
    /// The files and folders that could not be read.
    pub problems: Vec<ReadProblem>,
    /// The projects folders that were looked through.
    pub(crate) walked: Vec<PathBuf>,
}

impl Discovery {
    /// Sub-agents' files whose session only their records name.
    pub(crate) fn unattached(&self) -> impl Iterator<Item = &SubagentFile> {
        self.flat_subagents.iter().chain(&self.lone_subagents)
    }

    /// The number of sub-agents' files.
    pub(crate) fn subagents(&self) -> usize {
        self.sessions.iter().map(|file| file.subagents.len()).sum::<usize>() + self.unattached().count()
    }

    /// A number that changes when any of the files does; those of other files can be added to it.
    pub fn fingerprint(&self) -> u64 {
        self.sessions.iter().map(TranscriptFile::fingerprint).fold(self.flat_fingerprint(), u64::wrapping_add)
    }

    /// A fingerprint of the sub-agents' files whose session only their records name.
    pub(crate) fn flat_fingerprint(&self) -> u64 {
        system::fingerprint(self.unattached().map(|file| (file.path.as_path(), &file.stamp)))
    }
}

/// How much of each session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// The facts; an entry's messages may be missing.
    Facts,
    /// Also what was spent.
    #[default]
    Spending,
}

/// What a reading reports besides the sessions.
#[derive(Debug, Default)]
pub(crate) struct ReadReport {
    /// The files that could not be read.
    pub(crate) problems: Vec<ReadProblem>,
    /// The I/O this took.
    pub(crate) work: IoStats,
    /// Why it could not be cached, if so.
    pub(crate) not_kept: Option<String>,
}

/// Builds the catalog from the mapped sessions.
pub(crate) fn assemble_catalog<T>(
    found: &Discovery,
    sessions: Vec<T>,
    problems: Vec<ReadProblem>,
    report: ReadReport,
) -> Catalog<T> {
    let problems = [report.problems, problems].concat();
    Catalog {
        sessions,
        unattached_messages: Vec::new(),
        subagents: found.subagents(),
        problems,
        work: report.work,
        not_kept: report.not_kept,
    }
}

/// Running first, then newest.
pub(crate) fn sort(sessions: &mut [CatalogEntry]) {
    sessions.sort_by(|CatalogEntry { session: one, .. }, CatalogEntry { session: other, .. }| {
        let key = |session: &Session| (session.is_running, session.last_modified);
        key(other).cmp(&key(one)).then_with(|| one.id.cmp(&other.id))
    });
}

impl Catalog {
    /// Marks further sessions as running, those for which `is_held` returns true.
    pub fn mark_running(&mut self, is_held: impl Fn(&SessionId) -> bool) {
        let mut is_new = false;
        for CatalogEntry { session, .. } in &mut self.sessions {
            if !session.is_running && is_held(&session.id) {
                (session.is_running, is_new) = (true, true);
            }
        }
        if is_new {
            sort(&mut self.sessions);
        }
    }
}

/// A map by path. Not keyed by `Path`, whose hash splits it into components, nor hashed against attackers: someone who
/// can name files here can do worse.
pub(crate) type ByPath<T> = FxHashMap<OsString, T>;
