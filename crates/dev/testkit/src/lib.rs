//! The basis of the tests: a scratch home, a scripted model server, the real `claude`, and transcripts
//! written in prose. Only tests depend on it; nothing here is shipped.
//!
//! A helper that cannot go on panics and says what to do: that is how a test fails.

#![allow(clippy::expect_used, reason = "a helper that cannot go on fails the test that called it")]
#![allow(clippy::disallowed_methods, reason = "tests read small files of their own making, whole")]
#![allow(clippy::needless_pass_by_value, reason = "tests write `json!(…)` in place, without a `&`")]

pub mod background;
pub mod claude;
pub mod embedding_server;
pub mod files;
pub mod held_claude;
pub mod home;
pub mod long;
mod loopback;
pub mod model_server;
pub mod openclaw;
pub mod qmd;
pub mod recording;
pub mod repository;
pub mod snapshot;
pub mod terminal;
pub mod transcript;

use std::time::Duration;

/// How long anything may take before it is called hung. Tests wait for what happens, not for time: a machine may be
/// busy with much else. It is shorter than what the runner gives a test, so that the test can say what it waited for.
pub const PATIENCE: Duration = Duration::from_mins(4);

pub use claude::Claude;
pub use embedding_server::EmbeddingServer;
pub use held_claude::{HeldClaude, HoldableClaude};
pub use home::ScratchHome;
pub use model_server::{Answer, Gate, ModelServer, Script};
pub use openclaw::OpenClaw;
pub use qmd::Qmd;
pub use recording::Recorder;
pub use repository::Repository;
pub use snapshot::Snapshot;
pub use terminal::Terminal;
pub use transcript::Transcript;
