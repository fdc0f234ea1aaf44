//! What is said to a mistyped command line: the command that a word of another program means, and which tips are left.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};

/// A word, and the command that does what it says.
const MEANT: [(&str, &str); 14] = [
    ("unpin", "backstory pin --undo ID"),
    ("unhide", "backstory hide --undo ID"),
    ("untag", "backstory tag ID --remove TAG"),
    ("unname", "backstory name ID --clear"),
    ("rename", "backstory name ID NAME"),
    ("unarchive", "backstory restore ID"),
    ("delete", "backstory forget ID"),
    ("rm", "backstory forget ID"),
    ("continue", "backstory resume ID"),
    ("ls", "backstory list"),
    ("find", "backstory search WORDS"),
    ("grep", "backstory search --grep PATTERN"),
    ("open", "backstory show ID"),
    ("kill", "backstory stop ID"),
];

/// What to say after the error where an unknown command has another word here.
pub(crate) fn hint(error: &Error) -> Option<String> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let suggested = error.get(ContextKind::SuggestedSubcommand);
    match MEANT.into_iter().find(|(word, _)| word == typed) {
        Some((_, meant)) => Some(format!("  `{meant}` does that")),
        None if matches!(suggested, Some(ContextValue::Strings(names)) if !names.is_empty()) => None,
        None => Some(format!("  To look for it in your sessions: backstory search {}", app::quoted(typed)?)),
    }
}

/// Leaves out tips that lead astray: to pass what looks like an option behind `--`, and commands that only programs
/// use. The likeliest command comes first.
pub(crate) fn mend(error: &mut Error) {
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    if let Some(ContextValue::Strings(names)) = error.remove(ContextKind::SuggestedSubcommand) {
        let command = crate::help::command();
        let is_hidden = |name: &str| command.find_subcommand(name).is_some_and(clap::Command::is_hide_set);
        let names: Vec<String> = names.into_iter().rev().filter(|name| !is_hidden(name)).collect();
        if !names.is_empty() {
            error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tips_lead_to_what_was_meant() {
        let of = |words: &[&str]| {
            let words = ["backstory"].iter().chain(words);
            let mut error = crate::help::command().try_get_matches_from(words).unwrap_err();
            mend(&mut error);
            error.to_string()
        };
        let option = of(&["list", "--state", "idle"]);
        assert!(
            option.contains("unexpected argument '--state'") && !option.contains("as a value"),
            "{option}"
        );
        assert!(of(&["list", "--projct", "web"]).contains("'--project'"));
        let command = of(&["serach", "token"]);
        assert!(command.contains("exist: 'search', "), "{command}");
        assert!(!of(&["hok"]).contains("'hook'"));
    }

    #[test]
    fn a_word_of_another_program_is_answered_with_the_command() {
        let of = |word: &str| {
            let mut error =
                crate::help::command().try_get_matches_from(["backstory", word, "1ba1de03"]).unwrap_err();
            mend(&mut error);
            hint(&error)
        };
        assert_eq!(of("unpin").as_deref(), Some("  `backstory pin --undo ID` does that"));
        assert_eq!(of("untag").as_deref(), Some("  `backstory tag ID --remove TAG` does that"));
        assert_eq!(
            of("chunksize").as_deref(),
            Some("  To look for it in your sessions: backstory search chunksize")
        );
        assert_eq!(of("serach"), None, "clap names the command");
        for (word, meant) in MEANT {
            let command = meant.split(' ').nth(1).unwrap();
            assert!(crate::help::command().find_subcommand(command).is_some(), "{word}: {meant}");
            assert!(crate::help::command().find_subcommand(word).is_none(), "{word} is a command");
        }
    }
}
