//! `doctor --secrets`: which kinds of secrets the transcripts of each project hold, how old they are, and what to
//! rotate.
//!
//! No value leaves this file, and nothing is rewritten.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::Path;

use jiff::Timestamp;
use model::Session;
use schemars::JsonSchema;
use search::texts;
use serde::{Deserialize, Serialize};
use system::in_parallel;
use transcript::Reader;

use crate::sessions::select::all;
use crate::{Context, Error};

/// Which secrets to look for: those that redaction takes out of the text that is indexed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DoctorSecretsRequest")]
pub struct SecretsRequest {}

/// What the transcripts hold, without any value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorSecretsAnswer")]
pub struct SecretsReport {
    /// One for each kind and project, the oldest first.
    pub found: Vec<SecretsFound>,
    /// How many sessions were read, those in the archive included.
    pub sessions: u64,
    /// Sessions that could not be read.
    pub failed: Vec<String>,
}

/// Secrets of one kind in the transcripts of one project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SecretsFound {
    /// The kind, such as `github-token`; docs/redaction.md lists them.
    pub kind: String,
    /// The project.
    pub project: String,
    /// How many different values there are.
    pub values: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// When the oldest of these sessions began.
    #[serde(serialize_with = "model::optional_time")]
    pub since: Option<Timestamp>,
    /// When something happened last in the newest of them.
    #[serde(serialize_with = "model::optional_time")]
    pub until: Option<Timestamp>,
    /// How many of the sessions are only in the archive; `forget` erases them there.
    pub archived: u64,
}

/// Reads every transcript, with its sub-agents, for secrets.
pub fn secrets(context: &Context, _: &SecretsRequest) -> Result<SecretsReport, Error> {
    context.require_person("the secrets in all transcripts")?;
    let sessions = all(context)?.sessions;
    let with_files: Vec<Session> = sessions.into_iter().filter(|session| session.file.is_some()).collect();
    let threads = context.config().places().threads;
    let read = in_parallel(threads, &with_files, |session| {
        context.check_cancelled().ok().map(|()| of_session(session))
    });
    context.check_cancelled()?;
    let mut report = SecretsReport::default();
    let mut groups: BTreeMap<(&'static str, String), Group> = BTreeMap::new();
    for (session, kinds) in with_files.iter().zip(read) {
        match kinds.unwrap_or_else(|| Ok(BTreeMap::new())) {
            Ok(kinds) => {
                report.sessions += 1;
                let project = session.project.as_deref().unwrap_or("(none)").to_owned();
                for (kind, values) in kinds {
                    groups.entry((kind, project.clone())).or_default().add(session, values);
                }
            }
            Err(error) => report.failed.push(format!("session {}: {error}", session.id)),
        }
    }
    report.found = groups.into_iter().map(|((kind, project), group)| group.found(kind, project)).collect();
    report.found.sort_by(|one, other| (one.since, &one.kind).cmp(&(other.since, &other.kind)));
    Ok(report)
}

/// What is known of one kind in one project. Values are only compared, by their hashes.
#[derive(Debug, Default)]
struct Group {
    values: HashSet<u64>,
    sessions: u64,
    archived: u64,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Group {
    fn add(&mut self, session: &Session, values: HashSet<u64>) {
        self.values.extend(values);
        self.sessions += 1;
        self.archived += u64::from(session.archived);
        let earlier = [self.since, session.created.or(session.last_modified)];
        self.since = earlier.into_iter().flatten().min();
        self.until = self.until.max(session.last_modified);
    }

    fn found(self, kind: &str, project: String) -> SecretsFound {
        SecretsFound {
            kind: kind.to_owned(),
            project,
            values: self.values.len() as u64,
            sessions: self.sessions,
            since: self.since,
            until: self.until,
            archived: self.archived,
        }
    }
}

/// The hashes of the values in a session's files, by kind.
type Kinds = BTreeMap<&'static str, HashSet<u64>>;

fn of_session(session: &Session) -> io::Result<Kinds> {
    let mut kinds = Kinds::new();
    if let Some(file) = session.file.as_deref() {
        add_file(file, false, &mut kinds)?;
    }
    for agent in &session.subagents {
        add_file(&agent.file, true, &mut kinds)?;
    }
    Ok(kinds)
}

fn add_file(path: &Path, is_subagent: bool, kinds: &mut Kinds) -> io::Result<()> {
    let mut reader = Reader::open(path)?;
    while let Some(line) = reader.next_line()? {
        let Ok(record) = line.record() else { continue };
        for text in texts(&record, is_subagent) {
            add_text(&text, kinds);
        }
    }
    Ok(())
}

fn add_text(text: &str, kinds: &mut Kinds) {
    for secret in redact::find(text) {
        let mut hasher = DefaultHasher::new();
        text[secret.start..secret.end].hash(&mut hasher);
        kinds.entry(secret.kind).or_default().insert(hasher.finish());
    }
}
