//! `day` and `today`: what was done on a day, by project.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use app::sessions::day::{Answer, OpenSession, ProjectDay, Request, SessionDay, day};
use app::{Context, Moment};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Failure;
use crate::output::Output;
use crate::progress::Followed;
use crate::text::{age, counted, dollars, duration, fit, fit_end, safe};
use crate::wrap::wrapped;

/// How many prompts of a session are shown.
const PROMPTS: usize = 6;
/// How many files of a session are named.
const FILES: usize = 4;
/// The least room of a place behind a prompt, in cells: most places are in one column.
const PLACE: usize = 18;
/// The room of what an open session does, in cells.
const STATE: usize = "needs permission?".len();

/// Show what was done on a day, by project: prompts, commits, files, time and cost.
///
/// Without a date, today.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Pauses of more than ten minutes do not count as time. Costs are estimates, as in `cost`.")]
pub(crate) struct Args {
    /// The day, week or month: 2026-01-31, yesterday, monday, last week, january, 3d.
    #[arg(value_name = "DATE", conflicts_with_all = ["since", "until"])]
    date: Vec<String>,
    /// From this day on, instead of one day.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Up to this day, inclusive [default: today].
    #[arg(long, value_name = "TIME", requires = "since")]
    until: Option<Moment>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Show every prompt and every file.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Show today on one screen: what waits for you, what is running, and each session with its time and cost.
#[derive(Debug, clap::Args)]
#[command(after_help = "`day` also lists prompts, commits and files, and shows other days.")]
pub(crate) struct TodayArgs {
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    #[arg(long, visible_alias = "repo", value_name = "NAME", allow_hyphen_values = true, value_parser = super::project)]
    project: Option<String>,
    /// Print JSON, the same as of `day`.
    #[arg(long)]
    json: bool,
}

/// Prints today, a line for each session.
pub(crate) fn today(context: &Context, args: &TodayArgs) -> Result<(), Failure> {
    let request = Request { project: args.project.clone(), ..Request::default() };
    answer(context, &request, Detail::Short, args.json)
}

/// Prints what was done.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    let today = || Moment::from("today");
    let until = args.until.clone().or_else(|| args.since.is_some().then(today));
    let request = Request {
        since: super::moment(&args.date).or_else(|| args.since.clone()),
        until,
        project: args.project.clone(),
    };
    answer(context, &request, if args.all { Detail::All } else { Detail::Usual }, args.json)
}

fn answer(context: &Context, request: &Request, detail: Detail, json: bool) -> Result<(), Failure> {
    let followed = Followed::new(context);
    let answer = day(&followed, request)?;
    drop(followed);
    if json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    let is_nothing = answer.projects.is_empty() && answer.last_day.is_none();
    let nothing = if is_nothing { super::without_sessions(context)? } else { None };
    if let Some(text) = nothing {
        out.sentence(&text)?;
        notes(&mut out, &answer)?;
        return Ok(out.finish()?);
    }
    let look = Look {
        width: out.width(),
        zone: context.zone(),
        now: context.now,
        is_one_day: answer.since == answer.until,
        detail,
    };
    look.print(&mut out, &answer)?;
    notes(&mut out, &answer)?;
    Ok(out.finish()?)
}

/// What else there is to know.
fn notes(out: &mut Output, answer: &Answer) -> io::Result<()> {
    answer.notes.iter().try_for_each(|note| out.sentence(&safe(note)))
}

/// How much is shown of each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// A line.
    Short,
    /// The first prompts and the most changed files.
    Usual,
    /// Every prompt and every file.
    All,
}

/// How it is shown.
struct Look {
    width: usize,
    zone: TimeZone,
    now: Timestamp,
    is_one_day: bool,
    detail: Detail,
}

impl Look {
    fn print(&self, out: &mut impl Write, answer: &Answer) -> io::Result<()> {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        writeln!(out, "{bold}{}{bold:#}", self.days(answer))?;
        self.open(out, &answer.open)?;
        if answer.projects.is_empty() {
            let before = answer.last_day.map_or_else(String::new, |day| {
                format!(" The last active day before: `backstory day {day}`")
            });
            if !answer.notes.is_empty() {
                let why = safe(&answer.notes.join("; "));
                return writeln!(out, "{}", wrapped(&format!("No session was active: {why}"), self.width));
            }
            return writeln!(out, "No session was active.{before}");
        }
        for project in &answer.projects {
            let same = answer.projects.iter().filter(|other| other.project == project.project).count();
            self.project(out, project, same > 1)?;
        }
        writeln!(out, "\n{dim}{}{dim:#}", wrapped(&totals(answer), self.width))
    }

    fn days(&self, answer: &Answer) -> String {
        let long = "%A, %-d %B %Y";
        if self.is_one_day {
            return answer.since.strftime(long).to_string();
        }
        format!("{} to {}", answer.since.strftime("%-d %B %Y"), answer.until.strftime("%-d %B %Y"))
    }

    /// A project, with its path where others have the same name.
    fn project(&self, out: &mut impl Write, project: &ProjectDay, has_path: bool) -> io::Result<()> {
        let (cyan, dim) = (AnsiColor::Cyan.on_default().bold(), Style::new().dimmed());
        let name = project.project.as_deref().unwrap_or("(no project)");
        let facts = [time(project.active_seconds), price(project.cost_usd)];
        let facts = facts.into_iter().flatten().collect::<Vec<_>>().join("  ");
        let name = fit(&safe(name), self.width.saturating_sub(facts.width() + 2));
        let path = project.path.as_deref().filter(|_| has_path).map(|path| path.display().to_string());
        let room = self.width.saturating_sub(name.width() + facts.width() + 4);
        let path = path.map_or_else(String::new, |path| format!("  {}", fit_end(&safe(&path), room)));
        writeln!(out, "\n{cyan}{name}{cyan:#}  {dim}{facts}{path}{dim:#}")?;
        let print = if self.detail == Detail::Short { Self::line } else { Self::session };
        project.sessions.iter().try_for_each(|session| print(self, out, session))
    }

    /// What is open now: what needs the person, and what runs.
    fn open(&self, out: &mut impl Write, open: &[OpenSession]) -> io::Result<()> {
        for session in open {
            let style = crate::watch::style(&session.activity);
            let word = crate::watch::word(&session.activity);
            let since = age(self.now, session.activity.since);
            let head = format!("{:<8}  {word:<STATE$}  {since:>4}  ", session.session_id.short());
            let project = session.project.as_deref().unwrap_or("-");
            let title = session.title.as_deref().unwrap_or("(no title)");
            let rest = safe(&format!("{project}  {title}"));
            let rest = fit(&rest, self.width.saturating_sub(head.width()));
            writeln!(out, "{style}{head}{style:#}{rest}")?;
        }
        Ok(())
    }

    /// A session on one line.
    fn line(&self, out: &mut impl Write, session: &SessionDay) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let span = format!("{}–{}", self.at(session.first, true), self.at(session.last, false));
        let spent = time(session.active_seconds).unwrap_or_default();
        let price = price(session.cost_usd).unwrap_or_default();
        let head = format!("  {}  {span}  {spent:>10}  {price:>8}  ", session.session_id.short());
        let title = safe(session.title.as_deref().unwrap_or("(no title)"));
        let title = fit(&title, self.width.saturating_sub(head.width()));
        writeln!(out, "{dim}{head}{dim:#}{title}")
    }

    fn session(&self, out: &mut impl Write, session: &SessionDay) -> io::Result<()> {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let title = safe(session.title.as_deref().unwrap_or("(no title)"));
        writeln!(out, "  {bold}{}{bold:#}", fit(&title, self.width.saturating_sub(2)))?;
        let is_same_day = self.day(session.first) == self.day(session.last);
        let last = self.at(session.last, !is_same_day);
        let span = format!("{}–{}", self.at(session.first, true), last.trim_start());
        let facts = [
            Some(session.session_id.short().to_owned()),
            Some(span),
            time(session.active_seconds),
            price(session.cost_usd),
            session.branch.as_deref().map(safe),
        ];
        let facts = facts.into_iter().flatten().collect::<Vec<_>>().join("  ");
        writeln!(out, "  {dim}{}{dim:#}", fit(&facts, self.width.saturating_sub(2)))?;
        self.prompts(out, session)?;
        let green = AnsiColor::Green.on_default();
        for commit in &session.commits {
            let subject = fit(&safe(&commit.subject), self.width.saturating_sub(6 + commit.hash.width() + 1));
            writeln!(out, "    {green}+ {}{green:#} {subject}", safe(&commit.hash))?;
        }
        self.files(out, session)
    }

    fn prompts(&self, out: &mut impl Write, session: &SessionDay) -> io::Result<()> {
        let dim = Style::new().dimmed();
        let all = session.prompts.len();
        // A single prompt more is shown rather than counted.
        let shown = if self.detail == Detail::All || all <= PROMPTS + 1 { all } else { PROMPTS };
        for prompt in &session.prompts[..shown] {
            let place = format!("{}:{}", session.session_id.short(), prompt.line);
            let room = self.width.saturating_sub(6 + PLACE.max(place.width() + 2));
            let text = fit(&safe(&prompt.text), room);
            let pad = " ".repeat(room.saturating_sub(text.width()));
            writeln!(out, "    {dim}>{dim:#} {text}{pad}  {dim}{place}{dim:#}")?;
        }
        if all > shown {
            writeln!(out, "    {dim}… {} more prompts; --all shows them{dim:#}", all - shown)?;
        }
        Ok(())
    }

    fn files(&self, out: &mut impl Write, session: &SessionDay) -> io::Result<()> {
        let (yellow, dim) = (AnsiColor::Yellow.on_default(), Style::new().dimmed());
        let all = session.files.len();
        let shown = if self.detail == Detail::All || all <= FILES + 1 { all } else { FILES };
        for file in &session.files[..shown] {
            let path = fit_end(&safe(&file.path), self.width.saturating_sub(16));
            let edits = if file.edits > 1 { format!(" {} edits", file.edits) } else { String::new() };
            writeln!(out, "    {yellow}~{yellow:#} {path}{dim}{edits}{dim:#}")?;
        }
        if all > shown {
            writeln!(out, "    {dim}… {} more files{dim:#}", all - shown)?;
        }
        Ok(())
    }

    /// A time of the day; with its date where there are several days.
    fn at(&self, at: Timestamp, has_date: bool) -> String {
        let format = if self.is_one_day || !has_date { "%H:%M" } else { "%e %b %H:%M" };
        at.to_zoned(self.zone.clone()).strftime(format).to_string()
    }

    fn day(&self, at: Timestamp) -> Date {
        at.to_zoned(self.zone.clone()).date()
    }
}

fn time(seconds: i64) -> Option<String> {
    (seconds >= 60).then(|| duration(seconds / 60))
}

fn price(cost: Option<f64>) -> Option<String> {
    cost.map(|cost| format!("~{}", dollars(cost)))
}

fn totals(answer: &Answer) -> String {
    let sessions = || answer.projects.iter().flat_map(|project| &project.sessions);
    let facts = [
        Some(counted(sessions().count(), "session")),
        Some(counted(sessions().map(|session| session.prompts.len()).sum::<usize>(), "prompt")),
        // A commit whose output said nothing is not known.
        Some(sessions().map(|session| session.commits.len()).sum::<usize>())
            .filter(|commits| *commits > 0)
            .map(|commits| counted(commits, "commit")),
        Some(counted(sessions().map(|session| session.files.len()).sum::<usize>(), "file")),
        time(sessions().map(|session| session.active_seconds).sum()),
        price(answer.cost_usd),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use app::sessions::day::DayPrompt;
    use model::{Activity, Evidence, State};

    use super::*;

    fn time(text: &str) -> Timestamp {
        format!("2026-03-02T{text}:00Z").parse().unwrap()
    }

    fn session(id: &str, title: &str, (first, last): (&str, &str), minutes: i64) -> SessionDay {
        SessionDay {
            session_id: id.parse().unwrap(),
            title: Some(title.to_owned()),
            branch: Some("feat/rotate-the-refresh-token".to_owned()),
            first: time(first),
            last: time(last),
            active_seconds: minutes * 60,
            cost_usd: Some(1.25),
            prompts: vec![DayPrompt { line: 3, at: time(first), text: "Rotate it".to_owned() }],
            commits: Vec::new(),
            files: Vec::new(),
        }
    }

    fn open(id: &str, state: State, needs_you: bool) -> OpenSession {
        OpenSession {
            session_id: id.parse().unwrap(),
            title: Some("Rotate the refresh token of the gateway when it is used twice".to_owned()),
            project: Some("harbor-api".to_owned()),
            needs_you,
            activity: Activity::new(state, Evidence::Registry, Some(time("11:55"))),
        }
    }

    fn answer() -> Answer {
        let long = "Rotate the refresh token of the gateway when it is used twice by the same client";
        let sessions = vec![
            session("a1b2c3d4-0001", long, ("08:05", "11:59"), 95),
            session("b2c3d4e5-0002", "Why does it expire early on phones?", ("10:00", "10:20"), 20),
        ];
        let project = |name: &str, path: &str, sessions: Vec<SessionDay>| ProjectDay {
            project: Some(name.to_owned()),
            path: Some(path.into()),
            active_seconds: sessions.iter().map(|session| session.active_seconds).sum(),
            cost_usd: Some(2.5),
            sessions,
        };
        Answer {
            since: "2026-03-02".parse().unwrap(),
            until: "2026-03-02".parse().unwrap(),
            projects: vec![
                project("harbor-api", "/home/sam/work/harbor-api", sessions),
                project(
                    "web",
                    "/home/sam/web",
                    vec![session("c3d4e5f6-0003", "Fix it", ("09:00", "09:05"), 5)],
                ),
            ],
            cost_usd: Some(5.0),
            last_day: None,
            open: vec![
                open("a1b2c3d4-0001", State::WaitingPermission, true),
                open("d4e5f6a7-0004", State::ToolUse, false),
            ],
            notes: Vec::new(),
        }
    }

    #[test]
    fn today_on_one_screen() {
        for width in [60, 80, 120] {
            let (zone, now) = (TimeZone::UTC, time("12:00"));
            let look = Look { width, zone, now, is_one_day: true, detail: Detail::Short };
            let mut out = Vec::new();
            look.print(&mut out, &answer()).unwrap();
            let text = anstream::adapter::strip_str(std::str::from_utf8(&out).unwrap()).to_string();
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            insta::assert_snapshot!(format!("today_{width}"), text);
        }
    }
}
