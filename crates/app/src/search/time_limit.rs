//! How long a search may bring the index up to date before it answers from what is indexed.

use std::time::{Duration, Instant};

use ::search::IndexProgress;

use crate::search::is_first;
use crate::{Context, Progress};

/// Decides whether indexing continues: until its time is over, or the caller wants the answer.
#[derive(Debug)]
pub(crate) struct TimeLimit<'a> {
    context: &'a Context,
    began: Instant,
    limit: Option<Duration>,
}

impl<'a> TimeLimit<'a> {
    /// The limit of a search, from the settings; none where a person watches the first indexing.
    pub(crate) fn of_search(context: &'a Context) -> Self {
        let settings = &context.config().settings.search;
        let limit = match is_first(context) {
            true if context.progress.is_watched() => None,
            true => Some(settings.first_budget_seconds),
            false => Some(settings.budget_seconds),
        };
        Self { context, began: Instant::now(), limit: limit.map(Duration::from_secs) }
    }

    /// No limit: indexing is all that was asked for.
    pub(crate) fn none(context: &'a Context) -> Self {
        Self { context, began: Instant::now(), limit: None }
    }

    /// Reports the progress and returns whether to continue.
    pub(crate) fn should_continue(&self, progress: &IndexProgress) -> bool {
        self.context.report(Progress::from(progress));
        !self.context.cancellation.is_hurried() && self.limit.is_none_or(|limit| self.began.elapsed() < limit)
    }
}
