//! When a job runs, and the times that follow from it.
//!
//! Cron times follow the clock of the time zone across daylight-saving changes: a time skipped in spring runs
//! at the first instant after the gap, a time repeated in autumn runs once, and anything more frequent than
//! hourly continues in real time.

use std::str::FromStr as _;
use std::time::Duration;

use croner::Cron;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::InvalidJob;

/// Minimum interval of `every`.
const SHORTEST: Duration = Duration::from_secs(1);
/// Maximum length of a cron expression in bytes.
const LONGEST: usize = 256;

/// When a job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum JobSchedule {
    /// Once, at a given time.
    At {
        /// The time of the run.
        #[serde(serialize_with = "model::time")]
        at: Timestamp,
    },
    /// At a fixed interval in real time, regardless of clock changes.
    Every {
        /// Interval in milliseconds.
        every_ms: u64,
        /// A time from which the intervals are counted.
        #[serde(serialize_with = "model::time")]
        anchor: Timestamp,
    },
    /// At the times a cron expression names.
    Cron {
        /// Five cron fields, or six beginning with seconds.
        expr: String,
        /// IANA name of the time zone; if absent, the caller's default zone applies.
        tz: Option<String>,
    },
}

impl JobSchedule {
    /// Checks the schedule; returns a message for the user if it is invalid or never due.
    pub fn check(&self) -> Result<(), InvalidJob> {
        match self {
            Self::Every { every_ms, .. } if Duration::from_millis(*every_ms) < SHORTEST => {
                Err(InvalidJob("two runs are less than a second apart".to_owned()))
            }
            Self::Every { every_ms, .. } if i64::try_from(*every_ms).is_err() => {
                Err(InvalidJob("the time between two runs is longer than any calendar".to_owned()))
            }
            Self::At { .. } | Self::Every { .. } => Ok(()),
            Self::Cron { expr, tz } => {
                let zone = tz.as_deref().map_or(Ok(TimeZone::UTC), zone)?;
                let cron = parsed(expr)?;
                // Whether there is such a day at all does not depend on the year it is asked in.
                cron.find_next_occurrence(&Timestamp::UNIX_EPOCH.to_zoned(zone), false)
                    .map(|_| ())
                    .map_err(|_| InvalidJob(format!("`{expr}` never comes: no day is like that")))
            }
        }
    }

    /// Returns the first time after `moment`; `None` if there is none. `default_zone` applies to schedules
    /// without a time zone.
    pub fn next_after(&self, moment: Timestamp, default_zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::At { at } => (*at > moment).then_some(*at),
            Self::Every { every_ms, anchor } => {
                let step = i64::try_from(*every_ms).ok().filter(|step| *step > 0)?;
                let since = moment.as_millisecond().checked_sub(anchor.as_millisecond())?;
                let next = since.div_euclid(step).checked_add(1)?.max(0).checked_mul(step)?;
                Timestamp::from_millisecond(anchor.as_millisecond().checked_add(next)?).ok()
            }
            Self::Cron { expr, tz } => {
                let (cron, from) = cron_at(expr, tz.as_deref(), moment, default_zone)?;
                cron.find_next_occurrence(&from, false).ok().map(|next| next.timestamp())
            }
        }
    }

    /// Returns the last time not after `moment`; `None` if there is none. `default_zone` applies to schedules
    /// without a time zone.
    pub fn last_until(&self, moment: Timestamp, default_zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::At { at } => (*at <= moment).then_some(*at),
            Self::Every { every_ms, anchor } => {
                let step = i64::try_from(*every_ms).ok().filter(|step| *step > 0)?;
                let since = moment.as_millisecond().checked_sub(anchor.as_millisecond())?;
                let last = (since >= 0).then(|| since - since.rem_euclid(step))?;
                Timestamp::from_millisecond(anchor.as_millisecond().checked_add(last)?).ok()
            }
            Self::Cron { expr, tz } => {
                let (cron, from) = cron_at(expr, tz.as_deref(), moment, default_zone)?;
                cron.find_previous_occurrence(&from, true).ok().map(|last| last.timestamp())
            }
        }
    }

    /// Whether the job runs only once.
    pub fn is_once(&self) -> bool {
        matches!(self, Self::At { .. })
    }
}

fn cron_at(
    expr: &str,
    tz: Option<&str>,
    moment: Timestamp,
    default_zone: &TimeZone,
) -> Option<(Cron, Zoned)> {
    let zone = tz.map_or_else(|| Ok(default_zone.clone()), zone).ok()?;
    Some((parsed(expr).ok()?, moment.to_zoned(zone)))
}

fn parsed(expr: &str) -> Result<Cron, InvalidJob> {
    if expr.len() > LONGEST {
        return Err(InvalidJob(format!("a cron expression has at most {LONGEST} characters")));
    }
    Cron::from_str(expr).map_err(|error| InvalidJob(format!("`{expr}` is no cron expression: {error}")))
}

fn zone(name: &str) -> Result<TimeZone, InvalidJob> {
    TimeZone::get(name)
        .map_err(|_| InvalidJob(format!("there is no time zone `{name}`; one is Europe/Zurich")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(expr: &str, tz: &str) -> JobSchedule {
        JobSchedule::Cron { expr: expr.to_owned(), tz: Some(tz.to_owned()) }
    }

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// The moments that come after `from`, each with the clock that shows it.
    fn moments(when: &JobSchedule, from: &str, count: usize) -> Vec<String> {
        let zone = match when {
            JobSchedule::Cron { tz: Some(tz), .. } => TimeZone::get(tz).unwrap(),
            _ => TimeZone::UTC,
        };
        let mut moment = time(from);
        let mut all = Vec::new();
        while all.len() < count {
            let Some(next) = when.next_after(moment, &TimeZone::UTC) else { break };
            assert!(next > moment, "time goes on");
            assert_eq!(when.last_until(next, &TimeZone::UTC), Some(next), "it is its own last one");
            moment = next;
            all.push(next.to_zoned(zone.clone()).strftime("%m-%d %H:%M%:z").to_string());
        }
        all
    }

    #[test]
    fn daylight_saving_changes() {
        let check = |expr, tz, from, expected: &[&str]| {
            assert_eq!(moments(&cron(expr, tz), from, expected.len()), expected, "{expr} {tz}");
        };
        // Spring: 2:30 is left out on the 29th of March; it is done when the gap is over, and once.
        check(
            "30 2 * * *",
            "Europe/Zurich",
            "2026-03-28T00:00:00Z",
            &["03-28 02:30+01:00", "03-29 03:00+02:00", "03-30 02:30+02:00"],
        );
        check(
            "0 9 * * *",
            "Europe/Zurich",
            "2026-03-27T12:00:00Z",
            &["03-28 09:00+01:00", "03-29 09:00+02:00", "03-30 09:00+02:00"],
        );
        // Autumn: 2:30 comes twice on the 25th of October; it is done once.
        check(
            "30 2 * * *",
            "Europe/Zurich",
            "2026-10-24T00:00:00Z",
            &["10-24 02:30+02:00", "10-25 02:30+02:00", "10-26 02:30+01:00"],
        );
        // What repeats within the hour repeats in both.
        check(
            "*/30 * * * *",
            "Europe/Zurich",
            "2026-10-25T00:15:00Z",
            &["10-25 02:30+02:00", "10-25 02:00+01:00", "10-25 02:30+01:00", "10-25 03:00+01:00"],
        );
        check(
            "*/30 * * * *",
            "Europe/Zurich",
            "2026-03-29T00:15:00Z",
            &["03-29 01:30+01:00", "03-29 03:00+02:00", "03-29 03:30+02:00"],
        );
        // Midnight itself is left out.
        check(
            "0 0 * * *",
            "Africa/Cairo",
            "2026-04-22T12:00:00Z",
            &["04-23 00:00+02:00", "04-24 01:00+03:00", "04-25 00:00+03:00"],
        );
        // Half an hour, in the south.
        check(
            "15 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-02T12:00:00Z",
            &["10-03 02:15+10:30", "10-04 02:30+11:00", "10-05 02:15+11:00"],
        );
        check(
            "30 1 1 * *",
            "America/New_York",
            "2026-10-20T00:00:00Z",
            &["11-01 01:30-04:00", "12-01 01:30-05:00"],
        );
    }

    #[test]
    fn days_of_month_and_week() {
        let check = |expr, from, expected: &[&str]| {
            assert_eq!(moments(&cron(expr, "UTC"), from, expected.len()), expected, "{expr}");
        };
        check("0 12 29 2 *", "2026-01-01T00:00:00Z", &["02-29 12:00+00:00"]);
        check("0 0 L * *", "2026-01-31T12:00:00Z", &["02-28 00:00+00:00", "03-31 00:00+00:00"]);
        check("0 9 * * MON-FRI", "2026-11-20T10:00:00Z", &["11-23 09:00+00:00", "11-24 09:00+00:00"]);
        check("0 9 * * 7", "2026-11-20T10:00:00Z", &["11-22 09:00+00:00"]);
        check("@daily", "2026-12-31T10:00:00Z", &["01-01 00:00+00:00"]);
    }

    #[test]
    fn one_time_and_interval_schedules() {
        let at = JobSchedule::At { at: time("2026-05-01T10:00:00Z") };
        let utc = TimeZone::UTC;
        assert_eq!(at.next_after(time("2026-05-01T09:00:00Z"), &utc), Some(time("2026-05-01T10:00:00Z")));
        assert_eq!(at.next_after(time("2026-05-01T10:00:00Z"), &utc), None);
        assert_eq!(at.last_until(time("2026-05-01T09:59:59Z"), &utc), None);
        assert_eq!(at.last_until(time("2027-05-01T10:00:00Z"), &utc), Some(time("2026-05-01T10:00:00Z")));

        let every = JobSchedule::Every { every_ms: 90_000, anchor: time("2026-05-01T10:00:00Z") };
        let check = |moment, next, last: Option<&str>| {
            assert_eq!(every.next_after(time(moment), &utc), Some(time(next)), "after {moment}");
            assert_eq!(every.last_until(time(moment), &utc), last.map(time), "until {moment}");
        };
        check("2020-01-01T00:00:00Z", "2026-05-01T10:00:00Z", None);
        check("2026-05-01T10:00:00Z", "2026-05-01T10:01:30Z", Some("2026-05-01T10:00:00Z"));
        check("2026-05-01T10:01:29Z", "2026-05-01T10:01:30Z", Some("2026-05-01T10:00:00Z"));
        check("2026-05-01T10:01:30Z", "2026-05-01T10:03:00Z", Some("2026-05-01T10:01:30Z"));
        // A day of `every` has 24 hours, also the one that the clocks shorten.
        let daily = JobSchedule::Every { every_ms: 86_400_000, anchor: time("2026-03-28T02:30:00+01:00") };
        let next = daily.next_after(time("2026-03-28T02:30:00+01:00"), &utc);
        assert_eq!(next, Some(time("2026-03-29T03:30:00+02:00")));
        let huge = JobSchedule::Every { every_ms: u64::MAX, anchor: Timestamp::MAX };
        assert_eq!((huge.next_after(Timestamp::MIN, &utc), huge.check().is_ok()), (None, false));
    }

    #[test]
    fn the_default_time_zone_applies() {
        let when = JobSchedule::Cron { expr: "0 9 * * *".to_owned(), tz: None };
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        assert_eq!(when.next_after(time("2026-01-01T00:00:00Z"), &tokyo), Some(time("2026-01-02T00:00:00Z")));
    }

    #[test]
    fn invalid_schedules_are_refused() {
        let check = |when: &JobSchedule, says: Option<&str>| match (when.check(), says) {
            (Ok(()), None) => {}
            (Err(error), Some(says)) => assert!(error.0.contains(says), "{}", error.0),
            (found, _) => panic!("{when:?}: {found:?}"),
        };
        check(&cron("0 9 * * *", "Europe/Zurich"), None);
        check(&cron("*/10 0 9 * * *", "UTC"), None);
        check(&cron("0 9 * * *", "Mars/Olympus"), Some("no time zone `Mars/Olympus`"));
        check(&cron("0 0 31 2 *", "UTC"), Some("never comes"));
        for bad in ["", "x", "* * *", "61 * * * *", "*/0 * * * *", "0 9 * * * * * *"] {
            check(&cron(bad, "UTC"), Some("is no cron expression"));
        }
        check(&cron(&"1,".repeat(1000), "UTC"), Some("at most 256"));
        check(
            &JobSchedule::Every { every_ms: 999, anchor: Timestamp::UNIX_EPOCH },
            Some("less than a second"),
        );
        check(&JobSchedule::Every { every_ms: 1000, anchor: Timestamp::UNIX_EPOCH }, None);
    }
}
