//! Words the next steps of errors as calls of tools; what no tool does is the person's to do.

use app::NextStep;
use serde_json::json;

/// A next step in one sentence, with the call for it.
pub(crate) fn as_tool_call(step: &NextStep) -> String {
    match step {
        NextStep::Advice { text } => text.clone(),
        NextStep::ListSessions => "list the sessions with their ids: session_list {}".to_owned(),
        NextStep::NameProject => "list the sessions with their projects: session_list {}; or give a path".to_owned(),
        NextStep::SearchWords { words } => format!("find it by its words: search {}", arguments("query", words)),
        NextStep::Search { words } => format!("look for it as a commit: search {}", arguments("query", words)),
        NextStep::ListBetween { since, until } => {
            format!("session_list {}", json!({"since": since, "until": until}))
        }
        NextStep::SearchBetween { words, since, until } => {
            format!("search {}", json!({"query": words, "since": since, "until": until}))
        }
        NextStep::ListBranch { branch } => format!("session_list {}", arguments("branch", branch)),
        NextStep::SearchBranch { words, branch } => {
            format!("search {}", json!({"query": words, "branch": branch}))
        }
        NextStep::ListWords { words, .. } => format!("search {}", arguments("query", words)),
        NextStep::ListCheapest { since, until } => sorted("cheapest", since.as_ref(), until.as_ref()),
        NextStep::ListNewest => sorted("newest", None, None),
        NextStep::Blame { file } => authors(file),
        NextStep::CostBySession { since, until } => sorted("cost", since.as_ref(), until.as_ref()),
        NextStep::Show { session } => {
            format!("read what was said: read_session {}", arguments("session", session.as_str()))
        }
        NextStep::RestorePart { session } => format!("the person can put a part back: backstory restore {session} --partial"),
        NextStep::Forget { session } => format!("if the person wanted it gone: backstory forget {session}"),
        NextStep::Restore { session } => format!("the person can put it back: backstory restore {session}"),
        NextStep::Heal { session } => format!("the person can move it to the new place: backstory heal {session}"),
        NextStep::ShowRecords { session } => {
            format!("see the `uuid` of each message: read_session {}", arguments("session", session.as_str()))
        }
        NextStep::ShowEverything => {
            "add \"tools\": true and \"thinking\": true: the message may be among what is left out".to_owned()
        }
        NextStep::Fork { session } | NextStep::RunInFork { session } | NextStep::RunOptions { session } => {
            forked(session.as_str())
        }
        NextStep::ForkElsewhere { session } => {
            format!(
                "work in a fork of it elsewhere: smart_fork with the same words and \"directory\": <a directory that exists>, or \
                 spawn_worker {{\"task\": …, {}, \"fork_session\": true, \"project_path\": <a repository>, \"new_worktree\": true}}",
                resume(session.as_str())
            )
        }
        NextStep::ForkRecent => {
            "choose one of `fallback_sessions`: spawn_worker {\"task\": …, \"resume_session_id\": …, \"fork_session\": true}"
                .to_owned()
        }
        NextStep::RunInSession { session } => {
            format!("continue it: spawn_worker {{\"task\": …, {}}}", resume(session.as_str()))
        }
        NextStep::RunFresh => "wait until it has ended, or start a new session: spawn_worker {\"task\": …}".to_owned(),
        NextStep::RunInWorkTree => {
            "run it in a separate work tree: spawn_worker {\"task\": …, \"new_worktree\": true}".to_owned()
        }
        NextStep::ListWorkers => "list the workers and their states: list_workers {}".to_owned(),
        NextStep::Attach { session } => {
            format!("see what it does and asks: worker_log {}", arguments("worker", session.as_str()))
        }
        NextStep::AttachJob { session } => format!("the person continues it there: backstory attach {session}"),
        NextStep::SendToSession { session } => format!(
            "send it a message: message_worker {{\"workers\": [\"{session}\"], \"message\": …}}"
        ),
        NextStep::Send { worker } => {
            format!("send it the message: message_worker {{\"workers\": [{worker}], \"message\": …}}")
        }
        NextStep::Stop { worker } => format!("stop one of them: stop_worker {{\"worker\": {worker}}}"),
        NextStep::RemoveWorkTree { worker } => format!(
            "once nothing would be lost: stop_worker {{\"worker\": {worker}, \"remove_worktree\": true}}"
        ),
        NextStep::Pick => "let Backstory choose a session: pick_session {\"task\": …}".to_owned(),
        NextStep::UpdateIndex => "call it again: each search indexes more; or the person runs `backstory index`".to_owned(),
        NextStep::RebuildIndex => "the person runs `backstory index --rebuild`".to_owned(),
        NextStep::ContinueEmbedding => {
            "the person runs `backstory index --embed`: what was embedded so far is kept".to_owned()
        }
        NextStep::NameModel => {
            "the person sets `embedding.model`: a folder, a name on the hub, or an endpoint's address".to_owned()
        }
        NextStep::LowerMinScore => "give a lower \"min_score\", or none".to_owned(),
        NextStep::ScheduleExport => {
            "the person installs qmd and creates its collection: `backstory doctor --schedule` prints the commands".to_owned()
        }
        NextStep::Export => {
            "the person runs `backstory export --markdown <folder> --index`; then call it again".to_owned()
        }
        NextStep::LabelsFormat => "the person reads `backstory eval retrieval --help`".to_owned(),
        NextStep::ListJobs => "the person runs `backstory cron list`".to_owned(),
        NextStep::RenameJob { job } => {
            format!("the person chooses another name, or runs `backstory cron remove {job}`")
        }
        NextStep::StartDaemon => "the person runs `backstory cron daemon`".to_owned(),
        NextStep::FindSessions => {
            "the person sets CLAUDE_CONFIG_DIR to the folder that holds their sessions".to_owned()
        }
        NextStep::Archive => "the person can copy them: backstory archive".to_owned(),
        NextStep::KeepLonger => "the person can keep them longer: backstory doctor --fix".to_owned(),
        NextStep::LeaveDemo => "the person starts `backstory mcp` without --demo: made-up sessions can only be read".to_owned(),
        NextStep::RunInsteadOfPrint => "the person runs the command without --print".to_owned(),
    }
}

/// The call that finds who changed a file, of which a line may be named.
fn authors(file: &str) -> String {
    let file = file.split(':').next().unwrap_or_default();
    format!("search {}", json!({"query": "", "file": file}))
}

/// The call that works in a fork of a session.
fn forked(session: &str) -> String {
    format!("work in a fork of it: spawn_worker {{\"task\": …, {}, \"fork_session\": true}}", resume(session))
}

/// The call that lists the sessions of some days in an order.
fn sorted(order: &str, since: Option<&String>, until: Option<&String>) -> String {
    let of_days = since.zip(until);
    let arguments = of_days.map(|(since, until)| json!({"sort": order, "since": since, "until": until}));
    format!("session_list {}", arguments.unwrap_or_else(|| json!({"sort": order})))
}

/// Arguments with one text.
fn arguments(name: &str, value: &str) -> String {
    json!({name: value}).to_string()
}

fn resume(session: &str) -> String {
    format!("\"resume_session_id\": \"{session}\"")
}
