//! `stop_worker`: ends a worker.

use app::workers::stop::stop;

use crate::tool::{Effect, Tool};

/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) fn tool() -> Tool {
    Tool::new("stop_worker", "Stop a worker", DESCRIPTION, stop)
        .effect(Effect::Ends)
        .quoting()
        .max_text(LONGEST)
}

const DESCRIPTION: &str = "Ends a worker and everything it started; a queued one is cancelled, a running one interrupted. Its session is kept and \
can be continued.\n\
Example: {\"worker\": 3}";
