//! `doctor --schedule`: the commands that add the sessions to qmd, and a scheduled export.

use std::path::{Path, PathBuf};

use qmd::{ScheduleTexts, ScheduledExport, collection_add};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workers::quoted;

use crate::{Context, Error, Kind};

/// Where the documents lie where a person names no folder.
const FOLDER: &str = "claude-sessions-md";
/// What decides where sessions and settings lie; an errand runs without the person's shell.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// Which export to run, and how often.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "DoctorScheduleRequest")]
pub struct Request {
    /// The folder to export to; `claude-sessions-md` in the home folder without it.
    pub folder: Option<PathBuf>,
}

/// Lines and files that can be pasted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DoctorScheduleAnswer")]
pub struct Schedule {
    /// qmd's program; absent where it is not installed.
    pub qmd: Option<String>,
    /// The line that fills the folder for the first time.
    pub export: String,
    /// The line that makes qmd know it.
    pub collection_add: String,
    /// The errand, as each of three programs takes it.
    #[serde(flatten)]
    pub errand: ScheduleTexts,
}

/// How the documents in a folder are made and kept up to date.
pub fn schedule(context: &Context, request: &Request) -> Result<Schedule, Error> {
    context.require_person("the schedule of an export")?;
    let folder = request.folder.as_deref().map_or_else(|| context.config().home.join(FOLDER), Path::to_owned);
    // An errand runs elsewhere than where it was asked for.
    let folder = context.path(folder);
    let (folder, program) = (text(&folder)?, text(context.program())?);
    let first = [&program, "export", "--markdown", &folder].map(str::to_owned);
    let words: Vec<String> = first.iter().cloned().chain(["--index".to_owned()]).collect();
    let environment = scheduled_environment(context)?;
    let name = &context.config().settings.fork.collection;
    let texts = || {
        Some(Schedule {
            qmd: crate::search::intent::installed(context).map(|qmd| qmd.program.display().to_string()),
            export: first.iter().map(quoted).collect::<Option<Vec<_>>>()?.join(" "),
            collection_add: collection_add(&folder, name, |word| quoted(word))?,
            errand: ScheduledExport { words: words.clone(), environment: environment.clone() }
                .texts(|word| quoted(word))?,
        })
    };
    texts().ok_or_else(|| {
        let said = words.iter().chain(environment.iter().map(|(_, value)| value)).chain([name]);
        let word = said.into_iter().find(|word| quoted(word).is_none()).cloned().unwrap_or_default();
        unprintable(&word)
    })
}

/// The variables that a program needs which is started without the person's shell.
pub(crate) fn scheduled_environment(context: &Context) -> Result<Vec<(String, String)>, Error> {
    let mut environment = vec![("PATH".to_owned(), context.config().search_path.clone())];
    if let Some(named) = &context.config().claude_config_dir {
        environment.push((CONFIG_DIR.to_owned(), text(named)?));
    }
    let is_usual = context.config().state == context.config().home.join(".local/share/backstory");
    if !is_usual {
        environment.push(("BACKSTORY_HOME".to_owned(), text(&context.config().state)?));
    }
    Ok(environment)
}

/// A path as a word that every program reads alike.
pub(crate) fn plain(path: &Path) -> Result<String, Error> {
    let word = text(path)?;
    if quoted(&word).is_none() { Err(unprintable(&word)) } else { Ok(word) }
}

fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| unprintable(&path.to_string_lossy()))
}

fn unprintable(word: &str) -> Error {
    let message = format!(
        "`{word}` has a control character, an invisible character or bytes that are not UTF-8, which cron, systemd and \
         shells read differently"
    );
    Error::new(Kind::Unavailable, message).hint("give it a plain name, then try again")
}
