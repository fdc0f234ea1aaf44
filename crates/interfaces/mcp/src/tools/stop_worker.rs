//! `stop_worker`: ends a worker.

use app::workers::stop::stop;

use crate::tool::{Effect, Tool};

/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) fn tool() -> Tool {
    Tool::new("stop_worker", "Stop a worker", DESCRIPTION, stop).effect(Effect::Ends).quoting().texts(LONGEST)
}

const DESCRIPTION: &str = "Ends a worker with everything it started: one that waits is cancelled, one that works is interrupted. Its session \
stays and can be continued. With remove_worktree its work tree is removed too, if nothing would be lost.\n\
Example: {\"worker\": 3}";
