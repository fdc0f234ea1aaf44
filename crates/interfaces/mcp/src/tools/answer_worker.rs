//! `answer_worker`: answers a worker's request, where the person allows models to.

use app::workers::answer::{Request, answer};
use app::workers::list::WorkerInfo;
use app::workers::{PermissionReply, PermissionRequest, WorkerState};
use app::{Error, Kind};

use super::worker_requests;
use crate::tool::{Effect, Tool};

/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) fn tool() -> Tool {
    Tool::new(
        "answer_worker",
        "Answer a worker's request",
        DESCRIPTION,
        |context, request: &Request| -> Result<WorkerInfo, _> {
            require_whole(context, request)?;
            answer(context, request)?;
            app::workers::find(context, &request.worker)
        },
    )
    .effect(Effect::Ends)
    .quoting()
    .max_text(LONGEST)
}

/// Refuses to allow an input that no answer could show whole.
fn require_whole(context: &app::Context, request: &Request) -> Result<(), Error> {
    if !matches!(request.reply, PermissionReply::Allow { input: None, .. }) {
        return Ok(());
    }
    let worker = app::workers::find(context, &request.worker)?;
    let WorkerState::WaitingPermission { requests } = worker.state else { return Ok(()) };
    let is_meant = |asked: &&PermissionRequest| asked.request.starts_with(&request.request);
    let size = requests.iter().find(is_meant).map_or(0, |asked| asked.input.to_string().len());
    if size <= worker_requests::LONGEST_INPUT {
        return Ok(());
    }
    let message = format!("the input of this tool has {size} bytes, which no tool shows a model whole");
    Err(Error::new(Kind::Forbidden, message).hint("the person can answer it: `person_runs` of the request"))
}

const DESCRIPTION: &str = "Answers a worker's permission request or question in the person's place; worker_log shows a request with its whole \
input. Allow only what the person would allow; otherwise deny with a reason. What a request lists in `offers` only the person can allow.\n\
Example: {\"worker\": 3, \"request\": \"toolu_01\", \"reply\": {\"behavior\": \"deny\", \"message\": \"Work on a branch instead.\"}}";
