//! The agents of one state folder: the folders below `agents`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::AgentId;

use crate::Problem;

/// One agent and its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name, from the folder's.
    pub id: AgentId,
    /// `<state>/agents/<id>`.
    pub folder: PathBuf,
}

/// The agents that were found, by name, and what could not be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents {
    /// The agents, sorted.
    pub agents: Vec<Agent>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl Agents {
    /// Looks below a state folder; a state folder without agents has none, which is no problem.
    pub fn find(state: &Path) -> Self {
        let mut found = Self::default();
        let folder = state.join("agents");
        match fs::read_dir(&folder) {
            Ok(entries) => entries.for_each(|entry| match entry {
                Ok(entry) => found.add(entry.path()),
                Err(error) => found.problems.push(unreadable(&folder, &error)),
            }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => found.problems.push(unreadable(&folder, &error)),
        }
        found.agents.sort_by(|one, other| (&one.id, &one.folder).cmp(&(&other.id, &other.folder)));
        found.problems.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    fn add(&mut self, folder: PathBuf) {
        // Files beside the agents (`.DS_Store`) are nobody's.
        if !folder.is_dir() {
            return;
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        match name.parse() {
            Ok(id) => self.agents.push(Agent { id, folder }),
            Err(_) if name.starts_with('.') => {}
            Err(error) => {
                let next = "Rename or remove the folder.";
                self.problems.push(Problem::new(&folder, error.to_string(), next));
            }
        }
    }
}

fn unreadable(folder: &Path, error: &std::io::Error) -> Problem {
    Problem::new(folder, format!("cannot be listed: {error}"), "Make the folder readable for this user.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_folders_with_a_valid_name() {
        let scratch = tempfile::tempdir().unwrap();
        assert_eq!(Agents::find(scratch.path()), Agents::default());
        for name in ["main", "Coder_2", "not valid", ".cache"] {
            fs::create_dir_all(scratch.path().join("agents").join(name)).unwrap();
        }
        fs::write(scratch.path().join("agents/file"), "").unwrap();
        let found = Agents::find(scratch.path());
        let names: Vec<_> = found.agents.iter().map(|agent| agent.id.as_str()).collect();
        assert_eq!(names, ["coder_2", "main"]);
        assert!(found.agents[0].folder.ends_with("agents/Coder_2"));
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        assert!(found.problems[0].path.ends_with("not valid"));
    }
}
