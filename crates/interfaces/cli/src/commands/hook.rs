//! `hook`: the command that Claude Code's hooks run. It records one line and never fails.

use std::path::PathBuf;

/// Record what Claude Code told a hook, for `watch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder that the line is written to.
    folder: PathBuf,
}

/// Whether the program was started as a hook; then its work is done already. A hook comes before anything else
/// is looked at: Claude Code waits for it.
pub(crate) fn is_asked_for() -> bool {
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
    app::live::hooks::note(&args.folder, std::io::stdin().lock(), super::clock());
}
