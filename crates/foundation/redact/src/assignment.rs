//! Finds secrets assigned to a name: `API_KEY=…`, `"password": "…"`, `--token …`, `setenv("SECRET", "…")`,
//! `<password>…</password>`, "the password is …".
//!
//! The name decides how strict the check of the value is: the value of a password must only be no word, that of a key
//! must look random.

use crate::colour;
use crate::rules::{HARMLESS_TOKENS, KEY_NAMES, PASSWORD_NAMES};
use crate::sentence::is_strong;
use crate::value::{
    is_code, is_encoded_text, is_mixed, is_number, is_password, is_path_or_url, is_placeholder, is_random,
    is_signed, is_technical, is_uuid,
};
use crate::{Secret, Text};

/// The maximum length of a name on either side of its keyword.
const NAME: usize = 64;
/// The maximum length of a value.
const VALUE: usize = 400;

/// The kind of secret that a name indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecretKind {
    Password,
    Key,
    Secret,
    Token,
}

impl SecretKind {
    /// The minimum length of the value if it is base64.
    fn least(self) -> usize {
        if self == Self::Password { 8 } else { 16 }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Key => "api-key",
            Self::Secret => "secret",
            Self::Token => "token",
        }
    }
}

/// The syntax that connects a name with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `=` without a space.
    Equals,
    /// `:`, ` = ` and their like.
    Assigned,
    /// A space behind an option.
    Option,
    /// The next argument, which has to be quoted as the name is.
    Argument,
    /// `is` in a sentence.
    Sentence,
    /// Between the tags of an element.
    Element,
}

/// Finds the value assigned to the name that contains the keyword at `start..end`.
pub(crate) fn value(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let name = Name::around(bytes, start, end);
    let secret_kind = name.secret_kind()?;
    let (separator, at) = separator(bytes, &name)?;
    let value = Value::read(text, &name, separator, at)?;
    let is_secret = value.is_secret(text, secret_kind, &name, separator);
    is_secret.then(|| {
        Secret::new(secret_kind.kind(), value.start..value.end + behind_ampersand(bytes, &value, separator))
    })
}

/// How much of a password follows an `&`, which ends the value of a query (`password=x&user=y`) and of a command, but
/// not of a setting (`password: x&y`).
fn behind_ampersand(bytes: &[u8], value: &Value<'_>, separator: Separator) -> usize {
    let rest = &bytes[value.end..bytes.len().min(value.end + VALUE)];
    if separator != Separator::Assigned || value.is_quoted || !rest.starts_with(b"&") {
        return 0;
    }
    let is_part =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    let length = rest.iter().take_while(|byte| is_part(byte)).count();
    let is_end = |byte: &u8| matches!(byte, b'.' | b',' | b';' | b':' | b')' | b']' | b'}' | b'&');
    length - rest[..length].iter().rev().take_while(|byte| is_end(byte)).count()
}

/// The value behind a word for a password in another script, which ends at `end`.
pub(crate) fn foreign(text: Text<'_>, end: usize) -> Option<Secret> {
    let rest = &text.bytes[end..];
    let mut at = 0;
    let mut is_tied = false;
    loop {
        let joint = ["：", "是", "为", "為", "は", "は、", ":", "=", "는", "은"];
        if let Some(found) = joint.iter().find(|joint| rest[at..].starts_with(joint.as_bytes())) {
            (at, is_tied) = (at + found.len(), true);
        } else if rest.get(at) == Some(&b' ') && at < 24 {
            at += 1;
        } else {
            break;
        }
    }
    let name = Name { bytes: text.bytes, start: end, end };
    let value = is_tied.then(|| Value::read(text, &name, Separator::Assigned, end + at))??;
    value
        .is_secret(text, SecretKind::Password, &name, Separator::Assigned)
        .then(|| Secret::new("password", value.start..value.end))
}

/// The quoted password behind SQL's `IDENTIFIED BY`, which ends at `end`.
pub(crate) fn identified(text: Text<'_>, end: usize) -> Option<Secret> {
    let at = end + spaces(&text.bytes[end..]);
    let name = Name { bytes: text.bytes, start: end, end };
    let value = Value::read(text, &name, Separator::Argument, at)?;
    value
        .is_secret(text, SecretKind::Password, &name, Separator::Assigned)
        .then(|| Secret::new("password", value.start..value.end))
}

/// A name in the text.
struct Name<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
}

impl<'a> Name<'a> {
    fn around(bytes: &'a [u8], start: usize, end: usize) -> Self {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let before =
            bytes[..start].iter().rev().take(NAME).take_while(|byte| is_part(byte) || **byte == b'.').count();
        let mut after = bytes[end..].iter().take(NAME).take_while(|byte| is_part(byte)).count();
        // An arrow is no part of a name.
        while after > 0 && bytes[end + after - 1] == b'-' {
            after -= 1;
        }
        // Neither is the end of a colour.
        let name = &bytes[start - before..start];
        let capitals = |letters: &[u8]| letters.iter().any(u8::is_ascii_uppercase);
        let coloured = name.iter().position(|byte| *byte == b'm').map_or(0, |at| {
            if capitals(&name[..at]) { 0 } else { colour::end_of_one(&bytes[..=start - before + at]) }
        });
        Self { bytes, start: start - before + coloured, end: end + after }
    }

    fn text(&self) -> &'a [u8] {
        &self.bytes[self.start..self.end]
    }

    /// The kind of secret suggested by the name's last words.
    fn secret_kind(&self) -> Option<SecretKind> {
        let text = self.text();
        let digits = text.iter().rev().take(2).take_while(|byte| byte.is_ascii_digit()).count();
        let text = &text[..text.len() - digits];
        let plain =
            text.iter().filter(|byte| !matches!(byte, b'_' | b'-' | b'.')).map(u8::to_ascii_lowercase);
        let plain: Vec<u8> = plain.collect();
        let ends = |word: &&str| plain.ends_with(word.as_bytes());
        if PASSWORD_NAMES.iter().any(|word| ends(word) && self.is_password_name(text, word)) {
            return Some(SecretKind::Password);
        }
        if plain.ends_with(b"publickey") {
            return None;
        }
        let of_two_words = || {
            ["api ", "secret ", "access ", "private ", "signing ", "encryption ", "master "].iter().any(
                |word| {
                    let before = self.before();
                    before.len() >= word.len()
                        && before[before.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes())
                },
            )
        };
        if plain == b"key" && (of_two_words() || self.is_parameter()) {
            return Some(SecretKind::Key);
        }
        if KEY_NAMES.iter().any(&ends) {
            return Some(SecretKind::Key);
        }
        if plain.ends_with(b"secret") {
            return Some(SecretKind::Secret);
        }
        let is_token = plain.ends_with(b"token") && !HARMLESS_TOKENS.iter().any(ends);
        is_token.then_some(SecretKind::Token)
    }

    /// `pass` ends many words that are no password, and `pwd` names a directory.
    fn is_password_name(&self, text: &[u8], word: &str) -> bool {
        if !matches!(word, "pass" | "pwd" | "pw" | "psk") {
            return true;
        }
        let Some(before) = text.len().checked_sub(word.len() + 1).map(|before| text[before]) else {
            return self.is_password_alone(word);
        };
        let is_joined = before.is_ascii_alphanumeric();
        let is_camel =
            is_joined && before.is_ascii_lowercase() && text[text.len() - word.len()].is_ascii_uppercase();
        !is_joined || is_camel || (word == "pwd" && !text.eq_ignore_ascii_case(b"OLDPWD"))
    }

    /// Standing alone, `pass` is mostly a verb or a result: only a quoted key, an option, `pass=` or a setting.
    fn is_password_alone(&self, word: &str) -> bool {
        let is_source = [&b"-passin "[..], b"-passout "].iter().any(|option| self.before().ends_with(option));
        let behind = &self.bytes[self.end..];
        let is_field = behind.first() == Some(&b':') && quote(&behind[1 + spaces(&behind[1..])..]).is_some();
        matches!(behind.first(), Some(b'"' | b'\'' | b'=' | b'\\'))
            || matches!(word, "pwd" | "psk")
            || is_source
            || is_field
            || self.is_setting()
    }

    /// Whether the name and its value are all of a line, or a field of an object, and the value is no word.
    fn is_setting(&self) -> bool {
        let before = self.before().trim_ascii_end();
        let indent = &self.before()[before.len()..];
        let is_first = indent.contains(&b'\n')
            || matches!(before.last(), None | Some(b'{' | b',' | b';' | b'-' | b'+' | b'>' | b'#' | b'|'))
            || (before.ends_with(b"\\n") && !indent.is_empty());
        let behind = &self.bytes[self.end..];
        let gap = spaces(behind);
        let Some(b':' | b'=') = behind.get(gap) else { return false };
        let from = gap + 1 + spaces(&behind[gap + 1..]);
        let rest = &behind[from..];
        let quoted = quote(rest);
        let value = &rest[quoted.map_or(0, |quote| quote.opening)..];
        let length = quoted.and_then(|quote| quote.length(&value[..value.len().min(VALUE)]));
        let length =
            length.unwrap_or_else(|| unquoted(&value[..value.len().min(VALUE)], false, Separator::Assigned));
        let value = &value[..length];
        let is_last = ends_setting(&rest[length..]);
        let is_whole =
            quoted.is_some() || (is_first && is_last && (is_of_cases(value) || self.is_beside_user()));
        is_whole && is_strong(value)
    }

    /// Whether a user, a host or their like is named nearby.
    fn is_beside_user(&self) -> bool {
        let from = self.start.saturating_sub(160);
        let near = &self.bytes[from..self.bytes.len().min(self.end + 160)];
        [&b"user"[..], b"User", b"USER", b"login", b"host", b"mail", b"account", b"server", b"smtp", b"auth"]
            .iter()
            .any(|word| near.windows(word.len()).any(|part| part == *word))
    }

    /// Whether it is an argument of `nmcli` or of a command that sets values.
    fn is_of_command(&self) -> bool {
        let before = &self.before()[self.start.saturating_sub(160)..];
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(before, |end| &before[end..]);
        [&b"nmcli "[..], b" config set "]
            .iter()
            .any(|word| line.windows(word.len()).any(|part| part == *word))
    }

    /// Whether the name is written like an environment variable.
    fn is_of_environment(&self) -> bool {
        self.text().iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
            && self.text().len() > 3
    }

    /// Whether it is a parameter of an address.
    fn is_parameter(&self) -> bool {
        matches!(self.before().last(), Some(b'?' | b'&')) && self.bytes.get(self.end) == Some(&b'=')
    }

    fn before(&self) -> &'a [u8] {
        &self.bytes[..self.start]
    }
}

/// Whether nothing of a setting follows but a comment or the next field.
fn ends_setting(rest: &[u8]) -> bool {
    let rest = &rest[spaces(rest)..];
    matches!(
        rest,
        [] | [b'\n' | b'\r' | b'#' | b',' | b'}' | b';' | b'"' | b'`', ..] | [b'\\', b'n' | b'r', ..]
    )
}

/// Whether small letters, capitals and digits are mixed, or signs with letters.
fn is_of_cases(value: &[u8]) -> bool {
    let holds = |is: fn(&u8) -> bool| value.iter().any(is);
    is_random(value)
        || holds(|byte| b"!@#$^&*+~".contains(byte))
        || (holds(u8::is_ascii_lowercase) && holds(u8::is_ascii_uppercase))
}

/// Finds the syntax after the name, and where the value starts.
fn separator(bytes: &[u8], name: &Name<'_>) -> Option<(Separator, usize)> {
    let mut at = name.end + colour::all(&bytes[name.end..]);
    let closing = |byte: &u8| matches!(byte, b'"' | b'\'' | b'`' | b'\\' | b']' | b'*');
    let closed = bytes[at..].iter().take(6).take_while(|byte| closing(byte)).count();
    // `\n` behind a name ends its line.
    let escaped = bytes[at..at + closed].iter().position(|byte| *byte == b'\\');
    if escaped.is_some_and(|back| matches!(bytes.get(at + back + 1), Some(b'n' | b'r' | b't'))) {
        return None;
    }
    at += closed;
    at += colour::all(&bytes[at..]);
    if bytes[at..].starts_with(b"&quot;") {
        at += 6;
    }
    if bytes[at..].starts_with(b"%3D") {
        return Some((Separator::Equals, at + 3));
    }
    let gap = spaces(&bytes[at..]);
    let rest = &bytes[at + gap..];
    let tied = |length: usize, separator| Some((separator, at + gap + length + free(&rest[length..])));
    let is_option = name.text().starts_with(b"-")
        || [&b"-"[..], b"ENV ", b"setx ", b" set ", b" set --secret ", b"ngrok "]
            .iter()
            .any(|before| name.before().ends_with(before))
        || matches!(name.text(), b"requirepass" | b"add-authtoken")
        || name.is_of_command();
    // "Proxy-pass" is a verb.
    let is_pass = || name.text().to_ascii_lowercase().ends_with(b"pass");
    let is_cell = || name.before().trim_ascii_end().ends_with(b"|") || closed > 0;
    let is_named = closed > 0 || name.before().ends_with(b"name: ");
    if is_named && let Some(length) = value_field(rest) {
        return tied(length, Separator::Assigned);
    }
    match rest {
        [b'=', b'=', b'=', ..] | [0xEF, 0xBC, 0x9A, ..] => tied(3, Separator::Assigned),
        [b':' | b'?' | b'=', b'=', ..] | [b'=', b'>', ..] => tied(2, Separator::Assigned),
        [b'=', next, ..] if gap == 0 && closed == 0 && !matches!(next, b' ') => tied(1, Separator::Equals),
        [b'=', ..] => tied(1, Separator::Assigned),
        [b':', b':', ..] => None,
        [b':', ..] => annotated(&rest[1..])
            .map_or_else(|| tied(1, Separator::Assigned), |length| tied(1 + length, Separator::Assigned)),
        [b'>', ..] if name.before().ends_with(b"<") => tied(1, Separator::Element),
        [b',', ..] if closed > 0 => tied(1, Separator::Argument),
        [b'|', b' ', ..] if gap > 0 && is_cell() => tied(1, Separator::Assigned),
        [b'\'' | b'`', ..] if gap == 1 && closed == 0 && !is_pass() => Some((Separator::Assigned, at + gap)),
        [b'i', b's', b' ' | b':', ..] if gap > 0 => tied(3, Separator::Sentence),
        _ if gap > 0 && is_option => Some((Separator::Option, at + gap)),
        _ => None,
    }
}

/// Spaces and colours before a value.
fn free(rest: &[u8]) -> usize {
    let gap = spaces(rest);
    gap + colour::all(&rest[gap..])
}

fn spaces(rest: &[u8]) -> usize {
    rest.iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// `: string = `: how long it is behind the colon.
fn annotated(rest: &[u8]) -> Option<usize> {
    let is_type = |byte: &u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b' ' | b'&' | b'<' | b'>' | b'\'' | b'_' | b'.' | b'|' | b'?')
    };
    let length = rest.iter().take(40).take_while(|byte| is_type(byte)).count();
    let is_one = rest.get(length) == Some(&b'=') && !matches!(rest.get(length + 1), Some(b'=' | b'>'));
    (is_one && rest[..length].iter().any(u8::is_ascii_alphabetic) && rest[..length].ends_with(b" "))
        .then_some(length + 1)
}

/// `, "value": ` and ` value=` and a line `value: ` behind a name that was itself a value.
fn value_field(rest: &[u8]) -> Option<usize> {
    let between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'"' | b'\\' | b'\'');
    let mut at = rest.iter().take(40).take_while(|byte| between(byte)).count();
    if rest[..at].ends_with(b"\\") && rest.get(at) == Some(&b'n') {
        at += 1 + rest[at + 1..].iter().take(40).take_while(|byte| between(byte)).count();
    }
    let word = rest.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let behind = &rest[at + 5..];
    let closed = behind.iter().take(4).take_while(|byte| matches!(byte, b'"' | b'\\' | b'\'' | b' ')).count();
    matches!(behind.get(closed), Some(b':' | b'=')).then_some(at + 5 + closed + 1)
}

/// A value and how it was written.
struct Value<'a> {
    bytes: &'a [u8],
    start: usize,
    end: usize,
    is_quoted: bool,
    /// Whether the text that follows makes the value part of an expression.
    goes_on: bool,
}

impl<'a> Value<'a> {
    fn read(text: Text<'a>, name: &Name<'_>, separator: Separator, at: usize) -> Option<Self> {
        let bytes = text.bytes;
        let quote = quote(&bytes[at..]);
        if separator == Separator::Argument && quote.is_none() {
            return None;
        }
        let mut start = at + quote.map_or(0, |quote| quote.opening);
        for scheme in [&b"Bearer "[..], b"bearer ", b"token "] {
            if bytes[start..].starts_with(scheme) {
                start += scheme.len();
            }
        }
        let rest = &bytes[start..bytes.len().min(start + VALUE)];
        let length = match quote {
            Some(quote) => quote.length(rest)?,
            None => unquoted(rest, separator == Separator::Equals && name.is_of_environment(), separator),
        };
        if length == VALUE {
            // A value this long is data.
            return None;
        }
        let end = start + length;
        let next = &bytes[end..];
        let goes_on = match separator {
            Separator::Element => !next.starts_with(b"</") && !next.starts_with(b"<\\/"),
            _ if quote.is_some() => false,
            _ => {
                matches!(next.first(), Some(b'(' | b'[' | b'{'))
                    || (length > 0 && bytes[end - 1] == b'-' && next.starts_with(b">"))
            }
        };
        Some(Self { bytes: &bytes[start..end], start, end, is_quoted: quote.is_some(), goes_on })
    }

    fn is_secret(
        &self,
        text: Text<'_>,
        secret_kind: SecretKind,
        name: &Name<'_>,
        separator: Separator,
    ) -> bool {
        let value = self.bytes;
        if secret_kind != SecretKind::Token && is_signed(value) {
            return true;
        }
        if self.goes_on || is_placeholder(value) || is_path_or_url(value) || is_same(value, name) {
            return false;
        }
        if !self.is_quoted && (is_code(value) || is_number(value)) {
            return false;
        }
        let is_begun = text.is_cut_at(self.end) && value.len() >= 3;
        if is_begun && separator != Separator::Sentence && (self.is_quoted || separator == Separator::Equals)
        {
            return true;
        }
        match secret_kind {
            SecretKind::Password if separator == Separator::Argument && is_technical(value) => false,
            _ if separator != Separator::Sentence
                && value.len() >= secret_kind.least()
                && is_encoded_text(value) =>
            {
                true
            }
            SecretKind::Password => {
                is_password(value) && !(separator == Separator::Sentence && value.ends_with(b"?"))
            }
            SecretKind::Key | SecretKind::Secret if is_uuid(value) => true,
            _ if is_uuid(value) => name.text().ends_with(b"authToken"),
            _ if value.len() < 12 || value.iter().any(u8::is_ascii_whitespace) => false,
            _ if self.is_quoted || (separator == Separator::Equals && name.is_of_environment()) => {
                is_mixed(value)
            }
            _ => value.len() >= 16 && is_random(value),
        }
    }
}

/// `password: "password1"` in a form's texts, `token=token`.
fn is_same(value: &[u8], name: &Name<'_>) -> bool {
    value.eq_ignore_ascii_case(name.text())
}

/// The quotes around a value.
#[derive(Clone, Copy)]
struct Quote {
    opening: usize,
    sign: u8,
    /// Backslashes before each quote: the text is itself inside a string.
    slashes: usize,
    is_entity: bool,
}

fn quote(rest: &[u8]) -> Option<Quote> {
    if rest.starts_with(b"&quot;") {
        return Some(Quote { opening: 6, sign: b'&', slashes: 0, is_entity: true });
    }
    // A string's prefix in some languages.
    let prefix = match rest {
        [b'b' | b'r' | b'f' | b'u' | b'L' | b'@', b'"' | b'\'', ..] => 1,
        _ => 0,
    };
    let slashes = rest[prefix..].iter().take(4).take_while(|byte| **byte == b'\\').count();
    let sign = *rest.get(prefix + slashes).filter(|byte| matches!(byte, b'"' | b'\'' | b'`'))?;
    Some(Quote { opening: prefix + slashes + 1, sign, slashes, is_entity: false })
}

impl Quote {
    /// The length of the value; `None` if its quote is not closed on the same line.
    fn length(self, rest: &[u8]) -> Option<usize> {
        if self.is_entity {
            return rest.windows(6).position(|six| six == b"&quot;");
        }
        let mut at = 0;
        while let Some(byte) = rest.get(at) {
            let slashes = rest[at..].iter().take(8).take_while(|byte| **byte == b'\\').count();
            if rest.get(at + slashes) == Some(&self.sign) && slashes <= self.slashes {
                return Some(at);
            }
            if *byte == b'\n' || (slashes > 0 && self.slashes > 0 && rest.get(at + slashes) == Some(&b'n')) {
                return Some(at);
            }
            at += if slashes > 0 { slashes + 1 } else { 1 };
        }
        (rest.len() < VALUE).then_some(rest.len())
    }
}

/// The length of an unquoted value.
fn unquoted(rest: &[u8], of_environment: bool, separator: Separator) -> usize {
    let always = |byte: u8| {
        byte.is_ascii_whitespace()
            || byte.is_ascii_control()
            || !byte.is_ascii()
            || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|')
    };
    let mostly = |byte: u8| matches!(byte, b',' | b';' | b'&' | b')' | b'}' | b']');
    let is_whole = of_environment || separator == Separator::Element;
    let ends = |byte: &u8| always(*byte) || (!is_whole && mostly(*byte));
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    let mut value = &rest[..length];
    while let Some((last, shorter)) = value.split_last() {
        let is_trailing = matches!(last, b'.' | b',' | b';' | b':' | b')' | b']' | b'}')
            || (separator == Separator::Sentence && matches!(last, b'!' | b'?'));
        if !is_trailing {
            break;
        }
        value = shorter;
    }
    value.len()
}
