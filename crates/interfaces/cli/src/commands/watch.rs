//! `watch`: shows what every session is doing and which ones need you.

use app::{Context, Notify};

use crate::exit::Failure;
use crate::picker;
use crate::watch::{plain, screen};

/// Watch what every session is doing, and which ones need you.
///
/// On a terminal this is a live view, and `?` lists its keys; otherwise it prints one line per change.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How to notify you when a session waits for you or has finished [default: from the settings, else bell].
    #[arg(long, value_name = "HOW")]
    notify: Option<How>,
    /// Print each event as one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum How {
    /// Not at all.
    Off,
    /// Ring the terminal's bell.
    Bell,
    /// Show a desktop notification.
    Notify,
}

/// Watches until the person quits or the output is closed.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let notify = match args.notify {
        Some(How::Off) => Notify::Off,
        Some(How::Bell) => Notify::Bell,
        Some(How::Notify) => Notify::Notify,
        None => context.config().settings.watch.notify,
    };
    if args.json || !picker::is_possible(context) {
        return plain::run(context, args.json);
    }
    screen::run(context, notify)
}
