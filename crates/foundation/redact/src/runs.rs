//! Finds secrets by their own form: a long run of token characters with a known prefix or shape.

use std::sync::LazyLock;

use crate::colour;
use crate::rules::{Body, Length, TOKENS, Token};
use crate::value::{is_evenly_distributed, is_random, is_sure_placeholder, is_uuid};
use crate::{Secret, Text, numbers};

/// The minimum length of a run. Only a few tokens are shorter; words announce those.
const SHORTEST: usize = 23;

/// The bytes of a run: letters, digits, `_` and `-`.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 128 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let byte = at as u8;
        table[at] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        at += 1;
    }
    table
};

/// The known tokens by the first character that is part of a run.
struct Index {
    /// The tokens whose whole prefix is part of the run.
    inside: [Vec<&'static Token>; 128],
    /// The tokens whose prefix ends with a character outside runs, such as `SG.`, with the length of the prefix
    /// before the run.
    headed: Vec<(usize, &'static Token)>,
    /// A bit for each pair of bytes with which some token starts.
    pairs: Box<[u64; 1 << 10]>,
}

impl Index {
    fn begins_some(&self, rest: &[u8]) -> bool {
        let [first, second, ..] = rest else { return false };
        let pair = usize::from(*first) << 8 | usize::from(*second);
        self.pairs[pair >> 6] >> (pair & 63) & 1 == 1
    }
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index =
        Index { inside: [const { Vec::new() }; 128], headed: Vec::new(), pairs: Box::new([0; 1 << 10]) };
    for token in TOKENS {
        let prefix = token.prefix.as_bytes();
        if let Some(last) = prefix.iter().rposition(|byte| !is_in_run(*byte)) {
            index.headed.push((last + 1, token));
        } else {
            index.inside[usize::from(prefix[0] & 127)].push(token);
            let pair = usize::from(prefix[0]) << 8 | usize::from(prefix[1]);
            index.pairs[pair >> 6] |= 1 << (pair & 63);
        }
    }
    index
});

fn is_in_run(byte: u8) -> bool {
    IN_RUN[usize::from(byte)]
}

/// Finds all secrets of this kind.
pub(crate) fn find(text: Text<'_>, found: &mut Vec<Secret>) {
    let bytes = text.bytes;
    let (mut done, mut numbers_end) = (0, 0);
    let mut was_inside = false;
    // A run of the shortest length covers two words of eight bytes wholly, wherever it begins.
    for (number, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_ne_bytes(*word);
        let is_inside = all_in_run(word);
        let at = number * 8;
        if at >= numbers_end && is_list_of_numbers(word) {
            let (key, end) = numbers::key(text, numbers_end, at);
            numbers_end = end;
            found.extend(key);
        }
        if is_inside && was_inside && at >= done {
            let before = bytes[done..at].iter().rev().take_while(|byte| is_in_run(**byte)).count();
            let (start, end) = (at - before, end_of_run(bytes, at));
            if end - start >= SHORTEST {
                parts(text, start, end, found);
            }
            done = found.last().map_or(end, |secret| secret.end.max(end));
        }
        was_inside = is_inside;
    }
    if text.is_cut {
        last_run(text, found);
    }
}

/// Eight times the same byte.
const fn all(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of each byte.
const HIGH: u64 = all(0x80);

/// Whether none of eight bytes is a letter, and one is a comma.
fn is_list_of_numbers(word: u64) -> bool {
    let commas = word ^ all(b',');
    word & HIGH == 0
        && (word + all(0x7F - b'9')) & HIGH == 0
        && commas.wrapping_sub(all(1)) & !commas & HIGH != 0
}

/// Whether all eight bytes belong to a run: eight comparisons at a time, by the highest bit of each byte.
fn all_in_run(word: u64) -> bool {
    let between = |word: u64, first: u8, last: u8| (word + all(0x80 - first)) & !(word + all(0x7F - last));
    let is = |word: u64, byte: u8| HIGH - (word ^ all(byte));
    if word & HIGH != 0 {
        return false;
    }
    let letter = between(word | all(0x20), b'a', b'z');
    (letter | between(word, b'0', b'9') | is(word, b'_') | is(word, b'-')) & HIGH == HIGH
}

/// Asks of a run, and of shorter ones that dots tie to its beginning, as those of a web token are.
fn parts(text: Text<'_>, start: usize, end: usize, found: &mut Vec<Secret>) {
    let done = found.last().map_or(0, |secret| secret.end);
    let mut begins = [start; 3];
    for at in 1..begins.len() {
        let Some(dot) = begins[at - 1].checked_sub(1).filter(|dot| *dot >= done && text.bytes[*dot] == b'.')
        else {
            begins[at] = begins[at - 1];
            continue;
        };
        let length =
            text.bytes[done..dot].iter().rev().take(SHORTEST).take_while(|byte| is_in_run(**byte)).count();
        begins[at] = if length < SHORTEST { dot - length } else { begins[at - 1] };
    }
    let known = found.len();
    for at in (1..begins.len()).rev() {
        if begins[at] < begins[at - 1] && found.len() == known {
            run(text, begins[at], end_of_run(text.bytes, begins[at]), found);
        }
    }
    if found.get(known..).and_then(<[Secret]>::last).is_none_or(|secret| secret.end <= start) {
        run(text, start, end, found);
    }
}

fn end_of_run(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|byte| !is_in_run(*byte)).map_or(bytes.len(), |length| from + length)
}

/// Checks the run at the end of the text, however short, since the text may have been cut there.
fn last_run(text: Text<'_>, found: &mut Vec<Secret>) {
    let bytes = text.bytes;
    let start = bytes.iter().rposition(|byte| !is_in_run(*byte)).map_or(0, |last| last + 1);
    if bytes.len() - start < SHORTEST {
        run(text, start, bytes.len(), found);
    }
}

fn run(text: Text<'_>, start: usize, end: usize, found: &mut Vec<Secret>) {
    let bytes = text.bytes;
    let index = &*INDEX;
    let mut done = start;
    let heads = [Some(start), behind_escape(bytes, start), behind_marks(bytes, start)];
    for head in heads.into_iter().flatten().filter(|head| *head < end) {
        let secret = headed(text, head).or_else(|| shape(text, head, end));
        let secret = secret.or_else(|| {
            index.begins_some(&bytes[head..]).then(|| inside(text, head, !is_encoded(bytes, head)))?
        });
        if let Some(secret) = secret {
            done = secret.end;
            found.extend(second_half(text, &secret));
            found.push(secret);
            break;
        }
    }
    // A token may also follow something else and a `_` or `-`. All web tokens of a run would end where the first does.
    let is_web_token = |at: &usize| bytes[*at..].starts_with(b"eyJ") && matches!(bytes[at - 1], b'_' | b'-');
    let web_token = (start + 1..end).find(is_web_token).filter(|_| bytes.get(end) == Some(&b'.'));
    for at in start + 1..end {
        let known = || index.begins_some(&bytes[at..]).then(|| inside(text, at, false))?;
        let encoded = || (web_token == Some(at)).then(|| json_web_token(text, at))?;
        if matches!(bytes[at - 1], b'_' | b'-')
            && at >= done
            && let Some(secret) = known().or_else(encoded)
        {
            done = secret.end;
            found.extend(second_half(text, &secret));
            found.push(secret);
        }
    }
}

/// Whether the run continues base64 before `at`, where any prefix occurs by chance.
fn is_encoded(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[..at], [.., before, b'/' | b'+'] if before.is_ascii_alphanumeric() || matches!(before, b'/' | b'+'))
}

/// The start of a run after the `-` of a line that a difference takes away.
fn behind_marks(bytes: &[u8], start: usize) -> Option<usize> {
    let marks = bytes[start..].iter().take(4).take_while(|byte| **byte == b'-').count();
    (marks > 0).then_some(start + marks)
}

/// The start of a run after an escape sequence whose letters seem to be part of it.
fn behind_escape(bytes: &[u8], start: usize) -> Option<usize> {
    let before = bytes[start.checked_sub(1)?];
    if !matches!(before, b'\\' | b'%' | b'[' | b';') {
        return None;
    }
    let rest = &bytes[start..];
    let hex = |count: usize| rest.len() > count && rest[1..=count].iter().all(u8::is_ascii_hexdigit);
    let length = match (before, rest.first()?) {
        (b'\\', b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0') => 1,
        (b'\\', b'u') if hex(4) => 5,
        (b'\\', b'x') if hex(2) => 3,
        (b'%', first) if first.is_ascii_hexdigit() && hex(1) => 2,
        // The end of a terminal's colour.
        (b'[' | b';', _) => 1 + rest.iter().take(3).position(|byte| matches!(byte, b'm' | b'K'))?,
        _ => return None,
    };
    Some(start + length)
}

/// Finds a token whose prefix ends right before the run.
fn headed(text: Text<'_>, start: usize) -> Option<Secret> {
    let bytes = text.bytes;
    if !matches!(bytes[start.checked_sub(1)?], b'.' | b'~' | b'/') {
        return None;
    }
    let fits = |(head, token): &&(usize, &'static Token)| {
        start >= *head && bytes[start - head..].starts_with(token.prefix.as_bytes())
    };
    let (head, token) = INDEX.headed.iter().find(fits)?;
    let mut begin = start - head;
    if token.prefix.starts_with('.') {
        begin -= bytes[..begin].iter().rev().take(20).take_while(|byte| is_in_run(**byte)).count();
    } else if !starts_token(bytes, begin) {
        return None;
    }
    let end = body_end(text, start - head + token.prefix.len(), token, true)?;
    Some(Secret::new(token.kind, begin..end))
}

/// Whether a token can start at `at`: no letter or digit precedes it, except those of an escape sequence.
fn starts_token(bytes: &[u8], at: usize) -> bool {
    let Some((before, rest)) = bytes[..at].split_last() else { return true };
    let is_encoded =
        || before.is_ascii_hexdigit() && matches!(rest, [.., b'%', first] if first.is_ascii_hexdigit());
    !before.is_ascii_alphanumeric()
        || (rest.ends_with(b"\\") && matches!(before, b'n' | b'r' | b't'))
        || colour::end_of_one(&bytes[..at]) > 0
        || is_encoded()
}

/// Finds a token that starts at `at`; `is_first` says that the run, or the text after an escape sequence, starts
/// there.
fn inside(text: Text<'_>, at: usize, is_first: bool) -> Option<Secret> {
    let rest = &text.bytes[at..];
    let tokens = INDEX.inside.get(usize::from(*rest.first()?))?;
    tokens.iter().filter(|token| rest.starts_with(token.prefix.as_bytes())).find_map(|token| {
        let end = body_end(text, at + token.prefix.len(), token, is_first)?;
        Some(Secret::new(token.kind, at..end))
    })
}

/// The end of a token's body that starts at `from`; `None` if it is no such token.
fn body_end(text: Text<'_>, from: usize, token: &Token, is_first: bool) -> Option<usize> {
    let rest = text.bytes.get(from..)?;
    let length = rest.iter().position(|byte| !token.body.holds(*byte)).unwrap_or(rest.len());
    let mut body = &rest[..length];
    if token.body == Body::Dotted {
        while let Some(trimmed) = body.strip_suffix(b".") {
            body = trimmed;
        }
    }
    let end = from + body.len();
    if text.is_cut_at(end) && is_first && body.len() < token.length.least() {
        let enough = if matches!(token.length, Length::Least(_) | Length::Exact(_)) { 1 } else { 8 };
        let is_filler = body.first().is_none_or(|byte| matches!(byte, b'x' | b'X' | b'.' | b'-'));
        return (body.len() >= enough && !is_filler).then_some(end);
    }
    // A small letter ends what has capital letters only: text that was put behind it without a space.
    let is_joined = |byte: &u8| token.body == Body::Upper && byte.is_ascii_lowercase();
    let goes_on = rest.get(body.len()).is_some_and(|byte| byte.is_ascii_alphanumeric() && !is_joined(byte));
    let fits = match token.length {
        Length::Least(least) => body.len() >= least,
        Length::Random(least) => {
            is_first && body.len() >= least && is_random(body) && is_evenly_distributed(body)
        }
        Length::Exact(length) => body.len() == length && !goes_on,
        Length::ExactRandom(length) => {
            is_first && body.len() == length && !goes_on && (is_random(body) || has_mixed_chars(body))
        }
    };
    (fits && !is_sure_placeholder(body)).then_some(end)
}

/// Whether the body is long and has small letters, capital letters and digits.
fn has_mixed_chars(body: &[u8]) -> bool {
    let holds = |is: fn(&u8) -> bool| body.iter().any(is);
    body.len() >= 32
        && holds(u8::is_ascii_lowercase)
        && holds(u8::is_ascii_uppercase)
        && holds(u8::is_ascii_digit)
}

/// Finds the token that starts at `at`, for a place that a word has announced.
pub(crate) fn token(text: Text<'_>, at: usize, found: &mut Vec<Secret>) {
    let rest = &text.bytes[at..];
    let mut tokens = TOKENS
        .iter()
        .filter(|token| starts_token(text.bytes, at) && rest.starts_with(token.prefix.as_bytes()));
    let end = |token: &Token| body_end(text, at + token.prefix.len(), token, true);
    if let Some(secret) = tokens.find_map(|token| Some(Secret::new(token.kind, at..end(token)?))) {
        // The last secret pushed marks how far the text is checked.
        let second = second_half(text, &secret);
        found.push(secret);
        found.extend(second);
    }
}

/// Finds a secret by its shape alone.
fn shape(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let before = start.checked_sub(1).map(|before| text.bytes[before]);
    let dotted = text.bytes.get(end) == Some(&b'.');
    match (text.bytes[start], before) {
        (b'e', _) => json_web_token(text, start),
        (b'M' | b'N' | b'O', _) if dotted => discord_token(text, start, end),
        (b'A', Some(b':')) => telegram_token(text, start, end),
        _ => None,
    }
    .or_else(|| match (end - start, before) {
        (64, Some(b'.')) => airtable_token(text, start, end),
        (36..=38, _) => mailchimp_key(text, start, end),
        (40, _) => launchdarkly_key(text, start, end),
        _ => None,
    })
    .or_else(|| matches!(before, Some(b'~' | b'.')).then(|| azure_secret(text, start, end))?)
}

/// Three parts, or five of an encrypted one; the first two begin as JSON does in base64.
fn json_web_token(text: Text<'_>, start: usize) -> Option<Secret> {
    let bytes = text.bytes;
    if !bytes.get(start..)?.starts_with(b"eyJ") {
        return None;
    }
    let header = end_of_run(bytes, start);
    if text.is_cut_at(header) && header - start >= 8 {
        return Some(Secret::new("json-web-token", start..header));
    }
    if header - start < 16 || bytes.get(header) != Some(&b'.') {
        return None;
    }
    let payload = end_of_run(bytes, header + 1);
    let payload_length = payload - header - 1;
    let is_json = bytes[header + 1..].starts_with(b"ey");
    let mut parts = 2;
    let mut end = payload;
    while parts < 5 && bytes.get(end) == Some(&b'.') {
        let next = end_of_run(bytes, end + 1);
        // The second part of an encrypted one is empty where the key is not sent.
        if next == end + 1 && bytes.get(next) != Some(&b'.') {
            break;
        }
        (end, parts) = (next, parts + 1);
    }
    let fits = (is_json && payload_length >= 8) || (parts >= 3 && payload_length >= 10 && end - payload > 10);
    let fits = fits || (parts == 5 && end - payload > 40);
    let is_cut = text.is_cut_at(end);
    (fits || is_cut).then(|| Secret::new("json-web-token", start..end))
}

/// The bot's number in base64, a time, a signature.
fn discord_token(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    if !matches!(bytes.get(start)?, b'M' | b'N' | b'O') || !(23..=28).contains(&(end.checked_sub(start)?)) {
        return None;
    }
    let time = (bytes.get(end) == Some(&b'.')).then(|| end_of_run(bytes, end + 1))?;
    let sign = (bytes.get(time) == Some(&b'.')).then(|| end_of_run(bytes, time + 1))?;
    let fits = (5..=7).contains(&(time - end - 1)) && (27..=45).contains(&(sign - time - 1));
    (fits && !is_sure_placeholder(&bytes[time + 1..sign])).then(|| Secret::new("discord-token", start..sign))
}

/// The bot's number, a colon, 35 characters.
fn telegram_token(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let colon = start.checked_sub(1).filter(|before| bytes[*before] == b':')?;
    let digits = bytes[..colon].iter().rev().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    let number = colon - digits;
    let body = &bytes[start..end];
    let starts_token = (starts_token(bytes, number) && !bytes[..number].ends_with(b":"))
        || bytes[..number].ends_with(b"bot");
    let is_mixed = body.iter().any(u8::is_ascii_lowercase) && body.iter().any(u8::is_ascii_uppercase);
    let fits = (8..=10).contains(&digits) && body[0] == b'A' && (30..=40).contains(&body.len());
    (fits && starts_token && is_mixed && !is_sure_placeholder(body))
        .then(|| Secret::new("telegram-token", number..end))
}

/// A secret of an Azure application: `Q~` behind a digit, 34 to 37 characters around it.
pub(crate) fn azure_secret(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.bytes;
    let is_part = |byte: &u8| is_in_run(*byte) || matches!(byte, b'~' | b'.');
    let from = start - bytes[..start].iter().rev().take(40).take_while(|byte| is_part(byte)).count();
    let mark = from + bytes[from..start].windows(2).position(|pair| pair == b"Q~")?;
    let begin = mark.checked_sub(4).filter(|begin| *begin >= from && bytes[mark - 1].is_ascii_digit())?;
    let to = end + bytes[end..].iter().take(40).take_while(|byte| is_part(byte)).count();
    (starts_token(bytes, begin) && (28..=36).contains(&(to - mark - 2)))
        .then(|| Secret::new("azure-client-secret", begin..to))
}

/// `pat`, 14 characters, a dot, 64 hexadecimal digits.
fn airtable_token(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let begin = start.checked_sub(18)?;
    let head = &text.bytes[begin..start];
    let body = &text.bytes[start..end];
    let fits =
        head.starts_with(b"pat") && head.ends_with(b".") && head[..17].iter().all(u8::is_ascii_alphanumeric);
    (fits && body.len() == 64 && body.iter().all(u8::is_ascii_hexdigit))
        .then(|| Secret::new("airtable-token", begin..end))
}

/// 32 hexadecimal digits and the data centre.
fn mailchimp_key(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let (key, centre) = text.bytes[start..end].split_at_checked(32)?;
    let number = centre.strip_prefix(b"-us")?;
    let fits = (1..=2).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    (fits && key.iter().all(u8::is_ascii_hexdigit) && is_random(key))
        .then(|| Secret::new("mailchimp-key", start..end))
}

/// `sdk-` or `api-` and a UUID.
fn launchdarkly_key(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    let (head, id) = text.bytes[start..end].split_at_checked(4)?;
    (matches!(head, b"sdk-" | b"api-" | b"mob-") && is_uuid(id))
        .then(|| Secret::new("launchdarkly-key", start..end))
}

/// Finds the secret key next to an AWS access key id.
fn second_half(text: Text<'_>, first: &Secret) -> Option<Secret> {
    if first.kind != "aws-access-key-id" {
        return None;
    }
    let rest = &text.bytes[first.end..];
    let between = |byte: &u8| {
        matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' | b';' | b'|' | b'"' | b'\'' | b'/')
    };
    let gap = rest.iter().take(8).take_while(|byte| between(byte)).count();
    let body = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let length = rest[gap..].iter().take(41).take_while(|byte| body(byte)).count();
    let start = first.end + gap;
    (gap > 0 && length == 40 && is_random(&text.bytes[start..start + 40]))
        .then(|| Secret::new("aws-secret-key", start..start + 40))
}
