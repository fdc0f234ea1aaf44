//! All texts in a JSON value. It is passed over once, however deep it is nested.

use std::borrow::Cow;

use memchr::memchr2;

use crate::json::Raw;

/// The texts in a value, in order; the names of fields are left out.
pub fn strings(value: Raw<'_>) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = value.json();
    std::iter::from_fn(move || {
        loop {
            let (text, after) = next_string(rest)?;
            rest = after;
            let is_name = after.trim_start().starts_with(':');
            if let Some(text) = Raw::new(text).text().filter(|_| !is_name) {
                return Some(text);
            }
        }
    })
}

/// The next string with its quotes, and what follows it.
fn next_string(json: &str) -> Option<(&str, &str)> {
    let json = &json[json.find('"')?..];
    let mut end = 1;
    loop {
        end += memchr2(b'"', b'\\', json.as_bytes().get(end..)?)?;
        if json.as_bytes()[end] == b'"' {
            return Some(json.split_at(end + 1));
        }
        end += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &[&str]) {
        assert_eq!(strings(Raw::new(json)).collect::<Vec<_>>(), expected, "{json}");
    }

    #[test]
    fn texts_are_found_at_any_depth() {
        check(r#"{"a":"one","b":["two",{"c" : "three","d":4}],"e":null}"#, &["one", "two", "three"]);
        check(r#""alone""#, &["alone"]);
        check("", &[]);
        check(r#"{"a":"cut"#, &[]);
        check(r#"{"a":"\"q\": \\","b":"\\"}"#, &["\"q\": \\", "\\"]);
        check(r#"{"a":"lone \udc00 half","b":"é"}"#, &["lone \u{fffd} half", "é"]);
        let deep = 100_000;
        check(&format!(r#"{{"a":{}{},"q":"deep"}}"#, "[".repeat(deep), "]".repeat(deep)), &["deep"]);
    }
}
