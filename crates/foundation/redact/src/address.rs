//! Passwords in addresses, addresses that are secrets themselves, and signatures in addresses.

use crate::rules::MANUAL_PASSWORDS;
use crate::value::{is_placeholder, is_random};
use crate::{Secret, Text};

/// The maximum number of bytes between `://` and the end of a password.
const REACH: usize = 512;

/// Webhook URLs that let anybody who knows them post: host, path and minimum length of the secret.
const HOOKS: &[(&str, &str, usize)] = &[
    ("slack-webhook", "hooks.slack.com/services/", 20),
    ("slack-webhook", "hooks.slack.com/workflows/", 20),
    ("slack-webhook", "hooks.slack.com/triggers/", 20),
    ("discord-webhook", "discord.com/api/webhooks/", 40),
    ("discord-webhook", "discordapp.com/api/webhooks/", 40),
    ("discord-webhook", "ptb.discord.com/api/webhooks/", 40),
    ("discord-webhook", "canary.discord.com/api/webhooks/", 40),
    ("zapier-webhook", "hooks.zapier.com/hooks/catch/", 8),
];

/// Finds the password in the URL whose `://` is at `at`, or the secret part of a webhook URL.
pub(crate) fn password(text: Text<'_>, at: usize) -> Option<Secret> {
    hook(text, at + 3).or_else(|| user_password(text, at))
}

fn user_password(text: Text<'_>, at: usize) -> Option<Secret> {
    let bytes = text.bytes;
    if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() {
        return None;
    }
    let start = at + 3;
    let rest = &bytes[start..bytes.len().min(start + REACH)];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|' | b')' | b']' | b',')
    };
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    let authority = &rest[..length];
    let colon = authority.iter().position(|byte| *byte == b':')?;
    let Some(sign) = authority.iter().rposition(|byte| *byte == b'@') else {
        return cut_off(text, start, authority, colon);
    };
    let password = authority.get(colon + 1..sign)?;
    let user = &authority[..colon];
    let has_host = authority
        .get(sign + 1)
        .is_some_and(|byte| !byte.is_ascii_punctuation() || matches!(byte, b'$' | b'{' | b'%'));
    let is_secret = has_host && !is_manual(user, password) && !password.contains(&b'?');
    is_secret.then(|| Secret::new("url-password", start + colon + 1..start + sign))
}

/// Finds a password in a URL that the end of the text cuts off.
fn cut_off(text: Text<'_>, start: usize, authority: &[u8], colon: usize) -> Option<Secret> {
    let end = start + authority.len();
    let begun = &authority[colon + 1..];
    let is_port = begun.iter().all(u8::is_ascii_digit);
    (text.is_cut_at(end) && !is_port && !is_manual(&authority[..colon], begun))
        .then(|| Secret::new("url-password", start + colon + 1..end))
}

fn is_manual(user: &[u8], password: &[u8]) -> bool {
    password.eq_ignore_ascii_case(user)
        || (user.is_empty() && password.contains(&b':'))
        || MANUAL_PASSWORDS.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes()))
        || is_placeholder(password)
        || password.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_')
        || password.starts_with(b"$")
        || password.starts_with(b"%")
        || password.starts_with(b":")
}

fn hook(text: Text<'_>, start: usize) -> Option<Secret> {
    let rest = text.bytes.get(start..)?;
    let (kind, head, least) = HOOKS.iter().find(|(_, head, _)| rest.starts_with(head.as_bytes()))?;
    let body = &rest[head.len()..];
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-');
    let length = body.iter().take(256).take_while(|byte| is_part(byte)).count();
    let from = start + head.len();
    let is_named =
        |name: &[u8]| body[..length].windows(name.len()).any(|part| part.eq_ignore_ascii_case(name));
    let is_secret = length >= *least && !is_placeholder(&body[..length]) && !is_named(b"your");
    (is_secret || (text.is_cut_at(from + length) && length > 0))
        .then(|| Secret::new(kind, from..from + length))
}

/// The signature behind `sig=` or `Signature=` at `at`.
pub(crate) fn signature(text: Text<'_>, at: usize) -> Option<Secret> {
    let rest = &text.bytes[at..];
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'+' | b'/' | b'=' | b'-' | b'_');
    let length = rest.iter().take(512).take_while(|byte| is_part(byte)).count();
    let value = &rest[..length];
    // Only in an address: `?sig=`, `&X-Amz-Signature=`.
    let name = text.bytes[..at].iter().rev().take(24).position(|byte| matches!(byte, b'?' | b'&' | b';'))?;
    let is_query = text.bytes[at - name..at]
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'='));
    (is_query && length >= 40 && is_random(value) && !is_placeholder(value))
        .then(|| Secret::new("url-signature", at..at + length))
}
