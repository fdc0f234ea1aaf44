//! `cargo xtask distil --teacher FOLDER --out FILE`.

use clap::Parser;
use xtask::{Failure, Order, distil};

/// What the makers of Backstory run by hand.
#[derive(Debug, Parser)]
enum Task {
    /// Make a table of meanings from a transformer.
    Distil(Order),
}

fn main() -> Result<(), Failure> {
    let Task::Distil(order) = Task::parse();
    distil(&order)
}
