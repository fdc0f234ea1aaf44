//! The days between two that a question names: `between 20 and 22 January`, `jan 20-22`, `2026-01-20..2026-01-22`.

use jiff::ToSpan as _;
use jiff::civil::Date;

use crate::moment::{Days, days, month, number_of_day, only_days};

/// The longest span, in days, whose second day is taken from the year after.
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
    let of_year = |day: i8| days(&[name, &day.to_string(), year], today, true).filter(|days| days.words == 3);
    let of_day = |day: i8| of_year(day).or_else(|| days(&[name, &day.to_string()], today, true));
    let (first, last) = (of_day(first)?, of_day(last)?);
    ending(Days { words: count + first.words - 2, ..first }, last.after)
}

/// Two days with a word between: `from monday to friday`, `between jan 20 and feb 3`.
fn two_days(words: &[&str], lead: Option<&str>, today: Date) -> Option<Days> {
    let first = match lead {
        Some(_) => only_days(words, today)?,
        None => days(words, today, false)?,
    };
    let joint = *words.get(first.words)?;
    if joint == "and" && lead != Some("between") || !is_joint(joint) {
        return None;
    }
    let last = only_days(&words[first.words + 1..], today)?;
    ending(Days { words: first.words + 1 + last.words, ..first }, last.after)
}

fn is_joint(word: &str) -> bool {
    matches!(word, "and" | "to" | "until" | "till" | "through")
}

/// The days from the first of `from` on. Of a day that is named without its year, the last one is meant; the first one may be later
/// than that, where the span goes on.
fn ending(from: Days, after: Date) -> Option<Days> {
    let next_year =
        || after.checked_add(1.year()).ok().filter(|next| (*next - from.first).get_days() < LONGEST);
    let after = Some(after).filter(|after| *after > from.first).or_else(next_year)?;
    Some(Days { after, ..from })
}
