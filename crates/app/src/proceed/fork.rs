//! `fork`: continues a copy of a session under a new id; the session itself is not changed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{Session, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use transcript::PartialCopy;
use workers::{CommandLine, Release, SessionStart, UnquotableWord, quoted};

use crate::ids::new_session_id;
use crate::proceed::claude;
use crate::proceed::copy::Copy;
use crate::proceed::location::{self, TranscriptLocation};
use crate::sessions::lookup::Ranked;
use crate::{Context, Error, Kind, NextStep};

/// The system's number for a file that is not there.
const NO_SUCH_FILE: i32 = 2;

/// How a session is forked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The directory the fork continues in; the one the session started in without it.
    pub into: Option<PathBuf>,
    /// The id of the last record that the fork has; all without it.
    pub at: Option<String>,
    /// What the person passes on to `claude`.
    pub extra: Vec<OsString>,
}

/// A fork that is ready to be made.
#[derive(Debug, Clone)]
pub struct Fork {
    command: CommandLine,
    copy: Option<Copy>,
    now: Timestamp,
}

/// A session that can be forked, or why it cannot.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ForkCandidate")]
pub struct ForkCandidate {
    /// From 1, best first.
    pub rank: usize,
    /// Between 0 and 1.
    pub score: f32,
    /// The session's id.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// The directory it started in.
    #[serde(serialize_with = "model::optional_path")]
    pub working_directory: Option<PathBuf>,
    /// Its project, for people: programs have the directory.
    #[serde(skip)]
    pub project: Option<String>,
    /// Its branch, for people.
    #[serde(skip)]
    pub branch: Option<String>,
    /// When something last happened in it.
    #[serde(serialize_with = "model::optional_time")]
    pub date: Option<Timestamp>,
    /// The words that were found.
    pub snippet: Option<String>,
    /// Where they are: `<transcript>#L<line>`, the session's own transcript or a sub-agent's, or qmd's name of its
    /// document, `qmd://…`.
    pub source_path: Option<String>,
    /// The path of the session's transcript.
    #[serde(serialize_with = "model::optional_path")]
    pub jsonl_path: Option<PathBuf>,
    /// Whether it can be forked now.
    pub can_fork: bool,
    /// Why the session cannot be forked; absent if it can.
    pub why_not: Option<String>,
}

/// The sessions a person may want to fork, with the reasons against it.
/// `is_elsewhere` says that the fork continues in a directory that is named, whatever became of a session's own.
pub(crate) fn candidates(context: &Context, ranked: &[Ranked], is_elsewhere: bool) -> Vec<ForkCandidate> {
    let program = claude::installed(context);
    let release = program.as_ref().and_then(|program| claude::release(context, program));
    let obstacle =
        program.is_none().then(|| format!("{}: {}", claude::missing(context), claude::advice(context)));
    let is_demo = location::ensure_not_demo(context).err().map(|error| error.message);
    let obstacle = is_demo.or(obstacle).or_else(|| release.and_then(too_old));
    let candidate = |(found, rank)| candidate(context, found, rank, obstacle.clone(), is_elsewhere);
    ranked.iter().zip(1..).map(candidate).collect()
}

/// The fork of `session` that `request` asks for.
pub fn fork(context: &Context, session: &Session, request: &Request) -> Result<Fork, Error> {
    location::ensure_not_demo(context)?;
    let place = TranscriptLocation::new(context, session)?;
    let directory = match &request.into {
        Some(into) => existing(context, into)?,
        None => place.start_directory(&session.id)?.to_owned(),
    };
    let program = claude::required(context)?;
    let release = claude::release(context, &program);
    if let Some(why) = release.and_then(too_old) {
        return Err(Error::new(Kind::Unavailable, why));
    }
    let (start, copy) = plan_start(&place, &session.id, request.at.as_deref(), &directory, release)?;
    let command = place.command_line(context, program, &directory, start);
    Ok(Fork { command: CommandLine { extra: request.extra.clone(), ..command }, copy, now: context.now })
}

impl Fork {
    /// The command that continues the fork, once what it needs on disk is made.
    pub fn prepare(&self) -> Result<&CommandLine, Error> {
        self.make_copy().map(|()| &self.command)
    }

    /// Takes back what was made for a command that could not be started, and says why it could not.
    pub fn not_started(&self, cause: &std::io::Error) -> Error {
        if let Some(copy) = &self.copy {
            copy.remove();
        }
        not_started(&self.command, cause)
    }

    /// The line a person would type. A fork at a message is made now: no flag of `claude` cuts a history.
    pub fn for_a_shell(&self) -> Result<String, Error> {
        let line = for_a_shell(&self.command)?;
        match &self.copy {
            None => Ok(line),
            Some(Copy::Whole { from, to, .. }) => {
                let word = |path: &Path| {
                    quoted(path)
                        .ok_or_else(|| unprintable(&UnquotableWord { word: path.as_os_str().to_owned() }))
                };
                let (folder, from, to) = (word(to.parent().unwrap_or(to))?, word(from)?, word(to)?);
                Ok(format!("mkdir -p {folder} && install -m 600 {from} {to} && {line}; rm -f {to}"))
            }
            Some(Copy::PartialCopy { .. }) => self.make_copy().map(|()| line),
        }
    }

    fn make_copy(&self) -> Result<(), Error> {
        self.copy.as_ref().map_or(Ok(()), |copy| create_copy(copy, self.now))
    }
}

/// The line a person would type for a command.
pub fn for_a_shell(command: &CommandLine) -> Result<String, Error> {
    command.to_shell().map_err(|word| unprintable(&word))
}

fn unprintable(word: &UnquotableWord) -> Error {
    Error::new(Kind::Unavailable, format!("cannot print the command: {word}"))
        .next(NextStep::RunInsteadOfPrint)
}

/// The history of a session, up to the record `at` where one is named, as a session of its own for a directory.
pub(crate) fn copy_up_to(
    place: &TranscriptLocation,
    id: &SessionId,
    at: Option<String>,
    to: SessionId,
    directory: &Path,
) -> Copy {
    let file = place.folder.project_folder(directory).join(format!("{to}.jsonl"));
    Copy::PartialCopy {
        cut: PartialCopy { from: id.clone(), at, to },
        from: place.transcript.clone(),
        to: file,
    }
}

/// Makes a copy that has to be there before `claude` is started.
pub(crate) fn create_copy(copy: &Copy, now: Timestamp) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        let attempt = format!("cannot copy the transcript to {}", copy.path().display());
        Error::caused(Kind::Unavailable, attempt, &error)
    };
    if !copy.make(now.into()).map_err(failed)? {
        return Err(no_record(copy));
    }
    copy.watch().map_err(|error| {
        copy.remove();
        failed(error)
    })
}

/// Why a prepared command could not be started.
pub fn not_started(command: &CommandLine, error: &std::io::Error) -> Error {
    let attempt = format!("cannot start {} in {}", command.program.display(), command.directory.display());
    Error::caused(Kind::Unavailable, attempt, error)
}

fn candidate(
    context: &Context,
    found: &Ranked,
    rank: usize,
    obstacle: Option<String>,
    is_elsewhere: bool,
) -> ForkCandidate {
    let session = found.session();
    let place = session.and_then(|session| TranscriptLocation::new(context, session));
    let nowhere = || {
        let place = place.as_ref().ok().filter(|_| !is_elsewhere)?;
        let gone = place.start_directory(&found.id).err()?;
        Some(format!("{}: name another directory for the fork (--in DIR)", gone.message))
    };
    let why_not = place.as_ref().err().map(|error| error.message.clone()).or(obstacle).or_else(nowhere);
    let (session, document) = (found.session.as_ref(), found.document.as_ref());
    let file = session.and_then(|session| session.file.as_deref()).map(Path::to_path_buf);
    let from_document = || document.and_then(|document| document.working_directory.clone());
    ForkCandidate {
        rank,
        score: found.score,
        session_id: found.id.clone(),
        title: session.and_then(|session| session.title.as_deref()).map(ToOwned::to_owned),
        project: session.and_then(|session| session.project.as_deref()).map(ToOwned::to_owned),
        branch: session.and_then(|session| session.branch.as_deref()).map(ToOwned::to_owned),
        working_directory: place
            .ok()
            .and_then(|place| place.directory)
            .or_else(|| session?.cwd.as_deref().map(Path::to_path_buf))
            .or_else(from_document),
        date: session.and_then(|session| session.last_modified).or_else(|| document?.date),
        snippet: found.snippet.clone(),
        source_path: source_path(found, file.as_deref()),
        jsonl_path: file,
        can_fork: why_not.is_none(),
        why_not,
    }
}

/// The place of a session's snippet.
fn source_path(found: &Ranked, file: Option<&Path>) -> Option<String> {
    let source = found.source.as_deref().or(file)?.display().to_string();
    Some(if source.starts_with("qmd://") { source } else { format!("{source}#L{}", found.line.unwrap_or(1)) })
}

/// How `claude` is started, and what has to be copied before.
fn plan_start(
    place: &TranscriptLocation,
    id: &SessionId,
    at: Option<&str>,
    directory: &Path,
    release: Option<Release>,
) -> Result<(SessionStart, Option<Copy>), Error> {
    let target = place.folder.project_folder(directory);
    let from = place.transcript.clone();
    let file = |id: &SessionId| target.join(format!("{id}.jsonl"));
    // No `claude` finds a session whose file is gone.
    if at.is_some() || place.archived {
        let new = new_session_id()?;
        let copy = copy_up_to(place, id, at.map(ToOwned::to_owned), new.clone(), directory);
        return Ok((SessionStart::Resume(new), Some(copy)));
    }
    let finds_it = release.is_some_and(Release::resumes_from_anywhere);
    if finds_it || place.transcript.parent().and_then(Path::file_name) == target.file_name() {
        return Ok((SessionStart::Fork { from: id.clone(), to: None }, None));
    }
    let new = new_session_id()?;
    let copy = Copy::Whole { from, to: file(id), fork: file(&new) };
    Ok((SessionStart::Fork { from: id.clone(), to: Some(new) }, Some(copy)))
}

/// What an installed release lacks, with the one to install.
pub(crate) fn too_old(release: Release) -> Option<String> {
    let first = Release::FORK;
    let install = claude::INSTALL;
    (!release.can_fork())
        .then(|| format!("claude {release} cannot fork a session; install {first} or newer: {install}"))
}

pub(crate) fn existing(context: &Context, directory: &Path) -> Result<PathBuf, Error> {
    let failed = |error: &dyn std::error::Error| {
        let attempt = format!("cannot use the directory {}", directory.display());
        Error::caused(Kind::Unavailable, attempt, error)
    };
    let physical = context.path(directory).canonicalize().map_err(|error| failed(&error))?;
    if !context.may_see_directory(&physical) {
        // As good as not there.
        return Err(failed(&std::io::Error::from_raw_os_error(NO_SUCH_FILE)));
    }
    if physical.is_dir() {
        return Ok(physical);
    }
    Err(failed(&std::io::Error::from(std::io::ErrorKind::NotADirectory)))
}

fn no_record(copy: &Copy) -> Error {
    let Copy::PartialCopy { cut: PartialCopy { from, at, .. }, .. } = copy else {
        return Error::new(Kind::Internal, "a whole copy has no record to end at");
    };
    let Some(at) = at else {
        let message = format!("session {from} has no record to continue from");
        return Error::new(Kind::NotFound, message).next(NextStep::Show { session: from.clone() });
    };
    Error::new(Kind::NotFound, format!("session {from} has no record `{at}`"))
        .next(NextStep::ShowRecords { session: from.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_claude_is_recognized() {
        let check = |release: &str, expected: Option<&str>| {
            let found = too_old(release.parse().unwrap());
            assert_eq!(found.as_deref().and_then(|text| text.split(';').next()), expected);
        };
        check("1.0.60", Some("claude 1.0.60 cannot fork a session"));
        check("1.0.128", None);
    }

    #[test]
    fn only_a_claude_that_cannot_find_the_session_is_given_a_copy() {
        let place = TranscriptLocation {
            transcript: "/h/.claude/projects/-p-a/s1.jsonl".into(),
            folder: transcript::ConfigFolder::new("/h/.claude"),
            directory: Some("/p/a".into()),
            archived: false,
            was_deleted_early: false,
            unreadable_folder: None,
        };
        let check = |directory: &str, release: Option<&str>, at: Option<&str>, expected: &str| {
            let release = release.map(|release| release.parse().unwrap());
            let (start, copy) =
                plan_start(&place, &"s1".parse().unwrap(), at, Path::new(directory), release).unwrap();
            let kind = match (start, copy) {
                (SessionStart::Fork { to: None, .. }, None) => "fork",
                (SessionStart::Fork { to: Some(_), .. }, Some(Copy::Whole { to, .. }))
                    if to == Path::new("/h/.claude/projects/-p-b/s1.jsonl") =>
                {
                    "fork of a copy"
                }
                (SessionStart::Resume(id), Some(Copy::PartialCopy { to, .. }))
                    if to.ends_with(format!("{id}.jsonl")) =>
                {
                    "cut"
                }
                other => panic!("{other:?}"),
            };
            assert_eq!(kind, expected, "{directory} {release:?} {at:?}");
        };
        check("/p/a", Some("2.1.100"), None, "fork");
        check("/p/a", None, None, "fork");
        check("/p/b", Some("2.1.329"), None, "fork");
        check("/p/b", Some("2.1.100"), None, "fork of a copy");
        check("/p/b", None, None, "fork of a copy");
        check("/p/a", Some("2.1.329"), Some("u1"), "cut");
        check("/p/b", Some("2.1.100"), Some("u1"), "cut");
        let archived = TranscriptLocation { archived: true, ..place.clone() };
        let release = Some("2.1.329".parse().unwrap());
        let (start, _) =
            plan_start(&archived, &"s1".parse().unwrap(), None, Path::new("/p/a"), release).unwrap();
        assert!(matches!(start, SessionStart::Resume(_)), "no `claude` finds what is only in the archive");
    }
}
