//! `blame`: the sessions that wrote a file or a line, or made a commit.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::blame::{Answer, BlameSign, BlamedSession, Request, blame};
use app::{Context, quoted};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::progress::Followed;
use crate::text::{age_or_date, counted, fit, safe};
use crate::wrap::hanging;

/// Find the sessions that wrote a file or a line, or made a commit.
///
/// A line is found by its text in the sessions' edits and by the commit that `git blame` names.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file, a line of it, or a commit by its hash or name.
    #[arg(value_name = "FILE[:LINE] | COMMIT")]
    what: String,
    /// Show at most this many sessions [default: 10].
    #[arg(short = 'n', long, value_name = "N", value_parser = super::at_least_one)]
    limit: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the sessions.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let followed = Followed::new(context);
    let answer = blame(&followed, &Request { what: args.what.clone(), limit: args.limit })?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    let width = out.width();
    head(&mut out, width, context, &answer)?;
    if answer.sessions.is_empty() {
        let text = super::without_sessions(context)?.unwrap_or_else(|| nothing(&answer));
        out.sentence(&text)?;
    }
    if let Some(file) = answer.file.as_deref().filter(|_| answer.elsewhere > 0) {
        let count = counted(answer.elsewhere, "session");
        let file = quoted(file).unwrap_or_else(|| file.to_owned());
        out.sentence(&format!(
            "{count} of other repositories changed a file of this path: backstory list --file {}",
            safe(&file)
        ))?;
    }
    for session in &answer.sessions {
        one(&mut out, width, context, session)?;
    }
    let dim = Style::new().dimmed();
    for note in &answer.notes {
        writeln!(out, "{dim}{}{dim:#}", hanging(&safe(note), out.terminal_width(), 0, 2))?;
    }
    if answer.more > 0 {
        writeln!(out, "{dim}{} more; use --limit to show more{dim:#}", answer.more)?;
    }
    if let Some(first) = answer.sessions.first() {
        writeln!(out, "{dim}Read it: backstory show {}{dim:#}", place(first))?;
    }
    Ok(out.finish()?)
}

/// The line and its commit.
fn head(out: &mut impl Write, width: usize, context: &Context, answer: &Answer) -> io::Result<()> {
    let (bold, yellow, dim) = (Style::new().bold(), AnsiColor::Yellow.on_default(), Style::new().dimmed());
    if let (Some(file), Some(line), Some(text)) = (&answer.file, answer.line, &answer.text) {
        let place = format!("{}:{line}", safe(file));
        let room = width.saturating_sub(place.width() + 2);
        writeln!(out, "{bold}{place}{bold:#}  {}", fit(safe(text).trim(), room))?;
    }
    if let Some(commit) = &answer.commit {
        let short = commit.sha.get(..8).unwrap_or(&commit.sha);
        let facts = format!(
            "{}, {}",
            safe(&commit.author),
            age_or_date(context.now, commit.date, || context.zone()).trim()
        );
        let room = width.saturating_sub(short.len() + facts.width() + 4);
        writeln!(
            out,
            "{yellow}{short}{yellow:#}  {}  {dim}{facts}{dim:#}",
            fit(&safe(&commit.message), room)
        )?;
    }
    Ok(())
}

fn one(out: &mut impl Write, width: usize, context: &Context, session: &BlamedSession) -> io::Result<()> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let age = age_or_date(context.now, session.at, || context.zone());
    let place = place(session);
    let head = format!("{age:>6}  {place}  ");
    let title = safe(session.title.as_deref().unwrap_or("(no title)"));
    let title = fit(&title, width.saturating_sub(head.width()));
    writeln!(out, "{dim}{age:>6}{dim:#}  {place}  {bold}{title}{bold:#}")?;
    let prompt = session.prompt.as_deref().map_or_else(String::new, |prompt| format!(": {}", safe(prompt)));
    let done = fit(&format!("{}{prompt}", done(session)), width.saturating_sub(8));
    writeln!(out, "        {dim}{done}{dim:#}")
}

fn place(session: &BlamedSession) -> String {
    format!("{}:{}", session.session_id.short(), session.line)
}

fn done(session: &BlamedSession) -> String {
    match (session.sign, session.edits) {
        (BlameSign::WroteLine, _) => "wrote the line".to_owned(),
        (BlameSign::MadeCommit, _) => "made the commit".to_owned(),
        (BlameSign::ChangedFile, 1) => "changed the file".to_owned(),
        (BlameSign::ChangedFile, edits) => format!("changed the file {edits} times, last"),
    }
}

fn nothing(answer: &Answer) -> String {
    match (&answer.file, answer.line) {
        (Some(file), Some(line)) => format!("No session is known to have written {}:{line}.", safe(file)),
        (Some(file), None) => format!("No session changed {} with its tools.", safe(file)),
        (None, _) => "No session is known to have made this commit.".to_owned(),
    }
}
