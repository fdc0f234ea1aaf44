//! `archive`: copies what is new in transcripts and their side files, and says what is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ::archive::{LeftOut, PassReport, Rules, Uncopied};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::{ConfigFolder, TranscriptFile};

use crate::error::{WRITABLE, is_not_permitted};
use crate::retention::{backups, directory_identities};
use crate::sessions::select::all;
use crate::{Context, Error, Kind};

/// How long after a complete pass a command does not start another one.
const PASS_INTERVAL: SignedDuration = SignedDuration::from_mins(10);
/// How long a pass after an answer may take; what is left is copied after the next one.
const TIME_AFTER_ANSWER: Duration = Duration::from_millis(300);
/// How long it may take to copy what Claude Code deletes next.
const TIME_FOR_DUE: Duration = Duration::from_secs(3);
/// What Claude Code may delete by then is due: it may be started later than the command ends.
const DUE_WITHIN: SignedDuration = SignedDuration::from_hours(24);
const GIGABYTE: u64 = 1_000_000_000;

/// What to do with the archive.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ArchiveRequest")]
pub struct Request {
    /// Whether only to say what is kept; then nothing is copied.
    pub status: bool,
    /// Whether to read every copy and report those that are damaged or incomplete.
    pub check: bool,
    /// Whether secrets are left out of copies, from now on: `true` leaves them out of those that are there too, `false` is
    /// for those that are made from now on. As it was without it.
    pub no_secrets: Option<bool>,
}

/// What was copied, and what is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ArchiveAnswer")]
pub struct Answer {
    /// Whether sessions are kept at all: the setting `archive.enabled`.
    pub enabled: bool,
    /// Where the copies are.
    #[serde(serialize_with = "model::path")]
    pub folder: PathBuf,
    /// Whether another process is copying.
    pub busy: bool,
    /// How many files were copied or continued.
    pub copied_files: u64,
    /// How many new bytes they held.
    pub copied_bytes: u64,
    /// How many bytes were written for that.
    pub written_bytes: u64,
    /// Files that had been rewritten; what they held before is kept as an earlier version.
    pub rewritten_files: u64,
    /// Sessions with something new that were not reached.
    pub pending_sessions: u64,
    /// Copies that were removed because of the limits in the settings.
    pub removed_files: u64,
    /// Files that could not be copied, and why.
    pub failed: Vec<String>,
    /// Copies that cannot be read whole any more, and why; only where that was to be checked.
    pub damaged: Vec<String>,
    /// Copies of which the end is missing, because copying was interrupted; only where that was to be checked.
    pub incomplete: Vec<IncompleteFile>,
    /// Whether secrets are left out of copies.
    pub no_secrets: bool,
    /// Copies from which secrets were left out just now.
    pub redacted_now: u64,
    /// Copies that hold no secrets, because they were left out.
    pub redacted_files: u64,
    /// How many sessions are kept.
    pub sessions: u64,
    /// How many files of them.
    pub files: u64,
    /// Earlier versions of rewritten files.
    pub versions: u64,
    /// How much the kept files hold, in bytes.
    pub content_bytes: u64,
    /// How much room the archive takes, in bytes.
    pub disk_bytes: u64,
}

/// A file of which the archive has only the beginning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IncompleteFile {
    /// The file.
    #[serde(serialize_with = "model::path")]
    pub path: PathBuf,
    /// How many bytes of it are kept.
    pub bytes: u64,
    /// How many it had.
    pub whole_bytes: u64,
    /// Whether it is gone; else the next pass copies the rest.
    pub is_gone: bool,
}

/// Copies everything that is new, and says what is kept.
pub fn archive(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("the archive of all sessions")?;
    if let Some(no_secrets) = request.no_secrets {
        set_no_secrets(context, no_secrets)?;
    }
    let mut left_out = LeftOut::default();
    let report = if request.status {
        PassReport::default()
    } else {
        let report = pass(context, &|| context.check_cancelled().is_ok())?;
        note_directories(context);
        left_out = leave_secrets_out(context)?;
        report
    };
    context.check_cancelled()?;
    let removed_files = if request.status || report.busy { 0 } else { prune(context)? };
    let folder = folder(context);
    let damaged = if request.check { ::archive::check(&folder) } else { Vec::new() };
    let size = ::archive::size(&folder);
    let lines = |found: Vec<(PathBuf, String)>| {
        found.iter().map(|(path, why)| format!("{}: {why}", path.display())).collect::<Vec<_>>()
    };
    let not_backed_up = if request.status { Vec::new() } else { backups::daily(context) };
    let incomplete = if request.check { ::archive::incomplete(&folder) } else { Vec::new() };
    let incomplete = incomplete.into_iter().map(|copy| IncompleteFile {
        path: copy.file,
        bytes: copy.bytes,
        whole_bytes: copy.whole,
        is_gone: copy.is_gone,
    });
    let failures = report.failed.into_iter().chain(left_out.failed).collect();
    Ok(Answer {
        enabled: is_enabled(context),
        incomplete: incomplete.collect(),
        no_secrets: is_without_secrets(context),
        redacted_now: left_out.copies,
        redacted_files: size.redacted,
        folder,
        busy: report.busy,
        copied_files: report.files,
        copied_bytes: report.bytes,
        written_bytes: report.written,
        rewritten_files: report.rewritten,
        pending_sessions: report.pending,
        removed_files,
        failed: lines(failures).into_iter().chain(not_backed_up).collect(),
        damaged: lines(damaged),
        sessions: size.sessions,
        files: size.files,
        versions: size.versions,
        content_bytes: size.content_bytes,
        disk_bytes: size.disk_bytes,
    })
}

/// Copies some of what is new once an answer is given, what Claude Code deletes next before all else; returns where to,
/// when that began just now.
pub(crate) fn copy_some(context: &Context) -> Option<PathBuf> {
    if was_complete_recently(context) {
        return None;
    }
    let folder = folder(context);
    let is_first = !folder.exists();
    let due = copy_due(context);
    let begun = Instant::now();
    let report = pass(context, &|| begun.elapsed() < TIME_AFTER_ANSWER).ok()?;
    (is_first && due + report.files > 0).then_some(folder)
}

/// Copies what the next start of Claude Code deletes; returns how many files that were.
///
/// Failures are left to `doctor` and `archive`: no command fails because of a copy.
pub(crate) fn copy_due(context: &Context) -> u64 {
    if was_complete_recently(context) {
        return 0;
    }
    let (begun, mut files) = (Instant::now(), 0);
    for folder in context.config().places().config_folders {
        let days = i64::try_from(folder.cleanup_days()).ok().and_then(|days| days.checked_mul(24));
        let kept_for = SignedDuration::from_hours(days.unwrap_or(i64::from(i32::MAX)));
        let before = context.now.checked_add(DUE_WITHIN).and_then(|by| by.checked_sub(kept_for));
        // Where that is before all time, nothing is due.
        let Ok(before) = before else { continue };
        let rules = Rules { before: Some(before), ..rules(context) };
        let report = pass_over(context, &[folder], &rules, &|| begun.elapsed() < TIME_FOR_DUE);
        files += report.map_or(0, |report| report.files);
    }
    files
}

/// Whether nothing is to be copied now: all was copied a moment ago, or nothing is copied here.
fn was_complete_recently(context: &Context) -> bool {
    let last = ::archive::last_complete_pass(&folder(context));
    let is_recent = last.is_some_and(|last| {
        let ago = context.now.duration_since(last);
        !ago.is_negative() && ago < PASS_INTERVAL
    });
    is_recent || !is_enabled(context) || context.is_limited()
}

/// The sessions among these, of one projects folder, that have no whole copy as they are now.
pub(crate) fn uncopied<'a>(
    context: &Context,
    projects: &Path,
    files: impl IntoIterator<Item = &'a TranscriptFile>,
) -> Uncopied {
    ::archive::uncopied(&folder(context), projects, files, &rules(context))
}

/// Copies everything that is new, as part of bringing the index up to date; returns what could not be copied.
pub(crate) fn copy_all_while_indexing(context: &Context) -> Vec<String> {
    let not_backed_up = backups::daily(context);
    if !is_enabled(context) {
        return not_backed_up;
    }
    match pass(context, &|| context.check_cancelled().is_ok()) {
        Ok(report) => {
            // A session that only went on is where it was.
            if report.whole_files > 0 {
                note_directories(context);
            }
            let left_out = leave_secrets_out(context).unwrap_or_default();
            let failed = report.failed.iter().chain(&left_out.failed);
            let failed = failed.map(|(path, why)| format!("{} (for the archive): {why}", path.display()));
            failed.chain(not_backed_up).collect()
        }
        Err(error) => vec![error.message],
    }
}

/// Notes what the sessions' directories are known by, for `heal`.
fn note_directories(context: &Context) {
    if !is_enabled(context) {
        return;
    }
    let Ok(listed) = all(context) else { return };
    directory_identities::record(
        context,
        listed.sessions.iter().filter_map(|session| session.cwd.as_deref()),
    );
}

/// Where the copies are.
pub(crate) fn folder(context: &Context) -> PathBuf {
    context.config().state.join("archive")
}

/// Whether sessions are copied.
pub(crate) fn is_enabled(context: &Context) -> bool {
    context.config().settings.archive.enabled && !context.config().is_demo
}

/// The file whose presence says that secrets are left out, as `archive --no-secrets` asked for.
const NO_SECRETS: &str = "no-secrets";

/// Whether secrets are left out of copies: by the setting, or because that was asked for once.
fn is_without_secrets(context: &Context) -> bool {
    context.config().settings.archive.no_secrets || folder(context).join(NO_SECRETS).exists()
}

fn set_no_secrets(context: &Context, no_secrets: bool) -> Result<(), Error> {
    if !no_secrets && context.config().settings.archive.no_secrets {
        let message = "the setting archive.no_secrets leaves secrets out";
        return Err(Error::new(Kind::Usage, message).hint("set archive.no_secrets = false first"));
    }
    let (folder, file) = (folder(context), folder(context).join(NO_SECRETS));
    let done = if no_secrets {
        system::create_private_folder(&folder).and_then(|()| system::replace_private_file(&file, b""))
    } else {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    };
    done.map_err(|error| failed(context, &error))
}

/// Leaves secrets out of the copies that were made with them, where that is asked for.
fn leave_secrets_out(context: &Context) -> Result<LeftOut, Error> {
    if !is_without_secrets(context) || !is_enabled(context) {
        return Ok(LeftOut::default());
    }
    ::archive::leave_secrets_out(&folder(context), &|| context.check_cancelled().is_ok())
        .map_err(|error| failed(context, &error))
}

fn pass(context: &Context, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<PassReport, Error> {
    pass_over(context, &context.config().places().config_folders, &rules(context), keep_going)
}

fn pass_over(
    context: &Context,
    folders: &[ConfigFolder],
    rules: &Rules,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> Result<PassReport, Error> {
    if !is_enabled(context) {
        return Ok(PassReport::default());
    }
    ::archive::pass(&folder(context), folders, rules, context.now, keep_going)
        .map_err(|error| failed(context, &error))
}

/// What is kept, by the settings.
fn rules(context: &Context) -> Rules {
    let config = context.config();
    let absolute = |path: &PathBuf| config.absolute(path).to_string_lossy().into_owned();
    Rules {
        excluded: config.settings.archive.exclude.iter().map(absolute).collect(),
        threads: config.places().threads,
        without_secrets: is_without_secrets(context),
        before: None,
    }
}

/// Removes what the limits in the settings do not allow.
fn prune(context: &Context) -> Result<u64, Error> {
    let limits = &context.config().settings.archive;
    let most = (limits.max_gigabytes > 0).then(|| limits.max_gigabytes.saturating_mul(GIGABYTE));
    let days = i64::try_from(limits.max_days).ok().filter(|days| *days > 0);
    let oldest = days.and_then(|days| context.now.checked_sub(SignedDuration::from_hours(24 * days)).ok());
    ::archive::prune(&folder(context), most, oldest).map_err(|error| failed(context, &error))
}

pub(crate) fn failed(context: &Context, error: &std::io::Error) -> Error {
    let attempt = format!("cannot use the archive in {}", folder(context).display());
    let failed = Error::caused(Kind::Unavailable, attempt, error);
    match error.kind() {
        std::io::ErrorKind::StorageFull => {
            failed.hint("free some disk space, or set `archive.max_gigabytes` or `archive.enabled`")
        }
        _ if is_not_permitted(error) => failed.hint(WRITABLE),
        _ => failed,
    }
}
