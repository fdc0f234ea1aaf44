//! `man`: writes the manual pages, one for the program and one for each command.

use std::fs;
use std::path::PathBuf;

use app::{Context, Error, Kind};
use clap::Command;

use crate::exit::Failure;
use crate::output::print_line;

/// Write the manual pages into a folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
  backstory man ~/.local/share/man/man1
  man backstory-search")]
pub(crate) struct Args {
    /// The folder, usually one named `man1`.
    folder: PathBuf,
}

/// Writes those of a command line.
pub(crate) fn run(context: &Context, args: &Args, program: Command) -> Result<(), Failure> {
    let folder = context.path(&args.folder);
    let failed = |error: &std::io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot write manual pages to {}", folder.display()), error)
    };
    fs::create_dir_all(&folder).map_err(|error| failed(&error))?;
    // The built-in `help` command needs no page.
    let program = program.disable_help_subcommand(true);
    clap_mangen::generate_to(program, &folder).map_err(|error| failed(&error))?;
    Ok(print_line(&format!("Wrote the manual pages to {}.", folder.display()))?)
}
