//! `watch` without a terminal: one line per change, or each event as one line of JSON.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use app::Context;
use app::live::watch::Live;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::{Activity, BackgroundJob, Need, SessionEvent, SessionId, SessionInfo};

use super::hidden::HiddenSessions;
use crate::exit::Failure;
use crate::json::json_line;
use crate::output::Output;
use crate::text::safe;

/// How long to wait for an event before checking for a new listing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Prints events until the output is closed.
pub(crate) fn run(context: &Context, json: bool) -> Result<(), Failure> {
    let (snapshot, mut subscription) = Live::start(context)?.subscribe(context)?;
    let mut out = Output::plain();
    let hidden = HiddenSessions::default();
    let mut lines = Lines { json, zone: context.zone(), printed: Printed::new(), hidden };
    lines.hidden.refresh(context);
    lines.all(&mut out, snapshot.sessions, context.read_clock())?;
    if let Some(watching) = snapshot.watching.filter(|watching| watching.reason.is_some()) {
        lines.event(&mut out, &SessionEvent::Watching(watching), context.read_clock())?;
    }
    loop {
        out.flush_now()?;
        let Ok(event) = subscription.next(PATIENCE) else { return Ok(()) };
        lines.hidden.refresh(context);
        let Some(event) = event.filter(|event| !lines.hidden.has(event)) else { continue };
        lines.event(&mut out, &event, context.read_clock())?;
        if let SessionEvent::Resync { .. } = &*event {
            let sessions = subscription.snapshot().map(|snapshot| snapshot.sessions).unwrap_or_default();
            lines.all(&mut out, sessions, context.read_clock())?;
        }
    }
}

/// The activity that was printed last for each session, and the background job that it is.
type Printed = HashMap<SessionId, (Activity, Option<BackgroundJob>)>;

struct Lines {
    json: bool,
    zone: TimeZone,
    printed: Printed,
    hidden: HiddenSessions,
}

impl Lines {
    fn all(
        &mut self,
        out: &mut Output,
        mut sessions: Vec<SessionInfo>,
        now: Timestamp,
    ) -> Result<(), Failure> {
        self.hidden.leave_out(&mut sessions);
        sessions.sort_by(|one, other| one.session_id.cmp(&other.session_id));
        if self.json {
            return self.event(out, &SessionEvent::SessionsRefresh { sessions }, now);
        }
        for info in sessions {
            self.session(out, &info, now)?;
        }
        Ok(())
    }

    fn event(&mut self, out: &mut Output, event: &SessionEvent, now: Timestamp) -> Result<(), Failure> {
        if self.json {
            writeln!(out, "{}", json_line(event)?)?;
            return Ok(());
        }
        match event {
            SessionEvent::SessionCreated(info) | SessionEvent::SessionUpdated(info) => {
                self.session(out, info, now)
            }
            SessionEvent::SessionRemoved { session_id, .. } => {
                self.printed.remove(session_id);
                Ok(())
            }
            SessionEvent::Announcement(announcement) => {
                let time = announcement.at.to_zoned(self.zone.clone()).strftime("%H:%M:%S");
                let (id, message) = (announcement.session_id.short(), safe(&announcement.message));
                writeln!(out, "{time}  {id:<8}  announced: {message}")?;
                Ok(())
            }
            SessionEvent::Watching(watching) => {
                let mut out = anstream::stderr().lock();
                let reason = watching.reason.as_deref().map(safe);
                let text = reason.map_or_else(
                    || "the system reports every change again".to_owned(),
                    |reason| format!("polling every second: {reason}"),
                );
                // Nothing can be printed if standard error is closed.
                let _ = writeln!(out, "{text}");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Prints a line if the session's activity is not the one that was printed last.
    fn session(&mut self, out: &mut Output, info: &SessionInfo, now: Timestamp) -> Result<(), Failure> {
        let is_same = |(before, job): &(Activity, Option<BackgroundJob>)| {
            Activity { since: info.activity.since, ..before.clone() } == info.activity
                && *job == info.background_job
        };
        if self.printed.get(&info.session_id).is_some_and(is_same) {
            return Ok(());
        }
        let known = (info.activity.clone(), info.background_job.clone());
        self.printed.insert(info.session_id.clone(), known);
        self.line(out, now, info)
    }

    /// `09:12:44  469a19a4  web  waiting_permission  permission  registry  Bash: touch build`
    fn line(&self, out: &mut Output, now: Timestamp, info: &SessionInfo) -> Result<(), Failure> {
        let (id, activity) = (&info.session_id, &info.activity);
        let time = now.to_zoned(self.zone.clone()).strftime("%H:%M:%S");
        let doing = [activity.tool.as_deref(), activity.asking.as_deref().or(activity.detail.as_deref())];
        let doing = doing.into_iter().flatten().collect::<Vec<_>>().join(": ");
        let doing = match &info.background_job {
            Some(job) => [&*described(job), &doing].join("  ").trim_end().to_owned(),
            None => doing,
        };
        let (state, evidence) = (activity.state.as_str(), activity.evidence.as_str());
        let needs = activity.needs().map_or("-", Need::as_str);
        let project = safe(info.project.as_deref().unwrap_or("-"));
        let text = format!(
            "{time}  {:<8}  {project:<16}  {state:<18}  {needs:<10}  {evidence:<10}  {}",
            id.short(),
            safe(&doing)
        );
        writeln!(out, "{}", text.trim_end())?;
        Ok(())
    }
}

/// `job 469a19a4 blocked (tidy the build): approve Bash: rm -rf build`
fn described(job: &BackgroundJob) -> String {
    let name = job.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let needs = job.needs.as_deref().map(|needs| format!(": {needs}")).unwrap_or_default();
    format!("job {} {}{name}{needs}", job.id, job.state.as_str())
}
