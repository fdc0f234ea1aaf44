//! `index`: brings the search index up to date, once or continuously.

use std::io::Write as _;
use std::time::Duration;

use app::Context;
use app::search::embed::{EmbedReport, embed};
use app::search::index::{self, IndexProgress, SyncReport, discard, pending};
use serde::Serialize;

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{bytes, json_line, safe};

/// Bring the search index up to date with the transcripts.
///
/// `search` does this by itself; use this to do it ahead of time, completely, or from scratch. Ctrl-C stops it and
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
    /// Keep the index up to date until interrupted.
    #[arg(long)]
    watch: bool,
    /// Also embed everything with the chosen model, newest sessions first; continues where it was interrupted.
    #[arg(long, conflicts_with = "dry_run")]
    embed: bool,
    /// The model: a folder, a name on the hub, or an endpoint's address [default: from the settings].
    #[arg(long, value_name = "MODEL", requires = "embed")]
    model: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// How long a model embeds before Backstory checks for new lines.
const EMBED_FOR: Duration = Duration::from_secs(10);

/// The answer of `index --json`.
#[derive(Serialize)]
struct IndexJson {
    files: u64,
    bytes: u64,
    chunks: u64,
    pending_files: u64,
    pending_bytes: u64,
    busy: bool,
    unreadable_lines: u64,
    failed: Vec<String>,
    text_bytes: u64,
    index_bytes: u64,
}

/// What a model has embedded, for `index --embed --json`.
#[derive(Serialize)]
struct EmbeddedJson {
    embedded: u64,
    total: u64,
    added: u64,
    unreadable: u64,
    busy: bool,
}

/// Brings the index up to date, then embeds and watches if asked to.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.dry_run {
        return dry_run(context, args.json);
    }
    if args.rebuild {
        discard(context)?;
    }
    let followed = Followed::interruptible(context);
    let synced = index::index(&followed)?;
    followed.clear();
    print_synced(context, &synced, args)?;
    let embeds = args.embed || context.config().settings.embedding.everything;
    if embeds {
        let limit = args.watch.then_some(EMBED_FOR);
        let embedded = embed(&followed, args.model.as_deref(), limit, pause)?;
        followed.clear();
        print_embedded(args, &embedded)?;
    }
    if args.watch {
        watch(&followed, args, embeds)?;
    }
    Ok(())
}

/// Embeds for a while and returns whether there is more. A model that fails is tried again when something is new.
fn embed_while_watching(followed: &Followed, args: &Args) -> Result<bool, Failure> {
    let embedded = embed(followed, args.model.as_deref(), Some(EMBED_FOR), pause);
    followed.clear();
    match embedded {
        Ok(step) => {
            if step.added > 0 {
                print_embedded(args, &step)?;
            }
            Ok(step.added > 0 && step.done + step.unread < step.of)
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

fn print_embedded(args: &Args, embedded: &EmbedReport) -> Result<(), Failure> {
    let EmbedReport { done, of, added, unread, busy } = *embedded;
    if args.json {
        return print_json(
            args,
            &EmbeddedJson { embedded: done, total: of, added, unreadable: unread, busy },
        );
    }
    let mut out = Output::plain();
    if busy {
        writeln!(out, "Another Backstory process is embedding.")?;
    } else {
        let percent = if of == 0 { 100.0 } else { 100.0 * done as f64 / of as f64 };
        writeln!(out, "{done} of {of} pieces of text ({percent:.0} %) are embedded.")?;
    }
    if unread > 0 {
        writeln!(out, "{unread} pieces could not be read; the next run tries them again.")?;
    }
    if done + unread < of {
        writeln!(out, "`backstory index --embed` continues there.")?;
    }
    Ok(out.finish()?)
}

/// Updates the index whenever something has changed, until interrupted.
fn watch(context: &Followed, args: &Args, embeds: bool) -> Result<(), Failure> {
    let mut watch = index::Watch::start(context);
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
            let synced = index::index(context)?;
            context.clear();
            if synced.progress.files > 0 {
                print_synced(context, &synced, args)?;
            }
        }
        has_more = is_due && embeds || has_more;
        if has_more {
            has_more = embed_while_watching(context, args)?;
        }
        is_due = watch.is_due(context);
    }
    Ok(())
}

fn dry_run(context: &Context, as_json: bool) -> Result<(), Failure> {
    let IndexProgress { files, bytes: size, .. } = pending(context)?;
    if as_json {
        let left = SyncReport { pending_files: files, pending_bytes: size, ..SyncReport::default() };
        return super::json(&json(context, &left)?);
    }
    let mut out = Output::plain();
    writeln!(out, "{files} files with {} to read.", bytes(size))?;
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

fn print_synced(context: &Context, synced: &SyncReport, args: &Args) -> Result<(), Failure> {
    if args.json {
        return print_json(args, &json(context, synced)?);
    }
    let mut out = Output::plain();
    let done = synced.progress;
    if synced.busy {
        writeln!(out, "Another Backstory process is indexing; it has {} files left.", synced.pending_files)?;
    } else if done.files == 0 {
        writeln!(out, "The index is up to date.")?;
    } else {
        writeln!(
            out,
            "Read {} files, {}: {} pieces of text.",
            done.files_done,
            bytes(synced.bytes_read),
            synced.chunks_added
        )?;
    }
    if let Some(size) = index::size(context)? {
        let (text, disk) = (bytes(size.text_bytes), bytes(size.disk_bytes));
        writeln!(out, "The index of {} sessions takes {disk} for {text} of text.", size.sessions)?;
    }
    if synced.pending_files > 0 && !synced.busy {
        writeln!(
            out,
            "{} files ({}) are left; `backstory index` continues there.",
            synced.pending_files,
            bytes(synced.pending_bytes)
        )?;
    }
    if synced.unreadable_lines > 0 {
        writeln!(out, "{} lines could not be read and were skipped.", synced.unreadable_lines)?;
    }
    for (path, why) in &synced.failed {
        writeln!(out, "Could not read {}: {}", safe(&path.display().to_string()), safe(why))?;
    }
    Ok(out.finish()?)
}

fn json(context: &Context, synced: &SyncReport) -> Result<IndexJson, Failure> {
    let size = index::size(context)?;
    Ok(IndexJson {
        text_bytes: size.map_or(0, |size| size.text_bytes),
        index_bytes: size.map_or(0, |size| size.disk_bytes),
        files: synced.progress.files_done,
        bytes: synced.bytes_read,
        chunks: synced.chunks_added,
        pending_files: synced.pending_files,
        pending_bytes: synced.pending_bytes,
        busy: synced.busy,
        unreadable_lines: synced.unreadable_lines,
        failed: synced.failed.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect(),
    })
}
