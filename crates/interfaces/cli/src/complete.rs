//! Completions that know the sessions: ids with titles, projects, branches, tags and workers.
//!
//! The shell's script (see `completion_script`) runs this program with a variable set and the words typed so far; clap finds the argument that is
//! completed, and the table below says what it holds.

use std::ffi::OsStr;

use app::sessions::annotate::tags;
use app::sessions::list::{Request, list};
use app::workers::list as workers;
use app::{Context, Error};
use clap::Command;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use model::{Session, SessionId};
use unicode_width::UnicodeWidthStr as _;

use crate::completion_script::{PROGRAM, VARIABLE};
use crate::demo::{Demo, SignalHandler};
use crate::text::{age, counted, fit, safe};
use crate::{dispatch, help};

/// The most sessions that are offered.
const SESSIONS: usize = 100;
/// The room of a description, in cells.
const DESCRIPTION: usize = 60;

/// Answers a shell that asks for completions, and ends the program then.
pub(crate) fn run_if_requested() {
    CompleteEnv::with_factory(command).var(VARIABLE).bin(PROGRAM).completer(PROGRAM).complete();
}

/// The command line, with what its arguments can hold.
fn command() -> Command {
    with_values(help::command())
}

/// What an argument holds.
type Values = fn(&Context, &str) -> Result<Vec<CompletionCandidate>, Error>;

/// The arguments that hold a session, by command; `words` may be one too.
const OF_SESSIONS: [(&str, &str); 18] = [
    ("resume", "words"),
    ("fork", "words"),
    ("show", "id"),
    ("diff", "id"),
    ("before", "session"),
    ("handoff", "session"),
    ("restore", "session"),
    ("heal", "session"),
    ("forget", "session"),
    ("name", "session"),
    ("tag", "session"),
    ("note", "session"),
    ("pin", "sessions"),
    ("hide", "sessions"),
    ("search", "session"),
    ("pick", "why_not"),
    ("run", "resume"),
    ("run", "fork"),
];

/// The values of an argument, where they are known.
fn values(command: &str, argument: &str) -> Option<Values> {
    if OF_SESSIONS.contains(&(command, argument)) {
        return Some(sessions);
    }
    match (command, argument) {
        ("hooks" | "statusline", _) => None,
        (_, "project" | "repo") => Some(projects),
        (_, "branch") => Some(branches),
        (_, "worker") | ("send", "to") => Some(running),
        ("tag", "tags" | "remove") | (_, "tag") => Some(known_tags),
        _ => None,
    }
}

fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| match values(&name, argument.get_id().as_str()) {
        Some(values) => argument.add(ArgValueCompleter::new(move |typed: &OsStr| offered(values, typed))),
        None => argument,
    });
    command.mut_subcommands(with_values)
}

/// What can be meant by what is typed so far; nothing where it cannot be known, because a shell shows no errors.
fn offered(values: Values, typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let demo = Demo::new(std::env::args_os().any(|word| word == "--demo"), SignalHandler::Nobody);
    let all = dispatch::silent_context(&demo).and_then(|context| values(&context, typed));
    let mut all = all.unwrap_or_default();
    all.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(typed));
    all
}

fn candidate(value: impl Into<std::ffi::OsString>, description: &str) -> CompletionCandidate {
    let description = fit(&safe(description), DESCRIPTION);
    CompletionCandidate::new(value).help((!description.is_empty()).then(|| description.into()))
}

fn known(context: &Context) -> Result<Vec<Session>, Error> {
    Ok(list(context, &Request::default())?.sessions)
}

/// Ids with titles, the newest sessions first.
fn sessions(context: &Context, typed: &str) -> Result<Vec<CompletionCandidate>, Error> {
    let mut sessions = known(context)?;
    sessions.retain(|session| session.id.begins_with(typed));
    sessions.sort_by_key(|session| std::cmp::Reverse(session.last_modified));
    let offered = |(place, session): (usize, &Session)| {
        let title = session.title.as_deref().unwrap_or("(no title)");
        let project = session.project.as_deref().unwrap_or("-");
        let age = age(context.now, session.last_modified);
        let value = completed(&session.id, typed).to_owned();
        let place_and_age = safe(&format!(" ({project}, {age})"));
        let title = fit(&safe(title), DESCRIPTION.saturating_sub(place_and_age.width()));
        candidate(value, &format!("{title}{place_and_age}")).display_order(Some(place))
    };
    Ok(sessions.iter().take(SESSIONS).enumerate().map(offered).collect())
}

/// The shortest form of an id that continues what is typed: an id with a date is also known without its year or date.
fn completed<'a>(id: &'a SessionId, typed: &str) -> &'a str {
    let whole = id.as_str();
    // The short id leaves out at most the year, and has the rest.
    let without_year = whole.find(id.short()).map_or(whole, |start| &whole[start..]);
    let forms = [id.short(), whole, without_year, id.without_date()];
    forms.into_iter().find(|form| form.starts_with(typed)).unwrap_or(whole)
}

fn projects(context: &Context, _: &str) -> Result<Vec<CompletionCandidate>, Error> {
    Ok(by_name(&known(context)?, |session| session.project.as_deref()))
}

fn branches(context: &Context, _: &str) -> Result<Vec<CompletionCandidate>, Error> {
    Ok(by_name(&known(context)?, |session| session.branch.as_deref()))
}

/// Each name once, with how many sessions have it.
fn by_name(sessions: &[Session], name: impl Fn(&Session) -> Option<&str>) -> Vec<CompletionCandidate> {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for name in sessions.iter().filter_map(name) {
        *counts.entry(name).or_default() += 1;
    }
    counts.into_iter().map(|(name, count)| candidate(name, &counted(count, "session"))).collect()
}

fn known_tags(context: &Context, _: &str) -> Result<Vec<CompletionCandidate>, Error> {
    let all = tags(context)?.tags.into_iter();
    Ok(all.map(|found| candidate(found.tag, &counted(found.sessions, "session"))).collect())
}

/// The workers that have not ended.
fn running(context: &Context, _: &str) -> Result<Vec<CompletionCandidate>, Error> {
    let request = workers::Request { active: true, ..workers::Request::default() };
    let all = workers::list(context, &request)?.workers.into_iter();
    Ok(all.map(|worker| candidate(worker.worker.to_string(), &worker.task)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_of_the_table_is_there() {
        let command = help::command();
        for (name, argument) in OF_SESSIONS {
            let found = command.find_subcommand(name).unwrap();
            assert!(found.get_arguments().any(|known| known.get_id() == argument), "{name} {argument}");
        }
    }

    #[test]
    fn an_id_with_a_date_is_completed_from_any_of_its_beginnings() {
        let check = |id: &str, typed: &str, expected: &str| {
            assert_eq!(completed(&id.parse().unwrap(), typed), expected, "{typed}");
        };
        let dated = "2026-01-06-488c5296-90df-4d30";
        check(dated, "", "01-06-488c5296");
        check(dated, "01-06-4", "01-06-488c5296");
        check(dated, "2026-01", dated);
        check(dated, "01-06-488c5296-", "01-06-488c5296-90df-4d30");
        check(dated, "488", "488c5296-90df-4d30");
        check("488c5296-90df-4d30", "488", "488c5296");
        check("488c5296-90df-4d30", "488c5296-", "488c5296-90df-4d30");
    }

    #[test]
    fn every_session_id_is_completed() {
        let is_id = |names: Option<&[clap::builder::Str]>| {
            names.unwrap_or_default().iter().any(|name| name.as_str().starts_with("ID"))
        };
        // OpenClaw's commands name its own agents' sessions.
        let ours = help::command();
        for command in ours.get_subcommands().filter(|command| command.get_name() != "cc") {
            for argument in command.get_arguments().filter(|argument| is_id(argument.get_value_names())) {
                let place = (command.get_name(), argument.get_id().as_str());
                assert!(values(place.0, place.1).is_some(), "{place:?}");
            }
        }
    }
}
