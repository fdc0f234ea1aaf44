//! What continuing a session costs and what would go on by itself is said on every screen, of a session in which the
//! real `claude` armed it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use testkit::files::{bytes, wait_until};
use testkit::{Answer, Claude, Script, Terminal};

use crate::desk::Desk;

fn script() -> Script {
    let cron = json!({"cron": "*/7 * * * *", "prompt": "check the deploy", "recurring": true});
    let once = json!({"cron": "30 14 25 12 *", "prompt": "wish well", "recurring": false});
    let wake_up = json!({"delaySeconds": 3000, "reason": "the build", "prompt": "/loop check the build"});
    let shell = json!({"command": "sleep 90", "description": "Run the server", "run_in_background": true});
    let short = json!({"command": "true", "description": "Run it", "run_in_background": true});
    let arming = [
        Answer::tool("Bash", shell),
        Answer::tool("CronCreate", cron),
        Answer::tool("CronCreate", once),
        Answer::tool("ScheduleWakeup", wake_up),
        Answer::tool("Bash", short),
        Answer::text("All is armed."),
    ];
    Script::new().on("arm it", arming).on("say hello", [Answer::text("Hello again.")])
}

/// Opens a session in which everything is armed, and returns its terminal and the directory it runs in.
fn armed(desk: &Desk) -> Terminal {
    let shop = desk.project("shop");
    let tools = ["--allowedTools", "Bash CronCreate ScheduleWakeup"];
    let terminal = desk.claude.open(&desk.home, &desk.server, shop.path(), &tools);
    terminal.type_line("arm it");
    terminal.until(|screen| screen.contains("All is armed."));
    terminal.until(|screen| screen.contains("\"Run it\" completed"));
    // Claude writes a little later than it shows.
    wait_until(desk.home.path(), "the end is written down", || has_written(desk, "<status>completed"));
    terminal
}

/// Whether a message in a transcript has this text; what is still queued is none.
fn has_written(desk: &Desk, text: &str) -> bool {
    let is_it = |line: &str| line.contains(text) && !line.contains(r#""type":"queue-operation""#);
    let folders = fs::read_dir(desk.home.config_dir().join("projects")).unwrap().flatten();
    let files = folders.filter_map(|folder| folder.path().read_dir().ok()).flatten().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|end| end == "jsonl"));
    files.into_iter().any(|file| String::from_utf8_lossy(&bytes(&file.path())).lines().any(is_it))
}

/// What the only session left armed: kinds, and what they are about.
fn kinds(desk: &Desk) -> Vec<(String, String)> {
    let listed = desk.json(&["list"]);
    let armed = listed["sessions"][0]["resume_cost"]["armed"].as_array().cloned().unwrap_or_default();
    let text = |work: &Value, field: &str| work[field].as_str().unwrap_or_default().to_owned();
    armed.iter().map(|work| (text(work, "kind"), text(work, "what"))).collect()
}

/// Kills the process that has the session open, as a crash does.
fn kill(desk: &Desk) {
    let records = fs::read_dir(desk.home.config_dir().join("sessions")).unwrap();
    let names = records.map(|record| record.unwrap().file_name().into_string().unwrap());
    let pids = names.filter_map(|name| name.strip_suffix(".json").map(str::to_owned));
    // The records of those that were killed before stay.
    for pid in pids.filter(|pid| Path::new("/proc").join(pid).exists()) {
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
    }
    let is_free = || desk.json(&["list", "--running"])["sessions"] == json!([]);
    wait_until(desk.home.path(), "the session is free", is_free);
}

#[test]
fn what_a_killed_session_left_armed_is_said_before_it_is_resumed() {
    let desk = Desk::new(Claude::newest(), script());
    let terminal = armed(&desk);
    assert_eq!(desk.json(&["list"])["sessions"][0]["resume_cost"], Value::Null, "it is open");
    kill(&desk);
    drop(terminal);
    let pair = |kind: &str, what: &str| (kind.to_owned(), what.to_owned());
    let all = [
        pair("shell", "sleep 90"),
        pair("cron", "check the deploy"),
        pair("cron", "wish well"),
        pair("wake_up", "/loop check the build"),
    ];
    assert_eq!(kinds(&desk), all);

    let listed = desk.json(&["list"]);
    let cost = &listed["sessions"][0]["resume_cost"];
    assert!(cost["tokens"].as_u64().unwrap() > 0 && cost["cost_usd"].as_f64().unwrap() > 0.0, "{cost}");
    let table = desk.backstory(&["list"]).succeeded().stdout;
    assert!(table.contains("↻ ") && table.contains("continues on its own once resumed"), "{table}");
    let board = Terminal::run(&desk.command(&["watch", "--notify", "off"]), 110, 20);
    board.until(|screen| screen.contains("resume: ") && screen.contains(": check the deploy"));
    let picker = Terminal::run(&desk.command(&[]), 110, 30);
    picker.until(|screen| screen.contains("resume: ") && screen.contains(": check the deploy"));
    let id = listed["sessions"][0]["session_id"].as_str().unwrap();
    let resumed = Terminal::run(&desk.command(&["resume", id]), 110, 40);
    resumed.until(|screen| screen.contains("didn't finish"));
    // Claude writes that down with the next prompt.
    resumed.type_line("say hello");
    resumed.until(|screen| screen.contains("Hello again."));
    wait_until(desk.home.path(), "the answer is written down", || has_written(&desk, "Hello again."));
    kill(&desk);
    assert_eq!(kinds(&desk), all[1..], "Claude took up the rest, and said that the shell has ended");
}

#[test]
fn a_session_that_was_left_goes_on_with_nothing() {
    let desk = Desk::new(Claude::newest(), script());
    let terminal = armed(&desk);
    terminal.type_line("/exit");
    terminal.until(|screen| screen.contains("Exit and stop tasks"));
    terminal.key("Enter");
    let is_free = || desk.json(&["list", "--running"])["sessions"] == json!([]);
    wait_until(desk.home.path(), "the session is free", is_free);
    assert_eq!(kinds(&desk), [("shell".to_owned(), "sleep 90".to_owned())]);
    let table = desk.backstory(&["list"]).succeeded().stdout;
    assert!(!table.contains('↻'), "{table}");
}

#[test]
fn a_durable_schedule_is_the_directorys_and_is_said_wherever_a_session_of_it_is_continued() {
    let cron =
        json!({"cron": "*/5 * * * *", "prompt": "check the build", "recurring": true, "durable": true});
    let script = Script::new()
        .on("schedule it", [Answer::tool("CronCreate", cron), Answer::text("It is scheduled.")])
        .on("say hello", [Answer::text("Hello.")]);
    let desk = Desk::new(Claude::newest(), script);
    let shop = desk.project("shop");
    let run = |prompt: &str| {
        let arguments = ["-p", prompt, "--allowedTools", "CronCreate"];
        let _ = desk.claude.run(&desk.home, &desk.server, shop.path(), &arguments).succeeded();
    };
    run("schedule it");
    run("say hello");
    assert!(shop.path().join(".claude/scheduled_tasks.json").exists(), "Claude Code writes the file");
    let listed = desk.json(&["list"]);
    for session in listed["sessions"].as_array().unwrap() {
        let armed = session["resume_cost"]["armed"].as_array().unwrap();
        let found: Vec<_> = armed.iter().map(|work| (work["kind"].as_str(), work["what"].as_str())).collect();
        assert_eq!(found, [(Some("directory_cron"), Some("check the build"))], "{session}");
    }
    assert!(desk.backstory(&["list"]).succeeded().stdout.matches("↻ ").count() >= 3);
    let status = desk.json(&["status", "shop"]);
    let schedule = &status["schedules"][0];
    assert_eq!(
        (&schedule["prompt"], &schedule["schedule"]),
        (&json!("check the build"), &json!("*/5 * * * *"))
    );
    assert!(schedule["until"].is_string(), "{schedule}");
    let text = desk.backstory(&["status", "shop"]).succeeded().stdout;
    assert!(
        text.contains("any session open in the directory asks") && text.contains("check the build"),
        "{text}"
    );
    let report = desk.json(&["doctor"]);
    let says = |finding: &Value| finding["what"].as_str().unwrap().contains("`*/5 * * * *`: check the build");
    let found = report["findings"].as_array().unwrap().iter().filter(|finding| says(finding)).count();
    assert_eq!(found, 1, "{report}");
    let _ = desk.backstory(&["index"]);
    let hits = desk.json(&["search", "check the build"]);
    let sessions = listed["sessions"].as_array().unwrap();
    let maker = sessions.iter().find(|session| session["title"] == "schedule it").unwrap();
    assert_eq!(hits["hits"][0]["session_id"], maker["session_id"], "{hits}");
}

#[test]
fn a_scheduled_prompt_is_a_message_of_its_own() {
    let desk = Desk::new(Claude::newest(), Script::new());
    let shop = desk.project("shop");
    let id = "a1b2c3d4-0001-4000-8000-000000000001";
    let fields = |uuid: &str, parent: &str, minute: u32| {
        format!(
            r#""uuid":"{uuid}","parentUuid":{parent},"sessionId":"{id}","cwd":"{}","version":"2.1.332","timestamp":"2026-01-01T00:{minute:02}:00.000Z""#,
            shop.path().display()
        )
    };
    let answer = |text: &str| {
        format!(
            r#""message":{{"role":"assistant","model":"m","content":[{{"type":"text","text":"{text}"}}]}}"#
        )
    };
    let lines = [
        format!(
            r#"{{"type":"user",{},"message":{{"role":"user","content":"say hello"}}}}"#,
            fields("u1", "null", 0)
        ),
        format!(r#"{{"type":"assistant",{},{}}}"#, fields("u2", "\"u1\"", 1), answer("Hello.")),
        format!(
            r#"{{"type":"system","subtype":"scheduled_task_fire",{},"content":"Running scheduled task","prompt":"check the build","taskId":"ab12","cron":"*/5 * * * *"}}"#,
            fields("u3", "\"u2\"", 5)
        ),
        format!(
            r#"{{"type":"user",{},"isMeta":true,"promptSource":"system","turnOrigin":"scheduled","message":{{"role":"user","content":"check the build"}}}}"#,
            fields("u4", "\"u3\"", 5)
        ),
        format!(r#"{{"type":"assistant",{},{}}}"#, fields("u5", "\"u4\"", 6), answer("Done.")),
    ];
    let folder = desk.home.project_folder(shop.path());
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{id}.jsonl")), lines.join("\n") + "\n").unwrap();
    let shown = desk.json(&["show", id]);
    let messages: Vec<_> =
        shown["messages"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(messages, ["user", "assistant", "note", "assistant"], "{shown}");
    let text = desk.backstory(&["show", id]).succeeded().stdout;
    assert!(text.contains("Scheduled: check the build"), "{text}");
    let session = &desk.json(&["list"])["sessions"][0];
    assert_eq!(
        (&session["title"], &session["last_prompt"]),
        (&json!("say hello"), &json!("say hello")),
        "{session}"
    );
}
