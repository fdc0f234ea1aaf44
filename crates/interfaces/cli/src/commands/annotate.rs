//! `name`, `tag`, `note`, `pin` and `hide`: the person's own annotations of sessions.

use std::io::Write as _;

use anstyle::Style;
use app::Context;
use app::sessions::annotate::{AnnotatedSession, Answer, Request, annotate, tags};
use unicode_width::UnicodeWidthStr as _;

use crate::ask;
use crate::exit::Failure;
use crate::last_search;
use crate::output::Output;
use crate::picker::{self, Purpose};
use crate::text::{count, safe, safe_lines};
use crate::wrap::hanging;

/// Give a session a name, in place of its title.
#[derive(Debug, clap::Args)]
pub(crate) struct NameArgs {
    /// The session's id or a prefix of it; @2 is the second hit of the last search on this terminal. Without one, choose a session
    /// and type its name.
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// The new name; without one, the current name is printed.
    #[arg(value_name = "NAME", conflicts_with = "clear")]
    name: Vec<String>,
    /// Remove the name, so that the title is shown again.
    #[arg(long)]
    clear: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Tag a session; list the tags without an id.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A tag is one word; upper and lower case do not differ.

  backstory tag 1ba1de03 release auth      add two tags
  backstory tag 1ba1de03 --remove auth     remove one
  backstory list --tag release             list what has it
  backstory search tag:release timeout     search in what has it")]
pub(crate) struct TagArgs {
    /// The session's id or a prefix of it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// Tags to add; without any, its tags are printed.
    #[arg(value_name = "TAG")]
    tags: Vec<String>,
    /// A tag to remove; may be repeated.
    #[arg(long, value_name = "TAG", requires = "session")]
    remove: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Write a note on a session.
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArgs {
    /// The session's id or a prefix of it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID")]
    session: String,
    /// The new note; without one, the current note is printed.
    #[arg(value_name = "TEXT", conflicts_with = "clear")]
    text: Vec<String>,
    /// Remove the note.
    #[arg(long)]
    clear: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Pin sessions: list them before others.
#[derive(Debug, clap::Args)]
pub(crate) struct PinArgs {
    #[command(flatten)]
    switch: Switch,
}

/// Hide sessions: `list --hidden` lists them, and `search is:hidden` finds them.
#[derive(Debug, clap::Args)]
pub(crate) struct HideArgs {
    #[command(flatten)]
    switch: Switch,
}

#[derive(Debug, clap::Args)]
struct Switch {
    /// The sessions, each by its id or a prefix of it; @2 is the second hit of the last search on this terminal.
    #[arg(value_name = "ID", required = true)]
    sessions: Vec<String>,
    /// Undo it: unpin or show them again.
    #[arg(long)]
    undo: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Names a session.
pub(crate) fn name(context: &Context, args: &NameArgs) -> Result<(), Failure> {
    let (session, name) = if let Some(session) = &args.session {
        (session.clone(), text(&args.name, args.clear))
    } else {
        let session = picker::session(context, Purpose::Take("name"), "")?.session.to_string();
        let typed = if args.clear { String::new() } else { ask::line("Name: ")? };
        let words: Vec<String> = typed.split_whitespace().map(str::to_owned).collect();
        (session, text(&words, args.clear))
    };
    let request = Request { name, ..of(context, &session)? };
    answer(context, &request, args.json, |one| match &one.annotations.name {
        Some(name) => safe(name),
        None => format!("no name; its title is {}", title(one)),
    })
}

/// Tags a session or lists the tags.
pub(crate) fn tag(context: &Context, args: &TagArgs) -> Result<(), Failure> {
    let Some(session) = &args.session else { return list_tags(context, args.json) };
    let request =
        Request { add_tags: args.tags.clone(), remove_tags: args.remove.clone(), ..of(context, session)? };
    answer(context, &request, args.json, |one| match one.annotations.tags.as_slice() {
        [] => "no tags".to_owned(),
        tags => tags.iter().map(|tag| format!("#{}", safe(tag))).collect::<Vec<_>>().join(" "),
    })
}

/// Writes a note on a session.
pub(crate) fn note(context: &Context, args: &NoteArgs) -> Result<(), Failure> {
    let request = Request { note: text(&args.text, args.clear), ..of(context, &args.session)? };
    answer(context, &request, args.json, |one| match &one.annotations.note {
        Some(note) => safe_lines(note),
        None => "no note".to_owned(),
    })
}

/// Pins sessions.
pub(crate) fn pin(context: &Context, PinArgs { switch }: &PinArgs) -> Result<(), Failure> {
    let request = Request { pinned: Some(!switch.undo), ..switch.request(context)? };
    let done = if switch.undo { "no longer pinned" } else { "pinned" };
    answer(context, &request, switch.json, |_| done.to_owned())
}

/// Hides sessions.
pub(crate) fn hide(context: &Context, HideArgs { switch }: &HideArgs) -> Result<(), Failure> {
    let request = Request { hidden: Some(!switch.undo), ..switch.request(context)? };
    let done = if switch.undo { "no longer hidden" } else { "hidden; `backstory list --hidden` lists it" };
    answer(context, &request, switch.json, |_| done.to_owned())
}

impl Switch {
    fn request(&self, context: &Context) -> Result<Request, Failure> {
        let ids = self
            .sessions
            .iter()
            .map(|name| last_search::session(context, name).map(std::borrow::Cow::into_owned));
        Ok(Request { sessions: ids.collect::<Result<_, _>>()?, ..Request::default() })
    }
}

fn of(context: &Context, session: &str) -> Result<Request, Failure> {
    let session = last_search::session(context, session)?.into_owned();
    Ok(Request { sessions: vec![session], ..Request::default() })
}

/// The words as a text; an empty one removes what there is.
fn text(words: &[String], clear: bool) -> Option<String> {
    (clear || !words.is_empty()).then(|| words.join(" "))
}

fn answer(
    context: &Context,
    request: &Request,
    json: bool,
    line: impl Fn(&AnnotatedSession) -> String,
) -> Result<(), Failure> {
    let answer: Answer = annotate(context, request)?;
    if json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    let dim = Style::new().dimmed();
    for session in &answer.sessions {
        let id = session.session_id.short();
        let line = hanging(&line(session), out.terminal_width(), id.width() + 2, 2);
        writeln!(out, "{dim}{id}{dim:#}  {line}")?;
    }
    Ok(out.finish()?)
}

fn list_tags(context: &Context, json: bool) -> Result<(), Failure> {
    let answer = tags(context)?;
    if json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    if answer.tags.is_empty() {
        writeln!(out, "No tags yet. Add one: backstory tag <id> <tag>")?;
    }
    for known in &answer.tags {
        writeln!(out, "{:>5}  #{}", count(known.sessions), safe(&known.tag))?;
    }
    Ok(out.finish()?)
}

fn title(session: &AnnotatedSession) -> String {
    session.title.as_deref().map_or_else(|| "missing".to_owned(), |title| format!("\"{}\"", safe(title)))
}
