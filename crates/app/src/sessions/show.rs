//! `show`: one session as a conversation, message by message, never held in memory as a whole.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{Session, Subagent};
use openclaw::TranscriptEntry;
use serde::Serialize;
use transcript::record::{parse, result_text};
use transcript::{Chain, Message, Part, Raw, Reader, message};

use crate::sessions::{activity, openclaw_conversation, resolve, totals};
use crate::workers::reports;
use crate::{Context, Error, Kind, NextStep, Secrets};

/// How many messages stand before and after the one asked for.
const AROUND: usize = 5;
/// The longest piece of a tool's work that is shown, in characters.
const TOOL_LENGTH: usize = 4000;

/// What to show.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub struct Request {
    /// The session's id, or a beginning of it.
    pub session: String,
    /// Also what tools did.
    pub tools: bool,
    /// Also thoughts.
    pub thinking: bool,
    /// Also what sub-agents said.
    pub subagents: bool,
    /// Also branches that were left.
    pub all_branches: bool,
    /// Only the messages around the record with this id.
    pub around: Option<String>,
}

/// A session whose messages can be gone through.
#[derive(Debug)]
pub struct Conversation {
    /// The session.
    pub session: Session,
    request: Request,
    files: Files,
    secrets: Secrets,
}

/// Where the words of a conversation stand.
#[derive(Debug)]
enum Files {
    /// In a transcript of Claude Code's.
    Claude(PathBuf),
    /// In transcripts of OpenClaw's.
    OpenClaw(Vec<PathBuf>),
}

/// One message as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// `user`, `assistant`, `tool` or `note`.
    pub role: &'static str,
    /// The sub-agent that speaks.
    pub subagent: Option<String>,
    /// The record's id.
    pub uuid: Option<String>,
    /// When it was made.
    pub at: Option<Timestamp>,
    /// What is said and done.
    pub parts: Vec<Piece>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Piece {
    /// Words.
    Text {
        /// The words; Markdown, mostly.
        text: String,
    },
    /// Thoughts.
    Thinking {
        /// The thoughts.
        text: String,
    },
    /// A tool is called.
    ToolUse {
        /// The tool.
        name: String,
        /// The command, path or question it is called with, else its whole input.
        input: String,
    },
    /// A tool has answered.
    ToolResult {
        /// The beginning of its answer.
        text: String,
        /// Whether it failed.
        is_error: bool,
    },
    /// A picture.
    Image,
}

/// Opens the session, or the conversation of OpenClaw's, that a person names.
pub fn show(context: &Context, request: Request) -> Result<Conversation, Error> {
    let catalog = totals::with_totals(context)?;
    let found =
        resolve::resolve(catalog.sessions.iter().map(|entry| &*entry.session), &request.session).cloned();
    let mut session = match found {
        Ok(session) => session,
        Err(error) if error.kind == Kind::NotFound => {
            let Some((session, files)) = openclaw_conversation::find(context, &request.session)? else {
                return Err(error);
            };
            let files = Files::OpenClaw(files);
            return Ok(Conversation { session, request, files, secrets: context.secrets });
        }
        Err(error) => return Err(error),
    };
    let Some(file) = session.file.as_deref().map(ToOwned::to_owned) else {
        let message = format!("the transcript of session {} is gone; only OpenClaw still has it", session.id);
        return Err(Error::new(Kind::NotFound, message));
    };
    activity::enter(context, std::slice::from_mut(&mut session), reports::all(context));
    context.redact_session(&mut session);
    Ok(Conversation { session, request, files: Files::Claude(file), secrets: context.secrets })
}

impl Conversation {
    /// The words of a session that lies in `file`, without its secrets: what leaves this machine's terminal.
    pub(crate) fn redacted(session: Session, file: PathBuf) -> Self {
        Self { session, request: Request::default(), files: Files::Claude(file), secrets: Secrets::Redacted }
    }

    /// Hands over every message, in order; `take` may stop it with an error of its own. Tells how many messages of other
    /// branches of the conversation were left out.
    pub fn each<E>(&self, mut take: impl FnMut(Shown) -> Result<(), E>) -> Result<u64, E>
    where
        E: From<Error>,
    {
        match &self.request.around {
            Some(uuid) => self.around(uuid, take),
            None => self.all(&mut take),
        }
    }

    fn all<E: From<Error>>(&self, take: &mut impl FnMut(Shown) -> Result<(), E>) -> Result<u64, E> {
        let own = match &self.files {
            Files::Claude(file) => file,
            Files::OpenClaw(files) => {
                files.iter().try_for_each(|file| self.talk(file, take))?;
                return Ok(0);
            }
        };
        let left_out = self.file(own, None, take)?;
        if self.request.subagents {
            // Up to 2.0.0 their records stand in the session's own file.
            for agent in self.session.subagents.iter().filter(|agent| agent.file != *own) {
                self.file(&agent.file, Some(agent), take)?;
            }
        }
        Ok(left_out)
    }

    fn around<E: From<Error>>(
        &self,
        uuid: &str,
        mut take: impl FnMut(Shown) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut before = VecDeque::with_capacity(AROUND + 1);
        let mut left: Option<usize> = None;
        self.all(&mut |shown| {
            match &mut left {
                Some(0) => return Ok(()),
                Some(left) => {
                    *left -= 1;
                    return take(shown);
                }
                None => {}
            }
            let found = shown.uuid.as_deref().is_some_and(|known| known.starts_with(uuid));
            before.push_back(shown);
            if found {
                left = Some(AROUND);
                before.drain(..).try_for_each(&mut take)?;
            } else if before.len() > AROUND {
                before.pop_front();
            }
            Ok(())
        })?;
        if left.is_some() {
            // Most messages are left out, of whatever branch.
            return Ok(0);
        }
        let message = format!("session {} has no visible message with the id `{uuid}`", self.session.id);
        Err(Error::new(Kind::NotFound, message).next(NextStep::ShowEverything).into())
    }

    fn file<E: From<Error>>(
        &self,
        path: &Path,
        agent: Option<&Subagent>,
        take: &mut impl FnMut(Shown) -> Result<(), E>,
    ) -> Result<u64, E> {
        let failed = |error: io::Error| {
            E::from(Error::caused(Kind::Unavailable, format!("cannot read {}", path.display()), &error))
        };
        let chain = match agent {
            None if !self.request.all_branches => Some(Chain::read(path).map_err(failed)?),
            _ => None,
        };
        let mut left_out = 0;
        let mut reader = Reader::open(path).map_err(failed)?;
        while let Some(line) = reader.next_line().map_err(failed)? {
            let Ok(record) = parse(line.bytes) else { continue };
            let Some(message) = message(&record) else { continue };
            let aside = agent.is_none() && message.sidechain;
            if aside && !self.request.subagents {
                continue;
            }
            let Some(shown) = self.shown(&message, agent) else { continue };
            if aside || chain.as_ref().is_none_or(|chain| chain.holds(message.uuid)) {
                take(shown)?;
            } else {
                left_out += 1;
            }
        }
        Ok(left_out)
    }

    /// What was said in a transcript of OpenClaw's.
    fn talk<E: From<Error>>(
        &self,
        path: &Path,
        take: &mut impl FnMut(Shown) -> Result<(), E>,
    ) -> Result<(), E> {
        let failed = |error: io::Error| {
            E::from(Error::caused(Kind::Unavailable, format!("cannot read {}", path.display()), &error))
        };
        let mut entries = openclaw_conversation::Entries::open(path).map_err(failed)?;
        while let Some(TranscriptEntry { id, at, said }) = entries.next_entry().map_err(failed)? {
            let mut shown: Option<Shown> = None;
            for (role, piece) in said.into_iter().filter_map(openclaw_conversation::piece) {
                let Some(piece) = self.asked_for(piece) else { continue };
                let role = role.word();
                if let Some(before) = shown.take_if(|before| before.role != role) {
                    take(before)?;
                }
                let message = shown.get_or_insert_with(|| Shown {
                    role,
                    subagent: None,
                    uuid: id.clone(),
                    at,
                    parts: Vec::new(),
                });
                message.parts.push(piece);
            }
            shown.map_or(Ok(()), &mut *take)?;
        }
        Ok(())
    }

    /// A piece as it may leave; none where it was not asked for.
    fn asked_for(&self, piece: Piece) -> Option<Piece> {
        let redacted = |text: String| self.secrets.redacted(Cow::Owned(text));
        match piece {
            Piece::Text { text } => Some(Piece::Text { text: redacted(text) }),
            Piece::Thinking { text } if self.request.thinking => {
                Some(Piece::Thinking { text: redacted(text) })
            }
            Piece::ToolUse { name, input } if self.request.tools => {
                Some(Piece::ToolUse { name, input: cut(&redacted(input)) })
            }
            Piece::ToolResult { text, is_error } if self.request.tools => {
                Some(Piece::ToolResult { text: cut(&redacted(text)), is_error })
            }
            Piece::Thinking { .. } | Piece::ToolUse { .. } | Piece::ToolResult { .. } | Piece::Image => None,
        }
    }

    /// The message without what was not asked for; `None` when nothing is left.
    fn shown(&self, message: &Message<'_>, agent: Option<&Subagent>) -> Option<Shown> {
        let parts: Vec<Piece> = message.parts.iter().filter_map(|part| self.piece(part)).collect();
        let subagent = agent.map(|agent| agent.agent_type.as_ref().unwrap_or(&agent.id).clone());
        (!parts.is_empty()).then(|| Shown {
            role: message.role.word(),
            subagent: subagent.or_else(|| message.sidechain.then(|| "sub-agent".to_owned())),
            uuid: message.uuid.map(ToOwned::to_owned),
            at: message.at,
            parts,
        })
    }

    fn piece(&self, part: &Part<'_>) -> Option<Piece> {
        let redacted = |text: Cow<'_, str>| self.secrets.redacted(text);
        match part {
            Part::Text(text) => Some(Piece::Text { text: redacted(text.clone()) }),
            Part::Image => Some(Piece::Image),
            Part::Thinking(text) if self.request.thinking => {
                Some(Piece::Thinking { text: redacted(text.clone()) })
            }
            Part::ToolUse { name, input, .. } if self.request.tools => {
                Some(Piece::ToolUse { name: (*name).to_owned(), input: cut(&redacted(call(*input))) })
            }
            Part::ToolResult { content, is_error, .. } if self.request.tools => {
                Some(Piece::ToolResult { text: cut(&redacted(result_text(*content))), is_error: *is_error })
            }
            Part::Thinking(_) | Part::ToolUse { .. } | Part::ToolResult { .. } => None,
        }
    }
}

/// What a tool is called with, in the field that says most.
fn call(input: Raw<'_>) -> Cow<'_, str> {
    const FIELDS: [&str; 8] =
        ["command", "file_path", "notebook_path", "pattern", "query", "url", "description", "prompt"];
    let telling = FIELDS.iter().find_map(|field| input.get(field).text());
    telling.unwrap_or(Cow::Borrowed(input.json()))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TOOL_LENGTH) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
