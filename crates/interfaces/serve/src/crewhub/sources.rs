//! What connections to Claude Code decide: which folders are read, which `claude` is started, and whose sessions are shown.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use app::Context;
use model::SessionId;
use serde_json::{Map, Value};

use crate::crewhub::store::{Connection, Store, StoredData};
use crate::problem::Problem;

/// The connection to Claude Code on this machine; sessions have its id.
pub(super) const OWN: &str = "local-claude";

/// An enabled connection to Claude Code.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    id: String,
    /// The config folder whose sessions it has; those of the usual ones without it.
    data_dir: Option<PathBuf>,
    /// The program that is started.
    program: Option<PathBuf>,
    /// The directories whose sessions it has; those of all without any.
    project_dirs: Vec<PathBuf>,
}

/// The connections, and the requests that they make.
#[derive(Debug)]
pub(crate) struct Sources {
    /// A request without connections.
    started: Context,
    now: RwLock<Arc<Applied>>,
}

/// The connections at one time.
#[derive(Debug)]
pub(crate) struct Applied {
    context: Context,
    sources: Vec<Source>,
    /// The connection of each session that has one, as an index into them.
    known: Mutex<HashMap<SessionId, usize>>,
    /// How often the folders to read have changed; what watches files restarts then.
    pub(crate) changes: u64,
}

/// All connections, the one to this machine first.
pub(super) fn all(stored: &StoredData) -> Vec<Connection> {
    let own = Connection {
        id: OWN.to_owned(),
        name: "Claude Code".to_owned(),
        kind: model::SOURCE.to_owned(),
        config: Map::new(),
        enabled: true,
        created_at: 0,
        updated_at: 0,
    };
    let is_free = !stored.connections.iter().any(|connection| connection.id == OWN);
    Some(own).filter(|_| is_free).into_iter().chain(stored.connections.iter().cloned()).collect()
}

impl Sources {
    /// The connections that were kept.
    pub(crate) fn new(started: Context, store: &Store) -> Self {
        let now = RwLock::new(Arc::new(Applied::new(&started, store, 0)));
        Self { started, now }
    }

    /// The connections as they are now.
    pub(crate) fn now(&self) -> Arc<Applied> {
        Arc::clone(&self.now.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A connection was changed.
    pub(super) fn update(&self, store: &Store) {
        let mut now = self.now.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = Applied::new(&self.started, store, now.changes);
        if new.context.config().claude_folders != now.context.config().claude_folders {
            new.changes += 1;
        }
        *now = Arc::new(new);
    }
}

impl Applied {
    fn new(started: &Context, store: &Store, changes: u64) -> Self {
        let mut connections = store.read(all);
        // A change moves one to the end.
        connections.sort_by_key(|connection| connection.created_at);
        let is_source = |connection: &&Connection| connection.enabled && connection.kind == model::SOURCE;
        // What was kept was checked before; the file may have been edited since.
        let sources: Vec<Source> = connections
            .iter()
            .filter(is_source)
            .filter_map(|connection| Source::of(started, &connection.id, &connection.config).ok())
            .collect();
        let folders: Vec<PathBuf> = sources.iter().filter_map(|source| source.data_dir.clone()).collect();
        let program = sources.iter().find_map(|source| source.program.as_deref());
        Self {
            context: started.with_claude_code(&folders, program),
            sources,
            known: Mutex::default(),
            changes,
        }
    }

    /// A request that is made now.
    pub(crate) fn context(&self) -> Context {
        self.context.refreshed()
    }

    /// The first connection that has a session; `None` where it is not to be shown. Once it is known, `cwd` is not needed.
    pub(super) fn connection_of(&self, session: &SessionId, cwd: Option<&Path>) -> Option<&str> {
        if let [only] = &self.sources[..]
            && only.data_dir.is_none()
            && only.project_dirs.is_empty()
        {
            return Some(&only.id);
        }
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = known().get(session).copied() {
            return Some(&self.sources[at].id);
        }
        let is_by_folder = self.sources.iter().any(|source| source.data_dir.is_some());
        let file = if is_by_folder { self.context.transcript_of(session) } else { None };
        let others = self.sources.iter().filter_map(|source| source.data_dir.as_deref());
        let others: Vec<&Path> = others.collect();
        let at = self.sources.iter().position(|source| source.has(file.as_deref(), cwd, &others))?;
        // A session whose transcript is not there yet may turn out to be another connection's.
        if file.is_some() || !is_by_folder {
            known().insert(session.clone(), at);
        }
        Some(&self.sources[at].id)
    }

    /// Whether every session belongs to this connection.
    pub(super) fn has_all(&self, id: &str) -> bool {
        matches!(&self.sources[..], [only] if only.id == id && only.data_dir.is_none() && only.project_dirs.is_empty())
    }
}

impl Source {
    fn of(context: &Context, id: &str, config: &Map<String, Value>) -> Result<Self, Problem> {
        let text = |name: &str| match config.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) if text.contains('\0') => Err(no_path(name)),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(no_path(name)),
        };
        let project_dirs = match config.get("project_dirs") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(all)) => all
                .iter()
                .map(|one| one.as_str().filter(|text| !text.contains('\0')))
                .collect::<Option<_>>()
                .ok_or_else(|| no_path("project_dirs"))?,
            Some(_) => return Err(no_path("project_dirs")),
        };
        let program = text("cli_path")?.map(|text| {
            // A name is looked up in `PATH`.
            if text.contains('/') { context.typed_path(text) } else { PathBuf::from(text) }
        });
        Ok(Self {
            id: id.to_owned(),
            data_dir: text("data_dir")?.map(|text| whole_path(context, text)).transpose()?,
            program,
            project_dirs: project_dirs.into_iter().map(|text: &str| context.typed_path(text)).collect(),
        })
    }

    fn has(&self, file: Option<&Path>, cwd: Option<&Path>, others: &[&Path]) -> bool {
        let is_in = |folder: &Path| file.is_some_and(|file| file.starts_with(folder));
        let is_of_folder = match &self.data_dir {
            Some(folder) => is_in(folder),
            None => !others.iter().any(|folder| is_in(folder)),
        };
        let is_project = |folder: &PathBuf| cwd.is_some_and(|cwd| cwd.starts_with(folder)) || is_in(folder);
        is_of_folder && (self.project_dirs.is_empty() || self.project_dirs.iter().any(is_project))
    }
}

/// Checks what a connection to Claude Code is given, and returns the request that it makes and its config folder.
pub(super) fn checked(
    context: &Context,
    config: &Map<String, Value>,
) -> Result<(Context, Option<PathBuf>), Problem> {
    let source = Source::of(context, "", config)?;
    let folders: Vec<PathBuf> = source.data_dir.iter().cloned().collect();
    Ok((context.with_claude_code(&folders, source.program.as_deref()), source.data_dir))
}

/// The path of a config folder. A relative one is refused: the directory that the server was started in means nothing here.
fn whole_path(context: &Context, text: &str) -> Result<PathBuf, Problem> {
    if Path::new(text).is_absolute() || text == "~" || text.starts_with("~/") {
        return Ok(context.typed_path(text));
    }
    let detail =
        format!("`data_dir` of a connection has to be a whole path, such as ~/.claude, not `{text}`");
    Err(Problem::usage(detail))
}

fn no_path(name: &str) -> Problem {
    let what = if name == "project_dirs" { "a list of paths" } else { "a path" };
    Problem::usage(format!("`{name}` of a connection has to be {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_session_is() {
        let source = |data_dir: Option<&str>, project_dirs: &[&str]| Source {
            id: "x".to_owned(),
            data_dir: data_dir.map(PathBuf::from),
            program: None,
            project_dirs: project_dirs.iter().map(PathBuf::from).collect(),
        };
        let check = |source: &Source, file: &str, cwd: &str, expected: bool| {
            let found =
                source.has(Some(Path::new(file)), Some(Path::new(cwd)), &[Path::new("/other/.claude")]);
            assert_eq!(found, expected, "{source:?} {file} {cwd}");
        };
        let (home, other) =
            ("/home/u/.claude/projects/-shop/s.jsonl", "/other/.claude/projects/-shop/s.jsonl");
        check(&source(None, &[]), home, "/shop", true);
        check(&source(None, &[]), other, "/shop", false);
        check(&source(Some("/other/.claude"), &[]), other, "/shop", true);
        check(&source(Some("/other/.claude"), &[]), home, "/shop", false);
        check(&source(None, &["/shop"]), home, "/shop/src", true);
        check(&source(None, &["/shop"]), home, "/shopping", false);
        check(&source(None, &["/home/u/.claude/projects/-shop"]), home, "/elsewhere", true);
        check(&source(Some("/other/.claude"), &["/shop"]), other, "/other", false);
    }
}
