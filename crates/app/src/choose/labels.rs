//! Finds the session with a label: in OpenClaw's registry for an agent, in Backstory's own table for a person.

use std::path::Path;

use model::{AgentId, SessionId};
use openclaw::{Agents, Registry};

use crate::choose::candidates::RepoCandidate;
use crate::repository::target::RepoTarget;
use crate::workers::table::{exists, open_recovered, unusable};
use crate::{Context, Error};

/// The session with a label in the work tree with this root, a real path.
pub(crate) fn labelled(
    context: &Context,
    agent: Option<&AgentId>,
    root: &Path,
    label: &str,
) -> Result<Option<SessionId>, Error> {
    match agent {
        Some(agent) => Ok(of_agent(context, agent, root, label)),
        None if exists(context) => open_recovered(context)?.session_by_label(root, label).map_err(unusable),
        None => Ok(None),
    }
}

/// Gives the label to the one candidate that has it in the person's work tree. If none has it, a session of that work
/// tree whose title is the label counts.
pub(crate) fn name(
    context: &Context,
    agent: Option<&AgentId>,
    target: &RepoTarget,
    label: &str,
    candidates: &mut [RepoCandidate],
) -> Result<(), Error> {
    let root = target.work_tree(context);
    let found = labelled(context, agent, &root, label)?;
    let is_known = candidates.iter().any(|one| Some(&one.candidate.id) == found.as_ref());
    for RepoCandidate { candidate, cwd, .. } in candidates {
        let is_called = || {
            let directory = cwd.as_deref().filter(|_| candidate.label.as_deref() == Some(label));
            let place = directory
                .map(|directory| RepoTarget { directory: directory.to_owned(), root: target.root.clone() });
            agent.is_none() && !is_known && place.is_some_and(|place| place.work_tree(context) == root)
        };
        let is_it = Some(&candidate.id) == found.as_ref() || is_called();
        candidate.label = is_it.then(|| label.to_owned().into());
    }
    Ok(())
}

fn of_agent(context: &Context, agent: &AgentId, root: &Path, label: &str) -> Option<SessionId> {
    let agents = context.config().openclaw_folders.iter().flat_map(|folder| Agents::find(folder).agents);
    let folders = agents.filter(|found| found.id == *agent).map(|found| found.folder);
    let entries = folders.flat_map(|folder| Registry::read(&folder).entries);
    let called = entries.filter(|entry| {
        let repo = || entry.repo.canonicalize().unwrap_or_else(|_| entry.repo.clone());
        entry.label.as_deref() == Some(label) && repo() == root
    });
    called.max_by_key(|entry| entry.last_resumed.or(entry.created)).map(|entry| entry.session)
}
