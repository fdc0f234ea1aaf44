//! `search --grep`: a pattern in everything the transcripts hold, the output of tools included; no index is asked.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use model::{Session, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use system::in_parallel;
use transcript::{Message, OpenTranscript, Part, Reader, Role, kept_output, may_name_kept_output, messages};

use crate::search::pattern::{Case, Pattern, Syntax};
use crate::sessions::list;
use crate::sessions::resolve::resolve;
use crate::{Context, Error, Secrets};

/// How many matching lines are shown without a limit.
const LIMIT: usize = 100;
/// The longest line that is shown whole, in bytes.
const LONGEST: usize = 2000;
/// The largest output beside a transcript that is read, in bytes.
const LARGEST_OUTPUT: u64 = 64 << 20;

/// What to look for, and where.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "GrepRequest")]
pub struct Request {
    /// A regular expression; without a capital letter it matches capital letters too.
    pub pattern: String,
    /// Whether the pattern is text instead of a regular expression.
    pub fixed: bool,
    /// Which sessions to look through.
    pub sessions: list::Request,
    /// Only this session: its id, or a prefix of it.
    pub session: Option<String>,
    /// Only what was said or done by this role.
    pub role: Option<Role>,
    /// At most so many matching lines; 100 without it.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// The lines that match, session by session, the newest first.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "GrepAnswer")]
pub struct Answer {
    /// The pattern, as it was asked.
    pub pattern: String,
    /// The sessions with matching lines.
    pub sessions: Vec<Matches>,
    /// How many lines match in all.
    pub lines: u64,
    /// How many sessions were looked through.
    pub searched: usize,
    /// How many files could not be read.
    pub unreadable: usize,
    /// How many lines of transcripts were too long to be read.
    pub too_long_lines: u64,
    /// Whether lines are missing because of the limit.
    pub truncated: bool,
}

/// The matching lines of one session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Matches {
    /// The session.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<Arc<str>>,
    /// What people call its repository.
    pub project: Option<Arc<str>>,
    /// When something last happened in it.
    #[serde(serialize_with = "model::optional_time")]
    pub last_modified: Option<Timestamp>,
    /// The lines, in the order in which they were said.
    pub matches: Vec<LineMatch>,
}

/// A line of text that matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LineMatch {
    /// The transcript.
    #[serde(serialize_with = "model::path")]
    pub file: PathBuf,
    /// The line of the transcript, from 1.
    pub line: u64,
    /// Where that line begins, in bytes.
    pub offset: u64,
    /// The id of the record.
    pub uuid: Option<String>,
    /// Who said or did it.
    pub role: Role,
    /// When it was said.
    #[serde(serialize_with = "model::optional_time")]
    pub at: Option<Timestamp>,
    /// Whether a sub-agent said it.
    pub subagent: bool,
    /// The line of the text.
    pub text: String,
    /// The ranges of the matches in it, in bytes.
    pub marks: Vec<(usize, usize)>,
}

/// Looks through the transcripts.
pub fn grep(context: &Context, request: &Request) -> Result<Answer, Error> {
    let syntax = if request.fixed { Syntax::Text } else { Syntax::Expression };
    let pattern = Pattern::new(&request.pattern, syntax, Case::Smart)?;
    let limit = request.limit.unwrap_or(LIMIT);
    let mut listed =
        list::list(context, &list::Request { limit: None, ..request.sessions.clone() })?.sessions;
    if let Some(text) = &request.session {
        let only = resolve(listed.iter(), text, |title| context.title_in_error(title))?.id.clone();
        listed.retain(|session| session.id == only);
    }
    listed.retain(|session| session.file.is_some());
    listed.sort_by_key(|session| std::cmp::Reverse(session.last_modified));
    let scan = Scan {
        pattern: &pattern,
        role: request.role,
        since: request.sessions.since.as_ref().map(|since| since.at(context)).transpose()?,
        until: request.sessions.until.as_ref().map(|until| until.end(context)).transpose()?,
        secrets: context.secrets,
        most: limit,
    };
    let threads = context.config().places().threads;
    let found = in_parallel(threads, &listed, |session| match context.check_cancelled() {
        Ok(()) => scan.session(session),
        Err(_) => Found::default(),
    });
    context.check_cancelled()?;
    let mut answer = Answer { pattern: request.pattern.clone(), searched: listed.len(), ..Answer::default() };
    let mut room = limit;
    for (session, mut found) in listed.into_iter().zip(found) {
        answer.lines += found.lines;
        answer.unreadable += found.unreadable;
        answer.too_long_lines += found.too_long_lines;
        found.matches.truncate(room);
        room -= found.matches.len();
        if !found.matches.is_empty() {
            answer.sessions.push(Matches::new(session, found.matches));
        }
    }
    answer.truncated = answer.lines > (limit - room) as u64;
    Ok(answer)
}

impl Matches {
    fn new(session: Session, matches: Vec<LineMatch>) -> Self {
        Self {
            session_id: session.id,
            title: session.title,
            project: session.project,
            last_modified: session.last_modified,
            matches,
        }
    }
}

/// A pass over transcripts.
struct Scan<'a> {
    pattern: &'a Pattern,
    role: Option<Role>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    secrets: Secrets,
    /// How many lines of one session are kept.
    most: usize,
}

/// What was found in one session.
#[derive(Default)]
struct Found {
    matches: Vec<LineMatch>,
    lines: u64,
    unreadable: usize,
    too_long_lines: u64,
}

impl Scan<'_> {
    fn session(&self, session: &Session) -> Found {
        let mut found = Found::default();
        let Some(own) = session.file.as_deref() else { return found };
        let agents = session.subagents.iter().map(|agent| &*agent.file);
        for file in std::iter::once(own).chain(agents) {
            if self.file(file, own, &mut found).is_err() {
                found.unreadable += 1;
            }
        }
        found
    }

    /// Looks through the transcript of a session, or a sub-agent's; `own` is the session's.
    fn file(&self, file: &Path, own: &Path, found: &mut Found) -> io::Result<()> {
        let mut reader = Reader::open(file)?;
        while let Some(line) = reader.next_line()? {
            let may_keep_output = may_name_kept_output(line.bytes);
            if !may_keep_output && !self.pattern.may_match(line.bytes) {
                continue;
            }
            let Ok(record) = line.record() else { continue };
            for said in messages(&record) {
                let place = LineMatch {
                    file: file.to_owned(),
                    line: line.number,
                    offset: line.offset,
                    uuid: said.uuid.map(ToOwned::to_owned),
                    role: said.role,
                    at: said.at,
                    subagent: file != own,
                    text: String::new(),
                    marks: Vec::new(),
                };
                let beside = may_keep_output.then_some(own);
                self.message(&said, &place, beside, found);
            }
        }
        found.too_long_lines += reader.too_long();
        Ok(())
    }

    /// Looks through a message at a place; output that is kept in a file is `beside` the session's own.
    fn message(&self, said: &Message<'_>, place: &LineMatch, beside: Option<&Path>, found: &mut Found) {
        let is_in_time = |at: Timestamp| {
            self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
        };
        let is_timed = self.since.is_none() && self.until.is_none() || said.at.is_some_and(is_in_time);
        if !is_timed || self.role.is_some_and(|role| role != said.role) {
            return;
        }
        // A result is in a record twice, and an edit has what it leaves twice.
        let mut cited = HashSet::new();
        for part in &said.parts {
            for shown in self.pattern.searched_part(part, self.secrets) {
                self.lines(&shown, place, &mut cited, found);
            }
            match beside.and_then(|own| output_beside(own, part)) {
                Some(Ok(text)) => {
                    if let Some(shown) = self.pattern.searched(&text, self.secrets) {
                        self.lines(&shown, place, &mut cited, found);
                    }
                }
                Some(Err(_)) => found.unreadable += 1,
                None => {}
            }
        }
    }

    /// The matching lines of a text that was redacted, each once.
    fn lines(&self, shown: &str, place: &LineMatch, cited: &mut HashSet<String>, found: &mut Found) {
        for line in shown.lines() {
            let marks = self.pattern.marks(line);
            let Some(&(first, _)) = marks.first() else { continue };
            if !cited.insert(line.to_owned()) {
                continue;
            }
            found.lines += 1;
            if found.matches.len() < self.most {
                let (text, marks) = cut(line, first, &marks);
                found.matches.push(LineMatch { text, marks, ..place.clone() });
            }
        }
    }
}

/// The output that Claude Code kept beside the session's own transcript; `None` where it kept none, or it is gone.
fn output_beside(own: &Path, part: &Part<'_>) -> Option<io::Result<String>> {
    let Part::ToolResult { content, kept, .. } = part else { return None };
    match OpenTranscript::read_small(&kept_output(own, *content, *kept)?, LARGEST_OUTPUT) {
        Ok(bytes) => Some(Ok(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => Some(Err(error)),
    }
}

/// A line around its first match, no longer than is shown.
fn cut(line: &str, first: usize, marks: &[(usize, usize)]) -> (String, Vec<(usize, usize)>) {
    if line.len() <= LONGEST {
        return (line.to_owned(), marks.to_vec());
    }
    let start = line.floor_char_boundary(first.saturating_sub(LONGEST / 4));
    let end = line.floor_char_boundary((start + LONGEST).min(line.len()));
    let inside = marks.iter().filter(|(from, to)| *from >= start && *to <= end);
    (line[start..end].to_owned(), inside.map(|(from, to)| (from - start, to - start)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines and texts in which a pattern is found, and how many files could not be read.
    fn found(file: &Path, pattern: &str) -> (Vec<(u64, String)>, usize) {
        let pattern = Pattern::new(pattern, Syntax::Expression, Case::Smart).unwrap();
        let scan = Scan {
            pattern: &pattern,
            role: None,
            since: None,
            until: None,
            secrets: Secrets::Redacted,
            most: LIMIT,
        };
        let found = scan.session(&Session { file: Some(file.into()), ..crate::testing::session("s1") });
        (found.matches.into_iter().map(|line| (line.line, line.text)).collect(), found.unreadable)
    }

    #[test]
    fn everything_that_tools_were_given_and_printed_is_looked_through_once() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("s1.jsonl");
        let (deep, ends) = ("[".repeat(200), "]".repeat(200));
        let records = [
            format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"a":{deep}{ends},"half":"\udc00 needle in half","b":"needle in deep"}}}}]}}}}"#
            ),
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"needle"}]},"toolUseResult":{"stdout":"needle\nneedle of stdout","stderr":"needle of stderr"}}"#.to_owned(),
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"<persisted-output>\nFull output saved to: /c/s1/tool-results/b1.txt\n\nneedle at first"}]},"toolUseResult":{"stdout":"needle at first"}}"#.to_owned(),
        ];
        std::fs::write(&file, records.join("\n") + "\n").unwrap();
        let line = |number: u64, text: &str| (number, text.to_owned());
        let printed = [
            line(1, "\u{fffd} needle in half"),
            line(1, "needle in deep"),
            line(2, "needle"),
            line(2, "needle of stdout"),
            line(2, "needle of stderr"),
            line(3, "needle at first"),
        ];
        assert_eq!(found(&file, "needle"), (printed.to_vec(), 0), "the whole output is gone");
        let outputs = scratch.path().join("s1/tool-results");
        std::fs::create_dir_all(&outputs).unwrap();
        std::fs::write(outputs.join("b1.txt"), "needle at first\nthe last needle").unwrap();
        let all = [&printed[..], &[line(3, "the last needle")]].concat();
        assert_eq!(found(&file, "needle"), (all, 0));
        assert_eq!(found(&file, "last n"), (vec![line(3, "the last needle")], 0));
        std::fs::remove_file(outputs.join("b1.txt")).unwrap();
        std::os::unix::fs::symlink(&file, outputs.join("b1.txt")).unwrap();
        assert_eq!(found(&file, "needle"), (printed.to_vec(), 1), "links are not followed");
    }

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let line = format!("{}needle{}", "é".repeat(4000), "x".repeat(4000));
        let (text, marks) = cut(&line, 8000, &[(8000, 8006)]);
        assert!(text.len() <= LONGEST && &text[marks[0].0..marks[0].1] == "needle", "{marks:?}");
    }
}
