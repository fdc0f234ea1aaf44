//! A conversation of OpenClaw's as `show` goes through it: found by its id, read message by message.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::{AgentId, Origin, Session, SessionId};
use openclaw::{AgentMemory, ConversationFile, EntryPart, TranscriptEntry};
use transcript::{Reader, Role};

use crate::search::index;
use crate::sessions::message::{PartFilter, Piece, ShownMessage};
use crate::{Context, Error, Kind};

/// What begins the name of a conversation with its agent's.
pub(crate) const PREFIX: &str = "openclaw:";
/// How much of what was asked first names a conversation, in characters.
const TITLE: usize = 200;

/// The files of the one conversation whose id this is or begins with, the oldest first; none where there is none.
///
/// `openclaw:<agent>/<session>` names one of that agent's; another agent's is refused to an agent, with its owner's
/// name.
pub(crate) fn find(context: &Context, text: &str) -> Result<Option<(Session, Vec<PathBuf>)>, Error> {
    let memory = index::memory(context);
    let named = match text.strip_prefix(PREFIX) {
        Some(rest) => Some(of_agent(context, rest)?),
        None => None,
    };
    let (owner, text) = match &named {
        Some((owner, session)) => (Some(owner), session.as_str()),
        None => (None, text),
    };
    let is_of_owner = |agent: &AgentId| owner.is_none_or(|owner| owner == agent);
    let begins = |file: &&ConversationFile| file.session.as_str().starts_with(text);
    let mut found: Vec<(&AgentId, &ConversationFile)> = Vec::new();
    let is_visible = |agent: &AgentId| context.is_of(Some(agent)) && context.may_see_conversations();
    for agent in memory.agents.iter().filter(|agent| is_visible(&agent.agent) && is_of_owner(&agent.agent)) {
        let files = agent.transcripts.iter().filter(|_| !text.is_empty()).filter(begins);
        found.extend(files.map(|file| (&agent.agent, file)));
    }
    if found.iter().any(|(_, file)| file.session.as_str() == text) {
        found.retain(|(_, file)| file.session.as_str() == text);
    }
    let Some((agent, first)) = found.first().copied() else { return Ok(None) };
    if let Some((_, other)) = found.iter().find(|(_, file)| file.session != first.session) {
        let message = format!("several OpenClaw conversation ids start with `{text}`; give more of the id");
        let error = Error::new(Kind::Ambiguous, message);
        return Err(error.hint(first.session.to_string()).hint(other.session.to_string()));
    }
    found.sort_by_key(|(_, file)| (file.metadata.modified().ok(), &file.path));
    let files: Vec<PathBuf> = found.iter().map(|(_, file)| file.path.clone()).collect();
    let session = outline(context, &first.session, agent, &files);
    Ok(Some((session, files)))
}

/// The agent and the session in `<agent>/<session>`.
pub(crate) fn of_agent(context: &Context, text: &str) -> Result<(AgentId, String), Error> {
    let parts = text.split_once('/').and_then(|(agent, session)| Some((agent.parse().ok()?, session)));
    let Some((agent, session)) = parts else {
        let message = format!("`{PREFIX}{text}` names no conversation: it is `{PREFIX}<agent>/<session>`");
        return Err(Error::new(Kind::Usage, message));
    };
    if let Some(own) = context.caller.agent().filter(|own| **own != agent) {
        return Err(crate::store::of_another(&format!("conversation {session}"), &agent, own));
    }
    Ok((agent, session.to_owned()))
}

/// The conversations of OpenClaw's agents that the caller may see, in no order: what their stores and files say,
/// without reading a transcript.
pub(crate) fn all(context: &Context, wanted: Option<&AgentId>) -> Vec<Session> {
    if !context.may_see_conversations() {
        return Vec::new();
    }
    let memory = index::memory(context);
    let is_wanted =
        |agent: &AgentId| context.is_of(Some(agent)) && wanted.is_none_or(|wanted| wanted == agent);
    let agents = memory.agents.iter().filter(|known| is_wanted(&known.agent));
    agents.flat_map(|agent| of_memory(context, agent)).collect()
}

fn of_memory(context: &Context, agent: &AgentMemory) -> Vec<Session> {
    let mut found: BTreeMap<&SessionId, Session> = BTreeMap::new();
    for file in &agent.transcripts {
        let session =
            found.entry(&file.session).or_insert_with(|| empty_session(&file.session, &agent.agent, None));
        let modified = file.metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        if modified >= session.last_modified {
            session.last_modified = modified;
            session.file = Some(file.path.as_path().into());
        }
        session.file_size += file.metadata.len();
    }
    let stored = agent.conversations().0;
    for conversation in stored.iter().filter(|conversation| conversation.key.is_some()) {
        let id = &conversation.session;
        let session = found.entry(id).or_insert_with(|| empty_session(id, &agent.agent, None));
        let title = conversation.title.as_deref().or(conversation.key.as_deref());
        session.title = title.map(Into::into);
        let updated = conversation.updated_at.and_then(|at| Timestamp::from_millisecond(at).ok());
        session.last_modified = updated.or(session.last_modified);
    }
    let mut sessions: Vec<Session> = found.into_values().collect();
    for session in &mut sessions {
        context.redact_session(session);
    }
    sessions
}

/// What is known of a conversation from its files; a part that cannot be read is reported when its messages are read.
fn outline(context: &Context, id: &SessionId, agent: &AgentId, files: &[PathBuf]) -> Session {
    let mut session = empty_session(id, agent, files.last().map(PathBuf::as_path));
    let (mut first, mut title) = (None, None);
    for file in files {
        let mut entries = Entries::open(file).ok();
        while let Some(entry) = entries.as_mut().and_then(|entries| entries.next_entry().ok().flatten()) {
            session.message_count += 1;
            session.created = session.created.or(entry.at);
            session.last_modified = entry.at.or(session.last_modified);
            for said in &entry.said {
                match said {
                    EntryPart::Person(text) if first.is_none() => {
                        first = Some(beginning(&context.secrets.shown(text)));
                    }
                    EntryPart::Title(text) => title = Some(beginning(&context.secrets.shown(text))),
                    _ => {}
                }
            }
        }
        session.file_size += file.metadata().map_or(0, |found| found.len());
    }
    session.first_message = first.clone().map(Into::into);
    session.title = title.or(first).map(Into::into);
    context.redact_session(&mut session);
    session
}

fn beginning(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect()
}

/// The entries of a transcript that can be read, in order.
pub(crate) struct Entries {
    reader: Reader,
    /// The number of the last one's line.
    line: u64,
}

impl Entries {
    /// Opens a transcript.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { reader: Reader::open(path)?, line: 0 })
    }

    /// The next one.
    pub(crate) fn next_entry(&mut self) -> io::Result<Option<TranscriptEntry>> {
        while let Some(line) = self.reader.next_line()? {
            self.line = line.number;
            if let Ok(entry) = TranscriptEntry::parse(line.bytes) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

/// Hands over the messages of a transcript, in order; `take` may stop it with an error of its own.
pub(crate) fn each<E: From<Error>>(
    path: &Path,
    parts: PartFilter,
    take: &mut impl FnMut(ShownMessage) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |error: io::Error| {
        E::from(Error::caused(Kind::Unavailable, format!("cannot read {}", path.display()), &error))
    };
    let mut entries = Entries::open(path).map_err(failed)?;
    while let Some(TranscriptEntry { id, at, said }) = entries.next_entry().map_err(failed)? {
        let mut shown: Option<ShownMessage> = None;
        for (role, piece) in said.into_iter().filter_map(piece) {
            let Some(piece) = parts.filtered(piece) else { continue };
            if let Some(before) = shown.take_if(|before| before.role != role) {
                take(before)?;
            }
            let message = shown.get_or_insert_with(|| ShownMessage {
                role,
                subagent: None,
                uuid: id.clone(),
                line: Some(entries.line),
                at,
                how: None,
                parts: Vec::new(),
            });
            message.parts.push(piece);
        }
        shown.map_or(Ok(()), &mut *take)?;
    }
    Ok(())
}

/// The role and piece of an entry; `None` for an entry that names the conversation.
pub(crate) fn piece(said: EntryPart) -> Option<(Role, Piece)> {
    Some(match said {
        EntryPart::Person(text) => (Role::User, Piece::Text { text }),
        EntryPart::Command(command) => (Role::User, Piece::Text { text: format!("! {command}") }),
        EntryPart::Model(text) => (Role::Assistant, Piece::Text { text }),
        EntryPart::Thought(text) => (Role::Assistant, Piece::Thinking { text }),
        EntryPart::Tool { name, arguments } => {
            (Role::Assistant, Piece::ToolUse { name, input: arguments.to_string(), id: String::new() })
        }
        EntryPart::Failure(text) => {
            (Role::Tool, Piece::ToolResult { text, is_error: true, call: String::new() })
        }
        EntryPart::Summary(text) => (Role::Note, Piece::Text { text }),
        EntryPart::Title(_) => return None,
    })
}

fn empty_session(id: &SessionId, agent: &AgentId, file: Option<&Path>) -> Session {
    let origin = Origin::OpenClaw { agent: agent.clone(), label: None };
    Session { is_conversation: true, origin, file: file.map(Into::into), ..Session::new(id.clone()) }
}
