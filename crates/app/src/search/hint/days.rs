//! The days that a question names.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan as _};

use super::words::{LEADING, Words};
use super::{Hint, LooksLike};
use crate::NextStep;
use crate::moment::{month, weekday};

/// What can be the number of a year.
const YEARS: Range<i16> = 2000..2100;

/// The first days that a question names: which words do, the first day, and the last one.
pub(super) fn first_days(words: &[&str], today: Date) -> Option<(Range<usize>, Date, Date)> {
    (0..words.len()).find_map(|at| {
        let is_led = words.len() == 1 || at > 0 && LEADING.contains(&words[at - 1]);
        let (count, since, after) = days(&words[at..], today, is_led)?;
        Some((at..at + count, since, after.yesterday().ok()?))
    })
}

pub(super) fn date(words: &Words<'_>, today: Date) -> Option<Hint> {
    let (taken, since, until) = first_days(&words.bare(), today)?;
    let (since, until) = (since.to_string(), until.to_string());
    let telling = words.telling(&taken);
    let is_all = telling.is_empty();
    let next_step = if is_all {
        NextStep::ListBetween { since, until }
    } else {
        NextStep::SearchBetween { words: words.others(&taken), since, until }
    };
    let searched = (!is_all).then_some(telling);
    Some(Hint { looks_like: LooksLike::Date, words: words.said(taken), next_step, is_all, searched })
}

/// The days that a text begins with: how many words name them, the first day, and the day after the last one. `is_led` says
/// that only a day can be meant.
fn days(words: &[&str], today: Date, is_led: bool) -> Option<(usize, Date, Date)> {
    if words.first() == Some(&"since") {
        let (count, since) = beginning(&words[1..], today)?;
        return Some((count + 1, since, today.tomorrow().ok()?));
    }
    relative(words, today).or_else(|| named(words, today)).or_else(|| written(words, today, is_led))
}

/// The day from which on is asked for: any that can be named, or the last of this name.
fn beginning(words: &[&str], today: Date) -> Option<(usize, Date)> {
    if let Some((count, since, _)) = days(words, today, true) {
        return Some((count, since));
    }
    let word = words.first()?;
    let of_weekday = || last_weekday(weekday(word)?, today);
    let of_month = || Some(month_of(month(word)?, None, today)?.0);
    Some((1, of_weekday().or_else(of_month)?))
}

/// Days that are counted from today: "yesterday", "this morning", "last week", "past two weeks", "3 days ago".
fn relative(words: &[&str], today: Date) -> Option<(usize, Date, Date)> {
    let first = *words.first()?;
    let second = words.get(1).copied().unwrap_or_default();
    let is_part = matches!(second, "morning" | "afternoon" | "evening" | "night");
    match (first, second) {
        ("today" | "yesterday", _) => {
            let day = if first == "today" { today } else { today.yesterday().ok()? };
            return one(1 + usize::from(is_part), day);
        }
        ("tonight", _) => return one(1, today),
        ("last", "night") => return one(2, today.yesterday().ok()?),
        ("this", _) if is_part => return one(2, today),
        ("last" | "this", "week") => {
            let monday = last_weekday(Weekday::Monday, today)?;
            let since = if first == "last" { monday.checked_sub(1.week()).ok()? } else { monday };
            return Some((2, since, since.checked_add(1.week()).ok()?));
        }
        ("last" | "this", "month") => {
            let this = today.first_of_month();
            let since = if first == "last" { this.checked_sub(1.month()).ok()? } else { this };
            return Some((2, since, since.checked_add(1.month()).ok()?));
        }
        ("last" | "past", _) => {
            let since = today.checked_sub(span(second, words.get(2)?)?).ok()?;
            return Some((3, since, today.tomorrow().ok()?));
        }
        _ => {}
    }
    let then = today.checked_sub(span(first, second)?).ok()?;
    let (since, length) = match second {
        _ if words.get(2) != Some(&"ago") => return None,
        "week" | "weeks" => (last_weekday(Weekday::Monday, then)?, 1.week()),
        "month" | "months" => (then.first_of_month(), 1.month()),
        _ => (then, 1.day()),
    };
    Some((3, since, since.checked_add(length).ok()?))
}

/// "two weeks", "3 days".
fn span(count: &str, unit: &str) -> Option<Span> {
    const NUMBERS: [&str; 11] =
        ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let word = || NUMBERS.iter().position(|word| *word == count)?.max(1).try_into().ok();
    let count: i64 = count.parse().ok().or_else(word).filter(|count| (1..1000).contains(count))?;
    match unit {
        "day" | "days" => Some(count.days()),
        "week" | "weeks" => Some(count.weeks()),
        "month" | "months" => Some(count.months()),
        _ => None,
    }
}

/// A month or a day of the week that words before it or a year after it tell from a name: "monday" alone may be a product.
fn named(words: &[&str], today: Date) -> Option<(usize, Date, Date)> {
    let first = *words.first()?;
    let second = words.get(1).copied().unwrap_or_default();
    if let (Some(month), Some(year)) = (month(first), year(second)) {
        let (since, until) = month_of(month, Some(year), today)?;
        return Some((2, since, until));
    }
    // Short names of months are words, too.
    if matches!(first, "in" | "from" | "during")
        && second.len() > 4
        && let Some(month) = month(second)
    {
        let third = words.get(2).copied().unwrap_or_default();
        let year = year(third);
        let (since, until) = month_of(month, year, today).filter(|_| number_of_day(third).is_none())?;
        return Some((2 + usize::from(year.is_some()), since, until));
    }
    let day = weekday(second).filter(|_| matches!(first, "on" | "last" | "from") && second.len() > 3)?;
    one(2, last_weekday(day, today)?)
}

/// A date that is written out: `2026-01-31`, `15.01.2026`, `01/15`, `february 10`.
fn written(words: &[&str], today: Date, is_led: bool) -> Option<(usize, Date, Date)> {
    let first = *words.first()?;
    if let Some(day) = first.parse().ok().or_else(|| in_digits(first, today, is_led)) {
        return one(1, day);
    }
    let (count, month, day) = month_and_day(words)?;
    match words.get(count).and_then(|word| year(word)) {
        Some(year) => one(count + 1, Date::new(year, month, day).ok()?),
        None => one(count, last_date(month, day, today)?),
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

fn one(count: usize, day: Date) -> Option<(usize, Date, Date)> {
    Some((count, day, day.tomorrow().ok()?))
}

/// The last such day of the week, today among them.
fn last_weekday(day: Weekday, today: Date) -> Option<Date> {
    if today.weekday() == day { Some(today) } else { today.nth_weekday(-1, day).ok() }
}

/// The last such day of a year, today among them.
fn last_date(month: i8, day: i8, today: Date) -> Option<Date> {
    let this_year = Date::new(today.year(), month, day).ok()?;
    if this_year > today { this_year.checked_sub(1.year()).ok() } else { Some(this_year) }
}

/// The first day of a month and that of the next; of the last such month where no year is named.
fn month_of(month: i8, year: Option<i16>, today: Date) -> Option<(Date, Date)> {
    let since = match year {
        Some(year) => Date::new(year, month, 1).ok()?,
        None => last_date(month, 1, today)?,
    };
    Some((since, since.checked_add(1.month()).ok()?))
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| YEARS.contains(year))
}

/// `10` or `10th`.
fn number_of_day(word: &str) -> Option<i8> {
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
