//! The kinds of record Claude Code has written, in every version seen.

/// The kind of a record, by its `type` and `subtype`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RecordKind {
    /// A prompt, a tool's result, or text the CLI put into the conversation.
    User,
    /// A block of the model's answer (the whole answer up to 1.0.0).
    Assistant,
    /// `system/compact_boundary`: the context was compacted here.
    CompactBoundary,
    /// `system/turn_duration`: an interactive turn is over.
    TurnDuration,
    /// `system/stop_hook_summary`: the Stop hooks ran.
    StopHookSummary,
    /// A `system/local_command` record: a command of the terminal and its output.
    LocalCommand,
    /// A `system/api_error` record: one retry.
    ApiError,
    /// Any other `system` record.
    System,
    /// An attachment of the CLI; a `queued_command` is what the person said.
    Attachment,
    /// The activity of a running tool or sub-agent (2.1.38 to 2.1.76).
    Progress,
    /// A title, up to 2.0.0.
    Summary,
    /// The name the person gave.
    CustomTitle,
    /// The name the CLI's model gave.
    AiTitle,
    /// The name shown for a named agent.
    AgentName,
    /// A tag of the session.
    Tag,
    /// The last prompt, for the CLI's own list.
    LastPrompt,
    /// A prompt waiting for its turn.
    QueueOperation,
    /// Vim mode and the like.
    Mode,
    /// The permission mode of the session.
    PermissionMode,
    /// The CLI's running total of tokens and money.
    CostState,
    /// The session moved to another directory.
    Relocated,
    /// The session is in a worktree, or left it.
    WorktreeState,
    /// The pull request of the session.
    PrLink,
    /// A checkpoint of files, for rewinding.
    FileHistory,
    /// Requests kept for replay; never read.
    ApiRequest,
    /// Bookkeeping of the CLI that has nothing to do with the conversation.
    Bookkeeping,
    /// A type this program does not know.
    Unknown,
}

impl RecordKind {
    pub(super) fn from_names(kind: Option<&str>, subtype: Option<&str>) -> Self {
        match kind.unwrap_or("") {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::from_system_subtype(subtype.unwrap_or("")),
            "attachment" => Self::Attachment,
            "progress" => Self::Progress,
            "summary" => Self::Summary,
            "custom-title" => Self::CustomTitle,
            "ai-title" => Self::AiTitle,
            "agent-name" => Self::AgentName,
            "tag" => Self::Tag,
            "last-prompt" => Self::LastPrompt,
            "queue-operation" => Self::QueueOperation,
            "mode" => Self::Mode,
            "permission-mode" => Self::PermissionMode,
            "cost-state" => Self::CostState,
            "relocated" => Self::Relocated,
            "worktree-state" => Self::WorktreeState,
            "pr-link" => Self::PrLink,
            "file-history-snapshot" | "file-history-delta" => Self::FileHistory,
            "api-request" | "api-request-shape" | "api-request-blob" | "api-request-resumed" => {
                Self::ApiRequest
            }
            "tools-used"
            | "atis-latch"
            | "agent-setting"
            | "agent-color"
            | "session-owner"
            | "isolation-latch"
            | "dev-mods"
            | "memory-mode"
            | "bridge-session"
            | "history-suppression"
            | "attribution-snapshot"
            | "content-replacement"
            | "data-flow-records"
            | "data-flow-incomplete"
            | "derived-from"
            | "continued-in"
            | "ended-by-model"
            | "resume-head-vouch"
            | "fork-context-ref"
            | "frame-link"
            | "observer-ref"
            | "artifact-comment-monitor"
            | "artifact-autoreact-ledger"
            | "repl-mode"
            | "hybrid-organization"
            | "host-row"
            | "teleported-from" => Self::Bookkeeping,
            _ => Self::Unknown,
        }
    }

    fn from_system_subtype(subtype: &str) -> Self {
        match subtype {
            "compact_boundary" => Self::CompactBoundary,
            "turn_duration" => Self::TurnDuration,
            "stop_hook_summary" => Self::StopHookSummary,
            "local_command" => Self::LocalCommand,
            "api_error" => Self::ApiError,
            _ => Self::System,
        }
    }

    /// Whether records of this kind hang in the tree by `uuid` and `parentUuid`.
    pub fn is_in_tree(self) -> bool {
        match self {
            Self::User
            | Self::Assistant
            | Self::CompactBoundary
            | Self::TurnDuration
            | Self::StopHookSummary
            | Self::LocalCommand
            | Self::ApiError
            | Self::System
            | Self::Attachment
            | Self::Progress => true,
            Self::Summary
            | Self::CustomTitle
            | Self::AiTitle
            | Self::AgentName
            | Self::Tag
            | Self::LastPrompt
            | Self::QueueOperation
            | Self::Mode
            | Self::PermissionMode
            | Self::CostState
            | Self::Relocated
            | Self::WorktreeState
            | Self::PrLink
            | Self::FileHistory
            | Self::ApiRequest
            | Self::Bookkeeping
            | Self::Unknown => false,
        }
    }

    /// Whether it is a `system` record of any subtype.
    pub fn is_system(self) -> bool {
        matches!(
            self,
            Self::CompactBoundary
                | Self::TurnDuration
                | Self::StopHookSummary
                | Self::LocalCommand
                | Self::ApiError
                | Self::System
        )
    }
}
