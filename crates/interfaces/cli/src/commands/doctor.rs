//! `doctor`: reports what was found, what is wrong, and the next step for each finding.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use app::Context;
use app::doctor::{
    Finding, Folder, PluginReport, Report, Request, SecretsFound, SecretsReport, SecretsRequest,
    ServiceFiles, ServiceRequest, Severity, doctor, secrets, service,
};
use app::retention::deadline::keep_longer;
use app::search::export_schedule::{self, Schedule, schedule};

use crate::commands::{doctor_report, hooks};
use crate::exit::Failure;
use crate::next_step::as_command;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{age, bytes, count, counted, safe, safe_lines};
use crate::wrap::hanging;

/// Check the installation: what was found, what is wrong, and how to fix it.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub(crate) struct Args {
    /// Instead, print the commands that add your sessions to qmd, and a scheduled export for cron, systemd or launchd
    /// that keeps them up to date.
    #[arg(long)]
    schedule: bool,
    /// Instead, print the files with which systemd or launchd keeps `serve` running.
    #[arg(long, conflicts_with = "schedule")]
    service: bool,
    /// Instead, report which kinds of secrets are in the transcripts of which projects, and how old they are. No value is
    /// shown, and nothing is changed.
    #[arg(long, conflicts_with_all = ["schedule", "service"])]
    secrets: bool,
    /// Make Claude Code keep sessions that it would delete within a week: shows the change to its settings and asks.
    #[arg(long, conflicts_with_all = ["schedule", "service", "secrets", "json"])]
    fix: bool,
    /// Instead, print what a report of a bug needs: versions and numbers, and nothing from your sessions or about your files.
    #[arg(long, conflicts_with_all = ["schedule", "service", "secrets", "fix", "json"])]
    report: bool,
    /// With --fix, do not ask for confirmation.
    #[arg(long, short, requires = "fix")]
    yes: bool,
    /// The folder that the scheduled export writes to [default: ~/claude-sessions-md].
    #[arg(long, value_name = "FOLDER", requires = "schedule")]
    markdown: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints the report; fails if it contains a problem.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    if args.schedule {
        let schedule = schedule(context, &export_schedule::Request { folder: args.markdown.clone() })?;
        return if args.json { super::json(&schedule) } else { print_schedule(&schedule) };
    }
    if args.service {
        let files = service(context, &ServiceRequest::default())?;
        return if args.json { super::json(&files) } else { print_service(&files) };
    }
    if args.secrets {
        let followed = Followed::interruptible(context);
        let report = secrets(&followed, &SecretsRequest::default())?;
        drop(followed);
        return if args.json { super::json(&report) } else { print_secrets(context, &report) };
    }
    if args.fix {
        return fix(context, args.yes);
    }
    let followed = Followed::new(context);
    let report = doctor(&followed, &Request::default())?.worded(as_command);
    drop(followed);
    if args.report {
        return doctor_report::print(&report);
    }
    if args.json {
        super::json(&report)?;
    } else {
        print(&report)?;
    }
    if report.healthy { Ok(()) } else { Err(Failure::Unhealthy) }
}

/// Shows each change to Claude Code's settings that keeps sessions longer, asks, and makes it.
fn fix(context: &Context, yes: bool) -> Result<(), Failure> {
    let plans = keep_longer(context)?;
    if plans.is_empty() {
        return hooks::line("Nothing to fix: Claude Code will not delete any session within 7 days.");
    }
    for plan in plans {
        let backup = safe(&plan.backup().display().to_string());
        hooks::change(&plan, &hooks::ChangeArgs::asked(yes), true, || {
            format!("Done. The previous settings are saved in {backup}.")
        })?;
    }
    Ok(())
}

/// Prints commands and files to paste, each under its heading.
fn print_schedule(schedule: &Schedule) -> Result<(), Failure> {
    let mut out = Output::plain();
    let bold = Style::new().bold();
    if schedule.qmd.is_none() {
        writeln!(out, "qmd is not installed: npm install -g @tobilu/qmd\n")?;
    }
    let parts = [
        ("Once: write the documents, then add them to qmd", None),
        ("", Some(&schedule.export)),
        ("", Some(&schedule.collection_add)),
        ("\nThen schedule one of these. cron (crontab -e):", Some(&schedule.errand.crontab)),
        (
            "\nsystemd: ~/.config/systemd/user/backstory-export.service",
            Some(&schedule.errand.systemd_service),
        ),
        (
            "\nand ~/.config/systemd/user/backstory-export.timer, then: systemctl --user enable --now backstory-export.timer",
            Some(&schedule.errand.systemd_timer),
        ),
        (
            "\nlaunchd: ~/Library/LaunchAgents/backstory-export.plist, then: launchctl load that file",
            Some(&schedule.errand.launchd),
        ),
    ];
    for (head, text) in parts {
        if !head.is_empty() {
            writeln!(out, "{bold}{head}{bold:#}")?;
        }
        if let Some(text) = text {
            writeln!(out, "{}", safe_lines(text.trim_end()))?;
        }
    }
    Ok(out.finish()?)
}

/// Prints where secrets are, the oldest first, without any value.
fn print_secrets(context: &Context, report: &SecretsReport) -> Result<(), Failure> {
    let mut out = Output::plain();
    if report.found.is_empty() {
        let read = counted(count(report.sessions), "session");
        writeln!(out, "No secrets were found in {read}.")?;
    }
    for found in &report.found {
        let SecretsFound { values, sessions, archived, .. } = found;
        let kept = if *archived > 0 { format!(", {archived} only in the archive") } else { String::new() };
        writeln!(
            out,
            "{}  {}: {} in {}{kept}; oldest {}, newest {}",
            safe(&found.kind),
            safe(&found.project),
            counted(values, "value"),
            counted(sessions, "session"),
            age(context.now, found.since),
            age(context.now, found.until)
        )?;
    }
    for failed in &report.failed {
        writeln!(out, "not read  {}", safe(failed))?;
    }
    if !report.found.is_empty() {
        writeln!(
            out,
            "\nReplace these where they were issued, the oldest first: any program that can read your home could have read them.\n\
             `backstory forget <id> --transcripts` erases a session for good."
        )?;
    }
    Ok(out.finish()?)
}

/// Prints the files of a service to paste, each under its heading.
fn print_service(files: &ServiceFiles) -> Result<(), Failure> {
    let mut out = Output::plain();
    let bold = Style::new().bold();
    let parts = [
        ("systemd: ~/.config/systemd/user/backstory-serve.service", &files.systemd_service),
        (
            "\nand, to start it at the first request, ~/.config/systemd/user/backstory-serve.socket, then: systemctl --user enable --now backstory-serve.socket",
            &files.systemd_socket,
        ),
        (
            "\nlaunchd: ~/Library/LaunchAgents/backstory-serve.plist, then: launchctl load that file",
            &files.launchd,
        ),
    ];
    for (head, text) in parts {
        writeln!(out, "{bold}{head}{bold:#}")?;
        writeln!(out, "{}", safe_lines(text.trim_end()))?;
    }
    writeln!(
        out,
        "\nFor a browser: open http://127.0.0.1:8787, which starts the server, then what `backstory serve link` prints"
    )?;
    Ok(out.finish()?)
}

/// The cells of the names before the facts.
const HEAD: usize = 11;

fn print(report: &Report) -> Result<(), Failure> {
    let mut out = Output::plain();
    line(&mut out, "claude", &claude(report))?;
    if let Some(plugin) = &report.plugin {
        line(&mut out, "plugin", &installed(plugin))?;
    }
    for folder in &report.config_folders {
        line(&mut out, "sessions", &describe(folder))?;
    }
    for folder in &report.openclaw_folders {
        line(&mut out, "openclaw", &describe(folder))?;
    }
    line(&mut out, "sub-agents", &count(report.subagents as u64))?;
    line(&mut out, "catalog", &kept(&report.catalog.path, report.catalog.bytes))?;
    line(&mut out, "index", &index(report))?;
    line(&mut out, "excerpts", &excerpts(report))?;
    line(&mut out, "archive", &archive(report))?;
    writeln!(out)?;
    for finding in &report.findings {
        print_finding(&mut out, finding)?;
    }
    if report.findings.is_empty() {
        writeln!(out, "No problems found.")?;
    }
    Ok(out.finish()?)
}

fn line(out: &mut Output, head: &str, text: &str) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let text = hanging(&safe(text), out.terminal_width(), HEAD, HEAD);
    Ok(writeln!(out, "{dim}{head:<HEAD$}{dim:#}{text}")?)
}

fn installed(plugin: &PluginReport) -> String {
    let version = plugin.version.as_deref().unwrap_or("unknown version");
    let state = if plugin.is_enabled { "enabled" } else { "disabled" };
    format!("{version}  {}  ({state})", plugin.id)
}

fn claude(report: &Report) -> String {
    let Some(claude) = &report.claude else { return "not found".to_owned() };
    let abilities = [
        (claude.can_fork, "can fork"),
        (claude.registers_live_sessions, "registers open sessions"),
        (claude.finds_sessions_anywhere, "finds sessions from any directory"),
    ];
    let can: Vec<_> = abilities.into_iter().filter_map(|(can, word)| can.then_some(word)).collect();
    let version = claude.version.as_deref().unwrap_or("unknown version");
    let path = claude.path.display();
    if can.is_empty() {
        format!("{version}  {path}")
    } else {
        format!("{version}  {path}  ({})", can.join(", "))
    }
}

fn describe(folder: &Folder) -> String {
    let path = folder.path.display();
    if folder.exists {
        format!("{}  {path}", count(folder.sessions as u64))
    } else {
        format!("-  {path} (missing)")
    }
}

fn kept(path: &Path, size: Option<u64>) -> String {
    let size = size.map_or_else(|| "not created yet".to_owned(), bytes);
    format!("{size}  {}", path.display())
}

fn index(report: &Report) -> String {
    let Some(index) = &report.index else {
        return "not created yet; the first `backstory search` creates it".to_owned();
    };
    let (files, pending) = (counted(count(index.files), "file"), count(index.pending_files));
    format!("{files}, {pending} pending  {}", index.path.display())
}

fn excerpts(report: &Report) -> String {
    let excerpts = &report.excerpts;
    match (&excerpts.model, &excerpts.reason) {
        (Some(model), _) => format!("embedded by {model}"),
        (None, reason) => format!("none: {}", reason.as_deref().unwrap_or_default()),
    }
}

fn archive(report: &Report) -> String {
    let archive = &report.archive;
    let path = archive.path.display();
    if !archive.enabled {
        return format!("off (archive.enabled)  {path}");
    }
    let (sessions, disk) = (counted(count(archive.sessions), "session"), bytes(archive.disk_bytes));
    let limit = match archive.max_gigabytes {
        0 => "no limit".to_owned(),
        most => format!("at most {most} GB"),
    };
    format!("copies of {sessions} in {disk}, {limit}  {path}")
}

fn print_finding(out: &mut Output, finding: &Finding) -> Result<(), Failure> {
    let (word, style) = match finding.severity {
        Severity::Problem => ("problem", AnsiColor::Red.on_default().bold()),
        Severity::Advice => ("advice", AnsiColor::Yellow.on_default()),
    };
    let place = finding.path.as_ref().map_or_else(String::new, |place| format!("{}: ", place.display()));
    let what = safe(&format!("{place}{}", finding.what));
    let what = hanging(&what, out.terminal_width(), word.len() + 2, 2);
    writeln!(out, "{style}{word}{style:#}  {what}")?;
    let step = hanging(&safe(&finding.next_step), out.terminal_width(), 2, 2);
    Ok(writeln!(out, "  {step}")?)
}
