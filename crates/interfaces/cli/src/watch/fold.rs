//! Wraps the texts below the board, so that all of a command can be read.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::fit;

/// Wraps a text to `width` columns, indented by two; only a word that is longer than a line is broken.
pub(crate) fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines
                .extend(pieces(word, width.saturating_sub(2)).into_iter().map(|piece| format!("  {piece}"))),
        }
    }
    lines.into_iter().map(|line| fit(&line, width)).collect()
}

/// A word in pieces of at most `width` columns.
fn pieces(word: &str, width: usize) -> Vec<String> {
    let (mut pieces, mut used) = (vec![String::new()], 0);
    for c in word.chars() {
        let cells = c.width().unwrap_or(0);
        if used > 0 && used + cells > width {
            pieces.push(String::new());
            used = 0;
        }
        used += cells;
        pieces.last_mut().into_iter().for_each(|piece| piece.push(c));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_words_are_broken() {
        assert_eq!(folded("run the tests", 9), ["  run the", "  tests"]);
        assert_eq!(folded("cd crates/interfaces/cli", 10), ["  cd", "  crates/i", "  nterface", "  s/cli"]);
        assert_eq!(folded("日本語", 6), ["  日本", "  語"]);
    }
}
