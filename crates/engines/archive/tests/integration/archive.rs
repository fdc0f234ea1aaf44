//! Whatever happens to the files of a projects folder, the archive has all that a pass ever saw.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use archive::{RestoreError, Rules, pass, plan, restore};
use jiff::Timestamp;
use proptest::prelude::*;
use sealed::SealedReader;
use transcript::{ArchivedFolder, ConfigFolder};

/// When passes are made.
const NOW: Timestamp = Timestamp::constant(4_000_000_000, 0);

/// The bytes of a file of these tests.
fn bytes_of(path: &Path) -> Vec<u8> {
    system::read_small(path, 1 << 30).unwrap()
}

/// A config folder and an archive of it.
struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn living(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("claude/projects").join(path)
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    fn write(&self, path: &str, content: &[u8]) {
        let path = self.living(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn append(&self, path: &str, content: &[u8]) {
        fs::OpenOptions::new().append(true).open(self.living(path)).unwrap().write_all(content).unwrap();
    }

    fn pass(&self) -> archive::PassReport {
        let folders = [ConfigFolder::new(self.folder.path().join("claude"))];
        let rules = Rules { threads: 2, ..Rules::default() };
        let report = pass(&self.archive(), &folders, &rules, NOW, &|| true).unwrap();
        assert_eq!((report.failed.as_slice(), report.pending), (&[][..], 0));
        report
    }

    fn mirror(&self) -> ArchivedFolder {
        ArchivedFolder::all(&self.archive()).remove(0)
    }

    /// What the archive has of a file.
    fn kept(&self, path: &str) -> Option<Vec<u8>> {
        read(&ArchivedFolder::all(&self.archive()).first()?.mirror().join(path))
    }

    /// The earlier versions of the files of a project.
    fn versions(&self, slug: &str) -> Vec<Vec<u8>> {
        let Some(folder) = ArchivedFolder::all(&self.archive()).first().map(ArchivedFolder::versions) else {
            return Vec::new();
        };
        let folder = folder.join(slug);
        let names = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.map(|name| name.to_str().unwrap().to_owned()).collect();
        names.sort();
        names.iter().filter_map(|name| read(&folder.join(sealed::name_of_tail(name)?))).collect()
    }
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    SealedReader::open(path).ok()?.read_to_end(&mut out).unwrap();
    Some(out)
}

#[test]
fn only_a_pass_that_copied_everything_counts_as_complete() {
    let scratch = Scratch::new();
    for name in ["-p/s1.jsonl", "-p/s2.jsonl", "-q/s3.jsonl"] {
        scratch.write(name, b"{}\n");
    }
    let at = |second: i64| UNIX_EPOCH + Duration::from_secs(second.unsigned_abs());
    let set = |name: &str, second| {
        let file = fs::File::options().append(true).open(scratch.living(name)).unwrap();
        file.set_modified(at(second)).unwrap();
    };
    set("-p/s1.jsonl", 1_000_000_000);
    set("-p/s2.jsonl", 2_000_000_000);
    set("-q/s3.jsonl", 2_000_000_000);
    let folders = [ConfigFolder::new(scratch.folder.path().join("claude"))];
    let projects = scratch.living("");
    let files = ConfigFolder::from_projects(&projects).find(1).transcripts;
    let before = Timestamp::from_second(1_500_000_000).unwrap();
    let old = Rules { threads: 1, before: Some(before), ..Rules::default() };
    let all = Rules { before: None, ..old.clone() };
    let excluding = Rules { excluded: vec!["/q".to_owned()], ..all.clone() };
    let waiting = |rules: &Rules| {
        let found = archive::uncopied(&scratch.archive(), &projects, &files, rules);
        (found.waiting.len(), found.left_out.len())
    };
    assert_eq!((waiting(&all), waiting(&excluding)), ((3, 0), (2, 1)));
    assert_eq!(archive::last_complete_pass(&scratch.archive()), None);
    // Cut short after the first file.
    let report = pass(&scratch.archive(), &folders, &all, NOW, &|| false).unwrap();
    assert!(report.pending > 0, "{report:?}");
    assert_eq!(archive::last_complete_pass(&scratch.archive()), None);
    let report = pass(&scratch.archive(), &folders, &old, NOW, &|| true).unwrap();
    assert_eq!((report.pending, scratch.kept("-p/s1.jsonl").unwrap()), (0, b"{}\n".to_vec()));
    assert_eq!(archive::last_complete_pass(&scratch.archive()), None, "only old ones were looked at");
    scratch.pass();
    assert_eq!(archive::last_complete_pass(&scratch.archive()), Some(NOW));
    assert_eq!(waiting(&all), (0, 0));
}

#[test]
fn a_deleted_file_is_found_with_its_original_stamp() {
    let scratch = Scratch::new();
    scratch.write("-p/s1.jsonl", b"{}\n");
    scratch.write("-p/s1/subagents/agent-a.jsonl", b"{\"a\":1}\n");
    scratch.write("-p/s1/tool-results/t.txt", b"out");
    scratch.write("-p/agent-flat.jsonl", b"{}\n");
    let living = ConfigFolder::new(scratch.folder.path().join("claude")).find(1);
    let report = scratch.pass();
    assert_eq!((report.sessions, report.files, report.bytes), (2, 4, 3 + 8 + 3 + 3));
    assert_eq!(scratch.pass(), archive::PassReport::default(), "nothing is new");
    fs::remove_dir_all(scratch.living("-p")).unwrap();
    assert_eq!(scratch.pass(), archive::PassReport::default(), "nothing is left to copy");
    let kept = scratch.mirror().find(|_| true, Path::exists, 2);
    assert_eq!((&kept.problems, kept.flat_subagents.len()), (&Vec::new(), 1));
    let [one] = kept.transcripts.as_slice() else { panic!("{kept:?}") };
    assert_eq!((one.stamp, one.archived), (living.transcripts[0].stamp, true));
    assert_eq!(one.created(), living.transcripts[0].created().max(one.created()));
    assert_eq!(one.subagents[0].stamp, living.transcripts[0].subagents[0].stamp);
    assert_eq!(scratch.kept("-p/s1/tool-results/t.txt").unwrap(), b"out");
}

#[test]
fn only_the_owner_can_read_the_archive() {
    let scratch = Scratch::new();
    scratch.write("-p/s1.jsonl", &vec![b'x'; 3 << 20]);
    scratch.pass();
    let mut folders = vec![scratch.archive()];
    while let Some(folder) = folders.pop() {
        assert_eq!(
            fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
            0o700,
            "{}",
            folder.display()
        );
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{}", entry.path().display());
        }
    }
}

#[test]
fn a_session_that_moves_between_folders_is_not_copied_again() {
    let scratch = Scratch::new();
    scratch.write("-a/s1.jsonl", b"{}\n");
    scratch.write("-a/s1/custom-title.json", b"{}");
    scratch.pass();
    fs::create_dir_all(scratch.living("-b")).unwrap();
    for name in ["s1.jsonl", "s1"] {
        fs::rename(scratch.living("-a").join(name), scratch.living("-b").join(name)).unwrap();
    }
    scratch.append("-b/s1.jsonl", b"{\"b\":1}\n");
    scratch.pass();
    assert_eq!(scratch.kept("-a/s1.jsonl"), None);
    assert_eq!(scratch.kept("-b/s1.jsonl").unwrap(), b"{}\n{\"b\":1}\n");
    assert_eq!(scratch.kept("-b/s1/custom-title.json").unwrap(), b"{}");
    // Another session with the same id is another file: both are kept.
    fs::remove_file(scratch.living("-b/s1.jsonl")).unwrap();
    scratch.write("-c/s1.jsonl", b"[other]\n");
    scratch.pass();
    assert_eq!(scratch.kept("-b/s1.jsonl").unwrap(), b"{}\n{\"b\":1}\n");
    assert_eq!(scratch.kept("-c/s1.jsonl").unwrap(), b"[other]\n");
}

#[test]
fn a_session_is_put_back_byte_for_byte_and_never_over_a_file() {
    let scratch = Scratch::new();
    let id = "s1".parse().unwrap();
    let files: BTreeMap<&str, Vec<u8>> = BTreeMap::from([
        ("-p/s1.jsonl", b"{\"long\":1}\n".repeat(300_000)),
        ("-p/s1/subagents/agent-a.jsonl", b"{}\n".to_vec()),
        ("-p/s1/subagents/agent-a.meta.json", b"{\"x\":2}".to_vec()),
        ("-p/s1/tool-results/t.txt", vec![0, 255, 10]),
    ]);
    for (path, content) in &files {
        scratch.write(path, content);
    }
    scratch.pass();
    assert!(matches!(restore(&plan(&scratch.archive(), &id).unwrap()), Err(RestoreError::Exists(_))));
    fs::remove_dir_all(scratch.living("-p")).unwrap();
    // One of them is there again, with something else in it.
    scratch.write("-p/s1/tool-results/t.txt", b"theirs");
    let planned = plan(&scratch.archive(), &id).unwrap();
    assert_eq!(planned.files.iter().filter(|file| file.exists).count(), 1);
    assert_eq!(planned.files.last().unwrap().to, scratch.living("-p/s1.jsonl"));
    // What a killed call left is no obstacle.
    scratch.write("-p/.s1.jsonl.restoring", b"half");
    restore(&planned).unwrap();
    for (path, content) in &files {
        let expected = if *path == "-p/s1/tool-results/t.txt" { b"theirs" } else { content.as_slice() };
        assert!(bytes_of(&scratch.living(path)) == expected, "{path}");
    }
    let names: Vec<_> =
        fs::read_dir(scratch.living("-p")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let mode = fs::metadata(scratch.living("-p/s1.jsonl")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    // It continues the same copy.
    let room = archive::size(&scratch.archive());
    scratch.append("-p/s1.jsonl", b"{}\n");
    scratch.pass();
    let after = archive::size(&scratch.archive());
    assert_eq!((after.sessions, after.content_bytes), (room.sessions, room.content_bytes + 3 + 6));
    assert_eq!(after.versions, 1, "of the file that is another now");
    assert!(matches!(plan(&scratch.archive(), &"s9".parse().unwrap()), Err(RestoreError::NotArchived)));
}

#[test]
fn a_forgotten_session_is_in_no_file_and_does_not_come_back() {
    let scratch = Scratch::new();
    scratch.write("-p/s1.jsonl", b"{\"one\":1}\n");
    scratch.write("-p/s2.jsonl", b"{\"two\":1}\n");
    scratch.write("-p/s1/subagents/agent-a.jsonl", b"{}\n");
    scratch.write("-p/agent-x.jsonl", b"{\"type\":\"assistant\",\"sessionId\":\"s1\"}\n");
    scratch.pass();
    scratch.write("-p/s1.jsonl", b"{\"rewritten\":1}\n");
    scratch.pass();
    assert_eq!(scratch.versions("-p").len(), 1);
    let erased = archive::forget(&scratch.archive(), &HashSet::from(["s1".parse().unwrap()])).unwrap();
    assert_eq!(erased.files, 4);
    for _ in 0..2 {
        let kept = ["-p/s1.jsonl", "-p/s2.jsonl", "-p/s1/subagents/agent-a.jsonl", "-p/agent-x.jsonl"]
            .map(|path| scratch.kept(path).is_some());
        assert_eq!((kept, scratch.versions("-p").len()), ([false, true, false, false], 0));
        scratch.append("-p/s1.jsonl", b"{\"more\":1}\n");
        scratch.pass();
    }
    assert_eq!(transcript::forgotten_sessions(&scratch.archive()).len(), 1);
}

#[test]
fn pruning_removes_old_versions_first_and_no_copy_of_an_existing_file() {
    let scratch = Scratch::new();
    let noise = |seed: u8| {
        (0..60_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[2] ^ seed).collect::<Vec<_>>()
    };
    scratch.write("-p/old.jsonl", &noise(1));
    scratch.write("-p/new.jsonl", &noise(2));
    scratch.write("-p/here.jsonl", &noise(3));
    let made = |path: &str, second| {
        let at = UNIX_EPOCH + Duration::from_secs(second);
        fs::File::options().write(true).open(scratch.living(path)).unwrap().set_modified(at).unwrap();
    };
    made("-p/old.jsonl", 1000);
    made("-p/new.jsonl", 9000);
    made("-p/here.jsonl", 10);
    scratch.pass();
    scratch.write("-p/new.jsonl", &noise(4));
    made("-p/new.jsonl", 9001);
    scratch.pass();
    fs::remove_file(scratch.living("-p/old.jsonl")).unwrap();
    fs::remove_file(scratch.living("-p/new.jsonl")).unwrap();
    let one = archive::size(&scratch.archive()).disk_bytes / 4;
    let kept = || ["old", "new", "here"].map(|name| scratch.kept(&format!("-p/{name}.jsonl")).is_some());
    let check = |most, removed, versions, expected| {
        assert_eq!(archive::prune(&scratch.archive(), most, None).unwrap(), removed);
        assert_eq!((scratch.versions("-p").len(), kept()), (versions, expected));
    };
    check(Some(one * 4 + 500), 0, 1, [true, true, true]);
    check(Some(one * 3 + 500), 1, 0, [true, true, true]);
    check(Some(one * 2 + 500), 1, 0, [false, true, true]);
    check(Some(1), 1, 0, [false, false, true]);
    let oldest = Timestamp::from_second(100_000).unwrap();
    assert_eq!(archive::prune(&scratch.archive(), None, Some(oldest)).unwrap(), 0);
}

#[test]
fn pruning_removes_no_copy_of_what_is_out_of_reach() {
    let scratch = Scratch::new();
    let claude = scratch.folder.path().canonicalize().unwrap().join("claude");
    let (projects, project, away) =
        (claude.join("projects"), claude.join("projects/-p"), claude.with_extension("away"));
    scratch.write("-p/one.jsonl", b"{}\n");
    scratch.write("-q/two.jsonl", b"{}\n");
    scratch.pass();
    let removed = || archive::prune(&scratch.archive(), Some(1), None).unwrap();
    let check = |hidden: &Path, stand_in: &dyn Fn(&Path) -> std::io::Result<()>| {
        fs::rename(hidden, &away).unwrap();
        stand_in(hidden).unwrap();
        assert_eq!(removed(), 0, "{}", hidden.display());
        let _ = fs::remove_file(hidden).or_else(|_| fs::remove_dir(hidden));
        fs::rename(&away, hidden).unwrap();
    };
    for hidden in [&claude, &projects] {
        check(hidden, &|_| Ok(()));
        check(hidden, &|place| fs::create_dir(place));
    }
    for hidden in [&claude, &projects, &project] {
        check(hidden, &|place| fs::write(place, ""));
        check(hidden, &|place| std::os::unix::fs::symlink("not/mounted", place));
    }
    fs::remove_dir_all(&project).unwrap();
    assert_eq!(removed(), 1);
}

#[test]
fn a_pass_records_when_a_transcript_was_deleted() {
    let scratch = Scratch::new();
    for session in ["kept", "cleaned", "forgotten", "back"] {
        scratch.write(&format!("-p/{session}.jsonl"), b"{}\n");
    }
    scratch.write("-q/lost.jsonl", b"{}\n");
    scratch.pass();
    let known = || transcript::deletions(&scratch.archive());
    assert!(known().is_empty());

    let id = |text: &str| text.parse::<model::SessionId>().unwrap();
    archive::forget(&scratch.archive(), &HashSet::from([id("forgotten")])).unwrap();
    for session in ["cleaned", "forgotten", "back"] {
        fs::remove_file(scratch.living(&format!("-p/{session}.jsonl"))).unwrap();
    }
    fs::remove_dir_all(scratch.living("-q")).unwrap();
    let changed = UNIX_EPOCH + Duration::from_secs(1_900_000_000);
    fs::File::open(scratch.living("-p")).unwrap().set_modified(changed).unwrap();
    scratch.pass();
    let cleaned = Timestamp::from_second(1_900_000_000).unwrap();
    // Of a folder that is gone, too, only the pass is known.
    let all = [("cleaned", cleaned), ("back", cleaned), ("lost", NOW)].map(|(name, at)| (id(name), at));
    assert_eq!(known(), HashMap::from(all));

    scratch.write("-p/back.jsonl", b"{}\n");
    scratch.pass();
    let left = [("cleaned", cleaned), ("lost", NOW)].map(|(name, at)| (id(name), at));
    assert_eq!(known(), HashMap::from(left.clone()), "what is back is there, and a date stays");

    fs::rename(scratch.living("-p"), scratch.living("-away")).unwrap();
    std::os::unix::fs::symlink("-p", scratch.living("-p")).unwrap();
    scratch.pass();
    assert_eq!(known().len(), 1, "of a folder that cannot be read nothing is known");
    fs::remove_file(scratch.living("-p")).unwrap();
    fs::rename(scratch.living("-away"), scratch.living("-p")).unwrap();
    fs::File::open(scratch.living("-p")).unwrap().set_modified(changed).unwrap();
    scratch.pass();
    assert_eq!(known(), HashMap::from(left.clone()));

    let elsewhere = scratch.folder.path().join("other");
    fs::create_dir_all(elsewhere.join("projects/-r")).unwrap();
    let folders = [ConfigFolder::new(elsewhere)];
    fs::remove_file(scratch.living("-p/kept.jsonl")).unwrap();
    pass(&scratch.archive(), &folders, &Rules { threads: 1, ..Rules::default() }, NOW, &|| true).unwrap();
    assert_eq!(known(), HashMap::from(left), "nobody looked into that folder");
    archive::forget(&scratch.archive(), &HashSet::from([id("lost")])).unwrap();
    assert_eq!(known(), HashMap::from([(id("cleaned"), cleaned)]));
}

#[test]
fn excluded_directories_are_not_kept() {
    let scratch = Scratch::new();
    scratch.write("-home-u-secret/s1.jsonl", b"{}\n");
    scratch.write("-home-u-secret-below/s2.jsonl", b"{}\n");
    scratch.write("-home-u-secretary/s3.jsonl", b"{}\n");
    let rules = Rules { excluded: vec!["/home/u/secret".to_owned()], threads: 1, ..Rules::default() };
    let folders = [ConfigFolder::new(scratch.folder.path().join("claude"))];
    pass(&scratch.archive(), &folders, &rules, NOW, &|| true).unwrap();
    let kept = scratch.mirror().find(|_| true, Path::exists, 2).transcripts;
    assert_eq!(kept.iter().map(|file| file.id.as_str()).collect::<Vec<_>>(), ["s3"]);
}

#[test]
fn a_damaged_copy_is_set_aside_and_made_again() {
    let scratch = Scratch::new();
    scratch.write("-p/s1.jsonl", b"{\"one\":1}\n");
    scratch.pass();
    let [_, tail] = sealed::files_of(&scratch.mirror().mirror().join("-p/s1.jsonl"));
    let mut bytes = bytes_of(&tail);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&tail, bytes).unwrap();
    assert_eq!(archive::check(&scratch.archive()).len(), 1);
    scratch.append("-p/s1.jsonl", b"{\"two\":2}\n");
    scratch.pass();
    assert_eq!(scratch.kept("-p/s1.jsonl").unwrap(), b"{\"one\":1}\n{\"two\":2}\n");
    // The damaged one is still there to be looked at.
    assert_eq!(archive::check(&scratch.archive()).len(), 1);
}

/// What happens to the files of a folder between two passes.
#[derive(Debug, Clone)]
enum Event {
    Append(usize, usize),
    Rewrite(usize, usize),
    Truncate(usize, usize),
    Delete(usize),
    Move(usize),
    Pass,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let size = || prop_oneof![0..400_usize, Just(1 << 20), 0..3_000_000_usize];
    let event = prop_oneof![
        6 => (0..3_usize, size()).prop_map(|(file, size)| Event::Append(file, size)),
        1 => (0..3_usize, size()).prop_map(|(file, size)| Event::Rewrite(file, size)),
        1 => (0..3_usize, 0..100_usize).prop_map(|(file, percent)| Event::Truncate(file, percent)),
        1 => (0..3_usize).prop_map(Event::Delete),
        1 => (0..3_usize).prop_map(Event::Move),
        5 => Just(Event::Pass),
    ];
    prop::collection::vec(event, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::long::amount(20, 1_000)))]
    #[test]
    fn the_archive_holds_everything_any_pass_saw(events in events()) {
        let scratch = Scratch::new();
        let mut files: [(usize, Option<Vec<u8>>); 3] = [(0, None), (0, None), (0, None)];
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let path = |file: usize, slug: usize| format!("-p{slug}/s{file}.jsonl");
        for (step, event) in (0_u32..).zip(events.into_iter().chain([Event::Pass])) {
            let line = format!("{{\"step\":{step},\"text\":\"some words of a session\"}}\n");
            let text = |size: usize| line.as_bytes().iter().copied().cycle().take(size).collect::<Vec<u8>>();
            match event {
                Event::Append(file, size) => {
                    let (slug, content) = &mut files[file];
                    let content = content.get_or_insert_default();
                    content.extend(text(size));
                    if scratch.living(&path(file, *slug)).exists() {
                        scratch.append(&path(file, *slug), &text(size));
                    } else {
                        scratch.write(&path(file, *slug), content);
                    }
                }
                Event::Rewrite(file, size) => {
                    let (slug, content) = &mut files[file];
                    let _ = fs::remove_file(scratch.living(&path(file, *slug)));
                    scratch.write(&path(file, *slug), &text(size));
                    *content = Some(text(size));
                }
                Event::Truncate(file, percent) => {
                    let (slug, content) = &mut files[file];
                    if let Some(content) = content {
                        content.truncate(content.len() * percent / 100);
                        scratch.write(&path(file, *slug), content);
                    }
                }
                Event::Delete(file) => {
                    let (slug, content) = &mut files[file];
                    let _ = fs::remove_file(scratch.living(&path(file, *slug)));
                    *content = None;
                }
                Event::Move(file) => {
                    let (slug, content) = &mut files[file];
                    if content.is_some() {
                        let to = scratch.living(&path(file, *slug + 1));
                        fs::create_dir_all(to.parent().unwrap()).unwrap();
                        fs::rename(scratch.living(&path(file, *slug)), to).unwrap();
                    }
                    *slug += usize::from(content.is_some());
                }
                Event::Pass => {
                    scratch.pass();
                    seen.extend(files.iter().filter_map(|(_, content)| content.clone()));
                    prop_assert!(scratch.pass() == archive::PassReport::default(), "nothing is new at once");
                    for (file, (slug, content)) in files.iter().enumerate() {
                        if let Some(content) = content {
                            prop_assert!(scratch.kept(&path(file, *slug)).as_ref() == Some(content));
                        }
                    }
                }
            }
        }
        // Each text that a pass saw is still there, as it was or continued.
        let mut kept: Vec<Vec<u8>> = Vec::new();
        for slug in 0..30 {
            kept.extend((0..3).filter_map(|file| scratch.kept(&path(file, slug))));
            kept.extend(scratch.versions(&format!("-p{slug}")));
        }
        for text in seen {
            prop_assert!(kept.iter().any(|kept| kept.starts_with(&text)));
        }
    }
}

#[test]
fn a_long_file_is_copied_a_piece_at_a_time() {
    let scratch = Scratch::new();
    let long: Vec<u8> = (0..900_000_u32).flat_map(u32::to_le_bytes).collect();
    scratch.write("-p/s1.jsonl", &long);
    let folders = [ConfigFolder::new(scratch.folder.path().join("claude"))];
    let piece = || {
        pass(&scratch.archive(), &folders, &Rules { threads: 1, ..Rules::default() }, NOW, &|| false).unwrap()
    };
    let first = piece();
    assert!(first.pending == 1 && first.bytes > 0 && first.bytes < long.len() as u64 / 2, "{first:?}");
    let mut passes = 1;
    while piece().pending > 0 {
        passes += 1;
        assert!(passes < 100, "it comes to its end");
    }
    assert_eq!(scratch.kept("-p/s1.jsonl").unwrap(), long);
    assert_eq!(scratch.versions("-p").len(), 0, "each piece continues the one before");
    assert_eq!(piece(), archive::PassReport::default());
}

#[test]
fn a_file_with_a_hole_of_a_terabyte_is_refused() {
    let scratch = Scratch::new();
    scratch.write("-p/s1.jsonl", b"{}\n");
    fs::OpenOptions::new().write(true).open(scratch.living("-p/s1.jsonl")).unwrap().set_len(1 << 40).unwrap();
    let folders = [ConfigFolder::new(scratch.folder.path().join("claude"))];
    let report =
        pass(&scratch.archive(), &folders, &Rules { threads: 1, ..Rules::default() }, NOW, &|| true).unwrap();
    assert!(report.failed[0].1.contains("larger than 16 GiB") && report.bytes == 0, "{report:?}");
}
