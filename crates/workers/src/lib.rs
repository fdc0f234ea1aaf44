//! The `claude` processes we start: which program, what its release can do, which flags it is given.
//!
//! Nobody else knows a flag of Claude Code.

mod command_line;
mod program;
mod question;
mod release;
mod shell;
mod turn;

pub use command_line::{CommandLine, Start};
pub use program::Program;
pub use question::Question;
pub use release::Release;
pub use shell::quoted;
pub use turn::Turn;
