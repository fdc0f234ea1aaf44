//! Quotes words for shells, so that printed commands can be pasted into any shell.

use std::ffi::OsStr;

use model::is_steering;

/// Quotes a word for bash, dash, zsh, fish, mksh and busybox's `sh` alike, only if one of them needs it.
///
/// Returns `None` if there is no common spelling: shells differ on control characters, direction marks make a
/// word look different from what it is, and invalid UTF-8 cannot be printed.
pub fn quoted(word: impl AsRef<OsStr>) -> Option<String> {
    let text = word.as_ref().to_str()?;
    (!text.chars().any(is_steering)).then(|| in_quotes(text))
}

/// Quotes a word for `sh` when it is not displayed; control characters are kept as they are.
///
/// Returns `None` for invalid UTF-8 or a NUL.
pub fn quoted_for_sh(word: impl AsRef<OsStr>) -> Option<String> {
    let text = word.as_ref().to_str()?;
    (!text.contains('\0')).then(|| in_quotes(text))
}

fn in_quotes(text: &str) -> String {
    // `=` alone is harmless inside an option, but makes an assignment of a command's name, and zsh looks for a
    // program behind a leading one.
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "-_./:,@+".contains(c) || (c == '=' && text.starts_with("--"));
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if text.is_empty() {
        return "''".to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    let mut is_open = false;
    for c in text.chars() {
        // fish reads a backslash between single quotes as an escape, the others do not, so it is put outside the
        // quotes.
        let is_outside = matches!(c, '\'' | '\\');
        if is_open == is_outside {
            out.push('\'');
            is_open = !is_outside;
        }
        if is_outside {
            out.push('\\');
        }
        out.push(c);
    }
    if is_open {
        out.push('\'');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_have_to_be() {
        let check = |word: &str, expected: &str| assert_eq!(quoted(word).as_deref(), Some(expected));
        check("plain", "plain");
        check("--resume=a-b", "--resume=a-b");
        check("/home/ana/shop", "/home/ana/shop");
        check("", "''");
        check("a b", "'a b'");
        check("it's", r"'it'\''s'");
        check(r"a\b", r"'a'\\'b'");
        check(r"\'", r"\\\'");
        check("x=y", "'x=y'");
        check("%1", "'%1'");
        check("👩\u{200d}👧", "'👩\u{200d}👧'");
    }

    #[test]
    fn words_that_shells_read_differently_have_no_spelling() {
        use std::os::unix::ffi::OsStrExt as _;
        for word in ["a\nb", "a\tb", "\u{1b}[2J", "\u{85}", "a\u{202e}b", "a\u{200b}b", "\0"] {
            assert_eq!(quoted(word), None, "{word:?}");
        }
        assert_eq!(quoted(OsStr::from_bytes(b"a\xffb")), None);
        assert_eq!(quoted_for_sh(OsStr::from_bytes(b"a\xffb")), None);
    }

    #[test]
    fn sh_reads_control_characters_as_they_are() {
        for word in ["a\n'b", "\n'; touch PWN; #", "\u{1b}[2J\u{85}\t", "x\n"] {
            let script = format!("printf %s {}", quoted_for_sh(word).unwrap());
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{script:?}");
        }
    }
}
