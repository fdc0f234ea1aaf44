//! Selects the texts of a record that are indexed.
//!
//! Stateless: the same line always gives the same units and pieces, so that a hit's text can be read from the
//! transcript again and need not be stored.

use std::borrow::Cow;

use transcript::record::{Record, RecordKind};
use transcript::{Part, Role, is_command, message};

use crate::facts;
use crate::kind::ChunkKind;
use crate::unit::Unit;

/// The most texts of one record that are indexed; what has more is data.
const MOST_UNITS: usize = 10_000;

/// The indexed texts of a record, without secrets; `subagent` says that the record is in a sub-agent's file.
pub(crate) fn units<'a>(record: &Record<'a>, subagent: bool) -> Vec<Unit<'a>> {
    original_units(record, subagent).into_iter().map(Unit::redacted).collect()
}

/// The indexed texts of a record, secrets included.
pub(crate) fn original_units<'a>(record: &Record<'a>, subagent: bool) -> Vec<Unit<'a>> {
    let mut units = match record.kind() {
        RecordKind::Summary => title(record.summary()),
        RecordKind::CustomTitle => title(record.custom_title()),
        RecordKind::AiTitle => title(record.ai_title()),
        RecordKind::FileHistory => facts::backups(record),
        RecordKind::QueueOperation if record.operation() == Some("enqueue") => queued(record),
        _ => spoken(record, subagent),
    };
    units.retain(|unit| unit.path.as_ref().map_or(!unit.text.trim().is_empty(), |path| !path.is_empty()));
    for unit in units.iter_mut().filter(|unit| unit.kind.is_change()) {
        name_file(unit, record.cwd().as_deref());
    }
    units
}

/// The indexed parts of a record's texts, including the secrets that indexing removes; for measuring the redaction.
pub fn texts(record: &Record<'_>, subagent: bool) -> Vec<String> {
    let units = original_units(record, subagent);
    units.iter().map(|unit| unit.text[..unit.text.floor_char_boundary(unit.cap())].to_owned()).collect()
}

/// Puts the path, as seen from the working directory, before a change's text: its words are part of what is
/// remembered of it.
fn name_file(unit: &mut Unit<'_>, cwd: Option<&str>) {
    let path = unit.path.as_deref().unwrap_or("");
    let inside = cwd.and_then(|cwd| path.strip_prefix(cwd)).filter(|rest| rest.starts_with('/'));
    unit.text = Cow::Owned(format!("{}\n{}", inside.unwrap_or(path).trim_start_matches('/'), unit.text));
}

fn title(text: Option<Cow<'_, str>>) -> Vec<Unit<'_>> {
    text.into_iter().map(|text| Unit::new(ChunkKind::Title, text)).collect()
}

/// A prompt that waits: the person's words even when the turn never takes them up. What is taken up is written again as what
/// was said, except by releases before 2.1.100 in the middle of a turn.
fn queued<'a>(record: &Record<'a>) -> Vec<Unit<'a>> {
    let Some(text) = record.content() else { return Vec::new() };
    let said = transcript::speech(&text).map(|said| said.text.into_owned());
    said.into_iter().map(|text| Unit::new(ChunkKind::Queued, text)).collect()
}

fn spoken<'a>(record: &Record<'a>, subagent: bool) -> Vec<Unit<'a>> {
    let Some(message) = message(record) else { return Vec::new() };
    let subagent = subagent || message.sidechain;
    let mut units = Vec::new();
    for part in message.parts {
        if units.len() >= MOST_UNITS {
            break;
        }
        match part {
            // It is asked again and again; the call that made the schedule has it once.
            Part::Text(_) if record.is_scheduled_prompt() => {}
            Part::Text(text) => units.push(Unit::new(text_kind(message.role, record, &text, subagent), text)),
            Part::Thinking(text) => units.push(Unit::new(ChunkKind::Thinking, text)),
            Part::ToolUse { name, input, .. } => facts::add_tool_use(name, input, &mut units),
            Part::ToolResult { content, is_refused: true, .. } => facts::add_refusal(content, &mut units),
            Part::ToolResult { content, is_error, kept, .. } => {
                facts::add_tool_result(content, is_error, kept, &mut units);
            }
            Part::Image => {}
        }
    }
    units
}

fn text_kind(role: Role, record: &Record<'_>, text: &str, subagent: bool) -> ChunkKind {
    match role {
        Role::User if subagent => ChunkKind::AgentPrompt,
        Role::User if text.starts_with("! ") => ChunkKind::Command,
        Role::User if is_command(text) => ChunkKind::Slash,
        Role::User => ChunkKind::Prompt,
        Role::Assistant => ChunkKind::Answer,
        Role::Note if record.is_of_other_agent() => ChunkKind::AgentPrompt,
        Role::Note if record.is_compact_summary() => ChunkKind::Summary,
        Role::Note | Role::Tool => ChunkKind::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transcript::record::parse;

    fn check(line: &str, subagent: bool, expected: &[(ChunkKind, &str)]) {
        let record = parse(line.as_bytes()).unwrap();
        let units = units(&record, subagent);
        let found: Vec<_> = units.iter().map(|unit| (unit.kind, unit.text.as_ref())).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn what_of_a_record_is_indexed() {
        let prompt = r#"{"type":"user","message":{"content":"[openclaw:agent=main]\n\nFix it"}}"#;
        check(prompt, false, &[(ChunkKind::Prompt, "Fix it")]);
        check(prompt, true, &[(ChunkKind::AgentPrompt, "Fix it")]);
        check(
            r#"{"type":"user","message":{"content":"<bash-input>ls</bash-input>"}}"#,
            false,
            &[(ChunkKind::Command, "! ls")],
        );
        check(r#"{"type":"user","isMeta":true,"message":{"content":"x"}}"#, false, &[]);
        check(
            r#"{"type":"user","toolUseResult":"","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":""},{"type":"text","text":"and use pages"}]}}"#,
            false,
            &[(ChunkKind::Prompt, "and use pages")],
        );
        let scheduled = r#"{"type":"user","isMeta":true,"promptSource":"system","turnOrigin":"scheduled","message":{"content":"check it"}}"#;
        check(scheduled, false, &[]);
        let making = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"CronCreate","input":{"cron":"* * * * *","prompt":"check it"}}]}}"#;
        check(making, false, &[(ChunkKind::Delegation, "check it")]);
        check(r#"{"type":"custom-title","customTitle":"Tour"}"#, false, &[(ChunkKind::Title, "Tour")]);
        check(
            r#"{"type":"queue-operation","operation":"enqueue","content":"and then?"}"#,
            false,
            &[(ChunkKind::Queued, "and then?")],
        );
        check(r#"{"type":"queue-operation","operation":"remove","content":"and then?"}"#, false, &[]);
        check(
            r#"{"type":"attachment","attachment":{"type":"queued_command","prompt":"and then?"}}"#,
            false,
            &[(ChunkKind::Prompt, "and then?")],
        );
        check(
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"ok"}]}}"#,
            false,
            &[(ChunkKind::Thinking, "hm"), (ChunkKind::Answer, "ok")],
        );
        check(
            r#"{"type":"user","message":{"content":"<teammate-message teammate_id=\"ux\">It is done</teammate-message>"}}"#,
            false,
            &[(ChunkKind::AgentPrompt, "ux: It is done")],
        );
        check(
            r#"{"type":"user","isMeta":true,"origin":{"kind":"channel"},"message":{"content":"<channel source=\"x\" user=\"ana\">go</channel>"}}"#,
            false,
            &[(ChunkKind::Prompt, "go")],
        );
        check(
            r#"{"type":"user","isCompactSummary":true,"message":{"content":"so far"}}"#,
            false,
            &[(ChunkKind::Summary, "so far")],
        );
    }
}
