//! The files of the real OpenClaw are found, and `memory` answers in its words.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::claude::Run;
use testkit::openclaw::offline_configuration;
use testkit::{Answer, EmbeddingServer, ModelServer, OpenClaw, ScratchHome, Script};

const NOTE: &str = "# Thursday\n\nThe walrus embeddings are done, in the Rotterdam branch.\n";

fn read(run: &Run) -> Value {
    let json = run.stdout.find(['{', '[']).map_or("", |at| &run.stdout[at..]);
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {}\n{}", run.stdout, run.stderr))
}

fn names(value: &Value) -> BTreeSet<String> {
    value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

fn places(answer: &Value) -> BTreeSet<(String, String)> {
    let text = |result: &Value, name: &str| result[name].as_str().unwrap_or_default().to_owned();
    let results = answer["results"].as_array().expect("results");
    results.iter().map(|result| (text(result, "source"), text(result, "path"))).collect()
}

#[test]
fn what_the_real_openclaw_wrote_is_remembered() {
    let home = ScratchHome::new();
    let claw = OpenClaw::installed();
    let model = ModelServer::start(
        Script::new().on("walrus", [Answer::text("The walrus embeddings are in src/walrus.rs.")]),
    );
    let embedding = EmbeddingServer::start(Vec::new());
    let openclaw = |arguments: &[&str]| claw.run(&home, arguments).succeeded();
    let backstory = |arguments: &[&str]| {
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(arguments);
        Run::of(command).succeeded()
    };

    let mut configuration = offline_configuration(&model, &embedding);
    let code = home.path().join("code").display().to_string();
    configuration["agents"]["list"] = json!([{"id": "main"}, {"id": "coder", "workspace": code}]);
    home.write(".openclaw/openclaw.json", configuration.to_string());
    home.write(".openclaw/workspace/memory/2026-01-15.md", NOTE);
    home.write("code/MEMORY.md", "# Rules\n\nNever feed the walrus.\n");
    openclaw(&["agent", "--local", "--agent", "main", "--message", "where are the walrus embeddings?"]);

    openclaw(&["memory", "index"]);
    let theirs =
        read(&openclaw(&["memory", "search", "walrus", "--agent", "main", "--min-score", "0", "--json"]));
    let ours =
        read(&backstory(&["memory", "search", "walrus", "--agent", "main", "--min-score", "0", "--json"]));
    assert_eq!(places(&ours), places(&theirs), "{ours:#}\n{theirs:#}");
    assert!(names(&ours["results"][0]).is_superset(&names(&theirs["results"][0])));
    let coder =
        read(&backstory(&["memory", "search", "walrus", "--agent", "coder", "--source", "memory", "--json"]));
    assert_eq!(coder["results"][0]["path"], json!("MEMORY.md"), "{coder}");

    let theirs = read(&openclaw(&["memory", "status", "--json"]));
    let ours = read(&backstory(&["memory", "status", "--json"]));
    let agents = |answer: &Value| {
        answer.as_array().unwrap().iter().map(|one| one["agentId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(agents(&ours), agents(&theirs));
    assert!(names(&ours[0]["status"]).is_superset(&names(&theirs[0]["status"])), "{theirs:#}");
    assert!(names(&ours[0]).is_superset(&names(&theirs[0])), "{theirs:#}");
    assert_eq!(names(&ours[0]["scan"]), names(&theirs[0]["scan"]));
    assert_eq!(ours[0]["status"]["workspaceDir"], theirs[0]["status"]["workspaceDir"]);
}
