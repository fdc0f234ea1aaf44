//! All files that Claude Code keeps of one session, to be deleted; links are never followed.

use std::fs;
use std::path::{Path, PathBuf};

use model::SessionId;

use crate::home::ConfigFolder;

/// The folders with a folder of each session: checkpoints of files, tasks, and variables for shells.
const FOLDERS: [&str; 3] = ["file-history", "tasks", "session-env"];

/// The files and folders of a session, its transcripts last; what they are in stays.
pub fn session_files(folder: &ConfigFolder, id: &SessionId) -> Vec<PathBuf> {
    let root = folder.root();
    let parents = FOLDERS.map(|name| root.join(name)).into_iter().chain(entries(&folder.projects()));
    let own = parents.filter(|parent| is_folder(parent)).map(|parent| parent.join(id.as_str()));
    let mut found: Vec<PathBuf> = own.filter(|own| is_folder(own)).collect();
    found.extend(entries(&root.join("todos")).filter(|file| is_todo_list(file, id)));
    found.extend(Some(root.join("debug").join(format!("{id}.txt"))).filter(|log| is_file(log)));
    found.extend(folder.transcripts_of(id).into_iter().map(|(transcript, _)| transcript));
    found
}

/// What is in a folder, if it is one and no link to one.
fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = is_folder(folder).then(|| fs::read_dir(folder).ok()).flatten();
    entries.into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Whether it is a list of to-dos of the session or of a sub-agent of it.
fn is_todo_list(file: &Path, id: &SessionId) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".json"));
    let rest = name.and_then(|name| name.strip_prefix(id.as_str()));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("-agent-")) && is_file(file)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file()) && path.parent().is_some_and(is_folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn all_files_of_one_session_are_found() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap().join("claude");
        let own = [
            "file-history/s1/a@v1",
            "tasks/s1/1.json",
            "projects/-p/s1/tool-results/b.txt",
            "todos/s1.json",
            "todos/s1-agent-s1.json",
            "debug/s1.txt",
            "projects/-p/s1.jsonl",
            "projects/-q/s1.jsonl",
        ];
        let others =
            ["tasks/s10/1.json", "todos/s10.json", "todos/s1x-agent-s1.json", "projects/-p/s2.jsonl"];
        for name in own.iter().chain(&others) {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "x").unwrap();
        }
        fs::create_dir_all(root.join("outside/s1")).unwrap();
        symlink(root.join("outside"), root.join("session-env")).unwrap();
        symlink(root.join("outside/s1"), root.join("projects/-q/s1")).unwrap();
        let found = session_files(&ConfigFolder::new(&root), &"s1".parse().unwrap());
        let mut names: Vec<&str> =
            found.iter().map(|path| path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
        assert!(names[names.len() - 2..].iter().all(|name| name.ends_with("/s1.jsonl")), "{names:?}");
        names.sort_unstable();
        let mut expected = own.to_vec();
        expected[..3].copy_from_slice(&["file-history/s1", "tasks/s1", "projects/-p/s1"]);
        expected.sort_unstable();
        assert_eq!(names, expected);
    }
}
