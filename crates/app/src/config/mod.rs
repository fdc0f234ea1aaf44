//! Paths, settings, and the made-up sessions of `--demo`.

pub(crate) mod demo;
mod environment;
pub(crate) mod settings;
mod state_folder;
mod terminal_session;

pub use demo::DemoFolder;
pub use environment::{ApiKeyText, Config, Variables};
pub use terminal_session::TerminalSession;
