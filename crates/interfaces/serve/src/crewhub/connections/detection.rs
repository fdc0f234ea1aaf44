//! What there is of Claude Code on this machine, before there is a connection to it.

use std::path::{Path, PathBuf};

use app::sessions::list;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// What there is of Claude Code on this machine.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "CrewHub has these fields")]
struct Detected {
    found: bool,
    /// `ready`, `cli_only`, `data_only`, `dir_only` or `not_found`.
    status: &'static str,
    cli_available: bool,
    #[serde(serialize_with = "model::optional_path")]
    cli_path: Option<PathBuf>,
    /// Why a program that is there is not available.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    projects_dir_exists: bool,
    claude_dir_exists: bool,
    session_count: usize,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/connections/claude-code/detect", "detect", "What there is of Claude Code");
    routes.add(route.answer::<Detected>(), detect);
}

async fn detect(State(server): State<Shared>) -> Result<Json<Detected>, Problem> {
    let detected = server
        .work(|server, context| {
            let program = server.claude_versions.fresh(context)?;
            let error = program.as_ref().and_then(|(_, version)| version.as_ref().err().cloned());
            let cli_available = program.is_some() && error.is_none();
            let cli_path = program.map(|(path, _)| path);
            let session_count =
                list::list(context, &list::Request { limit: Some(0), ..list::Request::default() })?.known;
            let is_there = |name: &str| {
                context.config().claude_folders.iter().any(|folder| inside(folder, name).is_dir())
            };
            let claude_dir_exists = is_there("");
            let status = match (cli_available, session_count > 0) {
                (true, true) => "ready",
                (true, false) => "cli_only",
                (false, true) => "data_only",
                (false, false) if claude_dir_exists => "dir_only",
                (false, false) => "not_found",
            };
            Ok(Detected {
                found: cli_available || session_count > 0,
                status,
                cli_available,
                cli_path,
                error,
                projects_dir_exists: is_there("projects"),
                claude_dir_exists,
                session_count,
            })
        })
        .await?;
    Ok(Json(detected))
}

fn inside(folder: &Path, name: &str) -> PathBuf {
    if name.is_empty() { folder.to_owned() } else { folder.join(name) }
}
