//! `/api/v1`.

use serde_json::{Value, json};
use testkit::{ScratchHome, Transcript};

use super::{Server, session};

/// A home with three sessions of two projects.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    for (id, project, prompt) in [
        ("3601d36f-b6c0-4e4b-9000-7b07e25374f7", "shop", "paint the fence green"),
        ("4601d36f-b6c0-4e4b-9000-7b07e25374f7", "shop", "count the lanterns"),
        ("5601d36f-b6c0-4e4b-9000-7b07e25374f7", "harbor", "measure the quay"),
    ] {
        let folder = home.dir(project);
        session(&home, id, &folder, prompt, "Done.");
    }
    home
}

#[test]
fn sessions_come_page_by_page_and_only_when_they_changed() {
    let home = home();
    let server = Server::start(&home, &[]);
    let all = server.get("/api/v1/sessions");
    assert_eq!(
        (&all["matching"], &all["known"], &all["next"]),
        (&json!(3), &json!(3), &Value::Null),
        "{all}"
    );
    let mut found = Vec::new();
    let mut next = String::new();
    loop {
        let page = server.get(&format!("/api/v1/sessions?limit=1{next}"));
        assert_eq!(page["sessions"].as_array().unwrap().len(), 1);
        found.push(page["sessions"][0]["session_id"].clone());
        let Some(cursor) = page["next"].as_str() else { break };
        next = format!("&cursor={cursor}");
    }
    let expected: Vec<_> =
        all["sessions"].as_array().unwrap().iter().map(|one| one["session_id"].clone()).collect();
    assert_eq!(found, expected);
    let answer = server.ask("GET", "/api/v1/sessions").send();
    let tag = answer.header("etag").unwrap().to_owned();
    let again = server.ask("GET", "/api/v1/sessions").header("If-None-Match", &tag).send();
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(server.get("/api/v1/sessions?project=harbor")["matching"], 1);
    let ids = |page: &Value| -> Vec<String> {
        let all = page["sessions"].as_array().unwrap().iter();
        all.map(|one| one["session_id"].as_str().unwrap().to_owned()).collect()
    };
    let first = all["sessions"][0]["title"].as_str().unwrap();
    let words = first.replace(' ', "%20").to_uppercase();
    let with_words = server.get(&format!("/api/v1/sessions?words={words}"));
    assert_eq!((ids(&with_words), &with_words["matching"]), (vec![ids(&all)[0].clone()], &json!(1)));
    assert_eq!(server.get("/api/v1/sessions?words=fence%20nowhere")["matching"], 0);
    for order in ["newest", "oldest", "cost", "messages", "tokens"] {
        let sorted = server.get(&format!("/api/v1/sessions?sort={order}"));
        let mut found = Vec::new();
        let mut next = String::new();
        loop {
            let page = server.get(&format!("/api/v1/sessions?sort={order}&limit=1{next}"));
            found.extend(ids(&page));
            let Some(cursor) = page["next"].as_str() else { break };
            next = format!("&cursor={cursor}");
        }
        assert_eq!((found.len(), found), (3, ids(&sorted)), "{order}");
        // A place in one order is none in another.
        let other = format!("/api/v1/sessions?limit=1{next}");
        assert_eq!(server.ask("GET", &other).send().failed(400), "usage", "{order}");
    }
    let longest = "9601d36f-b6c0-4e4b-9000-7b07e25374f7";
    let shop = home.dir("shop");
    Transcript::new(longest)
        .cwd(&shop)
        .prompt("Paint")
        .answer("Red?")
        .prompt("Yes")
        .answer("Done.")
        .write_to(&home);
    assert_eq!(ids(&server.get("/api/v1/sessions?sort=messages"))[0], longest);
    assert_eq!(server.ask("GET", "/api/v1/sessions?sort=colour").send().failed(400), "usage");
    assert_eq!(server.ask("GET", "/api/v1/sessions?colour=red").send().failed(400), "usage");
    assert_eq!(server.ask("GET", "/api/v1/sessions?cursor=x").send().failed(400), "usage");
    assert_eq!(server.ask("GET", "/api/v1/sessions?since=never").send().failed(400), "usage");
}

#[test]
fn a_long_answer_is_compressed_for_who_takes_it() {
    let home = home();
    let said = "paint the fence green ".repeat(10_000);
    session(&home, "6601d36f-b6c0-4e4b-9000-7b07e25374f7", &home.dir("shop"), &said, "Done.");
    let server = Server::start(&home, &[]);
    let long = "/api/v1/sessions/6601d36f/messages";
    let ask = |path: &str| server.ask("GET", path).header("Accept-Encoding", "gzip, br, zstd").send();
    let (plain, packed) = (server.ask("GET", long).send(), ask(long));
    let lengths =
        [&plain, &packed].map(|answer| answer.header("content-length").unwrap().parse::<usize>().unwrap());
    assert!(lengths[0] > said.len() && lengths[1] * 20 < lengths[0], "{lengths:?}");
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), (None, Some("zstd")));
    for answer in [&plain, &packed] {
        assert_eq!((answer.status, answer.header("vary")), (200, Some("accept-encoding")));
    }
    // It has the tag of the same answer in other bytes.
    let tag = packed.header("etag").unwrap();
    assert_eq!(Some(tag), plain.header("etag").map(|tag| format!("W/{tag}")).as_deref());
    assert_eq!(server.ask("GET", long).header("If-None-Match", tag).send().status, 304);
    assert_eq!(ask("/api/v1/sessions/3601d36f").header("content-encoding"), None, "it is short");
    let mut events = server.ask("GET", "/api/v1/events").header("Accept-Encoding", "zstd").listen();
    assert_eq!(events.next().unwrap().name, "sessions-refresh");
}

#[test]
fn one_session_and_its_messages() {
    let home = home();
    let server = Server::start(&home, &[]);
    let one = server.get("/api/v1/sessions/3601d36f");
    assert_eq!((&one["title"], &one["project"]), (&json!("paint the fence green"), &json!("shop")), "{one}");
    let last = server.get("/api/v1/sessions/3601d36f/messages?limit=1");
    assert_eq!(last["messages"][0]["parts"][0]["text"], "Done.");
    let older = last["older"].as_str().unwrap();
    let before = server.get(&format!("/api/v1/sessions/3601d36f/messages?limit=1&before={older}"));
    assert_eq!(before["messages"][0]["parts"][0]["text"], "paint the fence green");
    let after = server
        .get(&format!("/api/v1/sessions/3601d36f/messages?after={}", before["newer"].as_str().unwrap()));
    assert_eq!(after["messages"][0]["parts"][0]["text"], "Done.");
    assert_eq!(server.ask("GET", "/api/v1/sessions/9999999f").send().failed(404), "not_found");
    let problem = server.ask("GET", "/api/v1/sessions/9999999f").send().to_json();
    assert!(
        problem["next_steps"].as_array().unwrap().contains(&json!({"step": "list_sessions"})),
        "{problem}"
    );
}

#[test]
fn finding_choosing_and_counting() {
    let home = home();
    let yard = home.repository("yard");
    session(&home, "6601d36f-b6c0-4e4b-9000-7b07e25374f7", yard.path(), "mow the lawn", "Mown.");
    let server = Server::start(&home, &[]);
    let found = server.get("/api/v1/search?query=lanterns&mode=lexical");
    assert_eq!(found["hits"][0]["session_id"], "4601d36f-b6c0-4e4b-9000-7b07e25374f7", "{found}");
    let same = server.post("/api/v1/search", &json!({"query": "lanterns", "mode": "lexical"}));
    assert_eq!(same["hits"], found["hits"]);
    assert_eq!(server.ask("GET", "/api/v1/search").send().failed(400), "usage");
    let forks = server.post("/api/v1/fork", &json!({"intent": "the quay", "project_path": "harbor"}));
    assert_eq!(forks["results"][0]["session_id"], "5601d36f-b6c0-4e4b-9000-7b07e25374f7", "{forks}");
    let picked = server.post("/api/v1/pick", &json!({"task": "mow the lawn", "repo": yard.path()}));
    assert!(picked["action"].is_string(), "{picked}");
    // Of a budget of next to nothing any cost is a share that JSON has a number for.
    let next_to_nothing = json!({"task": "mow the lawn", "repo": yard.path(), "budget_usd": 5e-324});
    let picked = server.post("/api/v1/pick", &next_to_nothing);
    let share = json!({"kind": "budget", "value": 100_000.0});
    assert_eq!(picked["scores"][0]["ceiling"], share, "{picked}");
    let status = server.get(&format!("/api/v1/status?repo={}", yard.path().display()));
    assert!(status["sessions"]["recent"].is_array(), "{status}");
    let projects = server.get("/api/v1/projects");
    let names: Vec<_> =
        projects["projects"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"shop") && names.contains(&"harbor"), "{projects}");
    let cost = server.get("/api/v1/cost?by=project");
    assert_eq!((&cost["by"], cost["rows"].as_array().map(Vec::len)), (&json!("project"), Some(3)), "{cost}");
    let windows = server.get("/api/v1/cost/blocks");
    let spent: u64 =
        windows["blocks"].as_array().unwrap().iter().filter_map(|one| one["sessions"].as_u64()).sum();
    assert_eq!(spent, 4, "each session is in one window: {windows}");
    assert!(windows["prices_as_of"].is_string(), "{windows}");
    let of_shop = server.get("/api/v1/cost/blocks?project=shop&since=2001-01-01");
    assert_eq!(of_shop["blocks"].as_array().map(Vec::len), Some(1), "{of_shop}");
    assert_eq!(server.get("/api/v1/cost/blocks?until=2001-01-01")["blocks"], json!([]));
    assert_eq!(server.ask("GET", "/api/v1/cost/blocks?day=1").send().failed(400), "usage");
    assert!(server.get("/api/v1/doctor")["findings"].is_array());
}

#[test]
fn jobs_are_added_switched_run_and_removed() {
    let home = home();
    let server = Server::start(&home, &[]);
    let job = json!({"name": "tidy", "task": "tidy up", "cron": "0 4 * * *", "directory": home.path()});
    let answer = server.ask("POST", "/api/v1/cron/jobs").json(&job).send();
    assert_eq!((answer.status, &answer.to_json()["enabled"]), (201, &json!(true)), "{answer:?}");
    assert_eq!(server.ask("POST", "/api/v1/cron/jobs").json(&job).send().failed(400), "usage");
    assert_eq!(server.post("/api/v1/cron/jobs/tidy/disable", &json!({}))["enabled"], false);
    assert_eq!(server.post("/api/v1/cron/jobs/tidy/enable", &json!({}))["enabled"], true);
    let listed = server.get("/api/v1/cron/jobs");
    assert_eq!(listed["jobs"][0]["name"], "tidy", "{listed}");
    assert_eq!(server.get("/api/v1/cron/history")["runs"], json!([]));
    assert_eq!(server.ask("DELETE", "/api/v1/cron/jobs/tidy").send().succeeded()["name"], "tidy");
    assert_eq!(server.ask("DELETE", "/api/v1/cron/jobs/tidy").send().failed(404), "not_found");
}

#[test]
fn tokens_are_handed_out_and_revoked() {
    let home = home();
    let server = Server::start(&home, &[]);
    let made = server.post("/api/v1/tokens", &json!({"name": "phone", "scope": "read"}));
    let secret = made["token"].as_str().unwrap();
    let ask = || {
        server
            .bare("GET", "/api/v1/sessions")
            .header("Authorization", &format!("Bearer {secret}"))
            .send()
            .status
    };
    assert_eq!(ask(), 200);
    let listed = server.get("/api/v1/tokens");
    let names: Vec<_> = listed["tokens"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["tests", "phone"]);
    assert_eq!(listed["yours"], 0, "{listed}");
    assert!(!listed.to_string().contains(secret));
    assert_eq!(server.ask("DELETE", "/api/v1/tokens/phone").send().status, 204);
    assert_eq!(ask(), 401);
}

#[test]
fn the_description_is_served() {
    let server_home = home();
    let server = Server::start(&server_home, &[]);
    let described = server.get("/api/v1/openapi.json");
    assert_eq!(described["openapi"], "3.1.0");
    assert!(described["paths"]["/api/v1/sessions"]["get"]["responses"]["200"].is_object());
    // The page that shows it has no inline script or style, and needs nothing of another host.
    let page = server.ask("GET", "/api/v1/docs").send();
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(!page.header("content-security-policy").unwrap().contains("unsafe"), "{page:?}");
    assert!(
        !page.body.contains("://") && !page.body.contains("<style") && !page.body.contains("<script>"),
        "{page:?}"
    );
    for file in ["page.js", "page.css"] {
        assert!(page.body.contains(&format!("docs/{file}")), "{page:?}");
        assert_eq!(server.ask("GET", &format!("/api/v1/docs/{file}")).send().status, 200);
    }
    assert_eq!(server.bare("GET", "/api/v1/docs").send().failed(401), "forbidden");
}

#[test]
fn nothing_is_asked_for_with_a_limit_of_nothing() {
    let home = ScratchHome::new();
    let shop = home.dir("shop");
    let id = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
    session(&home, id, &shop, "paint the fence", "Done.");
    let server = Server::start(&home, &[]);
    for path in [
        "/api/v1/sessions",
        &format!("/api/v1/sessions/{id}/messages"),
        &format!("/api/v1/sessions/{id}/blocks"),
        "/api/v1/search?query=fence",
        "/api/v1/cron/history",
        "/api/sessions/archived",
        &format!("/api/sessions/claude:{id}/history"),
        &format!("/api/chat/claude:{id}/history"),
    ] {
        let and = if path.contains('?') { '&' } else { '?' };
        let answer = server.ask("GET", &format!("{path}{and}limit=0")).send();
        assert_eq!(answer.failed(400), "usage", "{path}");
        assert!(answer.body.contains("limit"), "{answer:?}");
        server.get(&format!("{path}{and}limit=1"));
    }
    for (path, body) in [
        ("/api/v1/search", json!({"query": "fence", "limit": 0})),
        ("/api/v1/fork", json!({"intent": "fence", "limit": 0})),
    ] {
        assert_eq!(server.ask("POST", path).json(&body).send().failed(400), "usage", "{path}");
    }
}
