//! One file for each command: its arguments, its help, and what it prints.

pub(crate) mod annotate;
pub(crate) mod answer;
pub(crate) mod archive;
pub(crate) mod attach;
pub(crate) mod before;
pub(crate) mod blame;
pub(crate) mod cc;
pub(crate) mod choose;
pub(crate) mod completions;
pub(crate) mod cost;
pub(crate) mod cron;
pub(crate) mod day;
pub(crate) mod diff;
pub(crate) mod doctor;
mod doctor_report;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod fork;
mod grep;
pub(crate) mod handoff;
pub(crate) mod heal;
pub(crate) mod hook;
pub(crate) mod hooks;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod pick;
pub(crate) mod prompts;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod search;
pub(crate) mod send;
pub(crate) mod serve;
mod session_cost;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod stop;
pub(crate) mod store;
pub(crate) mod watch;
pub(crate) mod welcome;
mod which_worker;
pub(crate) mod worker;
pub(crate) mod workers;

use app::{Context, Moment};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::exit::Failure;
use crate::output::{Output, Pager};

/// Parses a limit, which must be at least 1.
fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().map_err(|error| error.to_string())?;
    if number == 0 { Err("must be at least 1".to_owned()) } else { Ok(number) }
}

/// The values of `--mode`.
const MODES: [&str; 3] = ["hybrid", "lexical", "semantic"];

/// Parses one of a few words into the value that requests hold for it.
fn words<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(word)
}

/// The value that requests hold for a word.
fn word<T: DeserializeOwned>(word: String) -> Result<T, serde::de::value::Error> {
    T::deserialize(IntoDeserializer::into_deserializer(word))
}

/// The time that words name: `last week` needs no quotes; `None` where there are none.
fn moment(words: &[String]) -> Option<Moment> {
    (!words.is_empty()).then(|| Moment::from(words.join(" ").as_str()))
}

/// Parses a project's name. Claude Code's folder names begin with a dash, as flags do; what begins with two dashes is
/// taken for a flag.
fn project(text: &str) -> Result<String, String> {
    if text.starts_with("--") {
        return Err("this looks like a flag, not a project; use the project's path instead".to_owned());
    }
    Ok(text.to_owned())
}

/// Standard output through the pager from the settings or the environment.
fn paged(context: &Context) -> Output {
    let pager = match context.config().settings.terminal.pager.as_str() {
        // Pagers warn of such a terminal, and wait for a key.
        "auto" if context.config().is_terminal_dumb => None,
        "auto" => context.config().pager.clone().or_else(|| Some("less -R".to_owned())),
        pager => Some(pager.to_owned()),
    };
    // Without it `less` shows the codes of colours as text.
    let pager = pager.map(|pager| if pager.trim() == "less" { "less -R".to_owned() } else { pager });
    let command = pager.filter(|pager| !pager.trim().is_empty());
    let less_options = context.config().less_options.clone();
    Output::paged(command.map(|command| Pager { command, less_options }))
}

/// What to say where there are no sessions at all; none where there are some.
fn without_sessions(context: &Context) -> Result<Option<String>, Failure> {
    let request = app::sessions::list::Request { limit: Some(1), ..Default::default() };
    let listed = app::sessions::list::list(context, &request)?;
    Ok((listed.known == 0).then(|| crate::remarks::no_sessions(context)))
}

/// Says that lines of transcripts are missing in an answer.
fn too_long(lines: u64) -> String {
    let was = if lines == 1 { "was" } else { "were" };
    format!("{} {was} too long to be read", crate::text::counted(lines, "line"))
}

/// Prints an answer as JSON, without a pager and without terminal control characters.
fn json(answer: &impl serde::Serialize) -> Result<(), Failure> {
    use std::io::Write as _;
    let mut out = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    crate::json::write_json(&mut out, answer)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
