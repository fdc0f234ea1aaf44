//! Twenty workers at once, each with a megabyte to say: nothing is lost, and memory stays small.

use std::os::unix::fs::PermissionsExt as _;

use testkit::files::bytes;
use testkit::{Answer, Claude, Script};
use workers::{Event, Program, WorkerSpec, WorkerState};

use crate::stage::{Actor, Stage};

/// How many lines of a thousand bytes each worker says.
const LINES: usize = 1000;

/// Says as much as a thousand frames can hold, in the frames that `claude` says it in.
const STAND_IN: &str = r#"#!/bin/sh
read -r hello
echo '{"type":"control_response","response":{"subtype":"success","request_id":"backstory-1"}}'
read -r message
uuid=$(printf '%s' "$message" | sed 's/.*"uuid":"\([^"]*\)".*/\1/')
echo '{"type":"user","isReplay":true,"uuid":"'$uuid'"}'
echo '{"type":"system","subtype":"session_state_changed","state":"running"}'
text=$(head -c 1000 /dev/zero | tr '\0' x)
i=0
while [ $i -lt 1000 ]; do
    echo '{"type":"assistant","message":{"content":[{"type":"text","text":"'$i' '$text'"}]}}'
    i=$((i + 1))
done
echo '{"type":"result","subtype":"success","is_error":false,"result":"Said.","total_cost_usd":0.1,"num_turns":1}'
echo '{"type":"system","subtype":"session_state_changed","state":"idle"}'
read -r nothing
"#;

#[test]
fn twenty_workers_write_a_megabyte_each() {
    let long = "word ".repeat(LINES * 200);
    let mut stage =
        Stage::new(&Claude::newest(), Script::new().on("say it all", [Answer::text(long.clone())]));
    let mut actors = Vec::new();
    for number in 0..20 {
        let place = stage.home.repository(&format!("shop-{number}")).path().to_owned();
        let spec = WorkerSpec { directory: place, ..stage.spec("say it all") };
        if number == 2 {
            let path = stage.home.write("bin/stand-in", STAND_IN);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            stage.config.program = Program { path, name: "claude".into() };
        }
        actors.push(stage.start(&spec));
    }
    for (number, mut actor) in actors.into_iter().enumerate() {
        actor.state("idle");
        let texts = actor.texts();
        if number < 2 {
            let said: Vec<_> = texts.iter().map(|text| text.trim_end()).collect();
            assert_eq!(said, [long.trim_end()], "the real claude");
        } else {
            let first = |text: &String| text.split(' ').next().and_then(|word| word.parse().ok());
            let numbers: Vec<usize> = texts.iter().filter_map(first).collect();
            assert_eq!(numbers, (0..LINES).collect::<Vec<_>>(), "worker {number} lost a frame");
        }
        check_log(&stage, &actor, number);
        assert!(matches!(actor.close(), WorkerState::Finished { .. }));
    }
    let most = most_memory();
    println!("at most {most} kB of memory, the scripted model's own included");
    assert!(most < 150_000, "{most} kB");
}

/// Every frame is in the log.
fn check_log(stage: &Stage, actor: &Actor, number: usize) {
    let log =
        String::from_utf8(bytes(&workers::frame_log_path(&stage.config.home, actor.handle.id))).unwrap();
    let texts = actor.heard.iter().filter(|event| matches!(&***event, Event::Text { .. })).count();
    let kept = log.lines().filter(|line| line.contains("\"type\":\"assistant\"")).count();
    assert!(kept >= texts, "worker {number}: {kept} of {texts} frames are kept");
}

/// The most memory this process has had, in kB.
fn most_memory() -> u64 {
    let status = String::from_utf8(bytes(std::path::Path::new("/proc/self/status"))).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
