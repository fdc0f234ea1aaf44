//! Claude Code's own files: where they are, what a line means, and reading all of it or only what is new.
//!
//! Files of other programs hold surprises: a line that cannot be read is counted and skipped, an unknown type is a
//! record of [`record::RecordKind::Unknown`], and nothing here fails on content.

mod archived_folder;
mod armed;
mod background_jobs;
mod block;
mod chain;
mod commit_command;
mod compactions;
mod copies;
mod deletions;
mod directory;
mod edits;
mod elements;
mod files;
mod files_written;
mod ghosts;
mod history_events;
mod home;
mod json;
mod kept_output;
mod line_text;
mod long_lines;
mod mcp_servers;
mod message;
mod moment;
mod open_transcript;
mod page;
mod partial_copy;
mod past;
mod pasted;
mod plugins;
mod queue;
mod read_buffer;
mod reader;
mod recent;
pub mod record;
mod recorded_path;
mod registered_process;
mod scan;
mod scheduled_tasks;
mod session_files;
mod speech;
mod splits;
mod strings;
mod subject;
mod summary;
mod tail;
mod text;
mod titles;
mod tool_call;
mod tool_time;
mod turn_signals;
mod unescape;
mod usage;
mod walk;
mod work_log;

pub use archived_folder::{ArchivedFolder, forgotten_list, forgotten_sessions, is_gone};
pub use background_jobs::{JobRecord, JobRoster};
pub use chain::Chain;
pub use compactions::{Compaction, compactions};
pub use deletions::{deletion_list, deletions};
pub use directory::{home_directories, start_directory};
pub use edits::{
    EditLog, EditOutcome, EditPlace, EditTurn, FileContent, FileEdit, FileReplay, Replacement, TextChange,
    edit_log, may_change_files, read_edit,
};
pub use elements::{AgentMessage, ChannelMessage, agent_messages};
pub use files::{
    DivergedFile, FolderContents, ReadProblem, SubagentFile, SubagentMeta, TranscriptFile, given_task,
};
pub use files_written::files_written;
pub use ghosts::{SessionTraces, traces};
pub use history_events::{HistoryEvent, HistoryEventKind, each_history_event};
pub use home::{ConfigFolder, FileRole, agent_of};
pub use json::Raw;
pub use kept_output::{kept_output, may_name_kept_output};
pub use long_lines::LongLines;
pub use mcp_servers::RegisteredServer;
pub use message::{Message, Part, Role, message, messages};
pub use open_transcript::OpenTranscript;
pub use page::{Page, Position, offset_of, page_after, page_before, position_after};
pub use partial_copy::PartialCopy;
pub use past::{PastTranscript, TranscriptHistory, history};
pub use plugins::InstalledPlugin;
pub use queue::{QueuedPrompts, SettledPrompts, UnsentPrompts};
pub use reader::{LINE_CAP, Line, Reader};
pub use recent::{Excerpt, RecentMessages, line_number, line_start, recent_messages};
pub use registered_process::{LiveStatus, RegisteredProcess, RegistryStatus, records as live_records};
pub use scheduled_tasks::ScheduledTask;
pub use session_files::session_files;
pub use speech::{
    Speech, after_crewhub_context, is_command, is_housekeeping, marked_agent, speech, split_origin_marker,
};
pub use splits::{LeftBranches, Split, Splits};
pub use strings::strings;
pub use subject::is_bare_assent;
pub use summary::{AgentCall, MAX_DIRECTORIES, SkippedLines, Summary, task_key};
pub use tail::{Checkpoint, FileChange, Tail};
pub use text::{PREVIEW_LENGTH, preview};
pub use titles::Titles;
pub use tool_call::ToolCall;
pub use tool_time::{ToolTimes, own_time};
pub use turn_signals::{TurnEnd, TurnSignal, turn_signals};
pub use usage::{UsageCollector, context_tokens, key as usage_key};
pub use walk::subagents_of;
pub use work_log::{LoggedCommit, StartedTask, WorkLog, work_log};
