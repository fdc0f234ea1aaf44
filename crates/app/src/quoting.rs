//! Quotes texts of transcripts for a model: nothing in them can be mistaken for the markers of its host, and nothing
//! is invisible or reorders what is shown. The plugin (`plugin/hooks/format.ts`) treats tags alike.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

/// Tags by which hosts mark turns and tools, besides all whose names have a hyphen.
const MARKS: [&str; 13] = [
    "system",
    "human",
    "assistant",
    "quoted",
    "tool_use",
    "tool_call",
    "tool_calls",
    "tool_result",
    "tool_results",
    "function_call",
    "function_calls",
    "function_result",
    "function_results",
];
/// The longest name of a tag that is looked at, in bytes.
const LONGEST: usize = 64;

/// Makes every text of a value harmless: `<` of a mark becomes `\u003c`, an invisible character its number.
pub fn neutralize(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(harmless) = harmless(text) {
                *text = harmless;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(neutralize),
        Value::Object(all) => all.values_mut().for_each(neutralize),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text without marks and invisible characters.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |(at, c): (usize, char)| is_invisible(c) || (c == '<' && is_mark(&text[at + 1..]));
    let Some((first, _)) = text.char_indices().find(|one| is_harmful(*one)) else {
        return Cow::Borrowed(text);
    };
    let mut out = text[..first].to_owned();
    for (at, c) in text[first..].char_indices().map(|(at, c)| (first + at, c)) {
        if !is_harmful((at, c)) {
            out.push(c);
        } else if c == '<' {
            out.push_str("\\u003c");
        } else {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
    Cow::Owned(out)
}

/// Whether what follows a `<` makes it the tag of a host: `system-reminder>`, `/tool_result>`.
fn is_mark(rest: &str) -> bool {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('/').unwrap_or(rest).trim_start();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let length = rest.bytes().take(LONGEST).take_while(is_part).count();
    let name = rest[..length].to_ascii_lowercase();
    let Some((first, second)) = name.split_once('-') else {
        return MARKS.contains(&name.as_str()) || name.starts_with("antml:");
    };
    let is_word = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_word && second.starts_with(|c: char| c.is_ascii_lowercase())) || name.starts_with("antml:")
}

/// Control characters, those that change the direction of a text, those without width except the joiners that scripts and
/// emoji need, and Unicode's tags and additional variation selectors, which can encode hidden letters.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_plugin_has_the_same_marks() {
        let plugin = include_str!("../../../plugin/hooks/format.ts");
        let marks = plugin.split_once("const MARKS = '").and_then(|(_, rest)| rest.split_once('\''));
        let (marks, _) = marks.expect("the plugin's list of marks");
        assert_eq!(marks.split('|').collect::<Vec<_>>(), MARKS);
    }

    #[test]
    fn marks_and_invisible_characters() {
        let check = |text: &str, expected: &str| {
            let mut value = json!({"a": [text]});
            neutralize(&mut value);
            assert_eq!(value["a"][0], expected, "{text}");
        };
        check("<system-reminder>x</system-reminder>", "\\u003csystem-reminder>x\\u003c/system-reminder>");
        check("< / Tool_Result >", "\\u003c / Tool_Result >");
        check("<function_calls>\n<x>", "\\u003cfunction_calls>\n<x>");
        let namespaced = ["<", "antml", ":invoke"].concat();
        check(&namespaced, &namespaced.replace('<', "\\u003c"));
        check("a\u{202e}b\u{e0041}c\u{7}", "a\\u{202e}b\\u{e0041}c\\u{7}");
        check("a\u{200b}b\u{feff}c\u{e0155}", "a\\u{200b}b\\u{feff}c\\u{e0155}");
        check("👩\u{200d}🚀❤\u{fe0f}", "👩\u{200d}🚀❤\u{fe0f}");
        for plain in ["Vec<size_t> a<b 1 <- 2", "<div class=x>\n\t<p>é", "a < b - c", "x <-y", "<a-1>", "<"]
        {
            check(plain, plain);
        }
    }
}
