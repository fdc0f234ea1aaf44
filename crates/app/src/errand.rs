//! What `doctor --schedule` prints: how qmd comes to know the sessions, and who exports them again and again.

use std::path::Path;

use qmd::{Errand, Texts, collection_add};
use serde::Serialize;
use workers::quoted;

use crate::App;

/// Where the documents lie where a person names no folder.
const FOLDER: &str = "claude-sessions-md";
/// What decides where sessions and settings lie; an errand runs without the person's shell.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Lines and files that can be pasted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schedule {
    /// qmd's program; absent where it is not installed.
    pub qmd: Option<String>,
    /// The line that fills the folder for the first time.
    pub export: String,
    /// The line that makes qmd know it.
    pub collection_add: String,
    /// The errand, as each of three programs takes it.
    #[serde(flatten)]
    pub errand: Texts,
}

/// How the documents in `folder`, or in the usual one, are made and kept fresh by `program`.
pub fn schedule(app: &App, program: &Path, folder: Option<&Path>) -> Schedule {
    let folder = folder.map_or_else(|| app.config.home.join(FOLDER), Path::to_owned);
    // An errand runs elsewhere than where it was asked for.
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let folder = folder.display().to_string();
    let program = program.display().to_string();
    let words = [&program, "export", "--markdown", &folder, "--index"].map(str::to_owned).to_vec();
    let mut environment = vec![("PATH".to_owned(), app.config.search_path.clone())];
    let named = app.config.claude_config_dir.as_ref().map(|folder| folder.display().to_string());
    environment.extend(named.map(|folder| (CONFIG_DIR.to_owned(), folder)));
    let is_usual = app.config.state == app.config.home.join(".local/share/backstory");
    if !is_usual {
        environment.push(("BACKSTORY_HOME".to_owned(), app.config.state.display().to_string()));
    }
    let name = &app.config.settings.fork.collection;
    Schedule {
        qmd: crate::intent::installed(app).map(|qmd| qmd.program.display().to_string()),
        export: format!("backstory export --markdown {}", quoted(&folder)),
        collection_add: collection_add(&folder, name, |word| quoted(word)),
        errand: Errand { words, environment }.texts(|word| quoted(word)),
    }
}
