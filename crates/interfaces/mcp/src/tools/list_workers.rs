//! `list_workers`: lists workers.

use app::workers::list::{Answer, Request, list};
use rmcp::model::JsonObject;

use super::worker_requests;
use crate::tool::{Reply, Tool, value};
use crate::{arguments, schema};

/// The longest text of a worker's, in bytes.
const LONGEST: usize = 1_000;

pub(super) fn tool() -> Tool {
    let ask = |context: &app::Context, mut given: JsonObject| {
        // Workers that have ended are of little use to a model, unless it asks for them.
        let is_asked =
            ["active", "status"].iter().any(|name| given.get(*name).is_some_and(|value| !value.is_null()));
        if !is_asked {
            given.insert("active".to_owned(), true.into());
        }
        value(&list(context, &arguments::parse(given)?)?).map(Reply::Answer)
    };
    Tool::with_raw_arguments::<Request, Answer>("list_workers", "List workers", DESCRIPTION, ask)
        .input(input)
        .max_text(LONGEST)
        .paged("/workers", 10, 50)
        .shaped(|answer| worker_requests::add_commands(answer, "/workers"))
}

fn input() -> JsonObject {
    let mut schema = schema::input::<Request>();
    schema::set(&mut schema, "active", "default", true.into());
    schema
}

const DESCRIPTION: &str = "Lists Backstory's workers, newest first: status, task, directory, session and cost, and in `requests` what a worker \
with the status waiting_permission asks. Only the person can answer that, with the command in `person_runs`; `offers` says what else each answer \
would allow, and worker_log shows a long input whole. Workers that have ended \
are left out unless active is false or a status is given.\n\
Example: {\"project\": \"web\"}";
