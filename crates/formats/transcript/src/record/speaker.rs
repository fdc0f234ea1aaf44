//! Who speaks in a record: the fields that say so decide, the elements around the words only where there are none.

use std::borrow::Cow;

use super::{Record, RecordKind, content};
use crate::elements::{ChannelMessage, agent_messages, channel_message};
use crate::json::Raw;
use crate::record::Block;

/// Who speaks in a `user` record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A person, at the prompt or over a channel.
    Person,
    /// Another agent: a teammate, a coordinator, another session.
    Agent,
    /// Claude Code, which asks a prompt on a schedule.
    Schedule,
    /// Claude Code, a hook, a skill, a notification.
    Program,
}

impl Speaker {
    /// The speaker that the field `origin` names.
    fn of_origin(kind: &str) -> Self {
        match kind {
            "human" | "channel" => Self::Person,
            "peer" | "coordinator" => Self::Agent,
            _ => Self::Program,
        }
    }
}

impl<'a> Record<'a> {
    /// Who speaks in a `user` record; results of tools aside.
    pub fn speaker(&self) -> Speaker {
        let fields = &self.fields;
        if fields.prompt_source.is("system") && fields.turn_origin.is("scheduled") {
            return Speaker::Schedule;
        }
        let is_outside = fields.compact_summary.is_true()
            || fields.transcript_only.is_true()
            || fields.source_tool_use.is_present()
            || fields.prompt_source.is("system");
        if is_outside {
            return Speaker::Program;
        }
        match fields.origin.get("kind").plain() {
            // What comes over a channel is always marked as not typed here.
            Some("channel") => self.by_channel(),
            None if fields.meta.is_true() && self.first_text().is_some_and(|text| is_channel(&text)) => {
                self.by_channel()
            }
            Some("human") | None if fields.meta.is_true() => Speaker::Program,
            Some(kind) => Speaker::of_origin(kind),
            None if self.is_of_agents() => Speaker::Agent,
            None => Speaker::Person,
        }
    }

    fn by_channel(&self) -> Speaker {
        let text = self.first_text().unwrap_or_default();
        let is_persons = channel_message(text.trim()).is_none_or(|message| message.is_persons());
        if is_persons { Speaker::Person } else { Speaker::Program }
    }

    /// Whether its words are what agents say to each other.
    fn is_of_agents(&self) -> bool {
        !self.has_tool_result()
            && self.first_text().is_some_and(|text| agent_messages(&text).next().is_some())
    }

    fn first_text(&self) -> Option<Cow<'a, str>> {
        self.fields.message?.each_block().find_map(|block| match block {
            Block::Text(text) => Some(text),
            _ => None,
        })
    }

    /// The person who wrote over a channel, and the channel, in words.
    pub fn channel_sender(&self) -> Option<String> {
        let text = self.first_text().filter(|text| self.kind == RecordKind::User && is_channel(text))?;
        channel_message(text.trim()).filter(ChannelMessage::is_persons).map(|message| message.sender())
    }

    /// The agent of a team whose session this is, and the team; a lead has no name.
    pub fn team(&self) -> Option<(&'a str, Option<&'a str>)> {
        let team = self.fields.team.plain().filter(|team| !team.is_empty())?;
        Some((team, self.fields.agent_name.plain().filter(|name| !name.is_empty())))
    }

    /// Whether a user record can be a person's: not written by the CLI, a skill, a tool or a notification.
    pub fn may_be_human(&self) -> bool {
        self.may_hold_words() && !self.has_tool_result()
    }

    /// The same, with results of tools: from 2.1.19 to 2.1.37 what was typed while a tool ran is a text behind its result.
    pub(crate) fn may_hold_words(&self) -> bool {
        self.kind == RecordKind::User && self.speaker() == Speaker::Person
    }

    /// Whether the record is a prompt that Claude Code asked on a schedule.
    pub fn is_scheduled_prompt(&self) -> bool {
        self.kind == RecordKind::User && self.speaker() == Speaker::Schedule
    }

    /// Whether the record is what another agent said to this one.
    pub fn is_of_other_agent(&self) -> bool {
        self.kind == RecordKind::User && self.speaker() == Speaker::Agent
    }

    /// The text that was attached to a running turn, whoever wrote it.
    pub(crate) fn queued_text(&self) -> Option<Cow<'a, str>> {
        let is_one =
            self.kind == RecordKind::Attachment && self.fields.attachment.get("type").is("queued_command");
        let prompt = self.fields.attachment.get("prompt");
        is_one.then(|| prompt.text().or_else(|| content::first_text(prompt))).flatten()
    }

    /// The prompt a person typed while a turn was running, which was added to it without a user record.
    pub fn queued_prompt(&self) -> Option<Cow<'a, str>> {
        let attachment = self.fields.attachment;
        let by_other = |origin: Raw<'_>| {
            origin.get("kind").plain().is_some_and(|kind| Speaker::of_origin(kind) != Speaker::Person)
        };
        let is_persons =
            !attachment.get("commandMode").is("task-notification") && !by_other(attachment.get("origin"));
        is_persons.then(|| self.queued_text()).flatten()
    }
}

fn is_channel(text: &str) -> bool {
    text.trim_start().starts_with("<channel ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    const CHAT: &str = r#"<channel source=\"telegram\" user=\"ana\">go</channel>"#;
    const EVENT: &str = r#"<channel source=\"webhook\">built</channel>"#;
    const TEAM: &str = r#"<teammate-message teammate_id=\"lead\">go</teammate-message>"#;

    /// Every combination of the fields that say who speaks, with each kind of text: fields decide before text, no
    /// words of a person become a machine's, and none of a machine become a person's.
    #[test]
    fn fields_decide_before_elements() {
        let speaker = |fields: &str, text: &str| {
            let line = format!(r#"{{"type":"user",{fields}"message":{{"content":"{text}"}}}}"#);
            parse(line.as_bytes()).unwrap().speaker()
        };
        let origin = |kind: &str| format!(r#""origin":{{"kind":"{kind}"}},"#);
        let meta = r#""isMeta":true,"#;
        for text in ["Do it", CHAT, TEAM, EVENT] {
            for kind in [
                "task-notification",
                "observer",
                "auto-continuation",
                "voice-call",
                "slack-ping",
                "something-new",
            ] {
                assert_eq!(speaker(&origin(kind), text), Speaker::Program, "{kind} {text}");
            }
            for kind in ["peer", "coordinator"] {
                assert_eq!(speaker(&origin(kind), text), Speaker::Agent, "{kind} {text}");
            }
            let scheduled = r#""isMeta":true,"promptSource":"system","turnOrigin":"scheduled","#;
            assert_eq!(speaker(scheduled, text), Speaker::Schedule, "{text}");
            for fields in
                [r#""isCompactSummary":true,"#, r#""sourceToolUseID":"t","#, r#""promptSource":"system","#]
            {
                assert_eq!(speaker(fields, text), Speaker::Program, "{fields} {text}");
            }
        }
        let channel = origin("channel") + meta;
        let table: [(&str, &str, Speaker); 12] = [
            ("", "Do it", Speaker::Person),
            (&origin("human"), "Do it", Speaker::Person),
            (&(origin("human") + meta), "Do it", Speaker::Program),
            (meta, "Do it", Speaker::Program),
            (meta, CHAT, Speaker::Person),
            (meta, EVENT, Speaker::Program),
            (meta, TEAM, Speaker::Program),
            (&channel, CHAT, Speaker::Person),
            (&channel, "Do it", Speaker::Person),
            (&channel, EVENT, Speaker::Program),
            ("", TEAM, Speaker::Agent),
            (r#""teamName":"t","agentName":"writer","#, "Do it", Speaker::Person),
        ];
        for (fields, text, expected) in table {
            assert_eq!(speaker(fields, text), expected, "{fields} {text}");
        }
    }

    #[test]
    fn what_was_queued_is_a_persons_unless_its_origin_says_otherwise() {
        let prompt = |more: &str| {
            let line = format!(
                r#"{{"type":"attachment","attachment":{{"type":"queued_command","prompt":"go"{more}}}}}"#
            );
            parse(line.as_bytes()).unwrap().queued_prompt().map(Cow::into_owned)
        };
        for said in [
            "",
            r#","commandMode":"prompt""#,
            r#","origin":{"kind":"human"}"#,
            r#","origin":{"kind":"channel"}"#,
        ] {
            assert_eq!(prompt(said).as_deref(), Some("go"), "{said}");
        }
        for said in [r#","commandMode":"task-notification""#, r#","origin":{"kind":"peer"}"#] {
            assert_eq!(prompt(said), None, "{said}");
        }
    }
}
