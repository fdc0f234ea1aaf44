//! The command line: global options and the list of commands. Each command's own arguments are in its file.

use clap::{Parser, Subcommand};

use crate::commands::{
    annotate, answer, archive, attach, before, blame, cc, choose, completions, cost, cron, day, diff, doctor,
    eval, export, forget, fork, handoff, heal, hook, hooks, index, init, list, man, mcp, memory, pick,
    prompts, restore, resume, run, search, send, serve, show, status, statusline, stop, store, watch, worker,
    workers,
};

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

/// Find, understand and continue every Claude Code session you ever had.
#[derive(Debug, Parser)]
#[command(name = "backstory", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Use a small set of made-up sessions instead of yours.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) demo: bool,
    /// Show secrets instead of `[redacted:kind]`; only when the output is your terminal.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) show_secrets: bool,
    /// The command to run; on a terminal the picker without one.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands; each is implemented in the file of its name.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Search(search::Args),
    List(list::Args),
    Index(index::Args),
    Memory(memory::Args),
    Store(store::Args),
    Cc(cc::Args),
    Show(show::Args),
    Diff(diff::Args),
    Before(before::Args),
    Blame(blame::Args),
    Resume(resume::Args),
    Fork(fork::Args),
    Export(export::Args),
    Archive(archive::Args),
    Restore(restore::Args),
    Heal(heal::Args),
    Forget(forget::Args),
    Watch(watch::Args),
    Hooks(hooks::Args),
    Statusline(statusline::Args),
    #[command(hide = true)]
    Hook(hook::Args),
    Pick(pick::Args),
    Run(Box<run::Args>),
    Send(send::Args),
    Workers(workers::Args),
    Attach(attach::Args),
    Answer(answer::Args),
    Stop(stop::Args),
    #[command(hide = true)]
    Worker(worker::Args),
    Status(status::Args),
    Today(day::TodayArgs),
    Day(day::Args),
    Prompts(prompts::Args),
    Handoff(handoff::Args),
    Name(annotate::NameArgs),
    Tag(annotate::TagArgs),
    Note(annotate::NoteArgs),
    Pin(annotate::PinArgs),
    Hide(annotate::HideArgs),
    Cron(cron::Args),
    Cost(cost::Args),
    Mcp(mcp::Args),
    Eval(eval::Args),
    Serve(serve::Args),
    Doctor(doctor::Args),
    Init(init::Args),
    #[command(hide = true)]
    Choose(choose::Args),
    Completions(completions::Args),
    Man(man::Args),
}
