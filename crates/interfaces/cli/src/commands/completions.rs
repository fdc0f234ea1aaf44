//! `completions`: prints the script by which a shell completes commands, flags, sessions, projects and workers.

use std::io::Write as _;

use clap_complete::Shell;

use crate::completion_script::completion_script;
use crate::exit::Failure;
use crate::output::Output;

/// Print shell completions; `backstory completions --help` says where to put them.
///
/// They also complete sessions with their titles, projects, branches, tags and workers, by asking Backstory.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where to put them; `backstory init` has them too:
  bash        ~/.local/share/bash-completion/completions/backstory
  zsh         a folder in your $fpath, as _backstory
  fish        ~/.config/fish/completions/backstory.fish")]
pub(crate) struct Args {
    /// The shell to complete in.
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = Output::plain();
    out.write_all(&completion_script(&args.shell.to_string())?)?;
    Ok(out.finish()?)
}
