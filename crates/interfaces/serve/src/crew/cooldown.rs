//! How soon a session can be written to again in a chat: a click too many must not start a second turn.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use app::Kind;
use axum::http::StatusCode;

use crate::problem::Problem;

/// How many sessions are remembered; what is older than any pause is forgotten first.
const MOST: usize = 1000;

/// The ways to write to a session; each has a pause of its own, so that one can follow another that failed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Send,
    Stream,
}

impl Way {
    fn pause(self) -> Duration {
        match self {
            Self::Send => Duration::from_secs(3),
            Self::Stream => Duration::from_secs(5),
        }
    }
}

/// When sessions were last written to.
#[derive(Debug, Default)]
pub(crate) struct Cooldowns(Mutex<HashMap<(String, Way), Instant>>);

impl Cooldowns {
    /// Notes that a session is written to now; refused where that was done a moment ago.
    pub(super) fn begin(&self, key: &str, way: Way, now: Instant) -> Result<(), Problem> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = last.get(&(key.to_owned(), way)).map(|last| now.duration_since(*last));
        if let Some(left) =
            since.and_then(|since| way.pause().checked_sub(since)).filter(|left| !left.is_zero())
        {
            let detail = format!("that was too soon: try again in {:.1} s", left.as_secs_f64());
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, Kind::Held, detail));
        }
        if last.len() >= MOST {
            last.retain(|(_, way), at| now.duration_since(*at) < way.pause());
        }
        last.insert((key.to_owned(), way), now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_its_own_pause() {
        let (cooldowns, start) = (Cooldowns::default(), Instant::now());
        let check = |key: &str, way: Way, seconds: f64, expected: bool| {
            let now = start + Duration::from_secs_f64(seconds);
            assert_eq!(cooldowns.begin(key, way, now).is_ok(), expected, "{key} {way:?} {seconds}");
        };
        check("a", Way::Send, 0.0, true);
        check("a", Way::Send, 2.9, false);
        check("b", Way::Send, 2.9, true);
        check("a", Way::Stream, 2.9, true);
        check("a", Way::Send, 3.0, true);
        check("a", Way::Stream, 7.8, false);
        check("a", Way::Stream, 7.9, true);
    }
}
