//! Snippets with their matching words marked, wrapped to the width of the terminal.

use anstyle::AnsiColor;
use unicode_width::UnicodeWidthStr as _;

use crate::text::safe;

/// How much of a text is shown before the first matching word, in bytes.
const LEAD: usize = 24;

/// The beginning of a word a little before a place, so that a short line shows the place with what leads to it.
pub(crate) fn shortly_before(text: &str, place: usize) -> usize {
    let starts = text.char_indices().zip(text.chars().skip(1)).filter(|((_, before), _)| *before == ' ');
    let starts = starts.map(|((at, _), _)| at + 1).filter(|at| *at + LEAD <= place);
    starts.last().unwrap_or(0)
}

/// The snippet with the words of the question highlighted, in lines of at most `width` cells.
pub(crate) fn marked(snippet: &str, marks: &[(usize, usize)], width: usize) -> Vec<String> {
    let style = AnsiColor::Yellow.on_default().bold();
    let is_marked = |at: usize| marks.iter().any(|&(start, end)| (start..end).contains(&at));
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in words(snippet) {
        let word = word.trim_end();
        let cells = word.width();
        if used > 0 && used + 1 + cells > width {
            lines.push(String::new());
            used = 0;
        }
        if used > 0 {
            lines.iter_mut().last().into_iter().for_each(|line| line.push(' '));
            used += 1;
        }
        used += cells;
        if let Some(line) = lines.last_mut() {
            let mut was_marked = false;
            for (offset, c) in word.char_indices() {
                let now_marked = is_marked(at + offset);
                if now_marked != was_marked {
                    line.push_str(&if now_marked {
                        style.render().to_string()
                    } else {
                        style.render_reset().to_string()
                    });
                    was_marked = now_marked;
                }
                line.push_str(&safe(c.encode_utf8(&mut [0; 4])));
            }
            if was_marked {
                line.push_str(&style.render_reset().to_string());
            }
        }
    }
    lines
}

/// The words of a text with the space after them, and the byte offset of each.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive(' ').map(move |word| {
        let start = at;
        at += word.len();
        (start, word)
    })
}
