//! `store`: the sessions of OpenClaw's agents, as OpenClaw itself keeps them.

use std::io::Write as _;

use app::store::{
    self, KeyRequest, PruneAnswer, PruneRequest, ResetRequest, SessionRow, SetRequest, StorePlace,
    StoreRequest,
};
use app::{Context, Error, Kind};
use model::AgentId;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::output::Output;
use crate::table::{Align, Cell, Column, table};
use crate::text::{counted, safe};

/// Show and change the sessions that OpenClaw's agents keep.
///
/// A session goes by its key, such as `agent:main:main`. Where OpenClaw keeps its sessions in SQLite (since 2026.8), `list`,
/// `show`, `get`, `policy`, `lock` and `check` work, and only OpenClaw's own commands change them.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List an agent's sessions, as `openclaw sessions` does.
    List(List),
    /// Show a session's entry; `backstory show openclaw:AGENT/ID` shows its messages.
    Show(Named),
    /// Print a session's entry as JSON, or one field of it.
    Get(Get),
    /// Set fields of a session: `field=value`; the value is JSON, or text if it is not valid JSON.
    Set(Set),
    /// Give a session a new conversation; the transcript is archived.
    Reset(Reset),
    /// Remove a session; the transcript is archived.
    Delete(End),
    /// Remove old sessions, as OpenClaw's configuration says.
    Prune(Prune),
    /// Show whether messages may be sent to a session, and which rule decides.
    Policy(Named),
    /// Show who holds the lock on an agent's store.
    Lock(Agent),
    /// Check an agent's store for problems.
    Check(Agent),
}

#[derive(Debug, clap::Args)]
struct Agent {
    /// The agent; without it, OpenClaw's default agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct List {
    #[command(flatten)]
    of: Agent,
    /// The sessions of all agents.
    #[arg(long, conflicts_with = "agent")]
    all_agents: bool,
    /// Only sessions active within this many minutes.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..))]
    active: Option<u64>,
}

#[derive(Debug, clap::Args)]
struct Named {
    /// The session's key.
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    of: Agent,
}

#[derive(Debug, clap::Args)]
struct Get {
    #[command(flatten)]
    session: Named,
    /// Only this field.
    #[arg(value_name = "FIELD")]
    field: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Set {
    /// The session's key.
    #[arg(value_name = "KEY")]
    key: String,
    /// The fields; `null` removes one.
    #[arg(value_name = "FIELD=VALUE", required = true)]
    fields: Vec<String>,
    /// Create the session if it does not exist.
    #[arg(long)]
    create: bool,
    #[command(flatten)]
    of: Agent,
}

#[derive(Debug, clap::Args)]
struct End {
    #[command(flatten)]
    session: Named,
    /// Delete the transcript instead of archiving it.
    #[arg(long)]
    delete_transcript: bool,
    /// Only show what would be done.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct Reset {
    #[command(flatten)]
    end: End,
    /// Also drop the session's settings and what is known of its chat.
    #[arg(long)]
    drop_metadata: bool,
}

#[derive(Debug, clap::Args)]
struct Prune {
    #[command(flatten)]
    of: Agent,
    /// Remove them even if the configuration's mode is `warn`.
    #[arg(long, conflicts_with = "dry_run")]
    enforce: bool,
    /// Only show what would be done.
    #[arg(long)]
    dry_run: bool,
}

impl Named {
    fn request(&self) -> KeyRequest {
        KeyRequest { key: self.key.clone(), agent: self.of.agent.clone() }
    }
}

impl Agent {
    fn request(&self) -> StoreRequest {
        StoreRequest { agent: self.agent.clone(), ..StoreRequest::default() }
    }
}

impl End {
    fn request(&self, drop_metadata: bool) -> ResetRequest {
        ResetRequest {
            key: self.session.key.clone(),
            agent: self.session.of.agent.clone(),
            drop_metadata,
            delete_transcript: self.delete_transcript,
            dry_run: self.dry_run,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(args) => list(context, args),
        Command::Show(args) => show(context, args),
        Command::Get(args) => get(context, args),
        Command::Set(args) => set(context, args),
        Command::Reset(args) => {
            let ended = store::reset(context, &args.end.request(args.drop_metadata))?;
            ended_session(&ended, args.end.session.of.json, "reset")
        }
        Command::Delete(args) => {
            ended_session(&store::delete(context, &args.request(false))?, args.session.of.json, "removed")
        }
        Command::Prune(args) => prune(context, args),
        Command::Policy(args) => policy(context, args),
        Command::Lock(args) => lock(context, args),
        Command::Check(args) => check(context, args),
    }
}

fn list(context: &Context, args: &List) -> Result<(), Failure> {
    let request =
        StoreRequest { active_minutes: args.active, all_agents: args.all_agents, ..args.of.request() };
    let answer = store::list(context, &request)?;
    if args.of.json {
        return super::json(&answer);
    }
    let mut out = super::paged(context);
    let column = |head, align| Column { head, align, max_width: 60 };
    let columns = [
        column("KIND", Align::Left),
        column("KEY", Align::TruncateLast),
        column("AGE", Align::Right),
        column("MODEL", Align::TruncateEnd),
        column("TOKENS", Align::Right),
        column("ID", Align::Left),
    ];
    let row = |row: &SessionRow| {
        vec![
            Cell::new(row.kind),
            Cell::new(&row.key),
            Cell::new(&age(row.age_ms)),
            Cell::new(row.model.as_deref().unwrap_or("-")),
            Cell::new(&row.total_tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string())),
            Cell::new(row.session_id.as_deref().map_or("-", |id| id.get(..8).unwrap_or(id))),
        ]
    };
    if answer.sessions.is_empty() {
        writeln!(out, "No sessions.")?;
    } else {
        let width = out.width();
        let rows: Vec<_> = answer.sessions.iter().map(row).collect();
        table(&mut out, width, &columns, &rows)?;
    }
    for place in &answer.places {
        writeln!(out, "{}", place_line(place))?;
    }
    for note in &answer.notes {
        writeln!(out, "{}", safe(note))?;
    }
    Ok(out.finish()?)
}

/// Which installation and agent were shown or changed.
pub(super) fn place_line(place: &StorePlace) -> String {
    format!("In {}, agent {}.", safe(&place.installation.display().to_string()), place.agent)
}

fn set(context: &Context, args: &Set) -> Result<(), Failure> {
    let fields = args.fields.iter().map(|text| field(text)).collect::<Result<Map<_, _>, _>>()?;
    let names: Vec<String> = fields.keys().cloned().collect();
    let request =
        SetRequest { key: args.key.clone(), agent: args.of.agent.clone(), fields, create: args.create };
    let answer = store::set(context, &request)?;
    if args.of.json {
        return super::json(&answer.entry);
    }
    let mut out = Output::plain();
    writeln!(out, "{}: set {}.", safe(&answer.key), safe(&names.join(", ")))?;
    writeln!(out, "{}", place_line(&answer.place))?;
    Ok(out.finish()?)
}

fn age(millis: Option<i64>) -> String {
    let Some(minutes) = millis.map(|millis| millis / 60_000) else { return "-".to_owned() };
    match minutes {
        ..1 => "now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..2880 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

fn show(context: &Context, args: &Named) -> Result<(), Failure> {
    let answer = store::get(context, &args.request())?;
    if args.of.json {
        return super::json(&answer);
    }
    let mut out = Output::plain();
    writeln!(out, "{}", safe(&answer.key))?;
    for (name, value) in answer.entry.as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let short: String = text.chars().take(100).collect();
        writeln!(out, "  {}: {}", safe(name), safe(&short))?;
    }
    if let Some(claude) = &answer.claude_session {
        writeln!(out, "Claude session: {claude}")?;
    }
    if let Some(path) = &answer.transcript {
        writeln!(out, "transcript: {}", safe(&path.display().to_string()))?;
    }
    writeln!(out, "{}", place_line(&answer.place))?;
    Ok(out.finish()?)
}

fn get(context: &Context, args: &Get) -> Result<(), Failure> {
    let answer = store::get(context, &args.session.request())?;
    let Some(field) = &args.field else { return super::json(&answer.entry) };
    let none = || Error::new(Kind::NotFound, format!("the session has no field `{field}`"));
    let value = answer.entry.get(field).ok_or_else(none)?;
    match value.as_str().filter(|_| !args.session.of.json) {
        Some(text) => Ok(crate::output::print_line(&safe(text))?),
        None => super::json(value),
    }
}

/// `field=value`, the value in JSON or a text.
fn field(text: &str) -> Result<(String, Value), Error> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        return Err(Error::new(Kind::Usage, format!("`{text}` is not of the form field=value")));
    };
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    Ok((name.to_owned(), value))
}

fn ended_session(ended: &store::Ended, json: bool, word: &str) -> Result<(), Failure> {
    if json {
        return super::json(ended);
    }
    let mut out = Output::plain();
    if ended.is_done {
        writeln!(out, "{} is {word}.", safe(&ended.key))?;
    } else {
        writeln!(out, "{} would be {word}.", safe(&ended.key))?;
    }
    writeln!(out, "{}", place_line(&ended.place))?;
    if let Some(id) = &ended.new_session_id {
        writeln!(out, "new conversation: {}", safe(id))?;
    }
    if let Some(path) = &ended.archived {
        writeln!(out, "transcript: {}", safe(&path.display().to_string()))?;
    }
    for note in &ended.notes {
        writeln!(out, "{}", safe(note))?;
    }
    Ok(out.finish()?)
}

fn prune(context: &Context, args: &Prune) -> Result<(), Failure> {
    let enforce = if args.enforce { Some(true) } else { args.dry_run.then_some(false) };
    let answer = store::prune(context, &PruneRequest { agent: args.of.agent.clone(), enforce })?;
    if args.of.json {
        return super::json(&answer);
    }
    let PruneAnswer { place, report } = &answer;
    let mut out = Output::plain();
    let verb = if report.is_done { "removed" } else { "would be removed" };
    for key in &report.pruned {
        writeln!(out, "{} {verb}: too old", safe(key))?;
    }
    for key in &report.capped {
        writeln!(out, "{} {verb}: beyond the limit", safe(key))?;
    }
    if let Some(path) = &report.backup {
        writeln!(out, "the store is large and was kept as {}", safe(&path.display().to_string()))?;
    }
    if report.pruned.is_empty() && report.capped.is_empty() {
        writeln!(out, "Nothing is too old or too much.")?;
    } else if !report.is_done {
        writeln!(out, "Add --enforce to do it.")?;
    }
    writeln!(out, "{}", place_line(place))?;
    Ok(out.finish()?)
}

fn policy(context: &Context, args: &Named) -> Result<(), Failure> {
    let answer = store::policy(context, &args.request())?;
    if args.of.json {
        return super::json(&answer);
    }
    let word = |decision| if decision == store::SendDecision::Allow { "allow" } else { "deny" };
    let mut out = Output::plain();
    writeln!(out, "{}: {} ({})", word(answer.decision), safe(&answer.reason), answer.strategy)?;
    if let Some(other) = answer.other_strategy {
        let name = if answer.strategy == "deny-wins" { "first-match" } else { "deny-wins" };
        writeln!(out, "warning: with the strategy {name} it would be: {}", word(other))?;
    }
    writeln!(out, "{}", place_line(&answer.place))?;
    Ok(out.finish()?)
}

fn lock(context: &Context, args: &Agent) -> Result<(), Failure> {
    let answer = store::lock(context, &args.request())?;
    if args.json {
        return super::json(&answer);
    }
    let path = answer.store.display().to_string();
    let text = match (answer.is_locked, answer.pid) {
        (false, _) => format!("{path} is not locked."),
        (true, Some(pid)) => format!("{path} is locked by process {pid}."),
        (true, None) => format!("{path} is locked."),
    };
    let mut out = Output::plain();
    writeln!(out, "{}", safe(&text))?;
    if answer.is_stale {
        writeln!(out, "The lock is abandoned; the next process that needs it takes it over.")?;
    }
    Ok(out.finish()?)
}

fn check(context: &Context, args: &Agent) -> Result<(), Failure> {
    let answer = store::check(context, &args.request())?;
    if args.json {
        super::json(&answer)?;
    } else {
        let mut out = Output::plain();
        for check in &answer.problems {
            writeln!(out, "{}: {}", safe(&check.subject), safe(&check.problem))?;
        }
        if answer.problems.is_empty() {
            writeln!(
                out,
                "{} in {}, no problems found.",
                counted(answer.sessions, "session"),
                safe(&answer.path.display().to_string())
            )?;
        }
        out.finish()?;
    }
    if answer.problems.is_empty() { Ok(()) } else { Err(Failure::Unhealthy) }
}
