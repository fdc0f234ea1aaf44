//! Moments as people type them: `2d`, `3 hours`, `yesterday`, `monday`, `2026-01-31`, `2026-01-31T10:00:00Z`.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
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

    /// The whole day that it is in, or the month that it names.
    pub fn whole_day(&self, context: &Context) -> Result<Self, Error> {
        let Parsed { at, named } = self.parsed(context)?;
        let day = || Self(at.to_zoned(context.zone()).date().to_string());
        Ok(if named == Named::Month { self.clone() } else { day() })
    }

    /// The first moment that it names: the time, or the beginning of the day.
    pub(crate) fn begin(&self, context: &Context) -> Result<Timestamp, Error> {
        let Parsed { at, named } = self.parsed(context)?;
        let date = || at.to_zoned(context.zone()).date();
        if named == Named::Time { Ok(at) } else { self.midnight(context, date()) }
    }

    /// When what it names is over: at the time, or at the end of the day or month.
    pub(crate) fn end(&self, context: &Context) -> Result<Timestamp, Error> {
        self.parsed(context)?.end(&context.zone()).ok_or_else(|| self.invalid())
    }

    /// The day that it is in, or the last one of the month that it names.
    pub(crate) fn last_day(&self, context: &Context) -> Result<Date, Error> {
        let parsed = self.parsed(context)?;
        let first = parsed.at.to_zoned(context.zone()).date();
        Ok(if parsed.named == Named::Month { first.last_of_month() } else { first })
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

/// The time that a text names, and how much.
struct Parsed {
    at: Timestamp,
    named: Named,
}

impl Parsed {
    fn end(&self, zone: &TimeZone) -> Option<Timestamp> {
        let first = self.at.to_zoned(zone.clone()).date();
        let after = match self.named {
            Named::Time => return Some(self.at),
            Named::Day => first.checked_add(1.day()).ok()?,
            Named::Month => first.checked_add(1.month()).ok()?,
        };
        Some(after.to_zoned(zone.clone()).ok()?.timestamp())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Time,
    Day,
    Month,
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
        return Some(Parsed { at, named: Named::Time });
    }
    if let Ok(span) = text.parse::<Span>() {
        let at = now.checked_sub(span.abs()).ok()?.timestamp();
        let is_days = span.get_hours() == 0 && span.get_minutes() == 0 && span.get_seconds() == 0;
        return Some(Parsed { at, named: if is_days { Named::Day } else { Named::Time } });
    }
    let (time, named) = if let Some((date, named)) = day(now.date(), text) {
        (date.at(0, 0, 0, 0), named)
    } else {
        let has_time = text.trim().contains([':', 'T', 't', ' ']);
        (text.parse::<DateTime>().ok()?, if has_time { Named::Time } else { Named::Day })
    };
    let at = time.to_zoned(now.time_zone().clone()).ok()?.timestamp();
    Some(Parsed { at, named })
}

/// A day that is called by a word, or the first day of a month that is.
fn day(today: Date, text: &str) -> Option<(Date, Named)> {
    let word = text.trim().to_lowercase();
    if let Some(month) = month(&word) {
        let this_year = Date::new(today.year(), month, 1).ok()?;
        let last = if this_year > today { this_year.checked_sub(1.year()).ok()? } else { this_year };
        return Some((last, Named::Month));
    }
    let day = match word.as_str() {
        "today" => today,
        "yesterday" => today.yesterday().ok()?,
        _ => {
            let weekday = weekday(&word)?;
            if today.weekday() == weekday { today } else { today.nth_weekday(-1, weekday).ok()? }
        }
    };
    Some((day, Named::Day))
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
        let named = |text: &str| parse(&now, text).unwrap().named;
        for day in ["2026-01-31", "2d", "3w", "1 month", "today", "Tuesday"] {
            assert_eq!(named(day), Named::Day, "{day}");
        }
        assert_eq!(named("january"), Named::Month);
        for time in [
            "2026-01-31T10:00:00Z",
            "2026-01-31T00:00",
            "2026-01-31 10:00",
            "2026-01-31T10",
            "20260131T1030",
            "36h",
            "90 minutes",
            "1d2h",
        ] {
            assert_eq!(named(time), Named::Time, "{time}");
        }
    }

    #[test]
    fn a_day_and_a_month_end_with_their_last_moment() {
        let now: Zoned = "2026-03-30T12:00:00+02:00[Europe/Zurich]".parse().unwrap();
        let end = |text: &str| parse(&now, text).unwrap().end(now.time_zone()).unwrap().to_string();
        for (text, expected) in [
            ("2026-03-29", "2026-03-29T22:00:00Z"),
            ("2025-10-26", "2025-10-26T23:00:00Z"),
            ("2026-01-31T10:00", "2026-01-31T09:00:00Z"),
            ("36h", "2026-03-28T22:00:00Z"),
            ("2d", "2026-03-28T23:00:00Z"),
            ("dec", "2025-12-31T23:00:00Z"),
            ("february", "2026-02-28T23:00:00Z"),
        ] {
            assert_eq!(end(text), expected, "{text}");
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
