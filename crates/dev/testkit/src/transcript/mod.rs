//! Transcripts written in prose: a test says what was asked and answered, and the lines come out as the
//! named release of Claude Code writes them, with the same ids and times in every run.
//!
//! ```
//! use serde_json::json;
//! use testkit::{ScratchHome, Transcript};
//!
//! let home = ScratchHome::new();
//! let file = Transcript::new("11111111-1111-4111-8111-111111111111")
//!     .cwd("/home/ana/shop")
//!     .prompt("Why does the login fail?")
//!     .thinking("The token may be stale.")
//!     .answer("Let me look.")
//!     .tool("Bash", json!({"command": "grep -rn refresh src"}), "src/token.rs:12")
//!     .answer("The refresh never runs.")
//!     .exit(0.05)
//!     .write_to(&home);
//! assert_eq!(home.transcripts(), [file]);
//! ```

mod fork;
mod ids;
mod marks;
mod message;
mod record;
mod subagent;
mod turns;
mod version;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::Usage;

use crate::ScratchHome;
use ids::Ids;
use message::OpenMessage;
use record::Record;
use subagent::Agent;
use version::Version;

pub use fork::Lineage;

/// One session's transcript under construction.
///
/// Settings such as [`cwd`](Self::cwd) and [`version`](Self::version) apply from their place on, as they
/// do when a session is resumed elsewhere or by a newer release.
#[derive(Debug, Clone)]
pub struct Transcript {
    id: String,
    cwd: String,
    started_in: Option<String>,
    branch: Option<String>,
    release: Version,
    version: String,
    model: String,
    entrypoint: String,
    permission_mode: String,
    agent: Option<Agent>,
    clock: Timestamp,
    ids: Ids,
    lines: Vec<Line>,
    side_files: Vec<SideFile>,
    open: Option<OpenMessage>,
    next_usage: Option<Usage>,
    messages: u64,
    total: Usage,
    last_uuid: Option<String>,
    last_prompt: Option<String>,
    last_answer: String,
    prompt_id: String,
    tools_used: Vec<String>,
}

#[derive(Debug, Clone)]
enum Line {
    Record(Record),
    /// The line as it is in the file, its end included.
    Bytes(Vec<u8>),
}

/// A file beside the transcript, named relative to the project's folder.
#[derive(Debug, Clone)]
struct SideFile {
    name: String,
    bytes: Vec<u8>,
}

impl Transcript {
    /// An empty session of the newest release, in the terminal, in `/home/ana/project` on `main`, on the
    /// morning of 2026-11-20.
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            cwd: "/home/ana/project".to_owned(),
            started_in: None,
            branch: Some("main".to_owned()),
            release: Version::parse("2.1.329"),
            version: "2.1.329".to_owned(),
            model: "claude-opus-5-5".to_owned(),
            entrypoint: "cli".to_owned(),
            permission_mode: "default".to_owned(),
            agent: None,
            clock: "2026-11-20T09:00:00Z".parse().expect("a time"),
            ids: Ids::seeded(id),
            lines: Vec::new(),
            side_files: Vec::new(),
            open: None,
            next_usage: None,
            messages: 0,
            total: Usage::default(),
            last_uuid: None,
            last_prompt: None,
            last_answer: String::new(),
            prompt_id: String::new(),
            tools_used: Vec::new(),
        }
    }

    /// The working directory from here on; the first one names the project's folder.
    #[must_use]
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        self.close_message();
        self.cwd = cwd.as_ref().to_string_lossy().into_owned();
        self
    }

    /// The branch from here on.
    #[must_use]
    pub fn branch(mut self, branch: &str) -> Self {
        self.close_message();
        self.branch = Some(branch.to_owned());
        self
    }

    /// No branch from here on, as outside a repository.
    #[must_use]
    pub fn no_branch(mut self) -> Self {
        self.close_message();
        self.branch = None;
        self
    }

    /// The release that writes from here on.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        self.close_message();
        self.release = Version::parse(version);
        version.clone_into(&mut self.version);
        self
    }

    /// The model that answers from here on.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        self.close_message();
        model.clone_into(&mut self.model);
        self
    }

    /// How the session is run from here on: `cli`, `sdk-cli` (print mode), `claude-vscode`, …
    #[must_use]
    pub fn entrypoint(mut self, entrypoint: &str) -> Self {
        self.close_message();
        entrypoint.clone_into(&mut self.entrypoint);
        self
    }

    /// The permission mode from here on.
    #[must_use]
    pub fn permission_mode(mut self, mode: &str) -> Self {
        self.close_message();
        mode.clone_into(&mut self.permission_mode);
        self
    }

    /// The time of the next record; each record is a second later than the one before.
    #[must_use]
    pub fn at(mut self, time: &str) -> Self {
        self.close_message();
        self.clock = time.parse().unwrap_or_else(|error| panic!("`{time}` is not a time: {error}"));
        self
    }

    /// The id of the session that the transcript belongs to.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tokens of all messages, those of sub-agents and copies of a fork included.
    pub fn total_usage(&self) -> Usage {
        self.total
    }

    /// The uuid of the last record of the tree.
    pub fn last_uuid(&self) -> Option<String> {
        let mut closed = self.clone();
        closed.close_message();
        closed.last_uuid
    }

    /// The transcript as Claude Code would have written it.
    pub fn bytes(&self) -> Vec<u8> {
        let mut closed = self.clone();
        closed.close_message();
        closed.lines.iter().flat_map(Line::bytes).collect()
    }

    /// Writes the transcript and its sub-agents' files where Claude Code keeps them in this home.
    pub fn write_to(&self, home: &ScratchHome) -> PathBuf {
        let started_in = self.started_in.as_ref().unwrap_or(&self.cwd);
        self.write_in(&home.project_folder(Path::new(started_in)))
    }

    /// Writes the transcript and its sub-agents' files into a project's folder.
    ///
    /// The files' time of change is the time of the last record.
    pub fn write_in(&self, folder: &Path) -> PathBuf {
        for side in &self.side_files {
            self.write_file(&folder.join(&side.name), &side.bytes);
        }
        let file = folder.join(format!("{}.jsonl", self.id));
        self.write_file(&file, &self.bytes());
        file
    }

    fn write_file(&self, path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the project's folder");
        fs::write(path, bytes).expect("a transcript in the scratch home");
        let file = File::options().append(true).open(path).expect("the file just written");
        file.set_modified(self.clock.into()).expect("a time of change");
    }

    /// Adds a record of the tree: links it, stamps it, and puts the release's envelope around it.
    fn tree(&mut self, body: Record) {
        let uuid = self.ids.uuid();
        let links = Record::new().with("parentUuid", self.last_uuid.take());
        let head = links.join(subagent::agent_fields(self.agent.as_ref()));
        let stamp = Record::new().with("uuid", &uuid).with("timestamp", self.now());
        let line = if self.release.ends_with_envelope() {
            head.join(body).join(stamp).join(self.envelope())
        } else {
            head.join(self.envelope()).join(body).join(stamp)
        };
        self.last_uuid = Some(uuid);
        self.line(line);
    }

    fn envelope(&self) -> Record {
        let entrypoint = self.release.ends_with_envelope().then_some(&self.entrypoint);
        let no_branch = if self.release.records_prompt_source() { "HEAD" } else { "" };
        let branch = self.branch.as_deref().unwrap_or(no_branch);
        Record::new()
            .with("userType", "external")
            .with_some("entrypoint", entrypoint)
            .with("cwd", &self.cwd)
            .with("sessionId", &self.id)
            .with("version", &self.version)
            .with_some("gitBranch", self.release.records_branch_and_request().then_some(branch))
    }

    fn line(&mut self, record: Record) {
        self.started_in.get_or_insert_with(|| self.cwd.clone());
        self.lines.push(Line::Record(record));
    }

    /// The time as records have it; the clock moves on by a second.
    fn now(&mut self) -> String {
        let now = self.clock;
        self.clock += SignedDuration::from_secs(1);
        format!("{now:.3}")
    }
}

impl Line {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Record(record) => format!("{}\n", record.to_json()).into_bytes(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}
