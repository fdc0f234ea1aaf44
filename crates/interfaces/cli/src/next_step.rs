//! Words the next steps of errors as commands.

use app::NextStep;

/// A next step in one sentence, with the command for it.
pub(crate) fn as_command(step: &NextStep) -> String {
    match step {
        NextStep::Advice { text } => text.clone(),
        NextStep::ListSessions => "`backstory list` shows all sessions with their ids".to_owned(),
        NextStep::NameProject => "`backstory list` shows the projects; or name a path".to_owned(),
        NextStep::Search { words } => format!("to search for it as a word: backstory search {words}"),
        NextStep::Show { session } => format!("read what was said: backstory show {session}"),
        NextStep::ShowRecords { session } => {
            format!("`backstory show {session} --json` gives the id of each of its records")
        }
        NextStep::ShowEverything => {
            "add --tools, --thinking, --subagents or --all: the message may be among what is left out".to_owned()
        }
        NextStep::Fork { session } => format!("continue a fork of it: backstory fork {session}"),
        NextStep::ForkElsewhere { session } => {
            format!("continue a fork of it elsewhere: backstory fork {session} --in <directory>")
        }
        NextStep::ForkRecent => "choose one of the newest sessions: backstory fork <id>".to_owned(),
        NextStep::RunInSession { session } => format!("go on with it: backstory run --resume {session} <task>"),
        NextStep::RunInFork { session } => {
            format!("let a worker go on with a fork of it: backstory run --fork {session} <task>")
        }
        NextStep::RunOptions { session } => {
            format!("a worker takes options of its own: backstory run --fork {session} --help")
        }
        NextStep::RunFresh => "wait until that has ended; or begin a session of its own: --fresh".to_owned(),
        NextStep::RunInWorkTree => "or have it done in a work tree of its own: --worktree".to_owned(),
        NextStep::ListWorkers => "`backstory workers` shows the workers and what has become of them".to_owned(),
        NextStep::Attach { session } => format!("see what it does, and answer it: backstory attach {session}"),
        NextStep::SendToSession { session } => format!("say more to it: backstory send {session} <message>"),
        NextStep::Send { worker } => format!("send it there: backstory send {worker} <message>"),
        NextStep::Stop { worker } => format!("end one of them: backstory stop {worker}"),
        NextStep::RemoveWorkTree { worker } => {
            format!("when nothing would be lost with it: backstory stop {worker} --remove-worktree")
        }
        NextStep::Pick => "`backstory pick <task>` decides".to_owned(),
        NextStep::UpdateIndex => "`backstory index` reads what is not indexed yet; then ask again".to_owned(),
        NextStep::RebuildIndex => "`backstory index --rebuild` builds it again from the transcripts".to_owned(),
        NextStep::ContinueEmbedding => {
            "what was embedded so far is kept; `backstory index --embed` goes on there".to_owned()
        }
        NextStep::NameModel => "name one with --model, or set `embedding.model`: a folder, a name on the hub, or an \
                                endpoint's address"
            .to_owned(),
        NextStep::LowerMinScore => "lower --min-score, or leave it out".to_owned(),
        NextStep::ScheduleExport => {
            "install qmd and make its collection: `backstory doctor --schedule` prints the lines".to_owned()
        }
        NextStep::Export => "fill it: `backstory export --markdown <folder> --index`, then ask again".to_owned(),
        NextStep::LabelsFormat => {
            "`backstory eval retrieval --help` and `eval selection --help` show the form of a line".to_owned()
        }
        NextStep::ListJobs => "`backstory cron list` shows all".to_owned(),
        NextStep::RenameJob { job } => {
            format!("give another name, or remove that one: backstory cron remove {job}")
        }
        NextStep::LeaveDemo => {
            "read one: backstory show <id> --demo; without --demo the same command continues your own sessions".to_owned()
        }
        NextStep::RunInsteadOfPrint => {
            "without --print the same command runs it, and no shell reads anything".to_owned()
        }
    }
}
