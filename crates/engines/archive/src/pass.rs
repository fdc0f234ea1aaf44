//! One pass over the projects folders: what is new in any file is copied, oldest sessions first.
//!
//! An unchanged session costs one `stat` of each of its transcripts and one of each of their copies.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use model::{ProjectSlug, SessionId};
use system::{FileStamp, in_parallel};
use transcript::{ArchivedFolder, ConfigFolder, FolderContents, TranscriptFile, forgotten_sessions};

use crate::keep::{CopyOptions, CopyReport, begins_with, is_current, keep};
use crate::{complete, deletions};

/// How deep below a session's folder files are kept.
const DEPTH: usize = 8;
/// From how many changed sessions on the whole archive is synced at the end, and not each copy.
const MANY: usize = 16;

/// What is kept.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Directories whose sessions, and those of directories below them, are not kept.
    pub excluded: Vec<String>,
    /// The number of threads that copy.
    pub threads: usize,
    /// Whether copies are made without secrets.
    pub without_secrets: bool,
    /// Only sessions that changed last before this time; all without it.
    pub before: Option<Timestamp>,
}

impl Rules {
    /// The folders of projects whose sessions are not kept, and with them those that begin so.
    fn excluded_slugs(&self) -> Vec<String> {
        self.excluded.iter().map(|path| ProjectSlug::from_path(path).to_string()).collect()
    }
}

/// Whether the project folder of a file is one of these, or of a directory below one of them.
fn is_excluded(slugs: &[String], projects: &Path, file: &Path) -> bool {
    let folder = file.strip_prefix(projects).ok().and_then(|rest| rest.components().next());
    let folder = folder.map(|name| name.as_os_str().to_string_lossy().into_owned()).unwrap_or_default();
    slugs.iter().any(|slug| {
        folder.strip_prefix(slug.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

/// The sessions among some that have no whole copy as they are now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uncopied {
    /// Those that a pass would copy.
    pub waiting: Vec<SessionId>,
    /// Those that are never copied: of excluded directories, and forgotten ones.
    pub left_out: Vec<SessionId>,
}

/// The sessions among these, of one projects folder, that have no whole copy as they are now.
pub fn uncopied<'a>(
    archive: &Path,
    projects: &Path,
    files: impl IntoIterator<Item = &'a TranscriptFile>,
    rules: &Rules,
) -> Uncopied {
    let (slugs, forgotten) = (rules.excluded_slugs(), forgotten_sessions(archive));
    let mirrors = ArchivedFolder::all(archive);
    let mirror = mirrors.iter().find(|mirror| mirror.original() == projects);
    let is_copied = |path: &Path, stamp: &FileStamp| {
        let copy = mirror.and_then(|mirror| mirror.copy_of(path));
        copy.is_some_and(|copy| is_current(&copy, stamp, false) || is_current(&copy, stamp, true))
    };
    let mut found = Uncopied::default();
    for file in files {
        let agents = file.subagents.iter().map(|agent| (agent.path.as_path(), &agent.stamp));
        if std::iter::once((&*file.path, &file.stamp))
            .chain(agents)
            .all(|(path, stamp)| is_copied(path, stamp))
        {
            continue;
        }
        let is_left_out = forgotten.contains(&file.id) || is_excluded(&slugs, projects, &file.path);
        let these = if is_left_out { &mut found.left_out } else { &mut found.waiting };
        these.push(file.id.clone());
    }
    found
}

/// What a pass did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PassReport {
    /// Another process is archiving.
    pub busy: bool,
    /// Sessions with something new.
    pub sessions: u64,
    /// Files that were copied or continued.
    pub files: u64,
    /// Files among them that were copied from their beginning: new and rewritten ones.
    pub whole_files: u64,
    /// New bytes in them.
    pub bytes: u64,
    /// Bytes written for that.
    pub written: u64,
    /// Files that had been rewritten; what they held before is kept.
    pub rewritten: u64,
    /// Sessions that were not reached before the pass was ended.
    pub pending: u64,
    /// Files that could not be copied, and why.
    pub failed: Vec<(PathBuf, String)>,
}

/// The files of one session, or a sub-agent's file beside the sessions.
#[derive(Debug)]
struct SessionFiles {
    /// Its transcript and those of its sub-agents, by which it is known whether anything is new.
    transcripts: Vec<(PathBuf, FileStamp)>,
    /// The folder of its other files.
    side: Option<PathBuf>,
    /// When it changed last.
    modified: i64,
}

/// Copies what is new in these config folders, until `keep_going` returns false, and notes what was deleted by `now`.
pub fn pass(
    archive: &Path,
    folders: &[ConfigFolder],
    rules: &Rules,
    now: Timestamp,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> io::Result<PassReport> {
    let forgotten = forgotten_sessions(archive);
    let mut report = PassReport::default();
    let mut lock = None;
    let (mut walked, mut living) = (HashSet::new(), HashSet::new());
    for folder in folders {
        let Ok(projects) = folder.projects().canonicalize() else { continue };
        if !walked.insert(projects.clone()) {
            continue;
        }
        if lock.is_none() {
            lock = locked(archive)?;
            if lock.is_none() {
                return Ok(PassReport { busy: true, ..report });
            }
        }
        let mirror = ArchivedFolder::make(archive, &projects)?;
        let found = ConfigFolder::from_projects(&projects).find(rules.threads);
        living.extend(found.transcripts.iter().map(|file| file.id.clone()));
        let units = units(found, &projects, rules, &forgotten);
        Pass { mirror, rules, keep_going, is_stopped: AtomicBool::new(false) }.run(units, &mut report);
    }
    if lock.is_some() {
        deletions::record(archive, &deletions::PassFindings { walked, living, forgotten: &forgotten }, now)?;
        if report.pending == 0 && rules.before.is_none() {
            complete::record(archive, now)?;
        }
    }
    Ok(report)
}

/// The archive's lock; `None` where another process has it.
pub(crate) fn locked(archive: &Path) -> io::Result<Option<File>> {
    system::create_private_folder(archive)?;
    let file = system::private_file().write(true).create(true).truncate(false).open(archive.join("lock"))?;
    Ok(file.try_lock().is_ok().then_some(file))
}

/// The files grouped by session, the oldest first, because Claude Code deletes these first.
fn units(
    found: FolderContents,
    projects: &Path,
    rules: &Rules,
    forgotten: &HashSet<SessionId>,
) -> Vec<SessionFiles> {
    let slugs = rules.excluded_slugs();
    let before = rules.before.map(Timestamp::as_nanosecond);
    let is_kept = |unit: &SessionFiles| {
        before.is_none_or(|before| i128::from(unit.modified) < before)
            && !is_excluded(&slugs, projects, &unit.transcripts[0].0)
    };
    let mut units = Vec::with_capacity(found.transcripts.len());
    for session in found.transcripts.into_iter().filter(|file| !forgotten.contains(&file.id)) {
        let side = session.has_side_folder.then(|| session.side_folder());
        let mut transcripts = vec![(session.path.to_path_buf(), session.stamp)];
        transcripts.extend(session.subagents.into_iter().map(|agent| (agent.path, agent.stamp)));
        units.push(SessionFiles { transcripts, side, modified: session.stamp.mtime });
    }
    for agent in found.flat_subagents.into_iter().chain(found.lone_subagents) {
        let names = agent.path.ancestors().skip(1).filter_map(|path| path.file_name()?.to_str());
        if names.filter_map(|name| name.parse().ok()).any(|id: SessionId| forgotten.contains(&id)) {
            continue;
        }
        let is_forgotten = !forgotten.is_empty() && agent.session().is_some_and(|id| forgotten.contains(&id));
        if !is_forgotten {
            let modified = agent.stamp.mtime;
            units.push(SessionFiles { transcripts: vec![(agent.path, agent.stamp)], side: None, modified });
        }
    }
    units.retain(is_kept);
    units.sort_by(|one, other| {
        one.modified.cmp(&other.modified).then_with(|| one.transcripts[0].0.cmp(&other.transcripts[0].0))
    });
    units
}

/// A pass over one projects folder.
struct Pass<'a> {
    mirror: ArchivedFolder,
    rules: &'a Rules,
    keep_going: &'a (dyn Fn() -> bool + Sync),
    is_stopped: AtomicBool,
}

impl Pass<'_> {
    fn run(&self, units: Vec<SessionFiles>, report: &mut PassReport) {
        let todo: Vec<SessionFiles> = units.into_iter().filter(|unit| !self.is_current(unit)).collect();
        if todo.is_empty() {
            return;
        }
        report.sessions += todo.len() as u64;
        self.follow_moves(&todo, report);
        let sync = todo.len() < MANY;
        let done = in_parallel(self.rules.threads, &todo, |unit| self.unit(unit, sync));
        for part in done {
            report.files += part.files;
            report.whole_files += part.whole_files;
            report.bytes += part.bytes;
            report.written += part.written;
            report.rewritten += part.rewritten;
            report.pending += part.pending;
            report.failed.extend(part.failed);
        }
        if !sync {
            sync_all(&self.mirror.mirror());
        }
    }

    fn copy_of(&self, file: &Path) -> Option<PathBuf> {
        Some(self.mirror.mirror().join(file.strip_prefix(self.mirror.original()).ok()?))
    }

    fn is_current(&self, unit: &SessionFiles) -> bool {
        let is_current = |(file, stamp): &(PathBuf, FileStamp)| {
            self.copy_of(file).is_some_and(|copy| is_current(&copy, stamp, self.rules.without_secrets))
        };
        unit.transcripts.iter().all(is_current)
    }

    fn unit(&self, unit: &SessionFiles, sync: bool) -> PassReport {
        let mut report = PassReport::default();
        if self.is_stopped.load(Ordering::Relaxed) {
            report.pending = 1;
            return report;
        }
        let mut files: Vec<PathBuf> = unit.transcripts.iter().map(|(file, _)| file.clone()).collect();
        if let Some(side) = &unit.side {
            let known: HashSet<PathBuf> = files.iter().cloned().collect();
            let mut others = Vec::new();
            files_below(side, 0, &mut others);
            files.extend(others.into_iter().filter(|file| !known.contains(file)));
        }
        for file in files {
            self.file(&file, sync, &mut report);
            if !(self.keep_going)() {
                self.is_stopped.store(true, Ordering::Relaxed);
            }
        }
        report.pending = report.pending.min(1);
        report
    }

    fn file(&self, file: &Path, sync: bool, report: &mut PassReport) {
        let Some(copy) = self.copy_of(file) else { return };
        match self.keep(file, &copy, sync) {
            Ok(None) => {}
            Ok(Some(CopyReport { read, written, is_rewritten, is_whole, is_unfinished })) => {
                report.pending += u64::from(is_unfinished);
                report.files += 1;
                report.whole_files += u64::from(is_whole);
                report.bytes += read;
                report.written += written;
                report.rewritten += u64::from(is_rewritten);
            }
            // It was deleted meanwhile; what was copied before stays.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !file.exists() => {}
            Err(error) => report.failed.push((file.to_owned(), error.to_string())),
        }
    }

    fn keep(&self, file: &Path, copy: &Path, sync: bool) -> io::Result<Option<CopyReport>> {
        let stamp = FileStamp::from_metadata(&fs::symlink_metadata(file)?);
        if is_current(copy, &stamp, self.rules.without_secrets) {
            return Ok(None);
        }
        let below = copy.strip_prefix(self.mirror.mirror()).unwrap_or(copy);
        let folder = |path: &Path| path.parent().map(Path::to_path_buf).unwrap_or_default();
        system::create_private_folder(&folder(copy))?;
        let manner = CopyOptions { sync, without_secrets: self.rules.without_secrets };
        keep(file, copy, &self.mirror.versions().join(folder(below)), manner, self.keep_going).map(Some)
    }

    /// Claude Code moves a session's files to another project folder: so do their copies, instead of being made again.
    fn follow_moves(&self, todo: &[SessionFiles], report: &mut PassReport) {
        let is_new = |file: &Path| self.copy_of(file).is_some_and(|copy| sealed::source_of(&copy).is_err());
        let new: Vec<&PathBuf> =
            todo.iter().map(|unit| &unit.transcripts[0].0).filter(|file| is_new(file)).collect();
        if new.is_empty() {
            return;
        }
        let mut left: HashMap<OsString, Vec<PathBuf>> = HashMap::new();
        for folder in fs::read_dir(self.mirror.mirror()).into_iter().flatten().flatten() {
            for entry in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let Some(name) = name.to_str().and_then(sealed::name_of_tail) else { continue };
                left.entry(name.into()).or_default().push(folder.path().join(name));
            }
        }
        for file in new {
            let Some(copies) = file.file_name().and_then(|name| left.get(name)) else { continue };
            for from in copies {
                if let Err(error) = self.follow_move(file, from) {
                    report.failed.push((from.clone(), error.to_string()));
                }
            }
        }
    }

    fn follow_move(&self, file: &Path, from: &Path) -> io::Result<()> {
        let (Some(to), Some(original)) = (self.copy_of(file), self.mirror.original_of(from)) else {
            return Ok(());
        };
        if original.symlink_metadata().is_ok() || sealed::source_of(&to).is_ok() {
            return Ok(());
        }
        if !begins_with(&system::open_regular(file)?, file, from)? {
            return Ok(());
        }
        if let Some(folder) = to.parent() {
            system::create_private_folder(folder)?;
        }
        let (side_from, side_to) = (from.with_extension(""), to.with_extension(""));
        if side_from.is_dir() && !side_to.exists() {
            fs::rename(side_from, side_to)?;
        }
        sealed::rename(from, &to)
    }
}

/// All regular files below a folder; links are not followed.
pub(crate) fn files_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth >= DEPTH {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), depth + 1, found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// Writes everything to the disk. Where that cannot be asked for, the system does it when it likes.
fn sync_all(folder: &Path) {
    #[cfg(target_os = "linux")]
    let _ = File::open(folder).map(|folder| rustix::fs::syncfs(&folder));
    #[cfg(not(target_os = "linux"))]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}
