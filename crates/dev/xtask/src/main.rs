//! `cargo xtask distil --teacher FOLDER --out FILE`, `cargo xtask fit FOLDER…`,
//! `cargo xtask redactions PATH…`, `cargo xtask settings`, `cargo xtask schema`, `cargo xtask openapi`.

use std::io::Write as _;

use clap::Parser;
use xtask::fit::{self, fit};
use xtask::openapi::openapi;
use xtask::redactions::{self, redactions};
use xtask::schema::schema;
use xtask::settings::settings;
use xtask::{Failure, Order, distil};

/// Tools that developers run by hand.
#[derive(Debug, Parser)]
enum Task {
    /// Make a table of meanings from a transformer.
    Distil(Order),
    /// Fit the coefficients of `pick` on labelled decisions, and measure them on those held back.
    Fit(fit::Order),
    /// Count what is redacted in transcripts, for each megabyte of their text.
    Redactions(redactions::Order),
    /// Write the tables of settings in docs/configuration.md from the defaults and their comments.
    Settings,
    /// Write docs/schema.json from the types of requests and answers.
    Schema,
    /// Write docs/openapi.json from the routes of the server and their types.
    Openapi,
}

fn main() -> Result<(), Failure> {
    match Task::parse() {
        Task::Distil(order) => distil(&order),
        Task::Fit(order) => print(&fit(&order)?),
        Task::Redactions(order) => print(&redactions(&order)?.to_string()),
        Task::Settings => settings(),
        Task::Schema => schema(),
        Task::Openapi => openapi(),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
