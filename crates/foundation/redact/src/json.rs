//! Text that may be JSON: its strings are decoded before secrets are looked for, and encoded again where one was found.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// The same text with each secret replaced, and how many there were. JSON stays JSON.
pub fn redact_json(text: &str) -> (Cow<'_, str>, usize) {
    if !text.trim_start().starts_with(['{', '[']) || !is_json(text) {
        return redacted(text);
    }
    // First what is hidden whole: by the rules of text its beginning alone would be.
    let (fields, named) = replace_strings(text, |name, token| {
        let name = name.filter(|_| token.contains('\\'))?;
        of_field(name, &decoded(token)?)
    });
    let text = fields.map_or(Cow::Borrowed(text), Cow::Owned);
    // A secret may be known by the name of its field.
    let (whole, found) = match redacted(&text) {
        (Cow::Owned(whole), found) if is_json(&whole) => (Some(whole), found),
        (_, found) => (None, found),
    };
    let is_searched = found == 0 || whole.is_some();
    let found = if is_searched { found } else { 0 };
    let whole = whole.map_or(text, Cow::Owned);
    let (strings, more) = replace_strings(&whole, |_, token| {
        // Strings without escapes were searched with the whole text.
        let is_new = !is_searched || token.contains('\\');
        if is_new { in_string(&decoded(token)?) } else { None }
    });
    (strings.map_or(whole, Cow::Owned), named + found + more)
}

fn decoded(token: &str) -> Option<String> {
    serde_json::from_str(token).ok()
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn redacted(text: &str) -> (Cow<'_, str>, usize) {
    let found = crate::find(text);
    (crate::replaced(text, &found), found.len())
}

/// The same JSON with some of its strings replaced, where there are any; `replacement` gets the name of the field and
/// the string as they are written, and says how many secrets were in it.
fn replace_strings(
    json: &str,
    replacement: impl Fn(Option<&str>, &str) -> Option<(String, usize)>,
) -> (Option<String>, usize) {
    let (mut out, mut done, mut secrets) = (String::new(), 0, 0);
    let (mut from, mut previous) = (0, "");
    while let Some(begin) = json[from..].find('"').map(|at| from + at) {
        let Some(end) = string_end(json, begin) else { break };
        let token = &json[begin..end];
        let name = (json[from..begin].trim() == ":").then_some(previous);
        if let Some((redacted, found)) = replacement(name, token)
            && let Ok(encoded) = serde_json::to_string(&redacted)
        {
            out.push_str(&json[done..begin]);
            out.push_str(&encoded);
            (done, secrets) = (end, secrets + found);
        }
        (from, previous) = (end, token);
    }
    if secrets == 0 {
        return (None, 0);
    }
    out.push_str(&json[done..]);
    (Some(out), secrets)
}

/// A decoded string with its secrets replaced, where there are any.
fn in_string(text: &str) -> Option<(String, usize)> {
    match redacted(text) {
        (Cow::Owned(redacted), found) => Some((redacted, found)),
        (Cow::Borrowed(_), _) => None,
    }
}

/// The mark for a value that is a secret by the name of its field, whatever is between its characters: lines and quotes would
/// end it for the rules of text.
fn of_field(name: &str, value: &str) -> Option<(String, usize)> {
    const ENOUGH: usize = 60;
    let characters = value.chars().filter(char::is_ascii_alphanumeric).take(ENOUGH);
    let probe: String = name.chars().chain(":\"".chars()).chain(characters).chain("\"".chars()).collect();
    let whole = name.len() + 2..probe.len() - 1;
    let found = crate::find(&probe);
    let secret = found.iter().find(|secret| secret.start <= whole.start && secret.end >= whole.end)?;
    Some((crate::mark(secret.kind), 1))
}

/// The end of the string that begins at `begin`.
fn string_end(json: &str, begin: usize) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in json.bytes().enumerate().skip(begin + 1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(redact_json(text).0, expected);
    }

    #[test]
    fn strings_are_decoded_first() {
        check(
            "{\"note\":\"\\u30d1\\u30b9\\u30ef\\u30fc\\u30c9\\u306f neko1234\",\"n\":1.50}",
            "{\"note\":\"パスワードは [redacted:password]\",\"n\":1.50}",
        );
        check(
            r#"{"script":"set -e\necho 'root:Stone1234' | chpasswd\necho \"done\""}"#,
            r#"{"script":"set -e\necho 'root:[redacted:command-password]' | chpasswd\necho \"done\""}"#,
        );
    }

    #[test]
    fn a_field_names_its_secret() {
        check(r#"{"password":"hunter22","x":[1]}"#, r#"{"password":"[redacted:password]","x":[1]}"#);
        let lines = r#"{"user":"ana","password" : "kQ8zrT5w\nPq3xLm7v\n\"Zt6"}"#;
        check(lines, r#"{"user":"ana","password" : "[redacted:password]"}"#);
        let long = ["kQ8zrT5wPq3xLm7v"; 50].join("\\n");
        check(&format!(r#"{{"password":"{long}"}}"#), r#"{"password":"[redacted:password]"}"#);
        let note = r#"{"note":"a line\nand another","passwords":"see below\nor above"}"#;
        check(note, note);
    }

    #[test]
    fn other_text_is_taken_as_it_is() {
        check("DB_PASSWORD=hunter22", "DB_PASSWORD=[redacted:password]");
        check("{not JSON password=hunter22", "{not JSON password=[redacted:password]");
    }
}
