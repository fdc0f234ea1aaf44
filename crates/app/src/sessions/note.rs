//! A note of an OpenClaw agent as a conversation is read: section by section, found by the file that a hit cites.

use std::path::Path;

use jiff::Timestamp;
use model::{Origin, Session};
use openclaw::MemoryFile;
use search::{NOTE_CAP, note_name, note_sections};
use transcript::Role;

use crate::Context;
use crate::search::index;
use crate::sessions::message::{Piece, ShownMessage};

/// A note and its sections.
pub(crate) struct Note {
    /// What is known of it.
    pub(crate) session: Session,
    /// Its sections, in order.
    pub(crate) sections: Vec<ShownMessage>,
}

/// The note in this file; `None` if it is not a note that the caller may see.
pub(crate) fn find(context: &Context, text: &str) -> Option<Note> {
    let path = Path::new(text);
    if !path.is_absolute() || !context.may_see_conversations() {
        return None;
    }
    let memory = index::memory(context);
    let visible = memory.agents.iter().filter(|agent| context.is_of(Some(&agent.agent)));
    let (agent, file) = visible
        .flat_map(|agent| agent.notes.iter().map(move |note| (&agent.agent, note)))
        .find(|(_, note)| note.path == path)?;
    let bytes = system::read_small(path, NOTE_CAP).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let sections = note_sections(&text).into_iter().map(|section| ShownMessage {
        role: Role::Note,
        subagent: None,
        uuid: None,
        line: Some(section.line),
        at: None,
        how: None,
        parts: vec![Piece::Text { text: context.secrets.redacted(section.text.into()) }],
    });
    let origin = Origin::OpenClaw { agent: agent.clone(), label: None };
    let title = path.file_name().map(|name| name.to_string_lossy().into());
    let session = Session {
        is_conversation: true,
        origin,
        title,
        file: Some(path.into()),
        file_size: bytes.len() as u64,
        last_modified: modified(file),
        ..Session::new(note_name(path)?)
    };
    Some(Note { sections: sections.collect(), session })
}

fn modified(file: &MemoryFile) -> Option<Timestamp> {
    Timestamp::try_from(file.metadata.modified().ok()?).ok()
}
