//! The documents of a project: Markdown files in its folder, listed and read. A file is read only if the listing has it,
//! so that no path from a request is followed.

use std::fs::{self, DirEntry};
use std::path::{Component, Path, PathBuf};

use app::Context;
use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use model::Session;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::crewhub::layout;
use crate::crewhub::store::Project;
use crate::extract::PathParams;
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// The most files that are listed.
const MOST: usize = 200;
/// How many folders deep they may be.
const DEEPEST: usize = 4;
/// How many entries of folders are looked at.
const ENTRIES: usize = 20_000;
/// The largest file, in bytes.
const LARGEST: u64 = 1_000_000;
/// Folders of what is generated or copied.
const SKIPPED: [&str; 8] =
    ["node_modules", "target", "dist", "build", "vendor", "venv", "__pycache__", "site-packages"];

/// A file or a folder with files.
#[derive(Debug, Serialize, JsonSchema)]
struct Node {
    name: String,
    /// Relative to the project's folder.
    path: String,
    /// `file` or `directory`.
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    modified: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<Node>,
}

/// The documents of a project.
#[derive(Debug, Serialize, JsonSchema)]
struct Documents {
    project_id: String,
    project_name: String,
    base_path: Option<String>,
    /// Folders first.
    files: Vec<Node>,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
struct Document {
    path: String,
    content: String,
    size: u64,
    modified: Option<String>,
    lines: usize,
    /// Always `markdown`.
    language: &'static str,
}

pub(super) fn add(routes: &mut Routes) {
    const ONE: &str = "/api/projects/{project}";
    let route =
        get(format!("{ONE}/markdown-files"), "project_markdown", "The paths of a project's documents");
    routes.add(route.answer::<Map<String, Value>>(), paths);
    let route = get(format!("{ONE}/documents"), "project_documents", "A project's documents");
    routes.add(route.answer::<Documents>(), list);
    let route = get(format!("{ONE}/documents/{{path}}"), "project_document", "One document of a project");
    routes.add(route.answer::<Document>(), read);
}

async fn paths(
    State(server): State<Shared>,
    PathParams(project): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let found = server.work(move |server, context| all(server, context, &project)).await?;
    let files: Vec<&str> = flat(&found.files).map(|node| node.path.as_str()).collect();
    Ok(Json(json!({ "files": files, "tree": found.files, "root": found.project_name })))
}

async fn list(
    State(server): State<Shared>,
    PathParams(project): PathParams<String>,
) -> Result<Json<Documents>, Problem> {
    Ok(Json(server.work(move |server, context| all(server, context, &project)).await?))
}

async fn read(
    State(server): State<Shared>,
    PathParams((project, path)): PathParams<(String, String)>,
) -> Result<Json<Document>, Problem> {
    let document = server.work(move |server, context| {
        let found = all(server, context, &project)?;
        let missing = || Problem::not_found(format!("project `{project}` has no document `{path}`"));
        let node = flat(&found.files).find(|node| node.path == path).ok_or_else(missing)?;
        let file = Path::new(found.base_path.as_deref().ok_or_else(missing)?).join(&node.path);
        let bytes = system::read_small(&file, LARGEST).map_err(|_| missing())?;
        let content = context.secrets.redacted(String::from_utf8_lossy(&bytes));
        let lines = content.lines().count();
        let (size, modified) = (bytes.len() as u64, node.modified.clone());
        Ok(Document { path: node.path.clone(), content, size, modified, lines, language: "markdown" })
    });
    Ok(Json(document.await?))
}

fn all(server: &Server, context: &Context, id: &str) -> Result<Documents, Problem> {
    let sessions = layout::sessions(context)?;
    let projects = server.store.read(|stored| layout::projects(stored, &sessions));
    let project = projects.into_iter().find(|project| project.id == id);
    let project = project.ok_or_else(|| Problem::not_found(format!("there is no project `{id}`")))?;
    let folder = folder(context, &project, &sessions);
    Ok(Documents {
        files: folder.as_deref().map(listed).unwrap_or_default(),
        base_path: folder.map(|folder| folder.display().to_string()),
        project_id: project.id,
        project_name: project.name,
    })
}

/// The project's folder, where sessions worked in it or it is in the home folder, and it is not hidden: anybody who may act
/// can make a project of any folder, and start a session in it.
fn folder(context: &Context, project: &Project, sessions: &[Session]) -> Option<PathBuf> {
    let named = project.docs_path.as_deref().or(project.folder_path.as_deref())?;
    let folder = real_path(context, named).filter(|folder| folder.is_dir())?;
    let home = real_home(context);
    if is_hidden_below(&home, &folder) {
        return None;
    }
    let is_below_home = folder != home && folder.starts_with(&home);
    let mut roots = sessions.iter().filter_map(|session| session.repo_path.as_deref()?.canonicalize().ok());
    let mut has_sessions = || roots.any(|root| folder.starts_with(&root) && !is_hidden_below(&root, &folder));
    (is_below_home || has_sessions()).then_some(folder)
}

/// Refuses a hidden folder for a project: its documents would be shown to everybody who may read.
pub(super) fn require_shown(context: &Context, named: Option<&str>) -> Result<(), Problem> {
    let folder = named.and_then(|named| real_path(context, named));
    if folder.is_some_and(|folder| is_hidden_below(&real_home(context), &folder)) {
        return Err(Problem::usage("a hidden folder cannot be a project"));
    }
    Ok(())
}

/// A folder that is named in a project, without links and `..`.
fn real_path(context: &Context, named: &str) -> Option<PathBuf> {
    let home = &context.config().home;
    let named = named.strip_prefix("~/").map_or_else(|| PathBuf::from(named), |rest| home.join(rest));
    named.canonicalize().ok()
}

fn real_home(context: &Context) -> PathBuf {
    let home = &context.config().home;
    home.canonicalize().unwrap_or_else(|_| home.clone())
}

/// Whether a folder below the root is hidden, or in one that is.
fn is_hidden_below(root: &Path, folder: &Path) -> bool {
    let is_hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    folder.strip_prefix(root).is_ok_and(|below| below.components().any(is_hidden))
}

fn listed(folder: &Path) -> Vec<Node> {
    let mut left = Left { files: MOST, entries: ENTRIES };
    below(folder, "", 0, &mut left)
}

/// How much more is looked at.
struct Left {
    files: usize,
    entries: usize,
}

/// The documents in a folder and those below it. Links are not followed, and nothing hidden is listed.
fn below(folder: &Path, path: &str, depth: usize, left: &mut Left) -> Vec<Node> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<DirEntry> = entries.take(left.entries).filter_map(Result::ok).collect();
    left.entries -= entries.len();
    entries.sort_by_key(|entry| (!entry.file_type().is_ok_and(|kind| kind.is_dir()), entry.file_name()));
    let mut nodes = Vec::new();
    for entry in entries {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        if name.starts_with('.') || SKIPPED.contains(&name.as_str()) || left.files == 0 {
            continue;
        }
        let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
        if kind.is_dir() && depth < DEEPEST {
            let children = below(&entry.path(), &path, depth + 1, left);
            if !children.is_empty() {
                nodes.push(Node { name, path, kind: "directory", size: None, modified: None, children });
            }
        } else if kind.is_file() && is_markdown(&name) {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.len() > LARGEST {
                continue;
            }
            left.files -= 1;
            let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
            nodes.push(Node {
                name,
                path,
                kind: "file",
                size: Some(metadata.len()),
                modified: modified.map(|time| time.to_string()),
                children: Vec::new(),
            });
        }
    }
    nodes
}

fn is_markdown(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// The files among these and below them.
fn flat(nodes: &[Node]) -> Box<dyn Iterator<Item = &Node> + '_> {
    Box::new(nodes.iter().flat_map(|node| {
        let own = Some(node).filter(|node| node.kind == "file");
        own.into_iter().chain(flat(&node.children))
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn markdown_is_listed_and_nothing_else() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("shop");
        for path in [
            "README.md",
            "docs/deep/Plan.MD",
            "src/main.rs",
            "node_modules/x/README.md",
            ".git/x.md",
            "a/b/c/d/e/far.md",
        ] {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), "# x").unwrap();
        }
        fs::write(scratch.path().join("secret.md"), "secret").unwrap();
        symlink(scratch.path().join("secret.md"), root.join("link.md")).unwrap();
        symlink(scratch.path(), root.join("up")).unwrap();
        let nodes = listed(&root);
        let paths: Vec<_> = flat(&nodes).map(|node| node.path.as_str()).collect();
        assert_eq!(paths, ["docs/deep/Plan.MD", "README.md"]);
        assert_eq!((nodes[0].kind, nodes[0].children[0].path.as_str()), ("directory", "docs/deep"));
        assert!(listed(&scratch.path().join("none")).is_empty());
    }

    #[test]
    fn there_is_an_end_to_it() {
        let scratch = tempfile::tempdir().unwrap();
        for number in 0..MOST + 5 {
            fs::write(scratch.path().join(format!("{number}.md")), "").unwrap();
        }
        assert_eq!(listed(scratch.path()).len(), MOST);
    }
}
