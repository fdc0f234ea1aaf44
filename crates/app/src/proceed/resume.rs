//! `resume`: continues a session in its own file, in the directory it started in.

use std::ffi::OsString;

use model::{Session, SessionId};
use transcript::RegisteredProcess;
use workers::{CommandLine, SessionStart};

use crate::proceed::claude;
use crate::proceed::location::{TranscriptLocation, continue_there, ensure_not_demo, holder};
use crate::workers::reports;
use crate::{Context, Error, Kind, NextStep};

/// The `claude` that continues `session`, given `extra` words of the person's.
///
/// A session that a live process holds is refused: two writers would split its history.
pub fn resume(context: &Context, session: &Session, extra: &[OsString]) -> Result<CommandLine, Error> {
    ensure_not_demo(context)?;
    if reports::all(context).contains_key(&session.id) {
        return Err(in_use(session));
    }
    if let Some(live) = holder(context, &session.id) {
        return Err(held(&live));
    }
    let place = TranscriptLocation::new(context, session)?;
    place.ensure_not_archived(&session.id)?;
    let directory = place.start_directory(&session.id)?;
    let program = claude::required(context)?;
    let start = SessionStart::Resume(session.id.clone());
    Ok(CommandLine { extra: extra.to_vec(), ..place.command_line(context, program, directory, start) })
}

/// The process that has a session open, besides workers.
pub fn process(context: &Context, session: &SessionId) -> Option<u32> {
    holder(context, session).map(|live| live.pid)
}

fn in_use(session: &Session) -> Error {
    let id = &session.id;
    Error::new(Kind::Held, format!("session {id} is in use by a worker"))
        .next(NextStep::Attach { session: id.clone() })
        .next(NextStep::SendToSession { session: id.clone() })
        .next(NextStep::Fork { session: id.clone() })
}

fn held(live: &RegisteredProcess) -> Error {
    let place = live.cwd.as_ref().map_or_else(String::new, |cwd| format!(" in {}", cwd.display()));
    let message = format!("session {} is open in process {}{place}", live.session, live.pid);
    continue_there(Error::new(Kind::Held, message), live)
        .next(NextStep::Fork { session: live.session.clone() })
}
