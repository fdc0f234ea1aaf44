//! Turns a record into signals about its turn: it begins, continues, calls a tool, ends.
//!
//! Looks at one record at a time; the monitor combines the signals.

use std::borrow::Cow;

use crate::record::{ApiMessage, Block, Record, RecordKind, Speaker, result_text};
use crate::speech::{is_unknown_command, speech};
use crate::text::preview;
use crate::tool_call::ToolCall;

/// The most blocks of a message that are looked at; what has more is data.
const MOST_BLOCKS: usize = 10_000;

/// A signal about the state of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnSignal<'a> {
    /// A turn begins, with a person's prompt or what replaces it.
    Begins {
        /// The prompt as written.
        text: Cow<'a, str>,
    },
    /// A turn runs: the model is given something, or a request is made again.
    GoesOn,
    /// A block of thought; `last` when its message is whole and ends the turn.
    Thinks {
        /// Whether the message ends the turn.
        last: bool,
    },
    /// A block of text; `last` when its message is whole and ends the turn.
    Says {
        /// Whether the message ends the turn.
        last: bool,
    },
    /// A tool is called.
    Calls(ToolCall<'a>),
    /// A tool has answered.
    Answered {
        /// The call it answers.
        id: &'a str,
        /// The sub-agent that answered, or that continues in the background.
        agent: Option<&'a str>,
        /// Whether the sub-agent continues in the background.
        launched: bool,
        /// Whether the tool failed or was refused.
        failed: bool,
    },
    /// A running tool or sub-agent shows that it lives.
    Progress {
        /// The tool use it belongs to.
        id: Option<&'a str>,
        /// The tool a sub-agent has called.
        tool: Option<&'a str>,
    },
    /// A task in the background has ended.
    Notified {
        /// The tool use that started it.
        tool_use: Option<String>,
        /// Its own id: a sub-agent's, or a command's.
        task: Option<String>,
    },
    /// The Stop hooks ran. The turn is over, unless one of them gave the model something to continue with.
    StopHooks {
        /// Whether a hook prevented the turn from continuing.
        prevented: bool,
    },
    /// The turn is about to be over with an error of the API.
    Fails {
        /// What Claude Code says of it, in a few words.
        reason: String,
    },
    /// The turn is over.
    Over {
        /// Whether it was answered, interrupted or failed.
        how: TurnEnd,
        /// The number of sub-agents and workflows still running in the background.
        in_background: u64,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model answered.
    Done,
    /// The person interrupted it.
    Interrupted,
    /// With an error of the API.
    Failed,
    /// The process left the session.
    Left,
}

/// The signals in a record, in order; none for most kinds. Records of sub-agents inside their session's file are
/// about the sub-agent's turn: the caller checks [`Record::is_sidechain`].
pub fn turn_signals<'a>(record: &Record<'a>) -> Vec<TurnSignal<'a>> {
    match record.kind() {
        RecordKind::User => user(record),
        RecordKind::Assistant => assistant(record),
        RecordKind::TurnDuration => {
            vec![TurnSignal::Over { how: TurnEnd::Done, in_background: record.pending_background_work() }]
        }
        RecordKind::StopHookSummary => {
            vec![TurnSignal::StopHooks { prevented: record.prevents_continuation() }]
        }
        RecordKind::ApiError => vec![TurnSignal::GoesOn],
        // A requested compaction occurs between turns, an automatic one within a turn.
        RecordKind::CompactBoundary if !record.compact_metadata().get("trigger").is("manual") => {
            vec![TurnSignal::GoesOn]
        }
        RecordKind::Progress => progress(record),
        RecordKind::QueueOperation => queue(record),
        RecordKind::Attachment => record.notification().as_deref().and_then(notified).into_iter().collect(),
        // Written when a process ends, and when it goes over to another session.
        RecordKind::CostState => vec![TurnSignal::Over { how: TurnEnd::Left, in_background: 0 }],
        _ => Vec::new(),
    }
}

fn user<'a>(record: &Record<'a>) -> Vec<TurnSignal<'a>> {
    let Some(message) = record.message() else { return Vec::new() };
    let mut signs = Vec::new();
    for block in message.each_block().take(MOST_BLOCKS) {
        match block {
            Block::ToolResult { id, is_error, .. } => signs.push(answered(record, id, is_error)),
            Block::Text(text) => signs.extend(prompt_signal(record, text)),
            Block::Image if !record.is_meta() => signs.push(TurnSignal::Begins { text: Cow::Borrowed("") }),
            Block::Thinking(_) | Block::ToolUse { .. } | Block::Image | Block::Other => {}
        }
    }
    if record.ends_turn() {
        signs.push(TurnSignal::Over { how: TurnEnd::Done, in_background: 0 });
    }
    signs
}

fn answered<'a>(record: &Record<'a>, id: &'a str, failed: bool) -> TurnSignal<'a> {
    let result = record.tool_use_result();
    TurnSignal::Answered {
        id,
        agent: result.get("agentId").plain(),
        launched: result.get("status").is("async_launched") || result.get("isAsync").is_true(),
        failed,
    }
}

/// Prefixes of text that is not a prompt: the echo of a local command and its output.
const LOCAL: [&str; 7] = [
    "<command-name>",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "<session-start-hook>",
    "<user-prompt-submit-hook>",
    "Caveat: The messages below were generated by the user while running local commands",
];

fn prompt_signal<'a>(record: &Record<'a>, text: Cow<'a, str>) -> Option<TurnSignal<'a>> {
    let start = text.trim_start();
    if start.starts_with("[Request interrupted by user") {
        return Some(TurnSignal::Over { how: TurnEnd::Interrupted, in_background: 0 });
    }
    if let Some(notified) = notified(start) {
        return Some(notified);
    }
    // The summary after a compaction belongs to what the boundary before it says.
    let not_said = record.is_compact_summary() || record.is_transcript_only();
    let is_local = LOCAL.iter().any(|local| start.starts_with(local)) || is_unknown_command(start);
    if start.is_empty() || not_said || is_local {
        return None;
    }
    match record.speaker() {
        Speaker::Person if record.has_tool_result() => Some(TurnSignal::GoesOn),
        Speaker::Person if text.contains("<channel ") => {
            let said = speech(&text).map(|said| said.text.into_owned());
            Some(TurnSignal::Begins { text: said.map_or(text, Cow::Owned) })
        }
        Speaker::Person => Some(TurnSignal::Begins { text }),
        _ if record.is_meta() || record.has_tool_result() => Some(TurnSignal::GoesOn),
        // Nobody's prompt, but a turn of its own.
        _ => Some(TurnSignal::Begins { text: Cow::Borrowed("") }),
    }
}

fn assistant<'a>(record: &Record<'a>) -> Vec<TurnSignal<'a>> {
    let Some(message) = record.message() else { return Vec::new() };
    if record.is_api_error() {
        let over = TurnSignal::Over { how: TurnEnd::Failed, in_background: 0 };
        return vec![TurnSignal::Fails { reason: failure(&message) }, over];
    }
    if record.is_synthetic() {
        return vec![TurnSignal::Over { how: TurnEnd::Done, in_background: 0 }];
    }
    let last = message.stop_reason().is_some_and(|reason| !matches!(reason, "tool_use" | "pause_turn"));
    let sign = |block: Block<'a>| match block {
        Block::Text(_) => Some(TurnSignal::Says { last }),
        // Thought that may not be seen is of another type.
        Block::Thinking(_) | Block::Other => Some(TurnSignal::Thinks { last }),
        // What the API's own servers run is answered within the message.
        Block::ToolUse { id, name, input } if !id.starts_with("srvtoolu") => {
            Some(TurnSignal::Calls(ToolCall { id, name, input }))
        }
        Block::ToolUse { .. } | Block::ToolResult { .. } | Block::Image => None,
    };
    message.each_block().take(MOST_BLOCKS).filter_map(sign).collect()
}

/// Why a turn failed, without the answer of the API that may follow: `API Error: 400`.
fn failure(message: &ApiMessage<'_>) -> String {
    let text = message.each_block().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    });
    let text = text.unwrap_or_default();
    let line = text.trim().lines().next().unwrap_or_default();
    let said =
        line.split_once('{').map_or(line, |(said, _)| said).trim_end_matches([' ', ':', '(', '·', '-']);
    if said.is_empty() { "API Error".to_owned() } else { preview(said) }
}

fn progress<'a>(record: &Record<'a>) -> Vec<TurnSignal<'a>> {
    let Some((id, inner)) = record.agent_progress() else {
        return vec![TurnSignal::Progress { id: record.parent_tool_use(), tool: None }];
    };
    let tool = turn_signals(&inner).into_iter().find_map(|sign| match sign {
        TurnSignal::Calls(call) => Some(call.name),
        _ => None,
    });
    vec![TurnSignal::Progress { id, tool }]
}

fn queue<'a>(record: &Record<'a>) -> Vec<TurnSignal<'a>> {
    match record.operation() {
        // A prompt leaves the queue when its turn begins; up to 2.0.77 long before its record is written.
        Some("dequeue") => vec![TurnSignal::GoesOn],
        Some("enqueue") => record.content().as_deref().and_then(notified).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The signal in a `<task-notification>`.
fn notified(text: &str) -> Option<TurnSignal<'static>> {
    let inner = text.trim_start().strip_prefix("<task-notification>")?;
    // While it runs on, a task may only have something to show.
    if element(inner, "status").is_some_and(|status| status == "running") {
        return None;
    }
    Some(TurnSignal::Notified {
        tool_use: element(inner, "tool-use-id").map(ToOwned::to_owned),
        task: element(inner, "task-id").map(ToOwned::to_owned),
    })
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inner, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inner.trim())
}

impl Record<'_> {
    /// The text of a notification that was attached to a running turn.
    fn notification(&self) -> Option<Cow<'_, str>> {
        let attachment = self.attachment();
        if !attachment.get("type").is("queued_command") {
            return None;
        }
        let prompt = attachment.get("prompt");
        Some(prompt.text().unwrap_or_else(|| result_text(prompt)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    /// The signs of a record in short words.
    fn check(line: &str, expected: &str) {
        let record = parse(line.as_bytes()).unwrap();
        let words: Vec<String> = turn_signals(&record).iter().map(word).collect();
        assert_eq!(words.join(" "), expected, "{line}");
    }

    fn word(sign: &TurnSignal<'_>) -> String {
        match sign {
            TurnSignal::Begins { .. } => "begins".into(),
            TurnSignal::GoesOn => "goes-on".into(),
            TurnSignal::Thinks { last } => if *last { "thinks." } else { "thinks" }.into(),
            TurnSignal::Says { last } => if *last { "says." } else { "says" }.into(),
            TurnSignal::Calls(call) => format!("calls:{}:{}", call.name, call.detail().unwrap_or_default()),
            TurnSignal::Answered { id, agent, launched, .. } => {
                format!("answered:{id}{}{}", agent.unwrap_or(""), if *launched { "&" } else { "" })
            }
            TurnSignal::Progress { id, tool } => {
                format!("progress:{}:{}", id.unwrap_or(""), tool.unwrap_or(""))
            }
            TurnSignal::Notified { tool_use, task } => {
                format!("notified:{}:{}", tool_use.as_deref().unwrap_or(""), task.as_deref().unwrap_or(""))
            }
            TurnSignal::StopHooks { prevented } => if *prevented { "hooks-end" } else { "hooks" }.into(),
            TurnSignal::Fails { reason } => format!("fails:{reason}"),
            TurnSignal::Over { how, in_background } => format!("over:{how:?}:{in_background}"),
        }
    }

    fn user(content: &str, more: &str) -> String {
        format!(r#"{{"type":"user",{more}"message":{{"role":"user","content":{content}}}}}"#)
    }

    fn assistant(content: &str, stop: &str) -> String {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","model":"m","content":[{content}],"stop_reason":{stop}}}}}"#
        )
    }

    #[test]
    fn signals_of_user_records() {
        check(&user(r#""Fix it""#, ""), "begins");
        check(&user(r#"[{"type":"text","text":"Fix it"}]"#, ""), "begins");
        check(
            &user(r#""<command-message>ship</command-message>\n<command-name>/ship</command-name>""#, ""),
            "begins",
        );
        check(&user(r#""Do as the command says""#, r#""isMeta":true,"#), "goes-on");
        check(&user(r#""<command-name>/exit</command-name>""#, ""), "");
        check(&user(r#""<local-command-stdout>ok</local-command-stdout>""#, ""), "");
        check(&user(r#""<local-command-caveat>x</local-command-caveat>""#, r#""isMeta":true,"#), "");
        check(&user(r#""<bash-input>ls</bash-input>""#, ""), "");
        check(&user(r#""This session is being continued""#, r#""isCompactSummary":true,"#), "");
        check(
            &user(r#"[{"type":"text","text":"[Request interrupted by user for tool use]"}]"#, ""),
            "over:Interrupted:0",
        );
        check(
            &user(
                r#"[{"type":"tool_result","tool_use_id":"t1","content":"x"}]"#,
                r#""toolUseResult":{"stdout":""},"#,
            ),
            "answered:t1",
        );
        check(
            &user(
                r#"[{"type":"tool_result","tool_use_id":"t1","content":"x"}]"#,
                r#""toolUseResult":{"isAsync":true,"status":"async_launched","agentId":"a7"},"#,
            ),
            "answered:t1a7&",
        );
        check(
            &user(
                r#""<task-notification>\n<task-id>a7</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>completed</status></task-notification>""#,
                r#""origin":{"kind":"task-notification"},"#,
            ),
            "notified:t1:a7",
        );
    }

    #[test]
    fn signals_of_assistant_records() {
        check(&assistant(r#"{"type":"text","text":"Hi"}"#, "null"), "says");
        check(&assistant(r#"{"type":"text","text":"Hi"}"#, r#""tool_use""#), "says");
        check(&assistant(r#"{"type":"text","text":"Hi"}"#, r#""end_turn""#), "says.");
        check(&assistant(r#"{"type":"thinking","thinking":"Hm"}"#, r#""end_turn""#), "thinks.");
        check(&assistant(r#"{"type":"redacted_thinking","data":"x"}"#, "null"), "thinks");
        check(
            &assistant(
                r#"{"type":"text","text":"I will"},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/a/b.rs"}}"#,
                r#""tool_use""#,
            ),
            "says calls:Read:b.rs",
        );
        check(
            &assistant(
                r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
                "null",
            ),
            "",
        );
        check(
            r#"{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"stop_reason":"stop_sequence"}}"#,
            "fails:API Error over:Failed:0",
        );
        let failed = |text: &str, reason: &str| {
            let line = format!(
                r#"{{"type":"assistant","isApiErrorMessage":true,"message":{{"model":"<synthetic>","content":[{{"type":"text","text":"{text}"}}]}}}}"#
            );
            check(&line, &format!("fails:{reason} over:Failed:0"));
        };
        failed(r#"API Error: 400 {\"type\":\"error\"}"#, "API Error: 400");
        failed("Credit balance is too low", "Credit balance is too low");
        failed("", "API Error");
    }

    #[test]
    fn signals_of_other_records() {
        check(
            r#"{"type":"system","subtype":"turn_duration","pendingBackgroundAgentCount":2}"#,
            "over:Done:2",
        );
        check(
            r#"{"type":"system","subtype":"turn_duration","pendingBackgroundAgentCount":2,"pendingWorkflowCount":1}"#,
            "over:Done:3",
        );
        check(r#"{"type":"system","subtype":"turn_duration","pendingWorkflowCount":1}"#, "over:Done:1");
        check(r#"{"type":"system","subtype":"stop_hook_summary"}"#, "hooks");
        check(r#"{"type":"system","subtype":"stop_hook_summary","preventedContinuation":false}"#, "hooks");
        check(r#"{"type":"system","subtype":"stop_hook_summary","preventedContinuation":true}"#, "hooks-end");
        check(r#"{"type":"system","subtype":"api_error"}"#, "goes-on");
        check(r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"manual"}}"#, "");
        check(
            r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}}"#,
            "goes-on",
        );
        check(
            r#"{"type":"system","subtype":"local_command","content":"<command-name>/model</command-name>"}"#,
            "",
        );
        check(r#"{"type":"queue-operation","operation":"dequeue"}"#, "goes-on");
        check(r#"{"type":"queue-operation","operation":"enqueue","content":"next"}"#, "");
        check(
            r#"{"type":"queue-operation","operation":"enqueue","content":"<task-notification>\n<task-id>a7</task-id>\n<tool-use-id>t1</tool-use-id></task-notification>"}"#,
            "notified:t1:a7",
        );
        check(
            r#"{"type":"progress","parentToolUseID":"t1","data":{"type":"agent_progress","message":{"type":"assistant","message":{"content":[{"type":"tool_use","id":"x","name":"Bash","input":{}}]}}}}"#,
            "progress:t1:Bash",
        );
        check(
            r#"{"type":"progress","parentToolUseID":"t1","data":{"type":"bash_progress"}}"#,
            "progress:t1:",
        );
        check(r#"{"type":"cost-state","totalCostUSD":0.1}"#, "over:Left:0");
        check(r#"{"type":"ai-title","aiTitle":"x"}"#, "");
    }
}
