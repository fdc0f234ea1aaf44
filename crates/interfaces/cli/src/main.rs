//! The `backstory` command: parses the command line, calls one function of `app`, prints its answer.

mod args;
mod ask;
mod become_claude;
mod clipboard;
mod clock;
mod commands;
mod complete;
mod completion_script;
mod demo;
mod diff;
mod dispatch;
mod exit;
mod help;
mod hit_lines;
mod json;
mod last_search;
mod next_step;
mod other_words;
mod output;
mod picker;
mod plain_snippet;
mod progress;
mod prose;
mod remarks;
mod render;
mod resumption;
mod run;
mod session_table;
mod snippet;
mod table;
mod terminal;
mod text;
mod watch;
mod wrap;

use std::io::Write as _;

use clap::FromArgMatches as _;

/// Reading and indexing allocate millions of small strings on several threads; the default allocator takes an eighth
/// longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    if commands::hook::run_if_requested() || commands::statusline::run_if_requested() {
        exit::exit_now(0)
    }
    complete::run_if_requested();
    exit::exit_now(exit::report(dispatch::run(arguments())))
}

/// The arguments; ends the program where they are wrong or ask for help.
fn arguments() -> args::Args {
    let matches = help::command().try_get_matches().unwrap_or_else(|mut error| {
        other_words::mend(&mut error);
        let _ = error.print();
        if let Some(hint) = other_words::hint(&error) {
            let _ = writeln!(anstream::stderr(), "{hint}");
        }
        exit::exit_now(u8::try_from(error.exit_code()).unwrap_or(2))
    });
    args::Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}
