//! Words as a POSIX shell takes them: what is printed can be pasted.

use std::ffi::OsStr;

/// The word, quoted only where a shell would read it otherwise.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let text = word.as_ref().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else if text.chars().any(char::is_control) {
        // A line break or an escape in a name must not reach the terminal, nor end the command.
        format!("$'{}'", text.chars().map(escaped).collect::<String>())
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn escaped(c: char) -> String {
    match c {
        '\'' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for word in [
            "plain",
            "--resume=a-b",
            "",
            "a b",
            "it's",
            "$HOME `x` \"y\" \\ !",
            "ünï",
            "line\nbreak\u{1b}[2J",
            "~",
        ] {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word, "{script}");
            assert!(!script.contains(char::is_control), "{script:?}");
        }
        assert_eq!(quoted("--resume=a-b"), "--resume=a-b");
    }
}
