//! `openclaw_announce`: a message to the user of the agent's chat.
//!
//! It is an event of the worker, is kept with it, and is appended to a file that a host reads to deliver it.

use std::io::Write as _;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::{Announcement, Command, RemoteWorker};

use crate::bridge::Bridge;
use crate::ids::new_uuid;
use crate::workers::table::state_folder;
use crate::{Context, Error, Kind};

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 16 << 10;
/// The folder of OpenClaw's bridges below the folder for short-lived files.
const FOLDER: &str = "openclaw-mcp-bridge";

/// What OpenClaw's bridge answers.
const DELIVERED: &str = "Message queued for delivery to user's chat.";
/// The answer where the file could not be written.
const KEPT: &str =
    "Message kept with the worker; the file for delivery to the user's chat could not be written.";

/// A message for the user of the agent's chat.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AnnounceRequest")]
pub struct Request {
    /// The message, in the words of the agent.
    pub message: String,
}

/// A message that was announced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AnnounceAnswer")]
pub struct Answer {
    /// What became of it.
    pub status: &'static str,
    /// The file from which a host delivers it; `null` where it could not be written.
    #[serde(serialize_with = "model::optional_path")]
    pub file: Option<PathBuf>,
}

/// The file of one bridge.
#[derive(Debug)]
pub(super) struct AnnouncementFile(PathBuf);

impl AnnouncementFile {
    /// Each bridge has its own file, created with the first announcement.
    pub(super) fn new(context: &Context) -> Self {
        let suffix: String = new_uuid().chars().take(6).collect();
        let name = format!("bridge-{}-{suffix}-announce.ndjson", context.now.as_millisecond());
        Self(context.config().scratch.join(FOLDER).join(name))
    }

    /// Appends a line. The folder for temporary files is open to all users, so only our own new file is written.
    fn append(&self, announcement: &Announcement) -> std::io::Result<()> {
        let Some(folder) = self.0.parent() else { return Ok(()) };
        system::create_private_folder(folder)?;
        system::ensure_own_folder(folder)?;
        let mut line = serde_json::to_vec(announcement)?;
        line.push(b'\n');
        system::private_file().create(true).append(true).open(&self.0)?.write_all(&line)
    }
}

/// Announces a message; an error where the worker cannot be reached.
pub fn announce(context: &Context, bridge: &Bridge, request: &Request) -> Result<Answer, Error> {
    let message = context.secrets.redacted(request.message.trim().into());
    if message.is_empty() {
        return Err(Error::new(Kind::Usage, "the message is empty: say what to announce"));
    }
    if message.len() > MAX_MESSAGE {
        let most = MAX_MESSAGE >> 10;
        return Err(Error::new(Kind::TooLarge, format!("a message may have at most {most} kB")));
    }
    let unreachable = |why: String| {
        Error::new(Kind::Unavailable, format!("worker {} cannot announce anything: {why}", bridge.worker))
    };
    let row = bridge.row(context)?;
    if row.state.is_over() {
        return Err(unreachable(format!("it has ended ({})", row.state.as_str())));
    }
    let worker = RemoteWorker::connect(&state_folder(context), bridge.worker);
    let worker = worker.map_err(|_| unreachable("the Backstory that runs it does not answer".to_owned()))?;
    worker.command(&Command::Announce { message: message.clone() }).map_err(unreachable)?;
    let written = bridge.announcements.append(&Announcement { message, timestamp: context.read_clock() });
    // The worker keeps it in any case; without the file, a host learns of it only by following the worker.
    Ok(match written {
        Ok(()) => Answer { status: DELIVERED, file: Some(bridge.announcements.0.clone()) },
        Err(_) => Answer { status: KEPT, file: None },
    })
}
