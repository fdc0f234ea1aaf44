//! Where the older messages of chats are.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use model::SessionId;

/// How many places in conversations are remembered.
const PLACES: usize = 1000;

/// Where older messages are, by the time of the first message that was shown: a front end asks for what is before a time,
/// and a conversation has places.
#[derive(Debug, Default)]
pub(crate) struct HistoryPositions(Mutex<Known>);

/// The places by session and time, and the order in which they came to be known.
type Known = (HashMap<(SessionId, i64), String>, VecDeque<(SessionId, i64)>);

impl HistoryPositions {
    /// The place of a time.
    pub(super) fn find(&self, session: &SessionId, time: i64) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.0.get(&(session.clone(), time)).cloned()
    }

    /// Keeps the place of a time.
    pub(super) fn keep(&self, session: &SessionId, time: i64, place: String) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (session.clone(), time);
        if known.0.insert(key.clone(), place).is_none() {
            known.1.push_back(key);
        }
        if known.1.len() > PLACES
            && let Some(oldest) = known.1.pop_front()
        {
            known.0.remove(&oldest);
        }
    }
}
