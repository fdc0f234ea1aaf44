//! Where a client with the scope `read` may look: repositories that sessions belong to. Other directories are refused whether
//! they exist or not. A client with the scope `act` can start a worker anywhere, and may look anywhere.

use std::path::Path;

use app::sessions::list;
use app::{Context, Error, Kind, NextStep};

use crate::security::TokenScope;

/// What a client names, a path or a project's name, as a path where sessions belong to it; refused otherwise.
pub(super) fn known(
    context: &Context,
    scope: TokenScope,
    named: Option<String>,
) -> Result<Option<String>, Error> {
    let named = match named {
        Some(named) if scope == TokenScope::Read => named,
        any => return Ok(any),
    };
    let request = list::Request { project: Some(named.clone()), ..list::Request::default() };
    let sessions = list::list(context, &request)?.sessions;
    let mut roots: Vec<&Path> = sessions.iter().filter_map(|session| session.repo_path.as_deref()).collect();
    roots.sort_unstable();
    roots.dedup();
    let directory = context.path(&named).canonicalize().ok().filter(|path| path.is_dir());
    let is_inside = |directory: &Path| {
        roots.iter().any(|root| root.canonicalize().is_ok_and(|root| directory.starts_with(root)))
    };
    let is_path = named.contains('/') || matches!(named.as_str(), "." | "..");
    match (directory, &roots[..]) {
        (Some(directory), _) if is_inside(&directory) => Ok(Some(directory.display().to_string())),
        // A directory of the same name does not hide a project, nor one that is gone its sessions.
        (directory, [root]) if directory.is_none() || !is_path => Ok(Some(root.display().to_string())),
        (None, [_, _, ..]) => Ok(Some(named)),
        _ => Err(Error::new(Kind::NotFound, format!("no directory or project is named `{named}`"))
            .next(NextStep::NameProject)),
    }
}
