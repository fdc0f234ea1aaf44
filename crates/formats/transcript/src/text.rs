//! A long text in one short line, without secrets.

use std::borrow::Cow;

/// The longest text kept of a prompt, in characters.
pub const PREVIEW_LENGTH: usize = 200;
/// How much of a text is searched for secrets before its beginning is kept, in bytes: one that is cut off is not always
/// recognised.
const SEARCHED: usize = 16 << 10;

/// A text's first characters without its secrets, on one line; at most [`PREVIEW_LENGTH`] with the sign that more follows.
pub fn preview(text: &str) -> String {
    let text = text.trim_start();
    let searched = &text[..text.floor_char_boundary(SEARCHED)];
    let shown = redact::redact_beginning(searched);
    let mut out = String::with_capacity(shown.len().min(PREVIEW_LENGTH + 8));
    for (at, word) in shown.split_whitespace().enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > 4 * PREVIEW_LENGTH {
            break;
        }
    }
    if out.char_indices().nth(PREVIEW_LENGTH).is_some() {
        let (end, _) = out.char_indices().nth(PREVIEW_LENGTH - 1).unwrap_or_default();
        out.truncate(end);
        out.push('…');
    }
    out
}

/// The beginning of a text without its secrets, at most so many characters.
pub(crate) fn beginning(text: &str, longest: usize) -> String {
    // A character has at most four bytes.
    let searched = &text[..text.floor_char_boundary(4 * longest + SEARCHED)];
    let shown = redact::redact_beginning(searched);
    match shown.char_indices().nth(longest) {
        Some((end, _)) => shown[..end].to_owned(),
        None => shown.into_owned(),
    }
}

/// The end of a text without its secrets, at most so many characters.
pub(crate) fn end(text: &str, longest: usize) -> String {
    // Where a secret begins decides what it is, so nothing before it may be missing.
    let shown: Cow<'_, str> = redact::redact(text);
    let start = shown.char_indices().nth_back(longest.saturating_sub(1)).map_or(0, |(start, _)| start);
    shown[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made up, and put together here so that nobody takes it for one.
    fn token() -> String {
        format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi")
    }

    /// Whether six characters in a row of the secret are in a text.
    fn shows(text: &str, secret: &str) -> bool {
        secret.as_bytes()[4..].windows(6).any(|part| text.contains(std::str::from_utf8(part).unwrap()))
    }

    #[test]
    fn no_part_of_a_secret_is_kept_wherever_the_text_is_cut() {
        for before in 100..=300 {
            let text = format!("{} {} and go on{}", "x".repeat(before), token(), " y".repeat(200));
            let all = [preview(&text), beginning(&text, 200), end(&text, 420), end(&text, 430)];
            for kept in all {
                assert!(!shows(&kept, &token()), "{before}: {kept}");
            }
        }
    }

    #[test]
    fn a_secret_is_recognised_by_the_lines_around_it() {
        let text = "Use this:\nname: DB_PASSWORD\nvalue: Kx82pQvL91zz\nand deploy";
        assert!(!preview(text).contains("Kx82pQ"), "{}", preview(text));
    }

    #[test]
    fn short_texts_are_whole() {
        assert_eq!(preview("  Fix\n the  parser "), "Fix the parser");
        assert_eq!(preview(&"é".repeat(PREVIEW_LENGTH)), "é".repeat(PREVIEW_LENGTH));
        assert_eq!(preview(&"é".repeat(201)), format!("{}…", "é".repeat(199)));
        assert_eq!((beginning("abc", 2), end("abc", 2)), ("ab".to_owned(), "bc".to_owned()));
    }
}
