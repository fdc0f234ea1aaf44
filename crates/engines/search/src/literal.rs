//! Questions that quote: an identifier or an error line alone. What holds it is the answer; nothing is meant by it.

/// Beginnings and endings of words that are in lines of errors and not in questions.
const ERROR_MARKS: [&str; 12] = [
    "error:",
    "error[",
    "errors:",
    "failed:",
    "fatal:",
    "panic:",
    "warning:",
    "exception:",
    "errno",
    "panicked",
    "traceback",
    "stderr:",
];

/// Whether a question is an identifier or a line of an error, and nothing else.
pub(crate) fn is_literal(question: &str) -> bool {
    let words = || question.split_whitespace();
    let names = words().filter(|word| is_name(word)).count();
    let others = words().filter(|word| !is_name(word) && word.chars().any(char::is_alphabetic)).count();
    (names > 0 && others < 2) || words().any(is_of_error)
}

/// Whether a question has an identifier among its words.
pub(crate) fn has_name(question: &str) -> bool {
    question.split_whitespace().any(is_name)
}

/// Whether a word is an identifier, a path, a number or a version.
fn is_name(word: &str) -> bool {
    let word = word.trim_matches(|c: char| {
        matches!(c, '.' | ',' | '?' | '!' | ';' | ':' | '"' | '\'' | '(' | ')' | '`')
    });
    let is_mark = |c: char| {
        c.is_ascii_digit() || matches!(c, '_' | '/' | '\\' | '.' | ':' | '(' | '=' | '<' | '@' | '#')
    };
    let has_inner_capital =
        word.chars().zip(word.chars().skip(1)).any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    word.contains(is_mark) || has_inner_capital
}

fn is_of_error(word: &str) -> bool {
    let small = word.to_ascii_lowercase();
    let is_type = word.len() > 5
        && (word.contains("Error") || word.contains("Exception"))
        && !word.starts_with("Error");
    is_type || ERROR_MARKS.iter().any(|mark| small.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_is_not_meant() {
        for question in [
            "refreshToken",
            "filter_elm_bolt_set77",
            "EMB-98478",
            "src/auth/token.rs line 40",
            "ERROR: failed to solve: return_olive: not found",
            "error[E0308]: mismatched types",
            "CircuitOpenError: breaker is open after 3976 failures",
            "thread 'main' panicked at src/lib.rs:4",
            "Warning: Maximum update depth exceeded",
        ] {
            assert!(is_literal(question), "{question}");
        }
    }

    #[test]
    fn what_is_asked_is_meant() {
        for question in [
            "",
            "why does refreshToken log people out",
            "how did we fix the error of the parser?",
            "checkpoint",
            "users are logged out after 60 minutes",
            "the wasm-bindgen build of the ledger",
        ] {
            assert!(!is_literal(question), "{question}");
        }
        assert!(has_name("why does refreshToken fail") && !has_name("why does it fail?"));
    }
}
