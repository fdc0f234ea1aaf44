//! The help of the whole program: the commands in groups, by what a person wants.

use std::fmt::Write as _;

use clap::Command;
use clap::CommandFactory as _;

use crate::args::Args;
use crate::exit;

/// The commands by what they are for, in the order in which a person meets them.
const GROUPS: [(&str, &[&str]); 10] = [
    ("Find", &["search", "list", "show", "prompts"]),
    ("Continue", &["resume", "fork", "handoff", "pick"]),
    ("Review", &["today", "day", "diff", "blame", "before", "cost"]),
    ("Sort", &["name", "tag", "note", "pin", "hide"]),
    ("Keep", &["archive", "restore", "heal", "forget"]),
    ("Live", &["watch", "status"]),
    ("Work", &["run", "send", "workers", "attach", "answer", "stop", "cron"]),
    ("For programs", &["mcp", "serve", "export"]),
    ("OpenClaw", &["memory", "store", "cc"]),
    ("Setup", &["doctor", "index", "hooks", "statusline", "init", "completions", "man", "eval"]),
];

/// The command line with its help.
pub(crate) fn command() -> Command {
    let command = Args::command();
    let whole = format!("{}\n{OPTIONS}\n{}\n", grouped(&command), exit::HELP);
    command.override_help(whole)
}

/// The names of the commands alone, for where none was given.
pub(crate) fn short() -> String {
    let mut out = format!("{HEAD}\n");
    for (group, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "  {group:<14} {}", names.join(", "));
    }
    out + "\nWhat they do: backstory help    More about one: backstory help COMMAND\n"
}

const HEAD: &str = "\
Find, understand and continue every Claude Code session you ever had.

Usage: backstory              choose a session on the terminal
       backstory COMMAND …
";

const OPTIONS: &str = "\
Options:
      --demo          Use a small set of made-up sessions instead of yours
      --show-secrets  Show secrets instead of `[redacted:kind]`, only when the output is your terminal
  -h, --help          Print help
  -V, --version       Print version
";

fn grouped(command: &Command) -> String {
    let mut out = HEAD.to_owned();
    for (group, names) in GROUPS {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "\n{group}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let _ = writeln!(out, "  {name:<12} {}", first_clause(&about.unwrap_or_default()));
        }
    }
    out
}

/// What a command does, without what follows a colon or semicolon: one line of the list.
fn first_clause(about: &str) -> &str {
    let end = about.find([':', ';']).unwrap_or(about.len());
    &about[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Args::command();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn who_gives_no_command_reads_a_few_lines() {
        let help = short();
        assert!(help.lines().count() <= 20, "{help}");
        assert!(help.contains("  Find           search, list, show, prompts\n"), "{help}");
    }

    #[test]
    fn every_line_fits_a_terminal_of_eighty_columns() {
        let help = short() + &grouped(&Args::command());
        let long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
    }
}
