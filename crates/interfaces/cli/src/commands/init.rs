//! `init`: prints what a shell needs: completions, and a key each for choosing a session and an earlier prompt.

use std::io::Write as _;

use clap::ValueEnum;

use crate::completion_script::completion_script;
use crate::exit::Failure;
use crate::output::Output;

/// Print the setup of your shell: completions, Alt-R for your earlier prompts, Alt-J for sessions.
///
/// Alt-R puts a prompt that you choose on the command line, after `claude` if the line is empty. Alt-J puts the command
/// there that continues, forks or shows a session that you choose.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Add one of these lines to the shell's configuration:
  zsh         eval \"$(backstory init zsh)\"          in ~/.zshrc, after compinit
  bash        eval \"$(backstory init bash)\"         in ~/.bashrc
  fish        backstory init fish | source          in ~/.config/fish/config.fish")]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shell {
    Zsh,
    Bash,
    Fish,
}

/// Prints the script.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (name, keys) = match args.shell {
        Shell::Zsh => ("zsh", include_str!("init/keys.zsh")),
        Shell::Bash => ("bash", include_str!("init/keys.bash")),
        Shell::Fish => ("fish", include_str!("init/keys.fish")),
    };
    let mut out = Output::plain();
    // Without `compinit` there is nowhere to register completions.
    let (begin, end) =
        if args.shell == Shell::Zsh { ("if (( $+functions[compdef] )); then\n", "fi\n") } else { ("", "") };
    out.write_all(begin.as_bytes())?;
    out.write_all(&completion_script(name)?)?;
    out.write_all(end.as_bytes())?;
    out.write_all(keys.as_bytes())?;
    Ok(out.finish()?)
}
