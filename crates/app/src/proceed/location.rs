//! Where a session is continued: its transcript, its config folder, the directory it belongs to.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::{ProjectSlug, Session, SessionId};
use transcript::{ArchivedFolder, ConfigFolder, OpenTranscript, RegisteredProcess, start_directory};
use workers::{ClaudeTask, CommandLine, Program, SessionStart};

use crate::retention::archive;
use crate::{Context, Error, Kind, NextStep};

/// Where one session is stored and where it is continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TranscriptLocation {
    /// Its transcript.
    pub(crate) transcript: PathBuf,
    /// The config folder that holds the transcript.
    pub(crate) folder: ConfigFolder,
    /// The directory it started in; it may be gone.
    pub(crate) directory: Option<PathBuf>,
    /// Whether the transcript is gone, and what is read is the archive's copy.
    pub(crate) archived: bool,
    /// The folder of the transcript, where that cannot be read.
    pub(crate) unreadable_folder: Option<Arc<Path>>,
    /// Whether the transcript was deleted before Claude Code's own clean-up was due: perhaps a person wanted it gone.
    pub(crate) was_deleted_early: bool,
}

impl TranscriptLocation {
    /// Locates a session that has a transcript.
    pub(crate) fn new(context: &Context, session: &Session) -> Result<Self, Error> {
        let file = session.file.as_deref();
        let transcript = file
            .filter(|file| OpenTranscript::is_there(file))
            .ok_or_else(|| transcript_gone(&session.id, file))?
            .to_owned();
        let directory = home(context, session, &transcript).map_err(|error| {
            let attempt = format!("cannot read the transcript {}", transcript.display());
            Error::caused(Kind::Unavailable, attempt, &error)
        })?;
        let unreadable_folder = session.unreadable_folder.clone();
        let folder = folder(context, &transcript);
        let was_deleted_early = was_deleted_early(session, folder.cleanup_days());
        Ok(Self {
            folder,
            directory,
            transcript,
            archived: session.archived,
            unreadable_folder,
            was_deleted_early,
        })
    }

    /// Refuses a session whose transcript is only read in the archive: it has to be restored first, or be made readable.
    pub(crate) fn ensure_not_archived(&self, id: &SessionId) -> Result<(), Error> {
        if !self.archived {
            return Ok(());
        }
        if let Some(folder) = &self.unreadable_folder {
            let message =
                format!("the transcript of session {id} is in {}, which cannot be read", folder.display());
            return Err(Error::new(Kind::Unavailable, message)
                .hint("make that folder readable for you, and try again")
                .next(NextStep::Show { session: id.clone() }));
        }
        if self.was_deleted_early {
            let message =
                format!("the transcript of session {id} was deleted, and not by Claude Code's clean-up");
            return Err(Error::new(Kind::Unavailable, message)
                .next(NextStep::Forget { session: id.clone() })
                .next(NextStep::Restore { session: id.clone() }));
        }
        let message =
            format!("Claude Code deleted the transcript of session {id}; Backstory has kept a copy");
        Err(Error::new(Kind::Unavailable, message)
            .next(NextStep::Restore { session: id.clone() })
            .next(NextStep::Fork { session: id.clone() }))
    }

    /// The directory the session started in, which has to be there still.
    pub(crate) fn start_directory(&self, id: &SessionId) -> Result<&Path, Error> {
        let elsewhere = NextStep::ForkElsewhere { session: id.clone() };
        let Some(directory) = &self.directory else {
            let message = format!("no record of session {id} says which directory it started in");
            return Err(Error::new(Kind::Unavailable, message).next(elsewhere));
        };
        if !directory.is_absolute() {
            // It would be another directory in another working directory.
            let shown = directory.display();
            let message = format!("session {id} started in `{shown}`, which is not an absolute path");
            return Err(Error::new(Kind::Unavailable, message).next(elsewhere));
        }
        if directory.is_dir() {
            return Ok(directory);
        }
        let message = format!("session {id} started in {}, which is gone", directory.display());
        let again = match workers::quoted(directory) {
            Some(directory) => format!("or create the directory, and repeat the command: mkdir -p {directory}"),
            None => {
                "or create the directory, and repeat the command; its name has characters that shells read differently, \
                     so no command for it is printed"
                    .to_owned()
            }
        };
        let heal = NextStep::Heal { session: id.clone() };
        Err(Error::new(Kind::Unavailable, message).next(heal).hint(again).next(elsewhere))
    }

    /// The session's config folder, where it is not the usual one.
    pub(crate) fn config_folder(&self, context: &Context) -> Option<PathBuf> {
        custom_config_folder(context, &self.folder)
    }

    /// The `claude` that runs in `directory` with this session's config folder.
    pub(crate) fn command_line(
        &self,
        context: &Context,
        program: Program,
        directory: &Path,
        start: SessionStart,
    ) -> CommandLine {
        CommandLine {
            program: program.path,
            name: program.name,
            directory: directory.to_owned(),
            config_folder: self.config_folder(context),
            task: ClaudeTask::Session(start),
            extra: Vec::new(),
        }
    }
}

/// Whether a transcript went before it was as old as Claude Code lets it become: `claude purge`, or a person, deleted it.
fn was_deleted_early(session: &Session, cleanup_days: u64) -> bool {
    let days = i64::try_from(cleanup_days).unwrap_or(i64::MAX / 24);
    let due = |last: Timestamp| last.checked_add(SignedDuration::from_hours(days.saturating_mul(24))).ok();
    let deleted = session.deleted_at.zip(session.last_modified);
    deleted.is_some_and(|(deleted, last)| due(last).is_none_or(|due| deleted < due))
}

/// The directory that a session belongs to, as its list says. Where its transcript is in the folder of another one, that
/// is the user's own where the folder is named after it, else one of which there are more records than the list has.
fn home(context: &Context, session: &Session, transcript: &Path) -> io::Result<Option<PathBuf>> {
    let folder = transcript.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let is_home = |directory: &Path| ProjectSlug::from_path(&directory.to_string_lossy()).is_folder(&folder);
    let listed = session.cwd.as_deref();
    if let Some(home) = [listed, Some(&*context.directory)].into_iter().flatten().find(|path| is_home(path)) {
        return Ok(Some(home.to_owned()));
    }
    let recorded = start_directory(transcript)?;
    let is_better = recorded.as_deref().is_some_and(is_home) || listed.is_none();
    Ok(if is_better { recorded } else { listed.map(Path::to_owned) })
}

/// The path of a config folder, where it is not the usual one.
pub(crate) fn custom_config_folder(context: &Context, folder: &ConfigFolder) -> Option<PathBuf> {
    let root = folder.root();
    // Naming the usual folder would also move `.claude.json` into it, and its logins and trust with it.
    let is_usual = root == context.config().home.join(".claude")
        && context.config().claude_config_dir.as_deref() != Some(root);
    (!is_usual).then(|| root.to_owned())
}

/// Refuses demo sessions: they have no directory and no program.
pub(crate) fn ensure_not_demo(context: &Context) -> Result<(), Error> {
    if !context.config().is_demo {
        return Ok(());
    }
    let message = "demo sessions are made up and cannot be continued";
    Err(Error::new(Kind::Unavailable, message).next(NextStep::LeaveDemo))
}

/// The live process that holds a session at this moment.
pub(crate) fn holder(context: &Context, id: &SessionId) -> Option<RegisteredProcess> {
    let registries =
        context.config().claude_folders.iter().map(|folder| ConfigFolder::new(folder).live_registry());
    registries.flat_map(|registry| RegisteredProcess::find(&registry)).find(|live| live.session == *id)
}

/// Adds what to do about a session that a live process holds, beside forking it.
pub(crate) fn continue_there(error: Error, live: &RegisteredProcess) -> Error {
    match live.kind.as_deref() {
        Some("bg") => error.next(NextStep::AttachJob { session: live.session.clone() }),
        _ => error.hint("continue it there, or end that process first"),
    }
}

/// The config folder of a transcript; the catalog names transcripts by their physical path.
fn folder(context: &Context, transcript: &Path) -> ConfigFolder {
    let folders = context.config().claude_folders.iter().map(ConfigFolder::new);
    let holds = |folder: &ConfigFolder| {
        folder.projects().canonicalize().is_ok_and(|projects| transcript.starts_with(projects))
    };
    let archived = ArchivedFolder::all(&archive::folder(context));
    if let Some(mirror) = archived.iter().find(|folder| transcript.starts_with(folder.mirror())) {
        return ConfigFolder::from_projects(mirror.original());
    }
    let above = || transcript.ancestors().nth(3).unwrap_or(transcript).to_owned();
    folders.into_iter().find(holds).unwrap_or_else(|| ConfigFolder::new(above()))
}

/// The error for a session whose transcript is missing; `file` is where it was.
pub(crate) fn transcript_gone(id: &SessionId, file: Option<&Path>) -> Error {
    let message = match file {
        Some(file) => format!("the transcript of session {id} is gone: {}", file.display()),
        None => format!("session {id} has no transcript: only OpenClaw's registry still has it"),
    };
    let deleted = "Claude Code deletes transcripts after `cleanupPeriodDays` (30 days by default)";
    Error::new(Kind::Unavailable, message)
        .hint(format!("{deleted}; without one a session cannot be continued"))
}

/// The error for a session that only a qmd document still mentions; `document` is its name in qmd.
pub(crate) fn only_document(id: &SessionId, document: Option<&Path>) -> Error {
    let document = document.map(|path| format!(" at {}", path.display())).unwrap_or_default();
    let message = format!("the transcript of session {id} is gone; only qmd's document{document} is left");
    Error::new(Kind::Unavailable, message).hint("without its transcript a session cannot be continued")
}
