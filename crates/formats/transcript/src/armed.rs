//! What a session left armed: scheduled prompts, wake-ups, and shells in the background whose end it never heard of.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::json::Raw;
use crate::message::{Part, message};
use crate::reader::Reader;
use crate::record::{Block, Record, RecordKind, parse};
use crate::text::preview;

/// After how long Claude Code drops a recurring prompt.
const RECURRING: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Something that a session left armed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmedWork {
    /// What sort of thing it is.
    pub kind: ArmedKind,
    /// The prompt or the command.
    pub what: String,
    /// The schedule of a prompt, as cron writes it.
    pub schedule: Option<String>,
    /// When it was armed.
    pub at: Option<Timestamp>,
    /// The line that records it, from 1.
    pub line: u64,
}

/// The sorts of work that a session can leave armed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmedKind {
    /// A prompt on a schedule.
    Cron,
    /// A prompt that continues a loop at a later time.
    WakeUp,
    /// A shell in the background.
    Shell,
}

/// What a session left armed, as its transcript tells at `now`.
pub fn armed_work(file: &Path, now: Timestamp) -> io::Result<Vec<ArmedWork>> {
    let mut reader = Reader::open(file)?;
    let mut calls: HashMap<String, ArmedWork> = HashMap::new();
    let mut armed: BTreeMap<String, ArmedWork> = BTreeMap::new();
    while let Some(line) = reader.next_line()? {
        let Ok(record) = parse(line.bytes) else { continue };
        if reports_an_end(&record) {
            let text = String::from_utf8_lossy(line.bytes);
            armed.retain(|id, _| !text.contains(&format!("<task-id>{id}</task-id>")));
            continue;
        }
        let Some(message) = message(&record).filter(|message| !message.sidechain) else { continue };
        for part in &message.parts {
            match part {
                Part::ToolUse { name, input, .. }
                    if matches!(*name, "CronDelete" | "KillShell" | "KillBash" | "TaskStop") =>
                {
                    let ids = ["id", "task_id", "shell_id", "bash_id"];
                    for id in ids.iter().filter_map(|key| input.get(key).text()) {
                        armed.remove(id.as_ref());
                    }
                }
                Part::ToolUse { id, name, input } => {
                    if let Some(work) = called(name, *input) {
                        calls.insert(
                            (*id).to_owned(),
                            ArmedWork { at: message.at, line: line.number, ..work },
                        );
                    }
                }
                Part::ToolResult { id, is_error, kept, .. } => {
                    let Some(work) = calls.remove(*id).filter(|_| !is_error) else { continue };
                    let key = match work.kind {
                        ArmedKind::Cron => kept.get("id").text(),
                        ArmedKind::Shell => kept.get("backgroundTaskId").text(),
                        // There is only one at a time.
                        ArmedKind::WakeUp => Some("wake-up".into()),
                    };
                    armed.extend(key.map(|key| (key.into_owned(), work)));
                }
                _ => {}
            }
        }
    }
    let is_dropped = |work: &ArmedWork| {
        let age = work.at.map(|at| now.duration_since(at));
        work.kind == ArmedKind::Cron && age.is_some_and(|age| age > RECURRING)
    };
    let mut left: Vec<ArmedWork> = armed.into_values().filter(|work| !is_dropped(work)).collect();
    left.sort_by_key(|work| work.line);
    Ok(left)
}

/// Whether a record reports to the model that a task in the background has ended.
fn reports_an_end(record: &Record<'_>) -> bool {
    const MARK: &str = "<task-notification>";
    let says = |block: &Block<'_>| matches!(block, Block::Text(text) if text.contains(MARK));
    match record.kind() {
        RecordKind::User => record.message().is_some_and(|message| message.blocks().iter().any(says)),
        RecordKind::Attachment => record.attachment().get("prompt").json().contains(MARK),
        _ => false,
    }
}

fn called(tool: &str, input: Raw<'_>) -> Option<ArmedWork> {
    let text = |key: &str| input.get(key).text().map(|text| preview(&text)).unwrap_or_default();
    let work = |kind, what, schedule| ArmedWork { kind, what, schedule, at: None, line: 0 };
    match tool {
        "CronCreate" => Some(work(ArmedKind::Cron, text("prompt"), Some(text("cron")))),
        "ScheduleWakeup" => Some(work(ArmedKind::WakeUp, text("prompt"), None)),
        "Bash" if input.get("run_in_background").json().trim() == "true" => {
            Some(work(ArmedKind::Shell, text("command"), None))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, tool: &str, input: &str) -> String {
        format!(
            r#"{{"type":"assistant","timestamp":"2026-03-01T10:00:00.000Z","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]}}}}"#
        )
    }

    fn result(id: &str, result: &str) -> String {
        format!(
            r#"{{"type":"user","timestamp":"2026-03-01T10:00:01.000Z","toolUseResult":{result},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"ok"}}]}}}}"#
        )
    }

    #[test]
    fn what_ended_is_not_armed() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("s1.jsonl");
        let ended = r#"{"type":"user","message":{"role":"user","content":"<task-notification><task-id>b2</task-id></task-notification>"}}"#;
        let lines = [
            call("1", "CronCreate", r#"{"cron":"*/5 * * * *","prompt":"check the deploy"}"#),
            result("1", r#"{"id":"c1"}"#),
            call("2", "CronCreate", r#"{"cron":"0 9 * * *","prompt":"report"}"#),
            result("2", r#"{"id":"c2"}"#),
            call("3", "CronDelete", r#"{"id":"c2"}"#),
            call("4", "Bash", r#"{"command":"npm run dev","run_in_background":true}"#),
            result("4", r#"{"backgroundTaskId":"b1"}"#),
            call("5", "Bash", r#"{"command":"sleep 1","run_in_background":true}"#),
            result("5", r#"{"backgroundTaskId":"b2"}"#),
            ended.to_owned(),
            call("6", "Bash", r#"{"command":"ls"}"#),
            result("6", r#"{"stdout":""}"#),
        ];
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
        let at = |now: &str| {
            let found = armed_work(&file, now.parse().unwrap()).unwrap();
            found.into_iter().map(|work| (work.kind, work.what, work.line)).collect::<Vec<_>>()
        };
        let cron = (ArmedKind::Cron, "check the deploy".to_owned(), 1);
        let shell = (ArmedKind::Shell, "npm run dev".to_owned(), 6);
        assert_eq!(at("2026-03-02T00:00:00Z"), [cron, shell.clone()]);
        assert_eq!(at("2026-03-09T00:00:00Z"), [shell], "a schedule ends after a week");
    }
}
