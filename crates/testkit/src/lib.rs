//! What the tests stand on: a scratch home with real git repositories, a scripted model server and the
//! real `claude`. Only tests depend on it; nothing here is shipped.
//!
//! A helper that cannot go on panics and says what to do: that is how a test fails.

#![allow(clippy::expect_used, reason = "a helper that cannot go on fails the test that called it")]
#![allow(clippy::disallowed_methods, reason = "tests read small files of their own making, whole")]

pub mod claude;
pub mod files;
pub mod home;
pub mod model_server;
pub mod repository;
pub mod snapshot;

pub use claude::Claude;
pub use home::ScratchHome;
pub use model_server::{Answer, Gate, ModelServer, Script};
pub use repository::Repository;
pub use snapshot::Snapshot;
