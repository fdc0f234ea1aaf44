//! The days that words name: `yesterday`, `last week`, `3 days ago`, `february 10`, `15.01.2026`.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan as _};

use super::names::{month, weekday};

/// What can be the number of a year.
const YEARS: Range<i16> = 2000..2100;
/// Claude Code's first year: a smaller number in a question counts something else.
const FIRST_YEAR: i16 = 2025;

/// Some days, and how many words name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub(crate) words: usize,
    pub(crate) first: Date,
    /// The day after the last one.
    pub(crate) after: Date,
}

impl Days {
    fn one(words: usize, day: Date) -> Option<Self> {
        Self::from(words, day, 1.day())
    }

    fn from(words: usize, first: Date, length: Span) -> Option<Self> {
        Some(Self { words, first, after: first.checked_add(length).ok()? })
    }

    /// The last such month where no year is named.
    fn month(words: usize, month: i8, year: Option<i16>, today: Date) -> Option<Self> {
        let first = match year {
            Some(year) => Date::new(year, month, 1).ok()?,
            None => last_date(month, 1, today)?,
        };
        Self::from(words, first, 1.month())
    }

    fn year(words: usize, year: i16) -> Option<Self> {
        Self::from(words, Date::new(year, 1, 1).ok()?, 1.year())
    }
}

/// The days that words begin with. `is_led` says that only a day can be meant.
pub(crate) fn days(words: &[&str], today: Date, is_led: bool) -> Option<Days> {
    relative(words, today).or_else(|| named(words, today)).or_else(|| written(words, today, is_led))
}

/// The days that words begin with where only days can be meant: also a day of the week, a month or a year alone, the last
/// one of this name.
pub(crate) fn only_days(words: &[&str], today: Date) -> Option<Days> {
    let word = words.first()?;
    let of_weekday = || Days::one(1, last_weekday(weekday(word)?, today)?);
    let of_month = || Days::month(1, month(word)?, year(words.get(1).copied().unwrap_or_default()), today);
    let of_year = || Days::year(1, year(word)?);
    days(words, today, true).or_else(of_weekday).or_else(of_month).or_else(of_year)
}

/// Days that are counted from today: "yesterday", "this morning", "last week", "past two weeks", "3 days ago".
fn relative(words: &[&str], today: Date) -> Option<Days> {
    let first = *words.first()?;
    let second = words.get(1).copied().unwrap_or_default();
    let is_part = matches!(second, "morning" | "afternoon" | "evening" | "night");
    match (first, second) {
        ("today", _) => return Days::one(1 + usize::from(is_part), today),
        ("yesterday", _) => return Days::one(1 + usize::from(is_part), today.yesterday().ok()?),
        ("tonight", _) => return Days::one(1, today),
        ("last", "night") => return Days::one(2, today.yesterday().ok()?),
        ("this", _) if is_part => return Days::one(2, today),
        ("last" | "this", "week") => {
            let monday = last_weekday(Weekday::Monday, today)?;
            let first = if first == "last" { monday.checked_sub(1.week()).ok()? } else { monday };
            return Days::from(2, first, 1.week());
        }
        ("last" | "this", "month") => {
            let this = today.first_of_month();
            let first = if first == "last" { this.checked_sub(1.month()).ok()? } else { this };
            return Days::from(2, first, 1.month());
        }
        ("last" | "this", "year") => return Days::year(2, today.year() - i16::from(first == "last")),
        ("last" | "this", "weekend") => return weekend(first == "last", today),
        ("past", unit @ ("week" | "month")) => {
            let first = today.checked_sub(span("one", unit)?).ok()?;
            return Some(Days { words: 2, first, after: today.tomorrow().ok()? });
        }
        ("last" | "past", _) => {
            let first = today.checked_sub(span(second, words.get(2)?)?).ok()?;
            return Some(Days { words: 3, first, after: today.tomorrow().ok()? });
        }
        _ => {}
    }
    let then = today.checked_sub(span(first, second)?).ok()?;
    match second {
        _ if words.get(2) != Some(&"ago") => None,
        // A time, not a day.
        "hours" => None,
        "week" | "weeks" => Days::from(3, last_weekday(Weekday::Monday, then)?, 1.week()),
        "month" | "months" => Days::from(3, then.first_of_month(), 1.month()),
        _ => Days::one(3, then),
    }
}

/// The weekend that has begun last; with `is_before`, the last one before this week.
fn weekend(is_before: bool, today: Date) -> Option<Days> {
    let saturday = last_weekday(Weekday::Saturday, today)?;
    let is_of_this_week = saturday >= last_weekday(Weekday::Monday, today)?;
    let first = if is_before && is_of_this_week { saturday.checked_sub(1.week()).ok()? } else { saturday };
    Days::from(2, first, 2.days())
}

/// "two weeks", "3 days"; "24 hours" as the days that they are in part.
fn span(count: &str, unit: &str) -> Option<Span> {
    const NUMBERS: [&str; 11] =
        ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = || match count {
        "few" => Some(3),
        _ => NUMBERS.iter().position(|word| *word == count)?.max(1).try_into().ok(),
    };
    let count: i64 = count.parse().ok().or_else(word).filter(|count| (1..1000).contains(count))?;
    match unit {
        "hours" => Some(((count + 23) / 24).days()),
        "day" | "days" => Some(count.days()),
        "week" | "weeks" => Some(count.weeks()),
        "month" | "months" => Some(count.months()),
        _ => None,
    }
}

/// A month, a year or a day of the week that words before it or a year after it tell from a name or a number: "monday"
/// alone may be a product.
fn named(words: &[&str], today: Date) -> Option<Days> {
    let first = *words.first()?;
    let second = words.get(1).copied().unwrap_or_default();
    if let (Some(month), Some(year)) = (month(first), year(second)) {
        return Days::month(2, month, Some(year), today);
    }
    if matches!(first, "in" | "from" | "during") {
        let third = words.get(2).copied().unwrap_or_default();
        if let Some(year) = year(second).filter(|year| (FIRST_YEAR..=today.year()).contains(year)) {
            return Days::year(2, year);
        }
        // Short names of months are words, too.
        if let Some(month) = month(second).filter(|_| second.len() > 4 && number_of_day(third).is_none()) {
            let year = year(third);
            return Days::month(2 + usize::from(year.is_some()), month, year, today);
        }
    }
    let day = weekday(second).filter(|_| matches!(first, "on" | "last" | "from") && second.len() > 3)?;
    Days::one(2, last_weekday(day, today)?)
}

/// A date that is written out: `2026-01-31`, `15.01.2026`, `01/15`, `february 10`; a month: `2026-01`.
fn written(words: &[&str], today: Date, is_led: bool) -> Option<Days> {
    let first = *words.first()?;
    // A time has a date in front, too.
    let is_date = first.len() <= "2026-01-31".len();
    let iso = || first.parse().ok().filter(|_| is_date);
    if let Some(day) = iso().or_else(|| in_digits(first, today, is_led)) {
        return Days::one(1, day);
    }
    if let Some((year, month)) = first.split_once('-').filter(|_| is_led && first.len() == "2026-01".len())
        && let Some(found) = Days::month(1, month.parse().ok()?, Some(self::year(year)?), today)
    {
        return Some(found);
    }
    let (count, month, day) = month_and_day(words)?;
    match words.get(count).and_then(|word| year(word)) {
        Some(year) => Days::one(count + 1, Date::new(year, month, day).ok()?),
        None => Days::one(count, last_date(month, day, today)?),
    }
}

/// `15.01.2026`, `01/15/2026`, `2026/01/15`; where only a day can be meant also `01/15`, which may be a fraction.
fn in_digits(word: &str, today: Date, is_led: bool) -> Option<Date> {
    let numbers = |sign| word.split(sign).map(|part| part.parse().ok()).collect::<Option<Vec<i16>>>();
    let date = |year: i16, month: i16, day: i16| {
        let year = Some(year).filter(|year| YEARS.contains(year))?;
        Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok()
    };
    if let Some([day, month, year]) = numbers('.').as_deref() {
        return date(*year, *month, *day);
    }
    match *numbers('/')?.as_slice() {
        [year, month, day] if year > 31 => date(year, month, day),
        [month, day, year] => date(year, month, day).or_else(|| date(year, day, month)),
        [month, day] if is_led && word.len() == "01/15".len() => {
            let last = |month: i16, day: i16| last_date(month.try_into().ok()?, day.try_into().ok()?, today);
            last(month, day).or_else(|| last(day, month))
        }
        _ => None,
    }
}

/// The last such day of the week, today among them.
fn last_weekday(day: Weekday, today: Date) -> Option<Date> {
    if today.weekday() == day { Some(today) } else { today.nth_weekday(-1, day).ok() }
}

/// The last such day of a year, today among them.
fn last_date(month: i8, day: i8, today: Date) -> Option<Date> {
    // From one February 29 to the next it can be eight years.
    let of_years = (0..=8).filter_map(|back| Date::new(today.year() - back, month, day).ok());
    of_years.into_iter().find(|date| *date <= today)
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| YEARS.contains(year))
}

/// `10` or `10th`.
pub(crate) fn number_of_day(word: &str) -> Option<i8> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    number.parse::<i8>().ok().filter(|day| (1..=31).contains(day))
}

/// `february 10`, `10th of february`, and how many words that is.
fn month_and_day(words: &[&str]) -> Option<(usize, i8, i8)> {
    let at = |place: usize| words.get(place).copied();
    if let Some(month) = month(at(0)?) {
        return Some((2, month, number_of_day(at(1)?)?));
    }
    let number = number_of_day(at(0)?)?;
    if at(1)? == "of" {
        return Some((3, month(at(2)?)?, number));
    }
    Some((2, month(at(1)?)?, number))
}
