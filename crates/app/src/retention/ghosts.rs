//! Ghosts: sessions that Claude Code deleted before Backstory kept copies, as far as other files still have traces of
//! them, and as far as they were listed or indexed before.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::search::VanishedSession;
use catalog::{LastKnown, SessionFilter};
use jiff::{SignedDuration, Timestamp};
use model::{Origin, Session, SessionId, Subagent};
use schemars::JsonSchema;
use serde::Serialize;
use transcript::{
    ConfigFolder, RegisteredProcess, Role, SessionTraces, SubagentFile, SubagentMeta, forgotten_sessions,
    preview,
};

use crate::repository::target::RepoTarget;
use crate::retention::archive;
use crate::search::index;
use crate::sessions::message::{Piece, ShownMessage};
use crate::sessions::resolve::is_named;
use crate::{Context, Error, Kind, NextStep};

/// How many commits and to-dos of a ghost are named.
const NAMED: usize = 20;
/// How long after its last trace a commit still counts as a ghost's.
const COMMIT_GRACE: SignedDuration = SignedDuration::from_mins(10);
/// How many ghosts a search names.
const FOUND: usize = 5;

/// A session of which no transcript is left.
#[derive(Debug, Clone)]
pub(crate) struct Ghost {
    /// What is known of it.
    pub(crate) session: Session,
    traces: SessionTraces,
    /// Where its transcript was, if it was ever listed or indexed.
    transcript: Option<PathBuf>,
}

/// What is left of a session without a transcript.
#[derive(Debug, Default)]
struct Remains {
    /// What Claude Code's other files say.
    traces: SessionTraces,
    /// As it was listed last.
    known: Option<Session>,
    /// Where its transcript was.
    transcript: Option<PathBuf>,
    /// When that was last written.
    modified: Option<Timestamp>,
}

/// A session of which no transcript is left, and what its person asked in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GhostHit {
    /// The session.
    pub session_id: SessionId,
    /// The newest prompt that has all the words.
    pub prompt: String,
    /// When that was.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// The short name of its repository.
    pub project: Option<String>,
}

/// The ghosts, newest first; agents and models with limits see none.
pub(crate) fn all(context: &Context) -> Vec<Ghost> {
    ghosts_with(context, |_, _| true).collect()
}

/// Those of which transcripts of sub-agents are left.
pub(crate) fn with_subagents(context: &Context) -> Vec<Ghost> {
    ghosts_with(context, |_, remains| !remains.traces.subagents.is_empty()).collect()
}

/// The only ghost with this id, or whose id begins so.
pub(crate) fn named(context: &Context, text: &str) -> Option<Ghost> {
    let mut matching = ghosts_with(context, |id, _| is_named(id, text));
    matching.next().filter(|_| matching.next().is_none())
}

/// What is known of these sessions, as far as they are ghosts.
pub(crate) fn sessions(context: &Context, ids: &HashSet<SessionId>) -> HashMap<SessionId, Session> {
    let ghosts = ghosts_with(context, |id, _| ids.contains(id));
    ghosts.map(|ghost| (ghost.session.id.clone(), ghost.session)).collect()
}

/// The ghosts that pass a filter and in which the person wrote all the words, newest first.
pub(crate) fn matching(context: &Context, words: &str, filter: &SessionFilter) -> Vec<GhostHit> {
    let wanted: Vec<String> =
        words.split(|letter: char| letter.is_whitespace() || letter == '"').map(str::to_lowercase).collect();
    let says = |text: &str| {
        let text = context.secrets.shown(text).to_lowercase();
        wanted.iter().all(|word| text.contains(word.as_str()))
    };
    let hit = |ghost: Ghost| {
        let (at, prompt) = ghost.traces.prompts.iter().rev().find(|(_, prompt)| says(prompt))?;
        Some(ghost.hit_with(context, *at, prompt))
    };
    let ghosts = ghosts_with(context, |_, remains| {
        remains.traces.read_pasted();
        remains.traces.prompts.iter().any(|(_, prompt)| says(prompt))
    });
    ghosts.filter(|ghost| filter.matches(&ghost.session)).filter_map(hit).take(FOUND).collect()
}

/// The ghosts with such remains, newest first. What was pasted, and what sub-agents left, is read for these alone.
fn ghosts_with(
    context: &Context,
    is_wanted: impl Fn(&SessionId, &mut Remains) -> bool,
) -> impl Iterator<Item = Ghost> {
    let mut found = remains(context);
    found.retain_mut(|(id, remains)| is_wanted(id, remains));
    let ghost = |(id, mut remains): (SessionId, Remains)| {
        remains.traces.read_pasted();
        let session = session(context, id, &remains);
        Ghost { session, traces: remains.traces, transcript: remains.transcript }
    };
    let mut ghosts: Vec<Ghost> = found.into_iter().map(ghost).collect();
    ghosts.sort_by_key(|ghost| std::cmp::Reverse(ghost.session.last_modified));
    ghosts.into_iter()
}

/// What is left of the sessions without a transcript.
fn remains(context: &Context) -> Vec<(SessionId, Remains)> {
    if context.config().is_demo || context.is_limited() {
        return Vec::new();
    }
    let transcripts = context.transcripts();
    let mut known: HashSet<SessionId> = forgotten_sessions(&archive::folder(context));
    known.extend(transcripts.sessions.iter().map(|file| file.id.clone()));
    let mut found: BTreeMap<SessionId, Remains> = BTreeMap::new();
    for folder in context.config().claude_folders.iter().map(ConfigFolder::new) {
        // One that has just begun has no transcript yet.
        known.extend(RegisteredProcess::find(&folder.live_registry()).into_iter().map(|live| live.session));
        for (id, traces) in transcript::traces(&folder) {
            found.entry(id).or_insert_with(|| Remains { traces, ..Remains::default() });
        }
    }
    for agent in &transcripts.lone_subagents {
        if let Some(id) = agent.folder_session() {
            found.entry(id).or_default().traces.add_subagent(agent);
        }
    }
    // Not of a folder that is no longer read.
    let folders: Vec<PathBuf> = projects_folders(context);
    let is_read = |transcript: &Path| folders.iter().any(|folder| transcript.starts_with(folder));
    // Without the index nothing in it can be found, either.
    let vanished = ::search::vanished_sessions(&index::folder(context)).unwrap_or_default();
    for VanishedSession { session, transcript, modified } in
        vanished.into_iter().filter(|one| is_read(&one.transcript))
    {
        let remains = found.entry(session).or_default();
        (remains.transcript, remains.modified) = (Some(transcript), modified);
    }
    let last_known = catalog::last_known(&context.config().places(), |id| !known.contains(id));
    for LastKnown { session, transcript } in last_known.into_iter().filter(|one| is_read(&one.transcript)) {
        let remains = found.entry(session.id.clone()).or_default();
        (remains.transcript, remains.known) = (Some(transcript), Some(session));
    }
    found.retain(|id, _| !known.contains(id));
    found.into_iter().collect()
}

/// The folders of transcripts, as they are named in the settings and as they really are.
fn projects_folders(context: &Context) -> Vec<PathBuf> {
    let folders = context.config().claude_folders.iter().map(|folder| ConfigFolder::new(folder).projects());
    folders.flat_map(|folder| [folder.canonicalize().unwrap_or_else(|_| folder.clone()), folder]).collect()
}

/// Why a ghost cannot be continued, put back or copied: the same words wherever that is asked for.
pub(crate) fn cannot_continue(ghost: &Ghost) -> Error {
    let id = &ghost.session.id;
    if ghost.traces.subagents.is_empty() {
        return deleted_uncopied(id, ghost.transcript.as_deref());
    }
    let why = "its transcript was not found, only those of its sub-agents";
    let message = format!("session {id} cannot be continued: {why}");
    Error::new(Kind::Unavailable, message).next(NextStep::Show { session: id.clone() })
}

/// The error for a session that was deleted and has no copy; `transcript` is where it was.
pub(crate) fn deleted_uncopied(id: &SessionId, transcript: Option<&Path>) -> Error {
    let message = format!(
        "session {id} cannot be continued or put back: Claude Code deleted its transcript before Backstory kept a copy"
    );
    let error = Error::new(Kind::Unavailable, message);
    let error = match transcript {
        Some(transcript) => {
            error.hint(format!("if a backup of yours has it, put the file back: {}", transcript.display()))
        }
        None => error,
    };
    error.next(NextStep::Show { session: id.clone() })
}

impl Ghost {
    /// It as a hit with the last that its person wrote.
    pub(crate) fn hit(&self, context: &Context) -> GhostHit {
        let (at, prompt) =
            self.traces.prompts.last().map_or((None, ""), |(at, prompt)| (*at, prompt.as_str()));
        self.hit_with(context, at, prompt)
    }

    fn hit_with(&self, context: &Context, at: Option<Timestamp>, prompt: &str) -> GhostHit {
        GhostHit {
            prompt: context.secrets.redacted_beginning(preview(prompt)),
            at,
            project: self.session.project.as_deref().map(ToOwned::to_owned),
            session_id: self.session.id.clone(),
        }
    }

    /// What is left of it, as messages: first a note that explains it, then the person's prompts.
    pub(crate) fn messages(&self, context: &Context) -> Vec<ShownMessage> {
        let message = |role, at, text: &str| ShownMessage {
            role,
            subagent: None,
            uuid: None,
            line: None,
            at,
            how: None,
            parts: vec![Piece::Text { text: context.secrets.redacted(text.into()) }],
        };
        let prompts = self.traces.prompts.iter().map(|(at, text)| message(Role::User, *at, text));
        std::iter::once(message(Role::Note, self.session.created, &self.note(context)))
            .chain(prompts)
            .collect()
    }

    /// What is left and what is not.
    fn note(&self, context: &Context) -> String {
        let SessionTraces { prompts, todos, checkpoints, subagents, places, .. } = &self.traces;
        let mut left = Vec::new();
        if self.transcript.is_some() {
            left.push("what a list shows of it".to_owned());
        }
        let mut count = |number: usize, one: &str, many: &str| match number {
            0 => {}
            1 => left.push(format!("1 {one}")),
            _ => left.push(format!("{number} {many}")),
        };
        count(prompts.len(), "prompt", "prompts");
        count(todos.len(), "to-do", "to-dos");
        count(*checkpoints, "checkpoint of a file", "checkpoints of files");
        count(subagents.len(), "sub-agent's transcript", "sub-agents' transcripts");
        if left.is_empty() {
            left.push("its id and its times".to_owned());
        }
        let (is_gone, not_left) = if subagents.is_empty() {
            let is_gone = "Claude Code deleted this session before Backstory kept a copy.";
            (is_gone, "answers, what tools did, and what it cost")
        } else {
            let is_gone =
                "The transcript of this session was not found; `--subagents` shows those of its sub-agents.";
            (is_gone, "what was said and done in the session itself")
        };
        let own = self.transcript.as_ref().map(|_| "Backstory's catalog and index".to_owned());
        let places: Vec<String> = places.iter().map(|place| place.display().to_string()).chain(own).collect();
        let mut note = format!(
            "{is_gone}\nLeft: {} (in {}).\nNot left: {not_left}.",
            left.join(", "),
            places.join(", ")
        );
        // Writing to a String cannot fail.
        if let Some(transcript) = &self.transcript {
            let _ =
                write!(note, "\nIf a backup of yours has it, put the file back: {}", transcript.display());
        }
        for todo in todos.iter().take(NAMED) {
            let _ = write!(note, "\nTo-do: {}", preview(todo));
        }
        for commit in self.commits(context) {
            let sha: String = commit.sha.chars().take(9).collect();
            let _ = write!(note, "\nCommitted in that time: {sha} {}", preview(&commit.message));
        }
        note
    }

    /// The commits that were made in its directory between its first and last sign.
    fn commits(&self, context: &Context) -> Vec<project::Commit> {
        // What else is left was perhaps touched later.
        let said = |prompt: Option<&(Option<Timestamp>, String)>| prompt.and_then(|(at, _)| *at);
        let first = said(self.traces.prompts.first()).or(self.traces.first);
        let last = said(self.traces.prompts.last()).or(self.traces.last);
        let (Some(directory), Some(from), Some(to)) = (&self.traces.project, first, last) else {
            return Vec::new();
        };
        if !directory.is_dir() {
            return Vec::new();
        }
        let target = RepoTarget { directory: directory.clone(), root: directory.clone() };
        let until = to.checked_add(COMMIT_GRACE).unwrap_or(to);
        project::commits_between(&target.place(context), from, until, NAMED)
    }
}

/// What is known of a ghost: what was listed last, and for the rest what other files say.
fn session(context: &Context, id: SessionId, remains: &Remains) -> Session {
    let traced = of_traces(context, id, &remains.traces);
    let modified = traced.last_modified.max(remains.modified);
    let mut session = match &remains.known {
        Some(known) => Session {
            origin: Origin::Ghost,
            archived: false,
            is_running: false,
            title: known.title.clone().or(traced.title),
            first_message: known.first_message.clone().or(traced.first_message),
            last_prompt: known.last_prompt.clone().or(traced.last_prompt),
            cwd: known.cwd.clone().or(traced.cwd),
            project: known.project.clone().or(traced.project),
            repo_path: known.repo_path.clone().or(traced.repo_path),
            created: known.created.or(traced.created),
            last_modified: known.last_modified.or(modified),
            subagents: traced.subagents,
            ..known.clone()
        },
        None => Session { last_modified: modified, ..traced },
    };
    context.redact_session(&mut session);
    session
}

/// What other files say of a session.
fn of_traces(context: &Context, id: SessionId, traces: &SessionTraces) -> Session {
    let text = |prompt: Option<&(_, String)>| {
        prompt.map(|(_, text): &(Option<Timestamp>, String)| preview(text).into())
    };
    // Commands such as /exit say little of what a session was about.
    let is_said = |prompt: &&(Option<Timestamp>, String)| !prompt.1.trim_start().starts_with('/');
    let first = traces.prompts.iter().find(is_said).or(traces.prompts.first());
    let todo = || traces.todos.first().map(|todo| preview(todo).into());
    let task = || traces.subagents.iter().find_map(SubagentFile::task).map(|task| preview(&task).into());
    let directory = || traces.subagents.iter().find_map(SubagentFile::directory);
    let directory = traces.project.clone().or_else(directory);
    let root = directory.as_deref().map(|directory| {
        if directory.is_dir() {
            catalog::repository(&context.config().places(), directory)
        } else {
            directory.to_owned()
        }
    });
    let name = root.as_deref().and_then(|root| root.file_name()).map(|name| name.to_string_lossy());
    Session {
        origin: Origin::Ghost,
        title: text(first).or_else(todo).or_else(task),
        first_message: text(first),
        last_prompt: text(traces.prompts.last()),
        cwd: directory.as_deref().map(Into::into),
        project: name.as_deref().map(Into::into),
        repo_path: root.as_deref().map(Into::into),
        created: traces.first,
        last_modified: traces.last,
        visible_messages: traces.prompts.len() as u64,
        subagents: traces.subagents.iter().map(subagent).collect(),
        ..Session::new(id)
    }
}

fn subagent(agent: &SubagentFile) -> Subagent {
    let SubagentMeta { agent_type, description, .. } = agent.meta();
    Subagent { id: agent.id.clone(), agent_type, description, file: agent.path.clone() }
}
