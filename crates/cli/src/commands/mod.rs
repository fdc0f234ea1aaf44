//! One file for each command, named as it is typed: its arguments, its help, what it prints.

pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod fork;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod pick;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod status;

use app::{App, Config, Error};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::args::{Args, Command};
use crate::exit::Failure;
use crate::output::Output;

/// Does what was typed.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    match args.command {
        Command::List(list) => list::run(&open(args.demo)?, &list),
        Command::Search(search) => search::run(&open(args.demo)?, &search),
        Command::Index(index) => index::run(&open(args.demo)?, &index),
        Command::Show(show) => show::run(&open(args.demo)?, &show),
        Command::Resume(resume) => resume::run(&open(args.demo)?, &resume),
        Command::Fork(fork) => fork::run(&open(args.demo)?, &fork),
        Command::Pick(pick) => pick::run(&open(args.demo)?, &pick),
        Command::Status(status) => status::run(&open(args.demo)?, &status),
        Command::Cost(cost) => cost::run(&open(args.demo)?, &cost),
        Command::Doctor(doctor) => doctor::run(&open(args.demo)?, &doctor),
        Command::Completions(completions) => completions::run(&completions),
    }
}

/// Opens the app on this machine, at this moment.
#[expect(clippy::disallowed_methods, reason = "the clock is read here, once")]
fn open(demo: bool) -> Result<App, Error> {
    let now = Timestamp::now();
    let config = Config::of_process()?;
    let config = if demo { config.demo(now)? } else { config };
    Ok(App { config, now, zone: TimeZone::system() })
}

/// Standard output with the pager the person wants.
fn paged(app: &App) -> Output {
    let pager = match app.config.settings.terminal.pager.as_str() {
        "auto" => app.config.pager.clone().or_else(|| Some("less -R".to_owned())),
        pager => Some(pager.to_owned()),
    };
    Output::paged(pager.filter(|pager| !pager.trim().is_empty()))
}

/// Prints an answer as JSON.
fn json(answer: &impl serde::Serialize) -> Result<(), Failure> {
    use std::io::Write as _;
    let mut out = Output::plain();
    writeln!(out, "{}", crate::text::json(answer)?)?;
    Ok(out.finish()?)
}
