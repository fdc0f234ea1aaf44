//! A line diff of two texts with context.

use std::time::Duration;

use similar::{ChangeTag, TextDiff};

/// How many equal lines are shown around a difference.
const AROUND: usize = 2;
/// After this time the diff becomes coarser.
const DEADLINE: Duration = Duration::from_secs(1);

/// The lines of both texts: ` ` in both, `-` only in the first, `+` only in the second; `…` for what is left out.
pub(crate) fn diff(before: &str, after: &str) -> Vec<(char, String)> {
    let diff = TextDiff::configure().timeout(DEADLINE).diff_lines(before, after);
    let (mut shown, mut next) = (Vec::new(), 0);
    for group in diff.grouped_ops(AROUND) {
        for op in group {
            if op.old_range().start > next {
                shown.push(('…', String::new()));
            }
            next = op.old_range().end;
            shown.extend(diff.iter_changes(&op).map(|change| (mark(change.tag()), line(change.value()))));
        }
    }
    if next < diff.old_slices().len() {
        shown.push(('…', String::new()));
    }
    shown
}

fn mark(tag: ChangeTag) -> char {
    match tag {
        ChangeTag::Equal => ' ',
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
    }
}

fn line(text: &str) -> String {
    text.trim_end_matches(['\n', '\r']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &str, after: &str, expected: &[&str]) {
        let found: Vec<String> =
            diff(before, after).into_iter().map(|(mark, line)| format!("{mark}{line}")).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn shows_changes_with_the_lines_around_them() {
        check("", "a\nb", &["+a", "+b"]);
        check("a\nb\nc\nd\ne\n", "a\nb\nc\nX\ne\n", &["…", " b", " c", "-d", "+X", " e"]);
        check("a\nb\nc\nd", "X\nb\nc\nd", &["-a", "+X", " b", " c", "…"]);
        check("a\nb", "a\nb", &["…"]);
    }
}
