//! Writes the difference of two texts as a patch that `git apply` takes. Pure.

use std::fmt::Write as _;
use std::time::Duration;

use similar::{Change, ChangeTag, DiffOp, TextDiff};

/// How many unchanged lines surround a change, as in git.
const CONTEXT_LINES: usize = 3;
/// After this time the difference becomes coarser.
const DEADLINE: Duration = Duration::from_secs(2);

/// How many lines a change adds and removes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCounts {
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
}

/// How many lines differ between two texts.
pub fn count_lines(before: &str, after: &str) -> LineCounts {
    let mut counts = LineCounts::default();
    let (before, after) = (lines(before), lines(after));
    for change in diff(&before, &after).iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => counts.added += 1,
            ChangeTag::Delete => counts.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    counts
}

/// The difference between two states of a file, each `None` where there was no such file; empty where they are the
/// same.
///
/// `path` is relative to the repository.
pub fn patch(path: &str, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let (old, new) = (quoted(&format!("a/{path}")), quoted(&format!("b/{path}")));
    let mut out = format!("diff --git {old} {new}\n");
    // Writing to a String cannot fail.
    let _ = match (before, after) {
        (None, _) => writeln!(out, "new file mode 100644"),
        (_, None) => writeln!(out, "deleted file mode 100644"),
        _ => Ok(()),
    };
    let (from, to) = (lines(before.unwrap_or_default()), lines(after.unwrap_or_default()));
    let diff = diff(&from, &to);
    let groups = diff.grouped_ops(CONTEXT_LINES);
    let hunks: String = groups.iter().map(|ops| hunk(&diff, ops)).collect();
    if hunks.is_empty() {
        return out;
    }
    let name = |there: Option<&str>, name: &str| match there {
        None => "/dev/null".to_owned(),
        // A name with a space ends with a tab, as git writes it.
        Some(_) if name.contains(' ') => format!("{name}\t"),
        Some(_) => name.to_owned(),
    };
    let _ = write!(out, "--- {}\n+++ {}\n{hunks}", name(before, &old), name(after, &new));
    out
}

/// Lines that changed, between lines that did not, below a header that says which they are.
fn hunk(diff: &TextDiff<'_, '_, '_, str>, ops: &[DiffOp]) -> String {
    let changes: Vec<Change<&str>> = ops.iter().flat_map(|op| diff.iter_changes(op)).collect();
    // Counted from what is printed: the header of `similar` takes an operation's place in the other text, which can
    // be that of another operation.
    let old = range(changes.iter().filter_map(Change::old_index));
    let new = range(changes.iter().filter_map(Change::new_index));
    let mut out = format!("@@ -{old} +{new} @@\n");
    for change in changes {
        let _ = write!(out, "{}{}", change.tag(), change.value());
        if !change.value().ends_with('\n') {
            out += "\n\\ No newline at end of file\n";
        }
    }
    out
}

/// Neighbouring lines as a header counts them; without any, they follow line 0.
fn range(mut lines: impl Iterator<Item = usize>) -> String {
    match (lines.next(), lines.count()) {
        (None, _) => "0,0".to_owned(),
        (Some(first), 0) => (first + 1).to_string(),
        (Some(first), more) => format!("{},{}", first + 1, more + 1),
    }
}

fn diff<'a>(before: &'a [&'a str], after: &'a [&'a str]) -> TextDiff<'a, 'a, 'a, str> {
    TextDiff::configure().timeout(DEADLINE).newline_terminated(true).diff_slices(before, after)
}

/// Lines as git counts them: a lone carriage return does not end one.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A path as git writes it, quoted if it has special characters.
fn quoted(path: &str) -> String {
    if !path.chars().any(|c| c.is_control() || matches!(c, '"' | '\\')) {
        return path.to_owned();
    }
    let mut out = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out += "\\n",
            '\t' => out += "\\t",
            c if c.is_control() => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(out, "\\{byte:03o}");
                }
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_apply_with_git() {
        let check = |before, after, expected: &str| assert_eq!(patch("a.txt", before, after), expected);
        check(
            Some("a\nb\n"),
            Some("a\nc\n"),
            "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
        );
        check(
            None,
            Some("new"),
            "diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+new\n\\ No newline at end of file\n",
        );
        check(None, Some(""), "diff --git a/a.txt b/a.txt\nnew file mode 100644\n");
        check(Some("a"), Some("a"), "");
        check(
            Some("a\rb\n"),
            Some("a\rc\r\n"),
            "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\rb\n+a\rc\r\n",
        );
        check(
            Some("a\r"),
            Some("a\rb"),
            "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\r\n\\ No newline at end of file\n+a\rb\n\\ No newline at end of file\n",
        );
    }

    /// What a hunk finds and what it leaves.
    fn sides(hunk: &str) -> [String; 2] {
        let mut sides = [String::new(), String::new()];
        let mut written: &[usize] = &[];
        for line in lines(hunk) {
            let (tag, text) = line.split_at(1);
            if tag == "\\" {
                for &side in written {
                    assert_eq!(sides[side].pop(), Some('\n'));
                }
                continue;
            }
            written = match tag {
                "-" => &[0],
                "+" => &[1],
                _ => &[0, 1],
            };
            for &side in written {
                sides[side].push_str(text);
            }
        }
        sides
    }

    /// Checks that hunks have the lines that their headers name, and that nothing else differs.
    fn check_hunks(before: &str, after: &str) {
        let patch = patch("a", Some(before), Some(after));
        let texts = [lines(before), lines(after)];
        let mut ends = [0, 0];
        let mut check_between = |starts: [usize; 2], next: [usize; 2]| {
            let between = [0, 1].map(|side| texts[side][ends[side]..starts[side]].concat());
            assert_eq!(between[0], between[1], "{patch}");
            ends = next;
        };
        for hunk in patch.split("\n@@ -").skip(1) {
            let (header, body) = hunk.split_once(" @@\n").expect("a header");
            let ranges = header.split_once(" +").expect("two ranges");
            let ranges = [ranges.0, ranges.1].map(|range| {
                let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                let [start, count] = [start, count].map(|number| number.parse::<usize>().expect("a number"));
                let start = if count == 0 { start } else { start - 1 };
                start..start + count
            });
            let body = if body.ends_with('\n') { body.to_owned() } else { format!("{body}\n") };
            let named = [0, 1].map(|side| texts[side][ranges[side].clone()].concat());
            assert_eq!(sides(&body), named, "{patch}");
            check_between([ranges[0].start, ranges[1].start], [ranges[0].end, ranges[1].end]);
        }
        check_between([texts[0].len(), texts[1].len()], [0, 0]);
    }

    #[test]
    fn headers_name_the_lines_of_their_hunks() {
        let mut texts = vec![String::new()];
        for length in 0..4 {
            let longest: Vec<_> = texts.iter().filter(|text| lines(text).len() == length).cloned().collect();
            texts
                .extend(longest.iter().flat_map(|text| ["a\n", "b\n", "\n"].map(|line| text.clone() + line)));
        }
        let same = "1\n2\n3\n4\n5\n6\n7\n8\n";
        for (before, after) in texts.iter().flat_map(|one| texts.iter().map(move |other| (one, other))) {
            check_hunks(before, after);
            check_hunks(&(before.clone() + "a"), &(after.clone() + "a"));
            check_hunks(&(before.clone() + "a\rb\r"), &(after.clone() + "a\rc\r"));
            check_hunks(&format!("{before}{same}{after}"), &format!("{after}{same}{before}"));
        }
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        assert_eq!(quoted("a/b c.rs"), "a/b c.rs");
        assert_eq!(quoted("a/\"x\"\t\u{1}"), "\"a/\\\"x\\\"\\t\\001\"");
        assert!(patch("b c", Some("x\n"), Some("y\n")).contains("--- a/b c\t\n"));
    }

    #[test]
    fn lines_are_counted() {
        assert_eq!(count_lines("a\nb\n", "a\nc\nd\n"), LineCounts { added: 2, removed: 1 });
        assert_eq!(count_lines("", ""), LineCounts::default());
    }
}
