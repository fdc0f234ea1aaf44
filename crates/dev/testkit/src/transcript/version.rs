//! Which release of Claude Code writes what: the observed differences, each named once.

/// A release, such as 2.1.329.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32, u32);

/// Where sub-agents' records are kept.
pub(super) enum Layout {
    /// In the session's own file, as side chains.
    Inline,
    /// `agent-….jsonl` beside the session's file.
    Beside,
    /// In a folder of the session: `<session>/subagents/agent-….jsonl`.
    Folder,
}

/// How a message's lines count its output tokens.
pub(super) enum OutputCount {
    /// Every line has the final count.
    Final,
    /// Only the last line has it; the others say 1.
    FinalOnLast,
    /// All lines say 1; the count is lost.
    Lost,
}

impl Version {
    pub(super) fn parse(text: &str) -> Self {
        let numbers: Vec<u32> = text.split('.').filter_map(|part| part.parse().ok()).collect();
        match numbers[..] {
            [major, minor, patch] => Self(major, minor, patch),
            _ => panic!("`{text}` is not a version such as 2.1.329"),
        }
    }

    pub(super) fn splits_messages(self) -> bool {
        self >= Self(1, 0, 60)
    }

    pub(super) fn records_branch_and_request(self) -> bool {
        self >= Self(1, 0, 60)
    }

    pub(super) fn records_queue(self) -> bool {
        self >= Self(2, 0, 42)
    }

    pub(super) fn links_tool_results(self) -> bool {
        self >= Self(2, 0, 77)
    }

    pub(super) fn records_permission_mode(self) -> bool {
        self >= Self(2, 1, 20)
    }

    /// From here on the envelope ends a line; `entrypoint` and `promptId` came with it.
    pub(super) fn ends_with_envelope(self) -> bool {
        self >= Self(2, 1, 100)
    }

    pub(super) fn has_agent_meta(self) -> bool {
        self >= Self(2, 1, 100)
    }

    pub(super) fn records_prompt_source(self) -> bool {
        self >= Self(2, 1, 197)
    }

    /// Tools start while the message still streams, so results are between its lines.
    pub(super) fn interleaves_tools(self) -> bool {
        self >= Self(2, 1, 197)
    }

    pub(super) fn numbers_blocks(self) -> bool {
        self >= Self(2, 1, 260)
    }

    pub(super) fn records_cost(self) -> bool {
        self >= Self(2, 1, 329)
    }

    /// The name of the tool that starts a sub-agent.
    pub(super) fn agent_tool(self) -> &'static str {
        if self >= Self(2, 1, 59) { "Agent" } else { "Task" }
    }

    pub(super) fn subagents(self) -> Layout {
        match self {
            v if v >= Self(2, 1, 20) => Layout::Folder,
            v if v >= Self(2, 0, 42) => Layout::Beside,
            _ => Layout::Inline,
        }
    }

    pub(super) fn output_count(self) -> OutputCount {
        match self {
            v if v >= Self(2, 1, 100) || v == Self(2, 0, 42) || v < Self(1, 0, 60) => OutputCount::Final,
            Self(2, 1, patch) if (20..59).contains(&patch) => OutputCount::Lost,
            _ => OutputCount::FinalOnLast,
        }
    }
}
