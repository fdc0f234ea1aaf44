//! Workers: the `claude` processes that Backstory runs for tasks.
//!
//! `run` starts one, `send` gives it more to do, `control` answers and ends it, `host` is the process that runs it.

pub mod answer;
mod asking_worker;
pub(crate) mod control;
pub(crate) mod deliver;
mod events;
pub(crate) mod forked;
pub(crate) mod holders;
pub(crate) mod host;
pub(crate) mod instruction;
mod launch;
mod link;
pub mod list;
pub mod log;
pub mod message;
mod registry;
pub(crate) mod reports;
pub mod run;
pub mod send;
pub mod spawn;
pub mod start;
pub mod steer;
pub mod stop;
mod stream_redactor;
pub(crate) mod table;
mod unredact;
pub mod wait;
mod worker_name;
pub(crate) mod worktree;

pub use ::workers::refused_flag;
pub use ::workers::store::WorkerStats;
pub use ::workers::{
    Command, Event, FailureReason, Grant, Offer, PermissionMode, PermissionReply, PermissionRequest,
    QuestionOption, RequestKind, TurnResult, UserQuestion, WorkerState,
};
pub use asking_worker::context_for_model;
pub use control::attach;
pub use events::Events;
pub use forked::ForkedWorker;
pub(crate) use forked::work;
pub use host::{detach, supervise};
pub use link::{Control, Link};
pub use list::{WorkerInfo, find};
