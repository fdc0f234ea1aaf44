//! Finds indexed words that are similar to a word the index does not contain: corrections of a misspelling.

use tantivy::Searcher as Text;
use tantivy::schema::Field;

/// Shorter words are near to everything.
const SHORTEST: usize = 4;
/// From this length on two letters may be wrong.
const LONG: usize = 8;
/// The most words that are compared, so that the largest index costs no more than a moment.
const LOOKED_AT: usize = 500_000;

/// The indexed word nearest to `word`, in its stemmed form; of equally near ones the most frequent. `None` where the
/// word itself is indexed or nothing is near. The first letter has to be right.
pub(crate) fn nearest(text: &Text, field: Field, word: &str) -> tantivy::Result<Option<String>> {
    let letters: Vec<char> = word.chars().collect();
    let Some(first) = letters.first().filter(|_| letters.len() >= SHORTEST) else { return Ok(None) };
    let most = if letters.len() >= LONG { 2 } else { 1 };
    let mut best: Option<(usize, u32, String)> = None;
    let mut left = LOOKED_AT;
    for segment in text.segment_readers() {
        let index = segment.inverted_index(field)?;
        let begins = first.to_string();
        let mut terms = index.terms().range().ge(&begins).into_stream()?;
        while left > 0 && terms.advance() {
            left -= 1;
            let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
            if !term.starts_with(*first) {
                break;
            }
            let Some(far) = edit_distance(&letters, term, most) else { continue };
            if far == 0 {
                return Ok(None);
            }
            let said = terms.value().doc_freq;
            let is_better = best.as_ref().is_none_or(|(known, often, _)| (far, *often) < (*known, said));
            if is_better {
                best = Some((far, said, term.to_owned()));
            }
        }
    }
    Ok(best.map(|(_, _, term)| term))
}

/// The number of letters to change, insert, delete or swap with the next, where that is at most `most` (optimal
/// string alignment distance).
pub fn edit_distance(word: &[char], other: &str, most: usize) -> Option<usize> {
    let other: Vec<char> = other.chars().take(word.len() + most + 1).collect();
    if word.len().abs_diff(other.len()) > most {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, a) in word.iter().enumerate() {
        let mut next = vec![line + 1];
        for (column, b) in other.iter().enumerate() {
            let swapped = line > 0 && column > 0 && *a == other[column - 1] && word[line - 1] == *b;
            let mut least =
                (row[column] + usize::from(a != b)).min(row[column + 1] + 1).min(next[column] + 1);
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            next.push(least);
        }
        if next.iter().all(|far| *far > most) {
            return None;
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|far| *far <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_near() {
        let check = |word: &str, other: &str, most: usize, expected: Option<usize>| {
            let letters: Vec<char> = word.chars().collect();
            assert_eq!(edit_distance(&letters, other, most), expected, "{word} {other}");
        };
        check("token", "token", 1, Some(0));
        check("tokne", "token", 1, Some(1));
        check("tokn", "token", 1, Some(1));
        check("tooken", "token", 1, Some(1));
        check("tiken", "token", 1, Some(1));
        check("kitten", "sitting", 2, None);
        check("refrehs", "refresh", 2, Some(1));
        check("müll", "mull", 1, Some(1));
        check("token", &"t".repeat(10_000), 2, None);
        check("", "", 1, Some(0));
    }
}
