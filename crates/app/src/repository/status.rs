//! `status`: a repository's state: git, GitHub, documents, its sessions, and the files they are changing now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::{AgentId, Session, SessionId};
use project::ProjectStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::repository::schedules::DirectorySchedule;
use crate::repository::target::RepoTarget;
use crate::sessions::{activity, totals};
use crate::workers::reports;
use crate::{Context, Error};

/// How many of the newest sessions are listed.
const RECENT: usize = 5;
/// How many of the asking agent's.
const OWN: usize = 3;
/// For how long a file counts as being touched.
const TOUCHING: SignedDuration = SignedDuration::from_hours(1);

/// Which repository to look at, and for whom.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "StatusRequest")]
pub struct Request {
    /// A path or a project's name; by default the current directory's repository.
    pub repo: Option<String>,
    /// The OpenClaw agent whose own sessions are listed separately.
    pub agent: Option<AgentId>,
}

/// The state of a repository.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "StatusAnswer")]
pub struct Answer {
    /// git, GitHub and documents.
    #[serde(flatten)]
    pub project: ProjectStatus,
    /// The repository's sessions: how many, and the newest.
    pub sessions: RepoSessions,
    /// The prompts that Claude Code asks on a schedule in any session that is open in one of its directories.
    pub schedules: Vec<DirectorySchedule>,
    /// Files that live sessions wrote to within the last hour, the latest first.
    pub active_files: Vec<ActiveFile>,
    /// The time of this answer.
    #[serde(serialize_with = "model::time")]
    pub timestamp: Timestamp,
}

/// The sessions of a repository.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "StatusSessions")]
pub struct RepoSessions {
    /// Those that a live process holds.
    pub active: Vec<Session>,
    /// The newest ones, whoever began them.
    pub recent: Vec<Session>,
    /// The newest ones of the agent that was named; without one, those that no agent began.
    pub own_recent: Vec<Session>,
}

/// A file that live sessions wrote to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "StatusFile")]
pub struct ActiveFile {
    /// The file's path, relative to the repository.
    #[serde(serialize_with = "model::path")]
    pub file: PathBuf,
    /// When they last did.
    #[serde(serialize_with = "model::time")]
    pub last: Timestamp,
    /// The sessions that did; two or more may undo each other's work.
    pub sessions: Vec<SessionId>,
}

/// Tells the state of a repository.
pub fn status(context: &Context, request: &Request) -> Result<Answer, Error> {
    let named = RepoTarget::name(context, request.repo.as_deref());
    let target = RepoTarget::directory(context, named)?;
    let ask = |target: &RepoTarget| project::status(&target.place(context));
    let (mut project, target, sessions, reports) = std::thread::scope(|scope| {
        let asked = target.as_ref().map(|target| scope.spawn(|| ask(target)));
        let mut catalog = totals::with_totals(context)?;
        let reports = reports::all(context);
        catalog.mark_running(|id| reports.contains_key(id));
        let all: Vec<Box<Session>> = catalog.sessions.into_iter().map(|entry| entry.session).collect();
        let found = match &target {
            Some(target) => target.clone(),
            None => RepoTarget::by_name(named.unwrap_or_default(), all.iter().map(AsRef::as_ref))?,
        };
        let project = asked.and_then(|asked| asked.join().ok()).unwrap_or_else(|| ask(&found));
        Ok((project, found, all, reports))
    })?;
    redact_project(context, &mut project);
    let is_here = |session: &Session| session.is_of_repository(&target.root);
    let mut here: Vec<Session> =
        sessions.into_iter().filter(|session| is_here(session)).map(|session| *session).collect();
    activity::enter(context, &mut here, reports);
    for session in &mut here {
        context.redact_session(session);
    }
    Ok(Answer {
        project,
        active_files: active_files(context, &here),
        schedules: schedules(context, &target, &here),
        sessions: grouped(&here, request.agent.as_ref()),
        timestamp: context.now,
    })
}

/// The schedules of the directory that was named and of those in which the repository's sessions were started.
fn schedules(context: &Context, target: &RepoTarget, here: &[Session]) -> Vec<DirectorySchedule> {
    let own = [target.root.clone(), target.directory.clone()];
    let started = here.iter().filter_map(|session| session.cwd.as_deref().map(Path::to_owned));
    let directories: BTreeSet<PathBuf> = own.into_iter().chain(started).collect();
    directories.iter().flat_map(|directory| DirectorySchedule::of_directory(context, directory)).collect()
}

/// Redacts what people wrote into a repository.
pub(crate) fn redact_project(context: &Context, project: &mut ProjectStatus) {
    let git = &mut project.git;
    let messages = git.recent_commits.iter_mut().map(|commit| &mut commit.message);
    let names = [&mut git.current_branch, &mut git.head_commit_message].into_iter().flatten();
    let requests = project.github.iter_mut().flat_map(|github| &mut github.open_prs);
    let requests = requests.flat_map(|request| [&mut request.title, &mut request.branch]);
    let changes = git.uncommitted_changes.iter_mut().chain(&mut git.staged_changes);
    for text in messages.chain(names).chain(requests).chain(changes) {
        *text = context.secrets.redacted_beginning(std::mem::take(text));
    }
    for path in &mut project.docs.spec_files {
        redact_path(context, path);
    }
}

/// The name of a file may hold a secret as any text does.
fn redact_path(context: &Context, path: &mut PathBuf) {
    let Some(text) = path.to_str() else { return };
    let redacted = context.secrets.redacted_beginning(text.to_owned());
    if redacted != text {
        *path = redacted.into();
    }
}

fn grouped(here: &[Session], agent: Option<&AgentId>) -> RepoSessions {
    // What a person hid is shown while it runs: its work may meet that of others.
    let mut newest: Vec<&Session> = here.iter().filter(|session| !session.is_hidden()).collect();
    newest.sort_by_key(|session| std::cmp::Reverse(session.last_modified));
    let json = |all: &mut dyn Iterator<Item = &Session>| all.cloned().collect();
    let mut own = newest.iter().copied().filter(|session| session.origin.agent() == agent).take(OWN);
    RepoSessions {
        active: json(&mut here.iter().filter(|session| session.is_running)),
        recent: json(&mut newest.iter().copied().take(RECENT)),
        own_recent: json(&mut own),
    }
}

/// What the live sessions wrote to lately; two names of one file are one file.
fn active_files(context: &Context, here: &[Session]) -> Vec<ActiveFile> {
    let since = context.now.checked_sub(TOUCHING).unwrap_or(Timestamp::MIN);
    let mut files: BTreeMap<PathBuf, ActiveFile> = BTreeMap::new();
    for session in here.iter().filter(|session| session.is_running) {
        let transcript = session.file.as_deref();
        let touched =
            transcript.and_then(|file| transcript::files_written(file, since).ok()).unwrap_or_default();
        for (path, at) in touched {
            let file = path.canonicalize().unwrap_or(path);
            let known =
                files.entry(file.clone()).or_insert(ActiveFile { file, last: at, sessions: Vec::new() });
            known.last = known.last.max(at);
            if !known.sessions.contains(&session.id) {
                known.sessions.push(session.id.clone());
            }
        }
    }
    let mut all: Vec<ActiveFile> = files.into_values().collect();
    for touched in &mut all {
        redact_path(context, &mut touched.file);
    }
    all.sort_by_key(|touched| std::cmp::Reverse(touched.last));
    all
}
