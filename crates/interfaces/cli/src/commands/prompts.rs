//! `prompts`: everything the person ever asked, one line each.

use std::io::{self, BufWriter, Write};

use anstyle::Style;
use app::sessions::prompts::{Answer, AskedPrompt, Request, prompts};
use app::{Context, Moment};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::output::{is_read_by_a_person, say_aside};
use crate::progress::Followed;
use crate::text::{age_or_date, fit, safe};

/// How many prompts are listed on a terminal without `--limit`.
const TERMINAL_LIMIT: usize = 200;

/// The longest line in a pipe, in cells: a pasted log is no line of a list.
const PIPED: usize = 400;

/// List everything you ever asked, newest first, each prompt once.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A prompt that was asked several times is listed where it was asked last. The place is for `show`.

  backstory prompts -0 | fzf --read0 | xclip   choose one and copy it, line breaks included")]
pub(crate) struct Args {
    /// Only prompts that contain all of these words.
    words: Vec<String>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only what was asked since then: 2026-01-31, yesterday, 'last week', 36h, 2d.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only what was asked before this time, or on this day or earlier.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// Show at most this many prompts [default: 200 on a terminal, otherwise all].
    #[arg(short = 'n', long, value_name = "N", value_parser = super::at_least_one)]
    limit: Option<usize>,
    /// Print the whole text of each prompt and nothing else, with a zero byte after it.
    #[arg(short = '0', long, conflicts_with = "json")]
    null: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what was asked.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let for_a_person = !args.json && !args.null && is_read_by_a_person();
    let request = Request {
        words: args.words.clone(),
        project: args.project.clone(),
        since: args.since.clone(),
        until: args.until.clone(),
        limit: args.limit.or(for_a_person.then_some(TERMINAL_LIMIT)),
    };
    let followed = Followed::new(context);
    let answer = prompts(&followed, &request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    if args.null {
        null_separated(&answer)?;
        say_notes(&answer);
        return Ok(());
    }
    let mut out = super::paged(context);
    let width = if for_a_person { out.width() } else { PIPED };
    if answer.prompts.is_empty() {
        writeln!(out, "{}", nothing(args, answer.known))?;
    } else {
        list(&mut out, context, width, &answer)?;
    }
    out.finish()?;
    say_notes(&answer);
    Ok(())
}

/// Says what else there is to know: in a pipe every line is a prompt.
fn say_notes(answer: &Answer) {
    answer.notes.iter().for_each(|note| say_aside(&safe(note)));
}

/// What is said where no prompt is listed.
fn nothing(args: &Args, known: usize) -> String {
    let is_narrowed = args.project.is_some() || args.since.is_some() || args.until.is_some();
    match known {
        0 if is_narrowed => {
            "No prompt was asked in that project or time; without the filters all are listed.".to_owned()
        }
        0 => "No prompts yet; `backstory list` says where sessions are looked for.".to_owned(),
        known if is_narrowed => format!("No prompt matches; the filters leave {known}."),
        known => format!("No prompt matches; there are {known} in all."),
    }
}

fn null_separated(answer: &Answer) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for prompt in &answer.prompts {
        out.write_all(crate::text::safe_lines(&prompt.text).as_bytes())?;
        out.write_all(b"\0")?;
    }
    out.flush()
}

fn list(out: &mut impl Write, context: &Context, width: usize, answer: &Answer) -> io::Result<()> {
    let dim = Style::new().dimmed();
    let places: Vec<String> = answer.prompts.iter().map(place).collect();
    let widest = places.iter().map(|place| place.width()).max().unwrap_or_default();
    // In a pipe every line is a prompt.
    if width != PIPED {
        writeln!(out, "{dim}{:>6}  {:<widest$}  PROMPT{dim:#}", "AGE", "PLACE")?;
    }
    for (prompt, place) in answer.prompts.iter().zip(&places) {
        let age = age_or_date(context.now, prompt.at, || context.zone());
        let times = if prompt.times > 1 { format!("  ×{}", prompt.times) } else { String::new() };
        let room = width.saturating_sub(6 + 2 + widest + 2 + times.width());
        let text = fit(&safe(&prompt.text).split_whitespace().collect::<Vec<_>>().join(" "), room);
        writeln!(out, "{dim}{age:>6}{dim:#}  {place:<widest$}  {text}{dim}{times}{dim:#}")?;
    }
    if answer.more > 0 {
        writeln!(out, "{dim}{} more; use --limit to show more{dim:#}", answer.more)?;
    }
    Ok(())
}

fn place(prompt: &AskedPrompt) -> String {
    format!("{}:{}", prompt.session_id.short(), prompt.line)
}
