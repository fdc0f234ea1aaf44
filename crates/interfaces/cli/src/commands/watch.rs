//! `watch`: every session, what it is doing, which one needs you.

use std::io::IsTerminal as _;

use app::{Context, Notify};

use crate::exit::Failure;
use crate::output::is_read_by_a_person;
use crate::watch::{plain, screen};

/// Watch what every session does, and which one needs you.
///
/// On a terminal a live view, `?` explains its keys; else a line for each change.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to call you when a session waits for you or has finished [default: as set, else bell].
    #[arg(long, value_name = "HOW")]
    notify: Option<How>,
    /// Print every event as a line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum How {
    /// Not at all.
    Off,
    /// By the terminal's bell.
    Bell,
    /// By a notification of the desktop.
    Notify,
}

/// Watches until there is nobody to watch for.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let notify = match args.notify {
        Some(How::Off) => Notify::Off,
        Some(How::Bell) => Notify::Bell,
        Some(How::Notify) => Notify::Notify,
        None => context.config().settings.watch.notify,
    };
    if args.json || !is_read_by_a_person() || !std::io::stdin().is_terminal() {
        return plain::run(context, args.json);
    }
    screen::run(context, notify)
}
