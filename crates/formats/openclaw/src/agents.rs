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
    /// The agent's folder, `<state>/agents/<id>`.
    pub folder: PathBuf,
}

/// The agents that were found, by name, and what could not be looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agents {
    /// The agents, sorted by name.
    pub agents: Vec<Agent>,
    /// The folders that could not be used.
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
        // Other files in the folder (`.DS_Store`) belong to no agent.
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

/// The folder that what an agent did is written into: its own, where there is one, else a new one in the first of the
/// state folders. Without any it is the one that newest comers have, below the person's home.
pub fn folder_for(states: &[PathBuf], home: &Path, agent: &AgentId) -> Result<PathBuf, Problem> {
    let known = states.iter().flat_map(|state| Agents::find(state).agents).find(|found| found.id == *agent);
    if let Some(known) = known {
        return Ok(known.folder);
    }
    let usual = home.join(".clawcode");
    let folder = states.first().unwrap_or(&usual).join("agents").join(agent.as_str());
    let made = system::create_private_folder(&folder);
    let unmade =
        |error| Problem::new(&folder, format!("cannot be made: {error}"), "Make it, or its parent writable.");
    made.map(|()| folder.clone()).map_err(unmade)
}

fn unreadable(folder: &Path, error: &std::io::Error) -> Problem {
    Problem::new(folder, format!("cannot be listed: {error}"), "Make the folder readable for this user.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_to_the_folder_that_knows_the_agent() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |path: &str| scratch.path().join(path);
        fs::create_dir_all(at("b/agents/main")).unwrap();
        let check = |states: &[&str], agent: &str, expected: &str| {
            let states: Vec<_> = states.iter().map(|state| at(state)).collect();
            let folder = folder_for(&states, scratch.path(), &agent.parse().unwrap()).unwrap();
            assert_eq!(folder, at(expected));
            assert!(folder.is_dir());
        };
        check(&["a", "b"], "main", "b/agents/main");
        check(&["a", "b"], "coder", "a/agents/coder");
        check(&[], "coder", ".clawcode/agents/coder");
        fs::write(at("file"), "").unwrap();
        let problem = folder_for(&[at("file")], scratch.path(), &"x".parse().unwrap()).unwrap_err();
        assert!(problem.what.contains("cannot be made"), "{}", problem.what);
    }

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
