//! Classifies how a task opens: like a continuation, or like a new request.
//!
//! The phrase lists were written before anything was measured with them; the measurements cover English only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::phrases::{
    BACK, BACK_STEMS, CONTINUATION, CONTINUATION_STEMS, FOLLOW_UPS, POLITE, REQUEST, REQUEST_ENDINGS,
    REQUEST_STEMS, STATUS,
};
use super::words::is_without_spaces;

/// A text from this number of words on is a brief: it says all that there is to know, and follows nothing.
const MIN_BRIEF_WORDS: usize = 150;
/// A question about the state of things has at most this many words.
const MAX_STATUS_WORDS: usize = 14;
/// In scripts without spaces, at most this many characters.
const MAX_STATUS_CHARS: usize = 24;

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
    /// Classifies a text by the longest phrase that it begins with. A brief and a command line are requests whatever
    /// they begin with; a question about the state of things and a verb for what was just done continue something.
    pub fn classify(task: &str) -> Self {
        let text = task.trim_start_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        if is_brief(&text) || is_command_line(&text) {
            return Self::Request;
        }
        if begins_with_number(&text) || asks_for_status(&text) || follows_up(&text) {
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

/// Whether a text is so long that it was written, or pasted, as a brief.
fn is_brief(text: &str) -> bool {
    text.split_whitespace().nth(MIN_BRIEF_WORDS - 1).is_some()
}

/// Whether a text is a program's name with options, pasted: `claude --continue`.
fn is_command_line(text: &str) -> bool {
    let is_name =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    let mut words = text.split_whitespace();
    let first = words.next().is_some_and(is_name);
    let options = words.take_while(|word| word.starts_with("--") || is_name(word)).take(2);
    first && !text.contains('\n') && options.into_iter().any(|word| word.starts_with("--"))
}

/// Whether a short text asks how far the work is: "where do things stand?"
fn asks_for_status(text: &str) -> bool {
    let is_short = if text.chars().any(is_without_spaces) {
        text.chars().count() <= MAX_STATUS_CHARS
    } else {
        text.split_whitespace().nth(MAX_STATUS_WORDS).is_none()
    };
    let text = text.replace('\u{2019}', "'");
    is_short && each(STATUS).any(|phrase| has_words(&text, phrase))
}

/// Whether a text has a phrase of whole words; in scripts without spaces, anywhere.
fn has_words(text: &str, phrase: &str) -> bool {
    let is_edge = |letter: Option<char>| {
        letter.is_none_or(|letter| !letter.is_alphanumeric() || is_without_spaces(letter))
    };
    text.match_indices(phrase).any(|(at, _)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + phrase.len()..].chars().next())
            || phrase.chars().any(is_without_spaces)
    })
}

/// Whether a text asks, politely or not, for the next step of what was just done: "can you push it".
fn follows_up(text: &str) -> bool {
    let mut rest = text;
    while let Some(polite) = beginning(rest, POLITE) {
        rest = rest[polite..].trim_start_matches(|letter: char| !letter.is_alphanumeric());
    }
    beginning(rest, FOLLOW_UPS).is_some()
}

/// The length of the longest phrase of a list that a text begins with, as whole words.
fn beginning(text: &str, list: &str) -> Option<usize> {
    longest(text, &[list], "").filter(|length| *length > 0)
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
            "Please push the fixes up",
            "ok can you commit this",
            "where do things stand?",
            "How’s the run going?",
            "Where did we leave off",
            "wo stehen wir?",
            "on en est où ?",
            "Volte para a branch main",
            "continuar a correção",
            "做到哪了",
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
            "claude --allow-dangerously-skip-permissions",
            "npx create-thing --template x",
            "how far does the parser look ahead when it reads a line of a transcript that is not complete yet, and why",
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
