//! Scheduled jobs of a server, with the real `claude` against a scripted model.

use serde_json::json;
use testkit::claude::Run;
use testkit::files::wait_until;
use testkit::{Answer, Claude, Script};

use super::Server;
use crate::cron::history;
use crate::desk::Desk;

#[test]
fn a_job_begins_with_the_connections_of_now() {
    let desk = Desk::new(Claude::newest(), Script::new().on("say hello", [Answer::text("Hello there.")]));
    let shop = desk.project("shop");
    let server = Server::of(&desk.home, desk.command(&[]), &[]);
    let bin = desk.home.path().join("bin");
    std::fs::rename(bin.join("claude"), bin.join("other-claude")).unwrap();
    let config = json!({ "config": { "cli_path": "~/bin/other-claude" } });
    server.ask("PATCH", "/api/connections/local-claude").json(&config).send().succeeded();
    let mut add = desk.command(&["cron", "add", "greet", "--at", "in 50ms", "say", "hello"]);
    add.current_dir(shop.path());
    let _ = Run::of(add).succeeded();
    let newest = || history(&desk, "greet").pop().unwrap_or_default();
    wait_until(desk.home.path(), "the job has run", || !newest()["outcome"].is_null());
    assert_eq!(newest()["outcome"], "finished", "{}", newest());
}
