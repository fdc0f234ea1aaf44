//! What a caller can do about an error. Each interface words it in its own way: as a command, a tool or a link.

use std::fmt::{self, Display};

use model::SessionId;
use schemars::JsonSchema;
use serde::Serialize;
use workers::WorkerId;

/// One thing that a caller can do; an interface may add it in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum NextStep {
    /// What the sentence says; it holds in every interface.
    Advice {
        /// One sentence, without its full stop.
        text: String,
    },
    /// List the sessions: that shows their ids.
    ListSessions,
    /// List the sessions: that shows their projects. Or name a path.
    NameProject,
    /// Search for this word, which was taken for an id.
    Search {
        /// The words to search for.
        words: String,
    },
    /// Search for these words: a session is named by its id here.
    SearchWords {
        /// The words to search for.
        words: String,
    },
    /// List the sessions of some days.
    ListBetween {
        /// The first day, as 2026-01-31.
        since: String,
        /// The last day.
        until: String,
    },
    /// Search for the words in what was said on some days.
    SearchBetween {
        /// The words to search for.
        words: String,
        /// The first day, as 2026-01-31.
        since: String,
        /// The last day.
        until: String,
    },
    /// List the sessions of a branch, newest first.
    ListBranch {
        /// The branch.
        branch: String,
    },
    /// Search for the words in the sessions of a branch.
    SearchBranch {
        /// The words to search for.
        words: String,
        /// The branch.
        branch: String,
    },
    /// List the sessions whose title, first prompt, project or branch has all the words.
    ListWords {
        /// The words.
        words: String,
        /// Whether the most expensive come first; else the newest do.
        by_cost: bool,
    },
    /// List the sessions, the cheapest first.
    ListCheapest {
        /// The first day; `null` for all days.
        since: Option<String>,
        /// The last day.
        until: Option<String>,
    },
    /// List the sessions, the newest first.
    ListNewest,
    /// Find the sessions that wrote a file or a line of it.
    Blame {
        /// The file as it was named, and its line where one was.
        file: String,
    },
    /// Add up what each session cost.
    CostBySession {
        /// The first day; `null` for all days.
        since: Option<String>,
        /// The last day.
        until: Option<String>,
    },
    /// Read the session's conversation.
    Show {
        /// The session's id.
        session: SessionId,
    },
    /// List the records of the session: that shows their ids.
    ShowRecords {
        /// The session's id.
        session: SessionId,
    },
    /// Ask for tools, thinking and sub-agents too: what is missing may be among what is left out.
    ShowEverything,
    /// Copy all sessions to the archive.
    Archive,
    /// Have Backstory forget a session that a person deleted.
    Forget {
        /// The session.
        session: SessionId,
    },
    /// Put the session's files back from the archive.
    Restore {
        /// The session.
        session: SessionId,
    },
    /// Put back the part of the session that was copied before it was deleted.
    RestorePart {
        /// The session.
        session: SessionId,
    },
    /// Move the session to where its directory is now.
    Heal {
        /// The session.
        session: SessionId,
    },
    /// Continue a fork of the session.
    Fork {
        /// The session's id.
        session: SessionId,
    },
    /// Continue a fork of the session in another directory.
    ForkElsewhere {
        /// The session's id.
        session: SessionId,
    },
    /// Fork one of the newest sessions.
    ForkRecent,
    /// Let a worker go on with the session.
    RunInSession {
        /// The session's id.
        session: SessionId,
    },
    /// Let a worker go on with a fork of the session.
    RunInFork {
        /// The session's id.
        session: SessionId,
    },
    /// Give the worker that forks the session options of its own.
    RunOptions {
        /// The session's id.
        session: SessionId,
    },
    /// Wait until that has ended, or begin a session of its own.
    RunFresh,
    /// Let the task be done in a work tree of its own.
    RunInWorkTree,
    /// List the workers: that shows what has become of them.
    ListWorkers,
    /// Watch and answer the worker of the session.
    Attach {
        /// The session's id.
        session: SessionId,
    },
    /// Open the background job of Claude Code that the session is.
    AttachJob {
        /// The session's id.
        session: SessionId,
    },
    /// Say more to the worker of the session.
    SendToSession {
        /// The session's id.
        session: SessionId,
    },
    /// Send a message to the worker.
    Send {
        /// The worker's number.
        worker: WorkerId,
    },
    /// End the worker.
    Stop {
        /// The worker's number.
        worker: WorkerId,
    },
    /// Remove the worker's work tree, when nothing would be lost with it.
    RemoveWorkTree {
        /// The worker's number.
        worker: WorkerId,
    },
    /// Let Backstory choose a session for the task.
    Pick,
    /// Bring the search index up to date, then ask again.
    UpdateIndex,
    /// Build the search index again from the transcripts.
    RebuildIndex,
    /// Go on embedding: what was embedded so far is kept.
    ContinueEmbedding,
    /// Name a model: a folder, a name on the hub, or an endpoint's address.
    NameModel,
    /// Ask for a lower score, or for none.
    LowerMinScore,
    /// Install qmd and make its collection.
    ScheduleExport,
    /// Export the sessions into qmd's collection, then ask again.
    Export,
    /// Read how a line of a labels file has to look.
    LabelsFormat,
    /// List the scheduled jobs.
    ListJobs,
    /// Give the job another name, or remove the one that has it.
    RenameJob {
        /// The job that has the name.
        job: String,
    },
    /// Start the daemon that runs the jobs.
    StartDaemon,
    /// Name the folder that holds the sessions, or look at the made-up ones.
    FindSessions,
    /// Let Claude Code keep sessions longer: the change to its settings is shown, and made once that is confirmed.
    KeepLonger,
    /// Leave the made-up sessions: they can only be read.
    LeaveDemo,
    /// Have the command run, instead of printed.
    RunInsteadOfPrint,
}

/// The days from one to another.
fn days(since: &str, until: &str) -> String {
    if since == until { format!("of {since}") } else { format!("from {since} to {until}") }
}

impl Display for NextStep {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Advice { text } => out.write_str(text),
            Self::ListSessions => out.write_str("list the sessions to see their ids"),
            Self::NameProject => out.write_str("list the sessions to see their projects, or name a path"),
            Self::SearchWords { words } => write!(out, "search for `{words}` to find it by its words"),
            Self::Search { words } => write!(out, "search for the word `{words}`"),
            Self::ListBetween { since, until } => write!(out, "list the sessions {}", days(since, until)),
            Self::SearchBetween { words, since, until } => {
                write!(out, "search for `{words}` {}", days(since, until))
            }
            Self::ListBranch { branch } => write!(out, "list the sessions of branch `{branch}`"),
            Self::SearchBranch { words, branch } => {
                write!(out, "search for `{words}` in the sessions of branch `{branch}`")
            }
            Self::ListWords { words, by_cost: true } => {
                write!(out, "list the sessions with `{words}` by what they cost")
            }
            Self::ListWords { words, by_cost: false } => {
                write!(out, "list the sessions with `{words}`, the newest first")
            }
            Self::ListCheapest { .. } => out.write_str("list the sessions, the cheapest first"),
            Self::ListNewest => out.write_str("list the sessions, the newest first"),
            Self::Blame { file } => write!(out, "find the sessions that wrote `{file}`"),
            Self::CostBySession { since: Some(since), until: Some(until) } => {
                write!(out, "list the sessions {} by what they cost", days(since, until))
            }
            Self::CostBySession { .. } => out.write_str("list the sessions by what they cost"),
            Self::Show { session } => write!(out, "read session {session}"),
            Self::ShowRecords { session } => {
                write!(out, "list the records of session {session} to see their ids")
            }
            Self::ShowEverything => out.write_str(
                "include tools, thinking and sub-agents: the message may be among what is left out",
            ),
            Self::Restore { session } => write!(out, "put session {session} back from the archive"),
            Self::Forget { session } => {
                write!(out, "if you wanted it gone, have Backstory forget session {session}, too")
            }
            Self::RestorePart { session } => {
                write!(out, "put back the part of session {session} that was copied")
            }
            Self::Heal { session } => write!(out, "move session {session} to where its directory is now"),
            Self::Fork { session } => write!(out, "continue a fork of session {session}"),
            Self::ForkElsewhere { session } => {
                write!(out, "continue a fork of session {session} in another directory")
            }
            Self::ForkRecent => out.write_str("fork one of the newest sessions"),
            Self::RunInSession { session } => write!(out, "let a worker continue session {session}"),
            Self::RunInFork { session } => write!(out, "let a worker continue a fork of session {session}"),
            Self::RunOptions { session } => {
                write!(out, "set options for a worker in a fork of session {session}")
            }
            Self::RunFresh => out.write_str("wait until it has ended, or start a fresh session"),
            Self::RunInWorkTree => out.write_str("run it in a separate work tree"),
            Self::ListWorkers => out.write_str("list the workers to see their states"),
            Self::AttachJob { session } => write!(out, "open the background job of session {session}"),
            Self::Attach { session } => write!(out, "watch and answer the worker of session {session}"),
            Self::SendToSession { session } => {
                write!(out, "send a message to the worker of session {session}")
            }
            Self::Send { worker } => write!(out, "send the message to worker {worker}"),
            Self::Stop { worker } => write!(out, "stop worker {worker}"),
            Self::RemoveWorkTree { worker } => {
                write!(out, "remove the work tree of worker {worker} once nothing would be lost")
            }
            Self::Pick => out.write_str("choose a session for the task"),
            Self::UpdateIndex => out.write_str("bring the search index up to date, then try again"),
            Self::RebuildIndex => out.write_str("rebuild the search index from the transcripts"),
            Self::ContinueEmbedding => out.write_str("continue embedding: what was embedded so far is kept"),
            Self::NameModel => {
                out.write_str("name a model: a folder, a name on the hub, or an endpoint's address")
            }
            Self::LowerMinScore => out.write_str("ask for a lower score, or for none"),
            Self::ScheduleExport => out.write_str("install qmd and create its collection"),
            Self::Export => out.write_str("export the sessions into qmd's collection, then try again"),
            Self::LabelsFormat => out.write_str("read the format of a labels file"),
            Self::ListJobs => out.write_str("list the jobs"),
            Self::RenameJob { job } => write!(out, "give the job another name, or remove job `{job}`"),
            Self::StartDaemon => out.write_str("start the daemon that runs the jobs"),
            Self::FindSessions => out.write_str(
                "set CLAUDE_CONFIG_DIR to the folder that holds the sessions, or try the made-up ones",
            ),
            Self::Archive => out.write_str("copy them to the archive now"),
            Self::KeepLonger => {
                out.write_str("keep sessions longer: the change to Claude Code's settings is shown first")
            }
            Self::LeaveDemo => out.write_str("use your own sessions: the made-up ones can only be read"),
            Self::RunInsteadOfPrint => out.write_str("run the command instead of printing it"),
        }
    }
}
