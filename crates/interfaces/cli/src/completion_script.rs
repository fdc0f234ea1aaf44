//! The script by which a shell asks this program for completions.

use clap_complete::env::{EnvCompleter, Shells};

use crate::exit::Failure;

/// The variable by which a shell asks. It does not begin like those of settings, of which an unknown one is an error.
pub(crate) const VARIABLE: &str = "_BACKSTORY_COMPLETE";
/// The name by which shells run the program: a script outlives the place that the program was in.
pub(crate) const PROGRAM: &str = "backstory";

/// The script that makes a shell ask.
pub(crate) fn completion_script(shell: &str) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    if let Some(completer) = shells.completer(shell) {
        EnvCompleter::write_registration(completer, VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut text)?;
    }
    Ok(text)
}
