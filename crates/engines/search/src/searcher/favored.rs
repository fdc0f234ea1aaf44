//! Sessions of the days that a question names. Who remembers a day may be wrong by one, so the others are only put behind.

use jiff::Timestamp;

use super::Searcher;
use crate::columns::NumberColumn;
use crate::ranked::Ranked;

/// What the score of a session is worth in which nothing was said at that time.
const AT_OTHER_TIMES: f32 = 0.5;

impl Searcher {
    /// Lowers the scores of sessions without a record between two times, where others have one.
    pub(super) fn favor(&self, (first, after): (Timestamp, Timestamp), ranked: &mut [Ranked<'_>]) {
        let second = |at: Timestamp| u64::try_from(at.as_second()).unwrap_or(0);
        let times = second(first).max(1)..second(after);
        let mut is_favored = vec![false; self.sessions.len()];
        let wanted = [NumberColumn::File, NumberColumn::Record, NumberColumn::Time];
        for (segment, columns) in self.text.segment_readers().iter().zip(&self.columns) {
            columns.each(segment, wanted, |_, [file, record, time]| {
                if times.contains(&time) {
                    self.sessions.holders(Some(file), || Some(record), |session| is_favored[session] = true);
                }
            });
        }
        if !ranked.iter().any(|ranked| is_favored[ranked.session]) {
            return;
        }
        for other in ranked.iter_mut().filter(|ranked| !is_favored[ranked.session]) {
            other.score *= AT_OTHER_TIMES;
            other.plain_score *= AT_OTHER_TIMES;
        }
    }
}
