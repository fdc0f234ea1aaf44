//! Forks without a mark, as releases wrote them: which is the original their records tell, in whatever order the files
//! were made, because people copy, restore and clone them.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use catalog::{Detail, Locations, read};
use transcript::ConfigFolder;

const ORIGINAL: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const FORK: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// One line of a session, as far as releases differ in it.
struct Turn {
    session: &'static str,
    version: &'static str,
    number: u32,
    second: u32,
    request: bool,
}

impl Turn {
    fn lines(&self) -> String {
        let Self { session, version, number, second, request } = self;
        let envelope = format!(
            r#""cwd":"/p","sessionId":"{session}","version":"{version}","timestamp":"2026-11-20T15:27:{second:02}.100Z""#
        );
        let request = if *request { format!(r#""requestId":"req_{number}","#) } else { String::new() };
        format!(
            r#"{{"parentUuid":null,"type":"user","uuid":"u{number}",{envelope},"message":{{"role":"user","content":"prompt {number}"}}}}
{{"parentUuid":"u{number}","type":"assistant","uuid":"a{number}",{envelope},{request}"message":{{"id":"msg_{number}","model":"claude-opus-5-5","content":[{{"type":"text","text":"Done"}}],"usage":{{"output_tokens":{number}}}}}}}
"#
        )
    }
}

fn queued(session: &str, second: u32) -> String {
    let record = |operation: &str| {
        format!(
            "{{\"type\":\"queue-operation\",\"operation\":\"{operation}\",\"timestamp\":\"2026-11-20T15:27:{second:02}.050Z\",\"sessionId\":\"{session}\"}}\n"
        )
    };
    record("enqueue") + &record("dequeue")
}

/// A session of two turns, and its fork with a third.
fn shape(version: &'static str) -> (String, String) {
    let numbers: Vec<u32> = version.split('.').map(|number| number.parse().unwrap()).collect();
    let (has_queue, has_mode) = (numbers >= vec![2, 0, 42], numbers >= vec![2, 1, 197]);
    let queue = |session, second| if has_queue { queued(session, second) } else { String::new() };
    let mode = |session| format!("{{\"type\":\"mode\",\"mode\":\"normal\",\"sessionId\":\"{session}\"}}\n");
    let turn = |session, number, second, request| Turn { session, version, number, second, request }.lines();
    let original = queue(ORIGINAL, 1)
        + &turn(ORIGINAL, 1, 1, true)
        + &queue(ORIGINAL, 5)
        + &turn(ORIGINAL, 2, 5, true)
        + &if has_mode { mode(ORIGINAL) } else { String::new() };
    // Up to 2.0.0 copies have new times and no request; later they are whole.
    let (first, second) = if has_queue { (1, 5) } else { (20, 20) };
    let fork = if has_mode { mode(FORK) } else { String::new() }
        + &queue(FORK, 20)
        + &turn(FORK, 1, first, has_queue)
        + &turn(FORK, 2, second, has_queue)
        + &turn(FORK, 3, 21, true);
    (original, fork)
}

/// Writes a file that is younger than those that were written before.
fn write(folder: &Path, id: &str, content: &str) {
    let made = |path: PathBuf| fs::metadata(path).and_then(|found| found.created());
    let before = fs::read_dir(folder).unwrap().filter_map(|entry| made(entry.unwrap().path()).ok()).max();
    let path = folder.join(format!("{id}.jsonl"));
    loop {
        fs::write(&path, content).unwrap();
        if made(path.clone()).ok() > before {
            return;
        }
        fs::remove_file(&path).unwrap();
    }
}

fn check(version: &'static str) {
    let (original, fork) = shape(version);
    let mut files = [(ORIGINAL, &original), (FORK, &fork)];
    for _ in 0..2 {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("projects/-p");
        fs::create_dir_all(&folder).unwrap();
        for (id, content) in files {
            write(&folder, id, content);
        }
        let places = Locations {
            config_folders: vec![ConfigFolder::new(scratch.path())],
            threads: 2,
            ..Locations::default()
        };
        let mut parents: Vec<_> = read(&places, Detail::Facts, |_| true)
            .sessions
            .into_iter()
            .map(|entry| (entry.session.id.to_string(), entry.session.forked_from))
            .map(|(id, parent)| (id, parent.map(|parent| parent.session_id.to_string())))
            .collect();
        parents.sort();
        let expected = [(ORIGINAL.to_owned(), None), (FORK.to_owned(), Some(ORIGINAL.to_owned()))];
        assert_eq!(parents, expected, "{version}, {} was made first", files[0].0);
        files.reverse();
    }
}

#[test]
fn the_original_is_recognized_by_its_records() {
    for version in ["1.0.128", "2.0.0", "2.1.100", "2.1.197", "2.1.260"] {
        check(version);
    }
}
