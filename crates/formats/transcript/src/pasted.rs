//! Separates what a person wrote in a prompt from what they pasted: logs, errors and terminal output.
//!
//! Pure text rules for titles. A line counts as program output if hardly anybody would begin a sentence like that.

/// How lines of terminals and logs begin.
const SIGNS: [char; 22] = [
    '❯', '➜', '✓', '✔', '✗', '✘', '⨯', '×', '⎿', '⏺', '●', '•', '│', '┃', '├', '└', '╭', '╰', '─', '━', '═',
    '>',
];

/// The signs of a shell that waits for a command: what it printed follows up to the next empty line.
const SHELLS: [&str; 5] = ["❯ ", "➜ ", "$ ", "% ", "> "];

/// Words that programs begin lines with.
const WORDS: [&str; 25] = [
    "Error:",
    "error:",
    "error[",
    "ERROR ",
    "ERROR:",
    "Warning:",
    "warning:",
    "WARN ",
    "INFO ",
    "DEBUG ",
    "[INFO]",
    "[WARN]",
    "[ERROR]",
    "[DEBUG]",
    "fatal:",
    "FATAL ",
    "panic:",
    "Traceback (",
    "Caused by:",
    "FAIL ",
    "--- FAIL",
    "npm ERR!",
    "diff --git ",
    "+++ ",
    "@@ ",
];

/// The lines of a prompt that were not pasted; `None` where all of them are the person's, empty where none is.
pub(crate) fn without_pasted(prompt: &str) -> Option<String> {
    let mut said = Vec::new();
    let (mut is_fenced, mut was_printed, mut is_of_shell, mut has_pasted) = (false, false, false, false);
    for line in prompt.lines() {
        let is_fence = line.trim_start().starts_with("```");
        let is_blank = line.trim().is_empty();
        is_of_shell =
            !is_blank && (is_of_shell || SHELLS.iter().any(|sign| line.trim_start().starts_with(sign)));
        let goes_on = was_printed && line.starts_with([' ', '\t']);
        let is_pasted = is_fenced || is_fence || is_of_shell || is_printed(line) || goes_on;
        is_fenced ^= is_fence;
        was_printed = is_pasted && !is_blank;
        has_pasted |= is_pasted;
        if !is_pasted {
            said.push(line);
        }
    }
    has_pasted.then(|| said.join("\n").trim().to_owned())
}

/// Whether a line by itself looks as if a program printed it.
pub(crate) fn is_printed(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(SIGNS)
        || SHELLS.iter().any(|sign| line.starts_with(sign))
        || WORDS.iter().any(|word| line.starts_with(word))
        || line.starts_with("at ") && line.ends_with(')')
        || has_time(line)
        || has_place(line)
}

/// `2026-01-31T10:00`, `2026-01-31 10:00`, `10:00:00` or `[10:00:00` at the beginning.
fn has_time(line: &str) -> bool {
    let line = line.strip_prefix('[').unwrap_or(line);
    let is_like = |form: &str| {
        let mut letters = line.bytes();
        form.bytes().all(|expected| match (expected, letters.next()) {
            (b'0', Some(letter)) => letter.is_ascii_digit(),
            (b'T', Some(letter)) => matches!(letter, b'T' | b' '),
            (expected, letter) => letter == Some(expected),
        })
    };
    is_like("0000-00-00T00:00") || is_like("00:00:00")
}

/// `src/lib.rs:12:3: …` at the beginning.
fn has_place(line: &str) -> bool {
    let Some(place) = line.split_whitespace().next().and_then(|word| word.strip_suffix(':')) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    place.rsplit_once(':').is_some_and(|(file, number)| is_number(number) && file.contains(['.', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_output_is_recognized_by_its_prefix() {
        for line in [
            "❯ git rebase main",
            "  ✓ Enabled",
            "2026-01-31 10:00:01 started",
            "[10:00:00] started",
            "src/lib.rs:12:3: unused import",
            "error[E0308]: mismatched types",
            "    at Object.<anonymous> (index.js:1:1)",
        ] {
            assert!(is_printed(line), "{line}");
        }
        for line in [
            "fix the token refresh",
            "- review together",
            "1. fix it",
            "look at src/lib.rs:12",
            "at 10 it (mostly) fails",
        ] {
            assert!(!is_printed(line), "{line}");
        }
    }

    #[test]
    fn lines_after_a_command_count_as_its_output() {
        let check = |prompt: &str, expected: Option<&str>| {
            assert_eq!(without_pasted(prompt).as_deref(), expected, "{prompt}");
        };
        check(
            "I got this:\n\n❯ git rebase main\nRebasing (23/25)\n\nPrevent it.",
            Some("I got this:\n\n\nPrevent it."),
        );
        check("Why?\n```\nlet a = 1;\n```\nTell me.", Some("Why?\nTell me."));
        check("• one\n    error=", Some(""));
        check("Fix it\n- now", None);
    }
}
