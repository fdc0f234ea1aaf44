//! `show`: prints one session as a conversation.

use app::Context;
use app::sessions::show::{Conversation, Request, show};

use crate::exit::Failure;
use crate::output::Output;
use crate::render::{Html, Json, Markdown, Renderer, Terminal};

/// Show one session as a conversation.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// The id of a session or of an OpenClaw conversation, or a prefix of it.
    id: String,
    /// Also show what tools did.
    #[arg(long)]
    tools: bool,
    /// Also show what the model thought.
    #[arg(long)]
    thinking: bool,
    /// Also show what sub-agents said.
    #[arg(long)]
    subagents: bool,
    /// Also show abandoned branches of the conversation.
    #[arg(long)]
    all: bool,
    /// Show only the messages around this one.
    #[arg(long, value_name = "UUID")]
    around: Option<String>,
    /// Print a document in this format instead.
    #[arg(long, value_name = "FORMAT")]
    export: Option<Format>,
    /// Print JSON; the same as `--export json`.
    #[arg(long, conflicts_with = "export")]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    Md,
    Html,
    Json,
}

/// Prints a session.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request {
        session: args.id.clone(),
        tools: args.tools,
        thinking: args.thinking,
        subagents: args.subagents,
        all_branches: args.all,
        around: args.around.clone(),
    };
    let conversation = show(context, request)?;
    match args.export.or(args.json.then_some(Format::Json)) {
        Some(Format::Md) => write(&conversation, Markdown::default(), Output::plain()),
        Some(Format::Html) => write(&conversation, Html::default(), Output::plain()),
        Some(Format::Json) => write(&conversation, Json::default(), Output::plain()),
        None => write(&conversation, Terminal::new(context.zone()), super::paged(context)),
    }
}

fn write(conversation: &Conversation, mut look: impl Renderer, mut out: Output) -> Result<(), Failure> {
    look.begin(&mut out, &conversation.session)?;
    let left_out = conversation.each(|message| look.message(&mut out, &message).map_err(Failure::Output))?;
    look.end(&mut out, left_out)?;
    Ok(out.finish()?)
}
