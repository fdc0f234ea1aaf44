//! What the dashboard's pages ask for, and the pages themselves.

use serde_json::{Value, json};
use testkit::ScratchHome;

use super::{Browser, Server, session};

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    session(&home, ID, &shop, "paint the fence green", "The fence is green.");
    home
}

#[test]
fn the_page_is_in_the_program() {
    let home = home();
    let server = Server::start(&home, &[]);
    let page = server.ask("GET", "/").header("Accept", "text/html").send();
    assert_eq!((page.status, page.header("cache-control")), (200, Some("private, no-cache")), "{page:?}");
    assert!(
        page.header("content-security-policy").is_some_and(|policy| !policy.contains("unsafe")),
        "{page:?}"
    );
    let (_, rest) = page.body.split_once("src=\"/assets/").expect("a script");
    let name = rest.split('"').next().expect("its name");
    let script = server.ask("GET", &format!("/assets/{name}")).send();
    assert_eq!(script.status, 200);
    assert!(script.header("cache-control").is_some_and(|rule| rule.contains("immutable")), "{script:?}");
    assert_eq!(server.ask("GET", "/s/3601d36f").send().body, page.body);
    assert_eq!(server.ask("GET", "/assets/none.js").send().failed(404), "not_found");
}

#[test]
fn a_browser_without_the_link_reads_what_to_do() {
    let home = home();
    let server = Server::start(&home, &[]);
    let refused = server.bare("GET", "/").header("Accept", "text/html").send();
    assert_eq!(refused.status, 401);
    assert!(refused.body.contains("backstory serve"), "{refused:?}");
    let program = server.bare("GET", "/").send();
    assert_eq!(program.failed(401), "forbidden");
}

#[test]
fn a_slow_call_says_what_it_was_for() {
    let home = home();
    let input = json!({"command": "cargo test --workspace", "description": "Run the tests"});
    let id = "4601d36f-b6c0-4e4b-9000-7b07e25374f7";
    testkit::Transcript::new(id).prompt("test it").tool("Bash", input, "ok").answer("Done.").write_to(&home);
    let server = Server::start(&home, &[]);
    let outline = server.get(&format!("/api/v1/sessions/{id}/outline"));
    let call = &outline["slowest"][0];
    assert_eq!((&call["name"], &call["detail"]), (&json!("Bash"), &json!("Run the tests")), "{outline}");
}

#[test]
fn every_prompt_of_a_branch_that_was_left_says_so() {
    let home = home();
    let id = "5601d36f-b6c0-4e4b-9000-7b07e25374f7";
    let begun = testkit::Transcript::new(id).prompt("paint the gate").answer("Which colour?");
    let left = begun.clone().prompt("red").answer("It is red.").prompt("is it dry?");
    // Later the person goes back to the question, and answers it otherwise.
    let whole = left.clone().prompt("green").answer("It is green.").bytes();
    let rest = String::from_utf8(whole[left.bytes().len()..].to_vec()).unwrap();
    let (was, is) = (left.last_uuid().unwrap(), begun.last_uuid().unwrap());
    let path = left.write_to(&home);
    std::fs::write(&path, [left.bytes(), rest.replacen(&was, &is, 1).into_bytes()].concat()).unwrap();
    let server = Server::start(&home, &[]);
    let outline = server.get(&format!("/api/v1/sessions/{id}/outline"));
    let prompts = outline["prompts"].as_array().unwrap();
    let green = &prompts[3]["uuid"];
    let for_green: Vec<bool> = prompts.iter().map(|prompt| prompt["left_for"] == *green).collect();
    assert_eq!(for_green, [false, true, true, false], "{outline}");
    assert_eq!(outline["branches"], json!([{"left": prompts[1]["uuid"], "taken": green}]), "{outline}");
}

#[test]
fn a_project_costs_the_same_on_every_page() {
    let home = home();
    // A session of the demo has another cost in OpenClaw's registry.
    let server = Server::start(&home, &["--demo"]);
    let browser = Browser::sign_in(&server);
    let get = |path: &str| browser.ask(server.bare("GET", path)).send().succeeded();
    let sum = |answer: &Value, field: &str, name: &Value, cost: &str| -> f64 {
        let rows = answer.as_array().unwrap().iter().filter(|row| row[field] == *name);
        rows.filter_map(|row| row[cost].as_f64()).sum()
    };
    let (projects, rows) = (get("/api/v1/projects"), get("/api/v1/rows"));
    let spent = get("/api/v1/spending");
    for project in projects["projects"].as_array().unwrap() {
        let by = |answer, field, cost| sum(answer, field, &project["name"], cost);
        let cost = project["cost_usd"].as_f64().unwrap();
        let others = [by(&spent["rows"], "project", "cost_usd"), by(&rows["rows"], "project", "cost")];
        assert!(cost > 0.0 && others.iter().all(|other| (other - cost).abs() < 1e-9), "{project} {others:?}");
    }
}

#[test]
fn rows_blocks_outline_and_words_of_a_session() {
    let home = home();
    let server = Server::start(&home, &[]);
    let rows = server.get("/api/v1/rows");
    assert_eq!((&rows["known"], &rows["rows"][0]["id"]), (&json!(1), &json!(ID)), "{rows}");
    assert_eq!(rows["rows"][0]["title"], "paint the fence green");
    let page = server.get(&format!("/api/v1/sessions/{ID}/blocks"));
    let texts: Vec<&Value> =
        page["messages"].as_array().unwrap().iter().map(|message| &message["blocks"][0]["text"]).collect();
    assert_eq!(texts, ["paint the fence green", "The fence is green."], "{page}");
    assert_eq!((&page["older"], &page["is_last"]), (&Value::Null, &json!(true)));
    let last = server.get(&format!("/api/v1/sessions/{ID}/blocks?limit=1"));
    let older = last["older"].as_str().unwrap();
    let first = server.get(&format!("/api/v1/sessions/{ID}/blocks?limit=1&before={older}"));
    assert_eq!(first["messages"][0], page["messages"][0]);
    let found = server.get(&format!("/api/v1/sessions/{ID}/find?text=FENCE%20IS"));
    assert_eq!(found["matches"].as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(found["matches"][0]["uuid"], page["messages"][1]["uuid"]);
    assert_eq!(server.get(&format!("/api/v1/sessions/{ID}/find?text=river"))["matches"], json!([]));
    let outline = server.get(&format!("/api/v1/sessions/{ID}/outline"));
    assert_eq!(outline["prompts"][0]["text"], "paint the fence green", "{outline}");
    let none = server.ask("GET", &format!("/api/v1/sessions/{ID}/pictures/0/0")).send();
    assert_eq!(none.failed(404), "not_found");
}

#[test]
fn a_row_says_which_background_job_it_is() {
    let home = home();
    let job = json!({"sessionId": ID, "state": "blocked", "tempo": "blocked", "needs": "set DEPLOY_TOKEN", "name": "colours"});
    home.write(".claude/jobs/3601d36f/state.json", job.to_string());
    let server = Server::start(&home, &[]);
    let row = &server.get("/api/v1/rows")["rows"][0];
    let expected =
        json!({"id": "3601d36f", "name": "colours", "state": "blocked", "needs": "set DEPLOY_TOKEN"});
    assert_eq!(row["background_job"], expected, "{row}");
}

#[test]
fn a_day_is_played_again_and_spending_is_added_up() {
    let home = home();
    let server = Server::start(&home, &[]);
    let at = server.get(&format!("/api/v1/sessions/{ID}/blocks"))["messages"][0]["at"].clone();
    let day = &at.as_str().unwrap()[..10];
    let played = server.get(&format!("/api/v1/replay?since={day}T00:00:00Z"));
    assert_eq!(played["sessions"][0]["id"], ID, "{played}");
    assert!(played["changes"].as_array().is_some_and(|changes| !changes.is_empty()), "{played}");
    let never = server.get("/api/v1/replay?since=2001-01-01T00:00:00Z");
    assert_eq!((&never["sessions"], &never["changes"]), (&json!([]), &json!([])));
    assert!(server.get("/api/v1/spending")["rows"].is_array());
    assert_eq!(server.ask("GET", "/api/v1/replay?since=never").send().failed(400), "usage");
}
