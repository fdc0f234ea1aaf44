//! What people edit: connections, agents, rooms, projects, names, rules and settings. It cannot be made again from
//! anything else, so that its file is replaced as a whole, and one that cannot be read is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use app::{Config, Error, Kind};
use model::{SessionId, SessionInfo};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::folder;
use crate::problem::Problem;

/// The largest file, in bytes.
const LARGEST: u64 = 16 << 20;
/// The most entries of one kind.
const MOST: usize = 10_000;

/// Everything that is edited. What a newer version adds is kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StoredData {
    pub(super) connections: Vec<Connection>,
    pub(super) agents: Vec<Agent>,
    pub(super) rooms: Vec<Room>,
    pub(super) projects: Vec<Project>,
    /// Ids of default rooms and projects that were removed.
    pub(super) removed: BTreeSet<String>,
    pub(super) assignments: BTreeMap<String, Assignment>,
    pub(super) display_names: BTreeMap<String, DisplayName>,
    pub(super) rules: Vec<Rule>,
    pub(super) settings: BTreeMap<String, Setting>,
    /// The names that people gave jobs, by the jobs' own names, which have no spaces.
    pub(super) job_names: BTreeMap<String, String>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// A connection to a program whose sessions are shown.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Connection {
    pub(super) id: String,
    pub(super) name: String,
    /// `claude_code`, `openclaw` or `codex`.
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// Of a `claude_code` one: `data_dir`, `cli_path`, `project_dirs`.
    #[serde(default)]
    pub(super) config: Map<String, Value>,
    #[serde(default = "yes")]
    pub(super) enabled: bool,
    #[serde(default)]
    pub(super) created_at: i64,
    #[serde(default)]
    pub(super) updated_at: i64,
}

/// A fixed agent: its chat always continues its current session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "CrewHub names it so")]
pub(super) struct Agent {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) icon: Option<String>,
    #[serde(default)]
    pub(super) avatar_url: Option<String>,
    #[serde(default)]
    pub(super) color: Option<String>,
    #[serde(default)]
    pub(super) agent_session_key: Option<String>,
    #[serde(default)]
    pub(super) default_model: Option<String>,
    #[serde(default)]
    pub(super) default_room_id: Option<String>,
    #[serde(default)]
    pub(super) sort_order: i64,
    #[serde(default)]
    pub(super) is_pinned: bool,
    #[serde(default = "yes")]
    pub(super) auto_spawn: bool,
    #[serde(default)]
    pub(super) bio: Option<String>,
    #[serde(default = "claude_code")]
    pub(super) source: String,
    #[serde(default)]
    pub(super) project_path: Option<String>,
    #[serde(default = "default_word")]
    pub(super) permission_mode: String,
    #[serde(default)]
    pub(super) current_session_id: Option<String>,
    #[serde(default)]
    pub(super) system_prompt: Option<String>,
    #[serde(default)]
    pub(super) created_at: i64,
    #[serde(default)]
    pub(super) updated_at: i64,
}

/// A room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Room {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) icon: Option<String>,
    #[serde(default)]
    pub(super) color: Option<String>,
    #[serde(default)]
    pub(super) sort_order: i64,
    #[serde(default)]
    pub(super) default_model: Option<String>,
    #[serde(default = "one")]
    pub(super) speed_multiplier: f64,
    #[serde(default = "default_word")]
    pub(super) floor_style: String,
    #[serde(default = "default_word")]
    pub(super) wall_style: String,
    #[serde(default)]
    pub(super) project_id: Option<String>,
    #[serde(default)]
    pub(super) project_name: Option<String>,
    #[serde(default)]
    pub(super) project_color: Option<String>,
    #[serde(default)]
    pub(super) is_hq: bool,
    #[serde(default)]
    pub(super) created_at: i64,
    #[serde(default)]
    pub(super) updated_at: i64,
}

/// A project, which rooms belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Project {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    #[serde(default)]
    pub(super) icon: Option<String>,
    #[serde(default)]
    pub(super) color: Option<String>,
    #[serde(default)]
    pub(super) folder_path: Option<String>,
    #[serde(default)]
    pub(super) docs_path: Option<String>,
    #[serde(default = "active")]
    pub(super) status: String,
    #[serde(default)]
    pub(super) created_at: i64,
    #[serde(default)]
    pub(super) updated_at: i64,
    /// The ids of its rooms.
    #[serde(default)]
    pub(super) rooms: Vec<String>,
}

/// The room in which a session is shown.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Assignment {
    pub(super) session_key: String,
    pub(super) room_id: String,
    #[serde(default)]
    pub(super) assigned_at: i64,
}

/// The name that a person gave a session.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "CrewHub names it so")]
pub(super) struct DisplayName {
    pub(super) session_key: String,
    pub(super) display_name: String,
    #[serde(default)]
    pub(super) updated_at: i64,
}

/// A rule by which sessions go to a room.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "CrewHub names it so")]
pub(super) struct Rule {
    #[serde(default)]
    pub(super) id: String,
    pub(super) room_id: String,
    /// `keyword`, `model`, `label_pattern`, `session_type` or `session_key_contains`.
    pub(super) rule_type: String,
    pub(super) rule_value: String,
    #[serde(default)]
    pub(super) priority: i64,
    #[serde(default)]
    pub(super) created_at: i64,
}

/// A setting of the front end.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: String,
    #[serde(default)]
    pub(super) updated_at: i64,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

fn default_word() -> String {
    "default".to_owned()
}

fn active() -> String {
    "active".to_owned()
}

fn claude_code() -> String {
    model::SOURCE.to_owned()
}

/// The file, and what is in it.
pub(crate) struct Store {
    file: PathBuf,
    stored: Mutex<StoredData>,
}

impl Store {
    /// Opens the file of this configuration's state folder.
    pub(crate) fn open(config: &Config) -> Result<Self, Error> {
        let file = folder::create(config)?.join("crew.json");
        let stored = match system::read_small(&file, LARGEST) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => StoredData::default(),
            Err(error) => return Err(folder::unusable(&file, &error)),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                let attempt = format!("cannot read {}", file.display());
                let error = Error::caused(Kind::Unavailable, attempt, &error);
                error.hint(
                    "it holds the rooms and names that you made: repair it, or move it away to start without them",
                )
            })?,
        };
        Ok(Self { file, stored: Mutex::new(stored) })
    }

    /// Looks something up.
    pub(super) fn read<T>(&self, look: impl FnOnce(&StoredData) -> T) -> T {
        look(&self.locked())
    }

    /// Changes something; it is changed when the file is.
    pub(super) fn edit<T>(
        &self,
        change: impl FnOnce(&mut StoredData) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut stored = self.locked();
        let mut next = stored.clone();
        let done = change(&mut next)?;
        if next.largest() > MOST {
            return Err(Problem::usage(format!("there are more than {MOST} entries of a kind")));
        }
        let text = serde_json::to_vec_pretty(&next).map_err(|error| {
            Error::caused(Kind::Internal, format!("cannot write {}", self.file.display()), &error)
        })?;
        if text.len() as u64 > LARGEST {
            return Err(Problem::usage("this is more than can be kept"));
        }
        system::replace_private_file(&self.file, &text)
            .map_err(|error| folder::unusable(&self.file, &error))?;
        *stored = next;
        Ok(done)
    }

    /// The text of a setting.
    pub(crate) fn setting(&self, key: &str) -> Option<String> {
        self.read(|stored| stored.settings.get(key).map(|setting| setting.value.clone()))
    }

    /// Removes a setting.
    pub(crate) fn remove_setting(&self, key: &str) -> Result<(), Problem> {
        self.edit(|stored| {
            stored.settings.remove(key);
            Ok(())
        })
    }

    fn locked(&self) -> MutexGuard<'_, StoredData> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoredData {
    /// The fixed agent whose session it is.
    pub(super) fn agent_of(&self, session: &SessionId) -> Option<&Agent> {
        let id = session.as_str();
        self.agents.iter().find(|agent| agent.current_session_id.as_deref() == Some(id))
    }

    /// The key of a session: that of the fixed agent whose session it is, or its own.
    pub(super) fn key_of(&self, session: &SessionId) -> String {
        self.agent_of(session).map_or_else(|| SessionInfo::key(session), |agent| format!("cc:{}", agent.id))
    }

    fn largest(&self) -> usize {
        let lists = [
            self.connections.len(),
            self.agents.len(),
            self.rooms.len(),
            self.projects.len(),
            self.rules.len(),
        ];
        let maps = [
            self.assignments.len(),
            self.display_names.len(),
            self.settings.len(),
            self.removed.len(),
            self.job_names.len(),
        ];
        lists.into_iter().chain(maps).max().unwrap_or_default()
    }
}

/// A thing with some of its fields changed. Fields that cannot be changed, and those that it does not have, stay.
pub(super) fn changed<T>(thing: &T, change: &Map<String, Value>, fixed: &[&str]) -> Result<T, Problem>
where
    T: Serialize + DeserializeOwned,
{
    let Ok(Value::Object(mut fields)) = serde_json::to_value(thing) else {
        return Err(Problem::usage("this cannot be changed"));
    };
    for (name, value) in change {
        if fields.contains_key(name) && !fixed.contains(&name.as_str()) {
            fields.insert(name.clone(), value.clone());
        }
    }
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| Problem::usage(format!("the change makes no sense: {error}")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use serde_json::json;

    use super::*;

    fn config(folder: &tempfile::TempDir) -> Config {
        Config { state: folder.path().to_owned(), ..Config::default() }
    }

    #[test]
    fn what_is_edited_is_there_again_and_private() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::open(&config(&scratch)).unwrap();
        let name =
            |name: &str| DisplayName { session_key: "k".into(), display_name: name.into(), updated_at: 1 };
        store.edit(|stored| Ok(stored.display_names.insert("k".into(), name("Fence")))).unwrap();
        let refused = store.edit(|stored| {
            stored.display_names.clear();
            Err::<(), _>(Problem::usage("no"))
        });
        assert!(refused.is_err());
        assert_eq!(store.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let again = Store::open(&config(&scratch)).unwrap();
        assert_eq!(again.read(|stored| stored.display_names["k"].display_name.clone()), "Fence");
    }

    #[test]
    fn what_a_newer_version_wrote_is_kept_and_what_is_broken_is_left_alone() {
        let scratch = tempfile::tempdir().unwrap();
        let store = Store::open(&config(&scratch)).unwrap();
        system::replace_private_file(&store.file, br#"{"tomorrow": [1]}"#).unwrap();
        let store = Store::open(&config(&scratch)).unwrap();
        store.edit(|stored| Ok(stored.removed.insert("x".into()))).unwrap();
        let kept = String::from_utf8(system::read_small(&store.file, 1000).unwrap()).unwrap();
        assert!(kept.contains("tomorrow"), "{kept}");
        system::replace_private_file(&store.file, b"{").unwrap();
        assert_eq!(Store::open(&config(&scratch)).err().unwrap().kind, Kind::Unavailable);
        assert_eq!(system::read_small(&store.file, 10).unwrap(), b"{");
    }

    #[test]
    fn only_what_may_be_changed_is_changed() {
        let rule = Rule {
            id: "1".into(),
            room_id: "r".into(),
            rule_type: "model".into(),
            rule_value: "opus".into(),
            priority: 0,
            created_at: 5,
        };
        let change = |value: Value| value.as_object().cloned().unwrap();
        let new =
            changed(&rule, &change(json!({"id": "2", "priority": 7, "colour": "red"})), &["id"]).unwrap();
        assert_eq!((new.id.as_str(), new.priority), ("1", 7));
        assert!(changed(&rule, &change(json!({"priority": "high"})), &[]).is_err());
    }
}
