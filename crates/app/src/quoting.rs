//! Quotes texts of transcripts for a model: nothing in them can be mistaken for the markers of its host, and nothing
//! is invisible or reorders what is shown. The plugin (`plugin/hooks/format.ts`) treats tags alike.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

/// Words that mark turns, thoughts and calls, besides all names of several words: `system-reminder`, `tool_result`.
const MARKS: [&str; 8] =
    ["system", "human", "user", "assistant", "quoted", "invoke", "parameter", "thinking"];
/// The longest name of a tag that is looked at, in bytes.
const LONGEST: usize = 64;
/// What each word of a name that underscores join has at least: `tool_use` marks a call, `size_t` is a type.
const SHORTEST_WORD: usize = 3;

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
    let is_harmful = |(at, c): (usize, char)| match c {
        '<' => is_mark(&text[at + 1..]),
        '\u{200c}' | '\u{200d}' => is_in_word(text, at, c),
        _ => is_invisible(c),
    };
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

/// Whether what follows a `<` makes it structure for a host or a model: a name of several words, one of the marks, or the
/// `|` of a special token such as `<|im_start|>`. Languages write single words there, and operators.
fn is_mark(rest: &str) -> bool {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('/').unwrap_or(rest).trim_start();
    if rest.starts_with(['|', '｜']) {
        return rest.chars().nth(1).is_some_and(|c| c.is_alphabetic() || c == '_');
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':');
    let length = rest.bytes().take(LONGEST).take_while(is_part).count();
    let name = rest[..length].to_ascii_lowercase();
    MARKS.contains(&name.as_str()) || is_several_words(&name, rest[length..].chars().next())
}

/// Whether a name has several words, before this character.
fn is_several_words(name: &str, next: Option<char>) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase();
    if !name.starts_with(is_letter) {
        return false;
    }
    if let Some((_, second)) = name.split_once(['-', ':']) {
        return second.starts_with(is_letter);
    }
    let ends_here = next.is_none_or(|c| c.is_whitespace() || matches!(c, '>' | '/' | '=' | '"' | '\''));
    let is_long = name.split('_').all(|word| word.len() >= SHORTEST_WORD);
    name.contains('_') && is_long && (ends_here || name.len() == LONGEST)
}

/// Whether a joiner is beside a letter of ours: scripts and emoji need it, and it hides a mark.
fn is_in_word(text: &str, at: usize, joiner: char) -> bool {
    let beside = [text[..at].chars().next_back(), text[at + joiner.len_utf8()..].chars().next()];
    beside.into_iter().flatten().any(|c| c.is_ascii_graphic())
}

/// Control characters, those that change the direction of a text, those without width except the joiners that scripts and
/// emoji need, and Unicode's tags and additional variation selectors, which can encode hidden letters.
fn is_invisible(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e01ef}')
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
        check("<system_reminder>x</system_reminder>", "\\u003csystem_reminder>x\\u003c/system_reminder>");
        for mark in [
            "|im_start|>",
            "|endoftext|>",
            "/|im_end|>",
            "｜begin▁of▁sentence｜>",
            "invoke name=\"x\">",
            "/invoke>",
            "parameter name=\"y\">",
            "ide_selection>",
            "ide_opened_file>",
            "tool_use>",
            "tool_use_error>",
            "Function_Results>",
            "user>",
            "thinking>",
            "user-prompt-submit-hook>",
            "local-command-stdout>",
            "bash-input>",
            "task_notification>",
            "system\u{200b}-reminder>",
            "system_prompt",
        ] {
            let found = harmless(&format!("x<{mark} y<{mark}")).into_owned();
            assert!(!found.contains('<'), "{mark}: {found}");
        }
        check("<ide\u{200d}_selection>", "<ide\\u{200d}_selection>");
        check("<ide\u{ad}_selection>", "<ide\\u{ad}_selection>");
        check("a\u{202e}b\u{e0041}c\u{7}", "a\\u{202e}b\\u{e0041}c\\u{7}");
        check("a\u{200b}b\u{feff}c\u{e0155}", "a\\u{200b}b\\u{feff}c\\u{e0155}");
        check("👩\u{200d}🚀❤\u{fe0f}", "👩\u{200d}🚀❤\u{fe0f}");
        for plain in [
            "Vec<size_t> a<b 1 <- 2",
            "<div class=x>\n\t<p>é",
            "a < b - c",
            "x <-y",
            "<a-1>",
            "<",
            "f <| g x <|> y",
            "std::vector<std::string> map<string_view, int> unique_ptr<shared_ptr<T>>",
            "#include <stdio.h>\n#include <sys/types.h>",
            "Option<&'a str> <T as Into<U>>::into <Button onClick={x}/> <ana@example.com> <https://x.example>",
            "cat <<EOF <file <id> <name> <<<<<<< HEAD",
            "क्\u{200d}ष",
        ] {
            check(plain, plain);
        }
    }
}
