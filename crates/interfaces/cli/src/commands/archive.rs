//! `archive`: copies what is new and prints what is kept.

use std::io::Write as _;
use std::path::PathBuf;

use app::Context;
use app::retention::archive::{Answer, Request, archive};
use app::retention::upkeep;

use crate::exit::Failure;
use crate::output::{Output, error_width, is_read_by_a_person};
use crate::progress::Followed;
use crate::text::{bytes, counted, safe};
use crate::wrap::wrapped;

/// Keep copies of sessions: Claude Code deletes them after 30 days.
///
/// `search` and `index` make copies as they go. A deleted session is still listed, searched and shown; `restore` puts it
/// back, `forget` erases it.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// Only show what is kept; copy nothing.
    #[arg(long)]
    status: bool,
    /// Also read every copy and report those that are damaged or incomplete.
    #[arg(long)]
    check: bool,
    /// Leave secrets out of copies from now on, and remove them from existing ones. That cannot be undone.
    #[arg(long, conflicts_with = "status")]
    no_secrets: bool,
    /// Undo --no-secrets: copy secrets too from now on.
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
        out.sentence("The archive is off (archive.enabled).")?;
    } else if answer.busy {
        out.sentence("Another Backstory process is copying.")?;
    } else if answer.copied_files > 0 {
        let (size, written) = (bytes(answer.copied_bytes), bytes(answer.written_bytes));
        out.sentence(&format!("Copied {size} of {} into {written}.", counted(answer.copied_files, "file")))?;
    } else if !args.status {
        out.sentence("The archive is up to date.")?;
    }
    if answer.rewritten_files > 0 {
        let rewritten = counted(answer.rewritten_files, "rewritten file");
        out.sentence(&format!("Kept the earlier contents of {rewritten}."))?;
    }
    if answer.redacted_now > 0 {
        let copies = counted(answer.redacted_now, "existing copy");
        out.sentence(&format!("Removed secrets from {copies}."))?;
    }
    if answer.removed_files > 0 {
        let copies = counted(answer.removed_files, "copy");
        out.sentence(&format!("Removed {copies} because of archive.max_gigabytes or archive.max_days."))?;
    }
    let (content, disk) = (bytes(answer.content_bytes), bytes(answer.disk_bytes));
    out.sentence(&format!(
        "The archive holds {} ({}, {content}) in {disk} at {}.",
        counted(sessions, "session"),
        counted(files, "file"),
        safe(&folder.display().to_string())
    ))?;
    if *versions > 0 {
        out.sentence(&format!("That includes {} of rewritten files.", counted(versions, "earlier version")))?;
    }
    if answer.no_secrets {
        let copies = counted(answer.redacted_files, "copy");
        out.sentence(&format!("Secrets are left out; {copies} without them so far."))?;
    }
    for failed in &answer.failed {
        out.sentence(&format!("Could not copy {}", safe(failed)))?;
    }
    for damaged in &answer.damaged {
        out.sentence(&format!("Damaged: {}", safe(damaged)))?;
    }
    for file in &answer.incomplete {
        let (path, part, whole) =
            (safe(&file.path.display().to_string()), bytes(file.bytes), bytes(file.whole_bytes));
        let why =
            if file.is_gone { "it was deleted while it was copied" } else { "the next pass copies the rest" };
        out.sentence(&format!("Incomplete: {part} of {whole} of {path}; {why}"))?;
    }
    if args.check && answer.damaged.is_empty() && answer.incomplete.is_empty() {
        out.sentence("Every copy is complete and can be read.")?;
    } else if args.check && answer.damaged.is_empty() {
        out.sentence("All that was copied can be read.")?;
    }
    Ok(out.finish()?)
}

/// Says once a day which sessions the next start of Claude Code deletes, beside an answer for a person.
pub(crate) fn say_what_will_be_deleted(context: &Context) {
    const NAMED: usize = 3;
    let Some(notice) = app::retention::deadline::notice(context) else { return };
    let ids: Vec<&str> = notice.sessions.iter().take(NAMED).map(model::SessionId::short).collect();
    let more = if notice.sessions.len() > NAMED { ", …" } else { "" };
    let what = counted(notice.sessions.len(), "session");
    let left_out = |kept: &str| match notice.left_out {
        0 => kept.to_owned(),
        these => format!("{kept}; {these} are left out of copies (archive.exclude, or forgotten)"),
    };
    let kept = match notice.uncopied {
        _ if !notice.is_kept => "Backstory keeps no copies (archive.enabled)".to_owned(),
        0 if notice.left_out == notice.sessions.len() => {
            "They are left out of copies (archive.exclude, or forgotten)".to_owned()
        }
        0 => left_out("Backstory has copies"),
        1 => left_out("One has no copy yet: `backstory archive` copies it"),
        these => left_out(&format!("{these} have no copy yet: `backstory archive` copies them")),
    };
    say(&format!(
        "The next start of Claude Code deletes {what} ({}{more}), unchanged for {} days. {kept}; `backstory doctor --fix` \
         offers to keep the originals longer.",
        safe(&ids.join(", ")),
        notice.days
    ));
}

/// Copies some of what is new, now that the answer is printed, and says so the first time.
pub(crate) fn after_an_answer(context: &Context) {
    say_where_copies_are(upkeep::after_an_answer(context));
}

/// The same after an answer that needs no index.
pub(crate) fn after_a_listing(context: &Context) {
    say_where_copies_are(upkeep::after_a_listing(context));
}

/// Says where copies are kept from now on.
fn say_where_copies_are(begun: Option<PathBuf>) {
    let Some(folder) = begun else { return };
    if !is_read_by_a_person() {
        return;
    }
    // Whoever does not read this finds it in `doctor`.
    say(&format!(
        "Backstory now keeps compressed copies of your sessions in {}, because Claude Code deletes them after \
         `cleanupPeriodDays`. To turn that off: archive.enabled = false (docs/archive.md)",
        safe(&folder.display().to_string())
    ));
}

/// Says something beside an answer, wrapped on a terminal.
fn say(text: &str) {
    let text = error_width().map_or_else(|| text.to_owned(), |width| wrapped(text, width));
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}
