//! The five-hour windows in which subscriptions limit usage: one begins at the full hour of the first message, the next
//! with the first message after its end.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use model::SessionId;

use crate::ledger::CountedMessage;
use crate::totals::Total;

/// The length of a window.
const LENGTH: SignedDuration = SignedDuration::from_hours(5);
/// How long after its first message the pace of a window is meaningful.
const SETTLED: SignedDuration = SignedDuration::from_mins(5);

/// What was used in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct UsageWindow {
    /// The full hour in UTC at which it began.
    pub start: Timestamp,
    /// Five hours later.
    pub end: Timestamp,
    /// The time of its first message.
    pub first: Timestamp,
    /// The time of its last message.
    pub last: Timestamp,
    /// What the messages took that were asked for.
    pub total: Total,
    /// Their models, by plain name.
    pub models: BTreeSet<String>,
    /// What each of their sessions took.
    pub sessions: BTreeMap<SessionId, Total>,
}

/// The projected usage of a window at its end, at the same pace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowProjection {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Their price in US dollars.
    pub cost: Option<f64>,
}

/// The windows of these messages, oldest first. All of them make windows; those that `is_asked` picks are added up.
/// Messages without a time are in none.
pub fn windows(
    messages: &[CountedMessage<'_>],
    is_asked: impl Fn(&CountedMessage<'_>) -> bool,
) -> Vec<UsageWindow> {
    let timed = messages.iter().filter_map(|message| Some((message.at?, message)));
    let mut timed: Vec<(Timestamp, &CountedMessage<'_>)> = timed.collect();
    timed.sort_by_key(|(at, _)| *at);
    let mut windows: Vec<UsageWindow> = Vec::new();
    for (at, message) in timed {
        if windows.last().is_none_or(|window| at >= window.end) {
            windows.push(UsageWindow::beginning(at));
        }
        if let Some(window) = windows.last_mut() {
            window.last = at;
            if is_asked(message) {
                window.add(message);
            }
        }
    }
    windows
}

impl UsageWindow {
    fn beginning(at: Timestamp) -> Self {
        let hour = at.as_second().div_euclid(3_600) * 3_600;
        let start = Timestamp::from_second(hour).unwrap_or(at);
        Self {
            start,
            end: start.checked_add(LENGTH).unwrap_or(Timestamp::MAX),
            first: at,
            last: at,
            total: Total::default(),
            models: BTreeSet::new(),
            sessions: BTreeMap::new(),
        }
    }

    fn add(&mut self, message: &CountedMessage<'_>) {
        self.total.add(message.usage, message.cost);
        if !self.models.contains(message.model) {
            self.models.insert(message.model.to_owned());
        }
        if !self.sessions.contains_key(message.session) {
            self.sessions.insert(message.session.clone(), Total::default());
        }
        if let Some(session) = self.sessions.get_mut(message.session) {
            session.add(message.usage, message.cost);
        }
    }

    /// Whether the window is still open.
    pub fn is_running(&self, now: Timestamp) -> bool {
        self.start <= now && now < self.end
    }

    /// What an open window will have taken, by what it took since its first message; `None` where that was a moment
    /// ago.
    pub fn projection(&self, now: Timestamp) -> Option<WindowProjection> {
        let elapsed = now.duration_since(self.first);
        if !self.is_running(now) || elapsed < SETTLED {
            return None;
        }
        let seconds = |span: SignedDuration| span.as_secs().unsigned_abs();
        let (whole, elapsed) = (seconds(self.end.duration_since(self.first)), seconds(elapsed));
        let tokens = u128::from(self.total.usage.total()) * u128::from(whole) / u128::from(elapsed);
        let tokens = u64::try_from(tokens).unwrap_or(u64::MAX);
        let share = whole as f64 / elapsed as f64;
        Some(WindowProjection { tokens, cost: self.total.cost.map(|cost| cost * share) })
    }
}

#[cfg(test)]
mod tests {
    use model::Usage;

    use super::*;

    const NINE: i64 = 1_780_304_400; // 2026-06-01T09:00:00Z
    const MINUTE: i64 = 60;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_second(NINE + minutes * MINUTE).unwrap()
    }

    fn message(session: &SessionId, minutes: Option<i64>, output: u64) -> CountedMessage<'_> {
        CountedMessage {
            session,
            at: minutes.map(at),
            model: "m",
            usage: Usage { output, ..Usage::default() },
            cost: Some(output as f64),
        }
    }

    #[test]
    fn a_window_begins_at_the_full_hour_and_lasts_five() {
        let id: SessionId = "a".parse().unwrap();
        let said = |minutes: &[i64]| {
            let messages: Vec<_> = minutes.iter().map(|minutes| message(&id, Some(*minutes), 1)).collect();
            let windows = windows(&messages, |_| true);
            let shown = |window: &UsageWindow| {
                (window.start.duration_since(at(0)).as_mins(), window.total.usage.output)
            };
            windows.iter().map(shown).collect::<Vec<_>>()
        };
        assert_eq!(said(&[]), []);
        assert_eq!(said(&[50]), [(0, 1)]);
        // The last second of the window, the first of the next, in any order.
        assert_eq!(said(&[300, 50, 299]), [(0, 2), (300, 1)]);
        // After a pause the window begins when one begins.
        assert_eq!(said(&[10, 900 + 59]), [(0, 1), (900, 1)]);
        assert_eq!(said(&[-1]), [(-60, 1)]);
        assert_eq!(windows(&[message(&id, None, 1)], |_| true), []);
    }

    #[test]
    fn windows_come_from_all_messages_and_totals_from_the_selected() {
        let (one, other): (SessionId, SessionId) = ("a".parse().unwrap(), "b".parse().unwrap());
        let messages =
            [message(&one, Some(10), 1), message(&other, Some(200), 2), message(&one, Some(310), 4)];
        let of_other = windows(&messages, |message| *message.session == other);
        let outputs: Vec<u64> = of_other.iter().map(|window| window.total.usage.output).collect();
        assert_eq!(outputs, [2, 0]);
        let sessions: Vec<_> =
            of_other[0].sessions.iter().map(|(id, total)| (id, total.usage.output)).collect();
        assert_eq!(sessions, [(&other, 2)]);
    }

    #[test]
    fn a_projection_continues_at_the_current_rate() {
        let id: SessionId = "a".parse().unwrap();
        let window = windows(&[message(&id, Some(0), 10), message(&id, Some(30), 20)], |_| true).remove(0);
        let projected = |minutes: i64| window.projection(at(minutes)).map(|found| (found.tokens, found.cost));
        assert_eq!(projected(60), Some((150, Some(150.0))));
        assert_eq!(projected(150), Some((60, Some(60.0))));
        assert_eq!(projected(4), None, "too early to say");
        assert_eq!(projected(300), None, "over");
        assert!(window.is_running(at(299)) && !window.is_running(at(300)) && !window.is_running(at(-1)));
    }
}
