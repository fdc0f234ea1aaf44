//! The six tools of OpenClaw's MCP bridge, for the `claude` of an OpenClaw agent's worker. Requests and answers have the names
//! of OpenClaw's own bridge.

pub mod announce;
pub mod conversation;
pub mod memory;
mod policy;
pub mod sessions;
mod spending;
pub mod status;

use std::path::PathBuf;

use model::{AgentId, SessionId};
pub use workers::WorkerId;
use workers::store::Worker;

pub use policy::Tool;

use crate::bridge::announce::AnnouncementFile;
use crate::search::index;
use crate::workers::table::{open, unusable};
use crate::{Caller, Config, Context, Error, Kind, NextStep};

/// The bridge of one worker.
#[derive(Debug)]
pub struct Bridge {
    worker: WorkerId,
    agent: AgentId,
    session: SessionId,
    directory: PathBuf,
    announcements: AnnouncementFile,
}

impl Bridge {
    /// Opens the bridge of an OpenClaw agent's worker. Reads only the table of workers.
    pub fn open(context: &Context, worker: WorkerId) -> Result<Self, Error> {
        let row = row(context, worker)?;
        let Some(agent) = row.agent else {
            return Err(Error::new(
                Kind::Usage,
                format!("worker {worker} does not work for an OpenClaw agent"),
            ));
        };
        let announcements = AnnouncementFile::new(context);
        Ok(Self { worker, agent, session: row.session, directory: row.directory, announcements })
    }

    /// The context of a request by the worker, which may see what its agent may.
    pub fn context(&self, context: &Context) -> Context {
        let caller = Caller::Worker { worker: self.worker, agent: Some(self.agent.clone()) };
        // The calling session, also where Claude Code's registry does not name it.
        let config = Config { claude_session: Some(self.session.clone()), ..context.config().clone() };
        Context { caller, directory: self.directory.clone(), ..context.with_config(config).refreshed() }
    }

    /// Reads ahead what the tools need, the sessions and the index, so that a call need not wait for it. What changes later is
    /// read by the call.
    pub fn prepare(&self, context: &Context) {
        let context = self.context(context);
        // A call reports what fails.
        let _ = sessions::of_repository(&context, self);
        if self.tools(&context).is_ok_and(|tools| tools.contains(&Tool::MemorySearch)) {
            let _ = index::refresh(&context, &mut index::find(&context));
        }
    }

    /// The tools that the settings allow the agent; none where the bridge is disabled.
    pub fn tools(&self, context: &Context) -> Result<Vec<Tool>, Error> {
        let settings = &context.config().settings;
        policy::tools(&settings.bridge_for(Some(&self.agent), policy::in_openclaw(context))?)
    }

    fn row(&self, context: &Context) -> Result<Worker, Error> {
        row(context, self.worker)
    }
}

/// Whether a worker of this agent gets the bridge.
pub(crate) fn is_enabled(context: &Context, agent: Option<&AgentId>) -> Result<bool, Error> {
    let Some(agent) = agent else { return Ok(false) };
    let settings = context.config().settings.bridge_for(Some(agent), policy::in_openclaw(context))?;
    // Unknown names are reported here, because nobody sees the errors of the bridge's process.
    Ok(!policy::tools(&settings)?.is_empty())
}

fn row(context: &Context, worker: WorkerId) -> Result<Worker, Error> {
    open(context)?.get(worker).map_err(unusable)?.ok_or_else(|| {
        Error::new(Kind::NotFound, format!("there is no worker {worker}")).next(NextStep::ListWorkers)
    })
}
