//! Passwords given to commands: `curl -u name:password`, `mysql -pPassword`, `docker login -p …`, `redis-cli -a …`,
//! `htpasswd -b …`, `echo … | sudo -S`, `.netrc` and their like.

use crate::rules::MANUAL_PASSWORDS;
use crate::value::{is_code, is_mixed, is_password, is_placeholder, is_uuid};
use crate::{Secret, Text};

/// The number of bytes examined of a command line.
const REACH: usize = 400;

/// Finds the password in the arguments of the command whose name is at `start..end`.
pub(crate) fn password(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let rest = &text.bytes[end..text.bytes.len().min(end + REACH)];
    let line = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let words = Words { line: &rest[..line], at: 0 };
    let found = match &text.bytes[start..end] {
        b"curl " => user_option(words),
        b"mysql" => joined_option(words),
        b"sshpass" => joined_option(words.clone()).or_else(|| after_login(words)),
        b"redis-cli" => option(words, b"-a"),
        b"mongo" | b"7z " => option(words, b"-p"),
        b"sqlcmd" => option(words, b"-P"),
        b"ldap" => option(words, b"-w"),
        // Its first `-` has been read.
        b"zip -" => match words.clone().next()? {
            (at, b"P") => given(Words { at: at + 1, ..words }.next()?),
            _ => option(words, b"-P"),
        },
        b"smbclient" => behind_user(words),
        b"sudo -S" => return fed(text, start),
        b"net us" => network_user(&words),
        b"snyk" => token_word(words, b"auth"),
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

/// Finds the password in `-pPassword`.
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

/// `-a password`, or right behind the option, of one command.
fn option(words: Words<'_>, name: &[u8]) -> Option<(usize, usize)> {
    let mut is_next = false;
    for (at, word) in words.take_while(|(_, word)| !matches!(*word, b"|" | b"||" | b"&&" | b";")) {
        let joined = word.strip_prefix(name).filter(|rest| !rest.is_empty());
        if let Some(password) = if is_next { Some(word) } else { joined } {
            return given((at + word.len() - password.len(), password));
        }
        is_next = word == name;
    }
    None
}

fn given((at, password): (usize, &[u8])) -> Option<(usize, usize)> {
    (is_usual(password) && accepted(password, b"")).then_some((at, at + password.len()))
}

/// Whether letters count as a password where only a password can be: they must be of both cases.
fn is_usual(password: &[u8]) -> bool {
    let holds = |is: fn(&u8) -> bool| password.iter().any(is);
    is_password(password)
        || (password.len() >= 6 && holds(u8::is_ascii_lowercase) && holds(u8::is_ascii_uppercase))
}

/// Finds the password behind the `key` of `ssh-keygen` or the `ecret` of `gh secret set`, whose word begins at `start`.
pub(crate) fn given_to_option(text: Text<'_>, start: usize) -> Option<Secret> {
    let (before, rest) = text.bytes.split_at(start);
    let line = rest.iter().take(REACH).position(|byte| matches!(byte, b'\n' | b'\r'));
    let words = Words { line: &rest[..line.unwrap_or(rest.len().min(REACH))], at: 0 };
    let found = if before.ends_with(b"ssh-") && rest.starts_with(b"keygen ") {
        option(words.clone(), b"-N").or_else(|| option(words, b"-P"))
    } else if rest.starts_with(b"ecret set ") {
        whole_option(words.clone(), &[b"--body", b"-b"]).or_else(|| joined_value(words, b"--body="))
    } else {
        None
    };
    found.map(|(from, to)| Secret::new("command-password", start + from..start + to))
}

/// The word behind one of the options, which is a secret whatever it is.
fn whole_option(words: Words<'_>, names: &[&[u8]]) -> Option<(usize, usize)> {
    let mut is_next = false;
    for (at, word) in words {
        if is_next {
            return (word.len() >= 6 && accepted(word, b"")).then_some((at, at + word.len()));
        }
        is_next = names.contains(&word);
    }
    None
}

fn joined_value(mut words: Words<'_>, name: &[u8]) -> Option<(usize, usize)> {
    words.find_map(|(at, word)| {
        let value = word.strip_prefix(name)?;
        let end = at + word.len();
        (value.len() >= 6 && accepted(value, b"")).then_some((end - value.len(), end))
    })
}

/// Finds the random word behind a command's word.
fn token_word(words: Words<'_>, name: &[u8]) -> Option<(usize, usize)> {
    let mut words = words.skip_while(|(_, word)| word.is_empty());
    let (_, first) = words.next()?;
    let (at, word) = words.next()?;
    (first == name && (is_uuid(word) || (word.len() >= 16 && is_mixed(word))))
        .then_some((at, at + word.len()))
}

/// Finds the password in `net use drive: \\\\host\\share password` and `net user name password /add`, behind `net us`.
fn network_user(words: &Words<'_>) -> Option<(usize, usize)> {
    let line = words.line;
    let command = [&b"e "[..], b"er "].into_iter().find(|rest| line.starts_with(rest))?;
    let is_user = command.len() == 3;
    let is_usable = |word: &[u8]| given((0, word)).is_some();
    let mut at = command.len();
    let mut place = 0;
    loop {
        at += line[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let ends = |byte: &u8| byte.is_ascii_whitespace();
        let length = line[at..].iter().position(ends).unwrap_or(line.len() - at);
        let word = &line[at..at + length];
        if length == 0 {
            return None;
        }
        let is_drive = word.ends_with(b":") || word == b"*";
        if !word.starts_with(b"/") && !word.starts_with(b"\\") && !is_drive {
            place += 1;
            let quotes = word.iter().take_while(|byte| matches!(byte, b'"' | b'\'')).count();
            let inside = &word[quotes..];
            let behind = inside.iter().rev().take_while(|byte| matches!(byte, b'"' | b'\'' | b'`')).count();
            let inside = &inside[..inside.len() - behind];
            let is_here = if is_user { place == 2 } else { line[..at].windows(2).any(|two| two == b"\\\\") };
            if is_here {
                let from = at + quotes;
                return is_usable(inside).then_some((from, from + inside.len()));
            }
        }
        at += length;
    }
}

/// Finds the password in `echo password | sudo -S …` and `echo password | docker login … --password-stdin`, where what
/// reads it is at `at`.
pub(crate) fn fed(text: Text<'_>, at: usize) -> Option<Secret> {
    let before = &text.bytes[..at];
    let start = before.len() - before.iter().rev().take(REACH).take_while(|byte| **byte != b'\n').count();
    let pipe = start + before[start..].iter().rposition(|byte| *byte == b'|')?;
    let speaks = |word: &&[u8]| matches!(*word, b"echo" | b"printf" | b"print" | b"Write-Output");
    let begin = [&b"echo"[..], b"printf", b"print", b"Write-Output"]
        .into_iter()
        .filter_map(|word| before[start..pipe].windows(word.len()).rposition(|part| part == word))
        .max()?;
    let mut words = Words { line: &before[..pipe], at: start + begin };
    let first = words.next().filter(|(_, word)| speaks(word));
    let (from, word) =
        first.and_then(|_| words.find(|(_, word)| !word.starts_with(b"-") && !word.contains(&b'%')))?;
    // The line end that `printf` is given.
    let word = word.strip_suffix(b"\\n").unwrap_or(word);
    (is_usual(word) && accepted(word, b"")).then(|| Secret::new("command-password", from..from + word.len()))
}

/// Finds the password in a line of `.pgpass`, `host:5432:database:user:password`, whose port is at `start..end`.
pub(crate) fn password_file(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'*');
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'\\');
    let rest = &text.bytes[end..text.bytes.len().min(end + REACH)];
    let rest = &rest[..rest.iter().position(is_end).unwrap_or(rest.len())];
    let mut colons = rest.iter().enumerate().filter(|(_, byte)| **byte == b':').map(|(at, _)| at);
    let (_, user) = (colons.next()?, colons.next()?);
    let password = &rest[user + 1..];
    let has_host = text.bytes[..start].last().is_some_and(is_host);
    let is_password = has_host && password.len() >= 4 && !password.contains(&b':') && accepted(password, b"");
    is_password.then(|| Secret::new("command-password", end + user + 1..end + rest.len()))
}

/// Finds the password in `-U name%password`.
fn behind_user(words: Words<'_>) -> Option<(usize, usize)> {
    let mut before: &[u8] = b"";
    for (at, word) in words {
        let user = word.strip_prefix(b"-U").or_else(|| word.strip_prefix(b"--user=")).unwrap_or(word);
        let is_user = user.len() < word.len() || matches!(before, b"-U" | b"--user");
        if let Some(sign) = user.iter().position(|byte| *byte == b'%').filter(|_| is_user) {
            let password = &user[sign + 1..];
            let end = at + word.len();
            return accepted(password, &user[..sign]).then_some((end - password.len(), end));
        }
        before = word;
    }
    None
}

/// Finds the password given to `htpasswd -b` or `chpasswd`, whose `pass` starts at `at`.
pub(crate) fn of_a_user(text: Text<'_>, at: usize) -> Option<Secret> {
    let (before, rest) = text.bytes.split_at(at);
    let rest = rest.strip_prefix(b"passwd")?;
    let line = rest.iter().take(REACH).position(|byte| matches!(byte, b'\n' | b'\r'));
    let words = Words { line: &rest[..line.unwrap_or(rest.len().min(REACH))], at: 0 };
    let begin = at + b"passwd".len();
    let found = match before {
        [.., b'h', b't'] => third_word(words).map(|(from, to)| (begin + from, begin + to)),
        [.., b'c', b'h'] => {
            here_string(words.line).map(|(from, to)| (begin + from, begin + to)).or_else(|| piped(before))
        }
        _ => None,
    };
    found.map(|(from, to)| Secret::new("command-password", from..to))
}

/// `-b file name password`; without the file where `-n` prints instead.
fn third_word(words: Words<'_>) -> Option<(usize, usize)> {
    let (mut is_given, mut place) = (false, 2);
    for (at, word) in words {
        if let Some(letters) = word.strip_prefix(b"-") {
            is_given |= letters.contains(&b'b');
            place -= usize::from(letters.contains(&b'n')).min(place);
        } else if place > 0 {
            place -= 1;
        } else {
            return is_given.then(|| given((at, word)))?;
        }
    }
    None
}

/// Finds the password in `<<< name:password`.
fn here_string(line: &[u8]) -> Option<(usize, usize)> {
    let at = line.windows(3).position(|three| three == b"<<<")? + 3;
    let (start, word) = Words { line, at }.next()?;
    pair(start, word)
}

/// `echo name:password |`, which ends before the command.
fn piped(before: &[u8]) -> Option<(usize, usize)> {
    let start = before.len() - before.iter().rev().take(REACH).take_while(|byte| **byte != b'\n').count();
    let pipe = start + before[start..].iter().rposition(|byte| *byte == b'|')?;
    let said = Words { line: &before[..pipe], at: start };
    said.filter_map(|(at, word)| pair(at, word)).last()
}

fn pair(at: usize, word: &[u8]) -> Option<(usize, usize)> {
    let colon = word.iter().position(|byte| *byte == b':')?;
    let (user, password) = (&word[..colon], &word[colon + 1..]);
    let is_name =
        !user.is_empty() && user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte));
    (is_name && is_usual(password) && accepted(password, user)).then_some((at + colon + 1, at + word.len()))
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
