//! Writes the difference of two texts as a patch that `git apply` takes. Pure.

use std::fmt::Write as _;
use std::time::Duration;

use similar::{ChangeTag, TextDiff};

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
    let hunks = diff(&from, &to).unified_diff().context_radius(CONTEXT_LINES).to_string();
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
