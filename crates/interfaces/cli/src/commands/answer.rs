//! `answer`: answers a worker's permission request or question from another terminal.

use std::collections::BTreeMap;

use app::workers::PermissionReply;
use app::workers::answer::{Request, answer};
use app::{Context, Error, Kind};

use crate::exit::Failure;
use crate::output::print_line;

/// Answer a worker's permission request or question; `workers` lists them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The worker's number or its session's id.
    #[arg(value_name = "WORKER")]
    worker: String,
    /// The request's id.
    #[arg(value_name = "REQUEST")]
    request: String,
    /// The answer.
    #[arg(value_name = "ANSWER", value_enum)]
    answer: Answer,
    /// Allow it from now on, with the rule that Claude Code suggests.
    #[arg(long)]
    always: bool,
    /// Replace the tool's input with this JSON.
    #[arg(long, value_name = "JSON", conflicts_with = "always")]
    input: Option<String>,
    /// Tell Claude why it was denied.
    #[arg(long, value_name = "TEXT", default_value = "")]
    message: String,
    /// When denying, also end the turn.
    #[arg(long)]
    interrupt: bool,
    /// Answer one of Claude's questions; may be repeated.
    #[arg(long = "say", value_name = "QUESTION=ANSWER")]
    says: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Answer {
    /// Allow it.
    Allow,
    /// Deny it.
    Deny,
}

/// Sends the answer to the worker.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let (worker, request) = (args.worker.clone(), args.request.clone());
    answer(context, &Request { worker, request, reply: reply(args)? })?;
    Ok(print_line("answered")?)
}

fn reply(args: &Args) -> Result<PermissionReply, Error> {
    if args.answer == Answer::Deny {
        return Ok(PermissionReply::Deny { message: args.message.clone(), interrupt: args.interrupt });
    }
    if !args.says.is_empty() {
        let pair = |text: &String| {
            // A question may contain `=` itself, so the last one separates the answer.
            let pair = text.rsplit_once('=').map(|(name, answer)| (name.to_owned(), answer.to_owned()));
            pair.ok_or_else(|| Error::new(Kind::Usage, format!("--say takes QUESTION=ANSWER, not `{text}`")))
        };
        let answers: Result<BTreeMap<_, _>, _> = args.says.iter().map(pair).collect();
        return Ok(PermissionReply::Answers { answers: answers? });
    }
    let input = args.input.as_deref().map(serde_json::from_str).transpose();
    let input = input.map_err(|error| Error::caused(Kind::Usage, "--input is not valid JSON", &error))?;
    Ok(PermissionReply::Allow { input, always: args.always })
}
