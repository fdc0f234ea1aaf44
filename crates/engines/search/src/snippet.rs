//! Reads the cited piece of a transcript again and cuts a snippet around the words of the query.

use std::ops::Range;
use std::path::Path;

use openclaw::TranscriptEntry;
use rustc_hash::FxHashMap;
use transcript::Reader;
use transcript::record::Record;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::chunk::{original_units, units};
use crate::columns::{ChunkAt, Columns};
use crate::document::piece_of;
use crate::files::FileRow;
use crate::kind::ChunkKind;
use crate::source::SourceKind;
use crate::unit::Unit;
use crate::words::Splitter;
use crate::{conversation, notes};

/// The length of a snippet, in bytes.
const WINDOW: usize = 280;

/// A cut of the cited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// On one line; `…` where something was left out.
    pub text: String,
    /// The ranges of the query's words in `text`, in bytes.
    pub marks: Vec<(usize, usize)>,
}

/// The cited text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CitedText {
    pub(crate) uuid: Option<String>,
    pub(crate) snippet: Option<Snippet>,
    /// The whole piece of text that is cited.
    pub(crate) passage: Option<String>,
    /// Its first and last line in the file.
    pub(crate) lines: Option<(u64, u64)>,
}

/// The location of a cited piece of text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PassageLocation<'a> {
    pub(crate) path: &'a Path,
    pub(crate) offset: u64,
    pub(crate) line: u64,
    pub(crate) record: u64,
    pub(crate) piece: u64,
    pub(crate) subagent: bool,
    pub(crate) source: SourceKind,
    pub(crate) shows_secrets: bool,
}

impl<'a> PassageLocation<'a> {
    /// The location of a chunk of that file.
    pub(crate) fn of(columns: &[Columns], chunk: ChunkAt, file: &'a FileRow, shows_secrets: bool) -> Self {
        let columns = &columns[chunk.segment];
        let [offset, line, piece] = columns.location(chunk.document);
        Self {
            path: &file.path,
            offset,
            line,
            record: columns.key(chunk.document).record,
            piece,
            subagent: file.subagent,
            source: file.source,
            shows_secrets,
        }
    }
}

/// Reads the cited line; empty where the file is gone or another record is there now.
pub(crate) fn cite(at: &PassageLocation<'_>, terms: &FxHashMap<&str, f32>) -> CitedText {
    let Some(passage) = passage(at) else { return CitedText::default() };
    CitedText {
        snippet: passage.text.as_ref().map(|text| {
            let around = Around { before: piece_of(at.piece).1 > 0, after: passage.goes_on };
            cut(text, terms, around)
        }),
        lines: passage.text.is_some().then_some(passage.lines),
        uuid: passage.uuid,
        passage: passage.text,
    }
}

/// The whole of the cited piece.
pub(crate) fn text_at(at: &PassageLocation<'_>) -> Option<String> {
    passage(at)?.text
}

/// The whole of several pieces of one record, which is read once however long it is.
pub(crate) fn texts_at(ats: &[PassageLocation<'_>]) -> Vec<Option<String>> {
    let Some(first) = ats.first() else { return Vec::new() };
    let texts = match first.source {
        SourceKind::ClaudeSessions => with_record(first, |record, subagent| {
            let units = units_of(record, subagent, first.shows_secrets);
            ats.iter().map(|at| piece(record, &units, at)).collect()
        }),
        SourceKind::Sessions | SourceKind::Memory => Some(ats.iter().map(text_at).collect()),
    };
    texts.unwrap_or_else(|| vec![None; ats.len()])
}

/// A cited piece, read again.
struct Passage {
    uuid: Option<String>,
    text: Option<String>,
    /// Its first and last line.
    lines: (u64, u64),
    /// Whether another piece of the same text follows it.
    goes_on: bool,
}

fn passage(at: &PassageLocation<'_>) -> Option<Passage> {
    match at.source {
        SourceKind::ClaudeSessions => with_record(at, |record, subagent| {
            let units = units_of(record, subagent, at.shows_secrets);
            let (number, place) = piece_of(at.piece);
            Passage {
                uuid: record.uuid().map(ToOwned::to_owned),
                text: piece(record, &units, at),
                lines: (at.line, at.line),
                goes_on: units.get(number).is_some_and(|unit| goes_on(unit, place)),
            }
        }),
        SourceKind::Sessions => of_entry(at),
        SourceKind::Memory => of_note(at),
    }
}

/// A piece of a line of one of OpenClaw's transcripts.
fn of_entry(at: &PassageLocation<'_>) -> Option<Passage> {
    let mut reader = Reader::open_at(at.path, at.offset, at.line.saturating_sub(1)).ok()?;
    let entry = TranscriptEntry::parse(reader.next_line().ok()??.bytes).ok()?;
    if at.record != 0 && conversation::entry_key(&entry).record != at.record {
        return None;
    }
    let uuid = entry.id.clone();
    let (number, piece) = piece_of(at.piece);
    let unit = conversation::original_units(entry).into_iter().nth(number)?;
    let goes_on = goes_on(&unit, piece);
    let text = if at.shows_secrets { original_of(&unit, piece) } else { text_of(&unit.redacted(), piece) };
    Some(Passage { uuid, text, lines: (at.line, at.line), goes_on })
}

/// A piece of a section of a note, if it is still there.
fn of_note(at: &PassageLocation<'_>) -> Option<Passage> {
    let bytes = system::read_small(at.path, notes::CAP).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let sections = notes::sections(&text);
    let section = sections.iter().find(|section| section.record() == at.record)?;
    let unit = section.unit();
    let (_, piece) = piece_of(at.piece);
    let range = original_range(&unit, piece)?;
    let lines = |to: usize| section.text[..to].trim_end_matches('\n').matches('\n').count() as u64;
    let first = section.line + section.text[..range.start].matches('\n').count() as u64;
    let last = section.line + lines(range.end);
    let goes_on = goes_on(&unit, piece);
    let text = if at.shows_secrets {
        section.text.get(range).map(ToOwned::to_owned)
    } else {
        text_of(&unit.redacted(), piece)
    };
    Some(Passage { uuid: None, text, lines: (first, last.max(first)), goes_on })
}

fn with_record<T>(at: &PassageLocation<'_>, look: impl FnOnce(&Record<'_>, bool) -> T) -> Option<T> {
    let mut reader = Reader::open_at(at.path, at.offset, at.line.saturating_sub(1)).ok()?;
    let line = reader.next_line().ok()??;
    let record = line.record().ok()?;
    let is_it = at.record == 0 || record_of(&record) == at.record;
    let inner = record.agent_progress().map(|(_, inner)| inner);
    let subagent = at.subagent || inner.is_some();
    is_it.then(|| look(&inner.unwrap_or(record), subagent))
}

/// The key of a record in the index: of a `progress` record with a sub-agent's record, that of the inner one; 0 without
/// an id.
pub(crate) fn record_of(record: &Record<'_>) -> u64 {
    let inner = record.agent_progress().map(|(_, inner)| inner);
    own_record_of(inner.as_ref().unwrap_or(record))
}

/// A hash of a record's id and of what it says: an id alone may be another record's, whose text would not be found. Copies
/// in other files keep both, and not always the time.
pub(crate) fn own_record_of(record: &Record<'_>) -> u64 {
    record.uuid().map_or(0, |uuid| xxh3_64_with_seed(uuid.as_bytes(), xxh3_64(record.said().as_bytes())))
}

/// The texts of a record.
pub(crate) fn units_of<'a>(record: &Record<'a>, subagent: bool, shows_secrets: bool) -> Vec<Unit<'a>> {
    if shows_secrets { original_units(record, subagent) } else { units(record, subagent) }
}

fn piece(record: &Record<'_>, units: &[Unit<'_>], at: &PassageLocation<'_>) -> Option<String> {
    let (number, piece) = piece_of(at.piece);
    let Some(unit) = units.get(number) else {
        // The branch is no unit of the record itself.
        let branch = Unit::new(ChunkKind::Branch, record.branch()?);
        return Some(if at.shows_secrets { branch } else { branch.redacted() }.text.into_owned());
    };
    if at.shows_secrets { original_of(unit, piece) } else { text_of(unit, piece) }
}

/// The piece with its secrets. Pieces are counted in the redacted text, which is what was indexed.
fn original_of(unit: &Unit<'_>, piece: usize) -> Option<String> {
    match original_range(unit, piece) {
        Some(range) => unit.text.get(range).map(ToOwned::to_owned),
        None => text_of(unit, piece),
    }
}

/// The range of a piece in the text with its secrets.
fn original_range(unit: &Unit<'_>, piece: usize) -> Option<Range<usize>> {
    let redacted = unit.clone().redacted();
    let part = redacted.pieces().nth(piece).filter(|text| !text.trim().is_empty())?;
    let start = part.as_ptr().addr() - redacted.text.as_ptr().addr();
    Some(redact::original(&unit.secrets(), start..start + part.len()))
}

/// A piece of a unit, or the path that it is about.
pub(crate) fn text_of(unit: &Unit<'_>, piece: usize) -> Option<String> {
    match unit.pieces().nth(piece).filter(|text| !text.trim().is_empty()) {
        Some(text) => Some(text.to_owned()),
        None => unit.path.as_deref().map(ToOwned::to_owned),
    }
}

/// Whether a piece of a text is followed by another.
fn goes_on(unit: &Unit<'_>, piece: usize) -> bool {
    unit.pieces().nth(piece + 1).is_some_and(|next| !next.trim().is_empty())
}

/// The beginning of a text.
pub(crate) fn beginning_of(text: &str) -> Snippet {
    cut(text, &FxHashMap::default(), Around::default())
}

/// Whether there is text before and after a piece that is cut.
#[derive(Debug, Clone, Copy, Default)]
struct Around {
    before: bool,
    after: bool,
}

/// A place of a word of the query in a text.
#[derive(Debug, Clone, Copy)]
struct WordAt<'a> {
    start: usize,
    end: usize,
    word: &'a str,
    /// Its inverse document frequency.
    idf: f32,
}

/// The window with the rarest words of the question, on one line; it begins with a sentence where there is room. What
/// continues another piece may begin within a word, which is left out.
fn cut(text: &str, terms: &FxHashMap<&str, f32>, around: Around) -> Snippet {
    let places = places(text, terms);
    let best = best_window(&places);
    let from = match beginning(text, &best) {
        0 if around.before => Some(word_start(text, 0)).filter(|from| best.is_empty() || *from <= best.start),
        from => Some(from),
    };
    let from = from.unwrap_or(0);
    let to = text.floor_char_boundary((from + WINDOW).min(text.len()));
    let to = if to == text.len() {
        to
    } else {
        text[from..to].rfind(char::is_whitespace).map_or(to, |at| from + at)
    };
    let around =
        Around { before: around.before || from > 0, after: around.after || to < text.trim_end().len() };
    flatten(text, from..to.max(from), around, &places)
}

/// The words of the query in a text.
fn places<'a>(text: &str, terms: &FxHashMap<&'a str, f32>) -> Vec<WordAt<'a>> {
    let mut places = Vec::new();
    Splitter::default().split(text, |found| {
        if let Some((word, idf)) = terms.get_key_value(found.text) {
            places.push(WordAt { start: found.start, end: found.end, word, idf: *idf });
        }
    });
    places
}

/// From the first to the last word of the best window.
fn best_window(places: &[WordAt<'_>]) -> Range<usize> {
    let mut best = (0.0, 0..0);
    for from in 0..places.len().min(400) {
        let start = places[from].start;
        let window = places[from..].iter().take_while(|place| place.end <= start + WINDOW * 4 / 5);
        let mut words: Vec<&str> = Vec::new();
        let (mut worth, mut end) = (0.0, start);
        for place in window {
            if !words.contains(&place.word) {
                words.push(place.word);
                worth += place.idf;
                end = end.max(place.end);
            }
        }
        if worth > best.0 {
            best = (worth, start..end);
        }
    }
    best.1
}

/// Where a snippet around the best window begins: with the text where that leaves room, else with the sentence that the
/// window begins in, or a little before it.
fn beginning(text: &str, best: &Range<usize>) -> usize {
    if best.end <= WINDOW * 4 / 5 {
        return 0;
    }
    let room = (WINDOW - best.len().min(WINDOW)).min(WINDOW / 2);
    let earliest = text.ceil_char_boundary(best.start.saturating_sub(room));
    let before = &text[earliest..best.start];
    let ends = before
        .char_indices()
        .zip(before.chars().skip(1))
        .filter(|((_, c), next)| *c == '\n' || (matches!(c, '.' | '?' | '!') && next.is_whitespace()));
    match ends.last() {
        Some(((at, c), _)) => earliest + at + c.len_utf8(),
        None => match best.start.saturating_sub(WINDOW / 5) {
            0 => 0,
            lead => word_start(text, lead),
        },
    }
}

fn word_start(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    text[at..].find(char::is_whitespace).filter(|gap| *gap < WINDOW / 5).map_or(at, |gap| at + gap)
}

/// One line of a part of a text: white space folded, nothing that could steer a terminal, places kept.
fn flatten(text: &str, part: Range<usize>, around: Around, places: &[WordAt<'_>]) -> Snippet {
    let Range { start: from, end: to } = part;
    let mut out = String::with_capacity(WINDOW + 8);
    let mut marks: Vec<(usize, usize)> = Vec::new();
    if around.before {
        out.push('…');
    }
    let mut open: Option<(usize, usize)> = None;
    let mut inside = places.iter().filter(|place| place.start >= from && place.end <= to).peekable();
    for (at, c) in text[from..to].char_indices() {
        let at = from + at;
        if let Some((begun, end)) = open
            && at >= end
        {
            marks.push((begun, out.len()));
            open = None;
        }
        while let Some(WordAt { start, end, .. }) = inside.next_if(|place| place.start <= at) {
            let begun = open.map_or(out.len(), |(begun, _)| begun);
            let furthest = open.map_or(*end, |(_, known)| known.max(*end));
            if *start <= at && *end > at {
                open = Some((begun, furthest));
            }
        }
        if c.is_whitespace() || c.is_control() {
            if !out.is_empty() && !out.ends_with([' ', '…']) {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
    }
    if let Some((begun, _)) = open {
        marks.push((begun, out.len()));
    }
    let kept = out.trim_end().len();
    out.truncate(kept);
    if around.after {
        out.push('…');
    }
    // Adjacent parts of one identifier get one mark.
    marks.dedup_by(|next, mark| {
        let joined = mark.1 == next.0;
        if joined {
            mark.1 = next.1;
        }
        joined
    });
    Snippet { text: out, marks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, terms: &[&str], expected: &str) {
        let snippet = cut(text, &terms.iter().map(|term| (*term, 1.0)).collect(), Around::default());
        let mut marked = snippet.text.clone();
        for (start, end) in snippet.marks.iter().rev() {
            marked.insert(*end, ']');
            marked.insert(*start, '[');
        }
        assert_eq!(marked, expected, "{text}");
    }

    #[test]
    fn what_continues_another_piece_begins_with_a_whole_word() {
        let terms = |words: &[&'static str]| words.iter().map(|word| (*word, 1.0)).collect();
        let shown = |text: &str, words: &[&'static str], before| {
            cut(text, &terms(words), Around { before, after: false }).text
        };
        assert_eq!(shown("ken is rotated twice", &["rotated"], true), "…is rotated twice");
        assert_eq!(shown("ken is rotated twice", &["rotated"], false), "ken is rotated twice");
        assert_eq!(shown("token is rotated", &["token"], true), "…token is rotated", "what was found stays");
        let after = Around { before: false, after: true };
        assert_eq!(cut("token is rotated ", &terms(&["token"]), after).text, "token is rotated…");
    }

    #[test]
    fn matches_are_marked() {
        check("Fix the token refresh", &["token", "refresh"], "Fix the [token] [refresh]");
        check("Fix\n\n  refreshToken\u{1b}[2J", &["token", "refresh"], "Fix [refreshToken] [2J");
        check("Fix refreshToken", &["refreshtoken"], "Fix [refreshToken]");
        check("nothing here", &["x"], "nothing here");
        check("", &["x"], "");
        check("错误修复", &["修复"], "错误[修复]");
    }

    #[test]
    fn the_window_covers_the_most_words() {
        let text = format!(
            "{} token {} token refresh leak {}",
            "a b c ".repeat(80),
            "x y ".repeat(100),
            "z ".repeat(300)
        );
        let snippet = cut(
            &text,
            &["token", "refresh", "leak"].map(|term| (term, 1.0)).into_iter().collect(),
            Around::default(),
        );
        assert!(snippet.text.contains("token refresh leak"), "{}", snippet.text);
        assert!(snippet.text.starts_with('…') && snippet.text.ends_with('…'));
        assert!(snippet.text.len() <= WINDOW + 8);
    }

    #[test]
    fn a_rare_word_is_worth_more_than_two_common_ones() {
        let text =
            format!("The commit has one prompt. {}The trailer came from the hook.", "x y ".repeat(120));
        let terms = [("commit", 1.0), ("prompt", 1.0), ("trailer", 5.0)];
        let snippet = cut(&text, &terms.into_iter().collect(), Around::default());
        assert!(snippet.text.contains("The trailer came"), "{}", snippet.text);
    }

    #[test]
    fn a_snippet_begins_with_a_sentence_where_there_is_room() {
        let text = format!("{}Well then. We chose the small token. {}", "a b ".repeat(50), "z ".repeat(200));
        let snippet = cut(&text, &[("token", 1.0)].into_iter().collect(), Around::default());
        assert!(snippet.text.starts_with("…We chose the small token."), "{}", snippet.text);
    }

    proptest::proptest! {
        #[test]
        fn marks_lie_inside_any_text(text in "\\PC{0,120}", times in 1_usize..8) {
            let text = text.repeat(times);
            let mut words = Vec::new();
            Splitter::default().split(&text, |word| words.push(word.text.to_owned()));
            let snippet = cut(&text, &words.iter().step_by(2).map(|word| (word.as_str(), 1.0)).collect(), Around::default());
            for (start, end) in snippet.marks {
                proptest::prop_assert!(start <= end && snippet.text.is_char_boundary(start));
            }
        }
    }
}
