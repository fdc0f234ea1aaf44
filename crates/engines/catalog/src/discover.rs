//! Finds the transcripts in the config folders; an id found twice is one session.
//!
//! Looks at names and stamps, and into files with one id: `scan` reads the others.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use model::SessionId;
use rustc_hash::FxHashSet;
use transcript::{
    ArchivedFolder, ConfigFolder, DivergedFile, ReadProblem, SubagentFile, TranscriptFile, deletions,
    forgotten_sessions,
};

use crate::same_id::{Settled, settle};
use crate::types::{Discovery, Locations};

/// Finds all transcripts without reading any of them.
pub fn discover(places: &Locations) -> Discovery {
    let mut found = search_folders(&places.config_folders, places.threads);
    if let Some(archive) = &places.archive {
        add_archived(&mut found, archive, places.threads);
    }
    found
}

/// Leaves out the sessions that are forgotten, and adds those that only the archive still has.
fn add_archived(found: &mut Discovery, archive: &Path, threads: usize) {
    let forgotten = forgotten_sessions(archive);
    if !forgotten.is_empty() {
        found.sessions.retain(|file| !forgotten.contains(&file.id));
        found.lone_subagents.retain(|agent| !is_of(&forgotten, agent));
    }
    let folders = ArchivedFolder::all(archive);
    if folders.is_empty() {
        return;
    }
    let mut copies = transcript::FolderContents::default();
    {
        let living: FxHashSet<&str> = found.sessions.iter().map(|file| file.id.as_str()).collect();
        let agents: FxHashSet<&Path> = found.flat_subagents.iter().map(|agent| &*agent.path).collect();
        let is_wanted = |id: &SessionId| !living.contains(id.as_str()) && !forgotten.contains(id);
        // What was just found need not be looked for again.
        let is_living = |agent: &Path| agents.contains(agent) || agent.exists();
        for folder in folders {
            let mut more = folder.find(is_wanted, is_living, threads);
            // Where everything can be read, what was not found is gone.
            for file in more.transcripts.iter_mut().filter(|_| !found.problems.is_empty()) {
                file.unreadable_folder = folder.unreadable_folder(&file.path).map(Into::into);
            }
            copies.add(more);
            found.walked.push(folder.mirror());
        }
    }
    let mut copies_of_sessions = one_of_each(copies.transcripts, &mut copies.problems);
    if !copies_of_sessions.is_empty() {
        let deleted = deletions(archive);
        for file in copies_of_sessions.iter_mut().filter(|file| file.unreadable_folder.is_none()) {
            file.deleted_at = deleted.get(&file.id).copied();
        }
    }
    found.sessions.extend(copies_of_sessions);
    found.flat_subagents.extend(copies.flat_subagents);
    found.problems.extend(copies.problems);
}

/// Whether a sub-agent's file is below the side folder of one of the sessions.
fn is_of(sessions: &HashSet<SessionId>, agent: &SubagentFile) -> bool {
    let names = agent.path.ancestors().filter_map(|path| path.file_name()?.to_str());
    names.filter_map(|name| name.parse::<SessionId>().ok()).any(|id| sessions.contains(&id))
}

/// The transcript of a session: the one that [`discover`] finds, found without looking at any other.
pub fn transcript_of(places: &Locations, id: &SessionId) -> Option<PathBuf> {
    if places.archive.as_ref().is_some_and(|archive| forgotten_sessions(archive).contains(id)) {
        return None;
    }
    let files = places.config_folders.iter().flat_map(|folder| folder.transcripts_of(id));
    let found = settle(files.collect(), |(path, stamp)| (path, *stamp))?;
    Some(found.main.0)
}

/// Looks through every config folder; a folder named twice is looked through once.
fn search_folders(folders: &[ConfigFolder], threads: usize) -> Discovery {
    let (mut all, mut walked, mut seen) = (transcript::FolderContents::default(), Vec::new(), HashSet::new());
    for folder in folders {
        let projects = physical(&folder.projects());
        if seen.insert(projects.clone()) {
            all.add(folder.find(threads));
            walked.push(projects);
        }
    }
    let transcript::FolderContents { transcripts, flat_subagents, lone_subagents, mut problems } = all;
    let sessions = one_of_each(transcripts, &mut problems);
    Discovery { sessions, flat_subagents, lone_subagents, problems, walked }
}

/// One entry for each session. Claude Code moves transcripts between folders and people copy them; sub-agents count
/// wherever they were left.
fn one_of_each(transcripts: Vec<TranscriptFile>, problems: &mut Vec<ReadProblem>) -> Vec<TranscriptFile> {
    let ids: FxHashSet<&str> = transcripts.iter().map(|file| file.id.as_str()).collect();
    if ids.len() == transcripts.len() {
        return transcripts;
    }
    let mut places: HashMap<SessionId, usize> = HashMap::with_capacity(transcripts.len());
    let mut sessions: Vec<Vec<TranscriptFile>> = Vec::with_capacity(transcripts.len());
    for file in transcripts {
        let place = *places.entry(file.id.clone()).or_insert(sessions.len());
        match sessions.get_mut(place) {
            Some(same) => same.push(file),
            None => sessions.push(vec![file]),
        }
    }
    sessions.into_iter().filter_map(|same| of_one_id(same, problems)).collect()
}

/// The session of several files with its id.
fn of_one_id(mut files: Vec<TranscriptFile>, problems: &mut Vec<ReadProblem>) -> Option<TranscriptFile> {
    if files.len() == 1 {
        return files.pop();
    }
    let mut known = FxHashSet::default();
    files.sort_by(|one, other| {
        other.stamp.mtime.cmp(&one.stamp.mtime).then_with(|| one.path.cmp(&other.path))
    });
    let mut subagents: Vec<_> = files.iter().flat_map(|file| file.subagents.clone()).collect();
    subagents.retain(|agent| known.insert(agent.id.clone()));
    let Settled { main, diverged, copies } = settle(files, |file| (&file.path, file.stamp))?;
    for file in &diverged {
        let what = format!("session {} goes on otherwise in {}; both are read", file.id, main.path.display());
        problems.push(ReadProblem { path: file.path.to_path_buf(), what, is_unreadable: false });
    }
    let diverged = diverged.into_iter().map(|file| DivergedFile { path: file.path, stamp: file.stamp });
    let copies = copies.into_iter().map(|file| file.path).collect();
    Some(TranscriptFile { subagents, diverged: diverged.collect(), copies, ..main })
}

fn physical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn file(path: &Path, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn made_at(path: &Path, second: i64) {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(second.unsigned_abs());
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    #[test]
    fn the_longer_file_wins_for_a_session_in_two_folders() {
        let scratch = tempfile::tempdir().unwrap();
        let (one, two) = (scratch.path().join("one"), scratch.path().join("two"));
        file(&one.join("projects/-a/s1.jsonl"), "{}\n");
        file(&one.join("projects/-a/s1/subagents/agent-x.jsonl"), "{}\n");
        file(&one.join("projects/-b/s1.jsonl"), "{}\n{}\n");
        file(&one.join("projects/-b/s1/subagents/agent-x.jsonl"), "{}\n");
        file(&one.join("projects/-b/s1/subagents/agent-y.jsonl"), "{}\n");
        file(&two.join("projects/-a/s2.jsonl"), "{}\n");
        made_at(&one.join("projects/-a/s1.jsonl"), 200);
        made_at(&one.join("projects/-b/s1.jsonl"), 100);
        made_at(&two.join("projects/-a/s2.jsonl"), 50);
        let found =
            search_folders(&[ConfigFolder::new(&one), ConfigFolder::new(&two), ConfigFolder::new(&one)], 2);
        let listed: Vec<_> = found
            .sessions
            .iter()
            .map(|session| (session.id.as_str(), session.folder(), session.subagents.len()))
            .collect();
        assert_eq!(listed, [("s1", "-b".as_ref(), 2), ("s2", "-a".as_ref(), 0)]);
        let config_folders = vec![ConfigFolder::new(&one), ConfigFolder::new(&two)];
        let places = Locations { config_folders, ..Locations::default() };
        for session in &found.sessions {
            assert_eq!(transcript_of(&places, &session.id).as_deref(), Some(&*session.path));
        }
        assert_eq!(transcript_of(&places, &"s3".parse().unwrap()), None);
        assert_eq!(found.walked.len(), 2);
    }
}
