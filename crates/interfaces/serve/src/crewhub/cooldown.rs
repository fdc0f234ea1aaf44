//! How soon the next message of a chat is accepted: a double click must not start a second turn.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use app::Kind;
use axum::http::StatusCode;

use crate::problem::Problem;

/// How many sessions are remembered; what is older than any pause is forgotten first.
const MOST: usize = 1000;

/// The two routes that send a message. Each has its own pause, so that the front end can try the other when one fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ChatRoute {
    Send,
    Stream,
}

impl ChatRoute {
    fn pause(self) -> Duration {
        match self {
            Self::Send => Duration::from_secs(3),
            Self::Stream => Duration::from_secs(5),
        }
    }
}

/// When each chat last accepted a message.
#[derive(Debug, Default)]
pub(crate) struct Cooldowns(Mutex<HashMap<(String, ChatRoute), Instant>>);

impl Cooldowns {
    /// Accepts a message now; refused where one was accepted a moment ago.
    pub(super) fn begin(&self, key: &str, route: ChatRoute, now: Instant) -> Result<(), Problem> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = last.get(&(key.to_owned(), route)).map(|last| now.duration_since(*last));
        if let Some(left) =
            since.and_then(|since| route.pause().checked_sub(since)).filter(|left| !left.is_zero())
        {
            let detail = format!("that was too soon: try again in {:.1} s", left.as_secs_f64());
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, Kind::Held, detail));
        }
        if last.len() >= MOST {
            last.retain(|(_, route), at| now.duration_since(*at) < route.pause());
        }
        last.insert((key.to_owned(), route), now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_has_its_own_pause() {
        let (cooldowns, start) = (Cooldowns::default(), Instant::now());
        let check = |key: &str, route: ChatRoute, seconds: f64, expected: bool| {
            let now = start + Duration::from_secs_f64(seconds);
            assert_eq!(cooldowns.begin(key, route, now).is_ok(), expected, "{key} {route:?} {seconds}");
        };
        check("a", ChatRoute::Send, 0.0, true);
        check("a", ChatRoute::Send, 2.9, false);
        check("b", ChatRoute::Send, 2.9, true);
        check("a", ChatRoute::Stream, 2.9, true);
        check("a", ChatRoute::Send, 3.0, true);
        check("a", ChatRoute::Stream, 7.8, false);
        check("a", ChatRoute::Stream, 7.9, true);
    }
}
