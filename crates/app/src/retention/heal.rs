//! `heal`: moves sessions whose directory is gone to where that directory is now.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use ::archive::{Relocation, relocate, undo_relocation};
use model::{Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::ConfigFolder;

use crate::proceed::location::{TranscriptLocation, holder};
use crate::retention::archive::{failed, folder};
use crate::retention::new_directory::{self, Orphan};
use crate::retention::restore;
use crate::sessions::select::all;
use crate::workers::reports;
use crate::{Context, Error, Kind};

/// Which sessions to move, and where to.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HealRequest")]
pub struct Request {
    /// Those that were started in the same directory as this one: its id, or a prefix of it. Without it, all whose
    /// directory is gone.
    pub session: Option<String>,
    /// The directory that they belong to now; without it, the one that is found.
    pub to: Option<PathBuf>,
    /// Whether to move those of the last time back.
    pub undo: bool,
    /// Whether only to say what would be done.
    pub dry_run: bool,
}

/// What was moved.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "HealAnswer")]
pub struct Answer {
    /// Directories that are gone, with their sessions.
    pub directories: Vec<LostDirectory>,
    /// Sessions that were left as they are, and why.
    pub unmoved: Vec<UnmovedSession>,
    /// Whether nothing was moved, because only that was asked for.
    pub dry_run: bool,
    /// Whether sessions were moved back.
    pub undone: bool,
}

/// A directory that is gone, and where its sessions belong now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LostDirectory {
    /// The directory.
    #[serde(serialize_with = "model::path")]
    pub directory: PathBuf,
    /// The directory that they belong to now; absent where none was found, or several were.
    #[serde(serialize_with = "model::optional_path")]
    pub now: Option<PathBuf>,
    /// Why that one.
    pub reason: String,
    /// Directories among which only the person can decide.
    pub candidates: Vec<String>,
    /// The sessions, those that are not moved included.
    pub sessions: Vec<SessionId>,
}

/// A session that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnmovedSession {
    /// The session.
    pub session_id: SessionId,
    /// Why.
    pub reason: String,
}

/// Moves sessions, or says what it would do.
pub fn heal(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("moving sessions")?;
    if context.config().is_demo {
        return Err(Error::new(Kind::Unavailable, "demo sessions are made up and cannot be moved"));
    }
    if request.undo {
        return undo(context, request.dry_run);
    }
    let lost = lost_sessions(context, request)?;
    let mut answer = Answer { dry_run: request.dry_run, ..Answer::default() };
    let mut relocations = Vec::new();
    for (directory, orphans) in lost {
        context.check_cancelled()?;
        let found = match &request.to {
            Some(to) => new_directory::NewDirectory::named(context, to)?,
            None => new_directory::find(context, &directory, &orphans),
        };
        if let Some(now) = &found.now {
            for orphan in &orphans {
                match relocation(context, orphan, now) {
                    Ok(relocation) => relocations.push(relocation),
                    Err(reason) => answer.add_unmoved(orphan.session.id.clone(), reason),
                }
            }
        }
        let sessions = orphans.iter().map(|orphan| orphan.session.id.clone()).collect();
        let new_directory::NewDirectory { now, reason, candidates } = found;
        let candidates = candidates.iter().map(|path| path.display().to_string()).collect();
        answer.directories.push(LostDirectory { directory, now, reason, candidates, sessions });
    }
    if !request.dry_run {
        let unmoved = relocate(&folder(context), &relocations).map_err(|error| failed(context, &error))?;
        for (session, reason) in unmoved {
            answer.add_unmoved(session, reason);
        }
    }
    Ok(answer)
}

impl Answer {
    fn add_unmoved(&mut self, session_id: SessionId, reason: String) {
        self.unmoved.push(UnmovedSession { session_id, reason });
    }
}

/// The sessions whose directory is gone, by that directory.
fn lost_sessions(context: &Context, request: &Request) -> Result<Vec<(PathBuf, Vec<Orphan>)>, Error> {
    let wanted =
        request.session.as_deref().map(|text| restore::find_session_id(context, text)).transpose()?;
    let mut by_directory: HashMap<PathBuf, Vec<Orphan>> = HashMap::new();
    for session in all(context)?.sessions {
        context.check_cancelled()?;
        if session.archived || session.file.is_none() {
            continue;
        }
        let Ok(place) = TranscriptLocation::new(context, &session) else { continue };
        let Some(directory) = place.directory.clone().filter(|path| path.is_absolute() && !path.is_dir())
        else {
            continue;
        };
        by_directory.entry(directory).or_default().push(Orphan { session, place });
    }
    let mut lost: Vec<_> = by_directory.into_iter().collect();
    lost.sort_by(|one, other| one.0.cmp(&other.0));
    if let Some(id) = wanted {
        lost.retain(|(_, orphans)| orphans.iter().any(|orphan| orphan.session.id == id));
        if lost.is_empty() {
            let message = format!("the directory of session {id} is there; nothing is to be healed");
            return Err(Error::new(Kind::Usage, message));
        }
    }
    Ok(lost)
}

/// The way of one session, or why it stays.
fn relocation(context: &Context, orphan: &Orphan, now: &Path) -> Result<Relocation, String> {
    let Orphan { session, place } = orphan;
    if reports::all(context).contains_key(&session.id) || holder(context, &session.id).is_some() {
        return Err("it is open in a process".to_owned());
    }
    if let Some(other) = others_with_the_id(context, session, &place.transcript).first() {
        return Err(format!(
            "there is another file with this id, {}; two files are never merged",
            other.display()
        ));
    }
    let name = place.transcript.file_name().unwrap_or_default();
    let to = place.folder.project_folder(now).join(name);
    // The same folder, because two directories can have one name for Claude Code.
    if to == place.transcript {
        return Err("its file is where it belongs; Claude Code finds it there".to_owned());
    }
    if to.symlink_metadata().is_ok() {
        return Err(format!("{} already exists; two files are never merged", to.display()));
    }
    let directory = now.to_owned();
    Ok(Relocation { session: session.id.clone(), from: place.transcript.clone(), to, directory })
}

fn others_with_the_id(context: &Context, session: &Session, transcript: &Path) -> Vec<PathBuf> {
    let mut others = Vec::new();
    for config_folder in &context.config().claude_folders {
        let projects = ConfigFolder::new(config_folder).projects();
        for slug in fs::read_dir(&projects).into_iter().flatten().flatten() {
            let file = slug.path().join(format!("{}.jsonl", session.id));
            let is_it = file.canonicalize().ok().is_none_or(|path| path == transcript);
            if !is_it {
                others.push(file);
            }
        }
    }
    others
}

fn undo(context: &Context, dry_run: bool) -> Result<Answer, Error> {
    if dry_run {
        return Err(Error::new(
            Kind::Usage,
            "what `undo` moves back is what the last call moved; it has no preview",
        ));
    }
    let undone = undo_relocation(&folder(context)).map_err(|error| failed(context, &error))?;
    let Some((relocations, unmoved)) = undone else {
        return Err(Error::new(Kind::NotFound, "no session was moved, or all were moved back"));
    };
    let mut answer = Answer { undone: true, ..Answer::default() };
    for relocation in relocations {
        let known =
            answer.directories.iter_mut().find(|lost| lost.now.as_ref() == Some(&relocation.directory));
        match known {
            Some(lost) => lost.sessions.push(relocation.session),
            None => answer.directories.push(LostDirectory {
                directory: relocation.from.parent().unwrap_or(&relocation.from).to_owned(),
                now: Some(relocation.directory),
                reason: "moved back".to_owned(),
                candidates: Vec::new(),
                sessions: vec![relocation.session],
            }),
        }
    }
    for (session, reason) in unmoved {
        answer.add_unmoved(session, reason);
    }
    Ok(answer)
}
