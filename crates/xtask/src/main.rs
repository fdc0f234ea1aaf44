//! `cargo xtask distil --teacher FOLDER --out FILE`, `cargo xtask calibrate --root ROOT`,
//! `cargo xtask redactions PATH…`.

use std::io::Write as _;

use clap::Parser;
use xtask::calibrate::{self, calibrate};
use xtask::redactions::{self, redactions};
use xtask::{Failure, Order, distil};

/// What the makers of Backstory run by hand.
#[derive(Debug, Parser)]
enum Task {
    /// Make a table of meanings from a transformer.
    Distil(Order),
    /// Choose weights of `pick` on labelled decisions, and say what they are worth on those held back.
    Calibrate(calibrate::Order),
    /// Count what is redacted in transcripts, for each megabyte of their text.
    Redactions(redactions::Order),
}

fn main() -> Result<(), Failure> {
    match Task::parse() {
        Task::Distil(order) => distil(&order),
        Task::Calibrate(order) => print(&calibrate(&order)?),
        Task::Redactions(order) => print(&redactions(&order)?.to_string()),
    }
}

fn print(text: &str) -> Result<(), Failure> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
