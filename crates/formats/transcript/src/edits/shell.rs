//! Whether a shell command can have changed files, by the names of its programs. Pure rules: in doubt it can.

/// Programs that only look.
const LOOKING: [&str; 60] = [
    "[",
    "basename",
    "cat",
    "cd",
    "cmp",
    "column",
    "comm",
    "command",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "env",
    "exit",
    "export",
    "false",
    "file",
    "fgrep",
    "grep",
    "head",
    "history",
    "hostname",
    "id",
    "jq",
    "less",
    "ls",
    "lsof",
    "nl",
    "od",
    "pgrep",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "readlink",
    "realpath",
    "rg",
    "seq",
    "set",
    "sha256sum",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tail",
    "test",
    "time",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "uniq",
    "wc",
    "which",
    "whoami",
];
/// What programs are asked that does not change files under version control.
const HARMLESS: [(&str, &[&str]); 6] = [
    (
        "git",
        &[
            "add",
            "blame",
            "cat-file",
            "commit",
            "config",
            "describe",
            "diff",
            "fetch",
            "grep",
            "log",
            "ls-files",
            "ls-remote",
            "ls-tree",
            "merge-base",
            "push",
            "reflog",
            "remote",
            "rev-list",
            "rev-parse",
            "shortlog",
            "show",
            "status",
            "tag",
            "branch",
            "for-each-ref",
            "show-ref",
        ],
    ),
    ("go", &["build", "doc", "env", "list", "run", "test", "version", "vet"]),
    ("cargo", &["bench", "build", "check", "clippy", "doc", "metadata", "run", "test", "tree"]),
    ("gh", &["api", "auth", "issue", "pr", "repo", "run", "search", "workflow"]),
    ("npm", &["ls", "outdated", "test", "view"]),
    ("make", &["check", "lint", "test"]),
];

/// Whether a command can have changed files.
pub fn may_change_files(command: &str) -> bool {
    let plain = without_harmless_redirection(command);
    plain.contains('>') || plain.split(['|', ';', '&', '\n']).any(program_may_change)
}

/// The command without what only silences it.
fn without_harmless_redirection(command: &str) -> String {
    let silent = ["2>&1", ">&2", "&>/dev/null", "2>/dev/null", "> /dev/null", ">/dev/null", "2> /dev/null"];
    silent.iter().fold(command.replace("2> /dev/null", ""), |text, one| text.replace(one, ""))
}

fn program_may_change(part: &str) -> bool {
    let mut words = part.split_whitespace().skip_while(|word| is_assignment(word));
    let Some(program) = words.next() else { return false };
    if program.starts_with('#') {
        return false;
    }
    let name = program.rsplit('/').next().unwrap_or(program).trim_start_matches('(');
    match name {
        "find" => words.any(|word| matches!(word, "-delete" | "-exec" | "-execdir" | "-ok")),
        "sed" | "perl" => words.any(|word| word.starts_with("-i") || word.starts_with("--in-place")),
        "awk" => false,
        _ => {
            let asked = HARMLESS.iter().find(|(known, _)| *known == name);
            // Options can come before what is asked: `git -C folder log`.
            let mut is_asked = |asked: &[&str]| words.any(|word| asked.contains(&word));
            !LOOKING.contains(&name) && !asked.is_some_and(|(_, asked)| is_asked(asked))
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_can_change_files_are_recognized() {
        let check =
            |command: &str, expected: bool| assert_eq!(may_change_files(command), expected, "{command}");
        check("ls -la && git status", false);
        check("git -C /code/shop log --oneline | head -5", false);
        check("go test ./... 2>&1 | tail -20", false);
        check("CI=1 cargo test > /dev/null 2>&1", false);
        check("find . -name '*.go'", false);
        check("sed -n 1,20p a.rs", false);
        check("", false);
        check("gofmt -w .", true);
        check("sed -i s/a/b/ a.rs", true);
        check("echo x > a.txt", true);
        check("cat <<EOF >> a.txt", true);
        check("git checkout main", true);
        check("git stash pop", true);
        check("find . -name '*.orig' -delete", true);
        check("rm -rf build", true);
        check("cd web && npm install", true);
        check("python3 rewrite.py", true);
    }
}
