//! `show`: prints one session as a conversation.

use app::Context;
use app::sessions::citation::split_line;
use app::sessions::show::{Conversation, Piece, Request, ShownMessage, show};

use crate::exit::Failure;
use crate::last_search;
use crate::output::{Output, is_read_by_a_person};
use crate::picker::{self, Purpose};
use crate::render::{Extract, Extracted, Html, Json, Markdown, Renderer, Terminal};

/// Show one session as a conversation.
///
/// Without an id, choose one on the terminal.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// The id of a session or of an OpenClaw conversation, or a prefix of it; ID:LINE shows the messages around a line,
    /// as `search` cites it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID[:LINE]")]
    id: Option<String>,
    /// Show only messages that contain all of these words.
    #[arg(value_name = "WORDS", conflicts_with = "last")]
    words: Vec<String>,
    /// Print only what you asked.
    #[arg(long, conflicts_with_all = ["export", "json"])]
    prompts: bool,
    /// Print only the blocks of code in the answers.
    #[arg(long, conflicts_with_all = ["export", "json", "prompts"])]
    code: bool,
    /// Print only the shell commands that were run.
    #[arg(long, conflicts_with_all = ["export", "json", "prompts", "code"])]
    commands: bool,
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
    #[arg(long, value_name = "UUID", conflicts_with = "last")]
    around: Option<String>,
    /// Show only the messages before this one.
    #[arg(long, value_name = "UUID", conflicts_with = "around")]
    before: Option<String>,
    /// Show only the messages after this one.
    #[arg(long, value_name = "UUID", conflicts_with = "around")]
    after: Option<String>,
    /// Show only so many messages, the last ones.
    #[arg(long, value_name = "N", value_parser = super::at_least_one, conflicts_with_all = ["around", "before", "after", "subagents", "all"])]
    last: Option<usize>,
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
    let named = match &args.id {
        Some(id) => last_search::place(context, id)?.into_owned(),
        None => match picker::session(context, Purpose::Read)? {
            Some(choice) => choice.place(),
            None => return Ok(()),
        },
    };
    let (session, line) = split_line(&named);
    let format = args.export.or(args.json.then_some(Format::Json));
    let request = Request {
        session: session.to_owned(),
        tools: args.tools || args.commands,
        tool_names: format.is_none(),
        thinking: args.thinking,
        subagents: args.subagents,
        all_branches: args.all,
        around: args.around.clone(),
        line,
        before: args.before.clone(),
        after: args.after.clone(),
        last: args.last,
    };
    let conversation = show(context, request)?;
    if let Some(what) = args.extracted() {
        let look = Extract::new(what, is_read_by_a_person());
        return write(&conversation, &args.words, look, super::paged(context));
    }
    match format {
        Some(Format::Md) => write(&conversation, &args.words, Markdown::default(), Output::plain()),
        Some(Format::Html) => write(&conversation, &args.words, Html::default(), Output::plain()),
        Some(Format::Json) => write(&conversation, &args.words, Json::default(), Output::plain()),
        None => {
            let out = super::paged(context);
            write(&conversation, &args.words, Terminal::new(context.zone(), out.width(), line), out)
        }
    }
}

impl Args {
    /// What alone is printed.
    fn extracted(&self) -> Option<Extracted> {
        let kinds = [
            (self.prompts, Extracted::Prompts),
            (self.code, Extracted::Code),
            (self.commands, Extracted::Commands),
        ];
        kinds.into_iter().find_map(|(is_wanted, kind)| is_wanted.then_some(kind))
    }
}

fn write(
    conversation: &Conversation,
    words: &[String],
    mut look: impl Renderer,
    mut out: Output,
) -> Result<(), Failure> {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    // What fails before the first message prints nothing.
    let mut head = Some(&conversation.session);
    let left_out = conversation.each(|message| -> Result<(), Failure> {
        if let Some(session) = head.take() {
            look.begin(&mut out, session)?;
        }
        if contains(&message, &words) {
            look.message(&mut out, &message)?;
        }
        Ok(())
    })?;
    if let Some(session) = head {
        look.begin(&mut out, session)?;
    }
    look.end(&mut out, left_out)?;
    Ok(out.finish()?)
}

/// Whether a message contains all words, which are in small letters.
fn contains(message: &ShownMessage, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let text = |piece: &Piece| match piece {
        Piece::Text { text } | Piece::Thinking { text } | Piece::ToolResult { text, .. } => {
            text.to_lowercase()
        }
        Piece::ToolUse { input, .. } => input.to_lowercase(),
        Piece::Image => String::new(),
    };
    let text: Vec<String> = message.parts.iter().map(text).collect();
    words.iter().all(|word| text.iter().any(|text| text.contains(word.as_str())))
}
