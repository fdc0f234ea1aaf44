//! `status`: a repository's state: git, GitHub, documents, its sessions, and which files live sessions write to now.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use app::Context;
use app::repository::status::{ActiveFile, Answer, DirectorySchedule, Request, status};
use model::{AgentId, Session};
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::output::Output;
use crate::resumption::GOES_ON;
use crate::text::{age_or_date, ago, counted, fit, safe};

/// How many changed paths of each kind the text output lists.
const PATHS: usize = 8;
/// The width below which a branch has less room.
const NARROW: usize = 72;
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
    sessions(context, &mut out, &answer, args.agent.as_ref())?;
    schedules(context, &mut out, &answer.schedules)?;
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
        // A problem says why nothing is known of the directory, such as that it is gone.
        if answer.project.problems.is_empty() {
            writeln!(out, "not a git repository; `backstory status <project>` shows another one")?;
        }
        return Ok(());
    }
    let branch = git.current_branch.as_deref().unwrap_or("no branch (detached HEAD)");
    writeln!(
        out,
        "On {}: {}",
        safe(branch),
        changes(git.staged_changes.len(), git.uncommitted_changes.len(), git.stash_count)
    )?;
    paths(out, "staged", &git.staged_changes)?;
    paths(out, "changed", &git.uncommitted_changes)?;
    if !git.recent_commits.is_empty() {
        writeln!(out, "\nLast commits:")?;
    }
    for commit in git.recent_commits.iter().take(COMMITS) {
        let short = commit.sha.get(..8).unwrap_or(&commit.sha);
        let line = format!("{}  {}", safe(&commit.message), safe(&commit.author));
        let width = out.width().saturating_sub(20);
        let when = age_or_date(context.now, commit.date, || context.zone());
        writeln!(out, "  {dim}{short}{dim:#}  {when:>6}  {}", fit(&line, width))?;
    }
    let pulls = || answer.project.github.iter().flat_map(|github| &github.open_prs);
    if pulls().next().is_some() {
        writeln!(out, "\nOpen pull requests:")?;
    }
    for pull in pulls() {
        writeln!(out, "  #{} {} {dim}{}{dim:#}", pull.number, safe(&pull.title), safe(&pull.branch))?;
    }
    for check in answer.project.github.iter().flat_map(|github| &github.failing_checks) {
        let red = AnsiColor::Red.on_default();
        writeln!(out, "  {red}check failed:{red:#} {}", safe(&check.name))?;
    }
    let docs = &answer.project.docs;
    let there = [(docs.has_claude_md, "CLAUDE.md"), (docs.has_readme, "README"), (docs.has_todo, "TODO.md")];
    let mut names: Vec<String> =
        there.iter().filter(|(is, _)| *is).map(|(_, name)| (*name).to_owned()).collect();
    names.extend(docs.has_specs.then(|| counted(docs.spec_files.len(), "specification")));
    if !names.is_empty() {
        writeln!(out, "\nDocuments: {}", names.join(", "))?;
    }
    Ok(())
}

/// How many changes a work tree has, as `git status` tells them apart.
fn changes(staged: usize, unstaged: usize, stashes: usize) -> String {
    let counts = [(staged, "staged"), (unstaged, "unstaged")];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let mut words: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    if words.is_empty() {
        words.push("nothing to commit".to_owned());
    }
    match stashes {
        0 => {}
        1 => words.push("1 stash".to_owned()),
        count => words.push(format!("{count} stashes")),
    }
    words.join(", ")
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

fn sessions(
    context: &Context,
    out: &mut Output,
    answer: &Answer,
    agent: Option<&AgentId>,
) -> Result<(), Failure> {
    let all = &answer.sessions;
    let mut lists = vec![("Running".to_owned(), &all.active), ("Recent sessions".to_owned(), &all.recent)];
    // Without an agent its own sessions are the person's, which are listed already.
    lists.extend(agent.map(|agent| (format!("Sessions of agent {agent}"), &all.own_recent)));
    for (head, sessions) in lists {
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
    let width = out.width();
    let branch = fit(&branch, if width < NARROW { 12 } else { 24 });
    let title = fit(&title, width.saturating_sub(22 + branch.width()));
    let id = session.id.short();
    let when = age_or_date(context.now, session.last_modified, || context.zone());
    writeln!(out, "  {id}  {when:>6}  {title}  {dim}{branch}{dim:#}")?;
    Ok(())
}

/// The prompts that any session here asks.
fn schedules(context: &Context, out: &mut Output, schedules: &[DirectorySchedule]) -> Result<(), Failure> {
    if schedules.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nScheduled prompts, which any session open in the directory asks:")?;
    for one in schedules {
        let when = if one.recurring { "" } else { ", once" };
        let asked =
            one.last_asked.map(|at| format!(", last {}", ago(context.now, Some(at), || context.zone())));
        let asked = asked.unwrap_or_default();
        let directory = safe(&one.directory.display().to_string());
        let (schedule, prompt) = (safe(&one.schedule), safe(&one.prompt));
        writeln!(out, "  {GOES_ON} `{schedule}`{when}{asked}: {prompt}  ({directory})")?;
    }
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
