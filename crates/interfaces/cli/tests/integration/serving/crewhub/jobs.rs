//! Scheduled jobs.

use serde_json::json;

use super::{check, home};
use crate::serving::Server;

const JOB: &str =
    "id:text name:text enabled:yes schedule:object payload:object sessionTarget:text state:object";

#[test]
fn jobs() {
    let home = home();
    let server = Server::start(&home, &[]);
    assert_eq!(server.get("/api/cron/jobs"), json!({"jobs": []}));
    let new = json!({
        "name": "Tidy up", "schedule": {"kind": "every", "everyMs": 3_600_000, "anchorMs": 0}, "sessionTarget": "isolated",
        "payload": {"kind": "agentTurn", "message": "tidy", "model": "opus", "thinking": "low", "timeoutSeconds": 60},
        "directory": home.path(), "enabled": false,
    });
    let made = server.post("/api/cron/jobs", &new);
    check(&made, JOB);
    let id = made["id"].as_str().expect("an id").to_owned();
    assert_eq!(made["enabled"], false);
    assert_eq!(made["name"], "Tidy up", "as the person wrote it");
    assert_eq!(made["payload"], new["payload"]);
    assert_eq!(
        (&made["schedule"]["kind"], &made["schedule"]["everyMs"]),
        (&json!("every"), &json!(3_600_000))
    );
    assert_eq!(server.post("/api/cron/jobs/Tidy-up/enable", &json!({})), json!({"success": true}));
    let one = server.get("/api/cron/jobs/Tidy-up");
    assert!(one["enabled"] == true && one["state"]["nextRunAtMs"].is_number(), "{one}");
    let named = |path: &str, name: &str| {
        server.ask("PATCH", path).json(&json!({ "name": name })).send().succeeded()["name"].clone()
    };
    assert_eq!(named("/api/cron/jobs/Tidy-up", "Tidy  well"), "Tidy  well");
    assert_eq!(server.get("/api/cron/jobs")["jobs"][0]["name"], "Tidy  well");
    assert_eq!(named("/api/cron/jobs/Tidy--well", "Tidy-up"), "Tidy-up");
    let change = json!({"schedule": {"kind": "cron", "expr": "0 9 * * *", "tz": "UTC"}, "name": "Morning"});
    let changed = server.ask("PATCH", "/api/cron/jobs/Tidy-up").json(&change).send().succeeded();
    assert_eq!(
        (&changed["id"], &changed["schedule"]),
        (&json!(id), &json!({"kind": "cron", "expr": "0 9 * * *", "tz": "UTC"}))
    );
    assert_eq!((&changed["payload"], &changed["enabled"]), (&new["payload"], &json!(true)));
    // It is the same job, with its history, and its id leads to it under each name.
    let own = format!("/api/cron/jobs/{id}");
    assert_eq!((server.get(&own), &changed["name"]), (changed.clone(), &json!("Morning")));
    assert_eq!(named(&own, "Each day"), "Each day");
    assert_eq!(server.post(&format!("{own}/disable"), &json!({})), json!({"success": true}));
    assert_eq!(server.post(&format!("{own}/enable"), &json!({})), json!({"success": true}));
    assert_eq!(named(&own, "Morning"), "Morning");
    assert_eq!(changed["createdAtMs"], made["createdAtMs"]);
    let wrong = json!({"schedule": {"kind": "cron", "expr": "never"}});
    assert_eq!(server.ask("PATCH", "/api/cron/jobs/Morning").json(&wrong).send().failed(400), "usage");
    assert_eq!(server.get("/api/cron/jobs")["jobs"].as_array().map(Vec::len), Some(1));
    let off =
        server.ask("PATCH", "/api/cron/jobs/Morning").json(&json!({"enabled": false})).send().succeeded();
    assert_eq!(off["enabled"], false);
    assert_eq!(server.ask("DELETE", "/api/cron/jobs/Morning").send().succeeded(), json!({"success": true}));
    assert_eq!(server.ask("GET", "/api/cron/jobs/Morning").send().failed(404), "not_found");
    // A name is forgotten with its job.
    server.post("/api/cron/jobs", &new);
    let first = server.get("/api/cron/jobs/Tidy-up")["id"].as_str().expect("an id").to_owned();
    assert_ne!(first, id);
    assert_eq!(server.ask("DELETE", &format!("/api/cron/jobs/{first}")).send().status, 200);
    let mut again = new.clone();
    again["name"] = json!("Tidy-up");
    assert_eq!(server.post("/api/cron/jobs", &again)["name"], "Tidy-up");
    assert_eq!(server.ask("DELETE", "/api/cron/jobs/Tidy-up").send().status, 200);
    let event = json!({"schedule": {"kind": "at", "atMs": 4_102_444_800_000_i64}, "payload": {"kind": "systemEvent", "text": "hi"}, "directory": home.path()});
    let made = server.post("/api/cron/jobs", &event);
    assert_eq!((&made["sessionTarget"], &made["schedule"]), (&json!("main"), &event["schedule"]), "{made}");

    let gone = home.dir("gone");
    let mut doomed = new.clone();
    doomed["name"] = json!("doomed");
    doomed["directory"] = json!(gone);
    let _ = server.post("/api/cron/jobs", &doomed);
    std::fs::remove_dir(&gone).unwrap();
    assert_ne!(server.ask("POST", "/api/cron/jobs/doomed/run").send().status, 200);
    let state = server.get("/api/cron/jobs/doomed")["state"].clone();
    assert_eq!(state["lastStatus"], "error", "{state}");
    assert!(state["lastError"].as_str().is_some_and(|why| why.contains("gone")), "{state}");
    assert!(state["lastDurationMs"].is_number(), "{state}");
}
