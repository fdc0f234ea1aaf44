//! Styled text in lines: made safe for a terminal, wrapped between words, its matching words marked, written.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::safe;

/// How many cells a tab takes at most.
const TAB: usize = 4;

/// A text of one style; nothing in it controls a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StyledText {
    /// The text.
    pub(crate) text: String,
    /// Its style.
    pub(crate) style: Style,
}

impl StyledText {
    /// A text, which is made safe: Markdown's entities name control characters, too.
    pub(crate) fn new(text: &str, style: Style) -> Self {
        Self { text: safe(text), style }
    }
}

/// One line of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledLine(pub(crate) Vec<StyledText>);

impl StyledLine {
    /// A line of one style.
    pub(crate) fn of(text: &str, style: Style) -> Self {
        let mut line = Self::default();
        line.push(StyledText::new(text, style));
        line
    }

    /// A line of text that is safe already, with its tabs.
    pub(crate) fn verbatim(text: &str) -> Self {
        Self(vec![StyledText { text: text.to_owned(), style: Style::new() }])
    }

    /// Adds text at its end.
    pub(crate) fn push(&mut self, more: StyledText) {
        match self.0.last_mut().filter(|last| last.style == more.style) {
            _ if more.text.is_empty() => {}
            Some(last) => last.text.push_str(&more.text),
            None => self.0.push(more),
        }
    }

    /// Adds another line at its end.
    pub(crate) fn append(&mut self, more: Self) {
        more.0.into_iter().for_each(|text| self.push(text));
    }

    /// The same without spaces at its end.
    pub(crate) fn without_trailing_space(mut self) -> Self {
        while let Some(last) = self.0.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.0.pop();
        }
        self
    }

    /// Its width in cells.
    pub(crate) fn width(&self) -> usize {
        self.0.iter().map(|text| text.text.width()).sum()
    }

    /// The same with its matching words marked.
    pub(crate) fn marked(self, marks: &Marks) -> Self {
        if marks.words.is_empty() {
            return self;
        }
        let mut line = Self::default();
        for StyledText { text, style } in self.0 {
            for run in runs(&text) {
                let style = if marks.hold(run) { AnsiColor::Yellow.on_default().bold() } else { style };
                line.push(StyledText { text: run.to_owned(), style });
            }
        }
        line
    }

    /// Writes it with its line end.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for StyledText { text, style } in &self.0 {
            write!(out, "{style}{text}{style:#}")?;
        }
        writeln!(out)
    }
}

/// The words of a text, and what is between them.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c: char| is_letter(c) != is_letter(first)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// The words that are marked in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// In small letters.
    words: Vec<String>,
    /// Whether they are found within longer words, not only at their beginning.
    is_within: bool,
}

impl Marks {
    /// The words of a question, which are the beginnings of longer ones.
    pub(crate) fn of_question(question: &str) -> Self {
        Self { words: words(question).filter(|word| word.chars().count() > 2).collect(), is_within: false }
    }

    /// The words that a text contains, wherever they are in it.
    pub(crate) fn within(texts: &[String]) -> Self {
        Self { words: texts.iter().flat_map(|text| words(text)).collect(), is_within: true }
    }

    /// Whether one of the words is in a text.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        runs(text).any(|run| self.hold(run))
    }

    /// Which of the words are in a text, by their numbers.
    pub(crate) fn found_in(&self, text: &str) -> BTreeSet<usize> {
        let numbers = |run: &str| {
            let run = run.to_lowercase();
            let words = self.words.iter().enumerate();
            words
                .filter(|(_, word)| self.is_word_in(word, &run))
                .map(|(number, _)| number)
                .collect::<Vec<_>>()
        };
        runs(text).flat_map(numbers).collect()
    }

    fn hold(&self, run: &str) -> bool {
        let run = run.to_lowercase();
        self.words.iter().any(|word| self.is_word_in(word, &run))
    }

    fn is_word_in(&self, word: &str, run: &str) -> bool {
        if self.is_within { run.contains(word) } else { run.starts_with(word) }
    }
}

/// The words of a text, in small letters.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The text with spaces for its tabs.
pub(crate) fn without_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        let cells = if c == '\t' { TAB - column % TAB } else { c.width().unwrap_or(0) };
        if c == '\t' {
            out.extend(std::iter::repeat_n(' ', cells));
        } else {
            out.push(c);
        }
        column += cells;
    }
    out
}

/// What becomes of a word that is longer than a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LongWords {
    /// It is kept whole, so that an address can be copied; only Chinese and the like, which has no spaces, is broken.
    Keep,
    /// It is broken: a column of a table cannot be wider.
    Break,
}

/// The text in lines of at most `width` cells; it holds line ends of its own.
pub(crate) fn wrapped(text: &[StyledText], width: usize, long: LongWords) -> Vec<StyledLine> {
    let mut flow = Flow::new(width.max(1), long);
    for StyledText { text, style } in text {
        for piece in text.split_inclusive([' ', '\n']) {
            let word = piece.trim_end_matches([' ', '\n']);
            flow.word.push(StyledText { text: word.to_owned(), style: *style });
            match &piece[word.len()..] {
                "" => {}
                "\n" => flow.end_line(),
                space => flow.end_word(StyledText { text: space.to_owned(), style: *style }),
            }
        }
    }
    flow.end_line();
    flow.lines
}

/// The state of wrapping.
#[derive(Debug)]
struct Flow {
    width: usize,
    long: LongWords,
    lines: Vec<StyledLine>,
    line: StyledLine,
    /// The spaces after the last word, written with the next one.
    gap: StyledLine,
    word: StyledLine,
}

impl Flow {
    fn new(width: usize, long: LongWords) -> Self {
        let (line, gap, word) = Default::default();
        Self { width, long, lines: Vec::new(), line, gap, word }
    }

    fn end_word(&mut self, space: StyledText) {
        self.place_word();
        if !self.line.0.is_empty() {
            self.gap.push(space);
        }
    }

    fn end_line(&mut self) {
        self.place_word();
        self.gap = StyledLine::default();
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn place_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let cells = word.width();
        if cells == 0 {
            return;
        }
        if !self.line.0.is_empty() && self.line.width() + self.gap.width() + cells > self.width {
            self.lines.push(std::mem::take(&mut self.line));
            self.gap = StyledLine::default();
        }
        self.line.append(std::mem::take(&mut self.gap));
        if cells > self.width && (self.long == LongWords::Break || is_unspaced(&word)) {
            self.break_word(word);
        } else {
            self.line.append(word);
        }
    }

    fn break_word(&mut self, word: StyledLine) {
        let mut used = self.line.width();
        for StyledText { text, style } in word.0 {
            for c in text.chars() {
                let cells = c.width().unwrap_or(0);
                if used + cells > self.width && used > 0 {
                    self.lines.push(std::mem::take(&mut self.line));
                    used = 0;
                }
                self.line.push(StyledText { text: c.to_string(), style });
                used += cells;
            }
        }
    }
}

/// Whether it is in a script that has no spaces between words.
fn is_unspaced(word: &StyledLine) -> bool {
    word.0.iter().any(|text| text.text.chars().any(|c| c.width() == Some(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(lines: &[StyledLine]) -> Vec<String> {
        let text = |line: &StyledLine| line.0.iter().map(|text| text.text.as_str()).collect();
        lines.iter().map(text).collect()
    }

    #[test]
    fn words_are_kept_together_over_styles() {
        let bold = Style::new().bold();
        let text = [("one tw", Style::new()), ("o", bold), (" three", Style::new())]
            .map(|(text, style)| StyledText::new(text, style));
        assert_eq!(plain(&wrapped(&text, 6, LongWords::Keep)), ["one", "two", "three"]);
        assert_eq!(plain(&wrapped(&text, 7, LongWords::Keep)), ["one two", "three"]);
    }

    #[test]
    fn long_words() {
        let check = |text: &str, long, expected: &[&str]| {
            let text = StyledText { text: text.to_owned(), style: Style::new() };
            assert_eq!(plain(&wrapped(&[text], 6, long)), expected);
        };
        check("see https://a.example/b now", LongWords::Keep, &["see", "https://a.example/b", "now"]);
        check("see https://a.b now", LongWords::Break, &["see", "https:", "//a.b", "now"]);
        check("日本語日本語 x", LongWords::Keep, &["日本語", "日本語", "x"]);
        check("one\n\ntwo", LongWords::Keep, &["one", "", "two"]);
        check("", LongWords::Keep, &[""]);
    }

    #[test]
    fn matching_words_are_marked() {
        let check = |marks: Marks, expected: &[&str]| {
            let line = StyledLine::of("Tokens rotate, a detokenizer", Style::new()).marked(&marks);
            let marked = line.0.iter().filter(|text| text.style != Style::new());
            assert_eq!(marked.map(|text| text.text.as_str()).collect::<Vec<_>>(), expected);
            assert_eq!(plain(&[line]), ["Tokens rotate, a detokenizer"]);
        };
        check(Marks::of_question("a token?"), &["Tokens"]);
        check(
            Marks::within(&["a/token".to_owned(), "Rot".to_owned()]),
            &["Tokens", "rotate", "a", "detokenizer"],
        );
        check(Marks::default(), &[]);
    }

    #[test]
    fn tabs_are_spaces() {
        assert_eq!(without_tabs("\ta\tb日\tc"), "    a   b日 c");
    }
}
