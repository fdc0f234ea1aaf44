//! A long text in one short line.

/// The longest text kept of a prompt, in characters.
pub const PREVIEW_LENGTH: usize = 200;

/// A text's first characters, on one line; at most [`PREVIEW_LENGTH`] with the sign that more follows.
pub fn preview(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(PREVIEW_LENGTH + 8));
    for (at, word) in text.split_whitespace().enumerate() {
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
