//! Killed, or refused by the disk, at any byte: nothing that was kept is lost, and nothing is half restored.
//!
//! A child process does the work under a limit on how large a file may become. Where a write would pass it, the system
//! kills the child in the middle of that write, or, where the signal is ignored, cuts the write short and refuses the
//! rest, as a full disk does.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]
#![allow(clippy::disallowed_methods, reason = "the child is told by variables what to do")]

use std::collections::{BTreeMap, HashSet};
use std::env;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use archive::{Relocation, Rules, forget, pass, plan, relocate, restore};
use jiff::Timestamp;
use rustix::process::{Resource, Rlimit, setrlimit};
use sealed::SealedReader;
use transcript::{ArchivedFolder, ConfigFolder};

/// When passes are made.
const NOW: Timestamp = Timestamp::constant(4_000_000_000, 0);
/// Where the points come from.
const SEED: u64 = 20_261_123;
const WORK: &str = "BACKSTORY_FAULT_WORK";

/// A small reproducible generator.
struct Seed(u64);

impl Seed {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    /// Text that hardly compresses, so that the files of the archive have many places to stop at.
    fn text(&mut self, length: u64) -> Vec<u8> {
        (0..length)
            .map(|at| if at % 97 == 96 { b'\n' } else { b' ' + u8::try_from(self.below(90)).unwrap_or(0) })
            .collect()
    }
}

fn projects(root: &Path) -> PathBuf {
    root.join("claude/projects")
}

fn archived(root: &Path) -> PathBuf {
    root.join("archive")
}

fn keep_all(root: &Path) -> std::io::Result<archive::PassReport> {
    let folders = [ConfigFolder::new(root.join("claude"))];
    pass(&archived(root), &folders, &Rules { threads: 1, ..Rules::default() }, NOW, &|| true)
}

/// The way of a session whose directory was renamed.
fn relocation(root: &Path) -> Relocation {
    let file = |slug: &str| projects(root).join(slug).join("s0.jsonl");
    Relocation { session: "s0".parse().unwrap(), from: file("-p"), to: file("-q"), directory: "/q".into() }
}

/// What the child does; as a test it does nothing.
#[test]
fn child() {
    let Ok(work) = env::var(WORK) else { return };
    let words: Vec<&str> = work.splitn(3, ' ').collect();
    let [what, limit, root] = words.as_slice() else { panic!("{work}") };
    let limit = limit.parse().ok();
    setrlimit(Resource::Fsize, Rlimit { current: limit, maximum: limit }).unwrap();
    let root = Path::new(root);
    let session = "s0".parse().unwrap();
    let done = match *what {
        "pass" => keep_all(root).is_ok_and(|report| report.failed.is_empty()),
        "restore" => plan(&archived(root), &session).is_ok_and(|plan| restore(&plan).is_ok()),
        "heal" => relocate(&archived(root), &[relocation(root)]).is_ok_and(|unmoved| unmoved.is_empty()),
        "forget" => forget(&archived(root), &HashSet::from([session])).is_ok(),
        what => panic!("{what}"),
    };
    std::process::exit(if done { 42 } else { 43 });
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Done,
    Refused,
    Killed,
}

fn run(what: &str, limit: u64, root: &Path, is_killed: bool) -> End {
    let script = if is_killed { "exec \"$0\" \"$@\"" } else { "trap '' XFSZ; exec \"$0\" \"$@\"" };
    let mut child = Command::new("/bin/sh");
    child.arg("-c").arg(script).arg(env::current_exe().unwrap()).args([
        "--exact",
        "faults::child",
        "--nocapture",
    ]);
    child.env(WORK, format!("{what} {limit} {}", root.display())).stdout(Stdio::null()).stderr(Stdio::null());
    match child.status().unwrap().code() {
        Some(42) => End::Done,
        Some(43) => End::Refused,
        None => End::Killed,
        Some(other) => panic!("{what} with {limit}: {other}"),
    }
}

fn read(copy: &Path) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    SealedReader::open(copy).ok()?.read_to_end(&mut out).unwrap();
    Some(out)
}

/// Everything that the archive holds, earlier versions included.
fn holdings(root: &Path) -> Vec<Vec<u8>> {
    assert_eq!(archive::check(&archived(root)), [], "every copy can be read whole");
    let mut all = Vec::new();
    for folder in ArchivedFolder::all(&archived(root)) {
        let mut folders = vec![folder.mirror(), folder.versions()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).into_iter().flatten().flatten() {
                match entry.file_name().to_str().and_then(sealed::name_of_tail) {
                    Some(name) => all.extend(read(&entry.path().with_file_name(name))),
                    None if entry.path().is_dir() => folders.push(entry.path()),
                    None => {}
                }
            }
        }
    }
    all
}

fn living(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![projects(root)];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.clone(), system::read_small(&path, 1 << 30).unwrap());
            }
        }
    }
    found
}

#[test]
fn nothing_is_lost_when_killed_at_any_point() {
    let mut ends: BTreeMap<(&str, End), u64> = BTreeMap::new();
    for point in 0..testkit::long::amount(100, 2_000) {
        println!("point {point}");
        let mut random = Seed(SEED + point * 7919);
        let what = ["pass", "pass", "heal", "restore", "forget"][usize::try_from(random.below(5)).unwrap()];
        let end = check(&mut random, what);
        *ends.entry((what, end)).or_default() += 1;
    }
    println!("{ends:?}");
    for what in ["pass", "heal", "restore", "forget"] {
        assert!(
            ends.contains_key(&(what, End::Killed)) && ends.contains_key(&(what, End::Refused)),
            "{what}: {ends:?}"
        );
    }
}

/// Lets one piece of work end somewhere, and checks what is left; then that doing it again completes it.
fn check(random: &mut Seed, what: &'static str) -> End {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path();
    let file = |name: &str| projects(root).join("-p").join(name);
    fs::create_dir_all(file("s0/subagents")).unwrap();
    // One of several frames, one of one, and a side file.
    let large =
        if random.below(4) == 0 { 900_000 + random.below(1_400_000) } else { 20_000 + random.below(90_000) };
    fs::write(file("s0.jsonl"), random.text(large)).unwrap();
    fs::write(file("s1.jsonl"), random.text(3000)).unwrap();
    fs::write(file("s0/subagents/agent-a.jsonl"), random.text(2000)).unwrap();
    assert_eq!(keep_all(root).unwrap().failed, []);
    let before = living(root);
    let acknowledged = holdings(root);
    let is_killed = random.below(2) == 0;
    match what {
        "pass" => {
            // Continued, rewritten and new files.
            let more = random.below(large);
            let mut content = system::read_small(&file("s0.jsonl"), 1 << 30).unwrap();
            content.extend(random.text(more));
            fs::write(file("s0.jsonl"), content).unwrap();
            fs::remove_file(file("s1.jsonl")).unwrap();
            fs::write(file("s1.jsonl"), random.text(2500)).unwrap();
            fs::write(file("s2.jsonl"), random.text(5000)).unwrap();
        }
        "restore" => fs::remove_dir_all(projects(root).join("-p")).unwrap(),
        _ => {}
    }
    let limit = match random.below(3) {
        0 => random.below(4000),
        1 => random.below(100_000),
        _ => random.below(large * 2),
    };
    let limit = if what == "forget" { random.below(6) } else { limit };
    let end = run(what, limit, root, is_killed);
    let held = holdings(root);
    match what {
        "pass" => {
            for text in &acknowledged {
                assert!(
                    held.iter().any(|held| held.starts_with(text)),
                    "{what} {limit}: an earlier copy is lost"
                );
            }
            assert_eq!(keep_all(root).unwrap().failed, []);
            let held: HashSet<Vec<u8>> = holdings(root).into_iter().collect();
            for (path, content) in living(root) {
                assert!(held.contains(&content), "{what} {limit}: {}", path.display());
            }
        }
        "heal" => check_healed(root, &before, limit),
        "restore" => {
            for (path, content) in living(root).iter().filter(|(path, _)| !is_beside(path)) {
                assert!(
                    before.get(path) == Some(content),
                    "{what} {limit}: {} is half restored",
                    path.display()
                );
            }
            if !file("s0.jsonl").exists() {
                restore(&plan(&archived(root), &"s0".parse().unwrap()).unwrap()).unwrap();
            }
            let now = living(root);
            for name in ["s0.jsonl", "s0/subagents/agent-a.jsonl"] {
                assert!(now.get(&file(name)) == before.get(&file(name)), "{what} {limit}: {name}");
            }
            assert_eq!(now.len(), 2, "nothing else is left there");
        }
        _ => {
            let session = HashSet::from(["s0".parse().unwrap()]);
            let is_noted = !transcript::forgotten_sessions(&archived(root)).is_empty();
            assert!(
                is_noted || held.len() == acknowledged.len(),
                "{what} {limit}: erased before it was noted"
            );
            forget(&archived(root), &session).unwrap();
            let held = holdings(root);
            assert_eq!(
                (held.len(), held.first()),
                (1, before.get(&file("s1.jsonl"))),
                "only the other one is left"
            );
        }
    }
    end
}

/// The session is at one place, whole, and a second attempt completes the move.
fn check_healed(root: &Path, before: &BTreeMap<PathBuf, Vec<u8>>, limit: u64) {
    let old = relocation(root);
    let [from, to] = [&old.from, &old.to].map(|path| system::read_small(path, 1 << 30).ok());
    let is_at_one_place = from.is_some() != to.is_some();
    let content = from.or(to).unwrap_or_default();
    assert!(
        is_at_one_place && content.starts_with(&before[&old.from]),
        "heal {limit}: the session is at one place, and whole"
    );
    relocate(&archived(root), std::slice::from_ref(&old)).unwrap();
    let record = b"{\"relocatedCwd\":\"/q\",\"sessionId\":\"s0\",\"type\":\"relocated\"}\n";
    let moved = system::read_small(&old.to, 1 << 30).unwrap_or_default();
    let mut whole = before[&old.from].clone();
    if !whole.ends_with(b"\n") {
        whole.push(b'\n');
    }
    whole.extend_from_slice(record);
    assert!(moved == whole, "heal {limit}: {:?}", moved.get(before[&old.from].len()..));
    let side = "s0/subagents/agent-a.jsonl";
    let now = living(root);
    assert!(
        now.get(&projects(root).join("-q").join(side)) == before.get(&projects(root).join("-p").join(side)),
        "heal {limit}: what is beside it came along"
    );
}

/// A file that is not complete has another name until it is.
fn is_beside(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".restoring"))
}
