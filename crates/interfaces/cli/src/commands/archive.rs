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
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// Only show what is kept; copy nothing.
    #[arg(long)]
    status: bool,
    /// Also read every copy and report those that are damaged or incomplete.
    #[arg(long)]
    check: bool,
    /// From now on leave secrets out of copies, and remove them from those that were made. That cannot be undone.
    #[arg(long, conflicts_with = "status")]
    no_secrets: bool,
    /// From now on copy secrets too, after --no-secrets.
    #[arg(long, conflicts_with_all = ["status", "no_secrets"])]
    with_secrets: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Copies what is new.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let no_secrets = (args.no_secrets || args.with_secrets).then_some(args.no_secrets);
    let request = Request { status: args.status, check: args.check, no_secrets };
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
    if answer.redacted_now > 0 {
        writeln!(
            out,
            "Secrets were left out of {} copies that had been made with them.",
            answer.redacted_now
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
    if answer.no_secrets {
        writeln!(out, "Secrets are left out of copies; {} have none.", answer.redacted_files)?;
    }
    for failed in &answer.failed {
        writeln!(out, "Could not copy {}", safe(failed))?;
    }
    for damaged in &answer.damaged {
        writeln!(out, "Damaged: {}", safe(damaged))?;
    }
    for file in &answer.incomplete {
        let (path, part, whole) =
            (safe(&file.path.display().to_string()), bytes(file.bytes), bytes(file.whole_bytes));
        let why =
            if file.is_gone { "it was deleted while it was copied" } else { "the next pass copies the rest" };
        writeln!(out, "Incomplete: {part} of {whole} of {path}; {why}")?;
    }
    if args.check && answer.damaged.is_empty() && answer.incomplete.is_empty() {
        writeln!(out, "Every copy can be read, and is complete.")?;
    } else if args.check && answer.damaged.is_empty() {
        writeln!(out, "What was copied can be read.")?;
    }
    Ok(out.finish()?)
}

/// Says once a day which sessions the next start of Claude Code deletes, beside an answer for a person.
pub(crate) fn say_what_will_be_deleted(context: &Context) {
    const NAMED: usize = 3;
    let Some(notice) = app::kept::deadline::notice(context) else { return };
    let ids: Vec<&str> = notice.sessions.iter().take(NAMED).map(model::SessionId::short).collect();
    let more = if notice.sessions.len() > NAMED { ", …" } else { "" };
    let what = match notice.sessions.len() {
        1 => "a session".to_owned(),
        count => format!("{count} sessions"),
    };
    let kept = if notice.is_kept {
        "Backstory keeps copies (`backstory archive`)"
    } else {
        "Backstory keeps no copies (archive.enabled)"
    };
    let _ = writeln!(
        anstream::stderr().lock(),
        "The next start of Claude Code deletes {what} ({}{more}), unchanged for {} days. {kept}; `backstory doctor --fix` \
         offers to keep the originals longer.",
        safe(&ids.join(", ")),
        notice.days
    );
}

/// Copies some of what is new, now that the answer is printed, and says so the first time.
pub(crate) fn after_an_answer(context: &Context) {
    let Some(folder) = app::kept::upkeep::after_an_answer(context) else { return };
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
