//! Runs `claude` processes: finds the program, knows what its release supports, builds its command line, and
//! runs workers that are controlled through pipes.
//!
//! Only this crate knows Claude Code's flags and the frames it exchanges.

mod bridge;
mod command_line;
mod conversation;
mod envelope;
mod event;
mod frame_log;
mod grant;
mod handle;
mod input_text;
mod lines;
mod listeners;
mod one_shot_prompt;
mod passed_flags;
mod permission;
mod pipes;
mod process_identity;
mod program;
mod recover;
mod release;
mod shell;
mod socket;
mod spec;
mod state;
pub mod store;
mod stream;
mod worker;

pub use bridge::{BRIDGE, BridgeServer};
pub use command_line::{ClaudeTask, CommandLine, MARK_VARIABLE, UnquotableWord};
pub use conversation::Limits;
pub use envelope::Envelope;
pub use event::{Announcement, Command, Event, TurnResult, TurnStarted};
pub use grant::{Grant, Offer};
pub use handle::WorkerHandle;
pub use listeners::QueuePolicy;
pub use one_shot_prompt::OneShotPrompt;
pub use passed_flags::refused_flag;
pub use permission::{PermissionReply, PermissionRequest, QuestionOption, RequestKind, UserQuestion};
pub use process_identity::ProcessIdentity;
pub use program::Program;
pub use recover::{RecoveryReport, end_orphan, recover};
pub use release::Release;
pub use shell::{quoted, quoted_for_sh};
pub use socket::RemoteWorker;
pub use spec::{PermissionMode, SessionStart, WorkerOptions, WorkerSpec};
pub use state::{FailureReason, WorkerId, WorkerState};
pub use store::WorkerStore;
pub use worker::{RunnerConfig, frame_log_path, start};
