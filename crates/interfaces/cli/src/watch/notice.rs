//! Notifications: a session asks something, or has finished; the two are never confused. The rules are pure; sending
//! is at the end of the file.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use app::Notify;
use jiff::{SignedDuration, Timestamp};
use model::{SessionActivity, SessionId, State};

use crate::terminal::write_control;
use crate::text::safe;

/// How long a session must be finished before the person is notified; it may continue on its own in a moment.
const SETTLED: SignedDuration = SignedDuration::from_secs(1);

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Notification {
    /// A permission or a question is asked.
    Asked { session: SessionId, what: String },
    /// An agent announces something.
    Announced { session: SessionId, message: String },
    /// A turn is over.
    Finished { session: SessionId },
}

/// The states of the sessions, from which notifications follow.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    states: HashMap<SessionId, Known>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    is_asked: bool,
    is_working: bool,
    finished: Option<Timestamp>,
}

impl Notices {
    /// Takes an activity into account; returns a notification if the session asks something new.
    pub(crate) fn update(&mut self, event: &SessionActivity, now: Timestamp) -> Option<Notification> {
        let is_asked = event.is_blocked();
        let is_working = event.state.is_working();
        let is_over = matches!(event.state, State::WaitingInput | State::Failed | State::Ended) && !is_asked;
        let before = self.states.get(&event.session_id).copied();
        let worked = before.is_some_and(|known| known.is_working);
        let finished = match before.and_then(|known| known.finished) {
            Some(at) if is_over => Some(at),
            _ => (worked && is_over).then_some(now),
        };
        self.states.insert(event.session_id.clone(), Known { is_asked, is_working, finished });
        let is_new = is_asked && !before.is_some_and(|known| known.is_asked);
        is_new.then(|| Notification::Asked { session: event.session_id.clone(), what: what(event) })
    }

    /// The notifications of sessions that have been finished for long enough.
    pub(crate) fn settled(&mut self, now: Timestamp) -> Vec<Notification> {
        let mut calls = Vec::new();
        for (session, known) in &mut self.states {
            if known.finished.take_if(|at| now.duration_since(*at) >= SETTLED).is_some() {
                calls.push(Notification::Finished { session: session.clone() });
            }
        }
        calls
    }
}

fn what(event: &SessionActivity) -> String {
    match (event.state, event.tool_name.as_deref()) {
        (State::WaitingPermission, Some(tool)) => format!("needs permission for {tool}"),
        (State::WaitingPermission, None) => "needs permission".to_owned(),
        _ => "is asking you something".to_owned(),
    }
}

/// Notifies the person.
pub(crate) fn send(notification: &Notification, title: &str, how: Notify) {
    let words = match notification {
        Notification::Asked { what, .. } => what.clone(),
        Notification::Announced { message, .. } => message.clone(),
        Notification::Finished { .. } => "has finished".to_owned(),
    };
    match how {
        Notify::Off => {}
        Notify::Bell => write_control("\u{7}"),
        Notify::Notify => {
            let (title, words) = (safe(title), safe(&words));
            let sent = Command::new("notify-send")
                .args(["--app-name=backstory", "--", title.as_str(), words.as_str()])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn();
            match sent {
                // A thread waits for the child, so that it does not remain a zombie.
                Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
                // Most terminals pass such a line on to the desktop.
                Err(_) => write_control(&format!("\u{1b}]9;{title} {words}\u{7}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Activity, Evidence, QUESTION};

    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    /// The notifications of states, two seconds after another; at the end some time passes.
    fn check(states: &[(State, Option<&str>)], expected: &[&str]) {
        let mut notices = Notices::default();
        let session: SessionId = "s".parse().unwrap();
        let mut calls = Vec::new();
        for (second, (state, detail)) in (0..).step_by(2).zip(states) {
            let mut activity = Activity::new(*state, Evidence::Registry, None);
            activity.detail = detail.map(Into::into);
            calls.extend(notices.settled(at(second)));
            calls.extend(notices.update(&SessionActivity::new(&session, &activity), at(second)));
        }
        calls.extend(notices.settled(at(1000)));
        let words: Vec<&str> = calls
            .iter()
            .map(|call| if matches!(call, Notification::Asked { .. }) { "asked" } else { "finished" })
            .collect();
        assert_eq!(words, expected, "{states:?}");
    }

    #[test]
    fn who_is_blocked_and_who_is_done() {
        use State::{Ended, Idle, Lost, Thinking, ToolUse, WaitingInput, WaitingPermission};
        check(&[(Thinking, None), (WaitingInput, None)], &["finished"]);
        check(&[(Thinking, None), (Ended, None)], &["finished"]);
        check(&[(Thinking, None), (WaitingInput, None), (Ended, None)], &["finished"]);
        check(&[(Thinking, None), (Lost, None)], &[]);
        check(&[(WaitingInput, None), (Idle, None)], &[]);
        check(
            &[(ToolUse, None), (WaitingPermission, None), (ToolUse, None), (WaitingInput, None)],
            &["asked", "finished"],
        );
        check(&[(ToolUse, None), (WaitingPermission, None), (WaitingInput, None)], &["asked"]);
        check(&[(Thinking, None), (WaitingInput, Some(QUESTION)), (Thinking, None)], &["asked"]);
        check(
            &[(Thinking, None), (WaitingInput, Some("question: goal proposal")), (Thinking, None)],
            &["asked"],
        );
        check(&[(Thinking, None), (ToolUse, Some("in the background")), (Thinking, None)], &[]);
        check(&[(WaitingPermission, None), (WaitingPermission, Some("more"))], &["asked"]);
    }

    #[test]
    fn a_moment_between_two_turns_is_no_end() {
        let mut notices = Notices::default();
        let session: SessionId = "s".parse().unwrap();
        let mut update = |state, second| {
            notices.update(
                &SessionActivity::new(&session, &Activity::new(state, Evidence::Registry, None)),
                at(second),
            );
            notices.settled(at(second)).len()
        };
        assert_eq!(
            [
                update(State::Thinking, 0),
                update(State::WaitingInput, 5),
                update(State::Thinking, 5),
                update(State::ToolUse, 9)
            ],
            [0; 4]
        );
    }
}
