//! The worker that is meant where none is named: the only one that can be, or the one that the person chooses.

use std::io::Write as _;

use app::workers::WorkerInfo;
use app::workers::list::{Request, list};
use app::{Context, Error, Kind, NextStep};

use crate::ask;
use crate::exit::Failure;
use crate::text::{fit, safe};

/// The widest task in a question.
const TASK: usize = 60;

/// What is to be done with a worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct WorkerAction {
    /// It, as the end of a question: `answer`.
    pub(super) verb: &'static str,
    /// What is said where no worker can be meant.
    pub(super) none: &'static str,
    /// Whether a worker can be meant.
    pub(super) is_for: fn(&WorkerInfo) -> bool,
    /// Whether the person is asked even where only one can be meant.
    pub(super) asks: bool,
}

/// The number or session that was given, else the worker that is meant.
pub(super) fn meant(context: &Context, given: Option<&str>, action: WorkerAction) -> Result<String, Failure> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let all = list(context, &Request { active: true, ..Request::default() })?.workers;
    let workers: Vec<WorkerInfo> = all.into_iter().filter(action.is_for).collect();
    match workers.as_slice() {
        [] => Err(Error::new(Kind::NotFound, action.none).next(NextStep::ListWorkers).into()),
        [only] if !action.asks => Ok(only.worker.to_string()),
        several if ask::is_possible() => chosen(several, action),
        several => {
            let numbers: Vec<String> = several.iter().map(|worker| worker.worker.to_string()).collect();
            let message = format!("no worker is named; to {} there are: {}", action.verb, numbers.join(", "));
            Err(Error::new(Kind::Usage, message).next(NextStep::ListWorkers).into())
        }
    }
}

fn chosen(workers: &[WorkerInfo], action: WorkerAction) -> Result<String, Failure> {
    let mut out = anstream::stderr().lock();
    for worker in workers {
        let task = fit(&safe(&worker.task), TASK);
        writeln!(out, "{:>4}  {}  {task}", worker.worker, worker.state.as_str().replace('_', " "))?;
    }
    drop(out);
    let typed = ask::line(&format!("Which one to {}? ", action.verb))?;
    let is_it = |worker: &&WorkerInfo| worker.worker.to_string() == typed;
    workers.iter().find(is_it).map(|worker| worker.worker.to_string()).ok_or(Failure::Left)
}
