//! The `backstory` command: parses the command line, calls one function of `app`, prints its answer.

mod args;
mod ask;
mod become_claude;
mod clock;
mod commands;
mod diff;
mod dispatch;
mod exit;
mod next_step;
mod output;
mod progress;
mod render;
mod run;
mod session_table;
mod table;
mod text;
mod watch;

use clap::Parser as _;

/// Reading and indexing allocate millions of small strings on several threads; the default allocator takes an eighth
/// longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let code =
        if commands::hook::run_if_requested() { 0 } else { exit::report(dispatch::run(args::Args::parse())) };
    exit::exit_now(code)
}
