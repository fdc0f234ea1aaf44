//! `forget`: erases sessions from everything that Backstory keeps, so that they are not found again in any source.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::{Origin, Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::{ConfigFolder, session_files, traces};

use crate::choose::decisions;
use crate::live::hooks;
use crate::proceed::location::holder;
use crate::repository::target;
use crate::retention::{archive, backups, exported, ghosts, restore};
use crate::search::{index, last_results};
use crate::sessions::annotate;
use crate::workers::{reports, table};
use crate::{Context, Error, Kind, Moment};

/// Which sessions to erase; what is named has to hold for each of them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ForgetRequest")]
pub struct Request {
    /// This one: its id, or a prefix of it.
    pub session: Option<String>,
    /// Those of this project: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
    /// Those in which nothing has happened since then.
    pub before: Option<Moment>,
    /// Whether to delete Claude Code's own files of them too. Without that these stay, and are not read any more.
    pub transcripts: bool,
    /// Whether only to say which sessions that would be.
    pub dry_run: bool,
}

/// What was erased.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ForgetAnswer")]
pub struct Answer {
    /// The sessions, by their ids.
    pub sessions: Vec<SessionId>,
    /// Whether nothing was erased, because only that was asked for.
    pub dry_run: bool,
    /// Copies in the archive, earlier versions included.
    pub archived_files: u64,
    /// Decisions of `pick` that named one of them.
    pub decisions: u64,
    /// Workers that had one of them.
    pub workers: u64,
    /// Documents of them that `export` wrote, in the folders where it wrote them.
    pub documents: u64,
    /// Claude Code's own files that were deleted.
    pub deleted_files: Vec<String>,
    /// What else there is to know, in sentences: what other programs still have of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Erases sessions. What is killed in between is finished by asking for the same again.
pub fn forget(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("erasing sessions")?;
    let sessions = selected_sessions(context, request)?;
    let ids: HashSet<SessionId> = sessions.iter().map(|session| session.id.clone()).collect();
    let mut listed: Vec<SessionId> = ids.iter().cloned().collect();
    listed.sort_by(|one, other| one.as_str().cmp(other.as_str()));
    let mut answer = Answer { sessions: listed, dry_run: request.dry_run, ..Answer::default() };
    if request.dry_run || ids.is_empty() {
        return Ok(answer);
    }
    ensure_free(context, &ids)?;
    let folder = archive::folder(context);
    // The archive notes first that they are forgotten: from then on nothing finds them.
    let erased = ::archive::forget(&folder, &ids).map_err(|error| archive::failed(context, &error))?;
    answer.archived_files = erased.files;
    if request.transcripts {
        for session in &sessions {
            let deleted = delete(context, session)?;
            answer.deleted_files.extend(deleted.iter().map(|path| path.display().to_string()));
        }
        answer.notes = left_prompts(context, &ids);
    }
    if !search::forget(&index::folder(context), &ids).map_err(|error| index::failed(&error))? {
        let message = "another process is writing the search index, which still has words of these sessions";
        return Err(
            Error::new(Kind::Unavailable, message).hint("ask for the same again when it has finished")
        );
    }
    annotate::forget(context, &ids)?;
    let documents = exported::forget(context, &ids)?;
    answer.documents = documents.count;
    answer.notes.extend(documents.notes);
    let heard = hooks::folder(context);
    monitor::hooks::forget(&heard, &ids).map_err(|error| failed_to("clear", &heard, &error))?;
    let found = last_results::folder(context);
    remove_folder(&found).map_err(|error| failed_to("remove", &found, &error))?;
    answer.decisions = decisions::forget(context, &ids)?;
    answer.workers = forget_workers(context, &ids)?;
    for database in backups::precious(context) {
        // The database is backed up again within a day.
        database::remove_backups(&database)
            .map_err(|error| Error::caused(Kind::Unavailable, "cannot forget what is in a backup", &error))?;
    }
    for file in caches(context) {
        remove(&file).map_err(|error| failed_to("remove", &file, &error))?;
    }
    Ok(answer)
}

/// The sessions that are meant; none where nothing is named.
fn selected_sessions(context: &Context, request: &Request) -> Result<Vec<Session>, Error> {
    if request.session.is_none() && request.project.is_none() && request.before.is_none() {
        return Err(Error::new(Kind::Usage, "name the sessions to forget: by id, project or age"));
    }
    let before = request.before.as_ref().map(|moment| moment.at(context)).transpose()?;
    let filter = catalog::SessionFilter { project: request.project.clone(), ..Default::default() };
    let mut sessions = crate::sessions::select::select(context, &filter, None)?.sessions;
    // What their sub-agents said is found.
    let with_subagents: Vec<Session> =
        ghosts::with_subagents(context).into_iter().map(|ghost| ghost.session).collect();
    let of = |project| catalog::SessionFilter { project, ..Default::default() };
    let is_known = |name: &str| with_subagents.iter().any(|ghost| of(Some(name.to_owned())).matches(ghost));
    // Not by the end of a path, which may be another repository's, too.
    let named = of(request.project.as_deref().map(|typed| target::project(context, typed, is_known)));
    sessions.extend(with_subagents.iter().filter(|session| named.matches(session)).cloned());
    let id = match &request.session {
        None => None,
        // One that a killed call noted already is not listed any more.
        Some(text) => match restore::find_session_id(context, text) {
            Err(error) if error.kind == Kind::NotFound => {
                let of_ghost = || ghosts::named(context, text).map(|ghost| ghost.session.id);
                Some(find_forgotten(context, text).or_else(of_ghost).ok_or(error)?)
            }
            id => Some(id?),
        },
    };
    if let Some(id) = &id
        && !sessions.iter().any(|session| session.id == *id)
        && request.project.is_none()
    {
        return Ok(vec![Session::new(id.clone())]);
    }
    let is_meant = |session: &Session| {
        let is_old = before.is_none_or(|before| session.last_modified.is_some_and(|at| at < before));
        is_old && id.as_ref().is_none_or(|id| session.id == *id)
    };
    Ok(sessions.into_iter().filter(is_meant).collect())
}

fn find_forgotten(context: &Context, text: &str) -> Option<SessionId> {
    let forgotten = transcript::forgotten_sessions(&archive::folder(context));
    forgotten.into_iter().find(|id| id.as_str() == text)
}

/// Refuses sessions that a live process may write to.
fn ensure_free(context: &Context, ids: &HashSet<SessionId>) -> Result<(), Error> {
    let reports = reports::all(context);
    let held = ids.iter().find(|id| reports.contains_key(*id) || holder(context, id).is_some());
    held.map_or(Ok(()), |id| {
        let message = format!("session {id} is open in a process; nothing was erased");
        Err(Error::new(Kind::Held, message).hint("end that process first"))
    })
}

/// Deletes Claude Code's files of a session.
fn delete(context: &Context, session: &Session) -> Result<Vec<PathBuf>, Error> {
    let own = session.file.as_deref().filter(|_| !session.archived);
    let is_ghost = session.origin == Origin::Ghost;
    let agents =
        session.subagents.iter().filter(|agent| is_ghost || own.is_some_and(|own| agent.file != own));
    let mut files: Vec<PathBuf> =
        agents.flat_map(|agent| [agent.file.clone(), agent.file.with_extension("meta.json")]).collect();
    for folder in &context.config().claude_folders {
        files.extend(session_files(&ConfigFolder::new(folder), &session.id));
    }
    let mut deleted = Vec::new();
    for path in files {
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let removed = if is_folder { fs::remove_dir_all(&path).map(|()| true) } else { remove(&path) };
        if removed.map_err(|error| failed_to("delete", &path, &error))? {
            deleted.push(path);
        }
    }
    Ok(deleted)
}

/// Says how many of their prompts are in Claude Code's history, which it writes at any time.
fn left_prompts(context: &Context, ids: &HashSet<SessionId>) -> Vec<String> {
    let folders = context.config().claude_folders.iter().map(ConfigFolder::new);
    let notes = folders.filter_map(|folder| {
        let traces = traces(&folder);
        let prompts = ids.iter().filter_map(|id| Some(traces.get(id)?.prompts.len())).sum::<usize>();
        let what = if prompts == 1 { "1 prompt".to_owned() } else { format!("{prompts} prompts") };
        let history = folder.root().join("history.jsonl");
        (prompts > 0).then(|| format!("{what} of theirs can still be read in {}", history.display()))
    });
    notes.collect()
}

/// Erases the frames of workers on these sessions.
fn forget_workers(context: &Context, ids: &HashSet<SessionId>) -> Result<u64, Error> {
    if !table::exists(context) {
        return Ok(0);
    }
    let mut store = table::open_recovered(context)?;
    let mut forgotten = 0;
    for id in ids {
        for worker in store.forget_session(id).map_err(table::unusable)? {
            forgotten += 1;
            let folder = context.config().state.join("workers").join(worker.to_string());
            remove_folder(&folder).map_err(|error| failed_to("remove", &folder, &error))?;
        }
    }
    if forgotten > 0 {
        store.compact().map_err(table::unusable)?;
    }
    Ok(forgotten)
}

/// What is read from the transcripts again: titles and prompts of all sessions.
fn caches(context: &Context) -> Vec<PathBuf> {
    let Some(cache) = context.config().places().cache else { return Vec::new() };
    let beside = |suffix: &str| {
        let mut name = cache.clone().into_os_string();
        name.push(suffix);
        PathBuf::from(name)
    };
    let mut files: Vec<PathBuf> = ["", "-wal", "-shm", ".set-aside"].map(beside).into();
    files.push(cache.with_file_name("overview.bin"));
    files
}

/// Removes a file; returns whether there was one.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a folder with all in it, if it is there.
fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed_to(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::caused(Kind::Unavailable, format!("cannot {what} {}", path.display()), error)
}
