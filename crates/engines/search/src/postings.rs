//! Iterates over the postings of one segment: chunks with a word, a pair of words, or a phrase.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

/// Calls `each` with every live chunk that contains `word`, and how often.
pub(crate) fn word(
    segment: &SegmentReader,
    field: Field,
    word: &str,
    mut each: impl FnMut(DocId, u32),
) -> tantivy::Result<()> {
    let Some(mut postings) = open(segment, field, word, IndexRecordOption::WithFreqs)? else { return Ok(()) };
    let mut document = postings.doc();
    while document != TERMINATED {
        if !segment.is_deleted(document) {
            each(document, postings.term_freq());
        }
        document = postings.advance();
    }
    Ok(())
}

/// Calls `each` with every live chunk that contains any of these words, in order, and how often it has them.
pub(crate) fn any_word(
    segment: &SegmentReader,
    field: Field,
    words: &[String],
    mut each: impl FnMut(DocId, u32),
) -> tantivy::Result<()> {
    let mut all: Vec<(DocId, u32)> = Vec::new();
    for one in words {
        word(segment, field, one, |document, frequency| all.push((document, frequency)))?;
    }
    all.sort_unstable_by_key(|(document, _)| *document);
    for same in all.chunk_by(|one, other| one.0 == other.0) {
        each(same[0].0, same.iter().map(|(_, frequency)| *frequency).sum());
    }
    Ok(())
}

/// Which of these chunks, in the order of the index, contain `word`.
pub(crate) fn containing(
    segment: &SegmentReader,
    field: Field,
    word: &str,
    chunks: &[DocId],
    mut each: impl FnMut(DocId),
) -> tantivy::Result<()> {
    let Some(mut postings) = open(segment, field, word, IndexRecordOption::Basic)? else { return Ok(()) };
    for &chunk in chunks {
        if postings.doc() < chunk {
            postings.seek(chunk);
        }
        if postings.doc() == chunk {
            each(chunk);
        }
    }
    Ok(())
}

/// Calls `each` with every live chunk in which two words are adjacent, in either order, and how often.
pub(crate) fn pair(
    segment: &SegmentReader,
    field: Field,
    (left, right): (&str, &str),
    mut each: impl FnMut(DocId, u32),
) -> tantivy::Result<()> {
    let mut places = (Vec::new(), Vec::new());
    together(segment, field, &[left, right], |document, postings| {
        let [left, right] = postings else { return };
        left.positions(&mut places.0);
        right.positions(&mut places.1);
        let count = side_by_side(&places.0, &places.1);
        if count > 0 {
            each(document, count);
        }
    })
}

/// Calls `each` with every live chunk that contains the words in sequence.
pub(crate) fn phrase(
    segment: &SegmentReader,
    field: Field,
    words: &[String],
    mut each: impl FnMut(DocId),
) -> tantivy::Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut first = Vec::new();
    let mut next = Vec::new();
    together(segment, field, &words, |document, postings| {
        let Some((head, rest)) = postings.split_first_mut() else { return };
        head.positions(&mut first);
        for (distance, word) in (1..).zip(rest) {
            word.positions(&mut next);
            first.retain(|place| next.binary_search(&(place + distance)).is_ok());
        }
        if !first.is_empty() {
            each(document);
        }
    })
}

/// Calls `each` with every live chunk that contains all words, with their postings positioned on it.
fn together(
    segment: &SegmentReader,
    field: Field,
    words: &[&str],
    mut each: impl FnMut(DocId, &mut [SegmentPostings]),
) -> tantivy::Result<()> {
    let mut postings = Vec::with_capacity(words.len());
    for word in words {
        match open(segment, field, word, IndexRecordOption::WithFreqsAndPositions)? {
            Some(opened) => postings.push(opened),
            None => return Ok(()),
        }
    }
    let mut candidate = 0;
    'next: loop {
        for posting in &mut postings {
            if posting.doc() < candidate {
                posting.seek(candidate);
            }
            match posting.doc() {
                TERMINATED => return Ok(()),
                document if document > candidate => {
                    candidate = document;
                    continue 'next;
                }
                _ => {}
            }
        }
        if !segment.is_deleted(candidate) {
            each(candidate, &mut postings);
        }
        candidate += 1;
    }
}

fn open(
    segment: &SegmentReader,
    field: Field,
    word: &str,
    option: IndexRecordOption,
) -> tantivy::Result<Option<SegmentPostings>> {
    let postings =
        segment.inverted_index(field)?.read_postings(&Term::from_field_text(field, word), option)?;
    Ok(postings.filter(|postings| postings.doc() != TERMINATED))
}

/// The number of positions in `left` that have one of `right` just before or after them; both are sorted.
fn side_by_side(left: &[u32], right: &[u32]) -> u32 {
    let beside = |place: u32| {
        right.binary_search(&(place + 1)).is_ok()
            || place.checked_sub(1).is_some_and(|p| right.binary_search(&p).is_ok())
    };
    u32::try_from(left.iter().filter(|place| beside(**place)).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_side_by_side() {
        assert_eq!(side_by_side(&[1, 5], &[2, 9]), 1);
        assert_eq!(side_by_side(&[3], &[2]), 1);
        assert_eq!(side_by_side(&[0], &[0, 2]), 0);
        assert_eq!(side_by_side(&[], &[1]), 0);
    }
}
