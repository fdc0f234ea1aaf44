//! Classifies how a task opens: like a continuation, or like a new request.
//!
//! The phrase lists were written before anything was measured with them; the measurements cover English only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phrases::{
    BACK, BACK_STEMS, CONTINUATION, CONTINUATION_STEMS, REQUEST, REQUEST_ENDINGS, REQUEST_STEMS,
};
use super::words::is_without_spaces;

/// How a task opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// Like a continuation: "and the tests", "option 3", "weiter".
    Continuation,
    /// Like a request: "can you review …", "bitte prüfe …".
    Request,
    /// Like neither of them.
    Neither,
}

impl Opening {
    /// Classifies a text by the longest phrase that it begins with.
    pub fn classify(task: &str) -> Self {
        let text = task.trim_start_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        if begins_with_number(&text) {
            return Self::Continuation;
        }
        let continuation = longest(&text, &CONTINUATION, CONTINUATION_STEMS);
        let request = longest(&text, &REQUEST, REQUEST_STEMS);
        match (continuation, request) {
            (None, None) if ends_like_request(&text) => Self::Request,
            (None, None) => Self::Neither,
            (continuation, request) if continuation >= request => Self::Continuation,
            _ => Self::Request,
        }
    }
}

/// Whether a task refers to something said before: "how to test this".
pub fn points_back(task: &str) -> bool {
    let text = task.to_lowercase();
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| each(BACK).any(|back| back == word)) || each(BACK_STEMS).any(|stem| text.contains(stem))
}

/// The length of the longest phrase or stem that a text begins with.
fn longest(text: &str, phrases: &[&str], stems: &str) -> Option<usize> {
    let is_whole = |phrase: &&str| {
        let rest = text.strip_prefix(*phrase);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    let whole = phrases.iter().flat_map(|language| each(language)).filter(is_whole);
    let begun = each(stems).filter(|stem| text.starts_with(stem));
    whole.chain(begun).map(str::len).max()
}

/// The phrases of a list.
fn each(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ")
}

/// "3", "1-3", "2. and the rest": an answer to a list.
fn begins_with_number(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&digits) && !text[digits..].starts_with(|next: char| next.is_alphanumeric())
}

/// Whether the text ends like a request, in languages whose verb comes last.
fn ends_like_request(text: &str) -> bool {
    let text = text.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    text.chars().any(is_without_spaces) && each(REQUEST_ENDINGS).any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_earlier_messages_are_recognized() {
        for text in ["how to test this", "what were the other things?", "wie teste ich das?", "如何测试这个"]
        {
            assert!(points_back(text), "{text}");
        }
        for text in ["write a haiku about the sea", "", "add a theme switch"] {
            assert!(!points_back(text), "{text}");
        }
    }

    #[test]
    fn openings_are_classified() {
        let check = |text, expected| assert_eq!(Opening::classify(text), expected, "{text}");
        for text in [
            "and the tests, too",
            "Ok, commit it",
            "option 3",
            "3",
            "1-3, with benchmarks",
            "2: yes",
            "  yes!",
            "continue",
            "keep going",
            "und die Tests auch",
            "weiter",
            "Oui, vas-y",
            "ahora los tests",
            "продолжай",
            "继续",
            "请继续",
            "好的，提交吧",
            "次は？",
            "그리고 테스트도",
        ] {
            check(text, Opening::Continuation);
        }
        for text in [
            "can you add a test?",
            "Please review the parser",
            "I want to rename the crate",
            "why does the build fail",
            "Kannst du den Parser prüfen?",
            "Peux-tu vérifier le parseur ?",
            "¿Puedes revisar el código?",
            "Você pode revisar o código?",
            "напиши тест",
            "请修复登录",
            "帮我看看日志",
            "パーサーを直してください",
            "로그인을 고쳐줘",
        ] {
            check(text, Opening::Request);
        }
        for text in
            ["", "the type checker fails", "https://example.com/1", "1000 lines too many", "android build"]
        {
            check(text, Opening::Neither);
        }
    }
}
