//! Hashes of passwords, from which a password can be guessed: `$6$…`, bcrypt, argon2 and their like.

use crate::{Secret, Text};

/// How the hashes begin, and the fewest characters behind that.
const FORMS: &[(&str, usize)] = &[
    ("$1$", 24),
    ("$5$", 44),
    ("$6$", 80),
    ("$y$", 40),
    ("$apr1$", 24),
    ("$2a$", 50),
    ("$2b$", 50),
    ("$2y$", 50),
    ("$argon2", 40),
    ("$scrypt$", 40),
    ("pbkdf2_sha256$", 40),
];
/// The longest hash.
const LONGEST: usize = 256;

/// Finds the hash that begins at `at`.
pub(crate) fn password_hash(text: Text<'_>, at: usize) -> Option<Secret> {
    let rest = &text.bytes[at..];
    let (form, least) = FORMS.iter().find(|(form, _)| rest.starts_with(form.as_bytes()))?;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"./$=,+-_\\".contains(byte);
    let length = rest.iter().take(LONGEST).take_while(|byte| is_part(byte)).count();
    // A shell's escapes are part of it, but no other backslash is.
    let escapes = rest[..length].windows(2).position(|pair| pair[0] == b'\\' && pair[1] != b'$');
    let length = escapes.unwrap_or(length);
    let value = rest[..length].trim_ascii_end();
    let value = value.strip_suffix(b"\\").unwrap_or(value);
    let value = value.strip_suffix(b".").unwrap_or(value);
    let has_mixed = value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic);
    let is_cut = text.is_cut_at(at + value.len()) && value.len() >= form.len() + 4;
    ((value.len() >= form.len() + least || is_cut) && has_mixed)
        .then(|| Secret::new("password-hash", at..at + value.len()))
}
