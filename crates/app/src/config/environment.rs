//! The configuration: paths and settings, from the environment and the home folder, which nothing else reads.

#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use catalog::Locations;
use model::SessionId;
use openclaw::{StateFolders, StoreCache};
use transcript::ConfigFolder;

use crate::{Error, Kind, Settings};

/// Variables that start with `BACKSTORY_` but are not settings.
const NOT_SETTINGS: [&str; 3] = ["BACKSTORY_HOME", "BACKSTORY_CONFIG", "BACKSTORY_WORKER"];
/// The largest settings file that is read, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;

/// The paths of everything Backstory uses, and the settings.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The user's home directory.
    pub home: PathBuf,
    /// The folder of Backstory's own state.
    pub state: PathBuf,
    /// Claude Code's config folders, each once.
    pub claude_folders: Vec<PathBuf>,
    /// More folders of Claude's project folders, which OpenClaw's settings name.
    pub claude_projects: Vec<PathBuf>,
    /// Where OpenClaw keeps its state.
    pub openclaw_folders: Vec<PathBuf>,
    /// The state folders of the one installation of OpenClaw that the environment names; none where it names none.
    pub openclaw_installation: Vec<PathBuf>,
    /// OpenClaw's configuration, where the environment says that it is not in the first of these.
    pub openclaw_configuration: Option<PathBuf>,
    /// What the environment says of OpenClaw's sessions: the variables `OPENCLAW_SESSION_…`.
    pub openclaw_variables: BTreeMap<String, String>,
    /// Variables that workers in processes of their own are given beside this process's.
    pub for_workers: BTreeMap<String, OsString>,
    /// The session stores that were read lately.
    pub store_cache: StoreCache,
    /// The person's settings over the defaults.
    pub settings: Settings,
    /// Where short-lived files go.
    pub scratch: PathBuf,
    /// Whether this is the demo.
    pub is_demo: bool,
    /// Whether the next demo on this terminal has the same sessions, so that what is kept of a search leads on.
    pub is_demo_kept: bool,
    /// Whether the terminal can do nothing but print lines (`TERM=dumb`): there are no screens and no pager on it.
    pub is_terminal_dumb: bool,
    /// The pager the environment asks for.
    pub pager: Option<String>,
    /// The options that `less` takes from the environment.
    pub less_options: String,
    /// The person's shell.
    pub shell: Option<String>,
    /// Where programs are looked for (`PATH`).
    pub search_path: String,
    /// What `CLAUDE_CONFIG_DIR` says, unchanged.
    pub claude_config_dir: Option<PathBuf>,
    /// The key for the Messages API, where the environment holds one; it is kept nowhere.
    pub api_key: Option<ApiKeyText>,
    /// The key of the embedding endpoint, where the environment holds one; it is kept nowhere.
    pub embedding_key: Option<ApiKeyText>,
    /// The cache of models that were fetched from the hub.
    pub hub_cache: PathBuf,
    /// Where the Messages API is (`ANTHROPIC_BASE_URL`), where it is not at its usual address.
    pub api_url: Option<String>,
    /// The session of the Claude Code that started this program, as it was then (`CLAUDE_CODE_SESSION_ID`).
    pub claude_session: Option<SessionId>,
    /// The mark of the worker inside which this program was started (`BACKSTORY_WORKER`).
    pub worker_mark: Option<String>,
    /// The process that started this program, where it may ask for itself.
    pub parent_process: Option<u32>,
}

/// The environment's variables, by name; a parameter so that tests can bring their own. Paths need be no UTF-8.
pub type Variables = BTreeMap<String, OsString>;

impl Config {
    /// The configuration of this process.
    pub fn of_process() -> Result<Self, Error> {
        let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        let config = Self::new(&env::vars_os().filter_map(named).collect())?;
        Ok(Self { parent_process: Some(std::os::unix::process::parent_id()), ..config })
    }

    /// The configuration that these variables and the files they lead to give.
    pub fn new(variables: &Variables) -> Result<Self, Error> {
        let home = match folder(variables, "HOME") {
            Some(home) => home,
            None => etcetera::home_dir()
                .map_err(|error| Error::caused(Kind::Settings, "cannot find your home folder", &error))?,
        };
        let settings = settings(variables, &home)?;
        let claude_folders = claude_folders(variables, &home, &settings);
        let state_folders = state_folders(variables, &home);
        let openclaw_folders =
            each_once(state_folders.find().into_iter().chain(settings.openclaw.folders.iter().cloned()));
        let usual: HashSet<_> = claude_folders.iter().map(|folder| folder.join("projects")).collect();
        let openclaw_configuration = ["OPENCLAW_CONFIG_PATH", "CLAWDBOT_CONFIG_PATH"]
            .into_iter()
            .find_map(|name| folder(variables, name))
            .map(|path| path.strip_prefix("~").map(|rest| home.join(rest)).unwrap_or(path.clone()));
        let named = openclaw_folders
            .iter()
            .map(|state| openclaw::OpenClawConfig::find(state))
            .chain(openclaw_configuration.iter().map(|file| openclaw::OpenClawConfig::read(file)))
            .flat_map(|config| config.claude_projects(&home));
        Ok(Self {
            state: state(variables, &home),
            claude_projects: each_once(named.filter(|path| !usual.contains(path))),
            claude_folders,
            openclaw_folders,
            openclaw_installation: state_folders.installation(),
            openclaw_configuration,
            for_workers: BTreeMap::new(),
            store_cache: StoreCache::new(filled(variables, "OPENCLAW_SESSION_CACHE_TTL_MS").as_deref()),
            openclaw_variables: variables
                .iter()
                .filter(|(name, _)| name.starts_with("OPENCLAW_SESSION_"))
                .filter_map(|(name, value)| Some((name.clone(), value.to_str()?.to_owned())))
                .collect(),
            scratch: folder(variables, "TMPDIR").unwrap_or_else(|| PathBuf::from("/tmp")),
            is_demo: false,
            is_demo_kept: false,
            is_terminal_dumb: variables.get("TERM").is_some_and(|terminal| terminal == "dumb"),
            pager: variables.get("PAGER").and_then(|pager| pager.to_str()).map(str::to_owned),
            less_options: variables.get("LESS").and_then(|text| text.to_str()).unwrap_or_default().to_owned(),
            shell: filled(variables, "SHELL"),
            search_path: variables
                .get("PATH")
                .map(|path| path.to_string_lossy().into_owned())
                .unwrap_or_default(),
            claude_config_dir: folder(variables, "CLAUDE_CONFIG_DIR"),
            api_key: filled(variables, "ANTHROPIC_API_KEY").map(ApiKeyText),
            embedding_key: filled(variables, &settings.embedding.key_variable).map(ApiKeyText),
            hub_cache: hub_cache(variables, &home),
            api_url: filled(variables, "ANTHROPIC_BASE_URL"),
            claude_session: filled(variables, "CLAUDE_CODE_SESSION_ID").and_then(|id| id.parse().ok()),
            worker_mark: filled(variables, workers::MARK_VARIABLE),
            parent_process: None,
            settings,
            home,
        })
    }

    /// The state folders whose session stores and registries are shown and changed: those of the installation that the
    /// environment names, else all.
    pub fn store_folders(&self) -> &[PathBuf] {
        let named = &self.openclaw_installation;
        if named.is_empty() { &self.openclaw_folders } else { named }
    }

    /// A folder of the settings, where `~` is the home folder.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        let path = path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| self.home.join(rest));
        path.canonicalize().unwrap_or(path)
    }

    /// Where the catalog looks.
    pub fn places(&self) -> Locations {
        let beside_home = self.home.join(".claude.json");
        let inside = self.claude_folders.iter().map(|folder| folder.join(".claude.json"));
        Locations {
            home: self.home.clone(),
            config_folders: self
                .claude_folders
                .iter()
                .map(ConfigFolder::new)
                .chain(self.claude_projects.iter().map(ConfigFolder::from_projects))
                .collect(),
            openclaw_folders: self.openclaw_folders.clone(),
            openclaw_configuration: self.openclaw_configuration.clone(),
            global_files: std::iter::once(beside_home).chain(inside).collect(),
            cache: Some(self.state.join("catalog.sqlite")),
            remembered: Some(self.state.join("repositories.json")),
            left_out: self.settings.claude.leave_out.iter().map(|path| self.absolute(path)).collect(),
            annotations: Some(self.state.join("annotations.sqlite")),
            archive: Some(self.state.join("archive")),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// A text that no message and no log may show.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKeyText(pub String);

impl std::fmt::Debug for ApiKeyText {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("(secret)")
    }
}

fn filled(variables: &Variables, name: &str) -> Option<String> {
    variables.get(name)?.to_str().filter(|value| !value.is_empty()).map(str::to_owned)
}

fn folder(variables: &Variables, name: &str) -> Option<PathBuf> {
    variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn settings(variables: &Variables, home: &Path) -> Result<Settings, Error> {
    let path = folder(variables, "BACKSTORY_CONFIG").unwrap_or_else(|| {
        let base = folder(variables, "XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        base.join("backstory/config.toml")
    });
    let text = match system::read_small(&path, MAX_SETTINGS) {
        Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        // The home of a system's user may be `/dev/null`.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        Err(error) => {
            let attempt = format!("cannot read your settings {}", path.display());
            return Err(Error::caused(Kind::Settings, attempt, &error));
        }
    };
    let name = path.display().to_string();
    let ours = |name: &String| name.starts_with("BACKSTORY_") && !NOT_SETTINGS.contains(&name.as_str());
    let mut set = Vec::new();
    for (name, value) in variables.iter().filter(|(name, _)| ours(name)) {
        let Some(value) = value.to_str() else {
            let message = format!("the variable {name} is not UTF-8: {}", value.to_string_lossy());
            return Err(Error::new(Kind::Settings, message).hint("write it in UTF-8, or unset it"));
        };
        set.push((name.clone(), value.to_owned()));
    }
    Settings::new(text.as_deref().map(|text| (name.as_str(), text)), set)
}

fn state(variables: &Variables, home: &Path) -> PathBuf {
    folder(variables, "BACKSTORY_HOME").unwrap_or_else(|| {
        let base = folder(variables, "XDG_DATA_HOME").filter(|base| base.is_absolute());
        base.unwrap_or_else(|| home.join(".local/share")).join("backstory")
    })
}

/// Where the hub's own program puts what it fetches.
fn hub_cache(variables: &Variables, home: &Path) -> PathBuf {
    folder(variables, "HF_HUB_CACHE").unwrap_or_else(|| {
        let cache = || folder(variables, "XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"));
        folder(variables, "HF_HOME").unwrap_or_else(|| cache().join("huggingface")).join("hub")
    })
}

fn claude_folders(variables: &Variables, home: &Path, settings: &Settings) -> Vec<PathBuf> {
    let named = variables.get("CLAUDE_CONFIG_DIR").map(OsString::as_os_str).unwrap_or_default();
    let named = env::split_paths(named).filter(|path| !path.as_os_str().is_empty());
    each_once(named.chain([home.join(".claude")]).chain(settings.claude.folders.iter().cloned()))
}

/// What the environment says of OpenClaw's state folders.
fn state_folders(variables: &Variables, home: &Path) -> StateFolders {
    StateFolders {
        flag: None,
        env_openclaw: folder(variables, "OPENCLAW_STATE_DIR"),
        env_clawdbot: folder(variables, "CLAWDBOT_STATE_DIR"),
        profile: ["OPENCLAW_PROFILE", "CLAWDBOT_PROFILE"].iter().find_map(|name| filled(variables, name)),
        home: folder(variables, "OPENCLAW_HOME").or_else(|| Some(home.to_owned())),
    }
}

fn each_once(paths: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut known = HashSet::new();
    paths.filter(|path| known.insert(path.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Config {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
        Config::new(&std::iter::once(("HOME".to_owned(), "/home/u".into())).chain(variables).collect())
            .unwrap()
    }

    #[test]
    fn folders_may_be_invalid_utf_8() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = OsString::from_vec(b"/odd/\xff".to_vec());
        let variables = |name: &str| {
            Variables::from([("HOME".to_owned(), "/home/u".into()), (name.to_owned(), odd.clone())])
        };
        assert_eq!(Config::new(&variables("BACKSTORY_HOME")).unwrap().state, Path::new(&odd));
        let claude = Config::new(&variables("CLAUDE_CONFIG_DIR")).unwrap();
        assert_eq!(claude.claude_folders, [Path::new(&odd), Path::new("/home/u/.claude")]);
        assert_eq!(claude.claude_config_dir.as_deref(), Some(Path::new(&odd)));
        let refused = Config::new(&variables("BACKSTORY_SELECTION_ENABLED")).unwrap_err();
        assert!(refused.message.contains("BACKSTORY_SELECTION_ENABLED is not UTF-8"), "{}", refused.message);
    }

    #[test]
    fn a_home_that_is_not_a_folder_has_no_settings() {
        let config = Config::new(&Variables::from([("HOME".to_owned(), "/dev/null".into())])).unwrap();
        assert_eq!(config.state, Path::new("/dev/null/.local/share/backstory"));
    }

    #[test]
    fn paths_follow_the_environment() {
        let usual = config(&[]);
        assert_eq!(usual.state, Path::new("/home/u/.local/share/backstory"));
        assert_eq!(usual.claude_folders, [Path::new("/home/u/.claude")]);
        let set = config(&[
            ("CLAUDE_CONFIG_DIR", "/a:/b:/home/u/.claude"),
            ("XDG_DATA_HOME", "/data"),
            ("BACKSTORY_OPENCLAW_FOLDERS", "/claw"),
            ("BACKSTORY_CLAUDE_FOLDERS", "/c"),
        ]);
        assert_eq!(set.state, Path::new("/data/backstory"));
        assert_eq!(set.claude_folders, ["/a", "/b", "/home/u/.claude", "/c"].map(Path::new));
        assert_eq!(set.openclaw_folders, [Path::new("/claw")]);
        assert_eq!(set.store_folders(), [Path::new("/claw")]);
        let named = config(&[("OPENCLAW_STATE_DIR", "/new"), ("BACKSTORY_OPENCLAW_FOLDERS", "/claw")]);
        assert_eq!(named.openclaw_folders, [Path::new("/claw")]);
        assert_eq!(named.store_folders(), [Path::new("/new")], "it need not exist");
        assert_eq!(config(&[("BACKSTORY_HOME", "/s")]).state, Path::new("/s"));
        assert_eq!(usual.hub_cache, Path::new("/home/u/.cache/huggingface/hub"));
        assert_eq!(config(&[("HF_HOME", "/hf")]).hub_cache, Path::new("/hf/hub"));
        assert_eq!(config(&[("HF_HUB_CACHE", "/hub"), ("HF_HOME", "/hf")]).hub_cache, Path::new("/hub"));
    }

    #[test]
    fn the_key_of_an_endpoint_is_found_under_the_name_that_is_set() {
        let key = |variables: &[(&str, &str)]| config(variables).embedding_key.map(|ApiKeyText(key)| key);
        assert_eq!(key(&[("OPENAI_API_KEY", "sk-1")]).as_deref(), Some("sk-1"));
        let other =
            [("BACKSTORY_EMBEDDING_KEY_VARIABLE", "MINE"), ("OPENAI_API_KEY", "sk-1"), ("MINE", "sk-2")];
        assert_eq!(key(&other).as_deref(), Some("sk-2"));
        assert_eq!(key(&[]), None);
    }
}
