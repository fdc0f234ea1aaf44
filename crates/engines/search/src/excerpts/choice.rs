//! Which texts of a session are its excerpts: its title, its first prompts and its longest answers.

use rustc_hash::FxHashMap;

use crate::columns::{ChunkAt, NumberColumn};
use crate::error::{Error, index_failed};
use crate::kind::ChunkKind;
use crate::searcher::Searcher;

/// How many excerpts a session has.
pub(super) const EXCERPTS: usize = 5;
/// How many of its first prompts are among them.
const PROMPTS: usize = 2;
/// How many of its longest answers are looked at: some may turn out to be the same.
const ANSWERS: usize = 2 * EXCERPTS;

/// The chunks that may become the excerpts of one file, best first.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The last title, with where it is.
    title: Option<(u64, ChunkAt)>,
    /// The first prompts, by where they are.
    prompts: Vec<(u64, ChunkAt)>,
    /// The answers by their records.
    answers: FxHashMap<u64, Answer>,
}

#[derive(Debug)]
struct Answer {
    words: u64,
    /// The number of its first piece, and that piece.
    first: (u64, ChunkAt),
}

impl Candidates {
    fn offer(&mut self, kind: ChunkKind, [offset, piece]: [u64; 2], record: u64, words: u64, chunk: ChunkAt) {
        match kind {
            ChunkKind::Title if self.title.is_none_or(|(last, _)| last <= offset) => {
                self.title = Some((offset, chunk));
            }
            ChunkKind::Prompt => {
                self.prompts.push((offset, chunk));
                self.prompts.sort_by_key(|(offset, _)| *offset);
                self.prompts.dedup_by_key(|(offset, _)| *offset);
                self.prompts.truncate(PROMPTS);
            }
            ChunkKind::Answer => {
                let answer = self.answers.entry(record).or_insert(Answer { words: 0, first: (piece, chunk) });
                answer.words += words;
                if piece < answer.first.0 {
                    answer.first = (piece, chunk);
                }
            }
            _ => {}
        }
    }

    /// The chunks in the order in which they are excerpts, more than are needed.
    pub(super) fn in_order(self) -> Vec<ChunkAt> {
        let mut answers: Vec<(u64, Answer)> = self.answers.into_iter().collect();
        answers.sort_unstable_by_key(|(record, answer)| (std::cmp::Reverse(answer.words), *record));
        let title = self.title.into_iter().map(|(_, chunk)| chunk);
        let prompts = self.prompts.into_iter().map(|(_, chunk)| chunk);
        let answers = answers.into_iter().map(|(_, answer)| answer.first.1);
        title.chain(prompts).chain(answers.take(ANSWERS)).collect()
    }
}

/// The candidates of the files that are wanted.
pub(super) fn candidates(
    searcher: &Searcher,
    is_wanted: impl Fn(u64) -> bool,
) -> Result<FxHashMap<u64, Candidates>, Error> {
    let mut all: FxHashMap<u64, Candidates> = FxHashMap::default();
    let wanted = [NumberColumn::File, NumberColumn::Kind, NumberColumn::Record];
    for (at, (segment, columns)) in searcher.text.segment_readers().iter().zip(&searcher.columns).enumerate()
    {
        let lengths = segment.get_fieldnorms_reader(searcher.fields.text);
        let lengths = lengths.map_err(index_failed("read", &searcher.folder))?;
        columns.each(segment, wanted, |document, [file, kind, record]| {
            let kind = ChunkKind::from_number(kind);
            let is_told = matches!(kind, Some(ChunkKind::Title | ChunkKind::Prompt | ChunkKind::Answer));
            if let Some(kind) = kind.filter(|_| is_told && is_wanted(file)) {
                let [offset, _, piece] = columns.location(document);
                let words = u64::from(lengths.fieldnorm(document));
                let chunk = ChunkAt { segment: at, document };
                all.entry(file).or_default().offer(kind, [offset, piece], record, words, chunk);
            }
        });
    }
    Ok(all)
}
