//! What every session is doing now, and how we know.
//!
//! The rules are pure and take the time as a parameter: [`Tracker`] holds one session, `waiting` decides,
//! `docs/activity.md` is what they are held to. Beside them stands what looks at files and processes.

mod bus;
mod changes;
mod facts;
mod files;
mod glance;
pub mod hooks;
mod input;
pub mod install;
mod moments;
mod monitor;
mod process;
mod records;
mod registry;
mod replay;
mod session;
mod snapshot;
mod source;
mod spoken;
mod subagents;
mod timers;
mod tracker;
mod turn;
mod waiting;

pub use bus::{Ended, Listener};
pub use changes::Changes;
pub use glance::Glance;
pub use monitor::{Monitor, Settings, Voice};
pub use process::{Held, Process, Status};
pub use records::{Records, Told};
pub use replay::{Written, replay};
pub use snapshot::Snapshot;
pub use spoken::{Spoken, Word};
pub use timers::Timers;
pub use tracker::Tracker;
