//! The plugins that are installed in a config folder.

use std::path::{Path, PathBuf};

use crate::files::SIDE_FILE_CAP;
use crate::home::ConfigFolder;
use crate::json::Raw;

/// A plugin that is switched on or off for all of the person's sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// Its id: its name, `@` and the marketplace it is from.
    pub id: String,
    /// Its version, where the list of plugins says it.
    pub version: Option<String>,
    /// The folder it was copied to.
    pub folder: Option<PathBuf>,
    /// Whether it is switched on.
    pub is_enabled: bool,
}

impl InstalledPlugin {
    /// The plugins of this name, from whatever marketplace; those that are switched on come first.
    pub fn find(config: &ConfigFolder, name: &str) -> Vec<Self> {
        let read = |file: &Path| {
            let bytes = system::read_small(&config.root().join(file), SIDE_FILE_CAP).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let settings = read(Path::new("settings.json"));
        let list = read(Path::new("plugins/installed_plugins.json"));
        let enabled = Raw::new(settings.trim()).get("enabledPlugins");
        let installed = Raw::new(list.trim()).get("plugins");
        let of_name = |id: &str| id.split_once('@').is_some_and(|(plugin, _)| plugin == name);
        let all = enabled.entries().filter(|(id, _)| of_name(id)).map(|(id, is_on)| {
            let for_person = |copy: &Raw<'_>| copy.get("scope").is("user");
            let copy = installed.get(&id).elements().find(for_person).unwrap_or(Raw::new(""));
            Self {
                version: copy.get("version").text().map(std::borrow::Cow::into_owned),
                folder: copy.get("installPath").text().map(|path| PathBuf::from(path.into_owned())),
                is_enabled: is_on.is_true(),
                id: id.into_owned(),
            }
        });
        // What is switched off and gone is no plugin any more.
        let mut all: Vec<Self> = all.filter(|one| one.is_enabled || one.folder.is_some()).collect();
        all.sort_by_key(|one| !one.is_enabled);
        all
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LIST: &str = r#"{"version": 2, "plugins": {
        "backstory@one": [
            {"scope": "project", "installPath": "/p", "version": "0.0.1"},
            {"scope": "user", "installPath": "/u", "version": "0.1.0"}],
        "other@one": [{"scope": "user", "installPath": "/o", "version": "1.0.0"}]}}"#;

    fn check(settings: &str, list: &str, expected: &[(&str, Option<&str>, Option<&str>, bool)]) {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("plugins")).unwrap();
        fs::write(home.path().join("settings.json"), settings).unwrap();
        fs::write(home.path().join("plugins/installed_plugins.json"), list).unwrap();
        let found = InstalledPlugin::find(&ConfigFolder::new(home.path()), "backstory");
        let expected: Vec<_> = expected
            .iter()
            .map(|(id, version, folder, is_enabled)| InstalledPlugin {
                id: (*id).to_owned(),
                version: version.map(ToOwned::to_owned),
                folder: folder.map(PathBuf::from),
                is_enabled: *is_enabled,
            })
            .collect();
        assert_eq!(found, expected, "{settings}");
    }

    #[test]
    fn installed_plugins_and_their_switches_are_read() {
        let on = r#"{"enabledPlugins": {"backstory@two": false, "backstory@one": true, "other@one": true}}"#;
        check(on, LIST, &[("backstory@one", Some("0.1.0"), Some("/u"), true)]);
        // Switched on, and gone from the list.
        check(on, "{}", &[("backstory@one", None, None, true)]);
        let off = r#"{"enabledPlugins": {"backstory@one": false}}"#;
        check(off, LIST, &[("backstory@one", Some("0.1.0"), Some("/u"), false)]);
        check(off, "{}", &[]);
        check("{}", LIST, &[]);
        check("", "no JSON", &[]);
        check(r#"{"enabledPlugins": ["backstory@one"]}"#, LIST, &[]);
    }
}
