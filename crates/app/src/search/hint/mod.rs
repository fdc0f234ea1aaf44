//! What a question asks for besides words: a day, a branch, an order, a price or an author. Each becomes a hint at the question that
//! answers it.

mod author;
mod branch;
mod cost;
mod days;
mod order;
mod range;
mod words;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use crate::NextStep;
use crate::moment::{month, weekday};
use crate::search::hint::author::author;
use crate::search::hint::branch::{branch, whole_branch};
use crate::search::hint::cost::cost;
use crate::search::hint::days::date;
use crate::search::hint::order::{last, last_about};
use crate::search::hint::words::Words;

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
    /// The words that are searched for in place of the question.
    #[serde(skip)]
    pub(crate) searched: Option<String>,
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
    /// The newest of several sessions.
    Order,
    /// Who wrote a file.
    Author,
}

impl LooksLike {
    /// What it is called after "looks like".
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Date => "a date",
            Self::Branch => "a branch",
            Self::Cost => "a question about costs",
            Self::Order => "a question for the newest",
            Self::Author => "a question for who wrote a file",
        }
    }
}

/// What the question asks for besides words. `branches` are those that sessions were seen on.
pub(crate) fn hint<'a>(question: &str, today: Date, branches: impl FnOnce() -> Vec<&'a str>) -> Option<Hint> {
    let words = Words::of(question);
    // Who quotes or filters has said what they mean; a line follows a file in the same way.
    if question.contains(['"', ':']) {
        return author(&words).filter(|_| !question.contains('"'));
    }
    let on_branch = || {
        let says_branch = words.bare.iter().position(|word| matches!(&**word, "branch" | "branches"));
        let has_path = || words.bare.iter().any(|word| word.contains('/'));
        match says_branch {
            Some(at) => branch(&words, at, &branches()),
            None if has_path() => whole_branch(&words, &branches()),
            None => None,
        }
    };
    let by_time = || date(&words, today).or_else(on_branch).or_else(|| last_about(&words));
    author(&words).or_else(|| cost(&words, today)).or_else(by_time).or_else(|| last(&words))
}

/// Whether a word, as it was typed, is part of a hint or names a day: that no session has it is no news then.
pub(crate) fn is_understood(word: &str, hint: Option<&Hint>) -> bool {
    let small = word.to_lowercase();
    let is_hinted = hint.is_some_and(|hint| Words::of(&hint.words).bare.contains(&small));
    is_hinted || (small.len() > 3 && (weekday(&small).is_some() || month(&small).is_some()))
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
        check_days("what did I do on February 10", "2026-02-10", "2026-02-10");
        check_days("what did we work on yesterday?", "2026-03-09", "2026-03-09");
        check_days("10th of february", "2026-02-10", "2026-02-10");
        check_days("sessions from 3 Nov", "2025-11-03", "2025-11-03");
        check_days("Feb 10, 2025", "2025-02-10", "2025-02-10");
        check_days("2026-01-31", "2026-01-31", "2026-01-31");
        check_days("what happened last week", "2026-03-02", "2026-03-08");
        check_days("on monday", "2026-03-09", "2026-03-09");
        check_days("what did we do in December", "2025-12-01", "2025-12-31");
        check_days("this month", "2026-03-01", "2026-03-31");
        check_days("sessions from january", "2026-01-01", "2026-01-31");
        check_days("what did we do in January 2025?", "2025-01-01", "2025-01-31");
        check_days("15.01.2026", "2026-01-15", "2026-01-15");
        check_days("2026/01/15", "2026-01-15", "2026-01-15");
        check_days("01/15", "2026-01-15", "2026-01-15");
        check_days("sessions from 15/01", "2026-01-15", "2026-01-15");
        check_days("on 12/24/2025", "2025-12-24", "2025-12-24");
    }

    #[test]
    fn days_are_counted_from_today() {
        check_days("last 3 days", "2026-03-07", "2026-03-10");
        check_days("what did I do in the past two weeks?", "2026-02-24", "2026-03-10");
        check_days("what did I do in the last few days", "2026-03-07", "2026-03-10");
        check_days("the past week", "2026-03-03", "2026-03-10");
        check_days("what happened in the last 24 hours?", "2026-03-09", "2026-03-10");
        check_days("this weekend", "2026-03-07", "2026-03-08");
        check_days("last weekend", "2026-03-07", "2026-03-08");
        check_days("3 days ago", "2026-03-07", "2026-03-07");
        check_days("a week ago", "2026-03-02", "2026-03-08");
        check_days("two months ago", "2026-01-01", "2026-01-31");
        check_days("since monday", "2026-03-09", "2026-03-10");
        check_days("sessions since january", "2026-01-01", "2026-03-10");
        check_days("since yesterday", "2026-03-09", "2026-03-10");
        check_days("since February 10", "2026-02-10", "2026-03-10");
        check_days("this morning", "2026-03-10", "2026-03-10");
        check_days("what did I do yesterday evening", "2026-03-09", "2026-03-09");
        check_days("last night", "2026-03-09", "2026-03-09");
    }

    #[test]
    fn days_between_two_are_listed() {
        check_days("between 20 and 22 January", "2026-01-20", "2026-01-22");
        check_days("what did I do from 20 to 22 january 2025?", "2025-01-20", "2025-01-22");
        check_days("jan 20-22", "2026-01-20", "2026-01-22");
        check_days("Jan 20 to 22", "2026-01-20", "2026-01-22");
        check_days("sessions of 20-22 February", "2026-02-20", "2026-02-22");
        check_days("2026-01-20..2026-01-22", "2026-01-20", "2026-01-22");
        check_days("from 2026-01-20 to 2026-01-22", "2026-01-20", "2026-01-22");
        check_days("between jan 20 and feb 3", "2026-01-20", "2026-02-03");
        check_days("from dec 20 until jan 5", "2025-12-20", "2026-01-05");
        check_days("from march 5 to march 20", "2026-03-05", "2026-03-20");
        check_days("from monday to today", "2026-03-09", "2026-03-10");
        check_days("from friday to monday", "2026-03-06", "2026-03-09");
        check_days("from wednesday to tuesday", "2026-03-04", "2026-03-10");
        check_days("from jan 20 to 22 feb", "2026-01-20", "2026-02-22");
        check_days("from january to march 2025", "2025-01-01", "2025-03-31");
        check_days("from jan 20 to feb 3 2025", "2025-01-20", "2025-02-03");
        check_days("between november and january", "2025-11-01", "2026-01-31");
        check_days("what did we do in 2025?", "2025-01-01", "2025-12-31");
    }

    #[test]
    fn the_name_of_a_day_alone_is_searched_for_too() {
        let hint = hint_of("January").unwrap();
        assert_eq!((hint.is_all, hint.searched), (false, None));
        let (since, until) = ("2026-01-01".to_owned(), "2026-01-31".to_owned());
        assert_eq!(hint.next_step, NextStep::ListBetween { since, until });
        assert!(hint_of("sunday").is_some());
    }

    #[test]
    fn the_newest_of_all_and_the_author_of_a_file() {
        let of = |question: &str| hint_of(question).map(|hint| (hint.words, hint.next_step, hint.is_all));
        let newest = |words: &str| Some((words.to_owned(), NextStep::ListNewest, true));
        assert_eq!(of("last session"), newest("last session"));
        assert_eq!(of("What did I do last?"), newest("What did I do last"));
        assert_eq!(of("my most recent session"), newest("my most recent session"));
        let blame = |words: &str, file: &str| {
            Some((words.to_owned(), NextStep::Blame { file: file.to_owned() }, false))
        };
        assert_eq!(of("who wrote resume.go"), blame("who wrote", "resume.go"));
        assert_eq!(
            of("Who last changed the file src/Token.rs:12?"),
            blame("Who last changed", "src/Token.rs:12")
        );
        assert_eq!(of("which session touched web/app.tsx"), blame("which session touched", "web/app.tsx"));
    }

    #[test]
    fn other_words_are_searched_for_in_those_days() {
        let hint = hint_of("the lock race we fixed on feb 10").unwrap();
        assert!(!hint.is_all);
        let words = "the lock race we fixed".to_owned();
        let (since, until) = ("2026-02-10".to_owned(), "2026-02-10".to_owned());
        assert_eq!(hint.next_step, NextStep::SearchBetween { words, since, until });
        assert_eq!(hint.searched.as_deref(), Some("lock race fixed"));
        let hint = hint_of("What did I do on Feb 10, with the Go-Git hooks?").unwrap();
        assert_eq!(hint.words, "Feb 10");
        let NextStep::SearchBetween { words, .. } = hint.next_step else { panic!("{:?}", hint.next_step) };
        assert_eq!(words, "What did I do with the Go-Git hooks");
    }

    #[test]
    fn the_newest_and_the_cost_of_what_is_named() {
        let of = |question: &str| hint_of(question).map(|hint| (hint.words, hint.next_step, hint.is_all));
        let list = |words: &str, by_cost| NextStep::ListWords { words: words.to_owned(), by_cost };
        let newest = ("last session".to_owned(), list("Migration", false), false);
        assert_eq!(of("the last session about the Migration"), Some(newest));
        let cost = ("How much".to_owned(), list("Wingman review", true), false);
        assert_eq!(of("How much did the Wingman review cost?"), Some(cost));
    }

    #[test]
    fn branches_and_prices() {
        let of = |question: &str| hint_of(question).map(|hint| (hint.next_step, hint.is_all));
        let wingman = || "soph/wingman".to_owned();
        let listed = NextStep::ListBranch { branch: wingman() };
        assert_eq!(of("last thing I did on the wingman branch"), Some((listed, true)));
        let searched = NextStep::SearchBranch { words: "the Flaky test".to_owned(), branch: wingman() };
        assert_eq!(of("the Flaky test on branch soph/wingman"), Some((searched.clone(), false)));
        assert_eq!(of("the Flaky test on the wingman branch?"), Some((searched, false)));
        let refresh = NextStep::ListBranch { branch: "fix/token-refresh".to_owned() };
        assert_eq!(of("the latest session on fix/token-refresh"), Some((refresh.clone(), true)));
        assert_eq!(of("what did I do on the token-refresh branch"), Some((refresh, true)));
        let all = || NextStep::CostBySession { since: None, until: None };
        assert_eq!(of("most expensive session"), Some((all(), true)));
        assert_eq!(of("how much did I spend"), Some((all(), true)));
        assert_eq!(of("cheapest session"), Some((NextStep::ListCheapest { since: None, until: None }, true)));
        let (since, until) = (Some("2026-01-01".to_owned()), Some("2026-01-31".to_owned()));
        assert_eq!(
            of("most expensive session in January"),
            Some((NextStep::CostBySession { since, until }, true))
        );
    }

    #[test]
    fn words_of_hints_and_days_are_understood() {
        let hint = hint_of("the last session about the Migration");
        assert!(is_understood("session", hint.as_ref()) && is_understood("Monday", None));
        assert!(!is_understood("Migration", hint.as_ref()) && !is_understood("mon", None));
        assert!(!is_understood("session", None));
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
            "how much does a token cost",
            "the cheapest model for titles",
            "last",
            "the last three tests fail",
            "the last error of the parser",
            "10/12 tests fail",
            "version 15.01 of the compiler",
            "what changed since version 2",
            "three days of work",
            "march",
            "the jump from 2 to 3 workers",
            "between the lexer and the parser",
            "from main to the release branch point",
            "in 2048 tokens",
            "bench from 2000 to 2020 tokens",
            "who wrote the parser",
            "who wrote the tests of resume.go",
            "who uses resume.go",
            "who wrote \"resume.go\"",
            "read src/lib",
            "",
        ] {
            assert_eq!(hint_of(question), None, "{question}");
        }
    }
}
