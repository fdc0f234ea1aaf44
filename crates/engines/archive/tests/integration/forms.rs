//! Copies that are not all of a file: those that were interrupted, and those without secrets.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use archive::{IncompleteCopy, Rules, leave_secrets_out, pass, plan, restore};
use jiff::Timestamp;
use sealed::SealedReader;
use transcript::{ArchivedFolder, ConfigFolder};

/// When passes are made.
const NOW: Timestamp = Timestamp::constant(4_000_000_000, 0);
const KEY: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// A config folder and an archive of it.
struct Scratch(tempfile::TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn living(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join("claude/projects/-p").join(path)
    }

    fn archive(&self) -> PathBuf {
        self.0.path().join("archive")
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.living(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn append(&self, path: &str, content: &str) {
        fs::OpenOptions::new()
            .append(true)
            .open(self.living(path))
            .unwrap()
            .write_all(content.as_bytes())
            .unwrap();
    }

    fn pass(&self, without_secrets: bool, keep_going: &(dyn Fn() -> bool + Sync)) -> archive::PassReport {
        let folders = [ConfigFolder::new(self.0.path().join("claude"))];
        let rules = Rules { threads: 1, without_secrets, ..Rules::default() };
        let report = pass(&self.archive(), &folders, &rules, NOW, keep_going).unwrap();
        assert_eq!(report.failed, []);
        report
    }

    /// What the copies below a folder of the archive hold, by the names of their files.
    fn held(&self, folder: &str) -> Vec<(String, String)> {
        let mut held = Vec::new();
        let mirror = ArchivedFolder::all(&self.archive()).remove(0);
        let folder = mirror.mirror().parent().unwrap().join(folder).join("-p");
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name().into_string().unwrap();
            let Some(name) = sealed::name_of_tail(&name) else { continue };
            let mut text = String::new();
            SealedReader::open(&folder.join(name)).unwrap().read_to_string(&mut text).unwrap();
            held.push((name.to_owned(), text));
        }
        held.sort();
        held
    }

    fn kept(&self) -> String {
        self.held("projects").remove(0).1
    }
}

fn text(file: &Path) -> String {
    String::from_utf8(system::read_small(file, 1 << 30).unwrap()).unwrap()
}

#[test]
fn an_interrupted_copy_reports_what_is_missing_and_restores_whole_lines() {
    let scratch = Scratch::new();
    let whole = "{\"a long line\":1}\n".repeat(100_000);
    scratch.write("s1.jsonl", &whole);
    let steps = AtomicU64::new(0);
    let report = scratch.pass(false, &|| steps.fetch_add(1, Ordering::Relaxed) < 3);
    assert_eq!(report.pending, 1);
    let copied = scratch.kept().len();
    assert!(copied > 0 && copied < whole.len() && !whole[..copied].ends_with('\n'));
    let expected = |is_gone| IncompleteCopy {
        file: scratch.living("s1.jsonl"),
        bytes: copied as u64,
        whole: whole.len() as u64,
        is_gone,
    };
    assert_eq!(archive::incomplete(&scratch.archive()), [expected(false)]);
    assert_eq!(archive::size(&scratch.archive()).incomplete, 1);
    fs::remove_file(scratch.living("s1.jsonl")).unwrap();
    assert_eq!(archive::incomplete(&scratch.archive()), [expected(true)]);
    assert_eq!(archive::check(&scratch.archive()), [], "what there is can be read");
    let missing = (whole.len() - copied) as u64;
    let found = ArchivedFolder::all(&scratch.archive()).remove(0).find(|_| true, Path::exists, 2);
    assert_eq!(found.transcripts[0].missing, missing);
    let planned = plan(&scratch.archive(), &"s1".parse().unwrap()).unwrap();
    assert_eq!((planned.missing(), planned.files[0].missing), (missing, missing));
    restore(&planned).unwrap();
    let lines = &whole[..=whole[..copied].rfind('\n').unwrap()];
    assert_eq!(fs::metadata(scratch.living("s1.jsonl")).unwrap().len(), lines.len() as u64);
    scratch.write("s1.jsonl", &whole);
    scratch.pass(false, &|| true);
    assert_eq!((scratch.kept().len(), archive::incomplete(&scratch.archive())), (whole.len(), vec![]));
}

#[test]
fn a_copy_without_secrets_follows_its_file() {
    let scratch = Scratch::new();
    scratch.write("s1.jsonl", &format!("{{\"text\":\"token {KEY}\\nend\"}}\n{{\"n\":1}}\n"));
    let first = scratch.pass(true, &|| true);
    let expected = "{\"text\":\"token [redacted:github-token]\\nend\"}\n{\"n\":1}\n";
    assert_eq!(scratch.kept(), expected);
    assert_eq!(scratch.pass(true, &|| true), archive::PassReport::default(), "nothing is new");
    let line = format!("{{\"more\":\"{KEY}\"}}\n");
    scratch.append("s1.jsonl", &line);
    let more = scratch.pass(true, &|| true);
    assert_eq!((more.bytes, more.rewritten), (line.len() as u64, 0), "only what is new is read: {first:?}");
    let expected = format!("{expected}{{\"more\":\"[redacted:github-token]\"}}\n");
    assert_eq!(scratch.kept(), expected);
    // A line that is not whole yet, and then is.
    scratch.append("s1.jsonl", &format!("{{\"cut\":\"{}", &KEY[..20]));
    scratch.pass(true, &|| true);
    scratch.append("s1.jsonl", &format!("{}\"}}\n", &KEY[20..]));
    scratch.pass(true, &|| true);
    let expected = format!("{expected}{{\"cut\":\"[redacted:github-token]\"}}\n");
    assert_eq!(scratch.kept(), expected);
    // The same in another file, and then something else.
    let same = text(&scratch.living("s1.jsonl"));
    fs::remove_file(scratch.living("s1.jsonl")).unwrap();
    scratch.write("s1.jsonl", &same);
    assert_eq!(scratch.pass(true, &|| true).rewritten, 0);
    assert_eq!(scratch.kept(), expected);
    scratch.write("s1.jsonl", "{\"other\":1}\n");
    assert_eq!(scratch.pass(true, &|| true).rewritten, 1);
    assert_eq!(scratch.held("versions"), [("1.s1.jsonl".to_owned(), expected)]);
    fs::remove_file(scratch.living("s1.jsonl")).unwrap();
    let planned = plan(&scratch.archive(), &"s1".parse().unwrap()).unwrap();
    assert_eq!(planned.files[0].secrets, Some(0));
}

#[test]
fn a_copy_without_secrets_holds_no_line_of_a_key() {
    let scratch = Scratch::new();
    let body = ["MIIEpAIBAAKCAQEA0mVkQ8s1", "q7Wc9Zt2LxYp4RbN6vKj3HdG", "Zk1Tf5Uo8Ei="]
        .map(|part| format!("{part}{}", "aB3dE5fG7hJ9kL1m".repeat(if part.ends_with('=') { 0 } else { 2 })));
    let key = [
        "-----BEGIN RSA PRIVATE KEY-----",
        body[0].as_str(),
        body[1].as_str(),
        body[2].as_str(),
        "-----END RSA PRIVATE KEY-----",
    ];
    let prefixed = |prefix: &str| key.map(|line| format!("{prefix}{line}"));
    let removed = prefixed("-    ");
    let found = prefixed("k.pem-");
    let logged = prefixed("web_1  | ");
    let lines = [
        serde_json::json!({"text": removed.join("\n")}),
        serde_json::json!({"structuredPatch": [{"lines": removed}]}),
        serde_json::json!({"text": format!("{}\n{}", found.join("\n"), logged.join("\r\n"))}),
    ];
    scratch.write("s1.jsonl", &lines.map(|line| format!("{line}\n")).concat());
    scratch.pass(true, &|| true);
    let kept = scratch.kept();
    assert!(body.iter().all(|line| !kept.contains(&line[..10])), "{kept}");
    let is_json = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    assert!(kept.lines().count() == 3 && kept.lines().all(is_json), "{kept}");
}

#[test]
fn secrets_are_left_out_of_the_copies_that_had_them() {
    let scratch = Scratch::new();
    let secret = format!("{{\"text\":\"{KEY}\"}}\n");
    let redacted = "{\"text\":\"[redacted:github-token]\"}\n".to_owned();
    let long = format!("{secret}{}{secret}", "{\"filler\":\"words and words\"}\n".repeat(60_000));
    scratch.write("gone.jsonl", &long);
    scratch.write("here.jsonl", &secret);
    scratch.write("gone/tool-results/a.txt", &format!("GITHUB_TOKEN={KEY}\n"));
    scratch.pass(false, &|| true);
    scratch.write("here.jsonl", "{\"rewritten\":1}\n");
    scratch.pass(false, &|| true);
    fs::remove_file(scratch.living("gone.jsonl")).unwrap();
    scratch.pass(true, &|| true);
    let done = leave_secrets_out(&scratch.archive(), &|| true).unwrap();
    assert_eq!(
        (done.copies, done.failed),
        (3, vec![]),
        "the one that is gone, what is beside it, the version"
    );
    assert_eq!(leave_secrets_out(&scratch.archive(), &|| true).unwrap().copies, 0);
    let kept = scratch.held("projects");
    assert!(kept[0].1 == long.replace(KEY, "[redacted:github-token]"), "a copy of several frames");
    assert_eq!(kept[1].1, "{\"rewritten\":1}\n");
    assert_eq!(scratch.held("versions")[0].1, redacted);
    assert_eq!(archive::size(&scratch.archive()).redacted, 4);
    let planned = plan(&scratch.archive(), &"gone".parse().unwrap()).unwrap();
    let secrets: Vec<_> = planned.files.iter().map(|file| file.secrets).collect();
    assert_eq!(secrets, [Some(1), Some(2)]);
    // What is put back is no other version.
    restore(&planned).unwrap();
    assert_eq!(scratch.pass(true, &|| true).rewritten, 0);
    // Asked for secrets again, the file that is there is copied as it is; its copy is no other version.
    let report = scratch.pass(false, &|| true);
    assert_eq!((report.rewritten, archive::size(&scratch.archive()).redacted), (0, 1), "the version");
}
