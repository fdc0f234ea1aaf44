//! `choose`: what the keys of `init` run: a screen to choose on, and the choice in a file.

use std::fs;
use std::path::PathBuf;

use app::{Context, Error, Kind};
use clap::ValueEnum;

use crate::exit::Failure;
use crate::picker::{self, Purpose};

/// Choose a session or an earlier prompt, and write it to a file.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What is chosen.
    what: What,
    /// The file for the command that does it with the session, or for the prompt; empty where nothing is chosen.
    file: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Session,
    Prompt,
}

/// Lets the person choose.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let purpose = match args.what {
        What::Session => Purpose::Resume,
        What::Prompt => Purpose::Recall,
    };
    let choice = picker::choose(context, purpose)?;
    let text = choice.prompt.clone().unwrap_or_else(|| choice.command());
    fs::write(&args.file, text).map_err(|error| {
        Error::caused(Kind::Unavailable, format!("cannot write {}", args.file.display()), &error).into()
    })
}
