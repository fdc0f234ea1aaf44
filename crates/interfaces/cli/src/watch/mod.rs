//! `watch`: the live view of all sessions, its plain form, and notifications.

mod board;
mod draw;
mod jump;
mod notice;
pub(crate) mod plain;
pub(crate) mod screen;

use anstyle::{AnsiColor, Style};
use model::{Activity, State};

/// The activity of a session in words; `?` marks a guess.
pub(crate) fn word(activity: &Activity) -> String {
    let guess =
        if activity.evidence == model::Evidence::Timer && activity.state != State::Idle { "?" } else { "" };
    let word = match activity.state {
        State::WaitingPermission => "needs permission",
        State::WaitingInput if activity.is_blocked() => "asks you",
        State::WaitingInput => "waits for you",
        State::Thinking => "thinking",
        State::ToolUse => "uses a tool",
        State::Responding => "answers",
        State::Idle => "idle",
        State::Ended => "ended",
        State::Lost => "lost",
    };
    format!("{word}{guess}")
}

/// The colour of an activity.
pub(crate) fn style(activity: &Activity) -> Style {
    match activity.state {
        _ if activity.is_blocked() => AnsiColor::Red.on_default().bold(),
        State::WaitingPermission | State::Lost => AnsiColor::Red.on_default(),
        State::WaitingInput => AnsiColor::Yellow.on_default(),
        State::Thinking | State::ToolUse | State::Responding => AnsiColor::Green.on_default(),
        State::Idle | State::Ended => Style::new().dimmed(),
    }
}
