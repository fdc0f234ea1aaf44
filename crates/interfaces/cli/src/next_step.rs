//! Words the next steps of errors as commands.

use app::{NextStep, quoted};

/// A next step in one sentence, with the command for it.
pub(crate) fn as_command(step: &NextStep) -> String {
    match step {
        NextStep::Advice { text } => text.clone(),
        NextStep::ListSessions => "`backstory list` lists all sessions with their ids".to_owned(),
        NextStep::NameProject => "`backstory list` lists the projects; or give a path".to_owned(),
        NextStep::Search { words } => format!("to look for it as a commit: backstory search {words}"),
        NextStep::SearchWords { words } => format!("find it by its words: backstory search {}", shown(words)),
        NextStep::ListBetween { since, until } => format!("backstory list --since {since} --until {until}"),
        NextStep::SearchBetween { words, since, until } => {
            format!("backstory search {} --since {since} --until {until}", shown(words))
        }
        NextStep::ListBranch { branch } => format!("backstory list --branch {}", shown(branch)),
        NextStep::SearchBranch { words, branch } => {
            format!("backstory search {} --branch {}", shown(words), shown(branch))
        }
        NextStep::ListWords { words, by_cost } => {
            let words: Vec<String> = words.split_whitespace().map(shown).collect();
            format!("backstory list {}{}", words.join(" "), if *by_cost { " --sort cost" } else { "" })
        }
        NextStep::ListCheapest { since, until } => {
            format!("backstory list --sort cheapest{}", days(since.as_ref(), until.as_ref()))
        }
        NextStep::ListNewest => "backstory list --sort newest".to_owned(),
        NextStep::Blame { file } => format!("backstory blame {}", shown(file)),
        NextStep::CostBySession { since, until } => {
            format!("backstory cost --by session{}", days(since.as_ref(), until.as_ref()))
        }
        NextStep::Show { session } => format!("read what was said: backstory show {}", session.short()),
        NextStep::ShowRecords { session } => {
            format!("`backstory show {} --json` shows the id of each of its records", session.short())
        }
        NextStep::ShowEverything => {
            "add --tools, --thinking, --subagents or --all: the message may be hidden without them".to_owned()
        }
        NextStep::Restore { session } => format!("put it back: backstory restore {}", session.short()),
        NextStep::Forget { session } => {
            format!("if you wanted it gone, here, too: backstory forget {}", session.short())
        }
        NextStep::RestorePart { session } => {
            format!("put back what there is: backstory restore {} --partial", session.short())
        }
        NextStep::Heal { session } => format!("if it was moved or renamed, follow it: backstory heal {}", session.short()),
        NextStep::Fork { session } => format!("continue a fork of it: backstory fork {}", session.short()),
        NextStep::ForkElsewhere { session } => {
            format!("continue a fork of it elsewhere: backstory fork {} --in <directory>", session.short())
        }
        NextStep::ForkRecent => "choose one of the newest sessions: backstory fork <id>".to_owned(),
        NextStep::RunInSession { session } => format!("continue it: backstory run --resume {} <task>", session.short()),
        NextStep::RunInFork { session } => {
            format!("let a worker continue a fork of it: backstory run --fork {} <task>", session.short())
        }
        NextStep::RunOptions { session } => {
            format!("a worker has its own options: backstory run --fork {} --help", session.short())
        }
        NextStep::RunFresh => "wait until it has ended, or start a new session: --fresh".to_owned(),
        NextStep::RunInWorkTree => "or run it in a separate work tree: --worktree".to_owned(),
        NextStep::ListWorkers => "`backstory workers` lists the workers and their states".to_owned(),
        NextStep::Attach { session } => format!("watch it and answer its requests: backstory attach {}", session.short()),
        NextStep::AttachJob { session } => format!("continue it there: backstory attach {}", session.short()),
        NextStep::SendToSession { session } => format!("send it a message: backstory send {} <message>", session.short()),
        NextStep::Send { worker } => format!("send it a message: backstory send {worker} <message>"),
        NextStep::Stop { worker } => format!("stop one of them: backstory stop {worker}"),
        NextStep::RemoveWorkTree { worker } => {
            format!("once nothing would be lost: backstory stop {worker} --remove-worktree")
        }
        NextStep::Pick => "make a decision first: backstory pick <task>".to_owned(),
        NextStep::UpdateIndex => "`backstory index` indexes the rest; then try again".to_owned(),
        NextStep::RebuildIndex => "`backstory index --rebuild` rebuilds it from the transcripts".to_owned(),
        NextStep::ContinueEmbedding => {
            "what was embedded so far is kept; `backstory index --embed` continues there".to_owned()
        }
        NextStep::NameModel => "give one with --model, or set `embedding.model`: a folder, a name on the hub, or an \
                                endpoint's address"
            .to_owned(),
        NextStep::LowerMinScore => "lower --min-score, or leave it out".to_owned(),
        NextStep::ScheduleExport => {
            "install qmd and create its collection: `backstory doctor --schedule` prints the commands".to_owned()
        }
        NextStep::Export => "fill it: `backstory export --markdown <folder> --index`, then try again".to_owned(),
        NextStep::LabelsFormat => {
            "`backstory eval retrieval --help` and `eval selection --help` show the format of a line".to_owned()
        }
        NextStep::ListJobs => "`backstory cron list` lists the jobs".to_owned(),
        NextStep::RenameJob { job } => {
            format!("choose another name, or remove that job: backstory cron remove {job}")
        }
        NextStep::StartDaemon => "start one: backstory cron daemon".to_owned(),
        NextStep::FindSessions => {
            "set CLAUDE_CONFIG_DIR to the folder that holds your sessions, or try `backstory list --demo`".to_owned()
        }
        NextStep::Archive => "copy them now: backstory archive".to_owned(),
        NextStep::KeepLonger => "`backstory doctor --fix` shows that change and asks".to_owned(),
        NextStep::LeaveDemo => {
            "read one: backstory show <id> --demo; without --demo the same command continues your own sessions".to_owned()
        }
        NextStep::RunInsteadOfPrint => {
            "without --print, the same command runs it without a shell".to_owned()
        }
    }
}

/// The options that say which days are meant.
fn days(since: Option<&String>, until: Option<&String>) -> String {
    since.zip(until).map_or_else(String::new, |(since, until)| format!(" --since {since} --until {until}"))
}

/// A word as it can be pasted into a shell.
fn shown(word: &str) -> String {
    quoted(word).unwrap_or_else(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments of the command in a step: what follows `backstory`, up to what ends it.
    fn arguments(text: &str) -> Option<Vec<&str>> {
        let (_, rest) = text.split_once("backstory ")?;
        let command = rest.split(['`', ';']).next().unwrap_or(rest);
        Some(std::iter::once("backstory").chain(command.split_whitespace()).collect())
    }

    #[test]
    fn every_command_can_be_typed() {
        let day = |day: &str| format!("2026-01-{day}");
        let session = || "1ba1de03".parse().unwrap();
        let (words, branch) = (|| "race".to_owned(), || "main".to_owned());
        let steps = [
            NextStep::ListSessions,
            NextStep::NameProject,
            NextStep::Search { words: words() },
            NextStep::SearchWords { words: words() },
            NextStep::ListBetween { since: day("30"), until: day("31") },
            NextStep::SearchBetween { words: words(), since: day("30"), until: day("31") },
            NextStep::ListBranch { branch: branch() },
            NextStep::SearchBranch { words: words(), branch: branch() },
            NextStep::ListWords { words: words(), by_cost: true },
            NextStep::ListCheapest { since: Some(day("30")), until: Some(day("31")) },
            NextStep::ListNewest,
            NextStep::Blame { file: "token.rs:7".to_owned() },
            NextStep::CostBySession { since: None, until: None },
            NextStep::Show { session: session() },
            NextStep::ShowRecords { session: session() },
            NextStep::Restore { session: session() },
            NextStep::Forget { session: session() },
            NextStep::RestorePart { session: session() },
            NextStep::Heal { session: session() },
            NextStep::Fork { session: session() },
            NextStep::ForkElsewhere { session: session() },
            NextStep::ForkRecent,
            NextStep::RunInSession { session: session() },
            NextStep::RunInFork { session: session() },
            NextStep::ListWorkers,
            NextStep::Pick,
            NextStep::UpdateIndex,
            NextStep::RebuildIndex,
            NextStep::ContinueEmbedding,
            NextStep::ScheduleExport,
            NextStep::Export,
            NextStep::ListJobs,
            NextStep::StartDaemon,
            NextStep::FindSessions,
            NextStep::Archive,
            NextStep::KeepLonger,
            NextStep::LeaveDemo,
        ];
        for step in steps {
            let text = as_command(&step);
            let typed = arguments(&text).unwrap_or_else(|| panic!("{text} has a command"));
            if let Err(error) = crate::help::command().try_get_matches_from(typed) {
                panic!("{text}: {error}");
            }
        }
    }
}
