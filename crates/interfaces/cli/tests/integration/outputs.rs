//! The whole output of every command about the demo: in a pipe, on a terminal of 80 columns, and its help; and every
//! error that a person can make it say.

use testkit::{ScratchHome, Terminal};

/// Every command that answers and ends, as it is typed; by the name of its snapshot.
const COMMANDS: &[(&str, &str)] = &[
    ("list", "list"),
    ("list_of_a_project", "list --project harbor-api --limit 2"),
    ("list_of_nothing", "list --branch no-such-branch"),
    ("search", "search token refresh"),
    ("search_with_filters", "search token --project harbor-api --role user --limit 2"),
    ("search_of_nothing", "search walrus"),
    ("search_with_a_slip", "search tokne"),
    ("show", "show 1ba1de03"),
    ("show_with_tools", "show 1ba1de03 --tools --thinking"),
    ("show_the_last_message", "show 1ba1de03 --last 1"),
    ("show_the_last_turn", "show 1ba1de03 --last"),
    ("show_with_diffs", "show 1ba1de03 --diff"),
    ("show_messages_with_words", "show 1ba1de03 token refresh"),
    ("show_as_markdown", "show 1ba1de03 --export md"),
    ("diff", "diff 1ba1de03"),
    ("diff_stat", "diff 1ba1de03 --stat"),
    ("blame", "blame rate_limit.rs"),
    ("day", "day --since 4w"),
    ("prompts", "prompts token"),
    ("prompts_of_nothing", "prompts walrus"),
    ("resume", "resume 1ba1de03 --print"),
    ("fork", "fork token refresh --limit 4"),
    ("fork_of_an_id", "fork 1ba1de03 --print"),
    ("pick", "pick fix the token refresh --repo harbor-api"),
    ("pick_asks", "pick the login page is slow --repo harbor-api --branch feat/rate-limit"),
    ("status", "status harbor-api"),
    ("cost_by_project", "cost --by project"),
    ("cost_by_agent_type", "cost --by agent-type"),
    ("cost_by_pr", "cost --by pr"),
    ("cost_by_model", "cost --by model"),
    ("cost_by_session", "cost --by session"),
    ("index", "index"),
    ("index_dry_run", "index --dry-run"),
    ("memory_status", "memory status"),
    ("memory_search", "memory search token refresh"),
    ("workers", "workers"),
    ("cron_list", "cron list"),
    ("hooks_status", "hooks status"),
    ("doctor", "doctor"),
];

/// Commands that make no sense, or name what is not there.
const ERRORS: &[(&str, &str)] = &[
    ("no_command", ""),
    ("an_unknown_command", "lst"),
    ("an_unknown_flag", "list --lmit 3"),
    ("a_flag_without_value", "list --limit"),
    ("a_limit_of_nothing", "list --limit 0"),
    ("an_origin_that_is_none", "list --origin nobody"),
    ("an_agent_that_is_none", "list --agent no/agent"),
    ("a_time_that_is_none", "list --since whenever"),
    ("a_cost_by_what_is_none", "cost --by colour"),
    ("a_search_without_words", "search"),
    ("a_search_for_signs", "search ..."),
    ("a_mode_that_is_none", "search token --mode magic"),
    ("a_role_that_is_none", "search token --role robot"),
    ("a_filter_that_is_none", "search token role:robot"),
    ("rescoring_without_a_model", "search token --deep"),
    ("a_session_that_is_none", "show 99999999"),
    ("a_beginning_of_several", "show f"),
    ("a_session_after_last", "show --last 1ba1de03"),
    ("a_message_that_is_none", "show 1ba1de03 --around 99999999"),
    ("a_session_to_resume_that_is_none", "resume 99999999-9999-4999-9999-999999999999 --print"),
    ("a_fork_at_a_message_that_is_none", "fork 1ba1de03 --at 99999999 --print"),
    ("a_score_beyond_one", "fork token --min-score 7"),
    ("a_rank_beyond_the_last", "fork token refresh --pick 99 --print"),
    ("a_repository_that_is_none", "status no-such-repository"),
    ("a_task_without_words", "pick ''"),
    ("a_budget_below_zero", "pick fix --budget=-1"),
    ("weights_that_are_none", "pick fix --weights heavy"),
    ("a_worker_to_send_to_that_is_none", "send 99 hello"),
    ("a_worker_to_stop_that_is_none", "stop 99"),
    ("a_worker_to_attach_to_that_is_none", "attach 99"),
    ("a_question_that_is_none", "answer 99 1 allow"),
    ("a_job_that_is_none", "cron remove no-such-job"),
    ("a_schedule_that_is_none", "cron add night --cron 'every night' -- tidy up"),
    ("secrets_for_a_program", "list --show-secrets"),
    ("a_model_without_embedding", "index --model x"),
    ("an_export_to_nowhere", "export"),
    ("an_evaluation_of_nothing", "eval retrieval --queries /no/such/file"),
];

fn home() -> ScratchHome {
    ScratchHome::new()
}

fn snapshot(name: &str, text: &str, home: &ScratchHome) {
    let text = text.replace(&home.path().display().to_string(), "[home]");
    insta::with_settings!({ filters => vec![
        // Ages, days and times of the demo, which is always of today.
        (r"\s+\b\d{1,3}(s|m|h|d|w|y)\b", " [age]"),
        (r"\b20\d\d-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?", "[time]"),
        (r"\b\d{1,2} (January|February|March|April|May|June|July|August|September|October|November|December) 20\d\d", "[day]"),
        (r"\b\d\d:\d\d\b", "[time]"),
        (r" *\b\d{1,2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)( 20\d\d)?", " [day]"),
        (r"\b\d+(\.\d+)? ?(kB|MB)\b", "[size]"),
        // They fall a little with every second that a session is older.
        (r"\b0\.\d{2,3}\b", "[score]"),
        (r"\b\d{1,2}%", "[chance]"),
        // A record that a fork shares is cited in either transcript.
        (r"(1ba1de03|80048f3c)(:\d+)?  harbor-api", "$1[:line]  harbor-api"),
        (r"  prompt( at \S+)?  also in .*", "  prompt  also in [the other]"),
        (r"show (1ba1de03|80048f3c):\d+", "show [id:line]"),
        (r"(1ba1de03|80048f3c)-[-0-9a-f]{27}\.jsonl", "[either].jsonl"),
        (r"\[home\]/[^ ]*/backstory-demo[^ /]*/\d+", "[demo]"),
        (r"terminal-\d{7}-\d{10}", "terminal-[own]"),
    ] }, {
        insta::assert_snapshot!(name, text);
    });
}

/// The time zone in which it is noon now: the sessions of the demo end now, and must fall on the same days at any time.
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
pub(crate) fn zone_of_noon() -> String {
    let hour = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).hour();
    format!("NOON{}", hour - 12)
}

/// A command's output in a pipe.
fn piped(home: &ScratchHome, typed: &str) -> String {
    let line = format!("'{}' {typed}", env!("CARGO_BIN_EXE_backstory"));
    let output = home.command("sh").args(["-c", &line]).env("TZ", zone_of_noon()).output().unwrap();
    let part = |name: &str, bytes: &[u8]| match String::from_utf8_lossy(bytes) {
        text if text.is_empty() => String::new(),
        text => format!("--- {name}\n{text}"),
    };
    let code = output.status.code().unwrap();
    format!(
        "$ backstory {typed}\nexit {code}\n{}{}",
        part("stdout", &output.stdout),
        part("stderr", &output.stderr)
    )
}

/// The same on a terminal of so many columns that holds all of it.
fn on_a_terminal(home: &ScratchHome, typed: &str, columns: u16) -> String {
    const DONE: &str = "[exit ";
    let line = format!("'{}' {typed}; echo \"{DONE}$?]\"; exec cat", env!("CARGO_BIN_EXE_backstory"));
    let mut command = home.command("sh");
    command.args(["-c", &line]).env("TZ", zone_of_noon());
    let terminal = Terminal::run(&command, columns, 200);
    terminal.until(|screen| screen.contains(DONE));
    let screen = terminal.screen();
    format!("$ backstory {typed}\n{}\n", screen.trim_end())
}

#[test]
fn every_command_in_a_pipe() {
    let home = home();
    for (name, typed) in COMMANDS {
        snapshot(&format!("pipe_{name}"), &piped(&home, &format!("{typed} --demo")), &home);
    }
}

#[test]
fn every_command_on_a_terminal() {
    let home = home();
    for (name, typed) in COMMANDS {
        snapshot(&format!("terminal_{name}"), &on_a_terminal(&home, &format!("{typed} --demo"), 80), &home);
    }
}

#[test]
fn what_was_done_on_narrow_and_wide_terminals() {
    let home = home();
    for name in [
        "list",
        "search",
        "show",
        "show_with_diffs",
        "diff",
        "diff_stat",
        "blame",
        "day",
        "prompts",
        "cost_by_model",
    ] {
        let (_, typed) = COMMANDS.iter().find(|(known, _)| *known == name).unwrap();
        for columns in [60, 120] {
            let screen = on_a_terminal(&home, &format!("{typed} --demo"), columns);
            snapshot(&format!("terminal_{name}_in_{columns}_columns"), &screen, &home);
        }
    }
}

#[test]
fn every_error() {
    let home = home();
    for (name, typed) in ERRORS {
        snapshot(&format!("error_{name}"), &piped(&home, &format!("{typed} --demo")), &home);
    }
}

#[test]
fn every_help() {
    let home = home();
    let all = piped(&home, "--help");
    let grouped = all.lines().skip_while(|line| *line != "Find:").take_while(|line| *line != "Options:");
    let names: Vec<_> =
        grouped.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    snapshot("help", &all, &home);
    assert!(names.len() > 20, "the help lists the commands: {names:?}");
    for name in names {
        snapshot(&format!("help_{name}"), &piped(&home, &format!("{name} --help")), &home);
    }
}
