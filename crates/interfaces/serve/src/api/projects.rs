//! Projects: those that sessions belong to, and the state of one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use app::dashboard::spending::{self, SpendingRow};
use app::repository::status;
use app::sessions::list;
use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use model::{AgentId, Session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::known_place::known;
use crate::extract::{Authorized, QueryParams};
use crate::operation::get;
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::Shared;

/// The projects that sessions belong to.
#[derive(Debug, Serialize, JsonSchema)]
struct Projects {
    /// The one in which something last happened first.
    projects: Vec<Project>,
}

/// A project.
#[derive(Debug, Serialize, JsonSchema)]
struct Project {
    /// Its name.
    name: String,
    /// Its directory.
    #[serde(serialize_with = "model::path")]
    path: PathBuf,
    /// How many sessions it has.
    sessions: usize,
    /// How many of them a running process has open.
    running: usize,
    /// When something last happened in one.
    #[serde(serialize_with = "model::optional_time")]
    last_activity: Option<Timestamp>,
    /// What its sessions cost by list prices, every message counted once, in US dollars: the sum of its rows of `spending`.
    cost_usd: f64,
}

/// Which repository to look at, and for whom.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct StatusQuery {
    /// The path or the name of a project, for who may only read one that sessions belong to; the directory that the server
    /// was started in without it.
    repo: Option<String>,
    /// The OpenClaw agent whose own sessions are listed separately.
    agent: Option<AgentId>,
}

pub(super) fn add(routes: &mut Routes) {
    let route = get("/api/v1/projects", "list_own_projects", "The projects that sessions belong to");
    routes.add(route.answer::<Projects>(), list_projects);
    let route =
        get("/api/v1/status", "status", "The state of a repository: git, GitHub, documents, sessions");
    routes.add(route.query::<StatusQuery>().answer::<status::Answer>(), status_of);
}

async fn list_projects(State(server): State<Shared>) -> Result<Json<Projects>, Problem> {
    let (sessions, spent) = server
        .ask(|context| {
            let sessions = list::list(context, &list::Request::default())?.sessions;
            Ok((sessions, spending::spending(context, &spending::Request::default())?.rows))
        })
        .await?;
    Ok(Json(Projects { projects: grouped(&sessions, &spent) }))
}

fn grouped(sessions: &[Session], spent: &[SpendingRow]) -> Vec<Project> {
    let mut projects: BTreeMap<PathBuf, Project> = BTreeMap::new();
    for session in sessions {
        let Some(path) = session.repo_path.as_deref() else { continue };
        let project = projects.entry(path.to_owned()).or_insert_with(|| Project {
            name: session.project.as_deref().unwrap_or_default().to_owned(),
            path: path.to_owned(),
            sessions: 0,
            running: 0,
            last_activity: None,
            cost_usd: 0.0,
        });
        project.sessions += 1;
        project.running += usize::from(session.is_running);
        project.last_activity = project.last_activity.max(session.last_modified);
    }
    for row in spent {
        if let Some(project) = row.path.as_deref().and_then(|path| projects.get_mut(path)) {
            project.cost_usd += row.cost_usd.unwrap_or_default();
        }
    }
    let mut projects: Vec<Project> = projects.into_values().collect();
    projects.sort_by_key(|project| std::cmp::Reverse(project.last_activity));
    projects
}

async fn status_of(
    State(server): State<Shared>,
    Authorized(grant): Authorized,
    QueryParams(query): QueryParams<StatusQuery>,
) -> Result<Json<status::Answer>, Problem> {
    let found = server.ask(move |context| {
        let repo = known(context, grant.scope(), query.repo)?;
        status::status(context, &status::Request { repo, agent: query.agent })
    });
    Ok(Json(found.await?))
}
