//! Answers hold no secrets: keys, tokens and passwords are replaced by `[redacted:kind]`, unless
//! the person asks to see them on their own terminal.

use std::borrow::Cow;

use model::{Activity, BackgroundJob, Origin, Session, SessionEvent, SessionInfo, SubagentEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use system::in_parallel;

use crate::{Context, Error, Kind};

/// No shorter text holds a name and a secret, in bytes; most branches and versions are.
const SHORTEST: usize = 8;
/// How far beyond a cut a text is searched for secrets, in bytes.
const LONGEST_SECRET: usize = 16 << 10;
/// How many sessions a thread takes at a time.
const AT_A_TIME: usize = 256;

/// Whether secrets in answers are redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Secrets {
    /// `[redacted:kind]` replaces them.
    #[default]
    Redacted,
    /// They are shown. Only for the eyes of the person at the terminal.
    Shown,
}

impl Secrets {
    /// A text as it may leave.
    pub(crate) fn shown(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Shown => Cow::Borrowed(text),
            Self::Redacted => redact::redact(text),
        }
    }

    /// Redacts a text.
    pub fn redacted(self, text: Cow<'_, str>) -> String {
        match self {
            Self::Shown => text.into_owned(),
            Self::Redacted => redact::redacted(text).into_owned(),
        }
    }

    /// Redacts a text that may be JSON, in its decoded strings.
    pub(crate) fn redacted_json(self, text: &str) -> String {
        match self {
            Self::Shown => text.to_owned(),
            Self::Redacted => redact::redact_json(text).0.into_owned(),
        }
    }

    /// The beginning of a text, at most so many characters and a sign that more follows. It is redacted before it is cut.
    pub(crate) fn beginning(self, text: &str, longest: usize) -> String {
        // A character has at most four bytes.
        let searched = &text[..text.floor_char_boundary(4 * longest + LONGEST_SECRET)];
        let shown = match self {
            Self::Shown => Cow::Borrowed(searched),
            Self::Redacted if searched.len() < text.len() => redact::redact_beginning(searched),
            Self::Redacted => redact::redact(searched),
        };
        match shown.char_indices().nth(longest) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown.into_owned(),
        }
    }

    /// Redacts the beginning of a longer text, where a secret may be cut off at the end.
    pub(crate) fn redacted_beginning(self, text: String) -> String {
        match self {
            Self::Shown => text,
            Self::Redacted => match redact::redact_beginning(&text) {
                Cow::Owned(redacted) => redacted,
                Cow::Borrowed(_) => text,
            },
        }
    }
}

impl Secrets {
    /// Redacts the facts of a watched session.
    pub(crate) fn redact_info(self, info: &mut SessionInfo) {
        self.redact(&mut info.title);
        self.redact_activity(&mut info.activity);
        if let Some(job) = &mut info.background_job {
            self.redact_job(job);
        }
        self.redact(&mut info.branch);
        self.redact(&mut info.model);
        for agent in &mut info.subagents {
            self.redact_agent(agent);
        }
    }

    /// Redacts an activity.
    pub(crate) fn redact_activity(self, activity: &mut Activity) {
        self.redact(&mut activity.detail);
        self.redact(&mut activity.tool);
        activity.asking = activity.asking.take().map(|asking| self.redacted_beginning(asking));
    }

    /// Redacts a background job.
    pub(crate) fn redact_job(self, job: &mut BackgroundJob) {
        self.redact(&mut job.name);
        self.redact(&mut job.needs);
        self.redact(&mut job.detail);
    }

    /// Redacts an event.
    pub(crate) fn redact_event(self, event: &mut SessionEvent) {
        match event {
            SessionEvent::SessionsRefresh { sessions } => {
                for info in sessions {
                    self.redact_info(info);
                }
            }
            SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => self.redact_info(info),
            SessionEvent::SessionActivity(activity) => {
                self.redact(&mut activity.tool_name);
                self.redact(&mut activity.tool_input);
                self.redact(&mut activity.detail);
                activity.asking = activity.asking.take().map(|asking| self.redacted_beginning(asking));
            }
            SessionEvent::SessionEvent(moment) => {
                self.redact(&mut moment.tool_name);
                self.redact(&mut moment.detail);
            }
            SessionEvent::SubagentSpawned(agent)
            | SessionEvent::SubagentProgress(agent)
            | SessionEvent::SubagentCompleted(agent) => self.redact_agent(agent),
            SessionEvent::Announcement(event) => {
                event.message = self.redacted(std::mem::take(&mut event.message).into());
            }
            SessionEvent::SessionRemoved { .. }
            | SessionEvent::SessionsChanged { .. }
            | SessionEvent::Resync { .. }
            | SessionEvent::Watching(_) => {}
        }
    }

    fn redact_agent(self, agent: &mut SubagentEvent) {
        agent.description = self.redacted_beginning(std::mem::take(&mut agent.description));
        self.redact(&mut agent.subagent_type);
        self.redact(&mut agent.tool_name);
    }

    fn redact(self, text: &mut Option<String>) {
        *text = text.take().map(|text| self.redacted_beginning(text));
    }
}

impl Context {
    /// A value with all texts and names redacted; fails if it cannot be serialized.
    pub(crate) fn redacted<T: Serialize + DeserializeOwned + Clone>(&self, value: &T) -> Result<T, Error> {
        if self.secrets == Secrets::Shown {
            return Ok(value.clone());
        }
        let json = serde_json::to_value(value).map(|json| self.redacted_json(json));
        json.and_then(serde_json::from_value).map_err(|_| {
            // The error may quote the secret.
            Error::new(Kind::Internal, "a part of the answer cannot be searched for secrets and is left out")
        })
    }

    fn redacted_json(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.secrets.redacted(text.into())),
            Value::Array(all) => all.into_iter().map(|one| self.redacted_json(one)).collect(),
            Value::Object(all) => {
                let redacted = |(name, one): (String, Value)| {
                    (self.secrets.redacted(name.into()), self.redacted_json(one))
                };
                all.into_iter().map(redacted).collect()
            }
            other => other,
        }
    }

    /// Redacts sessions, which may be thousands.
    pub(crate) fn redact_sessions(&self, sessions: &mut [Session]) {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        in_parallel(threads, sessions.chunks_mut(AT_A_TIME), |part| {
            for session in part {
                self.redact_session(session);
            }
        });
    }

    /// Redacts a session. Its texts are the beginnings of longer ones, where a secret may be cut off.
    pub(crate) fn redact_session(&self, session: &mut Session) {
        if self.secrets == Secrets::Shown {
            return;
        }
        if let Some(job) = &mut session.background_job {
            self.secrets.redact_job(job);
        }
        let label = match &mut session.origin {
            Origin::OpenClaw { label, .. } => label.as_mut(),
            Origin::Native | Origin::Archived | Origin::Ghost => None,
        };
        let texts = [
            &mut session.title,
            &mut session.custom_title,
            &mut session.first_message,
            &mut session.last_prompt,
        ];
        let more = [&mut session.last_task, &mut session.origin_marker];
        let names =
            [&mut session.branch, &mut session.project, &mut session.nickname, &mut session.permission_mode];
        let makes = [&mut session.version, &mut session.entrypoint];
        let activity = session.activity.as_mut();
        let activity = activity
            .into_iter()
            .flat_map(|activity| [&mut activity.detail, &mut activity.tool, &mut activity.asking])
            .flatten();
        let agents = session.subagents.iter_mut();
        let agents = agents.flat_map(|agent| [&mut agent.description, &mut agent.agent_type]).flatten();
        let texts = texts.into_iter().chain(more).chain(names).chain(makes).flatten();
        for text in texts.filter(|text| text.len() >= SHORTEST) {
            if let Cow::Owned(redacted) = redact::redact_beginning(text) {
                *text = redacted.into();
            }
        }
        let annotations = session.annotations.as_deref_mut().into_iter();
        let annotations = annotations.flat_map(|annotations| {
            annotations.name.iter_mut().chain(&mut annotations.note).chain(&mut annotations.tags)
        });
        let armed = session.resumption.armed.iter_mut().map(|work| &mut work.what);
        for text in label.into_iter().chain(armed).chain(activity).chain(agents).chain(annotations) {
            if let Cow::Owned(redacted) = redact::redact_beginning(text) {
                *text = redacted;
            }
        }
        // Their order must not tell what a secret begins with.
        if let Some(annotations) = session.annotations.as_deref_mut() {
            annotations.tags.sort_by_key(|tag| tag.to_lowercase());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, testing};

    /// Made up, and put together here so that nobody takes it for one.
    fn secret() -> String {
        format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi")
    }

    #[test]
    fn sub_agent_names_are_redacted() {
        let agent = SubagentEvent {
            session_id: "s1".parse().unwrap(),
            task_id: "t1".to_owned(),
            subagent_id: None,
            parent_task_id: None,
            description: format!("use {}", secret()),
            subagent_type: Some(secret()),
            background: false,
            tool_name: Some(secret()),
            since: None,
        };
        let mut event = SessionEvent::SubagentSpawned(agent);
        Secrets::Redacted.redact_event(&mut event);
        let json = serde_json::to_string(&event).unwrap();
        assert!(
            !json.contains(&secret()[4..]) && json.matches("[redacted:github-token]").count() == 3,
            "{json}"
        );
    }

    #[test]
    fn repository_names_are_redacted() {
        let mut session = testing::session("s1");
        session.project = Some(secret().into());
        testing::context(Config::default()).redact_session(&mut session);
        assert_eq!(session.project.as_deref(), Some("[redacted:github-token]"));
    }

    #[test]
    fn names_in_a_json_value_are_redacted() {
        let context = testing::context(Config::default());
        let value = serde_json::json!({ secret(): { secret(): [secret()] } });
        let leaving = context.redacted(&value).unwrap();
        let hidden = "[redacted:github-token]";
        assert_eq!(leaving, serde_json::json!({ hidden: { hidden: [hidden] } }));
    }

    #[test]
    fn values_that_cannot_be_redacted_are_refused() {
        let context = testing::context(Config::default());
        // JSON has texts as names alone.
        let value = std::collections::BTreeMap::from([((1, 2), secret())]);
        assert_eq!(context.redacted(&value).unwrap_err().kind, Kind::Internal);
    }
}
