//! Projects: those that sessions belong to, and what people made of them.

use app::Context;
use axum::Json;
use axum::extract::State;
use model::Session;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::crewhub::change::{Change, Removed, edit_stored, new_id, now};
use crate::crewhub::documents::require_shown;
use crate::crewhub::layout;
use crate::crewhub::store::{Project, changed};
use crate::extract::{JsonBody, PathParams};
use crate::operation::{delete, get, post, put};
use crate::problem::Problem;
use crate::routes::Routes;
use crate::state::{Server, Shared};

/// All projects.
#[derive(Debug, Serialize, JsonSchema)]
struct Projects {
    projects: Vec<Project>,
}

/// All projects with what goes on in them.
#[derive(Debug, Serialize, JsonSchema)]
struct Overview {
    projects: Vec<ProjectOverview>,
}

/// A project with what goes on in it.
#[derive(Debug, Serialize, JsonSchema)]
struct ProjectOverview {
    #[serde(flatten)]
    project: Project,
    room_count: usize,
    agent_count: usize,
    /// Sessions of the last 30 days.
    session_count: usize,
    active_session_count: usize,
}

/// A project to make.
#[derive(Debug, Deserialize, JsonSchema)]
struct NewProject {
    name: String,
    description: Option<String>,
    icon: Option<String>,
    color: Option<String>,
    folder_path: Option<String>,
    docs_path: Option<String>,
}

pub(super) fn add(routes: &mut Routes) {
    routes.add(get("/api/projects", "projects", "All projects").answer::<Projects>(), list);
    let route = post("/api/projects", "add_project", "Makes a project").body::<NewProject>();
    routes.add(route.answer::<Project>(), make);
    routes.add(
        get("/api/projects/overview", "project_overview", "Projects and their activity").answer::<Overview>(),
        overview,
    );
    routes.add(get("/api/projects/{project}", "project", "One project").answer::<Project>(), one);
    let route = put("/api/projects/{project}", "change_project", "Changes a project").body::<Change>();
    routes.add(route.answer::<Project>(), change);
    routes.add(
        delete("/api/projects/{project}", "remove_project", "Removes a project").answer::<Removed>(),
        remove,
    );
    let route = get("/api/project-folders/discover", "project_folders", "Folders that projects are in");
    routes.add(route.answer::<Map<String, Value>>(), folders);
}

fn all(server: &Server, sessions: &[Session]) -> Vec<Project> {
    server.store.read(|stored| layout::projects(stored, sessions))
}

fn find(server: &Server, sessions: &[Session], id: &str) -> Result<Project, Problem> {
    let found = all(server, sessions).into_iter().find(|project| project.id == id);
    found.ok_or_else(|| Problem::not_found(format!("there is no project `{id}`")))
}

async fn list(State(server): State<Shared>) -> Result<Json<Projects>, Problem> {
    let projects = server.work(|server, context| Ok(all(server, &layout::sessions(context)?))).await?;
    Ok(Json(Projects { projects }))
}

async fn one(
    State(server): State<Shared>,
    PathParams(project): PathParams<String>,
) -> Result<Json<Project>, Problem> {
    let found =
        server.work(move |server, context| find(server, &layout::sessions(context)?, &project)).await?;
    Ok(Json(found))
}

async fn overview(State(server): State<Shared>) -> Result<Json<Overview>, Problem> {
    let projects = server
        .work(|server, context| {
            let sessions = layout::sessions(context)?;
            Ok(all(server, &sessions).into_iter().map(|project| look(project, &sessions)).collect())
        })
        .await?;
    Ok(Json(Overview { projects }))
}

fn look(project: Project, sessions: &[Session]) -> ProjectOverview {
    let is_its = |session: &&Session| {
        session.repo_path.as_deref().map(|path| path.display().to_string()) == project.folder_path
    };
    let own: Vec<_> = sessions.iter().filter(is_its).collect();
    ProjectOverview {
        room_count: project.rooms.len(),
        agent_count: 0,
        session_count: own.len(),
        active_session_count: own.iter().filter(|session| session.is_running).count(),
        project,
    }
}

async fn make(
    State(server): State<Shared>,
    JsonBody(wanted): JsonBody<NewProject>,
) -> Result<Json<Project>, Problem> {
    if wanted.name.trim().is_empty() {
        return Err(Problem::usage("a project has a name"));
    }
    let folders = [wanted.folder_path.clone(), wanted.docs_path.clone()];
    server.work(move |_, context| check_folders(context, &[], &folders)).await?;
    let time = now(&server);
    let made = Project {
        id: new_id(),
        name: wanted.name,
        description: wanted.description,
        icon: wanted.icon,
        color: wanted.color,
        folder_path: wanted.folder_path,
        docs_path: wanted.docs_path,
        status: "active".to_owned(),
        created_at: time,
        updated_at: time,
        rooms: Vec::new(),
    };
    let project = made.clone();
    edit_stored(&server, move |stored| {
        stored.projects.push(made);
        Ok(())
    })
    .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "project_created" }));
    Ok(Json(project))
}

/// Refuses folders whose documents must not be shown, besides those that a project had before.
fn check_folders(
    context: &Context,
    before: &[Option<String>],
    folders: &[Option<String>],
) -> Result<(), Problem> {
    let mut new = folders.iter().filter(|folder| !before.contains(folder));
    new.try_for_each(|folder| require_shown(context, folder.as_deref()))
}

async fn change(
    State(server): State<Shared>,
    PathParams(project): PathParams<String>,
    JsonBody(fields): JsonBody<Change>,
) -> Result<Json<Project>, Problem> {
    let time = now(&server);
    let project = server
        .work(move |server, context| {
            let known = find(server, &layout::sessions(context)?, &project)?;
            let new = changed(&known, &fields, &["id", "rooms", "created_at", "updated_at"])?;
            let before = [known.folder_path, known.docs_path];
            check_folders(context, &before, &[new.folder_path.clone(), new.docs_path.clone()])?;
            let new = Project { updated_at: time, ..new };
            server.store.edit(|stored| {
                stored.projects.retain(|project| project.id != new.id);
                stored.projects.push(Project { rooms: Vec::new(), ..new.clone() });
                Ok(new)
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "project_updated" }));
    Ok(Json(project))
}

async fn remove(
    State(server): State<Shared>,
    PathParams(project): PathParams<String>,
) -> Result<Json<Removed>, Problem> {
    let id = project.clone();
    server
        .work(move |server, context| {
            find(server, &layout::sessions(context)?, &id)?;
            server.store.edit(|stored| {
                stored.projects.retain(|project| project.id != id);
                for room in stored.rooms.iter_mut().filter(|room| room.project_id.as_ref() == Some(&id)) {
                    room.project_id = None;
                }
                stored.removed.insert(id);
                Ok(())
            })
        })
        .await?;
    server.hub.publish("rooms-refresh", &json!({ "action": "project_deleted" }));
    Ok(Json(Removed::new(project)))
}

async fn folders(State(server): State<Shared>) -> Result<Json<Value>, Problem> {
    let projects = server.work(|server, context| Ok(all(server, &layout::sessions(context)?))).await?;
    let folder = |project: Project| Some(json!({ "name": project.name, "path": project.folder_path? }));
    Ok(Json(json!({ "folders": projects.into_iter().filter_map(folder).collect::<Vec<_>>() })))
}
