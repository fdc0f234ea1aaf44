//! What sessions took: by hour, pull request and agent, in the windows of subscriptions, and at prices of one's own.

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

use crate::outputs::zone_of_noon;

/// What the program answers in a home, in UTC.
fn answer(home: &ScratchHome, arguments: &[&str]) -> Value {
    answer_in("UTC", home, arguments)
}

fn answer_in(zone: &str, home: &ScratchHome, arguments: &[&str]) -> Value {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    let output = command.args(arguments).arg("--json").env("TZ", zone).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    crate::schemas::check_answer(arguments, &answer);
    answer
}

/// The keys of the lines with what they have of a counter.
fn lines(answer: &Value, counter: &str) -> Vec<(String, u64)> {
    let line = |line: &Value| (line["key"].as_str().unwrap().to_owned(), line[counter].as_u64().unwrap());
    answer["rows"].as_array().unwrap().iter().map(line).collect()
}

fn output(tokens: u64) -> model::Usage {
    model::Usage { output: tokens, ..model::Usage::default() }
}

#[test]
fn what_was_spent_by_the_hour() {
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").at("2026-11-20T09:30:00Z").prompt("Count");
    let session = session.usage(output(10)).answer("One").at("2026-11-20T14:00:00Z").prompt("Go on");
    session.usage(output(20)).answer("Two").write_to(&home);
    let by_hour = answer(&home, &["cost", "--by", "hour"]);
    let expected = [("2026-11-20 09:00".to_owned(), 10), ("2026-11-20 14:00".to_owned(), 20)];
    assert_eq!(lines(&by_hour, "output_tokens"), expected);
}

#[test]
fn what_one_session_took_is_split_by_turn_and_model() {
    let home = ScratchHome::new();
    let id = "11111111-aaaa-4aaa-8aaa-111111111111";
    let session = Transcript::new(id).at("2026-11-20T09:30:00Z").prompt("Count the walruses");
    let session = session.usage(output(1000)).answer("One").at("2026-11-20T14:00:00Z").prompt("Go on");
    session.usage(output(3000)).answer("Two").write_to(&home);
    Transcript::new("22222222-aaaa-4aaa-8aaa-111111111111")
        .prompt("Other")
        .usage(output(7))
        .answer("No")
        .write_to(&home);
    let run = |arguments: &[&str]| {
        let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let found: Value = serde_json::from_str(&run(&["cost", "11111111", "--json"])).unwrap();
    crate::schemas::check("answers", "session_cost", &found);
    assert_eq!((&found["session_id"], &found["total"]["output_tokens"]), (&json!(id), &json!(4000)));
    let turns = found["turns"].as_array().unwrap();
    let prompts: Vec<&str> = turns.iter().map(|turn| turn["prompt"].as_str().unwrap()).collect();
    assert_eq!(prompts, ["Count the walruses", "Go on"]);
    let cost = |of: &Value| of["cost_usd"].as_f64().unwrap();
    assert!((cost(&turns[1]) - 3.0 * cost(&turns[0])).abs() < 1e-9, "{found}");
    let sum: f64 = turns.iter().map(cost).sum();
    assert!((sum - cost(&found["total"])).abs() < 1e-9, "{found}");
    assert_eq!(found["models"].as_array().map(Vec::len), Some(1));
    let said = run(&["cost", id]);
    for part in ["Count the walruses", "Go on", "11111111:", "why: context reached"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // A day in digits is a day.
    assert!(run(&["cost", "2026-11-20"]).contains("2026-11-20"));
}

#[test]
fn a_time_cuts_within_a_day() {
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").at("2026-11-20T09:30:00Z").prompt("Count");
    let session = session.usage(output(10)).answer("One").at("2026-11-20T14:00:00Z").prompt("Go on");
    session.usage(output(20)).answer("Two").write_to(&home);
    let check = |bounds: &[&str], expected: &[u64]| {
        let found = answer(&home, &[&["cost"], bounds].concat());
        let tokens: Vec<u64> = lines(&found, "output_tokens").into_iter().map(|line| line.1).collect();
        assert_eq!(tokens, expected, "{bounds:?}");
    };
    check(&["--since", "2026-11-20"], &[30]);
    check(&["--since", "2026-11-20T12:00"], &[20]);
    check(&["--until", "2026-11-20T12:00"], &[10]);
    check(&["--since", "2026-11-20T10:00:00Z", "--until", "2026-11-20T11:00:00Z"], &[]);
    check(&["--until", "2026-11-20"], &[30]);
    check(&["--until", "2026-11-19"], &[]);
    check(&["2026-11-20T12:00"], &[30]);
}

#[test]
fn a_project_that_there_is_not_is_named() {
    let home = ScratchHome::new();
    Transcript::new("11111111-aaaa").cwd(home.dir("shop")).prompt("Count").answer("One").write_to(&home);
    let commands =
        [("cost", &["cost"][..]), ("cost_blocks", &["cost", "--blocks"]), ("day_summary", &["day"])];
    for (schema, command) in commands {
        let printed = |project: &str, more: &[&str]| {
            let mut asked = home.command(env!("CARGO_BIN_EXE_backstory"));
            let output = asked.args(command).args(["--project", project]).args(more).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let notes = |project: &str| {
            let found = serde_json::from_str(&printed(project, &["--json"])).unwrap();
            crate::schemas::check("answers", schema, &found);
            found["notes"].clone()
        };
        assert_eq!(notes("nosuch"), json!(["no session is of a project named `nosuch`; projects: shop"]));
        assert_eq!(notes("shop"), Value::Null);
        let said = printed("nosuch", &[]);
        assert!(said.contains("no session is of a project named `nosuch`"), "{said}");
    }
}

#[test]
fn no_secret_is_in_a_key() {
    let secret = format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi");
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").branch(&format!("try/{secret}")).prompt("Count");
    let url = format!("https://{secret}@git.example.com/sam/shop/pull/5");
    let link = json!({"prNumber": 5, "prUrl": url, "prRepository": "sam/shop"});
    session.answer("One").note("pr-link", link).write_to(&home);
    for by in ["branch", "pr"] {
        let found = answer(&home, &["cost", "--by", by]).to_string();
        assert!(found.contains("[redacted:") && !found.contains(&secret), "{found}");
    }
}

#[test]
fn the_most_expensive_and_the_latest_are_shown_first() {
    let home = ScratchHome::new();
    for (id, day, tokens) in [("11111111", 18, 10), ("22222222", 19, 3000), ("33333333", 20, 200)] {
        let session = Transcript::new(&format!("{id}-aaaa")).at(&format!("2026-11-{day}T09:30:00Z"));
        session.prompt("Count").usage(output(tokens)).answer("One").write_to(&home);
    }
    let printed = |arguments: &[&str]| {
        let output =
            home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).env("TZ", "UTC").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let sessions = printed(&["cost", "--by", "session", "-n", "1"]);
    assert!(sessions.contains("22222222") && !sessions.contains("33333333"), "{sessions}");
    assert!(sessions.contains("2 more; use --limit to show more"), "{sessions}");
    let days = printed(&["cost", "-n", "2"]);
    assert!(days.contains("2026-11-20") && !days.contains("2026-11-18"), "{days}");
}

#[test]
fn a_pull_request_has_the_sessions_that_made_it_and_those_of_its_branch() {
    let home = ScratchHome::new();
    let link = |url: &str| json!({"prNumber": 5, "prUrl": url, "prRepository": "sam/shop"});
    let session = |id: &str, branch: &str, tokens: u64| {
        Transcript::new(id).branch(branch).prompt("Fix it").usage(output(tokens)).answer("Done")
    };
    let url = "https://github.com/sam/shop/pull/5";
    // The last link counts.
    let made = session("11111111-aaaa", "fix", 1).note("pr-link", link("https://github.com/sam/shop/pull/4"));
    made.note("pr-link", link(url)).write_to(&home);
    session("22222222-bbbb", "fix", 10).write_to(&home);
    session("33333333-cccc", "other", 100).write_to(&home);
    // Many requests are merged into a main branch: what is on it says nothing of them.
    session("44444444-dddd", "main", 1_000).note("pr-link", link(url)).write_to(&home);
    session("55555555-eeee", "main", 10_000).write_to(&home);
    let by_pr = answer(&home, &["cost", "--by", "pr"]);
    assert_eq!(lines(&by_pr, "output_tokens"), [(String::new(), 10_100), (url.to_owned(), 1_011)]);
    assert_eq!(by_pr["rows"][1]["label"], "sam/shop#5");
}

#[test]
fn sub_agents_are_told_apart_by_their_type() {
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").prompt("Look around").usage(output(7)).answer("I will");
    let session = session
        .subagent("Explore", "Look", "Look at everything", |agent| agent.usage(output(100)).answer("Seen"));
    session.write_to(&home);
    let by_agent = answer(&home, &["cost", "--by", "agent-type"]);
    let found = lines(&by_agent, "output_tokens");
    assert!(found.contains(&("Explore".to_owned(), 100)), "{found:?}");
    assert!(found.iter().any(|(agent, tokens)| agent == "session" && *tokens >= 7), "{found:?}");
    let sum: u64 = found.iter().map(|(_, tokens)| tokens).sum();
    assert_eq!(by_agent["total"]["output_tokens"], sum);
}

#[test]
fn windows_of_five_hours() {
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").at("2026-11-20T09:30:00Z").prompt("Count");
    let session = session.usage(output(10)).answer("One").at("2026-11-20T13:59:00Z").prompt("Go on");
    let session = session.usage(output(20)).answer("Two").at("2026-11-20T14:00:00Z").prompt("Go on");
    session.usage(output(40)).answer("Three").write_to(&home);
    let found = answer(&home, &["cost", "--blocks"]);
    let block =
        |block: &Value| (block["start"].as_str().unwrap().to_owned(), block["output_tokens"].as_u64());
    let blocks: Vec<_> = found["blocks"].as_array().unwrap().iter().map(block).collect();
    let expected = [("2026-11-20T09:00:00.000Z", Some(30)), ("2026-11-20T14:00:00.000Z", Some(40))];
    assert_eq!(blocks, expected.map(|(start, tokens)| (start.to_owned(), tokens)));
    let of_session = &found["blocks"][0]["by_session"];
    assert_eq!(of_session[0]["session_id"], "11111111-aaaa");
    assert_eq!((of_session.as_array().map(Vec::len), of_session[0]["tokens"].as_u64()), (Some(1), Some(30)));
    let later = answer(&home, &["cost", "--blocks", "--since", "2026-11-21"]);
    assert_eq!(later["blocks"], json!([]));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn the_active_window_goes_on_at_its_pace() {
    let home = ScratchHome::new();
    let ago = |minutes: i64| {
        let at = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
        at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    };
    let session = Transcript::new("11111111-aaaa").at(&ago(60)).prompt("Count");
    session.usage(output(1_000)).answer("One").write_to(&home);
    let found = answer(&home, &["cost", "--blocks"]);
    let block = &found["blocks"][0];
    assert_eq!(block["is_active"], true);
    // At least the hour that has passed is still left, and at most four hours more.
    let projected = block["projection"]["tokens"].as_u64().unwrap();
    assert!((4_000..=5_100).contains(&projected), "{projected}");
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(["cost", "--blocks"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("active block: ~$") && text.contains("at this pace ~$"), "{text}");
}

#[test]
fn prices_of_ones_own_hold_everywhere_and_are_named() {
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").model("glm-5").prompt("Count");
    session.usage(output(1_000_000)).answer("One").write_to(&home);
    let price = |home: &ScratchHome| {
        let cost = answer(home, &["cost"]);
        let listed = answer(home, &["list"])["sessions"][0]["cost_usd"].clone();
        (cost["total"]["cost_usd"].clone(), cost["own_prices"].clone(), listed)
    };
    assert_eq!(price(&home), (Value::Null, json!([]), Value::Null));
    // The totals that were kept before are not used any more.
    home.write(".config/backstory/config.toml", "[prices.glm-5]\ninput = 1\noutput = 2.5\n");
    assert_eq!(price(&home), (json!(2.5), json!(["glm-5"]), json!(2.5)));
    home.write(".config/backstory/config.toml", "[prices.glm-5]\ninput = 1\noutput = 5\n");
    assert_eq!(price(&home), (json!(5.0), json!(["glm-5"]), json!(5.0)));
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).arg("cost").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("with your own prices from the settings for glm-5"), "{text}");
    home.write(".config/backstory/config.toml", "[prices.glm-5]\ninput = 1\n");
    let refused = home.command(env!("CARGO_BIN_EXE_backstory")).arg("cost").output().unwrap();
    assert_eq!(refused.status.code(), Some(5), "{}", String::from_utf8_lossy(&refused.stderr));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the program reads the clock, too")]
fn today_on_one_screen() {
    let home = ScratchHome::new();
    let now = jiff::Timestamp::now();
    let today = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let (id, done) = ("11111111-aaaa", "22222222-bbbb");
    for (id, prompt) in [(id, "Rename the theme"), (done, "Count the files")] {
        Transcript::new(id).at(&today).prompt(prompt).answer("Done").write_to(&home);
    }
    let record = json!({"pid": std::process::id(), "sessionId": id, "cwd": "/home/ana/project", "status": "waiting",
        "waitingFor": "permission prompt", "statusUpdatedAt": now.as_millisecond()});
    home.write(".claude/sessions/1.json", record.to_string());
    // At noon, or it may be tomorrow when it is asked.
    let zone = zone_of_noon();
    let found = answer_in(&zone, &home, &["today"]);
    assert_eq!(found["open"].as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!((&found["open"][0]["session_id"], &found["open"][0]["needs_you"]), (&json!(id), &json!(true)));
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).arg("today").env("TZ", zone).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |words: &str| {
        text.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {text}"))
    };
    assert!(line("needs permission") < line("Count the files"), "{text}");
    assert!(text.contains("2 sessions, 2 prompts"), "{text}");
}

#[test]
fn checkouts_of_one_repository_are_one_project() {
    let home = ScratchHome::new();
    let shop = home.repository("work/shop");
    shop.commit("README.md", "shop", "Begin");
    let (path, clone) = (shop.path().display().to_string(), home.path().join("else/shop-again"));
    shop.git(["clone", "--quiet", &path, &clone.display().to_string()]);
    let session = |id: &str, cwd: &std::path::Path, tokens: u64| {
        Transcript::new(id).cwd(cwd).prompt("Fix it").usage(output(tokens)).answer("Done").write_to(&home)
    };
    session("11111111-aaaa", shop.path(), 1);
    session("22222222-bbbb", &clone, 10);
    session("33333333-cccc", &home.dir("work/other"), 100);
    let by_project = answer(&home, &["cost", "--by", "project"]);
    let mut found: Vec<u64> =
        lines(&by_project, "output_tokens").into_iter().map(|(_, tokens)| tokens).collect();
    found.sort_unstable();
    assert_eq!(found, [11, 100], "{by_project}");
}

#[test]
fn a_day_may_be_named_without_a_flag() {
    let home = ScratchHome::new();
    let session = Transcript::new("11111111-aaaa").at("2026-11-20T09:30:00Z").prompt("Count");
    let session = session.usage(output(10)).answer("One").at("2026-11-21T14:00:00Z").prompt("Go on");
    session.usage(output(20)).answer("Two").write_to(&home);
    let one_day = answer(&home, &["cost", "2026-11-21"]);
    assert_eq!(lines(&one_day, "output_tokens"), [("2026-11-21".to_owned(), 20)]);
    let mut blocks = home.command(env!("CARGO_BIN_EXE_backstory"));
    let printed = blocks.args(["cost", "--by", "block"]).env("TZ", "UTC").output().unwrap();
    assert!(String::from_utf8_lossy(&printed.stdout).contains("BLOCK"), "{printed:?}");
}
