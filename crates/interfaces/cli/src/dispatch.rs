//! Opens the context of the one request that the command line makes, and passes it to its command.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use app::{App, Config, Context, Error, Kind, RecentFiles, Secrets};
use clap::CommandFactory as _;
use jiff::tz::TimeZone;

use crate::args::{Args, Command};
use crate::clock::clock;
use crate::commands;
use crate::demo::{Demo, SignalHandler};
use crate::exit::Failure;
use crate::help;
use crate::output::is_read_by_a_person;
use crate::picker;

/// Runs the command. What a demo unpacked for it is removed at its end.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let signals = signal_handler(args.command.as_ref());
    let is_server = matches!(args.command, Some(Command::Serve(_) | Command::Mcp(_)));
    let demo = if is_server { Demo::own(args.demo, signals) } else { Demo::new(args.demo, signals) };
    let open = || open(&demo, args.show_secrets);
    let Some(command) = args.command else {
        if picker::is_at_terminal() {
            let context = open()?;
            if picker::is_possible(&context) {
                return picker::open(&context, "");
            }
        }
        anstream::stderr().write_all(help::short().as_bytes())?;
        return Err(Failure::NoCommand);
    };
    let greets = !args.demo && commands::welcome::is_possible(&command);
    let done = answer(command, &open);
    if greets && done.is_ok() {
        commands::welcome::say(&open()?);
    }
    done
}

/// Passes the context of its request to a command.
fn answer(command: Command, open: &dyn Fn() -> Result<Context, Error>) -> Result<(), Failure> {
    match command {
        Command::List(list) => {
            let context = open()?;
            let done = commands::list::run(&context, &list);
            commands::archive::after_a_listing(&context);
            if !list.is_json() {
                commands::archive::say_what_will_be_deleted(&context);
            }
            done
        }
        Command::Search(search) => {
            let context = open()?;
            let done = commands::search::run(&context, &search);
            commands::archive::after_an_answer(&context);
            if !search.is_json() {
                commands::archive::say_what_will_be_deleted(&context);
            }
            done
        }
        Command::Index(index) => commands::index::run(&open()?, &index),
        Command::Memory(memory) => commands::memory::run(&open()?, &memory),
        Command::Store(store) => commands::store::run(&open()?, &store),
        Command::Cc(cc) => commands::cc::run(&open()?, &cc),
        Command::Show(show) => commands::show::run(&open()?, &show),
        Command::Diff(diff) => commands::diff::run(&open()?, &diff),
        Command::Before(before) => commands::before::run(&open()?, &before),
        Command::Blame(blame) => commands::blame::run(&open()?, &blame),
        Command::Resume(resume) => commands::resume::run(&open()?, &resume),
        Command::Fork(fork) => commands::fork::run(&open()?, &fork),
        Command::Archive(archive) => commands::archive::run(&open()?, &archive),
        Command::Restore(restore) => commands::restore::run(&open()?, &restore),
        Command::Heal(heal) => commands::heal::run(&open()?, &heal),
        Command::Forget(forget) => commands::forget::run(&open()?, &forget),
        Command::Export(export) => commands::export::run(&open()?, &export),
        Command::Watch(watch) => commands::watch::run(&open()?, &watch),
        Command::Hooks(hooks) => commands::hooks::run(&open()?, &hooks),
        Command::Statusline(statusline) => commands::statusline::run(&open()?, &statusline),
        Command::Hook(hook) => {
            commands::hook::run(&hook);
            Ok(())
        }
        Command::Run(run) => commands::run::run(&open()?, &run),
        Command::Send(send) => commands::send::run(&open()?, &send),
        Command::Workers(workers) => commands::workers::run(&open()?, &workers),
        Command::Attach(attach) => commands::attach::run(&open()?, &attach),
        Command::Answer(answer) => commands::answer::run(&open()?, &answer),
        Command::Stop(stop) => commands::stop::run(&open()?, &stop),
        Command::Worker(worker) => commands::worker::run(&open()?, &worker),
        Command::Pick(pick) => commands::pick::run(&open()?, &pick),
        Command::Status(status) => commands::status::run(&open()?, &status),
        Command::Today(today) => {
            let context = open()?;
            let done = commands::day::today(&context, &today);
            commands::archive::after_a_listing(&context);
            done
        }
        Command::Day(day) => {
            let context = open()?;
            let done = commands::day::run(&context, &day);
            commands::archive::after_a_listing(&context);
            done
        }
        Command::Handoff(handoff) => commands::handoff::run(&open()?, &handoff),
        Command::Name(name) => commands::annotate::name(&open()?, &name),
        Command::Tag(tag) => commands::annotate::tag(&open()?, &tag),
        Command::Note(note) => commands::annotate::note(&open()?, &note),
        Command::Pin(pin) => commands::annotate::pin(&open()?, &pin),
        Command::Hide(hide) => commands::annotate::hide(&open()?, &hide),
        Command::Prompts(prompts) => commands::prompts::run(&open()?, &prompts),
        Command::Eval(eval) => commands::eval::run(&open()?, &eval),
        Command::Cost(cost) => commands::cost::run(&open()?, &cost),
        Command::Cron(cron) => commands::cron::run(&open()?, &cron),
        Command::Mcp(mcp) => commands::mcp::run(&open()?, &mcp),
        Command::Serve(serve) => commands::serve::run(&open()?, &serve),
        Command::Doctor(doctor) => commands::doctor::run(&open()?, &doctor),
        Command::Init(init) => commands::init::run(&init),
        Command::Choose(choose) => commands::choose::run(&open()?, &choose),
        Command::Completions(completions) => commands::completions::run(&completions),
        Command::Man(man) => commands::man::run(&open()?, &man, Args::command()),
    }
}

/// Who acts on signals: the server, and on a terminal the screens and the pager.
fn signal_handler(command: Option<&Command>) -> SignalHandler {
    if matches!(command, Some(Command::Serve(_))) || std::io::stdout().is_terminal() {
        SignalHandler::Command
    } else {
        SignalHandler::Nobody
    }
}

/// The context of this request: the configuration, the current time and the working directory.
fn open(demo: &Demo, show_secrets: bool) -> Result<Context, Error> {
    let secrets = if show_secrets { allow_secrets()? } else { Secrets::Redacted };
    let config = demo.applied_to(Config::of_process()?)?;
    if let Some(warning) = config.guard_state()? {
        let _ = std::io::Write::write_all(
            &mut anstream::stderr(),
            format!("warning: {}\n", crate::text::safe(&warning)).as_bytes(),
        );
    }
    Ok(Context { secrets, ..context(config)? })
}

/// The context of a request by a shell, to which nothing may be said.
pub(crate) fn silent_context(demo: &Demo) -> Result<Context, Error> {
    context(demo.applied_to(Config::of_process()?)?)
}

fn context(config: Config) -> Result<Context, Error> {
    let app = App {
        config,
        clock,
        zone: TimeZone::system,
        program: program()?,
        recent_files: RecentFiles::default(),
    };
    // A missing working directory is an error only for commands that need it.
    let directory = std::env::current_dir().unwrap_or_default();
    Ok(Context::new(Arc::new(app), directory))
}

/// Shows secrets on a terminal only, never to a file, a program or a log.
fn allow_secrets() -> Result<Secrets, Error> {
    if is_read_by_a_person() {
        return Ok(Secrets::Shown);
    }
    Err(Error::new(Kind::Usage, "--show-secrets works only on your own terminal; this output goes elsewhere")
        .hint("leave it out to print `[redacted:kind]` in place of each secret"))
}

/// This program's own file, which it starts again for background work whatever `PATH` says.
fn program() -> Result<std::path::PathBuf, Error> {
    std::env::current_exe()
        .map_err(|error| Error::caused(Kind::Unavailable, "cannot find this program's own file", &error))
}
