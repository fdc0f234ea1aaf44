//! Reads the subject of a commit from the shell command that made it, in case git printed nothing.

/// The subject that a `git commit` of a command gives with `-m` or `--message`.
pub(crate) fn subject_of(command: &str) -> Option<&str> {
    let (_, mut rest) = command.split_once("git ")?.1.split_once("commit ")?;
    loop {
        rest = rest.trim_start();
        if !rest.starts_with('-') {
            return None;
        }
        let end = rest.find([' ', '=', '\n']).unwrap_or(rest.len());
        let (flag, after) = rest.split_at(end);
        let is_short = !flag.starts_with("--") && flag.ends_with('m');
        if is_short || flag == "--message" {
            return quoted(after.trim_start_matches([' ', '=']));
        }
        rest = after.trim_start_matches('=');
    }
}

/// Whether what a command printed does not say that there was nothing to commit.
pub(crate) fn may_commit(output: &str) -> bool {
    !["nothing to commit", "nothing added to commit", "no changes added to commit"]
        .iter()
        .any(|words| output.contains(words))
}

/// The hash before a subject, where `git log --oneline` printed the commit that `git commit` was silent about.
pub(crate) fn hash_in<'a>(output: &'a str, subject: &str) -> Option<&'a str> {
    output.lines().find_map(|line| {
        let (hash, rest) = line.trim().split_once(' ')?;
        let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hash && rest.ends_with(subject)).then_some(hash)
    })
}

/// The first line of a message as a shell takes it: quoted, from a here-document, or a word.
fn quoted(text: &str) -> Option<&str> {
    let message = match text.chars().next()? {
        '"' if text.starts_with("\"$(cat <<") => text.split_once('\n')?.1,
        quote @ ('"' | '\'') => text[1..].split(quote).next()?,
        _ => text.split_whitespace().next()?,
    };
    message.lines().map(str::trim).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_read_as_the_shell_reads_it() {
        let check =
            |command: &str, expected: Option<&str>| assert_eq!(subject_of(command), expected, "{command}");
        check("git commit -q -m 'Rotate tokens'", Some("Rotate tokens"));
        check(
            "git add -A && git commit -qam \"Rotate tokens\n\nBecause.\" && git push -q",
            Some("Rotate tokens"),
        );
        check("git -C shop commit --quiet --message=Rotate", Some("Rotate"));
        check("git commit -q -m \"$(cat <<'EOF'\nRotate tokens\n\nBecause.\nEOF\n)\"", Some("Rotate tokens"));
        check("git commit -q --amend --no-edit", None);
        check("git commit", None);
        check("git log -m 'x'", None);
        check("echo commit -m 'x'", None);
    }

    #[test]
    fn a_hash_is_read_from_the_log() {
        let log = "1a2b3c4 (HEAD -> main) Rotate tokens\n0000000 Begin";
        assert_eq!(hash_in(log, "Rotate tokens"), Some("1a2b3c4"));
        assert_eq!(hash_in("pushed Rotate tokens", "Rotate tokens"), None);
        assert!(may_commit("") && !may_commit("On branch main\nnothing to commit, working tree clean"));
    }
}
