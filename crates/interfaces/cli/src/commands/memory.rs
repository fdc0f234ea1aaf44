//! `memory`: searches what OpenClaw's agents remember, with the flags and JSON of `openclaw memory`.

use std::io::Write as _;

use app::Context;
use app::search::SourceKind;
use app::search::memory::{IndexRequest, index, search, status};
use model::AgentId;

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{counted, safe, safe_lines};

/// Search what OpenClaw's agents remember, as `openclaw memory` does.
///
/// Searches the notes in the workspaces, OpenClaw's conversations, and Claude Code's sessions. Flags, JSON and
/// settings (`agents.defaults.memorySearch`) are the same as OpenClaw's.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Search(SearchArgs),
    Status(StatusArgs),
    Index(IndexArgs),
}

/// Search notes and conversations.
#[derive(Debug, clap::Args)]
struct SearchArgs {
    /// What to look for; `#name` limits it to a project.
    #[arg(required = true, value_name = "QUESTION")]
    words: Vec<String>,
    /// Only this agent's memory, and Claude Code's sessions.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Show at most this many results [default: from OpenClaw's settings, else 6].
    #[arg(long, value_name = "N")]
    max_results: Option<usize>,
    /// Leave out results that score less [default: from OpenClaw's settings, else 0.35].
    #[arg(long, value_name = "SCORE")]
    min_score: Option<f64>,
    /// Only Claude Code's sessions of this project.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Only this source.
    #[arg(long, value_parser = super::words::<SourceKind>(&["memory", "sessions", "claude-sessions"]))]
    source: Option<SourceKind>,
    /// Only this conversation: OpenClaw's key or a session's id.
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// Also show Claude sessions that are already among OpenClaw's conversations.
    #[arg(long)]
    include_owned: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Show what is indexed for each agent.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
struct StatusArgs {
    /// Only this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Also test whether semantic search works.
    #[arg(long)]
    deep: bool,
    /// Bring the index up to date first.
    #[arg(long)]
    index: bool,
    /// Print more details.
    #[arg(long)]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Bring the index up to date.
#[derive(Debug, clap::Args)]
struct IndexArgs {
    /// Accepted for compatibility with OpenClaw; all agents share one index.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Rebuild the index from scratch.
    #[arg(long)]
    force: bool,
    /// Print more details.
    #[arg(long)]
    verbose: bool,
}

/// Runs the subcommand.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::Search(args) => run_search(context, args),
        Command::Status(args) => run_status(context, args),
        Command::Index(args) => run_index(context, args),
    }
}

fn run_search(context: &Context, args: &SearchArgs) -> Result<(), Failure> {
    let request = search::Request {
        query: args.words.join(" "),
        agent: args.agent.clone(),
        project: args.project.clone(),
        source: args.source,
        session: args.session.clone(),
        max_results: args.max_results,
        min_score: args.min_score,
        include_owned: args.include_owned,
    };
    let followed = Followed::interruptible(context);
    let answer = search::search(&followed, &request)?;
    drop(followed);
    if args.json { super::json(&answer) } else { print(context, &answer) }
}

fn print(context: &Context, answer: &search::Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    if answer.results.is_empty() {
        writeln!(out, "No matches.")?;
    }
    for note in &answer.notes {
        writeln!(out, "{}", safe(note))?;
    }
    for found in &answer.results {
        let (start, end) = (found.start_line, found.end_line);
        writeln!(out, "{:.3} {}:{start}-{end}", found.score, safe(&found.path))?;
        writeln!(out, "{}\n", safe_lines(found.snippet.trim_end()))?;
    }
    if answer.pending_files > 0 {
        writeln!(
            out,
            "{} not indexed yet; `backstory memory index` continues there",
            counted(answer.pending_files, "file")
        )?;
    }
    if let Some(why) = &answer.stale {
        writeln!(out, "the index could not be brought up to date: {}", safe(why))?;
    }
    Ok(out.finish()?)
}

fn run_status(context: &Context, args: &StatusArgs) -> Result<(), Failure> {
    let request = status::Request { agent: args.agent.clone(), deep: args.deep, index: args.index };
    let answer = if args.index {
        status::status(&Followed::interruptible(context), &request)?
    } else {
        status::status(context, &request)?
    };
    if args.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    let status::Answer(agents) = &answer;
    if agents.is_empty() {
        writeln!(out, "No OpenClaw agents were found; set OPENCLAW_STATE_DIR to OpenClaw's state folder.")?;
    }
    for one in agents {
        print_status(&mut out, args, one)?;
    }
    if let Some(why) = agents.first().and_then(|one| one.index_error.as_ref()) {
        writeln!(out, "the index could not be brought up to date: {}", safe(why))?;
    }
    Ok(out.finish()?)
}

fn print_status(out: &mut Output, args: &StatusArgs, one: &status::AgentStatus) -> Result<(), Failure> {
    let status = &one.status;
    let names: Vec<_> = status.sources.iter().map(|source| source.as_str()).collect();
    writeln!(out, "Memory search for agent {}", one.agent_id)?;
    writeln!(out, "  sources    {}", names.join(", "))?;
    writeln!(out, "  workspace  {}", safe(&status.workspace_dir.display().to_string()))?;
    for count in &status.source_counts {
        let (files, pieces) = (counted(count.files, "file"), counted(count.chunks, "piece"));
        writeln!(out, "  {:<16} {files}, {pieces} of text", count.source.as_str())?;
    }
    let dirty =
        if status.dirty { "not up to date; `backstory memory index` updates it" } else { "up to date" };
    writeln!(out, "  index      {dirty}")?;
    writeln!(out, "  meaning    {} ({})", safe(&status.model), status.provider)?;
    if let Some(why) = one.embedding_probe.as_ref().and_then(|probe| probe.error.as_ref()) {
        writeln!(out, "             not available: {}", safe(why))?;
    }
    for issue in &one.scan.issues {
        writeln!(out, "  note       {}", safe(issue))?;
    }
    if args.verbose {
        writeln!(out, "  stored in  {}", safe(&status.db_path.display().to_string()))?;
    }
    Ok(())
}

fn run_index(context: &Context, args: &IndexArgs) -> Result<(), Failure> {
    let request = IndexRequest { agent: args.agent.clone(), force: args.force };
    let answer = index(&Followed::interruptible(context), &request)?;
    let mut out = Output::plain();
    let state = if answer.pending_files > 0 { "incomplete" } else { "updated" };
    let (files, pieces) = (counted(answer.files, "file"), counted(answer.chunks, "piece"));
    writeln!(out, "Memory index {state}: {files} read, {pieces} of text.")?;
    let more = if args.verbose { answer.failed.as_slice() } else { &[] };
    for failed in more {
        writeln!(out, "Could not read {}", safe(failed))?;
    }
    Ok(out.finish()?)
}
