//! What a question asks for besides words: a day, a branch, an order or a price. Each becomes a hint at the question that
//! answers it.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use schemars::JsonSchema;
use serde::Serialize;

use crate::NextStep;
use crate::moment::weekday;

/// What a question asks for besides words, and where the answer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "SearchHint")]
pub struct Hint {
    /// What part of the question looks like.
    pub looks_like: LooksLike,
    /// The words that do.
    pub words: String,
    /// The question that answers it.
    pub next_step: NextStep,
    /// Whether the question has no other words: nothing is searched for then.
    pub is_all: bool,
}

/// What a part of a question can look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LooksLike {
    /// A day or a span of days.
    Date,
    /// A branch.
    Branch,
    /// What something cost.
    Cost,
}

impl LooksLike {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Branch => "branch",
            Self::Cost => "price",
        }
    }
}

/// Words that say nothing about what was said, only that something was.
const EMPTY: [&str; 69] = [
    "a",
    "about",
    "all",
    "an",
    "and",
    "any",
    "are",
    "at",
    "been",
    "by",
    "conversation",
    "conversations",
    "did",
    "do",
    "doing",
    "done",
    "during",
    "find",
    "for",
    "from",
    "had",
    "happened",
    "has",
    "have",
    "i",
    "in",
    "is",
    "it",
    "last",
    "latest",
    "list",
    "made",
    "me",
    "most",
    "my",
    "newest",
    "of",
    "on",
    "one",
    "ones",
    "our",
    "recent",
    "recently",
    "session",
    "sessions",
    "show",
    "since",
    "stuff",
    "that",
    "the",
    "thing",
    "things",
    "this",
    "to",
    "touched",
    "up",
    "us",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "with",
    "work",
    "worked",
    "working",
    "you",
];

/// What the question asks for besides words. `branches` are those that sessions were seen on.
pub(crate) fn hint<'a>(question: &str, today: Date, branches: impl FnOnce() -> Vec<&'a str>) -> Option<Hint> {
    // Who quotes or filters has said what they mean.
    if question.contains(['"', ':']) {
        return None;
    }
    let words: Vec<String> = question.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    cost(&words, today).or_else(|| date(&words, today)).or_else(|| {
        let says_branch = words.iter().position(|word| matches!(*word, "branch" | "branches"));
        let has_path = || words.iter().any(|word| word.contains('/'));
        match says_branch {
            Some(at) => branch(&words, at, &branches()),
            None if has_path() => whole_branch(&words, &branches()),
            None => None,
        }
    })
}

/// A word without the marks around it, in small letters.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/').to_lowercase()
}

/// What is left of a question without some of its words.
fn rest(words: &[&str], taken: std::ops::Range<usize>) -> String {
    let others = words[..taken.start].iter().chain(&words[taken.end..]);
    let left: Vec<&str> = others.copied().filter(|word| !EMPTY.contains(word)).collect();
    left.join(" ")
}

fn cost(words: &[&str], today: Date) -> Option<Hint> {
    let is_price = |word: &str| matches!(word, "expensive" | "costliest" | "priciest");
    let at = words.iter().position(|word| is_price(word)).or_else(|| {
        let costs = words.iter().position(|word| matches!(*word, "cost" | "costs" | "spent" | "spend"))?;
        let is_asked = words.contains(&"most") || words.windows(2).any(|pair| pair == ["how", "much"]);
        is_asked.then_some(costs)
    })?;
    let days = first_days(words, today);
    let (taken, since, until) = match days {
        Some((taken, since, until)) => (taken, Some(since.to_string()), Some(until.to_string())),
        None => (at..at, None, None),
    };
    let others = ["how", "much", "money", "dollars", words[at]];
    let left = rest(words, taken);
    let is_all = left.split_whitespace().all(|word| others.contains(&word));
    is_all.then(|| Hint {
        looks_like: LooksLike::Cost,
        words: words[at].to_owned(),
        next_step: NextStep::CostBySession { since, until },
        is_all,
    })
}

/// The first days that a question names: which words do, the first day, and the day after the last one.
fn first_days(words: &[&str], today: Date) -> Option<(std::ops::Range<usize>, Date, Date)> {
    (0..words.len()).find_map(|at| {
        let (count, since, until) = days(&words[at..], today)?;
        Some((at..at + count, since, until))
    })
}

fn date(words: &[&str], today: Date) -> Option<Hint> {
    let (taken, since, until) = first_days(words, today)?;
    let (since, until) = (since.to_string(), until.to_string());
    let said = words[taken.clone()].join(" ");
    let left = rest(words, taken);
    let is_all = left.is_empty();
    let next_step = if is_all {
        NextStep::ListBetween { since, until }
    } else {
        NextStep::SearchBetween { words: left, since, until }
    };
    Some(Hint { looks_like: LooksLike::Date, words: said, next_step, is_all })
}

/// The days that a text begins with: how many words name them, the first day, and the day after the last one.
fn days(words: &[&str], today: Date) -> Option<(usize, Date, Date)> {
    let one = |count: usize, day: Date| Some((count, day, day.tomorrow().ok()?));
    let first = *words.first()?;
    match (first, words.get(1).copied()) {
        ("today", _) => return one(1, today),
        ("yesterday", _) => return one(1, today.yesterday().ok()?),
        ("last" | "this", Some("week")) => {
            let monday = if today.weekday() == Weekday::Monday {
                today
            } else {
                today.nth_weekday(-1, Weekday::Monday).ok()?
            };
            let since = if first == "last" { monday.checked_sub(1.week()).ok()? } else { monday };
            return Some((2, since, since.checked_add(1.week()).ok()?));
        }
        ("last" | "this", Some("month")) => {
            let this = today.first_of_month();
            let since = if first == "last" { this.checked_sub(1.month()).ok()? } else { this };
            return Some((2, since, since.checked_add(1.month()).ok()?));
        }
        // Short names of months are words, too.
        ("in", Some(word)) if word.len() > 4 => {
            if let Some(month) = month(word) {
                let this_year = Date::new(today.year(), month, 1).ok()?;
                let since = if this_year > today { this_year.checked_sub(1.year()).ok()? } else { this_year };
                return Some((2, since, since.checked_add(1.month()).ok()?));
            }
        }
        // "The last Monday" and "on Monday" are days; "monday" alone may be a product.
        ("on" | "last", Some(word)) if word.len() > 3 => {
            if let Some(weekday) = weekday(word) {
                let day =
                    if today.weekday() == weekday { today } else { today.nth_weekday(-1, weekday).ok()? };
                return one(2, day);
            }
        }
        _ => {}
    }
    if let Ok(day) = first.parse::<Date>() {
        return one(1, day);
    }
    let (count, month, day) = month_and_day(words)?;
    let year =
        words.get(count).and_then(|word| word.parse::<i16>().ok()).filter(|year| (2000..2100).contains(year));
    if let Some(year) = year {
        return one(count + 1, Date::new(year, month, day).ok()?);
    }
    let this_year = Date::new(today.year(), month, day).ok()?;
    let day = if this_year > today { this_year.checked_sub(1.year()).ok()? } else { this_year };
    one(count, day)
}

/// `february 10`, `10th of february`, and how many words that is.
fn month_and_day(words: &[&str]) -> Option<(usize, i8, i8)> {
    let day = |word: &str| {
        let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
        number.parse::<i8>().ok().filter(|day| (1..=31).contains(day))
    };
    let at = |place: usize| words.get(place).copied();
    if let Some(month) = month(at(0)?) {
        return Some((2, month, day(at(1)?)?));
    }
    let number = day(at(0)?)?;
    if at(1)? == "of" {
        return Some((3, month(at(2)?)?, number));
    }
    Some((2, month(at(1)?)?, number))
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let is_it = |name: &&str| *name == word || (word.len() >= 3 && word.len() <= 4 && name.starts_with(word));
    (1_i8..).zip(MONTHS).find(|(_, name)| is_it(name)).map(|(number, _)| number)
}

/// A branch that is named beside the word at `at`: "the wingman branch", "branch fix/token".
fn branch(words: &[&str], at: usize, branches: &[&str]) -> Option<Hint> {
    let before = at.checked_sub(1).filter(|place| !EMPTY.contains(&words[*place]));
    let after = Some(at + 1).filter(|place| *place < words.len() && !EMPTY.contains(&words[*place]));
    let (place, branch) =
        before.into_iter().chain(after).find_map(|place| Some((place, known(words[place], branches)?)))?;
    Some(on_branch(words, place.min(at)..place.max(at) + 1, words[place], branch))
}

/// A branch that is named in full where no word says that it is one: "the latest on fix/token-refresh".
fn whole_branch(words: &[&str], branches: &[&str]) -> Option<Hint> {
    let whole = |word: &&str| branches.iter().find(|branch| branch.to_lowercase() == **word);
    let with_slash = words.iter().enumerate().filter(|(_, word)| word.contains('/'));
    let (at, branch) = with_slash.into_iter().find_map(|(at, word)| Some((at, whole(word)?)))?;
    Some(on_branch(words, at..at + 1, words[at], branch))
}

/// The hint at what is on a branch, which the words in `taken` name.
fn on_branch(words: &[&str], taken: std::ops::Range<usize>, named: &str, branch: &str) -> Hint {
    let left = rest(words, taken);
    let is_all = left.is_empty();
    let branch = branch.to_owned();
    let next_step =
        if is_all { NextStep::ListBranch { branch } } else { NextStep::SearchBranch { words: left, branch } };
    Hint { looks_like: LooksLike::Branch, words: named.to_owned(), next_step, is_all }
}

/// The branch that a word names: its whole name, else the part behind its last slash. Fewer words of a name may be what
/// the question is about.
fn known<'a>(word: &str, branches: &[&'a str]) -> Option<&'a str> {
    let is_whole = |branch: &&&str| branch.to_lowercase() == word;
    let is_end = |branch: &&&str| branch.to_lowercase().rsplit('/').next() == Some(word);
    branches.iter().find(is_whole).or_else(|| branches.iter().find(is_end)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_of(question: &str) -> Option<Hint> {
        hint(question, "2026-03-10".parse().unwrap(), || vec!["main", "soph/wingman", "fix/token-refresh"])
    }

    #[track_caller]
    fn check_days(question: &str, since: &str, until: &str) {
        let (since, until) = (since.to_owned(), until.to_owned());
        let found = hint_of(question).map(|hint| hint.next_step);
        assert_eq!(found, Some(NextStep::ListBetween { since, until }), "{question}");
    }

    #[test]
    fn days_are_listed() {
        check_days("what did I do on February 10", "2026-02-10", "2026-02-11");
        check_days("what did we work on yesterday?", "2026-03-09", "2026-03-10");
        check_days("10th of february", "2026-02-10", "2026-02-11");
        check_days("sessions from 3 Nov", "2025-11-03", "2025-11-04");
        check_days("Feb 10, 2025", "2025-02-10", "2025-02-11");
        check_days("2026-01-31", "2026-01-31", "2026-02-01");
        check_days("what happened last week", "2026-03-02", "2026-03-09");
        check_days("on monday", "2026-03-09", "2026-03-10");
        check_days("what did we do in December", "2025-12-01", "2026-01-01");
        check_days("this month", "2026-03-01", "2026-04-01");
    }

    #[test]
    fn other_words_are_searched_for_in_those_days() {
        let hint = hint_of("the lock race we fixed on feb 10").unwrap();
        assert!(!hint.is_all);
        let words = "lock race fixed".to_owned();
        let (since, until) = ("2026-02-10".to_owned(), "2026-02-11".to_owned());
        assert_eq!(hint.next_step, NextStep::SearchBetween { words, since, until });
    }

    #[test]
    fn branches_and_prices() {
        let of = |question: &str| hint_of(question).map(|hint| (hint.next_step, hint.is_all));
        let wingman = || "soph/wingman".to_owned();
        let listed = NextStep::ListBranch { branch: wingman() };
        assert_eq!(of("last thing I did on the wingman branch"), Some((listed, true)));
        let searched = NextStep::SearchBranch { words: "flaky test".to_owned(), branch: wingman() };
        assert_eq!(of("flaky test on branch soph/wingman"), Some((searched, false)));
        let refresh = NextStep::ListBranch { branch: "fix/token-refresh".to_owned() };
        assert_eq!(of("the latest session on fix/token-refresh"), Some((refresh.clone(), true)));
        assert_eq!(of("what did I do on the token-refresh branch"), Some((refresh, true)));
        let all = || NextStep::CostBySession { since: None, until: None };
        assert_eq!(of("most expensive session"), Some((all(), true)));
        assert_eq!(of("how much did I spend"), Some((all(), true)));
        let (since, until) = (Some("2026-01-01".to_owned()), Some("2026-02-01".to_owned()));
        assert_eq!(
            of("most expensive session in January"),
            Some((NextStep::CostBySession { since, until }, true))
        );
    }

    #[test]
    fn most_words_are_words() {
        for question in [
            "how many commits on the sessions branch is too many",
            "expensive regex in the lexer",
            "monday.com integration",
            "it may 100 times fail",
            "\"february 10\"",
            "since:2d wingman branch",
            "march to the end of the list",
            "how long is the hash in the token branch name",
            "cheapest session",
            "read src/lib",
            "",
        ] {
            assert_eq!(hint_of(question), None, "{question}");
        }
    }
}
