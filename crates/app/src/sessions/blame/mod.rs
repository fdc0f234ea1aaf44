//! `blame`: the sessions that wrote a file or a line of it, or made a commit.

mod answer;
mod traces;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use catalog::SessionFilter;
use project::{Commit, blame_line, commit_named};
use schemars::JsonSchema;
use serde::Deserialize;
use system::in_parallel;

pub use answer::{Answer, BlameSign, BlamedSession};

use crate::repository::target::RepoTarget;
use crate::sessions::select::select;
use crate::{Context, Error, Kind};
use traces::{BlameTarget, Trace, trace};

/// How many sessions are named without a limit.
const DEFAULT_LIMIT: usize = 10;
/// A line with fewer letters and digits is in many files, and says nothing.
const MIN_LETTERS: usize = 6;
/// The shortest beginning of a hash.
const MIN_HASH: usize = 4;

/// What to ask about.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "BlameRequest")]
pub struct Request {
    /// A file, a line of it as `FILE:LINE`, or a commit by its hash or name.
    pub what: String,
    /// The maximum number of sessions; default 10.
    #[schemars(range(min = 1))]
    pub limit: Option<usize>,
}

/// What was asked about, as git and the disk know it.
#[derive(Default)]
struct Subject {
    wanted: BlameTarget,
    line: Option<u64>,
    text: Option<String>,
    commit: Option<Commit>,
    notes: Vec<String>,
}

/// Names the sessions.
pub fn blame(context: &Context, request: &Request) -> Result<Answer, Error> {
    let subject = subject(context, request.what.trim())?;
    let mut sessions = select(context, &SessionFilter::default(), None)?.sessions;
    // What a fork copied was done where it was first.
    sessions.sort_by_key(|session| (session.forked_from.is_some(), session.created));
    let traces = in_parallel(context.config().places().threads, &sessions, |session| {
        if context.cancellation.is_cancelled() { None } else { trace(session, &subject.wanted) }
    });
    context.check_cancelled()?;
    let mut records = HashSet::new();
    let mut found: Vec<BlamedSession> = Vec::new();
    for (session, trace) in sessions.iter().zip(traces) {
        let Some(trace) = trace else { continue };
        let known = records.len();
        records.extend(trace.records.iter().copied());
        if records.len() == known && !trace.records.is_empty() {
            continue;
        }
        found.push(blamed(context, session, trace));
    }
    // Sessions that wrote the line or made the commit come first; others only changed the file at some time.
    if found.iter().any(|session| session.sign != BlameSign::ChangedFile) {
        found.retain(|session| session.sign != BlameSign::ChangedFile);
    }
    found.sort_by(|one, other| one.sign.cmp(&other.sign).then(other.at.cmp(&one.at)));
    let more = found.len().saturating_sub(request.limit.unwrap_or(DEFAULT_LIMIT));
    found.truncate(found.len() - more);
    let Subject { wanted, line, text, commit, mut notes } = subject;
    if line.is_some()
        && !found.is_empty()
        && found.iter().all(|session| session.sign == BlameSign::ChangedFile)
    {
        notes.push("no session is known to have written this line; these changed the file".to_owned());
    }
    let redacted = |text: String| context.secrets.redacted(text.into());
    Ok(Answer {
        file: wanted.file.map(|file| redacted(file.display().to_string())),
        line,
        text: text.map(redacted),
        commit: commit.map(|commit| Commit { message: redacted(commit.message), ..commit }),
        sessions: found,
        more,
        notes,
    })
}

fn blamed(context: &Context, session: &model::Session, trace: Trace) -> BlamedSession {
    BlamedSession {
        session_id: session.id.clone(),
        title: session.title.as_deref().map(ToOwned::to_owned),
        project: session.project.as_deref().map(|name| context.secrets.redacted(name.into())),
        sign: trace.sign,
        line: trace.line,
        at: trace.at,
        prompt: trace.prompt.map(|prompt| context.secrets.redacted_beginning(prompt)),
        edits: trace.edits,
    }
}

fn subject(context: &Context, what: &str) -> Result<Subject, Error> {
    let cited = what.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u64>().ok()?)));
    if let Some((file, line)) = cited.filter(|(file, _)| !file.is_empty() && !context.path(what).exists()) {
        return of_line(context, file, line);
    }
    if context.path(what).exists() || what.contains('/') {
        return Ok(Subject { wanted: of_file(context, what)?, ..Subject::default() });
    }
    if let Some(subject) = of_commit(context, what)? {
        return Ok(subject);
    }
    // A file that is gone, or one of another repository.
    let is_name = !what.is_empty() && what.contains('.');
    if is_name {
        return Ok(Subject { wanted: of_file(context, what)?, ..Subject::default() });
    }
    let error = Error::new(Kind::NotFound, format!("there is no file and no commit `{what}` here"));
    Err(error.hint("give a file, FILE:LINE, or a commit's hash"))
}

fn of_commit(context: &Context, what: &str) -> Result<Option<Subject>, Error> {
    let here = RepoTarget::directory(context, None)?;
    let commit = here.and_then(|here| commit_named(&here.place(context), what));
    let is_hash =
        what.len() >= MIN_HASH && what.len() <= 64 && what.bytes().all(|byte| byte.is_ascii_hexdigit());
    // A hash of another repository is found in sessions all the same.
    let hash =
        commit.as_ref().map(|commit| commit.sha.clone()).or_else(|| is_hash.then(|| what.to_lowercase()));
    Ok(hash.map(|hash| Subject {
        wanted: BlameTarget { commit: Some(hash), ..BlameTarget::default() },
        commit,
        ..Subject::default()
    }))
}

/// A file by the end of its path: relative to its work tree's root where it has one.
fn of_file(context: &Context, typed: &str) -> Result<BlameTarget, Error> {
    let path = context.path(typed);
    let Some((directory, name)) = place_of(context, &path)? else {
        return Ok(BlameTarget {
            file: Some(typed.trim_start_matches("./").into()),
            ..BlameTarget::default()
        });
    };
    let root = directory.work_tree(context);
    let whole = directory.directory.join(name);
    let file = whole.strip_prefix(&root).map(Path::to_owned).unwrap_or(whole);
    Ok(BlameTarget { file: Some(file), repository: Some(directory.root), ..BlameTarget::default() })
}

/// The directory of a file that exists, and its name.
fn place_of(context: &Context, path: &Path) -> Result<Option<(RepoTarget, PathBuf)>, Error> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    if !path.exists() {
        return Ok(None);
    }
    let directory = RepoTarget::directory(context, folder.to_str())?;
    Ok(directory.map(|directory| (directory, PathBuf::from(name))))
}

fn of_line(context: &Context, file: &str, line: u64) -> Result<Subject, Error> {
    let mut subject = Subject { wanted: of_file(context, file)?, line: Some(line), ..Subject::default() };
    let path = context.path(file);
    let Some((directory, name)) = place_of(context, &path)? else {
        let error = Error::new(Kind::NotFound, format!("there is no file {}", path.display()));
        return Err(error.hint("without a line, the sessions that changed it are still found"));
    };
    match blame_line(&directory.place(context), &name, line) {
        Ok(blamed) => {
            subject.wanted.commit = blamed.commit.as_ref().map(|commit| commit.sha.clone());
            subject.commit = blamed.commit;
            subject.text = Some(blamed.text);
        }
        Err(why) => {
            subject.notes.push(format!(
                "git does not say which commit the line is from: {}",
                context.secrets.redacted(why.into())
            ));
            subject.text = line_of(&path, line);
        }
    }
    let telling = |text: &String| text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_LETTERS;
    subject.wanted.text = subject.text.as_ref().map(|text| text.trim().to_owned()).filter(telling);
    Ok(subject)
}

/// A line of a file that git does not know.
fn line_of(path: &Path, line: u64) -> Option<String> {
    let mut reader = transcript::Reader::open(path).ok()?;
    while let Some(read) = reader.next_line().ok()? {
        if read.number == line {
            return Some(String::from_utf8_lossy(read.bytes).into_owned());
        }
    }
    None
}
