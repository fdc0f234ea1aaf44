//! One file for each command: its arguments, its help, and what it prints.

pub(crate) mod answer;
pub(crate) mod attach;
pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod cron;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod fork;
pub(crate) mod hook;
pub(crate) mod hooks;
pub(crate) mod index;
pub(crate) mod list;
pub(crate) mod memory;
pub(crate) mod pick;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod send;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod watch;
pub(crate) mod worker;
pub(crate) mod workers;

use std::sync::Arc;

use app::search::Mode;
use app::{App, Config, Context, Error, Kind, RuleName, Secrets};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::args::{Args, Command};
use crate::exit::Failure;
use crate::output::{Output, is_read_by_a_person};

/// Runs the command.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let open = || open(args.demo, args.show_secrets);
    match args.command {
        Command::List(list) => list::run(&open()?, &list),
        Command::Search(search) => search::run(&open()?, &search),
        Command::Index(index) => index::run(&open()?, &index),
        Command::Memory(memory) => memory::run(&open()?, &memory),
        Command::Show(show) => show::run(&open()?, &show),
        Command::Resume(resume) => resume::run(&open()?, &resume),
        Command::Fork(fork) => fork::run(&open()?, &fork),
        Command::Export(export) => export::run(&open()?, &export),
        Command::Watch(watch) => watch::run(&open()?, &watch),
        Command::Hooks(hooks) => hooks::run(&open()?, &hooks),
        Command::Hook(hook) => {
            hook::run(&hook);
            Ok(())
        }
        Command::Run(run) => run::run(&open()?, &run),
        Command::Send(send) => send::run(&open()?, &send),
        Command::Workers(workers) => workers::run(&open()?, &workers),
        Command::Attach(attach) => attach::run(&open()?, &attach),
        Command::Answer(answer) => answer::run(&open()?, &answer),
        Command::Stop(stop) => stop::run(&open()?, &stop),
        Command::Worker(worker) => worker::run(&open()?, &worker),
        Command::Pick(pick) => pick::run(&open()?, &pick),
        Command::Status(status) => status::run(&open()?, &status),
        Command::Eval(eval) => eval::run(&open()?, &eval),
        Command::Cost(cost) => cost::run(&open()?, &cost),
        Command::Cron(cron) => cron::run(&open()?, &cron),
        Command::Doctor(doctor) => doctor::run(&open()?, &doctor),
        Command::Completions(completions) => completions::run(&completions),
    }
}

/// The context of this request: the configuration, the current time and the working directory.
fn open(demo: bool, show_secrets: bool) -> Result<Context, Error> {
    let secrets = if show_secrets { allow_secrets()? } else { Secrets::Redacted };
    let config = Config::of_process()?;
    let config = if demo { config.demo(clock())? } else { config };
    if let Some(warning) = config.guard_state()? {
        let _ = std::io::Write::write_all(
            &mut anstream::stderr(),
            format!("warning: {}\n", crate::text::safe(&warning)).as_bytes(),
        );
    }
    let app = App { config, clock, zone: TimeZone::system, program: program()? };
    // A missing working directory is an error only for commands that need it.
    let directory = std::env::current_dir().unwrap_or_default();
    Ok(Context { secrets, ..Context::new(Arc::new(app), directory) })
}

/// Shows secrets on a terminal only, never to a file, a program or a log.
fn allow_secrets() -> Result<Secrets, Error> {
    if is_read_by_a_person() {
        return Ok(Secrets::Shown);
    }
    Err(Error::new(Kind::Usage, "--show-secrets works only on your own terminal; this output goes elsewhere")
        .hint("leave it out to print `[redacted:kind]` in place of each secret"))
}

/// Parses `--weights`.
fn rule(name: &str) -> Result<RuleName, Error> {
    name.parse().map_err(|error: String| Error::new(Kind::Usage, error))
}

/// Parses a limit, which must be at least 1.
fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().map_err(|error| error.to_string())?;
    if number == 0 { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

/// The values of `--mode`.
const MODES: [&str; 3] = ["hybrid", "lexical", "semantic"];

/// Parses a value of [`MODES`].
fn mode(word: &str) -> Mode {
    match word {
        "lexical" => Mode::Lexical,
        "semantic" => Mode::Semantic,
        _ => Mode::Hybrid,
    }
}

/// Parses one of a few words into the value that requests hold for it.
fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words)
        .try_map(|word| T::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(word)))
}

/// Parses a project's name. Claude Code's folder names begin with a dash, as flags do; what begins with two dashes is
/// taken for a flag.
fn project(text: &str) -> Result<String, String> {
    if text.starts_with("--") {
        return Err("this looks like a flag, not a project; use the project's path instead".to_owned());
    }
    Ok(text.to_owned())
}

/// Reads the clock.
#[expect(clippy::disallowed_methods, reason = "the clock is read here and nowhere else")]
fn clock() -> Timestamp {
    Timestamp::now()
}

/// This program's own file, which it starts again for background work whatever `PATH` says.
fn program() -> Result<std::path::PathBuf, Error> {
    std::env::current_exe()
        .map_err(|error| Error::caused(Kind::Unavailable, "cannot find this program's own file", &error))
}

/// Standard output through the pager from the settings or the environment.
fn paged(context: &Context) -> Output {
    let pager = match context.config().settings.terminal.pager.as_str() {
        "auto" => context.config().pager.clone().or_else(|| Some("less -R".to_owned())),
        pager => Some(pager.to_owned()),
    };
    Output::paged(pager.filter(|pager| !pager.trim().is_empty()))
}

/// Prints an answer as JSON, without a pager and without terminal control characters.
fn json(answer: &impl serde::Serialize) -> Result<(), Failure> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    out.write_all(crate::text::json(answer)?.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
