//! `day` and `today`: what was done on a day or on several, by project: prompts, commits, changed files, time and cost;
//! where today is among them, also what is open now.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use cost::{Period, RowDetail, totals_by};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use model::{Activity, Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::{HistoryEvent, HistoryEventKind, preview};

use crate::repository::target::{unknown_project_note, with_project};
use crate::sessions::ledger;
use crate::sessions::readable::UnreadableFiles;
use crate::sessions::select::select;
use crate::sessions::totals::keep_reading;
use crate::{Context, Error, Kind, Moment, Secrets};

/// Silence of this length or less counts as work.
const MAX_PAUSE: SignedDuration = SignedDuration::from_mins(10);

/// Which days to tell of.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DaySummaryRequest")]
pub struct Request {
    /// From this moment's day on; today without it.
    pub since: Option<Moment>,
    /// Up to this moment's day, which is included; the day of `since` without it.
    pub until: Option<Moment>,
    /// Only sessions of this repository: its name, Claude Code's folder name for it, or a path inside it.
    pub project: Option<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DaySummary")]
pub struct Answer {
    /// The first day, in the person's zone.
    pub since: Date,
    /// The last day.
    pub until: Date,
    /// The projects, the one with the most work first.
    pub projects: Vec<ProjectDay>,
    /// The estimated price of all of it, in US dollars.
    pub cost_usd: Option<f64>,
    /// The last day before these on which there was something, where there is nothing on these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_day: Option<Date>,
    /// The sessions that are open now, those that need the person first; empty where today is not among the days.
    pub open: Vec<OpenSession>,
    /// What else there is to know about the answer, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A session that a live process holds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OpenSession {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// The short name of the repository.
    pub project: Option<String>,
    /// Whether it cannot continue until the person answers a permission request or a question.
    pub needs_you: bool,
    /// What it does.
    pub activity: Activity,
}

/// What was done in a project.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProjectDay {
    /// The short name of the repository.
    pub project: Option<String>,
    /// Its path.
    #[serde(serialize_with = "model::optional_path")]
    pub path: Option<PathBuf>,
    /// The time in which something happened in any of its sessions, in seconds; at once in several counts for each.
    pub active_seconds: i64,
    /// The estimated price, in US dollars.
    pub cost_usd: Option<f64>,
    /// The sessions, in the order in which they were begun.
    pub sessions: Vec<SessionDay>,
}

/// What was done in a session on these days.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SessionDay {
    /// The session's id.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// The branch last seen in it.
    pub branch: Option<String>,
    /// When the first thing happened on these days.
    #[serde(serialize_with = "model::time")]
    pub first: Timestamp,
    /// When the last thing happened on these days.
    #[serde(serialize_with = "model::time")]
    pub last: Timestamp,
    /// The time in which something happened, in seconds; pauses over ten minutes do not count.
    pub active_seconds: i64,
    /// The estimated price, in US dollars.
    pub cost_usd: Option<f64>,
    /// What the person asked.
    pub prompts: Vec<DayPrompt>,
    /// The commits that were made.
    pub commits: Vec<DayCommit>,
    /// The files that were changed, the most often changed first.
    pub files: Vec<DayFile>,
}

/// What the person asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayPrompt {
    /// The line of the transcript, from 1.
    pub line: u64,
    /// When it was asked.
    #[serde(serialize_with = "model::time")]
    pub at: Timestamp,
    /// How it begins.
    pub text: String,
}

/// A commit that git reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayCommit {
    /// The line of the transcript, from 1.
    pub line: u64,
    /// When it was made.
    #[serde(serialize_with = "model::time")]
    pub at: Timestamp,
    /// The beginning of its hash.
    pub hash: String,
    /// The subject.
    pub subject: String,
}

/// A file that was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayFile {
    /// Its path, relative to the session's directory where it is below it.
    pub path: String,
    /// How often.
    pub edits: u64,
}

/// Reports what was done.
pub fn day(context: &Context, request: &Request) -> Result<Answer, Error> {
    let days = Days::new(context, request)?;
    let mut catalog =
        catalog::read(&context.config().places(), catalog::Detail::Spending, keep_reading(context));
    context.check_cancelled()?;
    let mut all = std::mem::take(&mut catalog.sessions);
    let strays = all.len();
    all.append(&mut catalog.unattached_messages);
    let costs = costs(context, &all, &days);
    all.truncate(strays);
    let visible = context.visible_filter();
    let filter = catalog::SessionFilter { project: request.project.clone(), ..Default::default() };
    let filter = with_project(context, &filter, &all.iter().map(|entry| &*entry.session));
    let mut answer = Answer {
        since: days.since,
        until: days.until,
        projects: Vec::new(),
        cost_usd: None,
        last_day: None,
        open: if days.holds(context.now) { open(context, request)? } else { Vec::new() },
        notes: unknown_project_note(context, &filter, all.iter().map(|entry| &*entry.session))
            .into_iter()
            .collect(),
    };
    let mut unreadable = UnreadableFiles::default();
    // What cannot be read may be anybody's.
    if !context.is_limited() {
        unreadable.add_problems(std::mem::take(&mut catalog.problems));
    }
    let mut projects: BTreeMap<Option<PathBuf>, ProjectDay> = BTreeMap::new();
    // What a fork copied counts for the session that had it first.
    all.sort_by_key(|entry| (entry.session.forked_from.is_some(), entry.session.created));
    let mut counted = HashSet::new();
    for entry in all {
        context.check_cancelled()?;
        let mut session = entry.session;
        if !visible.matches(&session) || !filter.matches(&session) {
            continue;
        }
        if session.last_modified.is_some_and(|last| last < days.begin) {
            let day = session.last_modified.map(|at| at.to_zoned(context.zone()).date());
            answer.last_day = answer.last_day.max(day);
            continue;
        }
        if session.created.is_none_or(|created| created >= days.end) {
            continue;
        }
        context.redact_session(&mut session);
        let cost = costs.get(&session.id).copied();
        let Some(done) = session_day(context, &session, &days, cost, (&mut counted, &mut unreadable)) else {
            continue;
        };
        let path = session.repo_path.as_deref().map(Path::to_owned);
        let project = projects.entry(path.clone()).or_insert_with(|| ProjectDay {
            project: session.project.as_deref().map(|name| context.secrets.redacted(name.into())),
            path,
            active_seconds: 0,
            cost_usd: None,
            sessions: Vec::new(),
        });
        project.active_seconds += done.active_seconds;
        project.cost_usd = sum(project.cost_usd, done.cost_usd);
        answer.cost_usd = sum(answer.cost_usd, done.cost_usd);
        project.sessions.push(done);
    }
    answer.projects = projects.into_values().collect();
    for project in &mut answer.projects {
        project.sessions.sort_by_key(|session| session.first);
    }
    answer.projects.sort_by_key(|project| std::cmp::Reverse(project.active_seconds));
    if !answer.projects.is_empty() {
        answer.last_day = None;
    }
    answer.notes.extend(unreadable.notes(context));
    Ok(answer)
}

/// The sessions that are open now.
fn open(context: &Context, request: &Request) -> Result<Vec<OpenSession>, Error> {
    let filter =
        catalog::SessionFilter { running: true, project: request.project.clone(), ..Default::default() };
    let running = select(context, &filter, None)?.sessions;
    let open = |session: Session| {
        let activity = session.activity?;
        Some(OpenSession {
            session_id: session.id,
            title: session.title.as_deref().map(ToOwned::to_owned),
            project: session.project.as_deref().map(ToOwned::to_owned),
            needs_you: activity.is_blocked(),
            activity,
        })
    };
    let mut open: Vec<OpenSession> = running.into_iter().filter_map(open).collect();
    open.sort_by_key(|session| (!session.needs_you, !session.activity.state.is_working()));
    Ok(open)
}

fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

/// Whole days in the person's zone.
struct Days {
    since: Date,
    until: Date,
    begin: Timestamp,
    end: Timestamp,
}

impl Days {
    fn new(context: &Context, request: &Request) -> Result<Self, Error> {
        let day = |moment: &Option<Moment>| {
            let at = moment.as_ref().map(|moment| moment.at(context)).transpose()?;
            Ok::<_, Error>(at.map(|at| at.to_zoned(context.zone()).date()))
        };
        let today = context.now.to_zoned(context.zone()).date();
        let since = day(&request.since)?;
        let last = request.until.as_ref().or(request.since.as_ref());
        let until = last.map(|last| last.last_day(context)).transpose()?.unwrap_or(today);
        let since = since.unwrap_or(until);
        if since > until {
            return Err(Error::new(Kind::Usage, format!("{since} is after {until}")));
        }
        let midnight = |date: Date| {
            let out_of_range = |_| Error::new(Kind::Usage, format!("{date} is too far away"));
            date.to_zoned(context.zone()).map(|time| time.timestamp()).map_err(out_of_range)
        };
        Ok(Self { since, until, begin: midnight(since)?, end: midnight(until.saturating_add(1.day()))? })
    }

    fn holds(&self, at: Timestamp) -> bool {
        self.begin <= at && at < self.end
    }
}

/// What each session took on these days, where all of it has a price.
fn costs(context: &Context, entries: &[catalog::CatalogEntry], days: &Days) -> HashMap<SessionId, f64> {
    let period = Period { begin: Some(days.begin), end: Some(days.end) };
    let rows = ledger::rows(context, entries, RowDetail::Day, period);
    let totals = totals_by(&rows, |row| row.session.clone());
    totals.into_iter().filter_map(|(id, total)| Some((id, total.cost?))).collect()
}

/// What was done in one session; `None` where nothing was.
fn session_day(
    context: &Context,
    session: &Session,
    days: &Days,
    cost: Option<f64>,
    (counted, unreadable): (&mut HashSet<u64>, &mut UnreadableFiles),
) -> Option<SessionDay> {
    let file = session.file.as_deref()?;
    let done = empty_day(session, cost);
    let mut story = DayCollector {
        secrets: context.secrets,
        days,
        counted,
        is_fork: session.forked_from.is_some(),
        own: HashSet::new(),
        times: Vec::new(),
        done,
    };
    let mut files: BTreeMap<PathBuf, u64> = BTreeMap::new();
    unreadable.each_event(context, file, |event| story.observe(event, &mut files));
    for agent in session.subagents.iter().filter(|agent| agent.file != file) {
        unreadable.each_event(context, &agent.file, |event| story.observe_subagent(event, &mut files));
    }
    story.counted.extend(story.own.drain());
    story.times.sort_unstable();
    let mut done = story.done;
    (done.first, done.last) = (*story.times.first()?, *story.times.last()?);
    let gaps = story.times.windows(2).map(|pair| pair[1].duration_since(pair[0]));
    done.active_seconds = gaps.filter(|gap| *gap <= MAX_PAUSE).map(|gap| gap.as_secs()).sum();
    let name = |path: &Path| {
        let below = session.cwd.as_deref().and_then(|cwd| path.strip_prefix(cwd).ok());
        context.secrets.redacted(below.unwrap_or(path).to_string_lossy())
    };
    done.files = files.into_iter().map(|(path, edits)| DayFile { path: name(&path), edits }).collect();
    done.files.sort_by_key(|file| std::cmp::Reverse(file.edits));
    Some(done)
}

fn empty_day(session: &Session, cost_usd: Option<f64>) -> SessionDay {
    SessionDay {
        session_id: session.id.clone(),
        title: session.title.as_deref().map(ToOwned::to_owned),
        branch: session.branch.as_deref().map(ToOwned::to_owned),
        first: Timestamp::UNIX_EPOCH,
        last: Timestamp::UNIX_EPOCH,
        active_seconds: 0,
        cost_usd,
        prompts: Vec::new(),
        commits: Vec::new(),
        files: Vec::new(),
    }
}

/// Collects what was done in a session while its transcript is read.
struct DayCollector<'a> {
    secrets: Secrets,
    days: &'a Days,
    /// The records that other sessions have already.
    counted: &'a mut HashSet<u64>,
    /// Whether it begins with copies of them. What another session has, too, is its own otherwise.
    is_fork: bool,
    /// The records of this one.
    own: HashSet<u64>,
    times: Vec<Timestamp>,
    done: SessionDay,
}

impl DayCollector<'_> {
    fn observe(&mut self, event: HistoryEvent, files: &mut BTreeMap<PathBuf, u64>) {
        let Some(at) = event.at.filter(|at| self.days.holds(*at)) else { return };
        if self.is_fork && event.record.is_some_and(|record| self.counted.contains(&record)) {
            return;
        }
        self.own.extend(event.record);
        self.times.push(at);
        let line = event.line;
        match event.what {
            HistoryEventKind::Prompt(text) => {
                let text = if text.is_empty() { "(a picture)".to_owned() } else { preview(&text) };
                let text = self.secrets.redacted_beginning(text);
                self.done.prompts.push(DayPrompt { line, at, text });
            }
            HistoryEventKind::Commit { hash, subject } => {
                let subject = self.secrets.redacted(subject.into());
                // An amended or cherry-picked commit is reported again.
                self.done.commits.retain(|known| known.hash != hash);
                self.done.commits.push(DayCommit { line, at, hash, subject });
            }
            HistoryEventKind::Changed(path) => *files.entry(path).or_default() += 1,
            HistoryEventKind::Answered(_)
            | HistoryEventKind::Approved(_)
            | HistoryEventKind::UnreportedCommit(_)
            | HistoryEventKind::Other => {}
        }
    }

    /// A sub-agent's work counts as its session's; its prompts do not count.
    fn observe_subagent(&mut self, event: HistoryEvent, files: &mut BTreeMap<PathBuf, u64>) {
        if !matches!(event.what, HistoryEventKind::Prompt(_) | HistoryEventKind::Commit { .. }) {
            self.observe(event, files);
        }
    }
}
