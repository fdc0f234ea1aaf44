//! `watch`: the live view of all sessions, its plain form, and notifications.

mod board;
mod draw;
mod fold;
mod hidden;
pub(crate) mod jump;
mod notice;
pub(crate) mod plain;
mod row;
pub(crate) mod screen;

use anstyle::{AnsiColor, Style};
use model::{Activity, BackgroundJob, BackgroundState, State};

/// The activity of a session in words; `?` marks a guess.
pub(crate) fn word(activity: &Activity) -> String {
    let guess =
        if activity.evidence == model::Evidence::Timer && activity.state != State::Idle { "?" } else { "" };
    let word = match activity.state {
        State::WaitingPermission => "needs permission",
        State::WaitingInput if activity.is_blocked() => "asks you",
        State::WaitingInput => "waits for you",
        State::Failed => "failed",
        State::Thinking => "thinking",
        State::ToolUse => "uses a tool",
        State::Responding => "answers",
        State::Idle => "idle",
        State::Ended => "ended",
        State::Lost => "lost",
    };
    format!("{word}{guess}")
}

/// What a session does in words: where it is a background job of Claude Code, what has become of that.
pub(crate) fn doing_word(activity: &Activity, job: Option<&BackgroundJob>) -> String {
    match job {
        None => word(activity),
        Some(job) if rests(activity, job) => format!("job {}", word(activity)),
        Some(job) => format!("job {}", job.state.as_str()),
    }
}

/// Whether a job that is still counted as working has done its turn and waits for a person.
pub(crate) fn rests(activity: &Activity, job: &BackgroundJob) -> bool {
    job.state == BackgroundState::Working && activity.needs().is_some()
}

/// The colour of that.
pub(crate) fn doing_style(activity: &Activity, job: Option<&BackgroundJob>) -> Style {
    match job.filter(|job| !rests(activity, job)).map(|job| job.state) {
        None => style(activity),
        Some(BackgroundState::Working) => AnsiColor::Green.on_default(),
        Some(BackgroundState::Blocked) => AnsiColor::Red.on_default().bold(),
        Some(BackgroundState::Failed) => AnsiColor::Red.on_default(),
        Some(BackgroundState::Done | BackgroundState::Stopped) => Style::new().dimmed(),
    }
}

/// A title behind the name of the background job, where that is another.
pub(crate) fn job_title(job: Option<&BackgroundJob>, title: &str) -> String {
    let name = job.and_then(|job| job.name.as_deref()).filter(|name| *name != title);
    name.map_or_else(|| title.to_owned(), |name| format!("{name} · {title}"))
}

/// The colour of an activity.
pub(crate) fn style(activity: &Activity) -> Style {
    match activity.state {
        _ if activity.is_blocked() => AnsiColor::Red.on_default().bold(),
        State::WaitingPermission | State::Failed | State::Lost => AnsiColor::Red.on_default(),
        State::WaitingInput => AnsiColor::Yellow.on_default(),
        State::Thinking | State::ToolUse | State::Responding => AnsiColor::Green.on_default(),
        State::Idle | State::Ended => Style::new().dimmed(),
    }
}
