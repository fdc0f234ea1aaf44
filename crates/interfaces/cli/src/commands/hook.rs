//! `hook`: what Claude Code's hooks run. It leaves one line and is gone; whatever happens, it is content.

use std::path::PathBuf;

/// Leave a line of what a hook was told, for whoever watches.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Where the line is left.
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

/// Takes in the payload on standard input.
pub(crate) fn run(args: &Args) {
    app::live::hooks::note(&args.folder, std::io::stdin().lock(), super::clock());
}
