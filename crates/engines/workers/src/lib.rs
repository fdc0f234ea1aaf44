//! The `claude` processes we start: which program, what its release can do, which flags it is given, and how
//! workers are talked to, kept count of and ended.
//!
//! Nobody else knows a flag of Claude Code, nor a frame of what it says.

mod command_line;
mod conversation;
mod envelope;
mod event;
mod frame_log;
mod handle;
mod life;
mod lines;
mod listeners;
mod permission;
mod pipes;
mod program;
mod question;
mod recover;
mod release;
mod shell;
mod socket;
mod spec;
mod state;
mod stream;
pub mod table;
mod worker;

pub use command_line::{CommandLine, MARK, Unprintable};
pub use conversation::Limits;
pub use envelope::Envelope;
pub use event::{Command, Event, Started, TurnResult};
pub use handle::Handle;
pub use life::Life;
pub use listeners::Manner;
pub use permission::{Asked, Choice, Question as Asking, Reply, Request};
pub use program::Program;
pub use question::Question;
pub use recover::{Recovered, end_orphan, recover};
pub use release::Release;
pub use shell::{quoted, quoted_for_sh};
pub use socket::Remote;
pub use spec::{Options, PermissionMode, Start, WorkerSpec};
pub use state::{Why, WorkerId, WorkerState};
pub use table::Table;
pub use worker::{Order, frames, start};
