//! `cargo xtask distil --teacher FOLDER --out FILE`, `cargo xtask fit FOLDER…`,
//! `cargo xtask redactions PATH…`, `cargo xtask settings`, `cargo xtask schema`, `cargo xtask openapi`.

use std::io::Write as _;

use clap::Parser;
use xtask::fit::{self, fit};
use xtask::openapi::openapi;
use xtask::redactions::{self, redactions};
use xtask::schema::schema;
use xtask::settings::settings;
use xtask::{Args, Failure, distil};

/// Tools that developers run by hand.
#[derive(Debug, Parser)]
enum Task {
    /// Make a table of meanings from a transformer.
    Distil(Args),
    /// Fit the coefficients of `pick` on labelled decisions, and measure them on those held back.
    Fit(fit::Args),
    /// Count what is redacted in transcripts, for each megabyte of their text.
    Redactions(redactions::Args),
    /// Write the tables of settings in docs/configuration.md from the defaults and their comments.
    Settings,
    /// Write docs/schema.json from the types of requests and answers.
    Schema,
    /// Write docs/openapi.json from the routes of the server and their types.
    Openapi,
}

fn main() -> Result<(), Failure> {
    match Task::parse() {
        Task::Distil(args) => distil(&args),
        Task::Fit(args) => print(&fit(&args)?),
        Task::Redactions(args) => print(&redactions(&args)?.to_string()),
        Task::Settings => settings(),
        Task::Schema => schema(),
        Task::Openapi => openapi(),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
