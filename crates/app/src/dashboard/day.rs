//! What sessions did in a span of time, change by change, as the rules of `watch` saw it: to be played again.

use std::path::Path;

use catalog::SessionFilter;
use jiff::{SignedDuration, Timestamp};
use model::{Activity, Session, SessionEvent, SessionId, State};
use monitor::Tracker;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::Reader;

use super::short;
use crate::sessions::activity::timers;
use crate::sessions::select::select;
use crate::{Context, Error, Kind, Moment};

/// The most changes that are given; the rest of the time is left out.
const MOST: usize = 60_000;
/// The longest span, in hours.
const LONGEST: i64 = 24 * 8;

/// What to play again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DayRequest")]
pub struct Request {
    /// From this moment on.
    pub since: Moment,
    /// Until this moment; a day later without it, and at most eight days.
    pub until: Option<Moment>,
    /// Only this session.
    pub session: Option<String>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "DayAnswer")]
pub struct Answer {
    /// The beginning.
    #[serde(serialize_with = "model::time")]
    pub since: Timestamp,
    /// The end.
    #[serde(serialize_with = "model::time")]
    pub until: Timestamp,
    /// The sessions that did something.
    pub sessions: Vec<DaySession>,
    /// What they did, in order.
    pub changes: Vec<Change>,
    /// Whether there was more than is given.
    pub is_cut: bool,
}

/// A session that did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DaySession {
    /// Its id.
    pub id: SessionId,
    /// Its title.
    pub title: Option<String>,
    /// The short name of its repository.
    pub project: Option<String>,
    /// The directory of its repository.
    pub path: Option<String>,
}

/// A change in what a session does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Which of `sessions`, from 0.
    pub session: usize,
    /// What it does from then on; absent where only a sub-agent began or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// The tool it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it uses it for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// A sub-agent that began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<DayAgent>,
    /// The task of a sub-agent that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The record that was written last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
}

/// A sub-agent that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayAgent {
    /// Its task.
    pub task: String,
    /// What it is for.
    pub name: String,
}

/// Plays what sessions did.
pub fn day(context: &Context, request: &Request) -> Result<Answer, Error> {
    let since = request.since.at(context)?;
    let longest = |hours| since.checked_add(SignedDuration::from_hours(hours)).unwrap_or(Timestamp::MAX);
    let until = match &request.until {
        Some(until) => until.at(context)?.min(longest(LONGEST)),
        None => longest(24),
    };
    let filter = SessionFilter { since: Some(since), ..SessionFilter::default() };
    let mut answer = Answer { since, until, sessions: Vec::new(), changes: Vec::new(), is_cut: false };
    for session in select(context, &filter, None)?.sessions {
        context.check_cancelled()?;
        let is_other =
            request.session.as_ref().is_some_and(|id| !session.id.as_str().starts_with(id.as_str()));
        if is_other || session.created.is_some_and(|created| created > until) {
            continue;
        }
        let Some(file) = session.file.clone() else { continue };
        let mut player = Player::new(context, &session, answer.sessions.len());
        player.play(&file, since, until).map_err(|error| {
            Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
        })?;
        if !player.changes.is_empty() {
            answer.changes.append(&mut player.changes);
            answer.sessions.push(named(session));
        }
    }
    answer.changes.sort_by_key(|change| change.at);
    answer.is_cut = answer.changes.len() > MOST;
    answer.changes.truncate(MOST);
    Ok(answer)
}

fn named(session: Session) -> DaySession {
    DaySession {
        title: session.title.as_deref().map(short),
        project: session.project.map(|name| name.to_string()),
        path: session.repo_path.or(session.cwd).map(|path| path.display().to_string()),
        id: session.id,
    }
}

/// Plays one session.
struct Player<'a> {
    context: &'a Context,
    tracker: Tracker,
    session: usize,
    uuid: Option<String>,
    changes: Vec<Change>,
}

impl<'a> Player<'a> {
    fn new(context: &'a Context, session: &Session, place: usize) -> Self {
        let tracker = Tracker::new(session.id.clone(), timers(context));
        Self { context, tracker, session: place, uuid: None, changes: Vec::new() }
    }

    fn play(&mut self, file: &Path, since: Timestamp, until: Timestamp) -> std::io::Result<()> {
        let mut reader = Reader::open(file)?;
        let mut last = since;
        while let Some(line) = reader.next_line()? {
            let Ok(record) = line.record() else { continue };
            let at = record.timestamp().unwrap_or(last);
            if at > until {
                break;
            }
            if at < since {
                continue;
            }
            last = last.max(at);
            self.pass(last);
            self.tracker.observe(&record, last);
            self.uuid = record.uuid().map(ToOwned::to_owned).or_else(|| self.uuid.take());
            self.tick(last);
        }
        self.pass(until);
        Ok(())
    }

    /// Lets time pass: silence has a meaning, too.
    fn pass(&mut self, until: Timestamp) {
        let Some(mut now) = self.tracker.last_active() else { return };
        while let Some(next) = self.tracker.next_deadline(now).filter(|next| *next < until) {
            now = next;
            self.tick(now);
        }
    }

    fn tick(&mut self, at: Timestamp) {
        for mut event in self.tracker.tick(at) {
            self.context.secrets.redact_event(&mut event);
            let change = match event {
                SessionEvent::SessionActivity(_) => {
                    let mut activity = self.tracker.activity(at);
                    self.context.secrets.redact_activity(&mut activity);
                    let Activity { state, tool, detail, .. } = activity;
                    Change { state: Some(state), tool, detail, ..self.blank(at) }
                }
                SessionEvent::SubagentSpawned(agent) => {
                    let name = if agent.description.is_empty() {
                        agent.subagent_type.unwrap_or_else(|| "sub-agent".to_owned())
                    } else {
                        agent.description
                    };
                    Change { began: Some(DayAgent { task: agent.task_id, name }), ..self.blank(at) }
                }
                SessionEvent::SubagentCompleted(agent) => {
                    Change { ended: Some(agent.task_id), ..self.blank(at) }
                }
                _ => continue,
            };
            self.changes.push(change);
        }
    }

    fn blank(&self, at: Timestamp) -> Change {
        Change {
            at: at.as_millisecond(),
            session: self.session,
            state: None,
            tool: None,
            detail: None,
            began: None,
            ended: None,
            uuid: self.uuid.clone(),
        }
    }
}
