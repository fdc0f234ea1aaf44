//! The notes in an agent's own folder, which OpenClaw's bridge searches: `memory/*.md`, then `*.md` beside it.

use std::path::{Path, PathBuf};

use model::AgentId;

use crate::{Agents, file};

/// A longer note is read in part, in bytes.
const MAX_NOTE: usize = 1 << 20;
/// The most notes of one agent that are read.
const MAX_NOTES: usize = 1000;

/// A note in an agent's own folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentNote {
    /// Its path within the agent's folder.
    pub name: PathBuf,
    /// Its text; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// The notes of an agent in the order in which OpenClaw reads them; what cannot be read is left out.
pub fn agent_notes(states: &[PathBuf], agent: &AgentId) -> Vec<AgentNote> {
    let folders =
        states.iter().flat_map(|state| Agents::find(state).agents).filter(|known| known.id == *agent);
    let names = folders.flat_map(|known| {
        let places = ["memory", ""].map(|place| known.folder.join(place));
        let files = places.into_iter().flat_map(|place| markdown_files(&place));
        files.map(move |path| (known.folder.clone(), path)).collect::<Vec<_>>()
    });
    let read = |(folder, path): (PathBuf, PathBuf)| {
        // A link may lead to another agent's notes, or to any file.
        let real = path.canonicalize().ok()?;
        if !real.starts_with(folder.canonicalize().ok()?) {
            return None;
        }
        let bytes = file::beginning(&path, MAX_NOTE).ok()?;
        let name = path.strip_prefix(&folder).unwrap_or(&path).to_owned();
        Some(AgentNote { name, text: String::from_utf8_lossy(&bytes).into_owned() })
    };
    names.take(MAX_NOTES).filter_map(read).collect()
}

fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_note = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_note).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_memory_folder_comes_first() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("agents/main");
        fs::create_dir_all(folder.join("memory")).unwrap();
        fs::write(folder.join("SOUL.md"), "soul").unwrap();
        fs::write(folder.join("memory/b.md"), "b \u{fffd}").unwrap();
        fs::write(folder.join("memory/a.md"), b"a \xff").unwrap();
        fs::write(folder.join("memory/a.txt"), "no note").unwrap();
        fs::create_dir(folder.join("folder.md")).unwrap();
        let notes = agent_notes(&[scratch.path().to_owned()], &"main".parse().unwrap());
        let found: Vec<_> = notes.iter().map(|note| (note.name.to_str().unwrap(), &*note.text)).collect();
        assert_eq!(
            found,
            [("memory/a.md", "a \u{fffd}"), ("memory/b.md", "b \u{fffd}"), ("SOUL.md", "soul")]
        );
        fs::create_dir_all(scratch.path().join("agents/beta/memory")).unwrap();
        fs::write(scratch.path().join("agents/beta/memory/b.md"), "secret").unwrap();
        symlink("../../beta/memory/b.md", folder.join("memory/link.md")).unwrap();
        assert_eq!(agent_notes(&[scratch.path().to_owned()], &"main".parse().unwrap()).len(), 3);
        assert!(agent_notes(&[scratch.path().to_owned()], &"other".parse().unwrap()).is_empty());
    }
}
