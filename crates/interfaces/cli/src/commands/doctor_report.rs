//! `doctor --report`: what a report of a bug needs to say about a machine, in numbers and versions alone.

use std::io::Write as _;

use app::doctor::{Finding, Report, Severity};

use crate::exit::Failure;
use crate::output::Output;
use crate::text::{bytes, count, counted};

/// Prints it. Nothing in it comes from a session, and there is no path, name, id or setting in it.
pub(crate) fn print(report: &Report) -> Result<(), Failure> {
    let mut out = Output::plain();
    for (head, text) in lines(report) {
        writeln!(out, "{head:<11}{text}")?;
    }
    Ok(out.finish()?)
}

fn lines(report: &Report) -> Vec<(&'static str, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    let folders = report.config_folders.iter().filter(|folder| folder.exists);
    let sessions = report.config_folders.iter().map(|folder| folder.sessions as u64).sum();
    let openclaw = report.openclaw_folders.iter().filter(|folder| folder.exists);
    let of_agents = report.openclaw_folders.iter().map(|folder| folder.sessions as u64).sum();
    vec![
        ("backstory", format!("{version} on {system} {machine}")),
        ("claude", claude(report)),
        ("plugin", plugin(report)),
        ("sessions", in_folders(sessions, folders.count())),
        ("openclaw", in_folders(of_agents, openclaw.count())),
        ("sub-agents", count(report.subagents as u64)),
        ("catalog", report.catalog.bytes.map_or_else(|| "none".to_owned(), bytes)),
        ("index", index(report)),
        ("archive", archive(report)),
        ("findings", findings(&report.findings)),
    ]
}

/// A version is digits and dots; anything else that a program prints is its own.
fn safe_version(version: Option<&str>) -> &str {
    let is_version = |text: &&str| text.chars().all(|letter| letter.is_ascii_digit() || letter == '.');
    version.filter(is_version).unwrap_or("unknown version")
}

fn claude(report: &Report) -> String {
    let found = report.claude.as_ref();
    found.map_or_else(|| "not found".to_owned(), |claude| safe_version(claude.version.as_deref()).to_owned())
}

fn plugin(report: &Report) -> String {
    let Some(plugin) = &report.plugin else { return "not installed".to_owned() };
    let state = if plugin.is_enabled { "enabled" } else { "disabled" };
    format!("{}, {state}", safe_version(plugin.version.as_deref()))
}

fn in_folders(sessions: u64, folders: usize) -> String {
    format!("{} in {}", count(sessions), counted(count(folders as u64), "folder"))
}

fn index(report: &Report) -> String {
    let Some(index) = &report.index else { return "none".to_owned() };
    let (files, chunks) = (counted(count(index.files), "file"), counted(count(index.chunks), "chunk"));
    format!("{files}, {chunks}, {} pending", count(index.pending_files))
}

fn archive(report: &Report) -> String {
    let archive = &report.archive;
    if !archive.enabled {
        return "off".to_owned();
    }
    let sessions = counted(count(archive.sessions), "session");
    format!("{sessions}, {} of {}", bytes(archive.disk_bytes), bytes(archive.content_bytes))
}

/// How many; what they say names files and sessions.
fn findings(findings: &[Finding]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count() as u64;
    let problems = counted(count(of(Severity::Problem)), "problem");
    format!("{problems}, {} of advice", counted(count(of(Severity::Advice)), "piece"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_versions_are_said() {
        let check = |version, expected| assert_eq!(safe_version(version), expected);
        check(Some("2.1.332"), "2.1.332");
        check(Some("2.1.332 for /home/ana"), "unknown version");
        check(None, "unknown version");
    }
}
