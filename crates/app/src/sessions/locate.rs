//! Finds a session's files by its id or a prefix of it, mostly by their names alone: nothing is read or priced.

use std::path::PathBuf;

use model::{Session, SessionId};

use crate::retention::ghosts::{self, Ghost};
use crate::search::index;
use crate::sessions::message::ShownMessage;
use crate::sessions::note::{self, Note};
use crate::sessions::{openclaw_conversation, resolve, totals};
use crate::{Context, Error, Kind, NextStep};

/// A session and the files that hold its messages.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) id: SessionId,
    pub(crate) files: Files,
    /// What is known of it, where its files had to be read to find it.
    pub(crate) session: Option<Box<Session>>,
}

/// The files that hold the messages of a conversation.
#[derive(Debug)]
pub(crate) enum Files {
    /// A transcript of Claude Code.
    Claude(PathBuf),
    /// Transcripts of OpenClaw, oldest first.
    OpenClaw(Vec<PathBuf>),
    /// No transcript, but messages: what other files still have of a session, or the sections of a note.
    Messages(Vec<ShownMessage>),
}

/// The session with this id, or the only one whose id or short id starts with the text.
pub(crate) fn locate(context: &Context, text: &str) -> Result<Located, Error> {
    if text.trim().is_empty() {
        return Err(Error::new(Kind::Usage, "no session is named").next(NextStep::ListSessions));
    }
    if text.starts_with(openclaw_conversation::PREFIX) {
        let found = openclaw_conversation::find(context, text)?;
        let unknown = || {
            Error::new(Kind::NotFound, format!("there is no conversation `{text}`"))
                .hint("search finds conversations by what was said in them")
                .next(NextStep::ListSessions)
        };
        return found.map(of_openclaw).ok_or_else(unknown);
    }
    if let Some(note) = note::find(context, text) {
        let Note { session, sections } = note;
        return Ok(Located {
            id: session.id.clone(),
            files: Files::Messages(sections),
            session: Some(Box::new(session)),
        });
    }
    // Most requests name a session by its whole id: then no other transcript is examined.
    let whole = text.parse().ok().filter(|_| !context.is_limited());
    if let Some(id) = whole
        && let Some(path) = catalog::transcript_of(&context.config().places(), &id)
    {
        return Ok(Located { id, files: Files::Claude(path), session: None });
    }
    let found = catalog::discover(&context.config().places());
    let visible = if context.is_limited() { context.visible(&found, &index::memory(context))? } else { None };
    let may_see = |id: &SessionId| visible.as_ref().is_none_or(|visible| visible.sessions.contains(id));
    let named = |file: &&transcript::TranscriptFile| resolve::is_named(&file.id, text) && may_see(&file.id);
    let exact = found.sessions.iter().find(|file| file.id.as_str() == text && may_see(&file.id));
    let mut matching = found.sessions.iter().filter(named);
    let only = exact.or_else(|| matching.next().filter(|_| matching.next().is_none()));
    if let Some(file) = only {
        let files = Files::Claude(file.path.to_path_buf());
        return Ok(Located { id: file.id.clone(), files, session: None });
    }
    // What is no name of one file is rare: the whole catalog words the error, or knows the session from a registry.
    let catalog = totals::with_totals(context)?;
    let sessions = catalog.sessions.iter().map(|entry| &*entry.session);
    match resolve::resolve(sessions, text, |title| context.title_in_error(title)) {
        Ok(session) => match session.file.as_deref() {
            Some(file) => Ok(Located {
                id: session.id.clone(),
                files: Files::Claude(file.to_owned()),
                session: Some(Box::new(session.clone())),
            }),
            None => Err(only_registered(&session.id)),
        },
        Err(error) if error.kind == Kind::NotFound => match openclaw_conversation::find(context, text)? {
            Some(found) => Ok(of_openclaw(found)),
            None => ghosts::named(context, text).map(|ghost| of_ghost(context, ghost)).ok_or(error),
        },
        Err(error) => Err(error),
    }
}

fn of_openclaw((session, files): (Session, Vec<PathBuf>)) -> Located {
    Located { id: session.id.clone(), files: Files::OpenClaw(files), session: Some(Box::new(session)) }
}

fn of_ghost(context: &Context, ghost: Ghost) -> Located {
    let files = Files::Messages(ghost.messages(context));
    Located { id: ghost.session.id.clone(), files, session: Some(Box::new(ghost.session)) }
}

/// The error for a session that only OpenClaw's registry still knows.
pub(crate) fn only_registered(id: &SessionId) -> Error {
    let message = format!("the transcript of session {id} is gone; only OpenClaw still has it");
    Error::new(Kind::NotFound, message).next(NextStep::ListSessions)
}
