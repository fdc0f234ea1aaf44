//! `hooks`: Backstory's entries in Claude Code's settings, and recording the events of its hooks.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use monitor::hooks;
use monitor::install::{self, InvalidSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::quoted_for_sh;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Context, Error, Kind};

/// The largest settings file that is changed, in bytes.
const CAP: u64 = 4 << 20;
/// How many links one after the other are followed to a file that is not there.
const LINKS: usize = 8;

/// Whose settings are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The person's: every session.
    User,
    /// A project's: those that are started in this directory.
    Project(PathBuf),
}

/// A planned change to a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The path of Claude Code's settings file.
    pub file: PathBuf,
    /// What it holds; `None` if it does not exist.
    pub before: Option<String>,
    /// What it will hold; `None` if it will be removed.
    pub after: Option<String>,
    backup: PathBuf,
}

/// Whose settings are looked at: the person's, and those of a project.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HooksRequest")]
pub struct Request {
    /// Also the settings of the project in this directory.
    pub project: Option<PathBuf>,
}

/// Which hooks are installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "HooksAnswer")]
pub struct Answer {
    /// The person's settings first, then the project's.
    pub settings: Vec<Status>,
}

/// Which hooks are installed in one settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "HooksInSettings")]
pub struct Status {
    /// The path of Claude Code's settings file.
    #[serde(serialize_with = "model::path")]
    pub file: PathBuf,
    /// The events for which our hook is installed.
    pub installed: Vec<&'static str>,
    /// Those for which it is missing, where any is there.
    pub missing: Vec<&'static str>,
    /// When a hook last reported something.
    #[serde(serialize_with = "model::optional_time")]
    pub last_heard: Option<Timestamp>,
}

/// The folder that hooks write to.
pub(crate) fn folder(context: &Context) -> PathBuf {
    context.config().state.join("hooks")
}

/// Records the payload of a hook in `folder`; errors are ignored, so that Claude Code is never disturbed.
pub fn note(folder: &Path, payload: impl Read, now: Timestamp) {
    let kept = |detail: &str| redact::redact_beginning(detail).into_owned();
    let _ = hooks::record(folder, payload, now, kept);
}

/// The change that installs our hooks.
pub fn install(context: &Context, scope: &Scope) -> Result<Plan, Error> {
    context.require_person("changing Claude Code's settings")?;
    let folder = folder(context);
    let command = install::command(&for_sh(context.program())?, &for_sh(&folder)?);
    plan(context, scope, "settings", |text, _| Ok(Some(install::with_hooks(text, &command)?)))
}

/// A path quoted for `sh`, which runs hooks.
pub(super) fn for_sh(path: &Path) -> Result<String, Error> {
    quoted_for_sh(path).ok_or_else(|| {
        let message = format!("{} is not UTF-8, so it cannot be written to a settings file", path.display());
        Error::new(Kind::Unavailable, message).hint("move it to another path, then try again")
    })
}

/// The change that removes our hooks; restores the original file if nothing else has changed since.
pub fn uninstall(context: &Context, scope: &Scope) -> Result<Plan, Error> {
    context.require_person("changing Claude Code's settings")?;
    plan(context, scope, "settings", |text, backup| {
        if let Some(kept) = backup.filter(|kept| kept.installed == text) {
            return Ok(kept.original);
        }
        Ok(Some(install::without_hooks(text)?))
    })
}

/// Which hooks are installed in the person's settings, and in a project's.
pub fn status(context: &Context, request: &Request) -> Result<Answer, Error> {
    context.require_person("the person's hooks")?;
    let heard = fs::metadata(hooks::events_file(&folder(context))).and_then(|file| file.modified()).ok();
    let last_heard = heard.and_then(|at| Timestamp::try_from(at).ok());
    let status = |scope: &Scope| {
        let file = settings_file(context, scope);
        let installed = install::installed(&read(&file).ok().flatten().unwrap_or_default());
        let is_missing = |event: &&str| !installed.is_empty() && !installed.contains(event);
        let missing = hooks::EVENTS.into_iter().filter(is_missing).collect();
        Status { file, installed, missing, last_heard }
    };
    let project = request.project.clone().map(Scope::Project);
    Ok(Answer { settings: [Some(Scope::User), project].iter().flatten().map(status).collect() })
}

impl Plan {
    /// A change to a settings file that has been worked out: `change` is given its text, and what was kept of it under
    /// this name before an earlier change.
    pub(crate) fn new(
        context: &Context,
        file: PathBuf,
        name: &str,
        change: impl FnOnce(&str, Option<Backup>) -> Result<Option<String>, InvalidSettings>,
    ) -> Result<Self, Error> {
        // Settings are often a link to a file elsewhere: the link is kept.
        let file = physical(file);
        let before = read(&file)?;
        let name = format!("{name}-{:016x}.json", xxh3_64(file.as_os_str().as_encoded_bytes()));
        let backup = context.config().state.join("backups").join(name);
        let text = before.clone().unwrap_or_default();
        let after = change(&text, Backup::read(&backup)).map_err(|unfit| refused(&file, unfit))?;
        // There is nothing to remove from a missing file.
        let after = after.filter(|after| before.is_some() || !after.trim().is_empty());
        Ok(Self { file, before, after, backup })
    }

    /// Whether there is anything to do.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Makes the change, unless the file is not as it was when the plan was made.
    pub fn apply(&self, keep: bool) -> Result<(), Error> {
        if read(&self.file)? != self.before {
            let message = format!("{} was changed in the meantime", self.file.display());
            return Err(Error::new(Kind::Unavailable, message).hint("run the command again"));
        }
        // Renaming would replace a read-only file all the same; its owner did not want that.
        if fs::metadata(&self.file).is_ok_and(|file| file.permissions().readonly()) {
            let message = format!("{} is read-only", self.file.display());
            return Err(Error::new(Kind::Unavailable, message)
                .hint("make it writable, or add the lines shown to the file it is generated from"));
        }
        let failed = |error: &io::Error| {
            Error::caused(Kind::Unavailable, format!("cannot change {}", self.file.display()), error)
        };
        match &self.after {
            Some(after) => {
                if keep {
                    let kept = Backup { original: self.before.clone(), installed: after.clone() };
                    kept.write(&self.backup).map_err(|error| failed(&error))?;
                }
                let folder = self.file.parent().unwrap_or(&self.file);
                let replaced = fs::create_dir_all(folder)
                    .and_then(|()| system::replace_file(&self.file, after.as_bytes()));
                replaced.map_err(|error| failed(&error))
            }
            None => fs::remove_file(&self.file).map_err(|error| failed(&error)),
        }
    }

    /// Where the file's content is kept as it was before.
    pub fn backup(&self) -> &Path {
        &self.backup
    }
}

/// The settings before and after our hooks were installed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Backup {
    /// The text before; `None` where there was no file.
    pub(super) original: Option<String>,
    /// The text after.
    pub(super) installed: String,
}

impl Backup {
    fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&system::read_small(path, 3 * CAP).ok()?).ok()
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        // An older backup, made before any of our hooks, has the original text.
        let original = match Self::read(path) {
            Some(older) if Some(&older.installed) == self.original.as_ref() => older.original,
            _ => self.original.clone(),
        };
        system::create_private_folder(path.parent().unwrap_or(path))?;
        let text = serde_json::to_string_pretty(&Self { original, installed: self.installed.clone() })?;
        system::replace_private_file(path, text.as_bytes())
    }
}

/// The change to a settings file; what was there before is kept under `name`.
pub(super) fn plan(
    context: &Context,
    scope: &Scope,
    name: &str,
    change: impl FnOnce(&str, Option<Backup>) -> Result<Option<String>, InvalidSettings>,
) -> Result<Plan, Error> {
    Plan::new(context, settings_file(context, scope), name, change)
}

fn settings_file(context: &Context, scope: &Scope) -> PathBuf {
    let file = match scope {
        Scope::User => {
            let folder = context.config().claude_folders.first();
            folder.cloned().unwrap_or_else(|| context.config().home.join(".claude")).join("settings.json")
        }
        Scope::Project(directory) => context.path(directory).join(".claude/settings.json"),
    };
    // Settings are often a link to a file elsewhere: the link is kept.
    physical(file)
}

/// A file's physical path, the same before it is there and afterwards.
fn physical(mut file: PathBuf) -> PathBuf {
    // A link to what is not there yet.
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&file) else { break };
        file = file.parent().unwrap_or(Path::new("")).join(target);
    }
    for above in file.ancestors() {
        if let (Ok(place), Ok(rest)) = (fs::canonicalize(above), file.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { place } else { place.join(rest) };
        }
    }
    file
}

fn read(file: &Path) -> Result<Option<String>, Error> {
    let failed = |error: &dyn std::error::Error| {
        Error::caused(Kind::Unavailable, format!("cannot read {}", file.display()), error)
    };
    match system::read_small(file, CAP) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|error| failed(&error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

fn refused(file: &Path, unfit: InvalidSettings) -> Error {
    let what = match unfit {
        InvalidSettings::NotAnObject => "is not JSON that Claude Code can read",
        InvalidSettings::UnexpectedHooks => "has `hooks` in a form that Claude Code does not read",
    };
    let message = format!("{} {what}", file.display());
    Error::new(Kind::Unavailable, message).hint("fix it first; `claude doctor` says what is wrong with it")
}
