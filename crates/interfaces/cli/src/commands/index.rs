//! `index`: brings the search index up to date, once or continuously.

use std::io::Write as _;
use std::time::Duration;

use app::Context;
use app::search::embed::{self, embed};
use app::search::excerpts::{self, continue_behind_index, embed_excerpts};
use app::search::index::watch::Watch;
use app::search::index::{Answer, Request, index};
use serde::Serialize;

use crate::exit::Failure;
use crate::json::json_line;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{bytes, counted, safe};

/// Bring the search index up to date with the transcripts.
///
/// `search` does this automatically; use this to do it ahead of time, completely, or from scratch. Ctrl-C stops it and
/// keeps what was read.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct Args {
    /// Rebuild the index from the transcripts.
    #[arg(long)]
    rebuild: bool,
    /// Only show how much would be read.
    #[arg(long, conflicts_with_all = ["rebuild", "watch"])]
    dry_run: bool,
    /// Keep the index up to date until Ctrl-C.
    #[arg(long)]
    watch: bool,
    /// Also embed everything with the chosen model, newest sessions first; continues where it was interrupted.
    #[arg(long, conflicts_with = "dry_run")]
    embed: bool,
    /// Only embed the excerpts of sessions that have none yet, which `search` otherwise lets go on behind its answers.
    #[arg(long, conflicts_with_all = ["rebuild", "dry_run", "watch", "embed"])]
    excerpts: bool,
    /// The model: a folder, a name on the hub, or an endpoint's address [default: from the settings].
    #[arg(long, value_name = "MODEL", requires = "embed")]
    model: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How long a model embeds before Backstory checks for new lines.
const EMBED_FOR: Duration = Duration::from_secs(10);

/// Brings the index up to date, then embeds and watches if asked to.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.excerpts {
        return run_excerpts(context, args);
    }
    let request = Request { dry_run: args.dry_run, rebuild: args.rebuild };
    if args.dry_run {
        return print_dry_run(args, &index(context, &request)?);
    }
    let followed = Followed::interruptible(context);
    let answer = index(&followed, &request)?;
    followed.clear();
    print(args, &answer)?;
    continue_behind_index(context)?;
    let embeds = args.embed || context.config().settings.embedding.everything;
    if embeds {
        let limit = args.watch.then_some(EMBED_FOR);
        let request = embed::Request { model: args.model.clone() };
        let embedded = embed(&followed, &request, limit, pause)?;
        followed.clear();
        print_embedded(args, &embedded)?;
    }
    if args.watch {
        watch(&followed, args, embeds)?;
    }
    Ok(())
}

/// Embeds the excerpts of sessions that have none yet.
fn run_excerpts(context: &Context, args: &Args) -> Result<(), Failure> {
    let followed = Followed::interruptible(context);
    let answer = embed_excerpts(&followed)?;
    followed.clear();
    if args.json {
        return super::json(&answer);
    }
    let excerpts::Answer { embedded, total, busy, .. } = answer;
    let mut out = Output::plain();
    if busy {
        writeln!(out, "Another Backstory process is embedding.")?;
    } else {
        writeln!(out, "{embedded} of {} have excerpts.", counted(total, "session"))?;
    }
    Ok(out.finish()?)
}

/// Embeds for a while and returns whether there is more. A model that fails is tried again when something is new.
fn embed_while_watching(followed: &Followed, args: &Args) -> Result<bool, Failure> {
    let request = embed::Request { model: args.model.clone() };
    let embedded = embed(followed, &request, Some(EMBED_FOR), pause);
    followed.clear();
    match embedded {
        Ok(step) => {
            if step.added > 0 {
                print_embedded(args, &step)?;
            }
            Ok(step.added > 0 && step.has_more())
        }
        Err(error) => {
            writeln!(anstream::stderr().lock(), "{}", safe(&error.message))?;
            Ok(false)
        }
    }
}

/// Waits before a busy endpoint is asked again.
#[expect(clippy::disallowed_methods, reason = "the endpoint asks for a pause")]
fn pause(length: Duration) -> bool {
    std::thread::sleep(length);
    true
}

fn print_embedded(args: &Args, answer: &embed::Answer) -> Result<(), Failure> {
    if args.json {
        return print_json(args, answer);
    }
    let embed::Answer { embedded, total, unreadable, busy, .. } = *answer;
    let mut out = Output::plain();
    if busy {
        writeln!(out, "Another Backstory process is embedding.")?;
    } else {
        let percent = if total == 0 { 100.0 } else { 100.0 * embedded as f64 / total as f64 };
        writeln!(out, "{embedded} of {total} pieces of text ({percent:.0}%) are embedded.")?;
    }
    if unreadable > 0 {
        writeln!(out, "{unreadable} pieces could not be read; the next run tries them again.")?;
    }
    if answer.has_more() {
        writeln!(out, "`backstory index --embed` continues there.")?;
    }
    Ok(out.finish()?)
}

/// Updates the index whenever something has changed, until interrupted.
fn watch(context: &Followed, args: &Args, embeds: bool) -> Result<(), Failure> {
    let mut watch = Watch::start(context);
    if watch.skips_claude() {
        let why = "OpenClaw's settings turn that off (memorySearch.claudeSessions.watch)";
        writeln!(anstream::stderr().lock(), "Not watching Claude Code's sessions: {why}.")?;
    }
    // Updates once at the start, for what was written before watching began.
    let mut is_due = true;
    // Whether the model has something to embed.
    let mut has_more = false;
    while !context.cancellation.is_hurried() {
        if is_due {
            let answer = index(context, &Request::default())?;
            context.clear();
            if answer.files > 0 || !answer.failed.is_empty() {
                print(args, &answer)?;
            }
            continue_behind_index(context)?;
        }
        has_more = is_due && embeds || has_more;
        if has_more {
            has_more = embed_while_watching(context, args)?;
        }
        is_due = watch.is_due(context);
    }
    Ok(())
}

fn print_dry_run(args: &Args, answer: &Answer) -> Result<(), Failure> {
    if args.json {
        return super::json(answer);
    }
    let mut out = Output::plain();
    writeln!(out, "{} to read, {}.", counted(answer.pending_files, "file"), bytes(answer.pending_bytes))?;
    Ok(out.finish()?)
}

/// Prints JSON: one pretty-printed object, or with `--watch` one object per line.
fn print_json(args: &Args, value: &impl Serialize) -> Result<(), Failure> {
    if !args.watch {
        return super::json(value);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json_line(value)?)?;
    Ok(out.flush()?)
}

fn print(args: &Args, answer: &Answer) -> Result<(), Failure> {
    if args.json {
        return print_json(args, answer);
    }
    let mut out = Output::plain();
    if answer.busy {
        let left = counted(answer.pending_files, "file");
        writeln!(out, "Another Backstory process is indexing; it has {left} left.")?;
    } else if answer.sessions == 0 && answer.files == 0 && answer.pending_files == 0 {
        writeln!(out, "There are no sessions to index; `backstory list` says where they are looked for.")?;
    } else if answer.files == 0 && answer.pending_files == 0 && answer.failed.is_empty() {
        writeln!(out, "The index is up to date.")?;
    } else {
        let (files, size) = (counted(answer.files, "file"), bytes(answer.bytes));
        writeln!(out, "Read {files}, {size}: {} of text.", counted(answer.chunks, "piece"))?;
    }
    if let Some(disk) = answer.index_bytes.filter(|disk| *disk > 0) {
        let (text, disk) = (bytes(answer.text_bytes), bytes(disk));
        let sessions = counted(answer.sessions, "session");
        writeln!(out, "The index holds {sessions}: {text} of text in {disk}.")?;
    }
    if answer.pending_files > 0 && !answer.busy {
        let (files, size) = (counted(answer.pending_files, "file"), bytes(answer.pending_bytes));
        writeln!(out, "{files} ({size}) left to read; `backstory index` continues there.")?;
    }
    if let Some(lines) = answer.unreadable_lines.filter(|lines| *lines > 0) {
        writeln!(out, "Skipped {} that could not be read.", counted(lines, "line"))?;
    }
    for failed in &answer.failed {
        writeln!(out, "Could not read {}", safe(failed))?;
    }
    Ok(out.finish()?)
}
