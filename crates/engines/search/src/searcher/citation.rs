//! Decides which file and line a hit cites.

use super::Searcher;
use super::copies::RecordCopy;
use super::hit_context::HitContext;
use crate::columns::{ChunkAt, RecordKey};
use crate::error::Error;
use crate::files::FileRow;
use crate::outcome::HitTexts;
use crate::snippet::{CitedText, PassageLocation, cite};

/// The place that a hit cites, and what is written there.
#[derive(Debug)]
pub(super) struct Citation {
    pub(super) file: FileRow,
    /// Where the line begins, in bytes.
    pub(super) offset: u64,
    /// The line, from 1.
    pub(super) line: u64,
    pub(super) cited: CitedText,
}

impl Searcher {
    /// Where a chunk is cited for a session: in its own file if that holds the record, else where it was indexed.
    pub(super) fn citation(
        &self,
        chunk: ChunkAt,
        session: usize,
        asked: &HitContext<'_>,
    ) -> Result<Option<Citation>, Error> {
        let RecordKey { file: owner, record } = self.columns[chunk.segment].key(chunk.document);
        let Some(mut file) = self.list.file(owner)? else { return Ok(None) };
        let may_cite = asked.may_cite(&file);
        let needs_copy = record != 0 && (file.gone || !may_cite);
        let copied = if needs_copy { self.copy_of(record, session, asked)? } else { None };
        if !may_cite && copied.is_none() {
            return Ok(None);
        }
        let copied = copied.map(|RecordCopy { file: copy, offset, line }| {
            file = copy;
            (offset, line)
        });
        let at = PassageLocation::of(&self.columns, chunk, &file, asked.shows_secrets);
        let at = copied.map_or(at, |(offset, line)| PassageLocation { offset, line, ..at });
        let has_own = record != 0 && file.session.as_ref() != Some(self.sessions.id(session));
        // The own copy is found by the id that is read with the text.
        let cited = if asked.texts == HitTexts::Read || has_own {
            cite(&at, &asked.terms)
        } else {
            CitedText::default()
        };
        let (offset, line) = (at.offset, cited.lines.map_or(at.line, |(first, _)| first));
        let own = match &cited.uuid {
            Some(uuid) if has_own => self.own_copy(record, uuid, session, asked)?,
            _ => None,
        };
        Ok(Some(match own {
            Some(RecordCopy { file, offset, line }) => {
                let lines = cited.lines.and(Some((line, line)));
                Citation { file, offset, line, cited: CitedText { lines, ..cited } }
            }
            None => Citation { file, offset, line, cited },
        }))
    }
}
