//! `statusline`: the command of Claude Code's `statusLine` setting. It prints one line, or nothing, and never fails.

use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use app::Context;
use app::live::status_line::{StatusPart, install, status_line, uninstall};
use jiff::tz::TimeZone;

use crate::commands::hooks::{ChangeArgs, change, line, scope};
use crate::exit::Failure;
use crate::text::safe;

/// Print Claude Code's status line: context, cost, prompt cache, usage limit, other sessions that wait for you.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Claude Code runs `backstory statusline` itself once it is installed, and passes it the session as JSON.")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Set it as the status line in Claude Code's settings.
    Install(ChangeArgs),
    /// Remove it and restore the previous status line.
    Uninstall(ChangeArgs),
}

/// Prints the line if the program was started for it, and returns whether it was. This comes before the command line is
/// parsed and the settings are read, because Claude Code waits for it after every message.
pub(crate) fn run_if_requested() -> bool {
    let mut words = std::env::args_os().skip(1);
    let is_it = words.next().is_some_and(|word| word == "statusline") && words.next().is_none();
    if !is_it || std::io::stdin().is_terminal() {
        return false;
    }
    let parts = status_line(std::io::stdin().lock(), &TimeZone::system(), crate::clock::clock());
    // Whoever does not read the line any more needs none.
    let _ = std::io::stdout().lock().write_all(written(&parts).as_bytes());
    true
}

/// Installs or removes it, or says to a person how it is used.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Some(Command::Install(asked)) => {
            let plan = install(context, &scope(asked.project()))?;
            let done = || {
                "Done. Sessions show it from their next message on; `backstory statusline uninstall` restores the previous one."
                    .to_owned()
            };
            change(&plan, asked, true, done)
        }
        Some(Command::Uninstall(asked)) => {
            let plan = uninstall(context, &scope(asked.project()))?;
            change(&plan, asked, false, || "Done.".to_owned())
        }
        None => line(
            "Claude Code runs this command with a session on its standard input; `backstory statusline install` adds it to \
             its settings.",
        ),
    }
}

/// The parts as Claude Code shows them: it reads a pipe, and colours are for its terminal all the same.
fn written(parts: &[StatusPart]) -> String {
    if parts.is_empty() {
        return String::new();
    }
    let part = |part: &StatusPart| {
        let style = if part.is_marked { AnsiColor::Yellow.on_default() } else { Style::new() };
        format!("{style}{}{style:#}", safe(&part.text))
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" · ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_controls_no_terminal() {
        let part = |text: &str, is_marked| StatusPart { text: text.to_owned(), is_marked };
        let line = written(&[part("a", false), part("b\u{1b}[2J\nc", true)]);
        assert!(line.starts_with("a · \u{1b}[33mb") && line.ends_with("c\u{1b}[0m\n"), "{line:?}");
        assert_eq!((line.matches('\u{1b}').count(), line.matches('\n').count()), (2, 1), "{line:?}");
        assert_eq!(written(&[]), "");
    }
}
