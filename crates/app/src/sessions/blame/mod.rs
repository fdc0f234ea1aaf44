//! `blame`: the sessions that wrote a file or a line of it, or made a commit.

mod answer;
mod traces;
mod wanted_file;

use std::collections::{BTreeSet, HashSet};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use catalog::SessionFilter;
use model::Session;
use project::{Commit, blame_line, commit_named};
use schemars::JsonSchema;
use serde::Deserialize;
use system::in_parallel;

pub use answer::{Answer, BlameSign, BlamedSession};

use crate::repository::target::RepoTarget;
use crate::sessions::same_repository::same_repositories;
use crate::sessions::select::select;
use crate::{Context, Error, Kind};
use traces::{BestSign, BlameTarget, trace};
use wanted_file::{RepositoryFile, WantedFile};

/// How many sessions are named without a limit.
const DEFAULT_LIMIT: usize = 10;
/// A line with fewer letters and digits is in many files, and says nothing.
const MIN_LETTERS: usize = 6;
/// The shortest beginning of a hash.
const MIN_HASH: usize = 4;
/// How much of a line is read, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

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
    /// The name, or the end of the path, of a file that is not here, which can be one of another repository.
    name: Option<PathBuf>,
    notes: Vec<String>,
}

/// Names the sessions.
pub fn blame(context: &Context, request: &Request) -> Result<Answer, Error> {
    let Subject { mut wanted, line, text, commit, name, mut notes } = subject(context, request.what.trim())?;
    let mut sessions = select(context, &SessionFilter::default(), None)?.sessions;
    // What a fork copied was done where it was first.
    sessions.sort_by_key(|session| (session.forked_from.is_some(), session.created));
    if let Some(WantedFile::InRepository(file)) = &mut wanted.file {
        add_clones(context, file, &sessions);
    }
    let (mut found, mut too_long) = find(context, &sessions, &wanted)?;
    if let Some(name) = name.filter(|_| found.is_empty()) {
        let elsewhere = BlameTarget { file: Some(WantedFile::Named(name)), ..BlameTarget::default() };
        (found, too_long) = find(context, &sessions, &elsewhere)?;
        if !found.is_empty() {
            notes.push("there is no such file here; these sessions changed a file of this name".to_owned());
            wanted = elsewhere;
        }
    }
    let elsewhere = if found.is_empty() { count_elsewhere(context, &sessions, &wanted)? } else { 0 };
    // Sessions that wrote the line or made the commit come first; others only changed the file at some time.
    if found.iter().any(|session| session.sign != BlameSign::ChangedFile) {
        found.retain(|session| session.sign != BlameSign::ChangedFile);
    }
    found.sort_by(|one, other| one.sign.cmp(&other.sign).then(other.at.cmp(&one.at)));
    let more = found.len().saturating_sub(request.limit.unwrap_or(DEFAULT_LIMIT));
    found.truncate(found.len() - more);
    if line.is_some()
        && !found.is_empty()
        && found.iter().all(|session| session.sign == BlameSign::ChangedFile)
    {
        notes.push("no session is known to have written this line; these changed the file".to_owned());
    }
    if too_long > 0 {
        let what = if too_long == 1 { "1 line was".to_owned() } else { format!("{too_long} lines were") };
        notes.push(format!("{what} too long to be read in the sessions that were looked through"));
    }
    let redacted = |text: String| context.secrets.redacted(text.into());
    Ok(Answer {
        file: wanted.file.map(|file| redacted(file.path().display().to_string())),
        line,
        text: text.map(redacted),
        commit: commit.map(|commit| Commit { message: redacted(commit.message), ..commit }),
        sessions: found,
        more,
        elsewhere,
        notes,
    })
}

/// The sessions with a sign of it, each with its best one, and how many lines were too long to be read.
fn find(
    context: &Context,
    sessions: &[Session],
    wanted: &BlameTarget,
) -> Result<(Vec<BlamedSession>, u64), Error> {
    let places = context.config().places();
    let traces = in_parallel(places.threads, sessions, |session| {
        if context.cancellation.is_cancelled() { None } else { trace(&places, session, wanted) }
    });
    context.check_cancelled()?;
    let too_long = traces.iter().flatten().map(|trace| trace.too_long_lines).sum();
    let mut known = HashSet::new();
    let found = sessions
        .iter()
        .zip(traces)
        .filter_map(|(session, trace)| Some(blamed(context, session, trace?.into_best(&mut known)?)));
    Ok((found.collect(), too_long))
}

/// How many sessions of other repositories changed a file of this path.
fn count_elsewhere(context: &Context, sessions: &[Session], wanted: &BlameTarget) -> Result<usize, Error> {
    let Some(WantedFile::InRepository(file)) = &wanted.file else { return Ok(0) };
    let file = Some(WantedFile::Named(file.within.clone()));
    Ok(find(context, sessions, &BlameTarget { file, ..BlameTarget::default() })?.0.len())
}

/// Adds the clones of the file's repository that sessions were in.
fn add_clones(context: &Context, file: &mut RepositoryFile, sessions: &[Session]) {
    let known = sessions.iter().filter_map(|session| session.repo_path.as_deref());
    let same = same_repositories(context, known.chain(file.repositories.iter().map(PathBuf::as_path)));
    let wanted: BTreeSet<&PathBuf> = file.repositories.iter().filter_map(|root| same.get(root)).collect();
    let clones = same.iter().filter(|(_, first)| wanted.contains(first)).map(|(path, _)| path.clone());
    file.repositories = clones.collect();
}

fn blamed(context: &Context, session: &Session, sign: BestSign) -> BlamedSession {
    BlamedSession {
        session_id: session.id.clone(),
        title: session.title.as_deref().map(ToOwned::to_owned),
        project: session.project.as_deref().map(|name| context.secrets.redacted(name.into())),
        sign: sign.kind,
        line: sign.line,
        at: sign.at,
        prompt: sign.prompt.map(|prompt| context.secrets.redacted_beginning(prompt)),
        edits: sign.edits,
    }
}

fn subject(context: &Context, what: &str) -> Result<Subject, Error> {
    let cited = what.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u64>().ok()?)));
    if let Some((file, line)) = cited.filter(|(file, _)| !file.is_empty() && !context.path(what).exists()) {
        return of_line(context, file, line);
    }
    if context.path(what).exists() || what.contains('/') {
        return of_file(context, what);
    }
    if let Some(subject) = of_commit(context, what)? {
        return Ok(subject);
    }
    // A file that is gone, or one of another repository.
    if !what.is_empty() && what.contains('.') {
        return Ok(Subject { name: Some(what.into()), ..of_file(context, what)? });
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

fn of_file(context: &Context, typed: &str) -> Result<Subject, Error> {
    let file = wanted_file(context, typed)?;
    let is_elsewhere = matches!(file, WantedFile::At(_)) && !context.path(typed).exists();
    let end = Path::new(typed.trim_start_matches("./"));
    let name = (is_elsewhere && end.is_relative()).then(|| end.to_owned());
    Ok(Subject {
        wanted: BlameTarget { file: Some(file), ..BlameTarget::default() },
        name,
        ..Subject::default()
    })
}

/// The file that a person names; it may be gone.
fn wanted_file(context: &Context, typed: &str) -> Result<WantedFile, Error> {
    let path = context.path(typed);
    let Some((directory, name)) = place_of(context, &path)? else { return Ok(WantedFile::At(path)) };
    let work_tree = directory.work_tree(context);
    let whole = directory.directory.join(name);
    let within = whole.strip_prefix(&work_tree).ok().filter(|_| work_tree.join(".git").exists());
    Ok(match within {
        Some(within) => WantedFile::InRepository(RepositoryFile {
            within: within.to_owned(),
            work_tree,
            repositories: [directory.root].into(),
        }),
        None => WantedFile::At(whole),
    })
}

/// The nearest directory above a file that is there, and the rest of the file's path.
fn place_of(context: &Context, path: &Path) -> Result<Option<(RepoTarget, PathBuf)>, Error> {
    let Some(folder) = path.ancestors().skip(1).find(|folder| folder.is_dir()) else { return Ok(None) };
    let rest = path.strip_prefix(folder).unwrap_or(path);
    let directory = RepoTarget::directory(context, folder.to_str())?;
    Ok(directory.map(|directory| (directory, rest.to_owned())))
}

fn of_line(context: &Context, file: &str, line: u64) -> Result<Subject, Error> {
    let path = context.path(file);
    let text = line_of(&path, line)?;
    let mut subject = Subject { line: Some(line), ..of_file(context, file)? };
    if let (Some(WantedFile::InRepository(_)), Some((directory, name))) =
        (&subject.wanted.file, place_of(context, &path)?)
    {
        match blame_line(&directory.place(context), &name, line) {
            Ok(blamed) => {
                subject.wanted.commit = blamed.commit.as_ref().map(|commit| commit.sha.clone());
                subject.wanted.committed = blamed.committed;
                subject.commit = blamed.commit;
            }
            Err(why) => subject.notes.push(format!(
                "git does not say which commit the line is from: {}",
                context.secrets.redacted(why.into())
            )),
        }
    }
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    subject.wanted.text = (letters >= MIN_LETTERS).then(|| text.trim().to_owned());
    subject.text = Some(text);
    Ok(subject)
}

/// The text of a line of a file.
fn line_of(path: &Path, line: u64) -> Result<String, Error> {
    if !path.exists() {
        let error = Error::new(Kind::NotFound, format!("there is no file {}", path.display()));
        return Err(error.hint("without a line, the sessions that changed it are still found"));
    }
    let failed = |error: io::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", path.display()), &error)
    };
    let (text, lines) = read_line(path, line).map_err(failed)?;
    text.ok_or_else(|| {
        let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
        let why = if line == 0 { "lines are counted from 1".to_owned() } else { format!("it has {lines}") };
        Error::new(Kind::NotFound, format!("{} has no line {line}: {why}", path.display()))
            .hint("without a line, the sessions that changed the file are found")
    })
}

/// The text of a line where the file has it, and how many lines were read.
fn read_line(path: &Path, line: u64) -> io::Result<(Option<String>, u64)> {
    let mut reader = BufReader::new(system::open_regular(path)?);
    let mut read = 0;
    while read + 1 < line && reader.skip_until(b'\n')? > 0 {
        read += 1;
    }
    if line == 0 || read + 1 < line {
        return Ok((None, read));
    }
    let mut text = Vec::new();
    reader.take(LONGEST_LINE).read_until(b'\n', &mut text)?;
    let has_line = !text.is_empty();
    let text = String::from_utf8_lossy(&text);
    Ok((has_line.then(|| text.trim_end_matches(['\n', '\r']).to_owned()), read))
}
