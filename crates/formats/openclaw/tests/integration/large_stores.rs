//! Stores that are larger than what one wants in memory, and files that change while they are read.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use model::AgentId;
use openclaw::{AgentStore, Entry, OpenClawConfig, SessionKey, StoreError};

const STATE: &str = "BACKSTORY_TEST_LARGE_STATE";
/// The size of each large entry, in MiB.
const LARGE: usize = 24;
const SMALL: &str = r#"{"sessionId": "s1", "unknown": [ 1.50 ]}"#;

struct Desk {
    scratch: tempfile::TempDir,
    store: AgentStore,
}

impl Desk {
    /// With a store of so many entries of so many MiB, and a small one between them.
    fn new(entries: usize, mebibytes: usize) -> Self {
        let filler = "x".repeat(1 << 20);
        let desk = Self::with_store(b"");
        let mut out = BufWriter::new(File::create(desk.store.path()).unwrap());
        out.write_all(b"{\n").unwrap();
        for number in 0..entries {
            if number == entries / 2 {
                writeln!(out, "  \"agent:main:small\": {SMALL},").unwrap();
            }
            write!(out, "  \"agent:main:e{number}\": {{\"sessionId\": \"e{number}\", \"text\": \"").unwrap();
            (0..mebibytes).for_each(|_| out.write_all(filler.as_bytes()).unwrap());
            writeln!(out, "\"}}{}", if number + 1 == entries { "" } else { "," }).unwrap();
        }
        out.write_all(b"}\n").unwrap();
        out.flush().unwrap();
        desk
    }

    fn with_store(bytes: &[u8]) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let store = store(scratch.path());
        fs::create_dir_all(store.folder()).unwrap();
        fs::write(store.path(), bytes).unwrap();
        Self { scratch, store }
    }

    /// Writes into the file as it is; its time is then another one.
    fn write_in_place(&self, at: u64, bytes: &[u8], seconds: u64) {
        let file = File::options().write(true).open(self.store.path()).unwrap();
        file.write_all_at(bytes, at).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }

    fn place_of_small(&self) -> u64 {
        let bytes = fs::read(self.store.path()).unwrap();
        bytes.windows(SMALL.len()).position(|part| part == SMALL.as_bytes()).unwrap() as u64
    }

    /// What else is in the folder.
    fn left_over(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.store.folder()).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path != self.store.path()).collect()
    }
}

fn store(state: &Path) -> AgentStore {
    AgentStore::of_agent(state, &OpenClawConfig::default(), state, &AgentId::main(), &|_| None)
}

fn key(text: &str) -> SessionKey {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    "2026-01-15T12:00:00Z".parse().unwrap()
}

fn labelled(text: &str) -> Entry {
    Entry { label: Some(text.to_owned()), ..Entry::default() }
}

/// The most memory that this process ever had, in KiB.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Not a test of its own: the process of which the other one wants to know how much memory it takes.
#[test]
#[cfg(target_os = "linux")]
fn child_that_changes_a_large_store() {
    let Ok(state) = std::env::var(STATE) else { return };
    let store = store(Path::new(&state));
    let before = peak();
    let loaded = store.load();
    assert_eq!((loaded.problem, loaded.store.keys().count()), (None, 6));
    let small = key("agent:main:small");
    assert_eq!(loaded.store.get(&small).unwrap().unwrap().session_id.as_deref(), Some("s1"));
    let done = store.update_entry(&small, &now, |_, _| Some(labelled("changed"))).unwrap();
    assert_eq!(done.notes, [""; 0]);
    let more = peak() - before;
    assert!(more < (LARGE as u64 / 2) << 10, "{more} KiB");
}

#[test]
#[cfg(target_os = "linux")]
fn a_large_store_takes_little_memory_and_keeps_every_other_byte() {
    let desk = Desk::new(5, LARGE);
    let old = desk.scratch.path().join("old");
    fs::hard_link(desk.store.path(), &old).unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "large_stores::child_that_changes_a_large_store", "--nocapture"])
        .env(STATE, desk.scratch.path())
        .output()
        .unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));

    let (old, new) = (File::open(old).unwrap(), File::open(desk.store.path()).unwrap());
    let (size, larger) = (old.metadata().unwrap().len(), new.metadata().unwrap().len());
    assert!(size > (5 * LARGE as u64) << 20);
    let mut piece = [vec![0; 1 << 20], vec![0; 1 << 20]];
    let mut same = |from: u64, shift: u64, length: u64| {
        let length = usize::try_from(length).unwrap();
        old.read_exact_at(&mut piece[0][..length], from).unwrap();
        new.read_exact_at(&mut piece[1][..length], from + shift).unwrap();
        piece[0][..length] == piece[1][..length]
    };
    // The small entry is behind two large ones.
    let mut head = vec![0; 1 << 10];
    let about = (2 * (LARGE << 20)) as u64;
    old.read_exact_at(&mut head, about).unwrap();
    let found = head.windows(SMALL.len()).position(|part| part == SMALL.as_bytes()).unwrap();
    let begin = about + found as u64;
    let end = begin + SMALL.len() as u64;
    for (from, until, shift) in [(0, begin, 0), (end, size, larger - size)] {
        for at in (from..until).step_by(1 << 20) {
            assert!(same(at, shift, (until - at).min(1 << 20)), "{at}");
        }
    }
    let mut entry = vec![0; usize::try_from(end + larger - size - begin).unwrap()];
    new.read_exact_at(&mut entry, begin).unwrap();
    let entry: serde_json::Value = serde_json::from_slice(&entry).unwrap();
    let expected = serde_json::json!({
        "sessionId": "s1", "unknown": [1.5], "updatedAt": now().as_millisecond(), "label": "changed"
    });
    assert_eq!(entry, expected);
}

#[test]
fn a_file_that_is_changed_in_place_is_refused_and_left_as_it_is() {
    let desk = Desk::new(1, 2);
    let small = key("agent:main:small");
    let place = desk.place_of_small();
    let loaded = desk.store.load().store;
    desk.write_in_place(place, &SMALL.replace("s1", "s2").into_bytes(), 1);
    let problem = |error: StoreError| match error {
        StoreError::File(problem) => problem.what,
        other => panic!("{other}"),
    };
    assert_eq!(problem(loaded.get(&small).unwrap_err()), "was changed in place while it was read");

    // Once: the update is made again, and nothing is lost.
    let mut calls = 0;
    let mut spoil_until = |last: u64| {
        calls = 0;
        desk.store.update(&now, |store, _| {
            calls += 1;
            if calls <= last {
                desk.write_in_place(
                    place,
                    &SMALL.replace("s1", &format!("i{calls}")).into_bytes(),
                    1 + calls,
                );
            }
            store.put(&key("agent:main:e0"), &labelled("ours"))
        })
    };
    let whole = fs::read(desk.store.path()).unwrap();
    assert_eq!(problem(spoil_until(2).unwrap_err()), "was changed in place while it was read");
    assert_eq!(desk.left_over(), Vec::<PathBuf>::new());
    let expected = String::from_utf8(whole).unwrap().replace("s2", "i2");
    assert!(fs::read(desk.store.path()).unwrap() == expected.as_bytes());
    spoil_until(1).unwrap();
    let loaded = desk.store.load().store;
    let label = loaded.get(&key("agent:main:e0")).unwrap().unwrap().label;
    let session = loaded.get(&small).unwrap().unwrap().session_id;
    assert_eq!((label.as_deref(), session.as_deref()), (Some("ours"), Some("i1")));
}

#[test]
fn a_changed_file_is_refused_though_size_and_time_are_the_same() {
    let desk = Desk::new(1, 2);
    desk.write_in_place(0, b"{", 1);
    let loaded = desk.store.load().store;
    desk.write_in_place(desk.place_of_small(), b"}", 1);
    let small = key("agent:main:small");
    assert!(matches!(loaded.get(&small), Err(StoreError::File(_))));
    assert!(matches!(loaded.text(&small), Err(StoreError::File(_))));
    assert!(loaded.text(&key("agent:main:e0")).unwrap().is_some_and(|text| text.len() > 2 << 20));
}

#[test]
fn invalid_utf_8_is_kept_in_unchanged_members() {
    for length in [1, 2 << 20] {
        let spoilt = [&b"\"agent:main:a\": {\"label\": \"\xff"[..], &b"y".repeat(length), b"\"}"].concat();
        let desk =
            Desk::with_store(&[b"{", &spoilt[..], b",\"agent:main:b\":{\"sessionId\":\"s\"}}"].concat());
        desk.store.update(&now, |store, _| store.put(&key("agent:main:b"), &labelled("new"))).unwrap();
        let written = fs::read(desk.store.path()).unwrap();
        assert!(written.windows(spoilt.len()).any(|part| part == spoilt), "{length}");
        let loaded = desk.store.load().store;
        assert_eq!(loaded.get(&key("agent:main:b")).unwrap().unwrap().label.as_deref(), Some("new"));
        let label = loaded.get(&key("agent:main:a")).unwrap().unwrap().label.unwrap();
        assert!(label.starts_with("\u{fffd}y"));
    }
    // A key is replaced as OpenClaw does.
    let desk = Desk::with_store(b"{\"agent:main:\xff\":{\"sessionId\":\"s\"}}");
    assert_eq!(desk.store.load().store.keys().collect::<Vec<_>>(), ["agent:main:\u{fffd}"]);
}

#[test]
fn large_files_that_are_no_json_are_treated_as_small_ones() {
    let filler = "x".repeat(2 << 20);
    let check = |text: &str, expected: Result<&str, &str>| {
        let desk = Desk::with_store(text.as_bytes());
        let loaded = desk.store.load();
        let label = loaded.store.get(&key("agent:main:a")).unwrap().and_then(|entry| entry.label);
        let found = match &loaded.problem {
            Some(problem) => Err(problem.what.as_str()),
            None => Ok(label.as_deref().unwrap_or_default()),
        };
        match (expected, found) {
            (Ok(expected), found) => assert_eq!(found, Ok(expected)),
            (Err(part), found) => assert!(found.is_err_and(|what| what.contains(part)), "{found:?}"),
        }
        let done = desk.store.create(&key("agent:main:new"), &labelled("new"), &now).unwrap();
        assert_eq!(done.notes.len(), desk.left_over().len(), "{:?}", done.notes);
        let loaded = desk.store.load();
        assert_eq!(loaded.store.get(&key("agent:main:new")).unwrap().unwrap().label.as_deref(), Some("new"));
        desk.left_over().len()
    };
    let entry = |name: &str| format!("{name}: {{\"label\": \"one\", \"filler\": \"{filler}\"}}");
    let strict = format!("{{{}}}", entry("\"agent:main:a\""));
    assert_eq!(check(&strict, Ok("one")), 0);
    assert_eq!(check(&format!("\u{feff} {strict} \n"), Ok("one")), 0);
    assert_eq!(check(&format!("// mine\n{{{},}}", entry("'agent:main:a'")), Ok("one")), 1);
    assert_eq!(check(&strict[..strict.len() - 2], Err("")), 1);
    assert_eq!(check(&format!("[{strict}]"), Err("is not a store of sessions")), 1);
}
