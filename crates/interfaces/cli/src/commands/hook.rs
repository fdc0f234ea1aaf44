//! `hook`: the command that Claude Code's hooks run. It records one line and never fails.

use std::path::PathBuf;

/// Record an event of Claude Code's hooks, for `watch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder that the line is written to.
    folder: PathBuf,
}

/// Runs the hook if the program was started as one, and returns whether it was. This comes before the command line is
/// parsed, because Claude Code waits for its hooks.
pub(crate) fn run_if_requested() -> bool {
    let mut words = std::env::args_os().skip(1);
    let (Some(command), Some(folder), None) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    if command != "hook" || folder.as_encoded_bytes().starts_with(b"-") {
        return false;
    }
    run(&Args { folder: folder.into() });
    true
}

/// Records the payload on standard input.
pub(crate) fn run(args: &Args) {
    app::live::hooks::note(&args.folder, std::io::stdin().lock(), crate::clock::clock());
}
