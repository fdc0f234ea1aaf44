//! Commands to a worker: what is written to the process, or why a command is refused.

use super::{Action, Closing, Conversation, Now, Phase};
use crate::stream;
use crate::{Announcement, Command, Event, Grant, PermissionMode, PermissionReply, WorkerState};

impl Conversation {
    /// Executes a command, or returns a message saying why not.
    pub(crate) fn command(&mut self, command: Command, now: Now) -> Result<Vec<Action>, String> {
        let mut actions = Vec::new();
        if self.verdict.is_some() {
            return Err("the worker is being ended".to_owned());
        }
        match command {
            Command::Answer { request, reply } => {
                let found = self.requests.find(&request)?;
                let (request, response) = (found.request.clone(), found.response(&reply)?);
                let grant = reply.grant();
                let granted = grant.and_then(|grant| found.offer(grant)).map(|offer| offer.allows.clone());
                // A denial that ends the turn is an interrupt, not a failure.
                self.interrupted |= matches!(reply, PermissionReply::Deny { interrupt: true, .. });
                actions.push(Action::Write(stream::answer(&request, &response)));
                self.requests.remove(&request);
                self.last_output = now.since_start;
                let allowed = response["behavior"] == "allow";
                let granted = granted.unwrap_or_default();
                actions.push(Action::Emit(Event::Answered { request, allowed, granted: granted.clone() }));
                match grant {
                    // Older releases report the mode only when the next turn begins.
                    Some(Grant::Edits) => actions.push(Action::Mode(PermissionMode::AcceptEdits)),
                    Some(Grant::Always | Grant::Directory) => actions.push(Action::Granted(granted)),
                    None => {}
                }
            }
            Command::Message { id, text } => {
                if self.closing != Closing::No {
                    return Err("the worker ends after this turn".to_owned());
                }
                if self.pending().is_some() {
                    return Err("a follow-up is already pending".to_owned());
                }
                // Whoever sends it may not know what is asked, and would find it delivered after somebody else's answer.
                if let Some(asked) = self.requests.first() {
                    return Err(format!("it waits for an answer to {}: answer that first", asked.tool));
                }
                self.unwritten.push_back((id, text));
            }
            Command::Announce { message } => {
                let announcement = Announcement { message, timestamp: now.time };
                actions.push(Action::Emit(Event::Announced(announcement)));
            }
            Command::Interrupt => {
                if self.phase != Phase::Turn {
                    return Err("no turn runs that could be interrupted".to_owned());
                }
                self.interrupted = true;
                actions.push(self.ask("interrupt", stream::interrupt));
            }
            Command::SetMode { mode } => {
                actions.push(self.ask("set the permission mode", |id| stream::set_mode(id, mode)));
                self.sent_modes.insert(self.last_request(), mode);
            }
            Command::SetModel { model } => {
                actions.push(self.ask("set the model", |id| stream::set_model(id, &model)));
            }
            Command::Yield if !self.is_idle() => return Err("a turn runs".to_owned()),
            Command::Close | Command::Yield => self.close(),
            Command::Stop => {
                self.withdraw_messages(&mut actions);
                if self.phase == Phase::Turn {
                    // The transcript then explains why its turn has no end.
                    actions.push(self.ask("interrupt", stream::interrupt));
                    actions.push(Action::Interrupted);
                } else {
                    actions.push(Action::Terminate);
                }
                self.verdict = Some(WorkerState::Stopped);
            }
        }
        self.advance(now, &mut actions);
        Ok(actions)
    }

    /// Withdraws waiting messages, which would otherwise start another turn.
    fn withdraw_messages(&mut self, actions: &mut Vec<Action>) {
        for message in self.unaccepted.clone() {
            actions.push(self.ask("withdraw a message", |id| stream::withdraw(id, &message)));
        }
        if self.pending().is_some() {
            let text = "a message that waited for the end of the turn was not said".to_owned();
            actions.push(Action::Emit(Event::Note { text }));
        }
    }
}
