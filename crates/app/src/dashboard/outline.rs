//! A session at a glance: its prompts, where it was compacted, which prompts were asked again otherwise, how long each tool
//! took, and what it changed in files.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::record::{Record, RecordKind};
use transcript::{
    LeftBranches, Message, Part, Raw, Reader, Role, Split, Splits, ToolCall, ToolTimes, message, preview,
};

use crate::repository::schedules::DirectorySchedule;
use crate::sessions::locate::{Files, locate};
use crate::{Context, Error, Kind};

/// How many of the slowest calls are given.
const SLOWEST: usize = 12;
/// The most prompts, and the most branches, that are given: the last ones.
const PROMPTS: usize = 2000;
/// The most files that are given.
const FILES: usize = 500;

/// Whose outline to give.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "OutlineRequest")]
pub struct Request {
    /// The id of a session, or a prefix of it.
    pub session: String,
}

/// A session at a glance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "OutlineAnswer")]
pub struct Answer {
    /// What the person asked, in order.
    pub prompts: Vec<OutlinedPrompt>,
    /// Where the conversation was taken up again before its end.
    pub branches: Vec<OutlinedBranch>,
    /// Where the conversation was compacted.
    pub compactions: Vec<OutlinedPlace>,
    /// What each tool took, the longest first.
    pub tools: Vec<ToolTime>,
    /// The slowest calls, the slowest first.
    pub slowest: Vec<SlowCall>,
    /// The files it changed, by path.
    pub files: Vec<ChangedFile>,
    /// The prompts that Claude Code asks on a schedule in any session that is open in its directory.
    pub schedules: Vec<DirectorySchedule>,
}

/// A place in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutlinedPlace {
    /// The id of the record.
    pub uuid: Option<String>,
    /// Where its line begins, in bytes.
    pub offset: u64,
    /// When it was written.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
}

/// A prompt of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutlinedPrompt {
    /// Where it is.
    #[serde(flatten)]
    pub place: OutlinedPlace,
    /// How it begins.
    pub text: String,
    /// The prompt in place of the branch that it is on, which was left; the message, where no prompt followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_for: Option<String>,
}

/// A branch that was left for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutlinedBranch {
    /// The id of the first message of the branch that was left.
    pub left: String,
    /// The id of the first message in its place.
    pub taken: String,
}

/// What a tool took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolTime {
    /// The tool.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// How many of the calls failed.
    pub failed: u64,
    /// The time for which they ran, in milliseconds, without the time that a person took to allow them.
    pub ms: u64,
}

/// A call that took long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SlowCall {
    /// Where it is.
    #[serde(flatten)]
    pub place: OutlinedPlace,
    /// The tool.
    pub name: String,
    /// What it was called for, in a few words: a description, or the name of a file, a program or a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

/// A file that a session changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangedFile {
    /// Its path.
    pub path: String,
    /// How often it was changed.
    pub edits: u64,
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

/// Gives the outline of a session.
pub fn outline(context: &Context, request: &Request) -> Result<Answer, Error> {
    let Files::Claude(file) = locate(context, &request.session)?.files else { return Ok(Answer::default()) };
    let unreadable = |error: std::io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), &error)
    };
    let mut reader = Reader::open(&file).map_err(unreadable)?;
    let mut sketch = Sketch::default();
    while let Some(line) = reader.next_line().map_err(unreadable)? {
        if line.number % 1024 == 0 {
            context.check_cancelled()?;
        }
        let Ok(record) = line.record() else { continue };
        if sketch.directory.is_none() {
            sketch.directory = record.cwd().map(|cwd| PathBuf::from(&*cwd));
        }
        let message = message(&record).filter(|message| !message.sidechain);
        sketch.splits.observe(&record, message.is_some(), line.offset);
        if let Some(message) = message {
            sketch.observe(context, &record, &message, line.offset);
        }
    }
    Ok(sketch.finish(context))
}

/// An outline that is being made.
#[derive(Default)]
struct Sketch {
    answer: Answer,
    splits: Splits,
    /// The directory it started in.
    directory: Option<PathBuf>,
    /// The calls whose results have not come.
    open: HashMap<String, OpenCall>,
    tools: BTreeMap<String, ToolTime>,
    times: ToolTimes,
    files: BTreeMap<String, ChangedFile>,
}

/// A call whose result has not come.
struct OpenCall {
    place: OutlinedPlace,
    name: String,
    detail: Option<String>,
}

impl Sketch {
    fn observe(&mut self, context: &Context, record: &Record<'_>, message: &Message<'_>, offset: u64) {
        let place = || OutlinedPlace { uuid: message.uuid.map(ToOwned::to_owned), offset, at: message.at };
        match message.role {
            Role::User => self.prompt(context, message, place()),
            Role::Note if record.kind() == RecordKind::CompactBoundary => {
                self.answer.compactions.push(place());
            }
            _ => {}
        }
        for part in &message.parts {
            match part {
                Part::ToolUse { id, name, input } => {
                    let detail = ToolCall { id, name, input: *input }.detail();
                    let detail = detail.map(|detail| context.secrets.redacted_beginning(detail));
                    let call = OpenCall { place: place(), name: (*name).to_owned(), detail };
                    self.open.insert((*id).to_owned(), call);
                }
                Part::ToolResult { id, is_error, kept, .. } => {
                    self.result(id, *is_error, record);
                    self.change(*kept);
                }
                Part::Text(_) | Part::Thinking(_) | Part::Image => {}
            }
        }
    }

    fn prompt(&mut self, context: &Context, message: &Message<'_>, place: OutlinedPlace) {
        let said = message.parts.iter().find_map(|part| match part {
            Part::Text(text) => Some(preview(text)),
            _ => None,
        });
        let text = context.secrets.redacted_beginning(said.unwrap_or_else(|| "(a picture)".to_owned()));
        self.answer.prompts.push(OutlinedPrompt { place, text, left_for: None });
    }

    fn result(&mut self, id: &str, is_error: bool, record: &Record<'_>) {
        let Some(OpenCall { place, name, detail }) = self.open.remove(id) else { return };
        let subject = detail.as_deref().unwrap_or_default();
        let ms = self.times.of_result(&name, subject, place.at, record).unwrap_or_default();
        let blank = ToolTime { name: name.clone(), calls: 0, failed: 0, ms: 0 };
        let time = self.tools.entry(name.clone()).or_insert(blank);
        time.calls += 1;
        time.failed += u64::from(is_error);
        time.ms = time.ms.saturating_add(ms);
        let slowest = &mut self.answer.slowest;
        let at = slowest.partition_point(|call| call.ms >= ms);
        if at < SLOWEST {
            slowest.insert(at, SlowCall { place, name, detail, ms });
            slowest.truncate(SLOWEST);
        }
    }

    fn change(&mut self, kept: Raw<'_>) {
        let Some(path) = kept.get("filePath").text() else { return };
        let hunks = kept.get("structuredPatch");
        let is_new = kept.get("type").is("create");
        if !hunks.is_array() && !is_new {
            return;
        }
        let blank = ChangedFile { path: path.clone().into_owned(), edits: 0, added: 0, removed: 0 };
        let file = self.files.entry(path.into_owned()).or_insert(blank);
        file.edits += 1;
        for line in hunks.elements().flat_map(|hunk| hunk.get("lines").elements()) {
            match line.text().unwrap_or_default().as_bytes().first() {
                Some(b'+') => file.added += 1,
                Some(b'-') => file.removed += 1,
                _ => {}
            }
        }
        if is_new {
            let content = kept.get("content").text().unwrap_or_default();
            file.added += content.lines().count() as u64;
        }
    }

    fn finish(self, context: &Context) -> Answer {
        let mut answer = self.answer;
        let branches = self.splits.finish();
        let left: Vec<Option<String>> =
            answer.prompts.iter().map(|prompt| instead_of(prompt, &answer.prompts, &branches)).collect();
        for (prompt, left_for) in answer.prompts.iter_mut().zip(left) {
            prompt.left_for = left_for;
        }
        let branch = |split: &Split| OutlinedBranch { left: split.left.clone(), taken: split.taken.clone() };
        answer.branches = branches.all().into_iter().map(branch).collect();
        let surplus = answer.branches.len().saturating_sub(PROMPTS);
        answer.branches.drain(..surplus);
        let surplus = answer.prompts.len().saturating_sub(PROMPTS);
        answer.prompts.drain(..surplus);
        answer.tools = self.tools.into_values().collect();
        answer.tools.sort_by_key(|tool| std::cmp::Reverse(tool.ms));
        let redact =
            |file: ChangedFile| ChangedFile { path: context.secrets.redacted(file.path.into()), ..file };
        let schedules = |directory: PathBuf| DirectorySchedule::of_directory(context, &directory);
        answer.schedules = self.directory.map(schedules).unwrap_or_default();
        answer.files = self.files.into_values().take(FILES).map(redact).collect();
        answer
    }
}

/// The prompt in place of one whose branch was left, or else the message.
fn instead_of(prompt: &OutlinedPrompt, all: &[OutlinedPrompt], branches: &LeftBranches) -> Option<String> {
    let split = branches.left_at(prompt.place.uuid.as_deref()?)?;
    let later = &all[all.partition_point(|one| one.place.offset < split.taken_at)..];
    later.first().and_then(|one| one.place.uuid.clone()).or_else(|| Some(split.taken.clone()))
}
