//! The days between two that a question names: `between 20 and 22 January`, `jan 20-22`, `2026-01-20..2026-01-22`.

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::moment::{Days, days, month, number_of_day, only_days, weekday};

/// The longest span, in days, that goes on after today.
const MONTH: i32 = 31;
/// The longest span, in days, that began in the year before.
const LONGEST: i32 = 183;

/// The days from one to another that words begin with.
pub(super) fn range(words: &[&str], today: Date) -> Option<Days> {
    let lead = words.first().copied().filter(|word| matches!(*word, "between" | "from"));
    let rest = &words[usize::from(lead.is_some())..];
    let found = dotted(rest).or_else(|| numbers(rest, today)).or_else(|| two_days(rest, lead, today))?;
    Some(Days { words: found.words + usize::from(lead.is_some()), ..found })
}

/// `2026-01-20..2026-01-22`.
fn dotted(words: &[&str]) -> Option<Days> {
    let (first, last) = words.first()?.split_once("..")?;
    let after = last.trim_start_matches('.').parse::<Date>().ok()?.tomorrow().ok()?;
    Some(Days { words: 1, first: first.parse().ok()?, after }).filter(|days| days.first < days.after)
}

/// `jan 20-22`, `20-22 january`, `20 and 22 january`: two days of one month.
fn numbers(words: &[&str], today: Date) -> Option<Days> {
    let at = |place: usize| words.get(place).copied().unwrap_or_default();
    let joined = |word: &str| {
        let (first, last) = word.split_once(['-', '–'])?;
        Some((number_of_day(first)?, number_of_day(last)?))
    };
    let apart = |place: usize| {
        let (first, last) = (number_of_day(at(place))?, number_of_day(at(place + 2))?);
        is_joint(at(place + 1)).then_some((first, last))
    };
    let (count, name, (first, last)) = if month(at(0)).is_some() {
        let together = joined(at(1)).map(|found| (2, found));
        let (count, found) = together.or_else(|| Some((4, apart(1)?)))?;
        (count, at(0), found)
    } else {
        let together = joined(at(0)).map(|found| (2, found));
        let (count, found) = together.or_else(|| Some((4, apart(0)?)))?;
        (count, at(count - 1), found)
    };
    month(name)?;
    let year = at(count);
    // Each day has its own month.
    if month(year).is_some() {
        return None;
    }
    let of_year = |day: i8| days(&[name, &day.to_string(), year], today, true).filter(|days| days.words == 3);
    let of_day = |day: i8| of_year(day).or_else(|| days(&[name, &day.to_string()], today, true));
    let (first, last) = (of_day(first)?, of_day(last)?);
    ending(Days { words: count + first.words - 2, ..first }, last.after)
}

/// Two days with a word between: `from monday to friday`, `between jan 20 and feb 3 2025`.
fn two_days(words: &[&str], lead: Option<&str>, today: Date) -> Option<Days> {
    let first = match lead {
        Some(_) => only_days(words, today)?,
        None => days(words, today, false)?,
    };
    let (begin, rest) = words.split_at(first.words);
    let (joint, rest) = rest.split_first()?;
    if *joint == "and" && lead != Some("between") || !is_joint(joint) {
        return None;
    }
    let last = only_days(rest, today)?;
    // Numbers alone are seldom years.
    if is_year(begin[0]) || is_year(rest[0]) {
        return None;
    }
    let year = rest[last.words - 1];
    let of_year = || only_days(&[begin, &[year]].concat(), today).filter(|days| days.words > first.words);
    let dated = if is_year(year) { of_year() } else { None };
    let found = Days { words: first.words + 1 + last.words, ..dated.unwrap_or(first) };
    if weekday(begin[0]).is_some() && last.after <= found.first {
        return ending(Days { first: found.first.checked_sub(1.week()).ok()?, ..found }, last.after);
    }
    ending(found, last.after)
}

fn is_joint(word: &str) -> bool {
    matches!(word, "and" | "to" | "until" | "till" | "through")
}

fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse::<u16>().is_ok()
}

/// The days from the first of `from` on. Of days that are named without a year the last ones are meant: where the first is
/// later, the span goes on, or it began in the year before.
fn ending(from: Days, after: Date) -> Option<Days> {
    let length = |days: &Days| (days.after - days.first).get_days();
    let goes_on = || Some(Days { after: after.checked_add(1.year()).ok()?, ..from });
    let began = || Some(Days { first: from.first.checked_sub(1.year()).ok()?, after, ..from });
    let found = Days { after, ..from };
    if length(&found) > 0 {
        return Some(found);
    }
    goes_on().filter(|days| length(days) <= MONTH).or_else(|| began().filter(|days| length(days) < LONGEST))
}
