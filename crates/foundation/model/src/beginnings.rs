//! The times at which a person started work in a session: the first prompt, and prompts after a pause.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The number of seconds without a message after which a prompt counts as a new start.
const PAUSE: i64 = 5 * 60;
/// The number of most recent pauses kept for one session.
const KEPT: usize = 40;

/// The prompts by which a person began a session, or went on with it after a pause.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionStarts {
    /// The time of the first prompt in seconds since 1970; `None` if a plan or a summary precedes it.
    first: Option<i64>,
    /// The newest prompts after a pause, oldest first.
    resumed: VecDeque<ResumedAt>,
    /// Whether the session has any message yet.
    has_begun: bool,
    /// The time of the last message, in seconds since 1970.
    last_message: Option<i64>,
}

/// A prompt that went on with a session after a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumedAt {
    /// The time of the prompt in seconds since 1970.
    pub at: i64,
    /// The number of seconds since the session's previous message.
    pub pause: i64,
}

impl SessionStarts {
    /// Takes in a prompt that a person typed.
    pub fn record_prompt(&mut self, at: Timestamp) {
        let at = at.as_second();
        if !self.has_begun {
            self.first = Some(at);
        } else if let Some(pause) = self.last_message.map(|last| at - last).filter(|pause| *pause >= PAUSE) {
            if self.resumed.len() == KEPT {
                self.resumed.pop_front();
            }
            self.resumed.push_back(ResumedAt { at, pause });
        }
        self.message(Some(at));
    }

    /// Takes in any other message of the conversation.
    pub fn record_answer(&mut self, at: Timestamp) {
        self.message(Some(at.as_second()));
    }

    /// Takes in what begins a session without a prompt: the summary of a compaction, or a plan that was accepted.
    pub fn record_continuation(&mut self, at: Option<Timestamp>) {
        self.message(at.map(Timestamp::as_second));
    }

    /// The time of the person's first prompt in seconds since 1970.
    pub fn first(&self) -> Option<i64> {
        self.first
    }

    /// The newest prompts after a pause, oldest first.
    pub fn resumed(&self) -> impl DoubleEndedIterator<Item = ResumedAt> + ExactSizeIterator {
        self.resumed.iter().copied()
    }

    /// The time of the last message, in seconds since 1970.
    pub fn last_message(&self) -> Option<i64> {
        self.last_message
    }

    fn message(&mut self, at: Option<i64>) {
        self.has_begun = true;
        self.last_message = at.max(self.last_message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + second).unwrap()
    }

    fn pauses(of: &SessionStarts) -> Vec<i64> {
        of.resumed().map(|one| one.pause).collect()
    }

    #[test]
    fn a_prompt_after_a_pause_resumes() {
        let mut found = SessionStarts::default();
        found.record_prompt(at(0));
        found.record_answer(at(100));
        found.record_prompt(at(399));
        found.record_prompt(at(699));
        found.record_answer(at(700));
        found.record_prompt(at(5000));
        assert_eq!(found.first(), Some(1_780_000_000));
        assert_eq!(pauses(&found), [300, 4300]);
    }

    #[test]
    fn a_session_that_begins_with_a_summary_or_a_plan_was_not_begun_by_a_prompt() {
        let mut found = SessionStarts::default();
        found.record_continuation(None);
        found.record_prompt(at(10));
        assert_eq!((found.first(), pauses(&found)), (None, vec![]));
        found.record_prompt(at(2000));
        assert_eq!(pauses(&found), [1990]);
    }

    #[test]
    fn times_that_go_back_are_not_a_pause() {
        let mut found = SessionStarts::default();
        found.record_prompt(at(0));
        found.record_answer(at(5000));
        found.record_prompt(at(400));
        assert_eq!(pauses(&found), [] as [i64; 0]);
        found.record_prompt(at(5200));
        assert_eq!(
            pauses(&found),
            [] as [i64; 0],
            "the latest message counts, in whatever order they are written"
        );
    }

    #[test]
    fn the_newest_pauses_are_kept() {
        let mut found = SessionStarts::default();
        (0..100).for_each(|number| found.record_prompt(at(number * 1000)));
        assert_eq!(found.resumed().len(), KEPT);
        assert_eq!(found.resumed().last().map(|one| one.at), Some(1_780_099_000));
    }
}
