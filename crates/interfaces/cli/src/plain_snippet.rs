//! Snippets without the marks of Markdown that say nothing on a terminal: headings, bold and fences. Pure.

/// A text without them, and where its own marked ranges are then.
pub(crate) fn without_markdown(text: &str, marks: &[(usize, usize)]) -> (String, Vec<(usize, usize)>) {
    let left_out = left_out(text);
    let is_left_out = |at: usize| left_out.iter().any(|&(from, to)| (from..to).contains(&at));
    let before = |place: usize| {
        let gone: usize =
            left_out.iter().map(|&(from, to)| to.min(place).saturating_sub(from.min(place))).sum();
        place - gone
    };
    let kept = text.char_indices().filter(|(at, _)| !is_left_out(*at)).map(|(_, c)| c).collect();
    (kept, marks.iter().map(|&(from, to)| (before(from), before(to))).collect())
}

/// The ranges of Markdown's marks in a text whose lines were joined.
fn left_out(text: &str) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut opened = None;
    for (at, _) in text.match_indices(['#', '`', '*']) {
        if ranges.last().is_some_and(|&(_, end)| at < end) {
            continue;
        }
        let (before, rest) = (text[..at].chars().next_back(), &text[at..]);
        let begins = before.is_none_or(|c| c.is_whitespace() || c == '…');
        if rest.starts_with('#') && begins {
            ranges.extend(heading(rest).map(|length| (at, at + length)));
        } else if rest.starts_with("```") && begins {
            let word = rest.find(char::is_whitespace).map_or(rest.len(), |end| end + 1);
            ranges.push((at, at + word));
        } else if rest.starts_with("**") && !rest.starts_with("***") {
            let next = rest[2..].chars().next();
            let is_open = opened.is_none() && is_outside(before) && next.is_some_and(begins_bold);
            let is_close = before.is_some_and(|c| !c.is_whitespace() && c != '*') && is_outside(next);
            match opened {
                Some(open) if is_close => {
                    ranges.extend([(open, open + 2), (at, at + 2)]);
                    opened = None;
                }
                None if is_open => opened = Some(at),
                // Its beginning was cut off.
                None if is_close && text.starts_with('…') && ranges.is_empty() => ranges.push((at, at + 2)),
                _ => {}
            }
        }
    }
    if text.ends_with('…') {
        ranges.extend(opened.map(|open| (open, open + 2)));
    }
    ranges.sort_unstable();
    ranges
}

/// The length of a heading's marks and the space after them; one `#` may be a comment's.
fn heading(rest: &str) -> Option<usize> {
    let hashes = rest.len() - rest.trim_start_matches('#').len();
    ((2..=6).contains(&hashes) && rest[hashes..].starts_with(' ')).then_some(hashes + 1)
}

/// Whether a letter beside bold marks is outside the bold words.
fn is_outside(letter: Option<char>) -> bool {
    letter.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '*' | '/' | '_'))
}

/// Whether bold words begin with a letter.
fn begins_bold(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '`' | '"' | '(' | '“')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_markdown(text, &[]).0, expected, "{text:?}");
    }

    #[test]
    fn headings_bold_and_fences_go() {
        check(
            "Done: ## Summary **Extracted shared logic** into `a.rs`",
            "Done: Summary Extracted shared logic into `a.rs`",
        );
        check("…### 1. **`Result` struct** - Returns", "…1. `Result` struct - Returns");
        check("Run ```sh cargo test ``` again", "Run cargo test again");
        check("…shared logic**: moved. **Later** gone **cut of…", "…shared logic: moved. Later gone cut of…");
    }

    #[test]
    fn what_is_no_markdown_stays() {
        for text in [
            "src/**/*.rs and **/*.go",
            "2**3 ** 4",
            "# a comment",
            "#12 and ##",
            "char **argv",
            "a `b` c",
            "/*** x ***/",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn marked_words_stay_marked() {
        let text = "## Fix **token refresh** now";
        let at = |word: &str| text.find(word).map(|from| (from, from + word.len())).unwrap();
        let (plain, marks) = without_markdown(text, &[at("Fix"), at("refresh"), at("now")]);
        let marked: Vec<&str> = marks.iter().map(|&(from, to)| &plain[from..to]).collect();
        assert_eq!((plain.as_str(), marked), ("Fix token refresh now", vec!["Fix", "refresh", "now"]));
    }
}
