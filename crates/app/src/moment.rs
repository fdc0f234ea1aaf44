//! Moments as people type them: `2d`, `3 hours`, `yesterday`, `monday`, `2026-01-31`, `2026-01-31T10:00:00Z`.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, Timestamp, ToSpan as _, Zoned};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Context, Error, Kind};

/// A date (2026-01-31), a time (2026-01-31T10:00:00Z), a day (yesterday, monday), a month (january) or how long ago (36h, 2d, 3w).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Moment(String);

impl Moment {
    /// The time it names; a span is before now, a day begins at midnight in the person's zone, and a day of the week
    /// is the last one, today among them.
    pub fn at(&self, context: &Context) -> Result<Timestamp, Error> {
        Ok(self.parsed(context)?.at)
    }

    /// The whole day that it is in.
    pub fn whole_day(&self, context: &Context) -> Result<Self, Error> {
        Ok(Self(self.at(context)?.to_zoned(context.zone()).date().to_string()))
    }

    /// The first moment that it names: the time, or the beginning of the day.
    pub(crate) fn begin(&self, context: &Context) -> Result<Timestamp, Error> {
        let Parsed { at, is_day } = self.parsed(context)?;
        if is_day { self.midnight(context, at.to_zoned(context.zone()).date()) } else { Ok(at) }
    }

    /// When what it names is over: at the time, or at the end of the day.
    pub(crate) fn end(&self, context: &Context) -> Result<Timestamp, Error> {
        let Parsed { at, is_day } = self.parsed(context)?;
        let next = || at.to_zoned(context.zone()).date().saturating_add(1.day());
        if is_day { self.midnight(context, next()) } else { Ok(at) }
    }

    fn midnight(&self, context: &Context, date: Date) -> Result<Timestamp, Error> {
        date.to_zoned(context.zone()).map(|time| time.timestamp()).map_err(|_| self.invalid())
    }

    fn parsed(&self, context: &Context) -> Result<Parsed, Error> {
        parse(&context.now.to_zoned(context.zone()), &self.0).ok_or_else(|| self.invalid())
    }

    fn invalid(&self) -> Error {
        Error::new(Kind::Usage, format!("`{}` is not a valid time", self.0)).hint(
            "use a date (2026-01-31), a time (2026-01-31T10:00:00Z), a day (yesterday, monday), a month (january) or how long ago it was (36h, 2d, 3w)",
        )
    }
}

/// The time that a text names.
struct Parsed {
    at: Timestamp,
    /// Whether it names the whole day.
    is_day: bool,
}

impl From<&str> for Moment {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<Timestamp> for Moment {
    fn from(at: Timestamp) -> Self {
        Self(at.to_string())
    }
}

fn parse(now: &Zoned, text: &str) -> Option<Parsed> {
    if let Ok(at) = text.parse() {
        return Some(Parsed { at, is_day: false });
    }
    if let Ok(span) = text.parse::<Span>() {
        let at = now.checked_sub(span.abs()).ok()?.timestamp();
        return Some(Parsed {
            at,
            is_day: span.get_hours() == 0 && span.get_minutes() == 0 && span.get_seconds() == 0,
        });
    }
    let (time, is_day) = match day(now.date(), text) {
        Some(date) => (date.at(0, 0, 0, 0), true),
        None => (text.parse::<DateTime>().ok()?, !text.contains(':')),
    };
    let at = time.to_zoned(now.time_zone().clone()).ok()?.timestamp();
    Some(Parsed { at, is_day })
}

/// A day that is called by a word; a month is its first day.
fn day(today: Date, text: &str) -> Option<Date> {
    let word = text.trim().to_lowercase();
    match word.as_str() {
        "today" => return Some(today),
        "yesterday" => return today.yesterday().ok(),
        _ => {}
    }
    if let Some(month) = month(&word) {
        let this_year = Date::new(today.year(), month, 1).ok()?;
        return if this_year > today { this_year.checked_sub(1.year()).ok() } else { Some(this_year) };
    }
    let weekday = weekday(&word)?;
    if today.weekday() == weekday { Some(today) } else { today.nth_weekday(-1, weekday).ok() }
}

/// The day of the week that a word in small letters names.
pub(crate) fn weekday(word: &str) -> Option<Weekday> {
    const DAYS: [(&str, Weekday); 7] = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    DAYS.into_iter().find(|(name, _)| *name == word || name[..3] == *word).map(|(_, weekday)| weekday)
}

/// The month that a word in small letters names, from 1.
pub(crate) fn month(word: &str) -> Option<i8> {
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
    let is_it = |name: &&str| *name == word || ((3..=4).contains(&word.len()) && name.starts_with(word));
    (1_i8..).zip(MONTHS).find(|(_, name)| is_it(name)).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        let now: Zoned = "2026-03-10T12:00:00+01:00[Europe/Zurich]".parse().unwrap();
        let parsed = parse(&now, text).map(|parsed| parsed.at.to_string());
        assert_eq!(parsed.as_deref(), expected, "{text}");
    }

    #[test]
    fn a_day_is_told_from_a_time() {
        let now: Zoned = "2026-03-10T12:00:00+01:00[Europe/Zurich]".parse().unwrap();
        let is_day = |text: &str| parse(&now, text).unwrap().is_day;
        for day in ["2026-01-31", "2d", "3w", "1 month", "today", "Tuesday", "january"] {
            assert!(is_day(day), "{day}");
        }
        for time in
            ["2026-01-31T10:00:00Z", "2026-01-31T00:00", "2026-01-31 10:00", "36h", "90 minutes", "1d2h"]
        {
            assert!(!is_day(time), "{time}");
        }
    }

    #[test]
    fn every_form_of_a_moment_is_parsed() {
        check("2026-01-31", Some("2026-01-30T23:00:00Z"));
        check("2026-01-31T10:00:00Z", Some("2026-01-31T10:00:00Z"));
        check("2026-01-31T10:00", Some("2026-01-31T09:00:00Z"));
        check("2d", Some("2026-03-08T11:00:00Z"));
        check("36h", Some("2026-03-08T23:00:00Z"));
        check("2 weeks", Some("2026-02-24T11:00:00Z"));
        check("today", Some("2026-03-09T23:00:00Z"));
        check("Yesterday", Some("2026-03-08T23:00:00Z"));
        check("tuesday", Some("2026-03-09T23:00:00Z"));
        check("mon", Some("2026-03-08T23:00:00Z"));
        check("wednesday", Some("2026-03-03T23:00:00Z"));
        check("January", Some("2025-12-31T23:00:00Z"));
        check("dec", Some("2025-11-30T23:00:00Z"));
        check("mar", Some("2026-02-28T23:00:00Z"));
        check("yesterday-ish", None);
        check("", None);
    }
}
