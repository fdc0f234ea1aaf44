//! Embeds the excerpts of sessions that have none yet, newest sessions first, in small durable steps.
//!
//! It holds no lock of the index: queries are answered and new lines are indexed meanwhile. A killed pass loses its last step
//! only.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use database::WriterLock;
use embedding::{SentenceModel, Vector};

use super::choice::{Candidates, EXCERPTS, candidates};
use super::looked;
use super::store::{ExcerptWriter, folder as excerpts_folder};
use crate::error::{Error, io_failed};
use crate::files::FileRow;
use crate::searcher::Searcher;
use crate::snippet::{PassageLocation, text_at};
use crate::source::SourceKind;

/// How many sessions are embedded between two commits.
const STEP: usize = 32;
/// The longest excerpt, in characters.
const LONGEST: usize = 220;
/// The excerpts of a session are chosen again once it has so many times as many chunks.
const GROWN: u64 = 2;

/// The result of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExcerptReport {
    /// Sessions that have excerpts now.
    pub done: u64,
    /// Sessions that could have.
    pub of: u64,
    /// Sessions whose excerpts were embedded by this pass.
    pub added: u64,
    /// Another process is embedding.
    pub busy: bool,
}

/// Embeds excerpts with `model` while `keep_going` returns true; `now` is in seconds since 1970.
pub fn embed_excerpts(
    folder: &Path,
    model: &SentenceModel,
    now: i64,
    keep_going: &mut dyn FnMut(&ExcerptReport) -> bool,
) -> Result<ExcerptReport, Error> {
    let Some(searcher) = Searcher::open(folder)? else { return Ok(ExcerptReport::default()) };
    let own = excerpts_folder(folder);
    system::create_private_folder(&own).map_err(io_failed("create", &own))?;
    let Some(_lock) = WriterLock::try_acquire(&own.join("writer.lock"))? else {
        return Ok(ExcerptReport { busy: true, ..ExcerptReport::default() });
    };
    looked::begin(&own, now)?;
    let state = searcher.list.state()?;
    let mut files: Vec<FileRow> = searcher.list.all()?.into_iter().filter(has_excerpts).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.stamp.mtime));
    let chunks: HashMap<u64, (u64, bool)> =
        files.iter().map(|file| (file.id, (file.chunks, file.gone))).collect();
    // What cannot be read again keeps the excerpts it has.
    let is_kept = |file: u64, then: u64| {
        chunks.get(&file).is_some_and(|(now, is_gone)| *is_gone || *now < GROWN * then.max(1))
    };
    let mut writer = ExcerptWriter::open(folder, model.model(), searcher.list.identity()?, is_kept)?;
    let (done, mut todo): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| writer.chunks_of(file.id).is_some());
    todo.retain(|file| !file.gone);
    let of = (done.len() + todo.len()) as u64;
    let mut report = ExcerptReport { done: done.len() as u64, of, ..ExcerptReport::default() };
    let wanted: HashSet<u64> = todo.iter().map(|file| file.id).collect();
    let mut all = candidates(&searcher, |file| wanted.contains(&file))?;
    for step in todo.chunks(STEP) {
        for file in step {
            if !keep_going(&report) {
                writer.commit()?;
                return Ok(report);
            }
            let found = all.remove(&file.id).unwrap_or_default();
            let excerpts = excerpts(&searcher, file, found, model)?;
            if let Ok(number) = u32::try_from(file.id) {
                writer.add(number, file.chunks, &excerpts)?;
            }
            report.done += 1;
            report.added += 1;
        }
        writer.commit()?;
    }
    looked::finish(&own, now, state)?;
    Ok(report)
}

/// Whether a file has excerpts: a conversation of a person or an agent.
fn has_excerpts(file: &FileRow) -> bool {
    !file.subagent && file.source != SourceKind::Memory && file.chunks > 0
}

/// The excerpts of a file, each with its record.
fn excerpts(
    searcher: &Searcher,
    file: &FileRow,
    found: Candidates,
    model: &SentenceModel,
) -> Result<Vec<(u64, Vector)>, Error> {
    let mut texts: Vec<String> = Vec::new();
    let mut excerpts = Vec::new();
    for chunk in found.in_order() {
        if excerpts.len() == EXCERPTS {
            break;
        }
        let place = PassageLocation::of(&searcher.columns, chunk, file, false);
        let Some(text) = text_at(&place).map(|text| excerpt_of(&text)) else { continue };
        if texts.contains(&text) {
            continue;
        }
        if let Some(vector) = model.embed(&text)? {
            excerpts.push((place.record, vector));
        }
        texts.push(text);
    }
    Ok(excerpts)
}

/// The beginning of a text, on one line.
fn excerpt_of(text: &str) -> String {
    let mut excerpt = String::new();
    let mut left = LONGEST;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if length >= left {
            // A text of one long word is cut within it.
            if excerpt.is_empty() {
                excerpt.extend(word.chars().take(LONGEST));
            }
            break;
        }
        left -= length + 1;
        if !excerpt.is_empty() {
            excerpt.push(' ');
        }
        excerpt.push_str(word);
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_the_beginning_of_a_text_on_one_line() {
        let check = |text: &str, expected: &str| assert_eq!(excerpt_of(text), expected, "{text}");
        check("", "");
        check(" Fix\n\tthe  parser ", "Fix the parser");
        check(&"a".repeat(500), &"a".repeat(LONGEST));
        check(&format!("parser {}", "a".repeat(500)), "parser");
        let cut = excerpt_of(&"walrus ".repeat(100));
        assert!(cut.len() <= LONGEST && cut.ends_with("walrus"), "{cut}");
    }
}
