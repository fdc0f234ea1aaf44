//! Where a session is continued: its transcript, its config folder, the directory it belongs to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Session, SessionId};
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
}

impl TranscriptLocation {
    /// Locates a session that has a transcript.
    pub(crate) fn new(context: &Context, session: &Session) -> Result<Self, Error> {
        let file = session.file.as_deref();
        let transcript = file
            .filter(|file| OpenTranscript::is_there(file))
            .ok_or_else(|| transcript_gone(&session.id, file))?
            .to_owned();
        let directory = start_directory(&transcript).map_err(|error| {
            let attempt = format!("cannot read the transcript {}", transcript.display());
            Error::caused(Kind::Unavailable, attempt, &error)
        })?;
        let unreadable_folder = session.unreadable_folder.clone();
        let folder = folder(context, &transcript);
        Ok(Self { folder, directory, transcript, archived: session.archived, unreadable_folder })
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
