//! Finds the state folders of OpenClaw under its current and earlier names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The names the state folder has had under the home folder, newest first.
const NAMES: [&str; 5] = [".openclaw", ".clawcode", ".clawdbot", ".moltbot", ".moldbot"];

/// The settings that locate the state folders.
#[derive(Debug, Clone, Default)]
pub struct StateFolders {
    /// The folder named on the command line.
    pub flag: Option<PathBuf>,
    /// The value of `OPENCLAW_STATE_DIR`.
    pub env_openclaw: Option<PathBuf>,
    /// The value of `CLAWDBOT_STATE_DIR`.
    pub env_clawdbot: Option<PathBuf>,
    /// The value of `OPENCLAW_PROFILE`, whose state folder is next to the usual one.
    pub profile: Option<String>,
    /// The person's home folder.
    pub home: Option<PathBuf>,
}

impl StateFolders {
    /// All state folders that exist, each also with `/state` below it; explicitly named ones first.
    ///
    /// `~/.openclaw` is always included, because OpenClaw's registry of Claude sessions stays there whatever the
    /// environment says. A folder that is reachable under several names is listed once. Creates nothing.
    pub fn find(&self) -> Vec<PathBuf> {
        let usual = self.home.iter().flat_map(|home| NAMES.map(|name| home.join(name)));
        existing(self.all_named().into_iter().chain(usual))
    }

    /// The state folders of the one installation that is named, whether or not they exist; none where none is named.
    pub fn installation(&self) -> Vec<PathBuf> {
        let Some(folder) = self.all_named().into_iter().next() else { return Vec::new() };
        let mut found = existing(std::iter::once(folder.clone()));
        if found.is_empty() {
            found.push(folder);
        }
        found
    }

    /// The folders that are named, the one that decides first.
    fn all_named(&self) -> Vec<PathBuf> {
        let named = [&self.flag, &self.env_openclaw, &self.env_clawdbot].into_iter().flatten();
        let named = named.filter(|path| !path.to_string_lossy().trim().is_empty());
        let of_profile = self.profile.iter().filter(|profile| is_profile(profile));
        let of_profile =
            of_profile.filter_map(|name| Some(self.home.as_ref()?.join(format!(".openclaw-{name}"))));
        named.map(|path| self.expand(path)).chain(of_profile).collect()
    }

    /// `~/x`: a service file sets such a value without a shell that would expand it.
    fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }
}

/// The folders that exist, each with the state folder below it, in order and once.
fn existing(folders: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    folders
        .flat_map(|folder| [folder.join("state"), folder].into_iter().rev())
        .filter(|folder| folder.is_dir() && !is_part_of_state(folder))
        .filter(|folder| fs::canonicalize(folder).is_ok_and(|real| seen.insert(real)))
        .collect()
}

/// Whether the folder is the `state` folder that a state folder has since 2026.6, which holds what its agents share
/// and is not a state folder itself.
fn is_part_of_state(folder: &Path) -> bool {
    folder.ends_with("state") && folder.join("openclaw.sqlite").is_file() && !folder.join("agents").is_dir()
}

/// Whether OpenClaw treats a name as a profile; "default" is not one.
fn is_profile(name: &str) -> bool {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    is_plain && !name.is_empty() && name.len() <= 64 && !name.eq_ignore_ascii_case("default")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_its_own_state_folder() {
        let scratch = tempfile::tempdir().unwrap();
        for folder in [".openclaw", ".openclaw-work"] {
            fs::create_dir_all(scratch.path().join(folder)).unwrap();
        }
        let check = |profile: &str, expected: &[&str]| {
            let folders = StateFolders {
                profile: Some(profile.to_owned()),
                home: Some(scratch.path().to_owned()),
                ..StateFolders::default()
            };
            let expected: Vec<_> = expected.iter().map(|name| scratch.path().join(name)).collect();
            assert_eq!(folders.find(), expected, "{profile}");
        };
        check("work", &[".openclaw-work", ".openclaw"]);
        check("play", &[".openclaw"]);
        check("default", &[".openclaw"]);
        check("../x", &[".openclaw"]);
        check("", &[".openclaw"]);
    }

    #[test]
    fn the_first_name_names_the_installation() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path();
        for folder in [".openclaw", ".openclaw-work", "mine", "mine/state"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let check = |openclaw: &str, clawdbot: &str, profile: &str, expected: &[&str]| {
            let folders = StateFolders {
                env_openclaw: Some(openclaw.into()),
                env_clawdbot: Some(clawdbot.into()),
                profile: Some(profile.to_owned()),
                home: Some(home.to_owned()),
                ..StateFolders::default()
            };
            let expected: Vec<_> = expected.iter().map(|name| home.join(name)).collect();
            assert_eq!(folders.installation(), expected, "{openclaw} {clawdbot} {profile}");
        };
        check("", "", "", &[]);
        check(" ", "", "default", &[]);
        check("~/mine", "~/other", "work", &["mine", "mine/state"]);
        check("", "~/other", "work", &["other"]);
        check("", "", "work", &[".openclaw-work"]);
        check("", "", "new", &[".openclaw-new"]);
    }

    #[test]
    fn shared_folders_are_not_state_folders() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path();
        fs::create_dir_all(home.join(".openclaw/state")).unwrap();
        let found = || StateFolders { home: Some(home.to_owned()), ..StateFolders::default() }.find();
        assert_eq!(found(), [home.join(".openclaw"), home.join(".openclaw/state")]);
        fs::write(home.join(".openclaw/state/openclaw.sqlite"), "").unwrap();
        assert_eq!(found(), [home.join(".openclaw")]);
        fs::create_dir(home.join(".openclaw/state/agents")).unwrap();
        assert_eq!(found(), [home.join(".openclaw"), home.join(".openclaw/state")]);
    }

    #[test]
    fn existing_folders_are_found_once() {
        let scratch = tempfile::tempdir().unwrap();
        let home = scratch.path();
        for folder in [".openclaw", ".clawdbot/state", "mine", "other"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join(".moldbot"), "a file").unwrap();
        std::os::unix::fs::symlink(home.join(".openclaw"), home.join(".moltbot")).unwrap();

        let check = |flag: &str, openclaw: &str, clawdbot: &str, expected: &[&str]| {
            let given =
                |text: &str| (text != "-").then(|| PathBuf::from(text.replace('@', &home.to_string_lossy())));
            let folders = StateFolders {
                flag: given(flag),
                env_openclaw: given(openclaw),
                env_clawdbot: given(clawdbot),
                profile: None,
                home: Some(home.to_owned()),
            };
            let expected: Vec<_> = expected.iter().map(|name| home.join(name)).collect();
            assert_eq!(folders.find(), expected, "{flag} {openclaw} {clawdbot}");
        };
        let usual = [".openclaw", ".clawdbot", ".clawdbot/state"];
        check("-", "-", "-", &usual);
        check("@/mine", "@/other", "-", &["mine", "other", ".openclaw", ".clawdbot", ".clawdbot/state"]);
        check("-", "~/mine", "@/mine/../mine", &["mine", ".openclaw", ".clawdbot", ".clawdbot/state"]);
        check("@/absent", "", "@/.clawdbot", &[".clawdbot", ".clawdbot/state", ".openclaw"]);
        assert_eq!(StateFolders::default().find(), Vec::<PathBuf>::new());
    }
}
