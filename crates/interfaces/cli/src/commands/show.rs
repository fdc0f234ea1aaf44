//! `show`: prints one session as a conversation.

use std::io::Write as _;

use app::Context;
use app::sessions::WorkDone;
use app::sessions::citation::split_line;
use app::sessions::show::{Conversation, Piece, Request, ShownMessage, show};

use crate::exit::Failure;
use crate::last_search;
use crate::output::{Output, is_read_by_a_person};
use crate::picker::{self, Purpose};
use crate::prose::Marks;
use crate::render::{Extract, Extracted, Html, Json, Look, Markdown, Renderer, Terminal};
use crate::text::safe;

/// Show one session as a conversation.
///
/// On a terminal with colours the Markdown of answers is rendered; in a pipe it stays as it was written. Without an id, choose a session on
/// the terminal.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// The id of a session or of an OpenClaw conversation, or a prefix of it; ID:LINE shows the messages around a line,
    /// as `search` cites it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID[:LINE]")]
    id: Option<String>,
    /// Show only messages that contain all of these words, each with its place, which `show` opens.
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
    /// Also show what was changed in files, as a diff at each place; `backstory diff` prints one patch of all changes.
    #[arg(long, conflicts_with_all = ["prompts", "code", "commands"])]
    diff: bool,
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
    /// Show only the last turn: your last prompt and all that followed; with N, the last N messages.
    #[arg(long, value_name = "N", num_args = 0..=1, value_parser = messages, conflicts_with_all = ["around", "before", "after", "subagents", "all"])]
    #[expect(clippy::option_option, reason = "the flag may be there without a number")]
    last: Option<Option<usize>>,
    /// Mark these words; for the picker, which knows what was asked.
    #[arg(long, value_name = "WORDS", hide = true)]
    mark: Option<String>,
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
    let (named, mark) = match &args.id {
        Some(id) => (last_search::place(context, id)?.into_owned(), args.mark.clone()),
        None => match picker::session(context, Purpose::Read)? {
            Some(choice) => (choice.place(), Some(choice.question)),
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
        diff: args.diff,
        last: args.last.flatten(),
        last_turn: args.last == Some(None),
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
            let look = Look {
                width: out.width(),
                is_rendered: out.is_coloured(),
                cited: line,
                marks: marks(context, args, mark.as_deref(), &named),
                has_places: !args.words.is_empty(),
                has_whole_edits: args.diff,
            };
            // Of a long transcript only the end is read for its last messages.
            let is_end_only = matches!(args.last, Some(Some(_))) && !args.diff;
            let work = if is_end_only { WorkDone::default() } else { conversation.work_done() };
            let look = Terminal::new(context.zone(), look, work);
            write(&conversation, &args.words, look, out)
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

/// The words that are marked: those that messages are chosen by, else those that were searched for.
fn marks(context: &Context, args: &Args, question: Option<&str>, place: &str) -> Marks {
    let (session, line) = split_line(place);
    match (question, line) {
        _ if !args.words.is_empty() => Marks::within(&args.words),
        (Some(question), _) => Marks::of_question(question),
        (None, Some(line)) => Marks::of_question(&last_search::words(context, session, line).join(" ")),
        (None, None) => Marks::default(),
    }
}

/// Parses a number of messages.
fn messages(text: &str) -> Result<usize, String> {
    let not_a_number = |_| "not a number of messages; a session is named before `--last`".to_owned();
    text.parse::<usize>().map_err(not_a_number).and_then(|_| super::at_least_one(text))
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
    let mut is_found = words.is_empty();
    let left_out = conversation.each(|message| -> Result<(), Failure> {
        if let Some(session) = head.take() {
            look.begin(&mut out, session)?;
        }
        if contains(&message, &words) {
            is_found = true;
            look.message(&mut out, &message)?;
        }
        Ok(())
    })?;
    if let Some(session) = head {
        look.begin(&mut out, session)?;
    }
    look.end(&mut out, left_out)?;
    out.finish()?;
    if !is_found {
        writeln!(anstream::stderr().lock(), "no message has all of these words: {}", safe(&words.join(" ")))?;
    }
    Ok(())
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
