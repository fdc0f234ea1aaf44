//! Which flags of `claude` a person may pass on to a worker, and why not others.

/// Flags by which a worker is talked to: without them, or with others, it would not be understood.
const OF_PROTOCOL: [&str; 13] = [
    "-p",
    "--print",
    "--input-format",
    "--output-format",
    "--include-partial-messages",
    "--replay-user-messages",
    "--permission-prompt-tool",
    "--verbose",
    "--bg",
    "-h",
    "--help",
    "-v",
    "--version",
];
/// Flags that choose the session and its directory.
const OF_SESSION: [&str; 8] =
    ["-r", "--resume", "-c", "--continue", "--session-id", "--fork-session", "-w", "--worktree"];
/// Flags for which `run` has options, with these.
const OF_RUN: [(&str, &str); 19] = [
    ("--model", "--model"),
    ("--effort", "--effort"),
    ("--permission-mode", "--permission-mode"),
    ("--dangerously-skip-permissions", "--permission-mode bypassPermissions"),
    ("--allow-dangerously-skip-permissions", "--permission-mode bypassPermissions"),
    ("--allowedTools", "--allow"),
    ("--allowed-tools", "--allow"),
    ("--disallowedTools", "--disallow"),
    ("--disallowed-tools", "--disallow"),
    ("--max-budget-usd", "--budget"),
    ("--system-prompt", "--system-prompt"),
    ("--append-system-prompt", "--append-system-prompt"),
    ("--mcp-config", "--mcp-config"),
    ("--strict-mcp-config", "--strict-mcp-config"),
    ("--add-dir", "--add-dir"),
    ("-n", "--name"),
    ("--name", "--name"),
    ("--agent", "--agent-definition"),
    ("--settings", "--settings"),
];

/// Why these words cannot be passed on; `None` where they can.
pub fn refused_flag(words: &[String]) -> Option<String> {
    let first = words.first()?;
    if !first.starts_with('-') {
        return Some(format!("`{first}` is no flag of claude: the task comes before `--`"));
    }
    words.iter().find_map(|word| {
        let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
        if OF_PROTOCOL.contains(&flag) {
            return Some(format!("{flag} cannot be passed on: Backstory talks to claude by its own"));
        }
        if OF_SESSION.contains(&flag) {
            return Some(format!(
                "{flag} cannot be passed on: --resume, --fork, --fresh and --worktree choose the session"
            ));
        }
        let own = OF_RUN.iter().find(|(known, _)| *known == flag)?;
        Some(format!("{flag} cannot be passed on: give `{}` before `--`", own.1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_break_the_protocol_are_refused() {
        let check = |words: &[&str], expected: Option<&str>| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let refused = refused_flag(&words);
            match expected {
                None => assert_eq!(refused, None, "{words:?}"),
                Some(part) => assert!(
                    refused.as_deref().is_some_and(|why| why.contains(part)),
                    "{words:?}: {refused:?}"
                ),
            }
        };
        check(&[], None);
        check(&["--fallback-model", "haiku"], None);
        check(&["--tools", "Bash", "Read", "--restricted"], None);
        check(&["--output-format=json"], Some("talks to claude"));
        check(&["--tools", "Bash", "-p"], Some("talks to claude"));
        check(&["--resume", "x"], Some("choose the session"));
        check(&["--dangerously-skip-permissions"], Some("bypassPermissions"));
        check(&["--max-budget-usd=1"], Some("--budget"));
        check(&["hello"], Some("no flag"));
    }
}
