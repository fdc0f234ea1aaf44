//! `memory`: searches what OpenClaw's agents remember, with the flags and JSON of `openclaw memory`.

use std::io::Write as _;

use app::search::SourceKind;
use app::search::memory::{Answer, Remembered, Request, Status, search, status};
use app::{Context, Error, Kind};
use model::AgentId;
use serde::Serialize;
use serde_json::{Value, json};

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{safe, safe_lines};

/// The longest snippet, in characters, the same as in OpenClaw.
const SNIPPET: usize = 700;

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
    #[arg(long, value_parser = ["memory", "sessions", "claude-sessions"])]
    source: Option<String>,
    /// Only this conversation: OpenClaw's key or a session's id.
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// Also show Claude sessions whose conversation OpenClaw has, too.
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultJson<'a> {
    path: &'a str,
    start_line: u64,
    end_line: u64,
    score: f32,
    snippet: String,
    source: &'static str,
    file: String,
    session_id: Option<&'a str>,
    agent_id: Option<&'a AgentId>,
    file_missing: bool,
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
    if args.min_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return Err(Error::new(Kind::Usage, "--min-score must be between 0 and 1").into());
    }
    let request = Request {
        question: args.words.join(" "),
        agent: args.agent.clone(),
        project: args.project.clone(),
        source: args.source.as_deref().and_then(SourceKind::parse),
        session: args.session.clone(),
        limit: args.max_results,
        min_score: args.min_score,
        include_owned: args.include_owned,
    };
    let followed = Followed::interruptible(context);
    let answer = search(&followed, &request)?;
    drop(followed);
    if args.json {
        let results: Vec<_> = answer.results.iter().map(result_json).collect();
        return super::json(
            &json!({ "results": results, "pendingFiles": answer.pending_files, "stale": answer.stale }),
        );
    }
    print(context, &answer)
}

fn result_json(found: &Remembered) -> Value {
    let hit = &found.hit;
    let (start_line, end_line) = hit.lines.unwrap_or((hit.line, hit.line));
    let is_conversation = hit.source != SourceKind::Memory;
    json!(ResultJson {
        path: &found.path,
        start_line,
        end_line,
        score: hit.score,
        snippet: snippet(found),
        source: hit.source.word(),
        file: hit.file.display().to_string(),
        session_id: is_conversation.then(|| hit.session.as_str()),
        agent_id: found.agent.as_ref(),
        file_missing: hit.gone,
    })
}

fn snippet(found: &Remembered) -> String {
    found.hit.passage.as_deref().unwrap_or_default().chars().take(SNIPPET).collect()
}

fn print(context: &Context, answer: &Answer) -> Result<(), Failure> {
    let mut out = super::paged(context);
    if answer.results.is_empty() {
        writeln!(out, "No matches.")?;
        for sentence in app::unread(context) {
            writeln!(out, "{}", safe(&sentence))?;
        }
    }
    for found in &answer.results {
        let (start, end) = found.hit.lines.unwrap_or((found.hit.line, found.hit.line));
        writeln!(out, "{:.3} {}:{start}-{end}", found.hit.score, safe(&found.path))?;
        writeln!(out, "{}\n", safe_lines(snippet(found).trim_end()))?;
    }
    if answer.pending_files > 0 {
        writeln!(
            out,
            "{} files are not indexed yet; `backstory memory index` indexes them",
            answer.pending_files
        )?;
    }
    if let Some(why) = &answer.stale {
        writeln!(out, "the index could not be brought up to date: {}", safe(why))?;
    }
    Ok(out.finish()?)
}

fn run_status(context: &Context, args: &StatusArgs) -> Result<(), Failure> {
    let mut index_error = None;
    if args.index {
        let request = app::search::index::Request::default();
        let indexed = app::search::index::index(&Followed::interruptible(context), &request);
        index_error = indexed.err().map(|error| error.message);
    }
    // As in OpenClaw: with --index, the embedding is tested too.
    let probe = (args.deep || args.index).then(|| app::search::embed::probe(context));
    let embeds = app::search::embed::provider(context);
    let found = status(context, args.agent.as_ref())?;
    if args.json {
        let all = found.iter().map(|one| status_json(one, &embeds, probe.as_ref(), index_error.as_deref()));
        return super::json(&all.collect::<Vec<_>>());
    }
    let mut out = Output::plain();
    if found.is_empty() {
        writeln!(out, "No OpenClaw agents were found; set OPENCLAW_STATE_DIR to OpenClaw's state folder.")?;
    }
    for one in &found {
        let names: Vec<_> = one.sources.iter().map(|source| source.word()).collect();
        writeln!(out, "Memory search for agent {}", one.agent)?;
        writeln!(out, "  sources    {}", names.join(", "))?;
        writeln!(out, "  workspace  {}", safe(&one.workspace.display().to_string()))?;
        for count in &one.counts {
            writeln!(out, "  {:<16} {} files, {} pieces", count.source.word(), count.files, count.chunks)?;
        }
        let dirty =
            if one.dirty { "not up to date; `backstory memory index` updates it" } else { "up to date" };
        writeln!(out, "  index      {dirty}")?;
        writeln!(out, "  meaning    {} ({})", safe(&embeds.1), embeds.0)?;
        if let Some(Err(why)) = &probe {
            writeln!(out, "             not available: {}", safe(why))?;
        }
        for issue in one.scans.iter().flat_map(|scan| &scan.issues) {
            writeln!(out, "  note       {}", safe(issue))?;
        }
        if args.verbose {
            writeln!(out, "  stored in  {}", safe(&one.index.display().to_string()))?;
        }
    }
    if let Some(why) = &index_error {
        writeln!(out, "the index could not be brought up to date: {}", safe(why))?;
    }
    Ok(out.finish()?)
}

fn status_json(
    one: &Status,
    (provider, model): &(&str, String),
    probe: Option<&Result<(), String>>,
    index_error: Option<&str>,
) -> Value {
    let total =
        |number: fn(&app::search::memory::SourceCount) -> u64| one.counts.iter().map(number).sum::<u64>();
    let counts: Vec<_> = one
        .counts
        .iter()
        .map(|count| json!({ "source": count.source.word(), "files": count.files, "chunks": count.chunks }))
        .collect();
    let mut answer = json!({
        "agentId": one.agent,
        "status": {
            "files": total(|count| count.files),
            "chunks": total(|count| count.chunks),
            "dirty": one.dirty,
            "workspaceDir": one.workspace.display().to_string(),
            "dbPath": one.index.display().to_string(),
            "provider": provider,
            "model": model,
            "requestedProvider": provider,
            "sources": one.sources.iter().map(|source| source.word()).collect::<Vec<_>>(),
            "extraPaths": one.settings.extra_paths,
            "claudeSessions": {
                "enabled": one.settings.claude.enabled,
                "path": one.settings.claude.path,
                "watch": one.settings.claude.watch,
                "defaultProject": one.settings.claude.default_project,
            },
            "sourceCounts": counts,
            "cache": { "enabled": false, "entries": 0 },
            "fts": { "enabled": true, "available": one.by_words },
            "vector": { "enabled": true, "available": one.by_meaning },
            "batch": { "enabled": false },
            "fallback": Value::Null,
        },
        "scan": scan_json(one),
    });
    match probe {
        None => {}
        Some(Ok(())) => answer["embeddingProbe"] = json!({ "ok": true }),
        // The built-in table answers instead.
        Some(Err(why)) => {
            answer["embeddingProbe"] = json!({ "ok": false, "error": why });
            answer["status"]["fallback"] = json!({ "from": provider, "reason": why });
        }
    }
    if let Some(why) = index_error {
        answer["indexError"] = json!(why);
    }
    answer
}

fn scan_json(one: &Status) -> Value {
    let scan = |scan: &app::search::memory::Scan| json!({ "source": scan.source.word(), "totalFiles": scan.files, "issues": scan.issues });
    let issues: Vec<&String> = one.scans.iter().flat_map(|scan| &scan.issues).collect();
    json!({
        "sources": one.scans.iter().map(scan).collect::<Vec<_>>(),
        "totalFiles": one.scans.iter().map(|scan| scan.files).sum::<usize>(),
        "issues": issues,
    })
}

fn run_index(context: &Context, args: &IndexArgs) -> Result<(), Failure> {
    status(context, args.agent.as_ref())?;
    let request = app::search::index::Request { rebuild: args.force, dry_run: false };
    let indexed = app::search::index::index(&Followed::interruptible(context), &request)?;
    let mut out = Output::plain();
    let state = if indexed.pending_files > 0 { "incomplete" } else { "updated" };
    writeln!(out, "Memory index {state}: {} files read, {} pieces of text.", indexed.files, indexed.chunks)?;
    let more = if args.verbose { indexed.failed.as_slice() } else { &[] };
    for failed in more {
        writeln!(out, "Could not read {}", safe(failed))?;
    }
    Ok(out.finish()?)
}
