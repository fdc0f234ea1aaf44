//! `answer_worker`: answers a worker's request, where the person allows models to.

use app::workers::answer::{Request, answer};
use app::workers::list::WorkerInfo;

use crate::tool::{Effect, Tool};

/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) fn tool() -> Tool {
    Tool::new(
        "answer_worker",
        "Answer a worker's request",
        DESCRIPTION,
        |context, request: &Request| -> Result<WorkerInfo, _> {
            answer(context, request)?;
            app::workers::find(context, &request.worker)
        },
    )
    .effect(Effect::Ends)
    .quoting()
    .max_text(LONGEST)
}

const DESCRIPTION: &str = "Answers a worker's permission request or question in the person's place; list_workers shows the requests. Allow only \
what the person would allow; otherwise deny with a reason.\n\
Example: {\"worker\": 3, \"request\": \"toolu_01\", \"reply\": {\"behavior\": \"deny\", \"message\": \"Work on a branch instead.\"}}";
