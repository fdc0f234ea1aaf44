//! Rooms and projects: by default a room for each project that sessions belong to, and a headquarters. What was edited
//! replaces a default one.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use model::{Session, SessionId};
use xxhash_rust::xxh3::xxh3_64;

use app::sessions::list;
use app::{Context, Error, Moment};

use crate::crewhub::rule::{Rules, Seen};
use crate::crewhub::store::{Assignment, Project, Room, StoredData};
use crate::state::Server;

/// Projects in which nothing happened for so long have no default room.
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Sessions in which nothing happened for so long are in no room by default.
const PRESENT: SignedDuration = SignedDuration::from_hours(24);
/// The colours of projects that have no other.
const COLOURS: [&str; 8] =
    ["#4f46e5", "#0891b2", "#16a34a", "#ca8a04", "#dc2626", "#9333ea", "#db2777", "#475569"];

/// Models by session.
pub(super) type Models = BTreeMap<SessionId, String>;

/// The sessions that have a place in the layout.
pub(super) fn sessions(context: &Context) -> Result<Vec<Session>, Error> {
    let since = context.now.checked_sub(RECENT).unwrap_or(context.now);
    let request = list::Request { since: Some(Moment::from(since)), ..list::Request::default() };
    Ok(list::list(context, &request)?.sessions)
}

/// The models of the sessions that are watched.
pub(super) fn models(server: &Server, context: &Context) -> Models {
    let snapshot = server.hub.live().and_then(|live| live.snapshot(context).ok());
    let sessions = snapshot.map(|snapshot| snapshot.sessions).unwrap_or_default();
    sessions.into_iter().filter_map(|info| Some((info.session_id, info.model?))).collect()
}

/// All projects, each with the ids of its rooms.
pub(super) fn projects(stored: &StoredData, sessions: &[Session]) -> Vec<Project> {
    let mut known: BTreeMap<String, Project> = BTreeMap::new();
    for session in sessions {
        let Some(path) = session.repo_path.as_deref() else { continue };
        let path = path.display().to_string();
        let created = session.created.map_or(0, jiff::Timestamp::as_millisecond);
        let number = xxh3_64(path.as_bytes());
        let project = known.entry(path.clone()).or_insert_with(|| Project {
            id: format!("p-{number:016x}"),
            name: session.project.as_deref().unwrap_or("project").to_owned(),
            description: None,
            icon: None,
            color: usize::try_from(number % 8).ok().map(|place| COLOURS[place].to_owned()),
            folder_path: Some(path),
            docs_path: None,
            status: "active".to_owned(),
            created_at: created,
            updated_at: created,
            rooms: Vec::new(),
        });
        project.created_at = project.created_at.min(created);
    }
    let is_free = |project: &Project| {
        !stored.removed.contains(&project.id) && !stored.projects.iter().any(|one| one.is_as(project))
    };
    let mut all: Vec<Project> =
        stored.projects.iter().cloned().chain(known.into_values().filter(is_free)).collect();
    for room in rooms_of(stored, &all) {
        if let Some(project) = all.iter_mut().find(|project| room.project_id.as_ref() == Some(&project.id)) {
            project.rooms.push(room.id);
        }
    }
    all
}

impl Project {
    /// Whether this is the edited form of the other, which is a default one.
    fn is_as(&self, other: &Self) -> bool {
        self.id == other.id || (self.folder_path.is_some() && self.folder_path == other.folder_path)
    }
}

/// All rooms, in their order.
pub(super) fn rooms(stored: &StoredData, projects: &[Project]) -> Vec<Room> {
    let mut rooms = rooms_of(stored, projects);
    for room in &mut rooms {
        let project = projects.iter().find(|project| room.project_id.as_ref() == Some(&project.id));
        room.project_name = project.map(|project| project.name.clone());
        room.project_color = project.and_then(|project| project.color.clone());
    }
    rooms.sort_by(|one, other| {
        (one.sort_order, &one.name, &one.id).cmp(&(other.sort_order, &other.name, &other.id))
    });
    rooms
}

fn rooms_of(stored: &StoredData, projects: &[Project]) -> Vec<Room> {
    let mut rooms: Vec<Room> = stored.rooms.clone();
    let headquarters =
        Room { icon: Some("🏛️".to_owned()), is_hq: true, ..room("headquarters", "Headquarters", 0) };
    if !stored.rooms.iter().any(|room| room.is_hq) && is_free(stored, &headquarters) {
        rooms.push(headquarters);
    }
    for project in projects {
        let by_itself = Room {
            color: project.color.clone(),
            project_id: Some(project.id.clone()),
            created_at: project.created_at,
            updated_at: project.created_at,
            ..room(&format!("room-{}", project.id), &project.name, 100)
        };
        let has_room = stored.rooms.iter().any(|room| room.project_id.as_ref() == Some(&project.id));
        if !has_room && is_free(stored, &by_itself) {
            rooms.push(by_itself);
        }
    }
    rooms
}

/// Whether a default room was neither edited nor removed.
fn is_free(stored: &StoredData, room: &Room) -> bool {
    !stored.removed.contains(&room.id) && !stored.rooms.iter().any(|known| known.id == room.id)
}

/// A room with nothing special about it.
pub(super) fn room(id: &str, name: &str, sort_order: i64) -> Room {
    Room {
        id: id.to_owned(),
        name: name.to_owned(),
        icon: None,
        color: None,
        sort_order,
        default_model: None,
        speed_multiplier: 1.0,
        floor_style: "default".to_owned(),
        wall_style: "default".to_owned(),
        project_id: None,
        project_name: None,
        project_color: None,
        is_hq: false,
        created_at: 0,
        updated_at: 0,
    }
}

/// The rooms of sessions: where a person put them, else where a rule does, else their fixed agent's, else their project's.
pub(super) fn assignments(
    context: &Context,
    stored: &StoredData,
    sessions: &[Session],
    models: &Models,
) -> Vec<Assignment> {
    let mut all: Vec<Assignment> = stored.assignments.values().cloned().collect();
    let rules = Rules::new(&stored.rules);
    let projects = projects(stored, sessions);
    let rooms = rooms(stored, &projects);
    let since = context.now.checked_sub(PRESENT).unwrap_or(context.now);
    for session in
        sessions.iter().filter(|session| session.is_running || session.last_modified >= Some(since))
    {
        let key = stored.key_of(&session.id);
        if stored.assignments.contains_key(&key) {
            continue;
        }
        let label = session.title.as_deref().or(session.project.as_deref()).unwrap_or_default();
        let model = models.get(&session.id).map(String::as_str).unwrap_or_default();
        let by_rule = rules.of(&Seen { key: &key, label, model }).map(|rule| rule.room_id.clone());
        let of_project = || {
            let path = session.repo_path.as_deref()?.display().to_string();
            let project = projects.iter().find(|project| project.folder_path.as_ref() == Some(&path))?;
            rooms
                .iter()
                .find(|room| room.project_id.as_ref() == Some(&project.id))
                .map(|room| room.id.clone())
        };
        let of_agent = || {
            let room = stored.agent_of(&session.id)?.default_room_id.as_ref()?;
            rooms.iter().any(|known| known.id == *room).then(|| room.clone())
        };
        if let Some(room_id) = by_rule.or_else(of_agent).or_else(of_project) {
            let assigned_at = session.created.map_or(0, jiff::Timestamp::as_millisecond);
            all.push(Assignment { session_key: key, room_id, assigned_at });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crewhub::store::Rule;

    fn session(id: &str, project: &str) -> Session {
        Session {
            repo_path: Some(std::path::Path::new("/code").join(project).into()),
            project: Some(project.into()),
            title: Some(format!("paint {project}").into()),
            ..Session::new(id.parse().unwrap())
        }
    }

    #[test]
    fn there_is_a_room_for_each_project_until_somebody_edits_it() {
        let sessions = [session("a", "shop"), session("b", "shop"), session("c", "harbor")];
        let mut stored = StoredData::default();
        let named = |stored: &StoredData| {
            let rooms = rooms(stored, &projects(stored, &sessions));
            rooms.into_iter().map(|room| room.name).collect::<Vec<_>>()
        };
        assert_eq!(named(&stored), ["Headquarters", "harbor", "shop"]);
        let all = rooms(&stored, &projects(&stored, &sessions));
        let shop = all.iter().find(|room| room.name == "shop").unwrap().clone();
        assert_eq!(shop.project_name.as_deref(), Some("shop"));
        stored.rooms.push(Room { name: "Shop floor".into(), ..shop.clone() });
        assert_eq!(named(&stored), ["Headquarters", "Shop floor", "harbor"]);
        stored.rooms.clear();
        stored.removed.insert(shop.id);
        assert_eq!(named(&stored), ["Headquarters", "harbor"]);
        assert_eq!(projects(&stored, &sessions).len(), 2);
    }

    #[test]
    fn a_session_is_where_a_person_a_rule_or_its_project_says() {
        let scratch = tempfile::tempdir().unwrap();
        let app = app::App {
            config: app::Config { state: scratch.path().to_owned(), ..app::Config::default() },
            clock: || jiff::Timestamp::UNIX_EPOCH,
            zone: || jiff::tz::TimeZone::UTC,
            program: "/backstory".into(),
            recent_files: app::RecentFiles::default(),
        };
        let context = Context::new(std::sync::Arc::new(app), "/".into());
        let sessions = ["a", "b", "c"]
            .map(|id| Session { is_running: true, ..session(id, if id == "c" { "harbor" } else { "shop" }) });
        let mut stored = StoredData::default();
        let put = Assignment { session_key: "claude:a".into(), room_id: "cellar".into(), assigned_at: 0 };
        stored.assignments.insert("claude:a".into(), put);
        let rule = Rule {
            id: "1".into(),
            room_id: "quay".into(),
            rule_type: "keyword".into(),
            rule_value: "HARBOR".into(),
            priority: 1,
            created_at: 0,
        };
        stored.rules.push(rule);
        let found = assignments(&context, &stored, &sessions, &Models::new());
        let room = |key: &str| found.iter().find(|one| one.session_key == key).map(|one| one.room_id.clone());
        assert_eq!(room("claude:a").as_deref(), Some("cellar"));
        assert!(room("claude:b").unwrap().starts_with("room-p-"));
        assert_eq!(room("claude:c").as_deref(), Some("quay"));
    }
}
