//! What `doctor` says about Backstory's plugin for Claude Code.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use transcript::{ConfigFolder, InstalledPlugin, RegisteredServer};
use workers::{Program, Release};

use super::{Finding, PluginReport, Severity, Steps, advice_to, problem};
use crate::Context;
use crate::live::hooks;

/// The name of the plugin, and of the program it starts.
const NAME: &str = "backstory";

/// The command that installs it, as docs/plugin.md has it.
const INSTALLING: &str = "claude plugin install backstory --marketplace backstory-sessions/backstory";

/// The plugin, where it is installed.
pub(super) fn installed(context: &Context) -> Option<InstalledPlugin> {
    let folder = context.config().claude_folders.first()?;
    InstalledPlugin::find(&ConfigFolder::new(folder), NAME).into_iter().next()
}

/// The plugin as the report shows it.
pub(super) fn report(plugin: &InstalledPlugin) -> PluginReport {
    PluginReport { id: plugin.id.clone(), version: plugin.version.clone(), is_enabled: plugin.is_enabled }
}

/// What keeps the plugin from working, and what gets in its way; nothing where it is not installed.
pub(super) fn about(
    context: &Context,
    plugin: Option<&InstalledPlugin>,
    claude: Option<Release>,
) -> Vec<Finding<Steps>> {
    let Some(plugin) = plugin else { return Vec::new() };
    if !plugin.is_enabled {
        let what = format!("Claude Code's plugin {} is installed but disabled", plugin.id);
        return vec![advice(what, advice_to(&format!("switch it on: claude plugin enable {}", plugin.id)))];
    }
    let findings = [
        missing(plugin),
        unreachable(context),
        without_mod(claude),
        of_another_version(plugin),
        twice(context),
    ];
    findings.into_iter().flatten().chain(other_servers(context)).collect()
}

/// Claude Code starts one of two servers that run the same program, and the tools of the person's own have other names.
fn other_servers(context: &Context) -> Vec<Finding<Steps>> {
    let config = context.config();
    let file = config.claude_config_dir.as_ref().unwrap_or(&config.home).join(".claude.json");
    let own = RegisteredServer::find(&file).into_iter().map(move |server| (file.clone(), server));
    // One that a repository brings along holds for everybody who works there.
    let root = catalog::repository(&config.places(), &context.directory);
    let shared = root.join(".mcp.json");
    let of_project = RegisteredServer::find(&shared).into_iter();
    let of_project = of_project.map(move |server| (shared.clone(), server)).filter(|_| !is_plugin(&root));
    let found = own.map(|(file, server)| (file, server, false));
    let found = found.chain(of_project.map(|(file, server)| (file, server, true)));
    let found = found.filter(|(_, server, _)| {
        let program = Path::new(&server.command).file_name();
        let has = |word: &str| server.arguments.iter().any(|argument| argument == word);
        program == Some(OsStr::new(NAME)) && has("mcp") && !has("--worker")
    });
    let finding = |(file, server, is_shared): (PathBuf, RegisteredServer, bool)| {
        let name = workers::quoted(&server.name).unwrap_or_else(|| "<name>".to_owned());
        let what = format!(
            "the MCP server `{name}` is registered beside the plugin's: its tools are named mcp__{name}__…, which the \
             plugin's commands and hooks do not know"
        );
        let remove = match server.directory.as_ref().map(workers::quoted) {
            None if is_shared => {
                format!(
                    "leave the plugin's alone: claude mcp remove --scope project {name}, for everybody who works here"
                )
            }
            None => format!("leave the plugin's alone: claude mcp remove --scope user {name}"),
            Some(Some(directory)) => {
                format!("leave the plugin's alone: cd {directory} && claude mcp remove --scope local {name}")
            }
            Some(None) => {
                format!("leave the plugin's alone: claude mcp remove --scope local {name}, in its directory")
            }
        };
        Finding { path: Some(file), ..advice(what, advice_to(&remove)) }
    };
    found.map(finding).collect()
}

/// Whether a folder is a plugin's own, whose `.mcp.json` is what the plugin registers.
fn is_plugin(folder: &Path) -> bool {
    folder.join(".claude-plugin/plugin.json").is_file()
}

/// It is enabled, and its folder is gone.
fn missing(plugin: &InstalledPlugin) -> Option<Finding<Steps>> {
    let path = plugin.folder.clone();
    if path.as_deref().is_some_and(Path::is_dir) {
        return None;
    }
    let what = format!("Claude Code's plugin {} is enabled, but its files are missing", plugin.id);
    let mut next = advice_to(&format!("install it again: claude plugin install {}", plugin.id));
    let marketplace = plugin.id.split_once('@').map_or(NAME, |(_, marketplace)| marketplace);
    next.extend(advice_to(&format!(
        "where its marketplace is gone, too: claude plugin marketplace remove {marketplace}; then {INSTALLING}"
    )));
    Some(problem(what, path, next))
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
