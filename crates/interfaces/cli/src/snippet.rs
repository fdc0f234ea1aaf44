//! Snippets with their matching words marked, wrapped to the width of the terminal.

use anstyle::AnsiColor;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::text::{colours, fit, safe};

/// How much of a text is shown before the first matching word, in bytes.
const LEAD: usize = 24;

/// A text from a word a little before its first mark, so that a short line shows the mark with what leads to it.
pub(crate) fn from_shortly_before(text: &str, marks: &[(usize, usize)]) -> (String, Vec<(usize, usize)>) {
    let place = marks.first().map_or(0, |mark| mark.0);
    let starts = text.char_indices().filter(|(_, before)| *before == ' ').map(|(at, _)| at + 1);
    let Some(start) = starts.take_while(|at| at + LEAD <= place).last() else {
        return (text.to_owned(), marks.to_vec());
    };
    let moved = |at: usize| at.saturating_sub(start) + '…'.len_utf8();
    let marks = marks.iter().map(|&(from, to)| (moved(from), moved(to))).collect();
    (format!("…{}", &text[start..]), marks)
}

/// The beginning of a text in one line of at most `width` cells, which may end within a word.
pub(crate) fn marked_line(text: &str, marks: &[(usize, usize)], width: usize) -> String {
    let shown = fit(text, width);
    let kept = if shown == text { shown.len() } else { shown.len() - '…'.len_utf8() };
    let inside: Vec<(usize, usize)> =
        marks.iter().filter(|(from, _)| *from < kept).map(|&(from, to)| (from, to.min(kept))).collect();
    marked(&shown, &inside, width).concat()
}

/// The same as [`marked`] in at most so many lines, with `…` where something is left out.
pub(crate) fn marked_lines(text: &str, marks: &[(usize, usize)], width: usize, most: usize) -> Vec<String> {
    let lines = marked(text, marks, width);
    if lines.len() <= most {
        return lines;
    }
    let mut lines = marked(text, marks, width.saturating_sub(1));
    lines.truncate(most);
    lines.last_mut().into_iter().for_each(|last| last.push('…'));
    lines
}

/// The snippet with the words of the question highlighted, in lines of at most `width` cells.
pub(crate) fn marked(snippet: &str, marks: &[(usize, usize)], width: usize) -> Vec<String> {
    let style = AnsiColor::Yellow.on_default().bold();
    let is_marked = |at: usize| marks.iter().any(|&(start, end)| (start..end).contains(&at));
    let colours = colours(snippet);
    let is_shown = |at: usize| !colours.iter().any(|sequence| sequence.contains(&at));
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in words(snippet).flat_map(|(at, word)| pieces(at, word, width, is_shown)) {
        let shown: Vec<(usize, char)> = word
            .trim_end()
            .char_indices()
            .map(|(offset, c)| (at + offset, c))
            .filter(|(at, _)| is_shown(*at))
            .collect();
        let cells = shown.iter().map(|(_, c)| *c).collect::<String>().width();
        if shown.is_empty() && !word.trim_end().is_empty() {
            continue;
        }
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
            for (at, c) in shown {
                let now_marked = is_marked(at);
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

/// A word, in pieces of at most `width` cells where it is wider than a line, and the byte offset of each.
fn pieces(at: usize, word: &str, width: usize, is_shown: impl Fn(usize) -> bool) -> Vec<(usize, &str)> {
    let (mut pieces, mut begun, mut used) = (Vec::new(), 0, 0);
    for (offset, c) in word.trim_end().char_indices().filter(|(offset, _)| is_shown(at + offset)) {
        let cells = c.width().unwrap_or(0);
        if used > 0 && used + cells > width {
            pieces.push((at + begun, &word[begun..offset]));
            (begun, used) = (offset, 0);
        }
        used += cells;
    }
    pieces.push((at + begun, &word[begun..]));
    pieces
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_marked() {
        let text = "one two three four five six seven eight nine ten";
        let place = text.find("nine").unwrap();
        let (shown, marks) = from_shortly_before(text, &[(place, place + 4)]);
        assert_eq!(shown, "…four five six seven eight nine ten");
        assert_eq!(marks.iter().map(|&(from, to)| &shown[from..to]).collect::<Vec<_>>(), ["nine"]);
        assert_eq!(from_shortly_before(text, &[(4, 7)]).0, text);
        assert_eq!(marked_lines(text, &[], 14, 2), ["one two three", "four five six…"]);
        assert_eq!(marked_lines(text, &[], 48, 1), [text]);
    }

    #[test]
    fn a_word_that_is_wider_than_a_line_is_broken() {
        assert_eq!(
            marked("see crates/interfaces/cli now", &[], 10),
            ["see", "crates/int", "erfaces/cl", "i now"]
        );
        assert_eq!(marked_lines("crates/interfaces/cli", &[], 10, 1), ["crates/in…"]);
        let line = marked_line("see crates/interfaces/cli", &[(4, 21), (22, 25)], 12);
        assert_eq!(anstream::adapter::strip_str(&line).to_string(), "see crates/…");
        let coloured = marked("\u{1b}[31mabcdef\u{1b}[0m gh", &[], 4);
        assert_eq!(coloured, ["abcd", "ef", "gh"]);
    }

    #[test]
    fn colours_that_were_printed_are_not_shown() {
        let check = |text: &str, width: usize, expected: &[&str]| {
            assert_eq!(marked(text, &[], width), expected, "{text:?}");
        };
        check("\u{1b}[0;32mok\u{1b}[0m all done", 8, &["ok all", "done"]);
        check("\u{1b}[1m", 8, &[""]);
        let shown = marked("\u{1b}[31mred\u{1b}[0m", &[(5, 8)], 8);
        assert_eq!(anstream::adapter::strip_str(&shown[0]).to_string(), "red");
        assert!(shown[0].len() > 3, "it is still marked: {shown:?}");
    }
}
