//! `eval --mine`: the same figures on the person's own history, with labels made from it: the sessions that made the commits
//! which git holds, and those that the person went on with.
//!
//! Nothing leaves the machine. The questions are asked of a masked copy in a scratch folder, which is gone afterwards.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use ::selection::Rule;
use ::selection::calibrated::TrackRecord;
use measure::{LabelledQuery, LabelledTask, Mask, RankingReport, TaskAction, report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transcript::{LoggedCommit, Reader, TranscriptFile, WorkLog, work_log};

use super::own_bar::{OwnBar, own_bar};
use super::{retrieval, selection};
use crate::choose::decisions;
use crate::repository::target::RepoTarget;
use crate::search::Mode;
use crate::{Config, Context, Error, Kind};

/// The newest sessions are measured, up to so many bytes: about a minute's work.
const BYTES: u64 = 256 << 20;
/// At most so many questions, and so many decisions.
const MOST: usize = 200;
/// So many commits of each repository are looked through.
const COMMITS: usize = 3000;
/// A subject of fewer words says nothing of its own.
const WORDS: usize = 3;

/// What to measure on: the person's own history.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "EvalMineRequest")]
pub struct Request {}

/// How good search and choice are on the person's own history.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EvalMineAnswer")]
pub struct Answer {
    /// How many sessions were looked at, the newest.
    pub sessions: usize,
    /// How many older ones were left out.
    pub older_sessions: usize,
    /// The search, beside itself by words alone.
    pub retrieval: RankingReport,
    /// How often the advice of `pick` was what the person then did, over the last fifty times that was seen.
    pub record: TrackRecord,
    /// The choice; `null` where no prompt began anything.
    pub selection: Option<selection::Answer>,
    /// A bar that would have suited the person better; `null` where none surely would.
    pub own_bar: Option<OwnBar>,
}

/// Makes labels from the newest sessions and measures.
pub fn mine(context: &Context, _: &Request) -> Result<Answer, Error> {
    context.require_person("measuring on the person's history")?;
    let mut files = catalog::discover(&context.config().places()).sessions;
    files.sort_by_key(|file| std::cmp::Reverse(file.stamp.mtime));
    let all = files.len();
    let mut bytes = 0;
    files.retain(|file| {
        bytes += file.stamp.size;
        bytes <= BYTES
    });
    // The older of two files that hold the same record is the one it was written to.
    files.sort_by_cached_key(|file| (file.created(), file.id.clone()));
    let labels = Labels::of(context, &files);
    let points = selection::decision_points_of(context, labels.moments, selection::EvalJudge::Words)?;
    let own_bar = match selection::rule(context, None)? {
        Rule::Calibrated(bars) => own_bar(&points, bars),
        Rule::Seed { .. } => None,
    };
    let selection = selection::measured(context, points, selection::EvalJudge::Words, None)?;
    let retrieval = asked(context, &files, &labels.queries)?;
    let record = decisions::record_of(context, "")?;
    Ok(Answer {
        sessions: files.len(),
        older_sessions: all - files.len(),
        retrieval,
        record,
        selection,
        own_bar,
    })
}

/// What is known to be right.
struct Labels {
    queries: Vec<LabelledQuery>,
    moments: Vec<LabelledTask>,
}

impl Labels {
    fn of(context: &Context, files: &[TranscriptFile]) -> Self {
        let mut git = Git { context, known: HashMap::new() };
        let mut seen = HashSet::new();
        let mut subjects: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
        let mut moments = Vec::new();
        for file in files {
            // What cannot be read now labels nothing.
            let WorkLog { begun, commits } = work_log(&file.path).unwrap_or_default();
            let mut is_new =
                |uuid: &Option<String>| uuid.as_ref().is_none_or(|uuid| seen.insert(uuid.clone()));
            let new: Vec<LoggedCommit> = commits.into_iter().filter(|one| is_new(&one.uuid)).collect();
            for subject in new.iter().filter_map(|commit| git.subject(commit)) {
                subjects.entry(subject).or_default().insert(file.id.to_string(), 1);
            }
            moments.extend(begun.into_iter().filter(|one| is_new(&one.uuid)).map(|one| LabelledTask {
                id: one.uuid.unwrap_or_default(),
                at: one.at.as_millisecond() as f64 / 1000.0,
                task: one.task,
                cwd: one.cwd,
                branch: one.branch,
                action: if one.is_first { TaskAction::Fresh } else { TaskAction::Resume },
                session: Some(file.id.to_string()),
                group: None,
                person: None,
                quiet: None,
                seen: None,
            }));
        }
        moments.sort_by(|one, other| other.at.total_cmp(&one.at));
        moments.truncate(MOST);
        let query = |(number, (query, relevant))| LabelledQuery {
            id: format!("commit-{number}"),
            kind: "commit".to_owned(),
            query,
            relevant,
            session: None,
        };
        Self { queries: (1..).zip(subjects).take(MOST).map(query).collect(), moments }
    }
}

/// What the repositories know of commits.
struct Git<'a> {
    context: &'a Context,
    /// For each directory, the subjects by the beginning of the hash; `None` where git has nothing to tell.
    known: HashMap<String, Option<HashMap<String, String>>>,
}

impl Git<'_> {
    /// A commit's subject as git has it; as it was printed where there is no repository any more, and none where the
    /// repository dropped it.
    fn subject(&mut self, commit: &LoggedCommit) -> Option<String> {
        const SHORT: usize = 7;
        let context = self.context;
        let look = |cwd: &str| {
            let directory = PathBuf::from(cwd);
            let root = catalog::repository(&context.config().places(), &directory);
            let subjects = project::recent_subjects(
                &RepoTarget { directory: root.clone(), root }.place(context),
                COMMITS,
            )?;
            let short = |(hash, subject): (String, String)| Some((hash.get(..SHORT)?.to_owned(), subject));
            Some(subjects.into_iter().filter_map(short).collect())
        };
        let known = self.known.entry(commit.cwd.clone()).or_insert_with_key(|cwd| look(cwd));
        let subject = match known {
            None => Some(&commit.subject),
            Some(known) => commit.hash.get(..SHORT).and_then(|hash| known.get(hash)),
        };
        let says_something =
            |subject: &&String| subject.split_whitespace().count() >= WORDS && !subject.starts_with("Merge ");
        subject.filter(says_something).cloned()
    }
}

fn asked(
    context: &Context,
    files: &[TranscriptFile],
    queries: &[LabelledQuery],
) -> Result<RankingReport, Error> {
    let failed = |error: &dyn std::error::Error| {
        Error::caused(Kind::Unavailable, "cannot make a masked copy of the sessions", error)
            .hint("it goes to TMPDIR and needs up to 600 MB for a minute")
    };
    let scratch = tempfile::Builder::new().prefix("backstory-eval-").tempdir_in(&context.config().scratch);
    let scratch = scratch.map_err(|error| failed(&error))?;
    let mask = Mask::new(queries.iter().map(|query| query.query.as_str()));
    for file in files {
        copy(file, scratch.path(), &mask).map_err(|error| failed(&error))?;
    }
    let masked = context.with_config(Config {
        claude_folders: vec![scratch.path().to_owned()],
        claude_projects: Vec::new(),
        openclaw_folders: Vec::new(),
        state: scratch.path().join("state"),
        ..context.config().clone()
    });
    retrieval::bring_up_to_date(&masked)?;
    let ours = retrieval::answers(&masked, queries, Mode::Hybrid)?;
    let by_words = retrieval::answers(&masked, queries, Mode::Lexical)?;
    Ok(retrieval::redacted(context, report(queries, &ours, Some(&by_words))))
}

/// A session without the calls of `git commit` and without what the questions say.
fn copy(file: &TranscriptFile, to: &Path, mask: &Mask) -> std::io::Result<()> {
    let folder = file.path.parent().and_then(Path::file_name).unwrap_or_default();
    let folder = to.join("projects").join(folder);
    fs::create_dir_all(&folder)?;
    let mut out = BufWriter::new(fs::File::create(folder.join(format!("{}.jsonl", file.id)))?);
    let mut reader = Reader::open(&file.path)?;
    let mut kept = Vec::new();
    while let Some(line) = reader.next_line()? {
        if memchr::memmem::find(line.bytes, b"git commit").is_some() {
            continue;
        }
        kept.clear();
        kept.extend_from_slice(line.bytes);
        mask.blank(&mut kept);
        kept.push(b'\n');
        out.write_all(&kept)?;
    }
    out.flush()
}
