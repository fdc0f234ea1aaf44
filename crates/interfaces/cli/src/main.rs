//! The `backstory` command: parse, call one function of the app, print what it answers.

mod args;
mod ask;
mod commands;
mod diff;
mod exit;
mod next_step;
mod output;
mod progress;
mod render;
mod run;
mod search_budget;
mod table;
mod text;
mod watch;

use clap::Parser as _;

/// Reading and indexing are millions of small texts on several threads: the usual allocator takes an eighth
/// longer.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let code =
        if commands::hook::is_asked_for() { 0 } else { exit::code(commands::run(args::Args::parse())) };
    exit::at_once(code)
}
