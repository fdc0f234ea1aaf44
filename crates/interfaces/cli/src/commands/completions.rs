//! `completions`: prints shell completions.

use std::io::Write as _;

use clap::Command;
use clap_complete::Shell;

use crate::exit::Failure;
use crate::output::Output;

/// Print shell completions; `backstory completions --help` says where to put them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where to put them:
  bash        ~/.local/share/bash-completion/completions/backstory
  zsh         a folder in your $fpath, as _backstory
  fish        ~/.config/fish/completions/backstory.fish")]
pub(crate) struct Args {
    /// The shell to complete in.
    shell: Shell,
}

/// Prints the script by which the shell completes `command`.
pub(crate) fn run(args: &Args, command: &mut Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, command, "backstory", &mut text);
    let mut out = Output::plain();
    out.write_all(&text)?;
    Ok(out.finish()?)
}
