//! Wraps prose that comes word by word to the terminal's width; code and tables are not wrapped.

use unicode_width::UnicodeWidthStr as _;

/// How many spaces before a line make it code.
const INDENTED: usize = 4;

/// The state of wrapping one text.
#[derive(Debug)]
pub(crate) struct Wrap {
    width: usize,
    /// How many cells of the line are taken.
    column: usize,
    /// The space after the last word, which is written with the next one: a line ends with a word.
    gap: String,
    /// Whether the current line is not wrapped.
    is_verbatim: bool,
    /// Whether the current line is in a fenced block.
    is_fenced: bool,
}

/// A short text of our own in lines of at most `width` cells.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    Wrap::new(width.max(1)).add(text)
}

/// The same, with so many spaces before each line.
pub(crate) fn indented(text: &str, width: usize, indent: usize) -> String {
    let space = " ".repeat(indent);
    let lines = wrapped(text, width.saturating_sub(indent));
    lines.lines().map(|line| format!("{space}{line}")).collect::<Vec<_>>().join("\n")
}

/// A text whose first line begins at a cell, and whose further lines have so many spaces before them. Where there is no
/// width, because no terminal shows it, it stays in one line.
pub(crate) fn hanging(text: &str, width: Option<usize>, begins_at: usize, indent: usize) -> String {
    let Some(width) = width else { return text.to_owned() };
    let (mut out, mut column) = (String::with_capacity(text.len()), begins_at);
    for (at, word) in text.split(' ').enumerate() {
        let cells = word.width();
        if at > 0 && column + 1 + cells > width {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if at > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += cells;
    }
    out
}

impl Wrap {
    /// Wraps to lines of at most `width` cells.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, column: 0, gap: String::new(), is_verbatim: false, is_fenced: false }
    }

    /// Whether the current line is not complete.
    pub(crate) fn is_open(&self) -> bool {
        self.column > 0
    }

    /// Returns the next piece of the text with line breaks where they are needed.
    pub(crate) fn add(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for piece in text.split_inclusive([' ', '\t', '\n']) {
            self.piece(piece, &mut out);
        }
        out
    }

    /// Adds a word and the space after it.
    fn piece(&mut self, piece: &str, out: &mut String) {
        let word = piece.trim_end_matches([' ', '\t', '\n']);
        let cells = word.width();
        if self.column == 0 {
            self.begin(word);
        } else if self.column < INDENTED && cells == 0 {
            self.is_verbatim |= self.column + 1 >= INDENTED;
        }
        let end = self.column + self.gap.len() + cells;
        if cells > 0 && self.column > 0 && end > self.width && !self.is_kept() {
            out.push('\n');
            (self.column, self.gap) = (0, String::new());
        }
        if cells > 0 {
            out.push_str(&self.gap);
            out.push_str(word);
            self.column += std::mem::take(&mut self.gap).len() + cells;
        }
        match &piece[word.len()..] {
            "\n" => {
                out.push('\n');
                self.gap.clear();
                (self.column, self.is_verbatim) = (0, false);
            }
            // An indentation.
            space if cells == 0 && self.gap.is_empty() => {
                out.push_str(space);
                self.column += space.len();
            }
            space => self.gap.push_str(space),
        }
    }

    fn begin(&mut self, word: &str) {
        if word.starts_with("```") {
            self.is_fenced = !self.is_fenced;
            self.is_verbatim = true;
        }
        self.is_verbatim |= word.starts_with('|');
    }

    fn is_kept(&self) -> bool {
        self.is_verbatim || self.is_fenced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_and_code_is_not() {
        let check = |pieces: &[&str], expected: &str| {
            let mut wrap = Wrap::new(10);
            let found: String = pieces.iter().map(|piece| wrap.add(piece)).collect();
            assert_eq!(found, expected, "{pieces:?}");
        };
        check(&["one two ", "three ", "four"], "one two\nthree four");
        check(&["one two ", "three"], "one two\nthree");
        check(&["a-word-that-is-long ", "and"], "a-word-that-is-long\nand");
        check(&["short\nlines ", "stay\n"], "short\nlines stay\n");
        check(
            &["```\nlet a = ", "one + two;\n```\nlines of ", "prose\n"],
            "```\nlet a = one + two;\n```\nlines of\nprose\n",
        );
        check(&["| a table | of ", "words |\nof prose ", "again"], "| a table | of words |\nof prose\nagain");
        check(&["    indented code ", "is kept"], "    indented code is kept");
        check(&["日本語 ", "日本語"], "日本語\n日本語");
        check(&["", "x"], "x");
    }

    #[test]
    fn further_lines_hang_below_the_first() {
        let check = |width, begins_at, indent, expected: &str| {
            assert_eq!(
                hanging("one two three", width, begins_at, indent),
                expected,
                "{width:?} {begins_at} {indent}"
            );
        };
        check(None, 9, 2, "one two three");
        check(Some(13), 0, 2, "one two three");
        check(Some(12), 0, 2, "one two\n  three");
        check(Some(12), 6, 2, "one\n  two three");
        check(Some(12), 6, 6, "one\n      two\n      three");
        check(Some(1), 0, 4, "one\n    two\n    three");
    }
}
