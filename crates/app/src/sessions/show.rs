//! `show`: one session as a conversation, message by message, never held in memory as a whole.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use model::{Origin, Session, Subagent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use transcript::Role;
pub use transcript::is_housekeeping;
use transcript::{Chain, Reader, UnsentPrompts};

use crate::sessions::around::{Around, Cited};
use crate::sessions::edit_diffs::EditDiffs;
use crate::sessions::locate::{Files, Located, locate, only_registered};
use crate::sessions::message::{PartFilter, ToolDetail};
pub use crate::sessions::message::{Piece, ShownMessage};
use crate::sessions::{WorkDone, activity, openclaw_conversation, page, totals};
use crate::workers::reports;
use crate::{Context, Error, Kind, NextStep, Secrets};

/// Which session to show, and what of it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ShowRequest")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that a person types on its own")]
pub struct Request {
    /// The id of a session or of an OpenClaw conversation, or a prefix of it.
    pub session: String,
    /// Whether to show what tools did.
    #[serde(default)]
    pub tools: bool,
    /// Whether to name the tools that were called where `tools` is not asked for.
    #[serde(default)]
    pub tool_names: bool,
    /// Whether to show the changes of files as diffs, where they were made.
    #[serde(default)]
    pub diff: bool,
    /// Whether to show what the model thought.
    #[serde(default)]
    pub thinking: bool,
    /// Whether to show what sub-agents said.
    #[serde(default)]
    pub subagents: bool,
    /// Whether to show abandoned branches of the conversation.
    #[serde(default)]
    pub all_branches: bool,
    /// Only the messages around the one with this id, or a prefix of it.
    pub around: Option<String>,
    /// Only the messages around this line of the transcript, counted from 1, as search results cite it; what a tool did
    /// in that line is shown whole.
    #[schemars(range(min = 1))]
    pub line: Option<u64>,
    /// Only the messages before the one with this id, or a prefix of it.
    pub before: Option<String>,
    /// Only the messages after the one with this id, or a prefix of it.
    pub after: Option<String>,
    /// Only so many messages, the last ones of the main branch.
    #[schemars(range(min = 1))]
    pub last: Option<usize>,
    /// Only the last turn of the main branch: what was asked last, and all that followed.
    #[serde(default)]
    pub last_turn: bool,
}

/// A session as a conversation: the shape in which [`Conversation::each`] is written, never held as a whole.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ShowAnswer", description = "A session as a conversation.")]
pub struct Answer {
    /// The session's facts.
    pub session: Session,
    /// Its messages, in order.
    pub messages: Vec<ShownMessage>,
    /// How many messages of other branches were left out.
    pub omitted_messages: u64,
    /// How many lines of its transcripts were too long to be read.
    pub too_long_lines: u64,
}

/// What was not handed over of a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OmittedParts {
    /// Messages of other branches.
    pub messages: u64,
    /// Lines of its transcripts that were too long to be read.
    pub too_long_lines: u64,
}

impl OmittedParts {
    /// The same where most messages are left out, of whatever branch.
    fn without_messages(self) -> Self {
        Self { messages: 0, ..self }
    }
}

/// A session whose messages can be gone through.
#[derive(Debug)]
pub struct Conversation {
    /// The session's facts.
    pub session: Session,
    request: Request,
    files: Files,
    secrets: Secrets,
}

/// Opens the session, or the conversation of OpenClaw's, that a person names.
pub fn show(context: &Context, request: Request) -> Result<Conversation, Error> {
    check(&request)?;
    let Located { id, files, session } = locate(context, &request.session)?;
    let known = match session {
        Some(session) => Some(*session),
        None => totals::find(context, &id)?,
    };
    // Its transcript can go between two looks.
    let mut session = known.ok_or_else(|| only_registered(&id))?;
    if let Files::Claude(_) = files {
        activity::enter(context, std::slice::from_mut(&mut session), reports::all(context));
        context.redact_session(&mut session);
    }
    // Of a session that is gone there are no lines: all that is left is shown, whichever was cited.
    let is_ghost = session.origin == Origin::Ghost;
    let request = if is_ghost { Request { line: None, around: None, ..request } } else { request };
    let conversation = Conversation { session, request, files, secrets: context.secrets };
    match conversation.request.line {
        Some(0) => Err(conversation.missing(&Cited::Line(0))),
        _ => Ok(conversation),
    }
}

/// Refuses what contradicts itself.
fn check(request: &Request) -> Result<(), Error> {
    let has_bounds = request.before.is_some() || request.after.is_some();
    let is_around = request.around.is_some() || request.line.is_some();
    let is_of_more = is_around || has_bounds || request.subagents || request.all_branches;
    let message = if request.last.is_some() && request.last_turn {
        "ask for the last messages or for the last turn, not for both"
    } else if (request.last.is_some() || request.last_turn) && is_of_more {
        "ask for the last messages alone: they are at no other place of the session, of no sub-agent and of no other branch"
    } else if is_around && has_bounds {
        "ask for the messages around a place, or for those before or after one, not for both"
    } else {
        return Ok(());
    };
    Err(Error::new(Kind::Usage, message))
}

impl Conversation {
    /// The words of a session in `file`, without its secrets: what leaves this machine's terminal.
    pub(crate) fn redacted(session: Session, file: PathBuf) -> Self {
        Self { session, request: Request::default(), files: Files::Claude(file), secrets: Secrets::Redacted }
    }

    fn parts(&self) -> PartFilter {
        let Request { tools, tool_names, thinking, .. } = self.request;
        let tools = match (tools, tool_names) {
            (true, _) => ToolDetail::Full,
            (false, true) => ToolDetail::Names,
            (false, false) => ToolDetail::None,
        };
        PartFilter { tools, thinking, secrets: self.secrets }
    }

    /// What the session left behind; nothing of a conversation of OpenClaw's.
    pub fn work_done(&self) -> WorkDone {
        match &self.files {
            Files::Claude(file) => WorkDone::read(file, &self.session, self.secrets),
            Files::OpenClaw(_) | Files::Messages(_) => WorkDone::default(),
        }
    }

    /// Hands over every message, in order; `take` may stop it with an error of its own. Tells what was left
    /// out.
    pub fn each<E>(&self, mut take: impl FnMut(ShownMessage) -> Result<(), E>) -> Result<OmittedParts, E>
    where
        E: From<Error>,
    {
        match &self.request {
            Request { around: Some(uuid), .. } => self.around(&Cited::Message(uuid), take),
            Request { line: Some(line), .. } => self.around(&Cited::Line(*line), take),
            Request { last_turn: true, .. } => self.end(begins_turn, usize::MAX, take),
            // A change is shown where it succeeded, which its call does not say: the end is not enough.
            Request { diff: true, last: Some(count), .. } => self.end(|_| false, *count, take),
            Request { last: Some(count), .. } => {
                page::last(&self.files, *count, self.parts())?.into_iter().try_for_each(take)?;
                Ok(OmittedParts::default())
            }
            Request { before: None, after: None, .. } => self.all(&mut take),
            Request { before, after, .. } => self.between(after.as_deref(), before.as_deref(), take),
        }
    }

    /// The last messages: from the last that begins something on, and at most so many.
    fn end<E: From<Error>>(
        &self,
        begins: fn(&ShownMessage) -> bool,
        most: usize,
        take: impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<OmittedParts, E> {
        let mut end = VecDeque::new();
        let left_out = self.all(&mut |shown| -> Result<(), E> {
            if begins(&shown) {
                end.clear();
            } else if end.len() >= most {
                end.pop_front();
            }
            end.push_back(shown);
            Ok(())
        })?;
        end.into_iter().try_for_each(take)?;
        Ok(left_out.without_messages())
    }

    /// The messages after one and before another, which are looked for first: nothing is shown where one is missing.
    fn between<E: From<Error>>(
        &self,
        after: Option<&str>,
        before: Option<&str>,
        mut take: impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<OmittedParts, E> {
        let (mut count, mut start, mut end) = (0_usize, None, None);
        self.all(&mut |shown| -> Result<(), E> {
            let is = |wanted: Option<&str>| {
                wanted.is_some_and(|wanted| {
                    shown.uuid.as_deref().is_some_and(|known| known.starts_with(wanted))
                })
            };
            if start.is_none() && is(after) {
                start = Some(count + 1);
            }
            if end.is_none() && is(before) {
                end = Some(count);
            }
            count += 1;
            Ok(())
        })?;
        let found = |wanted: Option<&str>, place: Option<usize>, otherwise: usize| match (wanted, place) {
            (Some(uuid), None) => Err(self.missing(&Cited::Message(uuid))),
            (_, place) => Ok(place.unwrap_or(otherwise)),
        };
        let range = found(after, start, 0)?..found(before, end, count)?;
        let mut number = 0;
        let left_out = self.all(&mut |shown| {
            number += 1;
            if range.contains(&(number - 1)) { take(shown) } else { Ok(()) }
        })?;
        Ok(left_out.without_messages())
    }

    fn missing(&self, cited: &Cited<'_>) -> Error {
        let id = &self.session.id;
        if let Cited::Line(0) = cited {
            let message = format!("session {id} has no line 0: lines are counted from 1");
            return Error::new(Kind::NotFound, message).next(NextStep::Show { session: id.clone() });
        }
        if let (Cited::Line(line), Some(last)) = (cited, self.last_line())
            && *line > last
        {
            let message = format!("session {id} has no line {line}: it ends at line {last}");
            return Error::new(Kind::NotFound, message).next(NextStep::Show { session: id.clone() });
        }
        let message = format!("session {id} has no visible message {cited}");
        Error::new(Kind::NotFound, message).next(NextStep::ShowEverything)
    }

    /// The number of lines of its transcript.
    fn last_line(&self) -> Option<u64> {
        let Files::Claude(file) = &self.files else { return None };
        let (mut reader, mut last) = (Reader::open(file).ok()?, 0);
        while let Some(line) = reader.next_line().ok()? {
            last = line.number;
        }
        Some(last)
    }

    fn all<E: From<Error>>(
        &self,
        take: &mut impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<OmittedParts, E> {
        let own = match &self.files {
            Files::Claude(file) => file,
            Files::OpenClaw(files) => {
                let parts = self.parts();
                files.iter().try_for_each(|file| openclaw_conversation::each(file, parts, take))?;
                return Ok(OmittedParts::default());
            }
            Files::Messages(messages) => {
                messages.iter().cloned().try_for_each(&mut *take)?;
                return self.subagents(None, OmittedParts::default(), take);
            }
        };
        let left_out = self.file(own, None, take)?;
        self.diverged(own, take)?;
        self.subagents(Some(own), left_out, take)
    }

    /// What was said in other files of the session after they were copied, behind a note that says where.
    fn diverged<E: From<Error>>(
        &self,
        own: &Path,
        take: &mut impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<(), E> {
        let known = if self.session.diverged.is_empty() { HashSet::new() } else { uuids(own)? };
        for other in &self.session.diverged {
            let text = format!("In {} the session goes on otherwise.", other.display());
            take(ShownMessage {
                role: Role::Note,
                subagent: None,
                uuid: None,
                line: None,
                at: None,
                how: None,
                parts: vec![Piece::Text { text }],
            })?;
            self.file(other, None, &mut |shown: ShownMessage| {
                let is_known = shown.uuid.as_ref().is_some_and(|uuid| known.contains(uuid));
                if is_known { Ok(()) } else { take(ShownMessage { line: None, ..shown }) }
            })?;
        }
        Ok(())
    }

    /// What sub-agents said, where it is asked for, after what was left out of the session's own file.
    fn subagents<E: From<Error>>(
        &self,
        own: Option<&PathBuf>,
        mut left_out: OmittedParts,
        take: &mut impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<OmittedParts, E> {
        if self.request.subagents {
            // Up to 2.0.0 their records are in the session's own file.
            for agent in self.session.subagents.iter().filter(|agent| Some(&agent.file) != own) {
                left_out.too_long_lines += self.file(&agent.file, Some(agent), take)?.too_long_lines;
            }
        }
        Ok(left_out)
    }

    fn around<E: From<Error>>(
        &self,
        cited: &Cited<'_>,
        mut take: impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<OmittedParts, E> {
        let mut around = Around::default();
        let left_out = self.all(&mut |shown| around.next(cited, shown, &mut take))?.without_messages();
        if around.is_found() {
            return Ok(left_out);
        }
        let lines = self.session.message_count;
        let is_in_file = |line: u64| lines == 0 || line <= lines;
        let end = around.into_last();
        if matches!(cited, Cited::Line(line) if is_in_file(*line)) && !end.is_empty() {
            // Nothing that is shown follows the line: the end is nearest to it.
            end.into_iter().try_for_each(take)?;
            return Ok(left_out);
        }
        Err(self.missing(cited).into())
    }

    fn file<E: From<Error>>(
        &self,
        path: &Path,
        agent: Option<&Subagent>,
        take: &mut impl FnMut(ShownMessage) -> Result<(), E>,
    ) -> Result<OmittedParts, E> {
        let failed = |error: io::Error| {
            E::from(Error::caused(Kind::Unavailable, format!("cannot read {}", path.display()), &error))
        };
        let chain = match agent {
            None if !self.request.all_branches => Some(Chain::read(path).map_err(failed)?),
            _ => None,
        };
        let root = self.request.diff.then(|| self.session.cwd.as_deref().unwrap_or(Path::new("")).to_owned());
        let mut diffs = EditDiffs::new(self.parts(), root);
        let mut left_out = 0;
        let unsent = if agent.is_none() {
            UnsentPrompts::read(path).map_err(failed)?
        } else {
            UnsentPrompts::default()
        };
        let mut reader = Reader::open(path).map_err(failed)?;
        while let Some(line) = reader.next_line().map_err(failed)? {
            let Ok(record) = line.record() else { continue };
            // What is cited is shown, wherever it is, with what was thought and the work of tools.
            let is_cited = agent.is_none() && self.request.line == Some(line.number);
            for message in unsent.messages(&record, line.offset) {
                let aside = agent.is_none() && message.sidechain;
                if aside && !self.request.subagents && !is_cited {
                    continue;
                }
                let shown = if is_cited && !self.request.diff {
                    let whole = PartFilter { tools: ToolDetail::Whole, thinking: true, ..self.parts() };
                    whole.shown(&message, agent)
                } else {
                    diffs.shown(&message, agent)
                };
                let Some(shown) = shown else { continue };
                let shown = ShownMessage { line: agent.is_none().then_some(line.number), ..shown };
                if aside || is_cited || chain.as_ref().is_none_or(|chain| chain.holds(message.uuid)) {
                    take(shown)?;
                } else if shown.says_something() {
                    left_out += 1;
                }
            }
        }
        Ok(OmittedParts { messages: left_out, too_long_lines: reader.too_long() })
    }
}

/// The ids of a transcript's records.
fn uuids(path: &Path) -> Result<HashSet<String>, Error> {
    let read = || -> io::Result<HashSet<String>> {
        let (mut reader, mut uuids) = (Reader::open(path)?, HashSet::new());
        while let Some(line) = reader.next_line()? {
            uuids.extend(line.record().ok().and_then(|record| record.uuid().map(ToOwned::to_owned)));
        }
        Ok(uuids)
    };
    read()
        .map_err(|error| Error::caused(Kind::Unavailable, format!("cannot read {}", path.display()), &error))
}

/// Whether the person asks something, other than of the terminal.
pub(crate) fn begins_turn(shown: &ShownMessage) -> bool {
    let asks = |piece: &Piece| match piece {
        Piece::Text { text } => !is_housekeeping(text),
        _ => matches!(piece, Piece::Image),
    };
    shown.role == Role::User && shown.subagent.is_none() && shown.parts.iter().any(asks)
}
