//! What `doctor` says about Backstory's plugin for Claude Code.

use std::ffi::OsStr;

use transcript::{ConfigFolder, InstalledPlugin};
use workers::{Program, Release};

use super::{Finding, Severity, Steps, advice_to, problem};
use crate::Context;
use crate::live::hooks;

/// The name of the plugin, and of the program it starts.
const NAME: &str = "backstory";

/// What keeps the plugin from working, and what reports twice beside it; nothing where it is not installed.
pub(super) fn about(context: &Context, claude: Option<Release>) -> Vec<Finding<Steps>> {
    let Some(folder) = context.config().claude_folders.first() else { return Vec::new() };
    let Some(plugin) = InstalledPlugin::find(&ConfigFolder::new(folder), NAME).into_iter().next() else {
        return Vec::new();
    };
    [missing(&plugin), unreachable(context), without_mod(claude), of_another_version(&plugin), twice(context)]
        .into_iter()
        .flatten()
        .collect()
}

/// It is switched on, and its folder is gone.
fn missing(plugin: &InstalledPlugin) -> Option<Finding<Steps>> {
    let path = plugin.folder.clone();
    if path.as_deref().is_some_and(std::path::Path::is_dir) {
        return None;
    }
    let what = format!("Claude Code's plugin {} is switched on, but is not there", plugin.id);
    let next = format!("install it again: claude plugin install {}", plugin.id);
    Some(problem(what, path, advice_to(&next)))
}

/// Its hooks and its server start the program by its name.
fn unreachable(context: &Context) -> Option<Finding<Steps>> {
    if Program::find(OsStr::new(NAME), OsStr::new(&context.config().search_path)).is_some() {
        return None;
    }
    let what = format!("the plugin starts `{NAME}`, which is not on your PATH");
    let next = "add its folder to PATH, or link it from a folder that is there";
    Some(problem(what, Some(context.program().to_owned()), advice_to(next)))
}

fn without_mod(claude: Option<Release>) -> Option<Finding<Steps>> {
    let claude = claude.filter(|release| !release.runs_mods())?;
    let what = format!("claude {claude} does not run the plugin's mod: there is no pane and no band");
    let next = format!("install {} or newer; the rest of the plugin works without", Release::MODS);
    Some(advice(what, advice_to(&next)))
}

fn of_another_version(plugin: &InstalledPlugin) -> Option<Finding<Steps>> {
    let own = env!("CARGO_PKG_VERSION");
    let version = plugin.version.as_deref().filter(|version| *version != own)?;
    let what = format!("the plugin is of version {version}, Backstory of {own}");
    Some(advice(what, advice_to(&format!("update it: claude plugin update {}", plugin.id))))
}

/// The plugin has the same hooks as `hooks install`.
fn twice(context: &Context) -> Option<Finding<Steps>> {
    let own = hooks::status(context, &hooks::Request::default()).ok()?.settings.into_iter().next()?;
    if own.installed.is_empty() {
        return None;
    }
    let what =
        "both the plugin and the hooks in the settings report what sessions do; the plugin's stay inactive"
            .to_owned();
    let next = "remove those in the settings, which start a process for each search in the plugin's pane: \
                backstory hooks uninstall";
    Some(Finding { path: Some(own.file), ..advice(what, advice_to(next)) })
}

fn advice(what: String, next_step: Steps) -> Finding<Steps> {
    Finding { severity: Severity::Advice, what, path: None, next_step }
}
