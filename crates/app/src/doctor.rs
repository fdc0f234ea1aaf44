//! `doctor`: checks the installation and reports what was found, what is wrong, and the next step for each finding.

mod copies;
mod plugin;
mod report;
mod secrets;
mod service;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use model::{Session, SessionId};
use openclaw::{Agents, Registry};
use transcript::{ConfigFolder, RegisteredProcess, ScheduledTask, TranscriptFile};
use workers::Release;

use crate::proceed::claude;
use crate::repository::schedules::DirectorySchedule;
use crate::retention::deadline::deletion_of;
use crate::search::{excerpts, index};
use crate::sessions::select::{self, Listing};
use crate::sessions::unread::{STILL_FOUND, unreadable_databases};
use crate::{Context, Error, NextStep, cron, retention};

pub use report::{
    ArchiveReport, CacheFile, ClaudeReport, Excerpts, Finding, Folder, Index, PluginReport, Report, Request,
    Severity,
};
pub use secrets::{SecretsFound, SecretsReport, SecretsRequest, secrets};
pub use service::{ServiceFiles, ServiceRequest, service};

/// The next steps of a finding.
type Steps = Vec<NextStep>;

/// How long before Claude Code deletes a transcript the report warns of it.
const WARNING: Duration = Duration::from_hours(7 * 24);

/// Checks the installation, the folders, the index and the settings.
pub fn doctor(context: &Context, _: &Request) -> Result<Report<Vec<NextStep>>, Error> {
    context.require_person("the report on this machine")?;
    let all = select::all(context)?;
    let program = claude::installed(context);
    let release = program.as_ref().and_then(|program| claude::release(context, program));
    let claude = program.map(|program| describe(program.path, release));
    let plugin = plugin::installed(context);
    let index = about_index(context);
    let findings: Vec<_> = [
        about_claude(context, claude.as_ref(), release),
        plugin::about(context, plugin.as_ref(), release),
        about_folders(context, &all),
        unreadable(&all),
        foreign(context, &all),
        damaged(&all.sessions),
        not_kept(&all),
        about_damage(context, index.as_ref().err()),
        expiring(context, &all.sessions),
        copies::about(context),
        not_read(context),
        set_aside(context),
        left_behind(context),
        unknown_words(context),
        jobs_without_daemon(context),
        directory_schedules(context, &all.sessions),
    ]
    .concat();
    Ok(Report {
        healthy: findings.iter().all(|finding| finding.severity == Severity::Advice),
        claude,
        plugin: plugin.as_ref().map(plugin::report),
        config_folders: config_folders(context, &all.sessions),
        openclaw_folders: openclaw_folders(context),
        subagents: all.subagents,
        catalog: cache_file(context.config().places().cache.unwrap_or_default()),
        index: index.ok().flatten(),
        excerpts: about_excerpts(context),
        archive: about_archive(context),
        findings,
    })
}

/// The installed `claude`, and what it can do.
pub fn claude(context: &Context) -> Result<Option<ClaudeReport>, Error> {
    context.require_person("the report on this machine")?;
    let program = claude::installed(context);
    Ok(program.map(|program| describe(program.path.clone(), claude::release(context, &program))))
}

fn describe(path: PathBuf, release: Option<Release>) -> ClaudeReport {
    let can = |ability: fn(Release) -> bool| release.is_some_and(ability);
    ClaudeReport {
        path,
        version: release.map(|release| release.to_string()),
        can_fork: can(Release::can_fork),
        finds_sessions_anywhere: can(Release::resumes_from_anywhere),
        registers_live_sessions: can(Release::has_registry),
    }
}

fn about_claude(
    context: &Context,
    claude: Option<&ClaudeReport>,
    release: Option<Release>,
) -> Vec<Finding<Steps>> {
    let found = match (claude, release) {
        (None, _) => problem(claude::missing(context), None, advice_to(&claude::advice(context))),
        (Some(claude), None) => {
            let what = format!("`{} --version` does not print a version", claude.path.display());
            let next = format!("reinstall Claude Code: {}", claude::INSTALL);
            problem(what, Some(claude.path.clone()), advice_to(&next))
        }
        (Some(claude), Some(release)) if !release.can_fork() => {
            let what = format!("claude {release} cannot fork sessions");
            let next = format!("install {} or newer: {}", Release::FORK, claude::INSTALL);
            problem(what, Some(claude.path.clone()), advice_to(&next))
        }
        (Some(_), Some(_)) => return Vec::new(),
    };
    vec![found]
}

fn about_archive(context: &Context) -> ArchiveReport {
    let path = retention::archive::folder(context);
    let size = archive::size(&path);
    ArchiveReport {
        enabled: retention::archive::is_enabled(context),
        sessions: size.sessions,
        content_bytes: size.content_bytes,
        disk_bytes: size.disk_bytes,
        max_gigabytes: context.config().settings.archive.max_gigabytes,
        path,
    }
}

fn about_folders(context: &Context, all: &Listing) -> Vec<Finding<Steps>> {
    if all.known > 0 {
        return Vec::new();
    }
    let place = context.config().claude_folders.first().map(|folder| folder.join("projects"));
    vec![problem("no sessions were found".to_owned(), place, vec![NextStep::FindSessions])]
}

fn unreadable(all: &Listing) -> Vec<Finding<Steps>> {
    let finding = |found: &transcript::ReadProblem| {
        let next = with_command("inspect it", "ls -ld", &found.path);
        problem(found.what.clone(), Some(found.path.clone()), advice_to(&next))
    };
    let mut findings: Vec<_> = all.problems.iter().map(finding).collect();
    findings.sort_by(|one, other| one.path.cmp(&other.path));
    findings
}

/// Files named like transcripts with other content.
fn foreign(context: &Context, all: &Listing) -> Vec<Finding<Steps>> {
    let listed: HashSet<&SessionId> = all.sessions.iter().map(|session| &session.id).collect();
    let reported: HashSet<&Path> = all.problems.iter().map(|problem| problem.path.as_path()).collect();
    let found = catalog::discover(&context.config().places()).sessions;
    let files = found.iter().filter(|file| !listed.contains(&file.id) && !reported.contains(&*file.path));
    let finding = |file: &TranscriptFile| Finding {
        severity: Severity::Advice,
        what: "it is named like a transcript, but none of its lines is JSON, so it is not listed".to_owned(),
        path: Some(file.path.to_path_buf()),
        next_step: advice_to(&with_command("inspect it", "head", &file.path)),
    };
    files.map(finding).collect()
}

/// Damaged transcripts, as one finding for each kind of damage.
fn damaged(sessions: &[Session]) -> Vec<Finding<Steps>> {
    let unreadable =
        lost(sessions, |session| session.damage.unreadable_lines).map(|(lines, whose, place)| {
            let what = format!("{} cannot be read, in {whose}", plural(lines, "line"));
            (what, place, "they are skipped, and everything else in these sessions is read")
        });
    let mended = lost(sessions, |session| session.damage.mended_lines).map(|(lines, whose, place)| {
        let what = format!("{} with bytes that are not UTF-8, in {whose}", plural(lines, "line"));
        (what, place, "these bytes are shown as U+FFFD, as in Claude Code itself")
    });
    let cut_off = |session: &Session| u64::from(session.damage.is_cut_off && !session.is_running);
    let cut_off = lost(sessions, cut_off).map(|(lines, whose, place)| {
        let what = format!("{} cut off at the end of {whose}", plural(lines, "line"));
        (what, place, "they are skipped, and everything else in these sessions is read")
    });
    let advice = |(what, place, why): (String, Option<PathBuf>, &str)| Finding {
        severity: Severity::Advice,
        what,
        path: place,
        next_step: advice_to(&format!("no action is needed: {why}")),
    };
    [unreadable, mended, cut_off].into_iter().flatten().map(advice).collect()
}

/// The number of damaged lines, the sessions they are in, and the first file.
fn lost(sessions: &[Session], count: impl Fn(&Session) -> u64) -> Option<(u64, String, Option<PathBuf>)> {
    const NAMED: usize = 3;
    let hit: Vec<&Session> = sessions.iter().filter(|session| count(session) > 0).collect();
    let first = hit.first()?;
    let named: Vec<_> = hit.iter().take(NAMED).map(|session| session.id.short()).collect();
    let more = if hit.len() > NAMED { ", …" } else { "" };
    let whose = format!("{} ({}{more})", plural(hit.len() as u64, "session"), named.join(", "));
    Some((hit.iter().map(|session| count(session)).sum(), whose, first.file.as_deref().map(Path::to_owned)))
}

fn plural(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// What to do, with the shell command for it if the path can be quoted.
fn with_command(what: &str, command: &str, path: &Path) -> String {
    workers::quoted(path).map_or_else(|| what.to_owned(), |path| format!("{what}: {command} {path}"))
}

fn not_kept(all: &Listing) -> Vec<Finding<Steps>> {
    let next = "free some space or make the folder writable, or set BACKSTORY_HOME to another folder";
    all.not_cached.iter().map(|why| problem(why.clone(), None, advice_to(next))).collect()
}

fn about_index(context: &Context) -> Result<Option<Index>, Error> {
    let Some(size) = index::size(context)? else { return Ok(None) };
    let pending = index::pending(context)?;
    Ok(Some(Index {
        path: index::folder(context),
        chunks: size.chunks,
        files: size.files,
        sessions: size.sessions,
        pending_files: pending.files,
        pending_bytes: pending.bytes,
    }))
}

fn about_excerpts(context: &Context) -> Excerpts {
    match excerpts::description(context) {
        Ok(model) => Excerpts { model: Some(model), reason: None },
        Err(reason) => Excerpts { model: None, reason: Some(reason) },
    }
}

/// Files of the index in which something else is than what was written, which reads the whole index; or why it cannot
/// be used.
fn about_damage(context: &Context, failed: Option<&Error>) -> Vec<Finding<Steps>> {
    let finding = |path: PathBuf| {
        let what = "a file of the search index is damaged".to_owned();
        problem(what, Some(path), vec![NextStep::RebuildIndex])
    };
    match index::repair::damaged(context) {
        damaged if damaged.is_empty() => failed.map(broken).into_iter().collect(),
        damaged => damaged.into_iter().map(finding).collect(),
    }
}

fn broken(error: &Error) -> Finding<Steps> {
    problem(error.message.clone(), None, error.next_steps.clone())
}

/// Transcripts that Claude Code will delete soon, as one finding for each config folder.
fn expiring(context: &Context, sessions: &[Session]) -> Vec<Finding<Steps>> {
    const NAMED: usize = 3;
    let by_projects = by_projects(sessions);
    let mut findings = Vec::new();
    for folder in context.config().claude_folders.iter().map(ConfigFolder::new) {
        let days = folder.cleanup_days();
        let mut soon: Vec<(Timestamp, &SessionId)> = by_projects
            .get(&projects(&folder))
            .into_iter()
            .flatten()
            .filter_map(|session| Some((deletion_of(session.file.as_deref()?, days)?, &session.id)))
            .filter(|(at, _)| *at <= context.now.checked_add(WARNING).unwrap_or(Timestamp::MAX))
            .collect();
        soon.sort_unstable();
        let Some((first, _)) = soon.first() else { continue };
        let named: Vec<_> = soon.iter().take(NAMED).map(|(_, id)| id.short()).collect();
        let more = if soon.len() > NAMED { ", …" } else { "" };
        let day = first.to_zoned(context.zone()).date();
        let when = if *first <= context.now {
            let past = soon.iter().filter(|(at, _)| *at <= context.now).count();
            match soon.len() - past {
                0 => "at its next start".to_owned(),
                _ => format!("within 7 days, {past} of them at its next start"),
            }
        } else {
            format!("within 7 days, from {day} on")
        };
        let what =
            format!("Claude Code will delete {} {when} ({}{more})", counted(soon.len()), named.join(", "));
        let settings = folder.root().join("settings.json");
        let next =
            format!("keep them longer: set \"cleanupPeriodDays\" (now {days}) in {}", settings.display());
        findings.push(Finding {
            severity: Severity::Advice,
            what,
            path: Some(settings),
            next_step: advice_to(&next).into_iter().chain([NextStep::KeepLonger]).collect(),
        });
    }
    findings
}

fn left_behind(context: &Context) -> Vec<Finding<Steps>> {
    let registries =
        context.config().claude_folders.iter().map(|folder| ConfigFolder::new(folder).live_registry());
    let records = registries.flat_map(|registry| RegisteredProcess::stale_records(&registry));
    let finding = |record: PathBuf| Finding {
        severity: Severity::Advice,
        what: "a process that has ended is still registered as running".to_owned(),
        next_step: advice_to(&with_command("no action is needed; to tidy up", "rm", &record)),
        path: Some(record),
    };
    records.map(finding).collect()
}

/// Words in the records of live processes that no release wrote so far.
fn unknown_words(context: &Context) -> Vec<Finding<Steps>> {
    let registries =
        context.config().claude_folders.iter().map(|folder| ConfigFolder::new(folder).live_registry());
    let live = registries.flat_map(|registry| RegisteredProcess::find(&registry));
    let words: BTreeSet<String> = live.filter_map(|live| live.unknown_status).collect();
    let finding = |word: String| {
        let word = context.secrets.redacted_beginning(transcript::preview(&word));
        Finding {
            severity: Severity::Advice,
            what: format!(
                "a running Claude Code says that it is `{word}`, a word that this release does not know"
            ),
            path: None,
            next_step: advice_to(
                "what it does is told from its transcript, or from a word like it; report the word",
            ),
        }
    };
    words.into_iter().map(finding).collect()
}

/// OpenClaw's databases that cannot be read.
fn not_read(context: &Context) -> Vec<Finding<Steps>> {
    let finding = |database: openclaw::AgentDatabase| {
        let schema = database.schema.map_or_else(String::new, |schema| format!(", schema {schema}"));
        Finding {
            severity: Severity::Advice,
            what: format!(
                "OpenClaw keeps conversations in SQLite (2026.8 and newer{schema}), in a database that cannot be read"
            ),
            path: Some(database.path),
            next_step: advice_to(&format!("run `openclaw doctor`; {STILL_FOUND}")),
        }
    };
    unreadable_databases(context).into_iter().map(finding).collect()
}

/// Backstory's own files that could not be used and were set aside.
fn set_aside(context: &Context) -> Vec<Finding<Steps>> {
    let files = [context.config().places().cache, Some(index::folder(context).join("files.sqlite"))];
    let aside = files.into_iter().flatten().map(|file| {
        let mut name = file.into_os_string();
        name.push(".set-aside");
        PathBuf::from(name)
    });
    let finding = |path: PathBuf| Finding {
        severity: Severity::Advice,
        what: "one of Backstory's files could not be used; it was set aside and rebuilt from the transcripts"
            .to_owned(),
        next_step: advice_to(&with_command("no action is needed; to tidy up", "rm", &path)),
        path: Some(path),
    };
    let precious = retention::backups::precious(context).into_iter().map(|file| {
        let mut name = file.into_os_string();
        name.push(".set-aside");
        PathBuf::from(name)
    });
    let restored = |path: PathBuf| Finding {
        severity: Severity::Advice,
        what:
            "one of Backstory's databases was damaged; it was set aside, and its newest backup took its place"
                .to_owned(),
        next_step: advice_to(&with_command(
            "what was added after that backup is lost; to tidy up",
            "rm",
            &path,
        )),
        path: Some(path),
    };
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let precious = precious.filter(is_there).map(restored);
    aside.filter(is_there).map(finding).chain(precious).collect()
}

/// Scheduled jobs while no daemon is running.
fn jobs_without_daemon(context: &Context) -> Vec<Finding<Steps>> {
    let place = Some(context.config().state.join(schedule::FILE));
    match cron::jobs_without_daemon(context) {
        Ok(0) => Vec::new(),
        Ok(jobs) => {
            let jobs = if jobs == 1 { "a job is".to_owned() } else { format!("{jobs} jobs are") };
            let what = format!("{jobs} scheduled, but no daemon is running");
            let next_step = vec![NextStep::StartDaemon];
            vec![Finding { severity: Severity::Advice, what, path: place, next_step }]
        }
        Err(error) => {
            vec![problem(error.message, place, vec![NextStep::ListJobs])]
        }
    }
}

/// Prompts that any session of a directory asks, which outlive the session that made them.
fn directory_schedules(context: &Context, sessions: &[Session]) -> Vec<Finding<Steps>> {
    let finding = |found: DirectorySchedule| {
        let directory = found.directory.display();
        let asks = "asks and pays for a scheduled prompt";
        let what = format!(
            "any Claude Code session open in {directory} {asks} at `{}`: {}",
            found.schedule, found.prompt
        );
        let next = "to end it, ask Claude there to delete the scheduled task";
        let path = Some(ScheduledTask::file(&found.directory));
        Finding { severity: Severity::Advice, what, path, next_step: advice_to(next) }
    };
    DirectorySchedule::of_sessions(context, sessions.iter()).into_iter().map(finding).collect()
}

fn config_folders(context: &Context, sessions: &[Session]) -> Vec<Folder> {
    let by_projects = by_projects(sessions);
    let describe = |root: &PathBuf| {
        let found = by_projects.get(&projects(&ConfigFolder::new(root)));
        Folder { path: root.clone(), exists: root.is_dir(), sessions: found.map_or(0, Vec::len) }
    };
    context.config().claude_folders.iter().map(describe).collect()
}

fn openclaw_folders(context: &Context) -> Vec<Folder> {
    let registered = |folder: &Path| {
        let agents = Agents::find(folder).agents;
        agents.iter().map(|agent| Registry::read(&agent.folder).entries.len()).sum()
    };
    let existing = context.config().openclaw_folders.iter().filter(|folder| folder.is_dir());
    existing.map(|path| Folder { path: path.clone(), exists: true, sessions: registered(path) }).collect()
}

fn counted(sessions: usize) -> String {
    if sessions == 1 { "a session".to_owned() } else { format!("{sessions} sessions") }
}

/// The sessions by the folder that holds their project's.
fn by_projects(sessions: &[Session]) -> HashMap<PathBuf, Vec<&Session>> {
    let mut by_projects: HashMap<_, Vec<_>> = HashMap::new();
    for session in sessions {
        if let Some(projects) = session.file.as_deref().and_then(|file| file.parent()?.parent()) {
            by_projects.entry(projects.to_owned()).or_default().push(session);
        }
    }
    by_projects
}

fn projects(folder: &ConfigFolder) -> PathBuf {
    let projects = folder.projects();
    projects.canonicalize().unwrap_or(projects)
}

fn cache_file(path: PathBuf) -> CacheFile {
    CacheFile { bytes: path.metadata().ok().map(|found| found.len()), path }
}

/// A next step that every interface words the same way.
fn advice_to(text: &str) -> Steps {
    vec![NextStep::Advice { text: text.to_owned() }]
}

fn problem(what: String, place: Option<PathBuf>, next_step: Steps) -> Finding<Steps> {
    Finding { severity: Severity::Problem, what, path: place, next_step }
}
