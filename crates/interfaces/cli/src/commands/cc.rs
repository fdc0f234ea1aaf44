//! `cc`: the Claude sessions of OpenClaw's agents, in the grammar of `openclaw cc`.

use std::io::Write as _;

use app::store::cc::{self, CcRequest, CcSession};
use app::{Context, Moment};
use model::AgentId;
use serde_json::json;

use super::{attach, resume, stop};
use crate::exit::Failure;
use crate::output::Output;
use crate::text::{counted, safe};

/// Show and continue the Claude sessions of OpenClaw's agents.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List sessions.
    List(List),
    /// Show one session.
    Info(Info),
    /// Continue a session in this terminal, or watch its worker.
    Attach(Named),
    /// Stop the worker of a session.
    Kill(Named),
    /// Add up what sessions have cost.
    Costs(Costs),
}

#[derive(Debug, clap::Args)]
struct List {
    /// Only sessions of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Also sessions that people started.
    #[arg(long)]
    all: bool,
    /// Only sessions of this repository.
    #[arg(long, value_name = "PATH", allow_hyphen_values = true, value_parser = super::project)]
    repo: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Info {
    /// The session's id, or a prefix of it.
    #[arg(value_name = "ID")]
    id: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct Named {
    /// The session's id, or a prefix of it.
    #[arg(value_name = "ID")]
    id: String,
}

#[derive(Debug, clap::Args)]
struct Costs {
    /// Only sessions active since then: 2026-01-31, yesterday, 2d.
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only sessions of this agent.
    #[arg(long, value_name = "NAME")]
    agent: Option<AgentId>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(context: &Context, args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(args) => list(context, args),
        Command::Info(args) => {
            let session = cc::info(context, &args.id)?;
            if args.json {
                return super::json(&session);
            }
            let mut out = Output::plain();
            write_session(context, &mut out, &session)?;
            Ok(out.finish()?)
        }
        Command::Attach(args) => {
            let session = cc::info(context, &args.id)?;
            if app::workers::attach(context, &session.session_id).is_ok() {
                return attach::run(context, &attach::Args::of(session.session_id));
            }
            resume::run(context, &resume::Args::of(session.session_id))
        }
        Command::Kill(args) => stop::run(context, &stop::Args::of(cc::info(context, &args.id)?.session_id)),
        Command::Costs(args) => costs(context, args),
    }
}

fn list(context: &Context, args: &List) -> Result<(), Failure> {
    let request =
        CcRequest { agent: args.agent.clone(), all: args.all, repo: args.repo.clone(), since: None };
    let sessions = cc::sessions(context, &request)?;
    if args.json {
        return super::json(&json!({ "sessions": sessions }));
    }
    let mut out = super::paged(context);
    for session in &sessions {
        write_session(context, &mut out, session)?;
    }
    if sessions.is_empty() {
        writeln!(out, "No sessions.")?;
    }
    Ok(out.finish()?)
}

fn write_session(context: &Context, out: &mut Output, session: &CcSession) -> Result<(), Failure> {
    let id: String = session.session_id.chars().take(12).collect();
    let mut parts = vec![format!("{id}...")];
    parts.extend(session.branch.clone());
    if session.is_running
        && let Some(last) = parts.last_mut()
    {
        last.push_str(" [RUNNING]");
    }
    parts.extend(session.label.as_ref().map(|label| format!("[{label}]")));
    parts.push(format!("({})", session.origin));
    parts.extend(session.last_modified.map(|at| ago(context.now.duration_since(at).as_mins())));
    parts.push(format!("{} msgs", session.message_count));
    parts.push(cost(session.total_cost_usd));
    parts.extend(session.total_turns.map(|turns| format!("{turns}t")));
    parts.extend(session.agent_id.as_ref().map(|agent| format!("agent:{agent}")));
    let line = parts.join("  ");
    writeln!(out, "  {}", safe(&line))?;
    if let Some(first) = &session.first_message {
        let short: String = first.chars().take(70).collect();
        writeln!(out, "    {}", safe(&short))?;
    }
    Ok(())
}

fn ago(minutes: i64) -> String {
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes}m ago"),
        60..1440 => format!("{}h ago", minutes / 60),
        _ => format!("{}d ago", minutes / 1440),
    }
}

/// As `openclaw cc` writes money: small amounts with four decimals.
fn cost(dollars: f64) -> String {
    if dollars == 0.0 {
        "$0.00".to_owned()
    } else if dollars < 0.01 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

fn costs(context: &Context, args: &Costs) -> Result<(), Failure> {
    let request = CcRequest { agent: args.agent.clone(), all: false, repo: None, since: args.since.clone() };
    let costs = cc::costs(context, &request)?;
    if args.json {
        return super::json(&costs);
    }
    let mut out = Output::plain();
    let all = (cost(costs.total_cost), costs.total_turns, costs.total_sessions);
    writeln!(out, "{}  {}  {}", all.0, counted(all.1, "turn"), counted(all.2, "session"))?;
    for (names, shares) in [("By repository", &costs.by_repo), ("By agent", &costs.by_agent)] {
        if !shares.is_empty() {
            writeln!(out, "{names}:")?;
        }
        for (name, share) in shares {
            let (turns, sessions) = (counted(share.turns, "turn"), counted(share.sessions, "session"));
            let text = format!("  {}  {turns}  {sessions}  {name}", cost(share.cost));
            writeln!(out, "{}", safe(&text))?;
        }
    }
    Ok(out.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_written_as_openclaw_does() {
        assert_eq!(
            [0.0, 0.0042, 0.5, 12.345].map(cost),
            ["$0.00", "$0.0042", "$0.50", "$12.35"].map(str::to_owned)
        );
    }
}
