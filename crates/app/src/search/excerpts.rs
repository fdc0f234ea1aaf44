//! The model that embeds excerpts of sessions, and embedding those that have none yet, which goes on behind answers.

use std::path::Path;
use std::process::{Command, Stdio};

use embedding::SentenceModel;
use rustix::process::nice;
use schemars::JsonSchema;
use search::{BUILT_IN, ExcerptReport, Searcher};
use serde::Serialize;

use crate::search::index;
use crate::{Context, Error, Kind, Progress};

/// What the setting says where excerpts are not to be used.
const OFF: &str = "off";
/// The lowest priority.
const LOWEST: i32 = 19;
/// How long after a pass what is new waits for the next one, in seconds.
const PAUSE: i64 = 300;

/// How many sessions have excerpts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ExcerptsAnswer")]
pub struct Answer {
    /// How many sessions have excerpts of the model.
    pub embedded: u64,
    /// How many could have.
    pub total: u64,
    /// How many were embedded now.
    pub added: u64,
    /// Whether another process is embedding.
    pub busy: bool,
}

/// The model that embeds excerpts; `None` where there is none.
fn model(context: &Context) -> Option<Result<SentenceModel, embedding::Error>> {
    match context.config().settings.embedding.excerpts.trim() {
        "" | OFF => None,
        BUILT_IN => SentenceModel::built_in(),
        folder => Some(SentenceModel::open(&folder_of(context, folder))),
    }
}

fn folder_of(context: &Context, typed: &str) -> std::path::PathBuf {
    match typed.strip_prefix("~/") {
        Some(inside) => context.config().home.join(inside),
        None => context.path(typed),
    }
}

/// The model for a question. Where it cannot be opened, excerpts are left out, and `doctor` says why.
pub(crate) fn for_question(context: &Context) -> Option<SentenceModel> {
    model(context)?.ok()
}

/// What embeds excerpts, in words; an error where it cannot.
pub(crate) fn description(context: &Context) -> Result<String, String> {
    let named = |name: &str| match model(context) {
        Some(Err(error)) => Err(format!("{name}: {error}")),
        Some(Ok(_)) => Ok(name.to_owned()),
        None => Err("this program was built without the weights of its model (scripts/model)".to_owned()),
    };
    match context.config().settings.embedding.excerpts.trim() {
        "" | OFF => Err("off (embedding.excerpts)".to_owned()),
        BUILT_IN => named("all-MiniLM-L6-v2"),
        folder => named(folder),
    }
}

/// Embeds the excerpts of sessions that have none yet, at the lowest priority.
pub fn embed_excerpts(context: &Context) -> Result<Answer, Error> {
    context.require_person("embedding excerpts of every session")?;
    let no_model = |why: String| Error::new(Kind::Unavailable, format!("excerpts cannot be embedded: {why}"));
    let Some(Ok(model)) = model(context) else {
        return Err(no_model(description(context).err().unwrap_or_default()));
    };
    // Whatever else the machine has to do comes first; where that cannot be asked for it is embedded all the same.
    let _ = nice(LOWEST);
    let mut keep_going = |report: &ExcerptReport| {
        context.report(Progress::from(report));
        !context.cancellation.is_hurried()
    };
    let now = context.now.as_second();
    let report = search::embed_excerpts(&index::folder(context), &model, now, &mut keep_going);
    context.check_cancelled()?;
    let ExcerptReport { done, of, added, busy } = report.map_err(|error| index::failed(&error))?;
    Ok(Answer { embedded: done, total: of, added, busy })
}

/// The same after the index was brought up to date.
pub fn continue_behind_index(context: &Context) -> Result<(), Error> {
    if let Some(searcher) = index::open(context)? {
        continue_behind(context, &searcher);
    }
    Ok(())
}

/// Embeds excerpts in a process of its own, if there may be any to embed.
pub(crate) fn continue_behind(context: &Context, searcher: &Searcher) {
    let is_built_in = context.config().settings.embedding.excerpts.trim() == BUILT_IN;
    let has_model = if is_built_in { SentenceModel::is_built_in() } else { model(context).is_some() };
    if has_model && !context.config().is_demo && searcher.are_excerpts_due(context.now.as_second(), PAUSE) {
        // The answer is there; the next one tries again.
        let _ = start(context.program(), context);
    }
}

fn start(program: &Path, context: &Context) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt as _;
    let mut process = Command::new(program);
    process.args(["index", "--excerpts"]).current_dir(&context.config().home);
    process.envs(&context.config().for_workers).process_group(0);
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn()?;
    // Reaped, so that a long-running process leaves no zombies.
    std::thread::spawn(move || child.wait());
    Ok(())
}
