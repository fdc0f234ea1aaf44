//! Moments as people type them: `2d`, `3 hours`, `yesterday`, `last week`, `2026-01-31`, `2026-01-31T10:00:00Z`.

mod days;
mod names;

use std::ops::Range;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use days::{Days, days, number_of_day, only_days};
pub(crate) use names::{month, weekday};

use crate::{Context, Error, Kind};

/// A date (2026-01-31), a time (2026-01-31T10:00:00Z), a day (yesterday, monday, jan 31), a week, month or year (last week,
/// january, 2026-01, 2026) or how long ago (36h, 2d, 3w).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
pub struct Moment(String);

impl Moment {
    /// The time it names; a span is before now, a day begins at midnight in the person's zone, and a day of the week
    /// is the last one, today among them.
    pub fn at(&self, context: &Context) -> Result<Timestamp, Error> {
        Ok(self.parsed(context)?.at)
    }

    /// The days that it names, or the one that it is in.
    pub fn whole_day(&self, context: &Context) -> Result<Self, Error> {
        let Parsed { at, days } = self.parsed(context)?;
        let is_several = days.is_some_and(|days| days.start.tomorrow().is_ok_and(|next| next < days.end));
        let day = || Self(at.to_zoned(context.zone()).date().to_string());
        Ok(if is_several { self.clone() } else { day() })
    }

    /// The first moment that it names: the time, or the beginning of the days.
    pub(crate) fn begin(&self, context: &Context) -> Result<Timestamp, Error> {
        let Parsed { at, days } = self.parsed(context)?;
        days.map_or(Ok(at), |days| self.midnight(context, days.start))
    }

    /// When what it names is over: at the time, or at the end of the days.
    pub(crate) fn end(&self, context: &Context) -> Result<Timestamp, Error> {
        self.parsed(context)?.end(&context.zone()).ok_or_else(|| self.invalid())
    }

    /// The last day that it names, or the one that it is in.
    pub(crate) fn last_day(&self, context: &Context) -> Result<Date, Error> {
        let Parsed { at, days } = self.parsed(context)?;
        let last = days.and_then(|days| days.end.yesterday().ok());
        Ok(last.unwrap_or_else(|| at.to_zoned(context.zone()).date()))
    }

    fn midnight(&self, context: &Context, date: Date) -> Result<Timestamp, Error> {
        date.to_zoned(context.zone()).map(|time| time.timestamp()).map_err(|_| self.invalid())
    }

    fn parsed(&self, context: &Context) -> Result<Parsed, Error> {
        parse(&context.now.to_zoned(context.zone()), &self.0).ok_or_else(|| self.invalid())
    }

    fn invalid(&self) -> Error {
        Error::new(Kind::Usage, format!("`{}` is not a valid time", self.0)).hint(
            "use a date (2026-01-31), a time (2026-01-31T10:00:00Z), a day (yesterday, monday, jan 31), a week, month or year (last week, january, 2026-01) or how long ago it was (36h, 2d, 3w)",
        )
    }
}

/// The time that a text names, and the days if it names days.
struct Parsed {
    at: Timestamp,
    days: Option<Range<Date>>,
}

impl Parsed {
    /// The time itself, or the end of the days.
    fn end(&self, zone: &TimeZone) -> Option<Timestamp> {
        let Some(days) = &self.days else { return Some(self.at) };
        Some(days.end.to_zoned(zone.clone()).ok()?.timestamp())
    }
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
        return Some(Parsed { at, days: None });
    }
    let length = text.strip_prefix("last ").or_else(|| text.strip_prefix("past "));
    if let Ok(span) = length.unwrap_or(text).parse::<Span>() {
        let then = now.checked_sub(span.abs()).ok()?;
        let is_days = span.get_hours() == 0 && span.get_minutes() == 0 && span.get_seconds() == 0;
        if !is_days {
            return Some(Parsed { at: then.timestamp(), days: None });
        }
        if length.is_none() {
            let day = then.date();
            return Some(Parsed { at: then.timestamp(), days: Some(day..day.tomorrow().ok()?) });
        }
    }
    if let Some(days) = in_words(now.date(), text) {
        let at = days.start.to_zoned(now.time_zone().clone()).ok()?.timestamp();
        return Some(Parsed { at, days: Some(days) });
    }
    let time = text.parse::<DateTime>().ok()?;
    let at = time.to_zoned(now.time_zone().clone()).ok()?.timestamp();
    Some(Parsed { at, days: None })
}

/// The days that the whole text names.
fn in_words(today: Date, text: &str) -> Option<Range<Date>> {
    let text = text.to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let days = only_days(&words, today).filter(|days| days.words == words.len())?;
    Some(days.first..days.after)
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
        let days = |text: &str| {
            let days = parse(&now, text).unwrap_or_else(|| panic!("{text}")).days?;
            Some((days.end - days.start).get_days())
        };
        for day in ["2026-01-31", "2d", "3w", "1 month", "today", "Tuesday", "jan 31", "31.01.2026", "01/31"]
        {
            assert_eq!(days(day), Some(1), "{day}");
        }
        for (several, expected) in [
            ("january", 31),
            ("2026-02", 28),
            ("Feb 2024", 29),
            ("last week", 7),
            ("this week", 7),
            ("last month", 28),
            ("two weeks ago", 7),
            ("last 3 days", 4),
            ("2025", 365),
            ("this year", 365),
        ] {
            assert_eq!(days(several), Some(expected), "{several}");
        }
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
            assert_eq!(days(time), None, "{time}");
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
        check("last week", Some("2026-03-01T23:00:00Z"));
        check("Jan 22", Some("2026-01-21T23:00:00Z"));
        check("22 january 2025", Some("2025-01-21T23:00:00Z"));
        check("2026-01", Some("2025-12-31T23:00:00Z"));
        check("2025", Some("2024-12-31T23:00:00Z"));
        check("3 days ago", Some("2026-03-07T11:00:00Z"));
        check("an hour ago", None);
        check("2 hours ago", Some("2026-03-10T09:00:00Z"));
        check("last 24 hours", Some("2026-03-09T11:00:00Z"));
        check("past week", Some("2026-03-02T23:00:00Z"));
        check("last weekend", Some("2026-03-06T23:00:00Z"));
        check("feb 29", Some("2024-02-28T23:00:00Z"));
        check("last week or so", None);
        check("yesterday-ish", None);
        check("", None);
    }
}
