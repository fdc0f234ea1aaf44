//! What a session left armed: scheduled prompts, wake-ups, and background commands whose end it did not learn.
//!
//! The rules are those by which Claude Code itself continues such work when it resumes a session.

use jiff::{SignedDuration, Timestamp};
use model::{ArmedKind, ArmedWork};
use serde::{Deserialize, Serialize};

use crate::json::Raw;
use crate::moment::moment;
use crate::record::{Block, Record, RecordKind};
use crate::text::preview;

/// After how long Claude Code drops a recurring prompt whose result names no other time.
pub(crate) const RECURRING: SignedDuration = SignedDuration::from_hours(7 * 24);
/// The most calls without a result, and the most things left armed, that are kept.
const MOST: usize = 32;
/// The attachment with which Claude Code carries its prompts into a compacted or later part of a transcript.
const CARRY: &str = "session_cron_carry";
/// What the id of a wake-up is here: there is only one at a time, and its result names none.
const WAKE_UP: &str = "wake-up";
/// The task id in a notification about all commands that an earlier process left.
const ALL_COMMANDS: &str = "__orphan_summary__:shell";

/// Tracks what a session arms and what of it ends, record by record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArmedTracker {
    /// Calls whose results have not come, by the ids of the calls.
    calls: Vec<(String, ArmedWork)>,
    /// What is armed, by its id.
    armed: Vec<(String, ArmedWork)>,
}

impl ArmedTracker {
    /// What is armed, in the order it was armed.
    pub(crate) fn armed(&self) -> Vec<ArmedWork> {
        let mut armed: Vec<ArmedWork> = self.armed.iter().map(|(_, work)| work.clone()).collect();
        armed.sort_by_key(|work| work.line);
        armed
    }

    /// Takes in the record on a line of the main conversation, with the names of the tools it calls.
    pub(crate) fn observe(&mut self, record: &Record<'_>, tools: &[&str], line: u64) {
        match record.kind() {
            RecordKind::Assistant if tools.iter().any(|tool| may_arm(tool)) => {
                self.observe_calls(record, line);
            }
            RecordKind::User => self.observe_user(record),
            RecordKind::Attachment if record.subtype_word() == CARRY => self.observe_carry(record, line),
            RecordKind::Attachment if !self.armed.is_empty() => {
                self.observe_notice(&record.queued_prompt().unwrap_or_default());
            }
            RecordKind::System if !self.armed.is_empty() => match record.fired_task() {
                Some((_, "loop")) => self.disarm(WAKE_UP),
                // A recurring prompt comes again; one for once that was carried on has no time of its own.
                Some((id, _)) => self.armed.retain(|(known, work)| *known != id || work.until.is_some()),
                None => {}
            },
            _ => {}
        }
    }

    fn observe_calls(&mut self, record: &Record<'_>, line: u64) {
        let Some(message) = record.message() else { return };
        for block in message.each_block() {
            let Block::ToolUse { id, name, input } = block else { continue };
            match name {
                "CronDelete" | "KillShell" | "KillBash" | "TaskStop" => {
                    let ids = ["id", "task_id", "shell_id", "bash_id"];
                    for id in ids.iter().filter_map(|key| input.get(key).text()) {
                        self.disarm(&id);
                    }
                }
                "ScheduleWakeup" if input.get("stop").is_true() => self.disarm(WAKE_UP),
                _ => {
                    if let Some(work) = work_of_call(name, input) {
                        push(&mut self.calls, id, ArmedWork { at: record.timestamp(), line, ..work });
                    }
                }
            }
        }
    }

    fn observe_user(&mut self, record: &Record<'_>) {
        if self.calls.is_empty() && self.armed.is_empty() {
            return;
        }
        let Some(message) = record.message() else { return };
        for block in message.each_block() {
            match block {
                Block::ToolResult { id, is_error, .. } => {
                    let Some(at) = self.calls.iter().position(|(call, _)| call == id) else { continue };
                    let (_, work) = self.calls.remove(at);
                    if !is_error {
                        self.arm(work, record.tool_use_result());
                    }
                }
                Block::Text(text) => self.observe_notice(&text),
                _ => {}
            }
        }
        if record.tool_use_result().get("endedLoopWakeup").is_true() {
            self.disarm(WAKE_UP);
        }
    }

    /// Arms what a call was about, if its result says that it is armed.
    fn arm(&mut self, work: ArmedWork, result: Raw<'_>) {
        let id = match work.kind {
            // A durable prompt is the directory's, not the session's.
            ArmedKind::Cron | ArmedKind::DirectoryCron if result.get("durable").is_true() => None,
            ArmedKind::Cron | ArmedKind::DirectoryCron => result.get("id").text(),
            ArmedKind::Shell => result.get("backgroundTaskId").text(),
            ArmedKind::Monitor => result.get("taskId").text(),
            // One that was refused has no time.
            ArmedKind::WakeUp => moment(result.get("scheduledFor")).map(|_| WAKE_UP.into()),
        };
        let Some(id) = id else { return };
        let until = match work.kind {
            ArmedKind::Cron if result.get("recurring").json() == "false" => moment(result.get("nextFireAt")),
            ArmedKind::Cron => ends(work.at, result.get("maxAgeMs")),
            ArmedKind::WakeUp => moment(result.get("scheduledFor")),
            ArmedKind::Shell | ArmedKind::Monitor | ArmedKind::DirectoryCron => None,
        };
        self.disarm(&id);
        push(&mut self.armed, &id, ArmedWork { until, ..work });
    }

    /// Prompts that Claude Code carries on, and those that ended with it: `/exit` ends them all.
    fn observe_carry(&mut self, record: &Record<'_>, line: u64) {
        let carry = record.attachment();
        for task in carry.get("tasks").elements() {
            let Some(id) = task.get("id").text() else { continue };
            if self.armed.iter().any(|(known, _)| *known == id) {
                continue;
            }
            let at = moment(task.get("createdAt"));
            let Some(work) = work_of_call("CronCreate", task) else { continue };
            let until =
                if task.get("recurring").json() == "false" { None } else { ends(at, task.get("maxAgeMs")) };
            push(&mut self.armed, &id, ArmedWork { at, until, line, ..work });
        }
        for ended in carry.get("ended").elements().filter_map(Raw::text) {
            let is_known = self.armed.iter().any(|(known, _)| *known == ended);
            // The id of a wake-up is nowhere else.
            self.disarm(if is_known { &ended } else { WAKE_UP });
        }
    }

    /// A notification to the model that tasks in the background have ended.
    fn observe_notice(&mut self, text: &str) {
        const OPEN: &str = "<task-id>";
        if self.armed.is_empty() || !text.contains("<task-notification>") {
            return;
        }
        let ids = text.split(OPEN).skip(1).filter_map(|rest| rest.split_once("</task-id>"));
        for (id, _) in ids {
            if id == ALL_COMMANDS {
                self.armed.retain(|(_, work)| work.kind.fires());
            }
            self.disarm(id);
        }
    }

    fn disarm(&mut self, id: &str) {
        self.armed.retain(|(known, _)| known != id);
    }
}

/// Adds to a list; the oldest goes where it is full.
fn push(list: &mut Vec<(String, ArmedWork)>, id: &str, work: ArmedWork) {
    if list.len() >= MOST {
        list.remove(0);
    }
    list.push((id.to_owned(), work));
}

/// When a recurring prompt ends.
fn ends(at: Option<Timestamp>, max_age_ms: Raw<'_>) -> Option<Timestamp> {
    let lasts = max_age_ms.count().and_then(|age| i64::try_from(age).ok());
    at?.checked_add(lasts.map_or(RECURRING, SignedDuration::from_millis)).ok()
}

/// Whether a tool arms something or ends it.
fn may_arm(tool: &str) -> bool {
    matches!(
        tool,
        "Bash"
            | "PowerShell"
            | "CronCreate"
            | "CronDelete"
            | "ScheduleWakeup"
            | "Monitor"
            | "KillShell"
            | "KillBash"
            | "TaskStop"
    )
}

/// What a call would arm. A command may be moved to the background after it starts, so every command counts.
fn work_of_call(tool: &str, input: Raw<'_>) -> Option<ArmedWork> {
    let text = |key: &str| input.get(key).text().map(|text| preview(&text)).unwrap_or_default();
    let work = |kind, what, schedule| ArmedWork { kind, what, schedule, at: None, until: None, line: 0 };
    match tool {
        "CronCreate" => Some(work(ArmedKind::Cron, text("prompt"), Some(text("cron")))),
        "ScheduleWakeup" => Some(work(ArmedKind::WakeUp, text("prompt"), None)),
        "Monitor" => Some(work(ArmedKind::Monitor, text("command"), None)),
        "Bash" | "PowerShell" => Some(work(ArmedKind::Shell, text("command"), None)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    /// What is armed after these lines, at a moment.
    fn armed(lines: &[String], now: &str) -> Vec<(ArmedKind, String, u64)> {
        let mut tracker = ArmedTracker::default();
        for (number, line) in (1..).zip(lines) {
            let record = parse(line.as_bytes()).unwrap();
            tracker.observe(&record, &record.glance().tools, number);
        }
        let bytes = serde_json::to_vec(&tracker).unwrap();
        assert_eq!(serde_json::from_slice::<ArmedTracker>(&bytes).unwrap(), tracker);
        let now = now.parse().unwrap();
        let armed = tracker.armed().into_iter().filter(|work| work.is_armed(now));
        armed.map(|work| (work.kind, work.what, work.line)).collect()
    }

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

    fn notice(ids: &[&str]) -> String {
        let ids = ids.iter().map(|id| format!("<task-id>{id}</task-id>")).collect::<Vec<_>>().concat();
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":"<task-notification>{ids}</task-notification>"}}}}"#
        )
    }

    fn cron() -> (ArmedKind, String, u64) {
        (ArmedKind::Cron, "check the deploy".to_owned(), 1)
    }

    #[test]
    fn ended_work_is_not_armed() {
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
            notice(&["b2"]),
            call("6", "Bash", r#"{"command":"ls"}"#),
            result("6", r#"{"stdout":""}"#),
        ];
        let shell = (ArmedKind::Shell, "npm run dev".to_owned(), 6);
        assert_eq!(armed(&lines, "2026-03-02T00:00:00Z"), [cron(), shell.clone()]);
        assert_eq!(armed(&lines, "2026-03-09T00:00:00Z"), [shell], "a schedule ends after a week");
    }

    #[test]
    fn a_result_says_until_when_a_prompt_is_armed() {
        let lines = [
            call("1", "CronCreate", r#"{"cron":"*/5 * * * *","prompt":"check the deploy"}"#),
            result("1", r#"{"id":"c1","recurring":true,"durable":false,"maxAgeMs":2592000000}"#),
            call("2", "CronCreate", r#"{"cron":"0 9 2 3 *","prompt":"once","recurring":false}"#),
            result("2", r#"{"id":"c2","recurring":false,"nextFireAt":1772442000000.5}"#),
            call("3", "ScheduleWakeup", r#"{"delaySeconds":600,"prompt":"/loop go on","reason":"wait"}"#),
            result("3", r#"{"scheduledFor":1772360400000,"wasClamped":false}"#),
        ];
        let once = (ArmedKind::Cron, "once".to_owned(), 3);
        let wake_up = (ArmedKind::WakeUp, "/loop go on".to_owned(), 5);
        assert_eq!(armed(&lines, "2026-03-01T10:01:00Z"), [cron(), once.clone(), wake_up]);
        assert_eq!(armed(&lines, "2026-03-01T11:00:00Z"), [cron(), once], "its time has passed");
        assert_eq!(armed(&lines, "2026-03-20T00:00:00Z"), [cron()]);
        assert_eq!(armed(&lines, "2026-04-01T00:00:00Z"), []);
    }

    #[test]
    fn a_durable_prompt_is_the_directorys() {
        let lines = [
            call("1", "CronCreate", r#"{"cron":"*/5 * * * *","prompt":"check the deploy","durable":true}"#),
            result("1", r#"{"id":"c1","recurring":true,"durable":true}"#),
            call("2", "CronCreate", r#"{"cron":"0 9 * * *","prompt":"report","durable":true}"#),
            result("2", r#"{"id":"c2","recurring":true,"durable":false}"#),
        ];
        let kept = (ArmedKind::Cron, "report".to_owned(), 3);
        assert_eq!(armed(&lines, "2026-03-02T00:00:00Z"), [kept], "it could not be saved");
    }

    #[test]
    fn commands_end_with_the_process_that_ran_them() {
        let lines = [
            call("1", "CronCreate", r#"{"cron":"*/5 * * * *","prompt":"check the deploy"}"#),
            result("1", r#"{"id":"c1"}"#),
            call("2", "Bash", r#"{"command":"cargo test"}"#),
            result("2", r#"{"stdout":"","backgroundTaskId":"b1"}"#),
            call("3", "Monitor", r#"{"command":"tail -f log","description":"errors"}"#),
            result("3", r#"{"taskId":"b2","timeoutMs":300000}"#),
        ];
        let moved = (ArmedKind::Shell, "cargo test".to_owned(), 3);
        let monitor = (ArmedKind::Monitor, "tail -f log".to_owned(), 5);
        assert_eq!(armed(&lines, "2026-03-01T11:00:00Z"), [cron(), moved, monitor]);
        let orphaned = [lines.as_slice(), &[notice(&["__orphan_summary__:shell"])]].concat();
        assert_eq!(armed(&orphaned, "2026-03-01T11:00:00Z"), [cron()]);
    }

    #[test]
    fn leaving_ends_prompts_and_the_loop() {
        let mut lines = vec![
            call("1", "CronCreate", r#"{"cron":"*/5 * * * *","prompt":"check the deploy"}"#),
            result("1", r#"{"id":"c1"}"#),
            call("2", "ScheduleWakeup", r#"{"delaySeconds":600,"prompt":"/loop go on"}"#),
            result("2", r#"{"scheduledFor":1772360400000}"#),
        ];
        let wake_up = (ArmedKind::WakeUp, "/loop go on".to_owned(), 3);
        let soon = "2026-03-01T10:01:00Z";
        assert_eq!(armed(&lines, soon), [cron(), wake_up]);
        let stopped = [lines.as_slice(), &[call("3", "ScheduleWakeup", r#"{"stop":true}"#)]].concat();
        assert_eq!(armed(&stopped, soon), [cron()]);
        let fired = r#"{"type":"system","subtype":"scheduled_task_fire","taskKind":"loop","content":"x"}"#;
        assert_eq!(armed(&[lines.as_slice(), &[fired.to_owned()]].concat(), soon), [cron()]);
        let carried = r#"{"type":"attachment","attachment":{"type":"session_cron_carry","tasks":[{"id":"c1","cron":"*/5 * * * *","prompt":"check the deploy","createdAt":1772359200000,"recurring":true}]}}"#;
        lines.push(carried.to_owned());
        assert_eq!(armed(&lines[4..], soon), [cron()], "carried into a later part of the transcript");
        lines.push(carried.replace("]}}", r#"],"ended":["c1","w9"]}}"#));
        assert_eq!(armed(&lines, soon), []);
    }
}
