//! `diff`: what a session changed, as a patch.

use std::io::{self, BufWriter, Write};

use anstyle::{AnsiColor, Style};
use app::Context;
use app::sessions::diff::{Answer, DiffFile, FileTurn, Request, diff};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::last_search;
use crate::output::is_read_by_a_person;
use crate::picker::{self, Purpose};
use crate::progress::Followed;
use crate::text::{counted, fit, fit_end, safe, safe_lines};

/// The longest bar of `--stat`, in cells.
const BAR: usize = 40;

/// The longest line that names the session, in cells.
const TITLE: usize = 78;

/// Show everything a session changed in files, as a patch.
///
/// `git apply` takes it. Each file has one patch, from its content before the session's first change to that after its last; sub-agents'
/// changes are included. Without an id, choose a session on the terminal.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Lines that begin with `#` name the turns and cite their places; git ignores them.
What shell commands changed is not recorded. What others changed in between is left out where that is possible.

  backstory diff 1ba1de03 | git apply          make the same changes again
  backstory diff 1ba1de03 | git apply -R       take them back")]
pub(crate) struct Args {
    /// The session's id, or a prefix of it; @2 is the second hit of the last search on this terminal.
    id: Option<String>,
    /// List the files with the lines that were added and removed.
    #[arg(long)]
    stat: bool,
    /// Only changes of this file: its path, or the end of it.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Only changes of this turn; `--stat` shows the turns.
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    turn: Option<usize>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints what a session changed.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let session = match &args.id {
        Some(id) => last_search::session(context, id)?.into_owned(),
        None => picker::session(context, Purpose::Read, "")?.session.to_string(),
    };
    let followed = Followed::new(context);
    let request = Request { session, file: args.file.clone(), turn: args.turn };
    let answer = diff(&followed, &request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    if args.stat || answer.files.is_empty() {
        let mut out = super::paged(context);
        let width = out.width();
        if answer.files.is_empty() {
            out.sentence(&nothing(&answer, args.turn))?;
        }
        stat(&mut out, width, &answer)?;
        return Ok(out.finish()?);
    }
    if is_read_by_a_person() {
        let mut out = super::paged(context);
        patches(&mut out, &answer, args.file.is_some(), Look::Coloured)?;
        return Ok(out.finish()?);
    }
    // Every byte counts for `git apply`.
    let mut out = BufWriter::new(io::stdout().lock());
    patches(&mut out, &answer, args.file.is_some(), Look::Exact)?;
    Ok(out.flush()?)
}

/// How a patch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// For a terminal, which nothing in it controls.
    Coloured,
    /// Byte for byte.
    Exact,
}

fn patches(out: &mut dyn Write, answer: &Answer, is_named: bool, look: Look) -> io::Result<()> {
    let title = answer.title.as_deref().unwrap_or_default();
    comment(out, look, &fit(&format!("session {}  {title}", answer.session_id), TITLE))?;
    let (inside, outside): (Vec<_>, Vec<_>) =
        answer.files.iter().partition(|file| is_named || !file.is_outside);
    for file in inside {
        let is_same = file.patch.is_empty() && file.fragments.is_empty() && !file.is_redacted;
        let end = if is_same { "; in the end nothing differs" } else { "" };
        comment(out, look, &format!("{}: {}{end}", file.path, turns(answer, file)))?;
        for line in file.patch.split_inclusive('\n') {
            match look {
                Look::Exact => out.write_all(line.as_bytes())?,
                Look::Coloured => coloured(out, line)?,
            }
        }
        fragments(out, look, file)?;
    }
    for note in notes(answer, &outside) {
        comment(out, look, &note)?;
    }
    Ok(())
}

/// Changes that no patch can hold, as comments.
fn fragments(out: &mut dyn Write, look: Look, file: &DiffFile) -> io::Result<()> {
    if file.fragments.is_empty() {
        return Ok(());
    }
    comment(out, look, &format!("{}: changed too, at a place that is not recorded:", file.path))?;
    file.fragments.iter().flat_map(|fragment| fragment.lines()).try_for_each(|line| comment(out, look, line))
}

fn comment(out: &mut dyn Write, look: Look, text: &str) -> io::Result<()> {
    let style = if look == Look::Coloured { Style::new().dimmed() } else { Style::new() };
    writeln!(out, "{style}# {}{style:#}", safe(text).trim_end())
}

fn coloured(out: &mut dyn Write, line: &str) -> io::Result<()> {
    let style = match line.as_bytes() {
        [b'd', b'i', b'f', b'f', ..] | [b'-', b'-', b'-', b' ', ..] | [b'+', b'+', b'+', b' ', ..] => {
            Style::new().bold()
        }
        [b'@', b'@', ..] => AnsiColor::Cyan.on_default(),
        [b'-', ..] => AnsiColor::Red.on_default(),
        [b'+', ..] => AnsiColor::Green.on_default(),
        _ => Style::new(),
    };
    writeln!(out, "{style}{}{style:#}", safe_lines(line.trim_end_matches(['\n', '\r'])))
}

/// The turns in which a file was changed, each with its place.
fn turns(answer: &Answer, file: &DiffFile) -> String {
    let short = answer.session_id.short();
    let place = |turn: &FileTurn| match turn.subagent.as_deref() {
        None => format!("turn {} at {short}:{}", turn.turn, turn.line),
        Some("") => format!("turn {} at {short}:{} by a sub-agent", turn.turn, turn.line),
        Some(agent) => format!("turn {} by sub-agent {agent}", turn.turn),
    };
    file.turns.iter().map(place).collect::<Vec<_>>().join(", ")
}

fn notes(answer: &Answer, outside: &[&DiffFile]) -> Vec<String> {
    let mut notes = Vec::new();
    if !outside.is_empty() {
        let paths: Vec<&str> = outside.iter().map(|file| file.path.as_str()).collect();
        let root = answer.root.display();
        notes.push(format!(
            "left out because they are outside {root} (--file shows one): {}",
            paths.join(", ")
        ));
    }
    for file in answer.files.iter().filter(|file| file.taken_over > 0) {
        let path = &file.path;
        notes.push(format!(
            "{path}: the patch includes changes by something else in between, which later edits need"
        ));
    }
    for file in answer.files.iter().filter(|file| file.is_redacted) {
        notes.push(format!("{}: secrets are replaced, so the patch may not apply", file.path));
    }
    notes.extend(shell_note(answer));
    if answer.too_long_lines > 0 {
        notes.push(super::too_long(answer.too_long_lines));
    }
    notes
}

fn shell_note(answer: &Answer) -> Option<String> {
    match answer.shell_commands {
        0 => None,
        1 => Some("1 shell command may have changed files, too; what it changed is not recorded".to_owned()),
        count => Some(format!(
            "{count} shell commands may have changed files, too; what they changed is not recorded"
        )),
    }
}

fn nothing(answer: &Answer, turn: Option<usize>) -> String {
    let short = answer.session_id.short();
    match turn {
        Some(turn) => format!(
            "Turn {turn} of session {short} changed no files with its tools; the turns that did: backstory diff {short} --stat"
        ),
        None => format!("Session {short} changed no files with its tools."),
    }
}

fn stat(out: &mut dyn Write, width: usize, answer: &Answer) -> io::Result<()> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let short = answer.session_id.short();
    for turn in &answer.turns {
        let head = format!("{:>4}  {short}:{:<6}", turn.turn, turn.line);
        let room = width.saturating_sub(head.width() + 1);
        writeln!(out, "{bold}{head}{bold:#} {}", fit(&safe(&turn.prompt), room))?;
        let named = answer.files.iter().flat_map(|file| {
            file.turns.iter().filter(|one| one.turn == turn.turn).map(move |one| (file, one))
        });
        for (file, one) in named {
            line_of(out, width, file, one)?;
        }
    }
    let before: Vec<(&DiffFile, &FileTurn)> = answer
        .files
        .iter()
        .flat_map(|file| file.turns.iter().filter(|one| one.turn == 0).map(move |one| (file, one)))
        .collect();
    for (file, one) in before {
        line_of(out, width, file, one)?;
    }
    if !answer.files.is_empty() {
        let files = counted(answer.files.len(), "file");
        let (green, red) = (AnsiColor::Green.on_default(), AnsiColor::Red.on_default());
        writeln!(out, "{files} changed, {green}+{}{green:#} {red}-{}{red:#}", answer.added, answer.removed)?;
    }
    if let Some(note) = shell_note(answer) {
        writeln!(out, "{dim}{note}{dim:#}")?;
    }
    if answer.too_long_lines > 0 {
        writeln!(out, "{dim}{}{dim:#}", super::too_long(answer.too_long_lines))?;
    }
    Ok(())
}

/// A file in a turn: its path, the lines that changed, and a bar of them.
fn line_of(out: &mut dyn Write, width: usize, file: &DiffFile, turn: &FileTurn) -> io::Result<()> {
    let mark = match (&turn.subagent, file.is_new && file.turns.first() == Some(turn)) {
        (Some(_), true) => " (new, by a sub-agent)",
        (Some(_), false) => " (by a sub-agent)",
        (None, true) => " (new)",
        (None, false) => "",
    };
    let numbers = format!("+{} -{}", turn.added, turn.removed);
    let bar = BAR.min(width / 4);
    let room = width.saturating_sub(6 + mark.width() + 2 + 12 + bar);
    let path = fit_end(&safe(&file.path), room);
    let pad = " ".repeat(room.saturating_sub(path.width()).min(room));
    let (plus, minus) = bars(turn.added, turn.removed, bar);
    let (green, red, dim) =
        (AnsiColor::Green.on_default(), AnsiColor::Red.on_default(), Style::new().dimmed());
    let line = format!(
        "      {path}{dim}{mark}{dim:#}{pad}  {numbers:>11} {green}{}{green:#}{red}{}{red:#}",
        "+".repeat(plus),
        "-".repeat(minus)
    );
    writeln!(out, "{}", line.trim_end())
}

/// The lengths of a bar's two parts: as many cells as lines, or a share of them where they are too many.
fn bars(added: u64, removed: u64, most: usize) -> (usize, usize) {
    let share = |lines: u64| {
        let most = u64::try_from(most).unwrap_or(u64::MAX);
        let all = added + removed;
        let cells = if all <= most { lines } else { (lines * most).div_ceil(all).min(most) };
        usize::try_from(cells).unwrap_or(usize::MAX)
    };
    let plus = share(added);
    (plus, share(removed).min(most.saturating_sub(plus)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_has_a_cell_for_a_line_until_it_is_full() {
        assert_eq!(bars(3, 2, 20), (3, 2));
        assert_eq!(bars(0, 0, 20), (0, 0));
        assert_eq!(bars(300, 100, 20), (15, 5));
        assert_eq!(bars(1000, 1, 20), (20, 0));
    }
}
