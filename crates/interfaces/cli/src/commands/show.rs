//! `show`: prints one session as a conversation.

use std::io::Write as _;

use app::sessions::WorkDone;
use app::sessions::citation::split_line;
use app::sessions::lookup::{SessionRef, looks_like_id};
use app::sessions::show::{Conversation, Piece, Request, ShownMessage, show};
use app::workers::WorkerState;
use app::workers::list as workers;
use app::{Context, Kind};
use model::Session;

use super::{answer, resume};
use crate::exit::Failure;
use crate::last_search;
use crate::output::{Output, is_read_by_a_person, say_aside};
use crate::picker::{self, Purpose};
use crate::prose::Marks;
use crate::render::{Extract, Extracted, Html, Json, Look, Markdown, Only, Renderer, Terminal};
use crate::terminal;
use crate::text::safe;

/// Show one session as a conversation.
///
/// On a terminal with colours the Markdown of answers is rendered; in a pipe it stays as it was written. Without an id, choose a session on
/// the terminal.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// The id of a session or of an OpenClaw conversation, or a prefix of it; ID:LINE shows the messages around a line,
    /// as `search` cites it; @2 is the second hit of the last search on this terminal. Or words that were said in it.
    #[arg(value_name = "ID[:LINE]")]
    id: Option<String>,
    /// Show only messages that contain all of these words, each with its place, which `show` opens.
    #[arg(value_name = "WORDS", conflicts_with = "last")]
    words: Vec<String>,
    /// Print only what you asked.
    #[arg(long, conflicts_with = "export")]
    prompts: bool,
    /// Print only the blocks of code in the answers.
    #[arg(long, conflicts_with_all = ["export", "json", "prompts"])]
    code: bool,
    /// Print only the shell commands that were run.
    #[arg(long, conflicts_with_all = ["export", "prompts", "code"])]
    commands: bool,
    /// Also show what tools did.
    #[arg(long)]
    tools: bool,
    /// Also show what was changed in files, as a diff at each place; `backstory diff` prints one patch of all changes.
    #[arg(long, conflicts_with_all = ["prompts", "code", "commands"])]
    diff: bool,
    /// Also show thinking.
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
    /// Wait for a key at the end where no pager did; for the screens that open a conversation and come back.
    #[arg(long, hide = true)]
    wait: bool,
    /// Open the pager at the end; for the screen that follows sessions.
    #[arg(long, hide = true)]
    at_end: bool,
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
    let mut wanted = wanted(context, args)?;
    let conversation = match show(context, request(args, &wanted.named)) {
        // A program that names a session wrongly gets an error.
        Err(error) if error.kind == Kind::NotFound && wanted.may_be_words && args.format().is_none() => {
            let meant = of_words(context, args)?;
            wanted = meant;
            show(context, request(args, &wanted.named))?
        }
        shown => shown?,
    };
    let Wanted { named, mark, words, .. } = wanted;
    let (_, line) = split_line(&named);
    let format = args.format();
    if let Some(what) = args.extracted() {
        if args.json {
            return write(&conversation, words, Only::new(what, Json::default()), Output::plain());
        }
        let out = super::paged(context);
        let for_person = is_read_by_a_person().then(|| (context.zone(), out.width()));
        return write(&conversation, words, Extract::new(what, for_person), out);
    }
    match format {
        Some(Format::Md) => write(&conversation, words, Markdown::default(), Output::plain()),
        Some(Format::Html) => write(&conversation, words, Html::default(), Output::plain()),
        Some(Format::Json) => write(&conversation, words, Json::default(), Output::plain()),
        None => {
            let mut out = super::paged(context);
            if line.is_some() {
                out.await_place();
            } else if args.at_end {
                out.open_at_end();
            }
            let look = Look {
                width: out.width(),
                is_rendered: out.is_coloured(),
                cited: line,
                marks: marks(context, words, mark.as_deref(), &named),
                has_places: !words.is_empty(),
                has_whole_edits: args.diff,
            };
            // Of a long transcript only the end is read for its last messages.
            let is_end_only = matches!(args.last, Some(Some(_))) && !args.diff;
            let work = if is_end_only { WorkDone::default() } else { conversation.work_done() };
            let look = Terminal::new(context.zone(), look, work);
            let is_end_shown =
                line.is_none() && args.before.is_none() && args.around.is_none() && words.is_empty();
            let asked = if is_end_shown { asked_now(context, &conversation.session) } else { Vec::new() };
            let is_read = write_with_questions(&conversation, words, look, out, (line, &asked))?;
            if args.wait && !is_read {
                terminal::wait_to_go_back()?;
            }
            Ok(())
        }
    }
}

/// What is shown.
struct Wanted<'a> {
    /// The session, and a line of it, as `ID:LINE`.
    named: String,
    /// Whether it may be the first of words that were said in the session.
    may_be_words: bool,
    /// The question that it was found by.
    mark: Option<String>,
    /// The words that messages are chosen by.
    words: &'a [String],
}

/// The session that the arguments name, the last one, or the one that is chosen.
fn wanted<'a>(context: &Context, args: &'a Args) -> Result<Wanted<'a>, Failure> {
    let (may_be_words, words) = (false, args.words.as_slice());
    if let Some(id) = &args.id {
        let named = last_search::place(context, id)?.into_owned();
        let may_be_words = !looks_like_id(split_line(&named).0);
        return Ok(Wanted { named, may_be_words, mark: args.mark.clone(), words });
    }
    if args.last.is_some() {
        let named = resume::last(context)?.to_string();
        return Ok(Wanted { named, may_be_words, mark: args.mark.clone(), words });
    }
    let choice = picker::session(context, Purpose::Read, "")?;
    Ok(Wanted { named: choice.place(), may_be_words, mark: Some(choice.question), words })
}

/// The session in which the words were said that were given in place of an id.
fn of_words<'a>(context: &Context, args: &'a Args) -> Result<Wanted<'a>, Failure> {
    let question = args.id.iter().chain(&args.words).cloned().collect::<Vec<_>>().join(" ");
    let session = resume::meant(context, &SessionRef::Named(question.clone()), Purpose::Read)?;
    Ok(Wanted { named: session.id.to_string(), may_be_words: false, mark: Some(question), words: &[] })
}

fn request(args: &Args, named: &str) -> Request {
    let (session, line) = split_line(named);
    Request {
        session: session.to_owned(),
        tools: args.tools || args.commands,
        tool_names: args.format().is_none(),
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
    }
}

impl Args {
    /// The document that is printed in place of what a person reads.
    fn format(&self) -> Option<Format> {
        self.export.or(self.json.then_some(Format::Json))
    }

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
fn marks(context: &Context, words: &[String], question: Option<&str>, place: &str) -> Marks {
    let (session, line) = split_line(place);
    match (question, line) {
        _ if !words.is_empty() => Marks::within(words),
        (Some(question), _) => Marks::of_question(question),
        (None, Some(line)) => Marks::of_question(&last_search::words(context, session, line).join(" ")),
        (None, None) => Marks::default(),
    }
}

/// Parses a number of messages.
fn messages(text: &str) -> Result<usize, String> {
    let not_a_number = |_| "not a number of messages; put the session before `--last`".to_owned();
    text.parse::<usize>().map_err(not_a_number).and_then(|_| super::at_least_one(text))
}

fn write(
    conversation: &Conversation,
    words: &[String],
    look: impl Renderer,
    out: Output,
) -> Result<(), Failure> {
    write_with_questions(conversation, words, look, out, (None, &[])).map(drop)
}

/// What the session asks its person now, with the command that answers, one text for each question.
fn asked_now(context: &Context, session: &Session) -> Vec<String> {
    let Some(activity) = session.activity.as_ref().filter(|activity| activity.is_blocked()) else {
        return Vec::new();
    };
    let workers = workers::list(context, &workers::Request { active: true, ..workers::Request::default() });
    let workers = workers.map(|answer| answer.workers).unwrap_or_default();
    let asking = workers.iter().find_map(|worker| match &worker.state {
        WorkerState::WaitingPermission { requests } if worker.session_id == session.id => {
            Some((worker.worker, requests))
        }
        _ => None,
    });
    if let Some((number, requests)) = asking {
        return requests.iter().map(|request| answer::all_of(number, request, requests.len() == 1)).collect();
    }
    let asked = activity.asking.as_deref().or(activity.detail.as_deref()).unwrap_or("something");
    vec![format!("It waits for you in its own terminal: {}", safe(asked))]
}

/// Writes a conversation, opened at the cited line, and what it asks now; returns whether a person left a pager that showed it.
fn write_with_questions(
    conversation: &Conversation,
    words: &[String],
    mut look: impl Renderer,
    mut out: Output,
    (cited, asked): (Option<u64>, &[String]),
) -> Result<bool, Failure> {
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
            if cited.is_some_and(|cited| message.line.is_some_and(|line| line >= cited)) {
                out.open_here();
            }
            look.message(&mut out, &message)?;
        }
        Ok(())
    })?;
    if let Some(session) = head {
        look.begin(&mut out, session)?;
    }
    look.end(&mut out, left_out)?;
    for question in asked {
        writeln!(out, "\n{question}")?;
    }
    let is_read = out.finish_for_reader()?;
    if left_out.too_long_lines > 0 {
        say_aside(&super::too_long(left_out.too_long_lines));
    }
    if !is_found {
        writeln!(anstream::stderr().lock(), "no message has all of these words: {}", safe(&words.join(" ")))?;
    }
    Ok(is_read)
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
