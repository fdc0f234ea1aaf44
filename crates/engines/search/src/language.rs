//! Whether a question is in English, the language that the built-in table and model were trained on. Told by the words that
//! every sentence of a language has, and, where it has none of them, by whether its words are known at all.

use crate::function_words::is_function_word;
use crate::scripts::is_cjk;
use crate::words::is_stop_word;

/// Words that sentences in other languages with Latin letters are joined by, in small letters: of German, Dutch, Spanish,
/// Portuguese, French, Italian, Swedish and Polish. What is also an English word, or a name that programs use, says nothing and is not
/// among them.
const FOREIGN_WORDS: &str = "\
und oder aber nicht kein keine keinen ist sind waren wird werden wurde wurden haben hatten habe hatte wir ihr uns der das dem \
ein eine einen einem einer eines zum zur vom beim mit ohne für gegen über nach von auf wo wie warum wann wer welche welcher \
welches welchen dass wenn als auch noch schon nur sehr immer wieder hier dort bitte mein meine unser unsere sich diese dieser \
diesen bei aus \
het een niet geen zijn wij hebben heeft van voor zonder naar bij uit waar hoe waarom wanneer welke ook onze \
el los las una que qué cómo dónde cuándo por para sobre pero más muy fue está están estaba hemos hicimos cuando donde porque \
nuestro nuestra cuál quién desde hasta \
dos das nas em onde quando sem mas mais muito não foi nosso nossa isso pelo pela fizemos está são qual \
les et nous vous avec dans sur qui quoi pourquoi quand cette ces leur notre votre où était avons sont pas une chez depuis \
il gli della delle dei di che dove perché non sono abbiamo questo questa nella quale \
och inte är var vi med för att som hur när vad varför \
jest się nie jak gdzie dlaczego kiedy czy oraz";

/// How many words nobody knows before a question is in another language rather than about something new.
const UNKNOWN: usize = 2;
/// Shorter words are abbreviations as often as words.
const SHORTEST: usize = 4;

/// Whether a question is in English. `is_known` says of a word whether the table has it whole, or a session has it.
pub(crate) fn is_english<E>(
    question: &str,
    mut is_known: impl FnMut(&str) -> Result<bool, E>,
) -> Result<bool, E> {
    let joined = Joined::of(question);
    if joined.are_foreign() || !is_latin(question) {
        return Ok(false);
    }
    let (mut known, mut unknown) = (0, 0);
    for word in words(question).filter(|word| joined.english == 0 && is_word(word)) {
        if is_known(word)? {
            known += 1;
        } else {
            unknown += 1;
        }
    }
    Ok(unknown < UNKNOWN || unknown <= known)
}

/// Whether the words that join the others are of another language than English.
pub(crate) fn is_joined_otherwise(question: &str) -> bool {
    Joined::of(question).are_foreign()
}

/// How many words of a question join others.
#[derive(Default)]
struct Joined {
    english: usize,
    foreign: usize,
}

impl Joined {
    fn of(question: &str) -> Self {
        let mut joined = Self::default();
        for word in words(question).map(str::to_lowercase) {
            if is_stop_word(&word) || is_function_word(&word) {
                joined.english += 1;
            } else if is_foreign_word(&word) || has_foreign_letter(&word) {
                joined.foreign += 1;
            }
        }
        joined
    }

    fn are_foreign(&self) -> bool {
        self.foreign > self.english
    }
}

/// The words of a question between spaces, without what is around them.
fn words(question: &str) -> impl Iterator<Item = &str> {
    let bare = question.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    bare.filter(|word| !word.is_empty())
}

/// Whether most letters are Latin ones.
fn is_latin(question: &str) -> bool {
    let latin = question.bytes().filter(u8::is_ascii_alphabetic).count();
    let other = question.chars().filter(|c| is_cjk(*c) || is_of_other_alphabet(*c)).count();
    other <= latin
}

/// A letter of an alphabet that is not the Latin one.
fn is_of_other_alphabet(c: char) -> bool {
    c.is_alphabetic() && c >= '\u{370}' && !matches!(c, '\u{1e00}'..='\u{1eff}')
}

/// Whether it looks like a word of a language, and not like an identifier or an abbreviation.
fn is_word(word: &str) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    word.len() >= SHORTEST
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
        && rest.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a word has a letter that English does without. Chinese is told by how much of it there is.
fn has_foreign_letter(word: &str) -> bool {
    word.chars().any(|c| !c.is_ascii() && !is_cjk(c))
}

fn is_foreign_word(word: &str) -> bool {
    FOREIGN_WORDS.split_ascii_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: bool) {
        let is_known = |word: &str| {
            let known = ["parser", "token", "refresh", "checkpoint", "failed", "daemon", "crash", "timeout"];
            Ok::<_, ()>(known.contains(&word.to_lowercase().as_str()))
        };
        assert_eq!(is_english(question, is_known), Ok(expected), "{question}");
    }

    #[test]
    fn questions_in_english() {
        for question in [
            "",
            "token refresh",
            "how did we fix the parser",
            "the naïve parser of the café",
            "zzyzx",
            "golangci-lint TestFooBar E0308",
            "parser failed with frobnicated daemon",
            "修复 the parser bug",
            "webhook 签名校验失败",
            "what was the reason for the frobnicated quuxification",
        ] {
            check(question, true);
        }
    }

    #[test]
    fn questions_in_other_languages() {
        for question in [
            "wie haben wir den Absturz behoben",
            "Wiederherstellung nach Absturz",
            "dónde arreglamos el token",
            "como fizemos a migração",
            "pourquoi le parser est lent",
            "修复认证错误",
            "почему падает парсер",
            "Wiederherstellung Verbindungsabbruch parser",
        ] {
            check(question, false);
        }
    }

    #[test]
    fn no_word_says_two_things() {
        for word in FOREIGN_WORDS.split_ascii_whitespace() {
            assert!(!is_function_word(word) && !is_stop_word(word), "{word}");
        }
    }
}
