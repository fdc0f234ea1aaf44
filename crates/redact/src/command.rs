//! Passwords given to commands: `curl -u name:password`, `mysql -pPassword`, `docker login -p …`, `sshpass -p …`, `.netrc`.

use crate::rules::MANUAL_PASSWORDS;
use crate::value::{is_code, is_password, is_placeholder};
use crate::{Secret, Text};

/// How much of a command's line is looked at, in bytes.
const REACH: usize = 400;

/// The password in what follows the command whose name stands at `start..end`.
pub(crate) fn password(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let rest = &text.bytes[end..text.bytes.len().min(end + REACH)];
    let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let words = Words { line: &rest[..line], at: 0 };
    let found = match &text.bytes[start..end] {
        b"curl " => user_option(words),
        b"mysql" => joined_option(words),
        b"sshpass" => joined_option(words.clone()).or_else(|| after_login(words)),
        _ => after_login(words),
    };
    found.map(|(from, to)| Secret::new("command-password", end + from..end + to))
}

/// `-u name:password`, `--user name:password`, `-uname:password`.
fn user_option(words: Words<'_>) -> Option<(usize, usize)> {
    let mut is_next = false;
    for (at, word) in words {
        let joined = word
            .strip_prefix(b"-u")
            .or_else(|| word.strip_prefix(b"--user="))
            .filter(|rest| !rest.is_empty());
        let value = match joined {
            Some(value) if !word.starts_with(b"--user-") => Some(value),
            _ if is_next => Some(word),
            _ => None,
        };
        if let Some(value) = value
            && let Some(colon) = value.iter().position(|byte| *byte == b':')
        {
            let password = &value[colon + 1..];
            let from = at + (word.len() - password.len());
            return accepted(password, &value[..colon]).then_some((from, from + password.len()));
        }
        is_next = matches!(word, b"-u" | b"--user" | b"--proxy-user" | b"-U");
    }
    None
}

/// `-pPassword`.
fn joined_option(words: Words<'_>) -> Option<(usize, usize)> {
    for (at, word) in words {
        if let Some(password) = word.strip_prefix(b"-p") {
            let is_port = password.iter().all(u8::is_ascii_digit);
            return (!is_port && is_password(password) && accepted(password, b""))
                .then_some((at + 2, at + word.len()));
        }
    }
    None
}

/// `docker login -u name -p password`, and `machine host login name password …` of `.netrc`.
fn after_login(words: Words<'_>) -> Option<(usize, usize)> {
    let mut before: &[u8] = b"";
    for (at, word) in words {
        if matches!(before, b"-p" | b"password") {
            let fits = is_password(word) && accepted(word, b"");
            return fits.then_some((at, at + word.len()));
        }
        before = word;
    }
    None
}

fn accepted(password: &[u8], user: &[u8]) -> bool {
    !is_placeholder(password)
        && !is_code(password)
        && !password.starts_with(b"$")
        && !password.eq_ignore_ascii_case(user)
        && password.len() >= 3
        && !MANUAL_PASSWORDS.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes()))
}

/// The words of a line without their quotes, and where each begins.
#[derive(Clone)]
struct Words<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\\';
        self.at += self.line[self.at..].iter().take_while(|byte| is_gap(byte)).count();
        let first = *self.line.get(self.at)?;
        let quote = Some(first).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
        let start = self.at + usize::from(quote.is_some());
        let ends = |byte: &u8| match quote {
            Some(quote) => *byte == quote,
            None => is_gap(byte) || matches!(byte, b'"' | b'\'' | b'`' | b'<'),
        };
        let length = self.line[start..].iter().position(ends).unwrap_or(self.line.len() - start);
        self.at = (start + length + 1).min(self.line.len());
        Some((start, &self.line[start..start + length]))
    }
}
