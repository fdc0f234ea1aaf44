//! `index`: brings the search index up to date, and keeps it so.

use std::io::Write as _;

use app::App;
use app::index::{self, Progress, Synced, discard, pending};
use serde::Serialize;

use crate::exit::Failure;
use crate::output::Output;
use crate::patience::Patience;
use crate::text::{bytes, safe};

/// Bring the search index up to date with the transcripts.
///
/// Searching does this by itself; this is for doing it ahead, whole, or anew. Ctrl-C stops it and keeps what
/// was read.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that can be typed")]
pub(crate) struct Args {
    /// Make the index anew from the transcripts.
    #[arg(long)]
    rebuild: bool,
    /// Say what would be read, and read nothing.
    #[arg(long, conflicts_with_all = ["rebuild", "watch"])]
    dry_run: bool,
    /// Stay and keep the index up to date until interrupted.
    #[arg(long)]
    watch: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The answer in JSON.
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

/// Indexes.
pub(crate) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    if args.dry_run {
        return dry(app, args.json);
    }
    if args.rebuild {
        discard(app)?;
    }
    let mut patience = Patience::endless();
    let synced = index::index(app, &mut |progress| patience.keeps_on(progress))?;
    tell(app, &synced, args.json)?;
    if args.watch {
        watch(app, args, &mut patience)?;
    }
    Ok(())
}

/// Reads what is new whenever something has changed, until interrupted.
fn watch(app: &App, args: &Args, patience: &mut Patience) -> Result<(), Failure> {
    let mut watch = index::Watch::start(app);
    if watch.leaves_claude() {
        let why = "OpenClaw's settings say so (memorySearch.claudeSessions.watch)";
        writeln!(anstream::stderr().lock(), "Claude Code's sessions are not watched: {why}.")?;
    }
    // What was written before the watching began.
    let mut is_time = true;
    while !patience.is_interrupted() {
        if is_time {
            let synced = index::index(app, &mut |progress| patience.keeps_on(progress))?;
            if synced.progress.files > 0 {
                tell(app, &synced, args.json)?;
            }
        }
        is_time = watch.is_time(app);
    }
    Ok(())
}

fn dry(app: &App, as_json: bool) -> Result<(), Failure> {
    let Progress { files, bytes: size, .. } = pending(app)?;
    if as_json {
        let left = Synced { pending_files: files, pending_bytes: size, ..Synced::default() };
        return super::json(&json(app, &left)?);
    }
    let mut out = Output::plain();
    writeln!(out, "{files} files with {} to read.", bytes(size))?;
    Ok(out.finish()?)
}

fn tell(app: &App, synced: &Synced, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return super::json(&json(app, synced)?);
    }
    let mut out = Output::plain();
    let done = synced.progress;
    if synced.busy {
        writeln!(out, "Another backstory is indexing; {} files are left to it.", synced.pending_files)?;
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
    if let Some(size) = index::size(app)? {
        let (text, disk) = (bytes(size.text_bytes), bytes(size.disk_bytes));
        writeln!(out, "The index of {} sessions takes {disk}, for {text} of text.", size.sessions)?;
    }
    if synced.pending_files > 0 && !synced.busy {
        writeln!(
            out,
            "{} files ({}) are left; `backstory index` goes on there.",
            synced.pending_files,
            bytes(synced.pending_bytes)
        )?;
    }
    if synced.unreadable_lines > 0 {
        writeln!(out, "{} lines could not be read and were passed over.", synced.unreadable_lines)?;
    }
    for (path, why) in &synced.failed {
        writeln!(out, "Not read: {}: {}", safe(&path.display().to_string()), safe(why))?;
    }
    Ok(out.finish()?)
}

fn json(app: &App, synced: &Synced) -> Result<IndexJson, Failure> {
    let size = index::size(app)?;
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
