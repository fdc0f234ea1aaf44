//! Two simulated days of a machine: sessions are appended to, compacted, rewritten, moved and cleaned up by Claude
//! Code's own rule, and the archive has all that a pass ever saw. The clock is a number; nothing waits.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use archive::{Rules, pass, plan, restore};
use jiff::Timestamp;
use sealed::SealedReader;
use transcript::{ArchivedFolder, ConfigFolder};

/// When passes are made.
const NOW: Timestamp = Timestamp::constant(4_000_000_000, 0);
const SESSIONS: usize = 300;
const DAY: u64 = 24 * 3600;
/// Between two looks of Backstory's.
const TICK: u64 = 20 * 60;
/// `cleanupPeriodDays`.
const KEPT_DAYS: u64 = 30;

/// A small reproducible generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }

    fn lines(&mut self, count: usize) -> String {
        let line = |_| ["{\"type\":\"user\",\"n\":", &self.below(1 << 30).to_string(), "}\n"].concat();
        (0..count).map(line).collect()
    }
}

/// The machine.
struct Machine {
    folder: tempfile::TempDir,
    /// Seconds since 1970.
    now: u64,
    /// The sessions that are there: their slugs.
    living: BTreeMap<usize, usize>,
    /// Contents that were there when a pass looked, and are no more.
    gone: Vec<(usize, String)>,
}

impl Machine {
    fn projects(&self) -> PathBuf {
        self.folder.path().join("claude/projects")
    }

    fn file(&self, session: usize, slug: usize) -> PathBuf {
        self.projects().join(format!("-p{slug}")).join(format!("s{session}.jsonl"))
    }

    fn archive(&self) -> PathBuf {
        self.folder.path().join("archive")
    }

    fn stamp(file: &Path, at: u64) {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(at);
        fs::File::options().append(true).open(file).unwrap().set_modified(at).unwrap();
    }

    fn write(file: &Path, text: &str, is_appended: bool, at: u64) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut options = fs::OpenOptions::new();
        options.create(true).write(true).append(is_appended).truncate(!is_appended);
        options.open(file).unwrap().write_all(text.as_bytes()).unwrap();
        Self::stamp(file, at);
    }

    fn note_gone(&mut self, session: usize, file: &Path) {
        self.gone.push((session, read_text(file)));
    }

    /// One thing that happens to a session that is there.
    fn event(&mut self, random: &mut Random) {
        let ids: Vec<usize> = self.living.keys().copied().collect();
        let Some(session) = ids.get(random.below(ids.len())).copied() else { return };
        let slug = self.living[&session];
        let file = self.file(session, slug);
        match random.below(20) {
            0 => {
                // The CLI writes what is left of a conversation again. Only what a pass saw can be kept.
                self.pass();
                self.note_gone(session, &file);
                let text = random.lines(8);
                Self::write(&file, &text, false, self.now);
            }
            1 => {
                // Into a work tree, with all beside it; it is the same file.
                let to = random.below(12);
                let (new, side) = (self.file(session, to), file.with_extension(""));
                if new.exists() {
                    return;
                }
                fs::create_dir_all(new.parent().unwrap()).unwrap();
                fs::rename(&file, &new).unwrap();
                if side.exists() {
                    fs::rename(side, new.with_extension("")).unwrap();
                }
                self.living.insert(session, to);
            }
            2 => {
                let boundary = "{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n";
                Self::write(&file, boundary, true, self.now);
            }
            3 => Self::write(
                &file.with_extension("").join("subagents/agent-a.jsonl"),
                &random.lines(3),
                true,
                self.now,
            ),
            _ => {
                let count = 1 + random.below(40);
                let text = random.lines(count);
                Self::write(&file, &text, true, self.now);
            }
        }
    }

    /// What Claude Code does at its start: it unlinks what was not changed for so long.
    fn clean_up(&mut self) {
        self.pass();
        let oldest = SystemTime::UNIX_EPOCH + Duration::from_secs(self.now - KEPT_DAYS * DAY);
        for (session, slug) in self.living.clone() {
            let file = self.file(session, slug);
            if fs::metadata(&file).unwrap().modified().unwrap() < oldest {
                self.note_gone(session, &file);
                fs::remove_file(&file).unwrap();
                let _ = fs::remove_dir_all(file.with_extension(""));
                self.living.remove(&session);
            }
        }
    }

    fn pass(&self) {
        let folders = [ConfigFolder::new(self.folder.path().join("claude"))];
        let rules = Rules { threads: 1, ..Rules::default() };
        let report = pass(&self.archive(), &folders, &rules, NOW, &|| true).unwrap();
        assert_eq!((report.failed, report.pending), (vec![], 0));
    }
}

fn read_text(file: &Path) -> String {
    String::from_utf8(system::read_small(file, 1 << 30).unwrap()).unwrap()
}

/// All copies, by the session of each.
fn held(archive: &Path) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    for mirror in ArchivedFolder::all(archive) {
        for root in [mirror.mirror(), mirror.versions()] {
            for folder in fs::read_dir(root).into_iter().flatten().flatten() {
                for entry in fs::read_dir(folder.path()).unwrap().flatten() {
                    let name = entry.file_name().into_string().unwrap();
                    let Some(name) = sealed::name_of_tail(&name) else { continue };
                    let stem = name.strip_suffix(".jsonl").unwrap().rsplit('.').next().unwrap();
                    let mut text = String::new();
                    SealedReader::open(&folder.path().join(name)).unwrap().read_to_string(&mut text).unwrap();
                    all.push((stem[1..].parse().unwrap(), text));
                }
            }
        }
    }
    all
}

#[test]
fn after_two_days_the_archive_has_every_record() {
    for seed in 0..testkit::long::amount(1, 20) {
        println!("seed {seed}");
        simulate(20_261_123 + seed);
    }
}

fn simulate(seed: u64) {
    let mut random = Random(seed);
    let start = 1_795_000_000;
    let folder = tempfile::tempdir().unwrap();
    let mut machine = Machine { folder, now: start, living: BTreeMap::new(), gone: Vec::new() };
    for session in 0..SESSIONS {
        let slug = random.below(12);
        let age = random.below(32 * 24 * 3600) as u64;
        let count = 1 + random.below(60);
        let text = random.lines(count);
        Machine::write(&machine.file(session, slug), &text, false, start - age);
        machine.living.insert(session, slug);
    }
    let mut looks: HashSet<(usize, String)> = HashSet::new();
    while machine.now < start + 2 * DAY {
        machine.pass();
        for (session, slug) in &machine.living {
            looks.insert((*session, read_text(&machine.file(*session, *slug))));
        }
        // The CLI starts a few times a day.
        if machine.now % (4 * 3600) < TICK {
            machine.clean_up();
        }
        for _ in 0..random.below(8) {
            machine.event(&mut random);
        }
        machine.now += TICK;
    }
    machine.pass();
    let held = held(&machine.archive());
    assert_eq!(archive::check(&machine.archive()), []);
    assert_eq!(archive::incomplete(&machine.archive()), []);
    let is_held =
        |session: usize, text: &str| held.iter().any(|(of, held)| *of == session && held.starts_with(text));
    for (session, text) in looks.iter().chain(&machine.gone) {
        assert!(is_held(*session, text), "seed {seed}: s{session} lost {} bytes", text.len());
    }
    let deleted: Vec<usize> = (0..SESSIONS).filter(|session| !machine.living.contains_key(session)).collect();
    assert!(!deleted.is_empty() && deleted.len() < SESSIONS, "some were cleaned up: {}", deleted.len());
    for (session, slug) in &machine.living {
        let text = read_text(&machine.file(*session, *slug));
        assert!(held.contains(&(*session, text)), "seed {seed}: s{session} is not as it is");
    }
    // What was deleted is put back as it was last.
    for session in deleted {
        let (_, last) = machine.gone.iter().rfind(|(of, _)| *of == session).unwrap();
        let planned = plan(&machine.archive(), &format!("s{session}").parse().unwrap()).unwrap();
        restore(&planned).unwrap();
        assert!(&read_text(&planned.transcript) == last, "seed {seed}: s{session} is restored as another");
    }
}
