//! Claude Code's own background jobs, run by its real daemon: they are listed, watched, attached to and stopped.

use serde_json::{Value, json};
use testkit::background::BackgroundJobs;
use testkit::files::wait_until;
use testkit::{Answer, Claude, Script, Terminal};

use crate::desk::Desk;

/// What the model says to a job's last sentence is the state in which that leaves the job.
fn script() -> Script {
    let verdict = |state: &str, more: &str| {
        Answer::text(format!(r#"{{"state":"{state}","detail":"it is {state}"{more},"output":{{}}}}"#))
    };
    let question = json!({"questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    }]});
    Script::new()
        .on("ask me", [Answer::tool("AskUserQuestion", question), Answer::text("Painted.")])
        .on("deploy it", [Answer::text("The token is missing.")])
        .on("The token is missing.", [verdict("blocked", r#","tempo":"blocked","needs":"set DEPLOY_TOKEN""#)])
        .on("mend it", [Answer::text("Mended for good.")])
        .on("Mended for good.", [verdict("done", r#","tempo":"idle""#)])
        .on("Respond with ONLY the label", [Answer::text("shop work")])
}

/// The jobs that `list` has, by id: each with its name, its state and what it needs.
fn listed(desk: &Desk) -> Vec<[Value; 4]> {
    let answer = desk.json(&["list"]);
    let jobs = answer["sessions"].as_array().unwrap().iter().map(|session| &session["background_job"]);
    let fields = |job: &Value| ["id", "name", "state", "needs"].map(|field| job[field].clone());
    let mut jobs: Vec<_> = jobs.filter(|job| job.is_object()).map(fields).collect();
    jobs.sort_by_key(|[id, ..]| id.to_string());
    jobs
}

/// The same as Claude Code says it, without what they need.
fn said(jobs: &BackgroundJobs<'_>) -> Vec<[Value; 3]> {
    let mut said: Vec<_> =
        jobs.list().iter().map(|job| ["id", "name", "state"].map(|field| job[field].clone())).collect();
    said.sort_by_key(|[id, ..]| id.to_string());
    said
}

fn state_of(desk: &Desk, job: &str) -> String {
    let all = listed(desk);
    let found = all.iter().find(|[id, ..]| *id == *job);
    found.and_then(|[_, _, state, _]| state.as_str()).unwrap_or("none").to_owned()
}

#[test]
fn background_jobs_are_listed_attached_to_and_stopped() {
    let desk = Desk::new(Claude::newest(), script());
    let shop = desk.project("shop");
    let jobs = BackgroundJobs::new(&desk.claude, &desk.home, &desk.server, shop.path());
    let asks = jobs.start(shop.path(), &["--name", "colours", "ask me"]);
    let blocked = jobs.start(shop.path(), &["deploy it"]);
    let done = jobs.start(shop.path(), &["mend it"]);
    for (job, state) in [(&asks, "blocked"), (&blocked, "blocked"), (&done, "done")] {
        wait_until(desk.home.path(), "a job's state", || state_of(&desk, job) == state);
    }
    // The name that Claude Code chooses comes a moment after the state.
    let agree = || {
        let ours: Vec<[Value; 3]> =
            listed(&desk).into_iter().map(|[id, name, state, _]| [id, name, state]).collect();
        ours.len() == 3 && ours == said(&jobs)
    };
    wait_until(desk.home.path(), "the same as `claude agents` says", agree);
    let all = listed(&desk);
    let needs = |job: &str| all.iter().find(|[id, ..]| *id == *job).map(|[.., needs]| needs.clone()).unwrap();
    assert_eq!(needs(&asks), "answer: Which colour? (Red · Blue)");
    assert_eq!(needs(&blocked), "set DEPLOY_TOKEN");
    assert_eq!(needs(&done), Value::Null);
    let table = desk.backstory(&["list"]).succeeded().stdout;
    assert!(table.contains("job blocked") && table.contains("job done"), "{table}");
    assert!(
        table.contains("needs: set DEPLOY_TOKEN · ")
            && table.contains("needs: answer: Which colour? (Red · Blue) · colours"),
        "{table}"
    );

    // One that runs is not resumed: it is attached to.
    let refused = desk.backstory(&["resume", &blocked, "--print"]);
    assert_eq!(refused.code, Some(6), "{}", refused.stderr);
    assert!(refused.stderr.contains("continue it there: backstory attach "), "{}", refused.stderr);
    let printed = desk.backstory(&["attach", "colours", "--print"]).succeeded().stdout;
    assert!(printed.trim_end().ends_with(&format!("/shop && claude attach {asks}")), "{printed}");
    let terminal = Terminal::run(&desk.command(&["attach", &asks]), 100, 30);
    terminal.until(|screen| screen.contains("Which colour?") && screen.contains("Blue"));
    drop(terminal);
    let json = desk.backstory(&["attach", &asks, "--json"]);
    assert_eq!(json.code, Some(2), "{}", json.stderr);

    let stopped = desk.backstory(&["stop", &asks]).succeeded();
    assert_eq!(stopped.stdout, format!("background job {asks}: stopped\n"));
    assert_eq!(state_of(&desk, &asks), "stopped");
    let stopped = desk.backstory(&["stop", &blocked, "--json"]).succeeded();
    let answer: Value = serde_json::from_str(&stopped.stdout).unwrap();
    assert_eq!(answer["background_job"]["state"], "stopped", "{answer}");
    // What was stopped goes on as any session does.
    let session = answer["session_id"].as_str().unwrap();
    let printed = desk.backstory(&["resume", session, "--print"]).succeeded().stdout;
    assert!(printed.contains(&format!("claude --resume={session}")), "{printed}");
    let unknown = desk.backstory(&["attach", "0123abcd"]);
    assert_eq!(unknown.code, Some(3), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("there is no worker `0123abcd`"), "{}", unknown.stderr);
}
