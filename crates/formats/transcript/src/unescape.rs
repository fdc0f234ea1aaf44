//! Decodes the escapes in a JSON string.

use std::char::REPLACEMENT_CHARACTER;

use memchr::memchr;

/// Decodes the text between a string's quotes; half a surrogate pair becomes U+FFFD. `None` where an escape is
/// invalid.
pub(crate) fn unescape(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1)?;
        rest = rest.get(at + 2..)?;
        text.push(match escape {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(*escape),
            b'u' => unicode(&mut rest)?,
            _ => return None,
        });
    }
    text.push_str(rest);
    Some(text)
}

/// Decodes the code point at the beginning of `rest` and advances past it.
fn unicode(rest: &mut &str) -> Option<char> {
    let unit = unit(rest)?;
    *rest = &rest[4..];
    if let Some(plain) = char::from_u32(unit) {
        return Some(plain);
    }
    let second = rest.strip_prefix("\\u").and_then(self::unit).filter(|_| unit < 0xdc00);
    let Some(second) = second.filter(|second| (0xdc00..0xe000).contains(second)) else {
        return Some(REPLACEMENT_CHARACTER);
    };
    *rest = &rest[6..];
    char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (second - 0xdc00))
}

fn unit(rest: &str) -> Option<u32> {
    let digits = rest.get(..4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_escape_is_decoded() {
        let check = |inner: &str, expected: Option<&str>| {
            assert_eq!(unescape(inner).as_deref(), expected, "{inner}");
        };
        check(r"a\nb\t\r\b\f", Some("a\nb\t\r\u{8}\u{c}"));
        check(r#"\"\\\/"#, Some("\"\\/"));
        check(r"\u00e9\u0000é", Some("é\0é"));
        check(r"\ud83d\ude80", Some("🚀"));
        check(r"\ud83dx\ude80", Some("\u{fffd}x\u{fffd}"));
        check(r"\ud83d\ud83d\ude80", Some("\u{fffd}🚀"));
        check(r"\ud83d\u0041", Some("\u{fffd}A"));
        check(r"\u00", None);
        check(r"\u+041", None);
        check(r"\u00é", None);
        check(r"\x", None);
        check(r"\é", None);
        check("\\", None);
    }

    proptest::proptest! {
        #[test]
        fn unescaping_agrees_with_serde_json(inner in "([^\"\\\\\u{0}-\u{1f}]|\\\\[nrtbf/u\"\\\\x]|[0-9a-fD]{0,4}){0,20}") {
            if let Ok(expected) = serde_json::from_str::<String>(&format!("\"{inner}\"")) {
                proptest::prop_assert_eq!(unescape(&inner), Some(expected));
            }
        }

        #[test]
        fn strings_written_by_serde_json_are_unescaped(text in "\\PC{0,40}[\u{0}-\u{1f}\"\\\\]{0,4}") {
            let json = serde_json::to_string(&text).unwrap();
            proptest::prop_assert_eq!(unescape(&json[1..json.len() - 1]), Some(text));
        }
    }
}
