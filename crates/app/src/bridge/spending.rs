//! What a worker's session has cost until now, also in the middle of a turn.

use jiff::Timestamp;
use workers::store::Worker;

use crate::workers::table::{open, unusable};
use crate::{Context, Error};

/// What a session has cost, and may cost, in US dollars.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spending {
    /// Over all its runs.
    pub(super) cost_usd: f64,
    /// The most it may cost; `None` for no limit.
    pub(super) budget_usd: Option<f64>,
}

impl Spending {
    /// Claude Code says what a turn has cost when that is over; until then the messages of the run are priced.
    pub(super) fn of(context: &Context, worker: &Worker) -> Result<Self, Error> {
        let settled = open(context)?.session_cost(&worker.session).map_err(unusable)?;
        let so_far = worker.stats.started.map_or(0.0, |since| estimate(context, worker, since));
        let of_run = worker.stats.cost_usd;
        Ok(Self { cost_usd: settled - of_run + of_run.max(so_far), budget_usd: worker.stats.budget_usd })
    }

    /// What is left of the budget; `None` without one.
    pub(super) fn remaining(self) -> Option<f64> {
        self.budget_usd.map(|budget| (budget - self.cost_usd).max(0.0))
    }
}

/// The price of the messages since the run began; those whose model has none count nothing.
fn estimate(context: &Context, worker: &Worker, since: Timestamp) -> f64 {
    let places = context.config().places();
    let folder = worker.spec.config_folder.as_deref().map(transcript::ConfigFolder::new);
    let folders = folder.iter().chain(&places.config_folders);
    let name = format!("{}.jsonl", worker.session);
    let file =
        folders.map(|folder| folder.project_folder(&worker.directory).join(&name)).find(|file| file.exists());
    let Some(file) = file else { return 0.0 };
    let messages = catalog::messages(&places, &worker.session, &file);
    let of_run =
        messages.iter().filter(|message| message.at.is_some_and(|at| at >= since) && !message.copied);
    let prices = &context.config().settings.prices;
    of_run.filter_map(|message| prices.price(&message.model, &message.usage, message.terms)).sum()
}
