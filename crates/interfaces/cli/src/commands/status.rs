//! `status`: a repository's state: git, GitHub, documents, its sessions, and which files live sessions write to now.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::Context;
use app::repository::status::{ActiveFile, Answer, Request, status};
use model::{AgentId, Session};

use crate::exit::Failure;
use crate::output::Output;
use crate::text::{age, fit, safe};

/// How many changed paths of each kind the text output lists.
const PATHS: usize = 8;
/// How many commits the text output lists.
const COMMITS: usize = 5;

/// Show a repository's state: branch, changes, commits, pull requests, documents and sessions.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A path or a project's name [default: the current directory].
    #[arg(value_name = "DIR | NAME", allow_hyphen_values = true, value_parser = super::project)]
    repo: Option<String>,
    /// List this OpenClaw agent's own sessions separately.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints a repository's state.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let answer = status(context, &Request { repo: args.repo.clone(), agent: args.agent.clone() })?;
    if args.json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    repository(context, &mut out, &answer)?;
    sessions(context, &mut out, &answer)?;
    active_files(&mut out, &answer.active_files)?;
    for problem in &answer.project.problems {
        let dim = Style::new().dimmed();
        writeln!(out, "{dim}{}{dim:#}", safe(problem))?;
    }
    Ok(out.finish()?)
}

fn repository(context: &Context, out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let (repo, git) = (&answer.project.repo, &answer.project.git);
    writeln!(
        out,
        "{bold}{}{bold:#}  {dim}{}{dim:#}",
        safe(&repo.name),
        safe(&repo.path.display().to_string())
    )?;
    if !repo.is_git_repo {
        writeln!(out, "not a git repository")?;
        return Ok(());
    }
    let branch = git.current_branch.as_deref().unwrap_or("no branch (detached HEAD)");
    let stashes = match git.stash_count {
        0 => String::new(),
        1 => ", 1 stash".to_owned(),
        count => format!(", {count} stashes"),
    };
    writeln!(
        out,
        "on {}: {} staged, {} unstaged{stashes}",
        safe(branch),
        git.staged_changes.len(),
        git.uncommitted_changes.len()
    )?;
    paths(out, "staged", &git.staged_changes)?;
    paths(out, "changed", &git.uncommitted_changes)?;
    for commit in git.recent_commits.iter().take(COMMITS) {
        let short = commit.sha.get(..8).unwrap_or(&commit.sha);
        let line = format!("{}  {}", safe(&commit.message), safe(&commit.author));
        let width = out.width().saturating_sub(20);
        writeln!(out, "  {dim}{short}{dim:#} {:>4}  {}", age(context.now, commit.date), fit(&line, width))?;
    }
    for pull in answer.project.github.iter().flat_map(|github| &github.open_prs) {
        writeln!(out, "  #{} {} {dim}{}{dim:#}", pull.number, safe(&pull.title), safe(&pull.branch))?;
    }
    for check in answer.project.github.iter().flat_map(|github| &github.failing_checks) {
        let red = AnsiColor::Red.on_default();
        writeln!(out, "  {red}failed:{red:#} {}", safe(&check.name))?;
    }
    let docs = &answer.project.docs;
    let there = [(docs.has_claude_md, "CLAUDE.md"), (docs.has_readme, "README"), (docs.has_todo, "TODO.md")];
    let mut names: Vec<String> =
        there.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect();
    names.extend(docs.has_specs.then(|| format!("{} specifications", docs.spec_files.len())));
    if !names.is_empty() {
        writeln!(out, "documents: {}", names.join(", "))?;
    }
    Ok(())
}

fn paths(out: &mut Output, what: &str, paths: &[String]) -> Result<(), Failure> {
    for path in paths.iter().take(PATHS) {
        writeln!(out, "  {what}: {}", safe(path))?;
    }
    if paths.len() > PATHS {
        writeln!(out, "  {what}: {} more", paths.len() - PATHS)?;
    }
    Ok(())
}

fn sessions(context: &Context, out: &mut Output, answer: &Answer) -> Result<(), Failure> {
    let all = &answer.sessions;
    for (head, sessions) in [("Running", &all.active), ("Newest", &all.recent), ("Own", &all.own_recent)] {
        if sessions.is_empty() {
            continue;
        }
        writeln!(out, "\n{head}:")?;
        for session in sessions {
            one_session(context, out, session)?;
        }
    }
    Ok(())
}

fn one_session(context: &Context, out: &mut Output, session: &Session) -> Result<(), Failure> {
    let dim = Style::new().dimmed();
    let title = safe(session.title.as_deref().unwrap_or("(no title)"));
    let branch = safe(session.branch.as_deref().unwrap_or("-"));
    let title = fit(&title, out.width().saturating_sub(46));
    let id = session.id.short();
    writeln!(
        out,
        "  {id}  {:>4}  {title}  {dim}{}{dim:#}",
        age(context.now, session.last_modified),
        fit(&branch, 24)
    )?;
    Ok(())
}

fn active_files(out: &mut Output, active_files: &[ActiveFile]) -> Result<(), Failure> {
    if active_files.is_empty() {
        return Ok(());
    }
    let red = AnsiColor::Red.on_default().bold();
    writeln!(out, "\nChanged within the last hour:")?;
    for touched in active_files {
        let ids: Vec<&str> = touched.sessions.iter().map(model::SessionId::short).collect();
        writeln!(out, "  {}  {}", ids.join(" "), safe(&touched.file.display().to_string()))?;
    }
    for touched in active_files.iter().filter(|touched| touched.sessions.len() > 1) {
        let count = touched.sessions.len();
        writeln!(
            out,
            "{red}warning{red:#}: {count} running sessions are writing to {}; they may undo each other's work",
            safe(&touched.file.display().to_string())
        )?;
    }
    Ok(())
}
