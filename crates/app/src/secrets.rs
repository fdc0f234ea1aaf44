//! What leaves Backstory holds no secrets: keys, tokens and passwords give way to `[redacted:kind]`, unless
//! the person asks for them on their own terminal.

use std::borrow::Cow;

use model::{Origin, Session};

use crate::App;

/// Whether answers hold secrets as they were said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Secrets {
    /// `[redacted:kind]` stands in their place.
    #[default]
    Redacted,
    /// They are shown. Only for the eyes of the person at the terminal.
    Shown,
}

impl Secrets {
    /// A text as it may leave.
    pub(crate) fn told(self, text: Cow<'_, str>) -> String {
        match self {
            Self::Shown => text.into_owned(),
            Self::Redacted => redact::redacted(text).into_owned(),
        }
    }

    /// The beginning of a longer text as it may leave: a secret may be cut off at its end.
    pub(crate) fn told_beginning(self, text: String) -> String {
        match self {
            Self::Shown => text,
            Self::Redacted => match redact::redact_beginning(&text) {
                Cow::Owned(redacted) => redacted,
                Cow::Borrowed(_) => text,
            },
        }
    }
}

impl App {
    /// A session as it may leave. Its texts are the beginnings of longer ones: a secret may be cut off.
    pub(crate) fn told_session(&self, session: &mut Session) {
        if self.secrets == Secrets::Shown {
            return;
        }
        let label = match &mut session.origin {
            Origin::OpenClaw { label, .. } => label.as_mut(),
            Origin::Native | Origin::Archived => None,
        };
        let texts = [&mut session.title, &mut session.first_message, &mut session.last_prompt];
        let more = [&mut session.last_task, &mut session.origin_marker];
        let detail = session.activity.as_mut().and_then(|activity| activity.detail.as_mut());
        let agents = session.subagents.iter_mut().filter_map(|agent| agent.description.as_mut());
        let all = texts.into_iter().chain(more).flatten().chain(label).chain(detail).chain(agents);
        for text in all {
            if let Cow::Owned(redacted) = redact::redact_beginning(text) {
                *text = redacted;
            }
        }
    }
}
