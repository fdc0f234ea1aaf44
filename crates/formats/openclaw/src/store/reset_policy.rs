//! Whether a session is still fresh, or is to be reset before the next message.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::session_config::{ResetConfig, ResetMode, ResetRule, ResetType};
use super::session_key::SessionKey;

/// The hour of the daily reset, where none is set.
const AT_HOUR: i8 = 4;
/// The minutes without messages, where none are set.
const IDLE_MINUTES: f64 = 60.0;

/// How one session is reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResetPolicy {
    /// The hour of the daily reset, where there is one.
    pub at_hour: Option<i8>,
    /// The time without messages, where that resets it.
    pub idle: Option<Duration>,
}

/// Whether a session is fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freshness {
    /// Whether the session continues.
    pub is_fresh: bool,
    /// The last daily reset: what is older is not fresh.
    pub daily_reset_at: Option<Timestamp>,
    /// When it has been silent for too long.
    pub idle_expires_at: Option<Timestamp>,
}

impl ResetPolicy {
    /// The policy for a session: that of its channel, else that of its kind over the usual one.
    pub fn new(config: &ResetConfig, key: &SessionKey, channel: Option<&str>) -> Self {
        let channel = channel.map(|name| name.trim().to_lowercase()).unwrap_or_default();
        let of_channel = config.by_channel.get(&channel).copied();
        let base = of_channel.or(config.usual);
        let of_type = if of_channel.is_some() { None } else { config.by_type.get(&reset_type(key)).copied() };
        let is_explicit = base.is_some() || config.has_types;
        let older = if of_channel.is_some() { None } else { config.idle_minutes };
        let (base, of_type) = (base.unwrap_or_default(), of_type.unwrap_or_default());
        let usual = if !is_explicit && older.is_some() { ResetMode::Idle } else { ResetMode::Daily };
        let mode = of_type.mode.or(base.mode).unwrap_or(usual);
        let minutes = |rule: ResetRule| rule.idle_minutes;
        let idle = minutes(of_type).or(minutes(base)).or(older);
        let idle = idle.or((mode == ResetMode::Idle).then_some(IDLE_MINUTES));
        Self {
            at_hour: (mode == ResetMode::Daily).then(|| hour(of_type.at_hour.or(base.at_hour))),
            idle: idle.and_then(|minutes| Duration::try_from_secs_f64(minutes.floor().max(1.0) * 60.0).ok()),
        }
    }

    /// Whether a session in which something happened last at `updated` continues at `now`.
    pub fn freshness(&self, updated: Timestamp, now: Timestamp, zone: &TimeZone) -> Freshness {
        let daily = self.at_hour.map(|hour| last_daily_reset(now, hour, zone));
        let idle = self.idle.map(|idle| updated.checked_add(idle).unwrap_or(Timestamp::MAX));
        let is_stale = daily.is_some_and(|at| updated < at) || idle.is_some_and(|at| now > at);
        Freshness { is_fresh: !is_stale, daily_reset_at: daily, idle_expires_at: idle }
    }
}

/// The kind of a session, for its reset.
pub fn reset_type(key: &SessionKey) -> ResetType {
    if key.is_thread() {
        ResetType::Thread
    } else if key.chat_type().is_some() {
        ResetType::Group
    } else {
        ResetType::Direct
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is between 0 and 23")]
fn hour(set: Option<f64>) -> i8 {
    set.filter(|hour| hour.is_finite()).map_or(AT_HOUR, |hour| hour.floor().clamp(0.0, 23.0) as i8)
}

/// The last time at which the local time was this hour.
fn last_daily_reset(now: Timestamp, hour: i8, zone: &TimeZone) -> Timestamp {
    let here = now.to_zoned(zone.clone());
    let at =
        |day: jiff::civil::Date| day.at(hour, 0, 0, 0).to_zoned(zone.clone()).map(|time| time.timestamp());
    let today = here.date();
    match at(today) {
        Ok(reset) if reset <= now => reset,
        _ => today.checked_sub(1.day()).and_then(at).unwrap_or(Timestamp::MIN),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn rule(mode: Option<ResetMode>, hour: Option<f64>, idle: Option<f64>) -> ResetRule {
        ResetRule { mode, at_hour: hour, idle_minutes: idle }
    }

    #[test]
    fn the_most_specific_policy_applies() {
        let direct: SessionKey = "agent:main:main".parse().unwrap();
        let group: SessionKey = "agent:main:discord:group:1".parse().unwrap();
        let thread = group.thread("7");
        let check = |config: &ResetConfig, key, channel, hour: Option<i8>, minutes: Option<u64>| {
            let policy = ResetPolicy::new(config, key, channel);
            let found = policy.idle.map(|idle| idle.as_secs() / 60);
            assert_eq!((policy.at_hour, found), (hour, minutes), "{key} {config:?}");
        };
        let plain = ResetConfig::default();
        check(&plain, &direct, None, Some(4), None);
        let older = ResetConfig { idle_minutes: Some(7.9), ..plain.clone() };
        check(&older, &direct, None, None, Some(7));
        let both = ResetConfig { usual: Some(rule(None, Some(30.0), None)), ..older.clone() };
        check(&both, &direct, None, Some(23), Some(7));
        let idle = ResetConfig { usual: Some(rule(Some(ResetMode::Idle), None, None)), ..plain.clone() };
        check(&idle, &direct, None, None, Some(60));
        let typed = ResetConfig {
            has_types: true,
            by_type: BTreeMap::from([
                (ResetType::Group, rule(Some(ResetMode::Idle), None, Some(0.5))),
                (ResetType::Thread, rule(None, Some(-3.0), None)),
            ]),
            by_channel: BTreeMap::from([("discord".into(), rule(Some(ResetMode::Idle), None, Some(9.0)))]),
            ..plain
        };
        check(&typed, &direct, None, Some(4), None);
        check(&typed, &group, None, None, Some(1));
        check(&typed, &thread, None, Some(0), None);
        check(&typed, &group, Some(" Discord"), None, Some(9));
    }

    #[test]
    fn freshness_by_policy() {
        let time = |text: &str| text.parse::<Timestamp>().unwrap();
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let check = |policy: ResetPolicy, updated: &str, now: &str, expected: bool| {
            let found = policy.freshness(time(updated), time(now), &zone);
            assert_eq!(found.is_fresh, expected, "{updated} at {now}: {found:?}");
        };
        let daily = ResetPolicy { at_hour: Some(4), idle: None };
        // Four o'clock in Berlin is three in UTC in winter.
        check(daily, "2026-01-10T02:59:00Z", "2026-01-10T03:00:00Z", false);
        check(daily, "2026-01-10T02:59:00Z", "2026-01-10T02:59:59Z", true);
        check(daily, "2026-01-09T03:00:00Z", "2026-01-10T02:59:59Z", true);
        check(daily, "2026-01-09T02:59:59Z", "2026-01-10T02:59:59Z", false);
        let idle = ResetPolicy { at_hour: None, idle: Some(Duration::from_mins(5)) };
        check(idle, "2026-01-10T00:00:00Z", "2026-01-10T00:05:00Z", true);
        check(idle, "2026-01-10T00:00:00Z", "2026-01-10T00:05:01Z", false);
        // Whichever comes first.
        let both = ResetPolicy { at_hour: Some(4), idle: Some(Duration::from_hours(48)) };
        check(both, "2026-01-09T02:00:00Z", "2026-01-10T03:00:00Z", false);
    }
}
