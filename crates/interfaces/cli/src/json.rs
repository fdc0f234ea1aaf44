//! JSON that a terminal may show, too: the control characters that JSON leaves as they are, are escaped.

use std::io::{self, Write};

use model::is_steering;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// Writes a value as indented JSON.
pub(crate) fn write_json(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    let format = Escaping(PrettyFormatter::new());
    Ok(value.serialize(&mut Serializer::with_formatter(out, format))?)
}

/// A value as indented JSON.
pub(crate) fn json(value: &impl Serialize) -> io::Result<String> {
    let mut out = Vec::new();
    write_json(&mut out, value)?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// A value as JSON on one line.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<String> {
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, Escaping(CompactFormatter)))?;
    String::from_utf8(out).map_err(io::Error::other)
}

/// Formats as another does, and escapes what is in strings.
struct Escaping<F>(F);

/// Leaves these to the other.
macro_rules! delegate {
    ($($name:ident($($argument:ident)?)),*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: bool)?) -> io::Result<()> {
            self.0.$name(out $(, $argument)?)
        })*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    delegate!(begin_array(), begin_array_value(is_first), end_array_value(), end_array());
    delegate!(
        begin_object(),
        begin_object_key(is_first),
        begin_object_value(),
        end_object_value(),
        end_object()
    );

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // Most of it is ASCII, which this looks through many bytes at a time.
        let is_plain = fragment.bytes().filter(|byte| *byte >= 0x7f).count() == 0;
        if is_plain { out.write_all(fragment.as_bytes()) } else { escape(out, fragment) }
    }

    fn write_raw_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // Outside of its strings JSON has none of these characters.
        escape(out, fragment)
    }
}

fn escape<W: ?Sized + Write>(out: &mut W, text: &str) -> io::Result<()> {
    let mut done = 0;
    for (at, c) in text.char_indices().filter(|(_, c)| *c >= '\u{7f}' && is_steering(*c)) {
        out.write_all(&text.as_bytes()[done..at])?;
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        done = at + c.len_utf8();
    }
    out.write_all(&text.as_bytes()[done..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_steers_nothing_and_stays_json() {
        let said = "a\u{1b}[m\u{9b}\u{202e}\nö\u{61c}\u{feff}\u{e0041}\u{2028}👩\u{200d}👧\u{7f}";
        let text = json(&[said]).unwrap();
        let expected = "a\\u001b[m\\u009b\\u202e\\nö\\u061c\\ufeff\\udb40\\udc41\\u2028👩\u{200d}👧\\u007f";
        assert_eq!(text, format!("[\n  \"{expected}\"\n]"));
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), [said]);
    }

    #[test]
    fn keys_and_nested_values_steer_nothing_either() {
        let value = serde_json::json!({"a\u{9b}": [{"b": "c\u{202e}", "d": [true, null]}], "e": {}});
        let indented = "{\n  \"a\\u009b\": [\n    {\n      \"b\": \"c\\u202e\",\n      \"d\": [\n        true,\n        null\n      ]\n    }\n  ],\n  \"e\": {}\n}";
        assert_eq!(json(&value).unwrap(), indented);
        let line = r#"{"a\u009b":[{"b":"c\u202e","d":[true,null]}],"e":{}}"#;
        assert_eq!(json_line(&value).unwrap(), line);
    }
}
