//! Claude Code's own files: where they are, what a line means, all of it or only what is new.
//!
//! Other people's files surprise: a line that cannot be read is counted and passed over, a type we do not
//! know is a record of [`record::Kind::Unknown`], and nothing here fails on content.

mod block;
mod chain;
mod cut;
mod deeds;
mod directory;
mod files;
mod home;
mod json;
mod live;
mod long_lines;
mod message;
mod past;
mod reader;
mod recent;
pub mod record;
mod scan;
mod signs;
mod speech;
mod summary;
mod tail;
mod text;
mod titles;
mod touched;
mod unescape;
mod usage;
mod walk;

pub use chain::Chain;
pub use cut::Cut;
pub use deeds::{Begun, Committed, Deeds, deeds};
pub use directory::start_directory;
pub use files::{Found, Problem, SubagentFile, SubagentMeta, TranscriptFile};
pub use home::{ConfigFolder, FileRole};
pub use json::Raw;
pub use live::{Live, LiveStatus, Standing, records as live_records};
pub use long_lines::LongLines;
pub use message::{Message, Part, Role, message};
pub use past::{History, Then, history};
pub use reader::{LINE_CAP, Line, Reader};
pub use recent::{Recent, Said, line_number, recent};
pub use signs::{Call, Ending, Sign, signs};
pub use speech::{Speech, is_command, marked_agent, speech, split_origin_marker};
pub use summary::{AgentCall, PassedOver, Summary, task_key};
pub use tail::{Change, Mark, Tail};
pub use text::{PROMPT_LENGTH, cut};
pub use titles::Titles;
pub use touched::touched;
pub use usage::{Spent, context_tokens, key as usage_key};
pub use walk::subagents_of;
