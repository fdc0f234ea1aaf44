//! `answer`: what a worker asks gets its answer, from anywhere.

use std::collections::BTreeMap;

use app::workers::{PermissionReply, answer};
use app::{Context, Error, Kind};

use super::resume::line;
use crate::exit::Failure;

/// Answer what a worker asks; `workers` shows what that is.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number, or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
    /// The request's id.
    #[arg(value_name = "REQUEST")]
    request: String,
    /// The answer.
    #[arg(value_name = "ANSWER", value_enum)]
    answer: Answer,
    /// Allow it from now on, by the rule that Claude Code suggests.
    #[arg(long)]
    always: bool,
    /// What the tool is used with instead, as JSON.
    #[arg(long, value_name = "JSON", conflicts_with = "always")]
    input: Option<String>,
    /// What Claude is told with a no.
    #[arg(long, value_name = "TEXT", default_value = "")]
    message: String,
    /// End the turn with a no.
    #[arg(long)]
    interrupt: bool,
    /// The answer to a question of Claude's; may be repeated.
    #[arg(long = "say", value_name = "QUESTION=ANSWER")]
    says: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Answer {
    /// Yes.
    Allow,
    /// No.
    Deny,
}

/// Answers.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    answer(context, &args.worker, &args.request, reply(args)?)?;
    line("answered")
}

fn reply(args: &Args) -> Result<PermissionReply, Error> {
    if args.answer == Answer::Deny {
        return Ok(PermissionReply::Deny { message: args.message.clone(), interrupt: args.interrupt });
    }
    if !args.says.is_empty() {
        let pair = |text: &String| {
            // A question may hold the sign itself: the answer stands behind the last one.
            let pair = text.rsplit_once('=').map(|(name, answer)| (name.to_owned(), answer.to_owned()));
            pair.ok_or_else(|| Error::new(Kind::Usage, format!("--say takes QUESTION=ANSWER, not `{text}`")))
        };
        let answers: Result<BTreeMap<_, _>, _> = args.says.iter().map(pair).collect();
        return Ok(PermissionReply::Answers { answers: answers? });
    }
    let input = args.input.as_deref().map(serde_json::from_str).transpose();
    let input = input.map_err(|error| Error::caused(Kind::Usage, "--input is no JSON", &error))?;
    Ok(PermissionReply::Allow { input, always: args.always })
}
