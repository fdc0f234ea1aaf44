//! `restore`: puts a session that Claude Code deleted back where `claude --resume` finds it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ::archive::{RestoreError, RestorePlan};
use model::SessionId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::SubagentFile;

use crate::retention::archive::folder;
use crate::retention::ghosts;
use crate::sessions::resolve;
use crate::{Context, Error, Kind, NextStep};

/// Which session to put back.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RestoreRequest")]
pub struct Request {
    /// Its id, or a prefix of it.
    pub session: String,
    /// Whether only to say what would be written.
    #[serde(default)]
    pub dry_run: bool,
    /// Whether to put back what there is of a session of which the end was not copied before it was deleted.
    #[serde(default)]
    pub partial: bool,
}

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RestoreAnswer")]
pub struct Answer {
    /// The session.
    pub session_id: SessionId,
    /// Its transcript.
    #[serde(serialize_with = "model::path")]
    pub transcript: PathBuf,
    /// All its files; those that were there already stayed as they were.
    pub files: Vec<RestoredPath>,
    /// How many bytes of the session are lost: it was deleted while it was copied.
    pub missing_bytes: u64,
    /// How many secrets were left out of what was put back; absent where all of it is as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets_left_out: Option<u64>,
    /// Whether nothing was written, because only that was asked for.
    pub dry_run: bool,
}

/// A file of a session that was put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RestoredPath {
    /// Where it is.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// Its length; of a transcript of which the end is missing, only whole lines are written.
    pub bytes: u64,
    /// How many bytes at its end were not copied before it was deleted.
    pub missing_bytes: u64,
    /// How many secrets were left out of it; absent where it is as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secrets_left_out: Option<u64>,
    /// Whether it was there already.
    pub existed: bool,
}

/// Puts the files of a session back, each byte for byte and never over another.
pub fn restore(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("putting back a session")?;
    let id = find_session_id(context, &request.session).map_err(|error| match error.kind {
        Kind::NotFound => ghosts::named(context, request.session.trim())
            .map_or(error, |ghost| ghosts::cannot_continue(&ghost)),
        _ => error,
    })?;
    let plan = ::archive::plan(&folder(context), &id).map_err(|error| failed(&id, error))?;
    if plan.transcript.symlink_metadata().is_ok() {
        return Err(failed(&id, RestoreError::Exists(plan.transcript)));
    }
    if plan.missing() > 0 && !request.partial && !request.dry_run {
        return Err(incomplete(&plan));
    }
    if !request.dry_run {
        ::archive::restore(&plan).map_err(|error| failed(&id, error))?;
    }
    Ok(answer(plan, request.dry_run))
}

fn answer(plan: RestorePlan, dry_run: bool) -> Answer {
    let file = |file: ::archive::RestoredFile| RestoredPath {
        path: file.to,
        bytes: file.bytes,
        missing_bytes: file.missing,
        secrets_left_out: file.secrets,
        existed: file.exists,
    };
    let written = || plan.files.iter().filter(|file| !file.exists);
    let secrets_left_out = written().filter_map(|file| file.secrets).reduce(|one, other| one + other);
    Answer {
        missing_bytes: plan.missing(),
        secrets_left_out,
        session_id: plan.session,
        transcript: plan.transcript,
        files: plan.files.into_iter().map(file).collect(),
        dry_run,
    }
}

/// The error for a session of which only the beginning was copied.
fn incomplete(plan: &RestorePlan) -> Error {
    let id = &plan.session;
    let (there, whole) = plan
        .files
        .iter()
        .filter(|file| !file.exists && file.missing > 0)
        .fold((0, 0), |(there, whole), file| (there + file.bytes, whole + file.bytes + file.missing));
    let message = format!(
        "session {id} was deleted while it was copied: the archive has {there} of {whole} bytes, so its end is lost"
    );
    Error::new(Kind::Unavailable, message)
        .next(NextStep::RestorePart { session: id.clone() })
        .next(NextStep::Show { session: id.clone() })
}

/// The session with this id, among those that are there and those that are only kept.
pub(crate) fn find_session_id(context: &Context, text: &str) -> Result<SessionId, Error> {
    let found = catalog::discover(&context.config().places());
    // Of some only transcripts of sub-agents are left.
    let lone = found.lone_subagents.iter().filter_map(SubagentFile::folder_session);
    let ids: BTreeSet<SessionId> = found.sessions.iter().map(|file| file.id.clone()).chain(lone).collect();
    if let Some(id) = ids.iter().find(|id| id.as_str() == text) {
        return Ok(id.clone());
    }
    let mut matching = ids.iter().filter(|id| resolve::is_named(id, text));
    match (matching.next(), matching.next()) {
        (Some(id), None) => Ok(id.clone()),
        (Some(_), Some(_)) => {
            let message = format!("several session ids start with `{text}`; give more of the id");
            Err(Error::new(Kind::Ambiguous, message).next(NextStep::ListSessions))
        }
        (None, _) => Err(Error::new(Kind::NotFound, format!("no session id starts with `{text}`"))
            .next(NextStep::ListSessions)),
    }
}

fn failed(id: &SessionId, error: RestoreError) -> Error {
    match error {
        RestoreError::NotArchived => {
            Error::new(Kind::NotFound, format!("the archive has no copy of session {id}"))
                .hint("only sessions that were there while the archive was on can be put back")
        }
        RestoreError::Exists(path) => {
            let message = format!("session {id} already exists: {}", path.display());
            Error::new(Kind::Usage, message).hint("nothing was written; a file is never replaced")
        }
        RestoreError::Io(path, error) => {
            Error::caused(Kind::Unavailable, format!("cannot put back {}", path.display()), &error)
        }
    }
}
