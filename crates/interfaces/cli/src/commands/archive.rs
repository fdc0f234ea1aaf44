//! `archive`: copies what is new and prints what is kept.

use std::io::Write as _;

use app::Context;
use app::kept::archive::{Answer, Request, archive};

use crate::exit::Failure;
use crate::output::{Output, is_read_by_a_person};
use crate::progress::Followed;
use crate::text::{bytes, safe};

/// Keep copies of sessions: Claude Code deletes them after 30 days.
///
/// `search` and `index` do this by themselves. A session that was deleted is listed, searched and shown as before;
/// `restore` puts it back, `forget` erases it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only show what is kept; copy nothing.
    #[arg(long)]
    status: bool,
    /// Also read every copy and report those that are damaged.
    #[arg(long)]
    check: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Copies what is new.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let request = Request { status: args.status, check: args.check };
    let followed = Followed::interruptible(context);
    let answer = archive(&followed, &request)?;
    drop(followed);
    if args.json {
        return super::json(&answer);
    }
    print(args, &answer)
}

fn print(args: &Args, answer: &Answer) -> Result<(), Failure> {
    let mut out = Output::plain();
    let Answer { folder, sessions, files, versions, .. } = answer;
    if !answer.enabled {
        writeln!(out, "The archive is off (archive.enabled).")?;
    } else if answer.busy {
        writeln!(out, "Another Backstory process is copying.")?;
    } else if answer.copied_files > 0 {
        let (size, written) = (bytes(answer.copied_bytes), bytes(answer.written_bytes));
        writeln!(out, "Copied {size} of {} files into {written}.", answer.copied_files)?;
    } else if !args.status {
        writeln!(out, "The archive is up to date.")?;
    }
    if answer.rewritten_files > 0 {
        writeln!(
            out,
            "{} files had been rewritten; their earlier versions are kept.",
            answer.rewritten_files
        )?;
    }
    if answer.removed_files > 0 {
        writeln!(
            out,
            "{} copies were removed because of archive.max_gigabytes or max_days.",
            answer.removed_files
        )?;
    }
    let (content, disk) = (bytes(answer.content_bytes), bytes(answer.disk_bytes));
    writeln!(
        out,
        "{sessions} sessions ({files} files, {content}) take {disk} in {}.",
        safe(&folder.display().to_string())
    )?;
    if *versions > 0 {
        writeln!(out, "{versions} earlier versions of rewritten files are among them.")?;
    }
    for failed in &answer.failed {
        writeln!(out, "Could not copy {}", safe(failed))?;
    }
    for damaged in &answer.damaged {
        writeln!(out, "Damaged: {}", safe(damaged))?;
    }
    if args.check && answer.damaged.is_empty() {
        writeln!(out, "Every copy can be read.")?;
    }
    Ok(out.finish()?)
}

/// Copies some of what is new, now that the answer is printed, and says so the first time.
pub(crate) fn after_an_answer(context: &Context) {
    let Some(folder) = app::kept::archive::after_an_answer(context) else { return };
    if !is_read_by_a_person() {
        return;
    }
    // Whoever does not read this finds it in `doctor`.
    let _ = writeln!(
        anstream::stderr().lock(),
        "Backstory now keeps compressed copies of your sessions in {}, because Claude Code deletes them after \
         `cleanupPeriodDays`. To turn that off: archive.enabled = false (docs/archive.md)",
        safe(&folder.display().to_string())
    );
}
