//! The line that a person types a question into, with the keys of a shell's prompt. Pure.

/// The longest question, in characters.
const LONGEST: usize = 300;

/// A line of text and the place where the next letter goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TypedLine {
    text: String,
    /// The place, in bytes from the beginning.
    cursor: usize,
}

/// Where the cursor goes, or what is deleted beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Letter,
    Word,
    Line,
}

impl From<&str> for TypedLine {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), cursor: text.len() }
    }
}

impl TypedLine {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What is before the cursor, and what is behind it.
    pub(crate) fn halves(&self) -> (&str, &str) {
        self.text.split_at(self.cursor)
    }

    /// Puts a text in at the cursor, as far as there is room.
    pub(crate) fn insert(&mut self, text: &str) {
        let room = LONGEST.saturating_sub(self.text.chars().count());
        let fitting: String = text.chars().take(room).collect();
        self.text.insert_str(self.cursor, &fitting);
        self.cursor += fitting.len();
    }

    /// Ends the last word, as a space does.
    pub(crate) fn end_word(&mut self) {
        self.move_on(Reach::Line);
        self.insert(" ");
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn move_back(&mut self, reach: Reach) {
        self.cursor = self.before(reach);
    }

    pub(crate) fn move_on(&mut self, reach: Reach) {
        self.cursor = self.behind(reach);
    }

    pub(crate) fn delete_back(&mut self, reach: Reach) {
        let start = self.before(reach);
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
    }

    pub(crate) fn delete_on(&mut self, reach: Reach) {
        let end = self.behind(reach);
        self.text.replace_range(self.cursor..end, "");
    }

    fn before(&self, reach: Reach) -> usize {
        let (before, _) = self.halves();
        match reach {
            Reach::Letter => before.char_indices().next_back().map_or(0, |(at, _)| at),
            Reach::Word => {
                let word = before.trim_end();
                word.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8())
            }
            Reach::Line => 0,
        }
    }

    fn behind(&self, reach: Reach) -> usize {
        let (_, behind) = self.halves();
        let length = match reach {
            Reach::Letter => behind.chars().next().map_or(0, char::len_utf8),
            Reach::Word => {
                let word = behind.trim_start();
                behind.len() - word.len() + word.find(char::is_whitespace).unwrap_or(word.len())
            }
            Reach::Line => behind.len(),
        };
        self.cursor + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(marked: &str) -> TypedLine {
        let cursor = marked.find('|').unwrap();
        TypedLine { text: marked.replace('|', ""), cursor }
    }

    #[track_caller]
    fn check(before: &str, change: impl FnOnce(&mut TypedLine), after: &str) {
        let mut line = at(before);
        change(&mut line);
        assert_eq!(line, at(after), "{before:?}");
    }

    #[test]
    fn the_cursor_goes_by_letters_words_and_the_line() {
        check("tök|", |line| line.move_back(Reach::Letter), "tö|k");
        check("|tök", |line| line.move_back(Reach::Letter), "|tök");
        check("t|ök", |line| line.move_on(Reach::Letter), "tö|k");
        check("token refresh |", |line| line.move_back(Reach::Word), "token |refresh ");
        check("|token refresh", |line| line.move_on(Reach::Word), "token| refresh");
        check("token| refresh", |line| line.move_on(Reach::Word), "token refresh|");
        check("token| x", |line| line.move_back(Reach::Line), "|token x");
        check("token| x", |line| line.move_on(Reach::Line), "token x|");
    }

    #[test]
    fn what_is_beside_the_cursor_is_deleted() {
        check("tö|k", |line| line.delete_back(Reach::Letter), "t|k");
        check("t|ök", |line| line.delete_on(Reach::Letter), "t|k");
        check("fix token| refresh", |line| line.delete_back(Reach::Word), "fix | refresh");
        check("token |", |line| line.delete_back(Reach::Word), "|");
        check("|", |line| line.delete_back(Reach::Word), "|");
        check("fix |token", |line| line.delete_back(Reach::Line), "|token");
    }

    #[test]
    fn what_is_typed_goes_to_the_cursor_and_has_an_end() {
        check("fix |refresh", |line| line.insert("token "), "fix token |refresh");
        let mut line = TypedLine::from("");
        line.insert(&"ö".repeat(LONGEST + 1));
        assert_eq!(line.text().chars().count(), LONGEST);
    }
}
