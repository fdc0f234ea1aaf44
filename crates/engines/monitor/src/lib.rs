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
pub mod install;
mod moments;
mod monitor;
mod process;
mod records;
mod registry;
mod replay;
mod session;
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
pub use monitor::{Monitor, Settings, Snapshot, Voice};
pub use process::{Held, Process, Status};
pub use records::{Records, Told};
pub use replay::{Written, replay};
pub use spoken::{Spoken, Word};
pub use timers::Timers;
pub use tracker::Tracker;
