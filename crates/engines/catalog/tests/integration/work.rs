//! The cost of a listing: an unchanged file nothing but its stamp, an appended one its new bytes.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use std::cell::Cell;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use catalog::{
    Catalog, CatalogEntry, Detail, IoStats, Locations, Projection, SessionFilter, discover, map_sessions,
    overview, overview_of, read, select,
};
use model::{Keywords, Session};
use tempfile::TempDir;
use transcript::ConfigFolder;

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn read(&self) -> Catalog {
        self.read_keeping(&self.at("state/catalog.sqlite"))
    }

    fn read_keeping(&self, cache: &Path) -> Catalog {
        self.read_in(Detail::Spending, cache)
    }

    fn read_facts(&self) -> Catalog {
        self.read_in(Detail::Facts, &self.at("state/catalog.sqlite"))
    }

    fn read_in(&self, detail: Detail, cache: &Path) -> Catalog {
        read(&Locations { cache: Some(cache.to_owned()), ..self.places() }, detail, |_| true)
    }

    fn places(&self) -> Locations {
        let config_folders = vec![ConfigFolder::new(self.at(""))];
        let cache = Some(self.at("state/catalog.sqlite"));
        Locations { config_folders, cache, threads: 2, ..Locations::default() }
    }
}

fn append(path: &Path, text: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

const PROMPT: &str = r#"{"type":"user","uuid":"u1","cwd":"/p","message":{"role":"user","content":"Fix the build"}}
"#;
const ANSWER: &str = r#"{"type":"assistant","uuid":"u2","requestId":"r","message":{"id":"i","model":"claude-opus-5-5","content":[{"type":"text","text":"Done"}],"usage":{"output_tokens":3}}}
"#;
/// The number of bytes that `transcript` reads again to recognise a file.
const WITNESS: u64 = 1024;

/// The overview of the files that are there.
fn overview_now(
    places: &Locations,
    pricing_version: u64,
    apply_totals: impl Fn(&mut [CatalogEntry]),
    progress: impl FnMut(catalog::ReadProgress) -> bool,
) -> Catalog {
    overview(places, &discover(places), pricing_version, apply_totals, progress)
}

#[test]
fn a_line_appended_to_a_large_session_costs_its_own_bytes() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", &PROMPT.repeat(1000));
    scratch.file("projects/-p/s1/subagents/agent-a.jsonl", ANSWER);
    scratch.file("projects/-p/s2.jsonl", PROMPT);
    let first = scratch.read();
    assert_eq!((first.work.opened, first.work.rows, first.subagents), (3, 3, 1));
    assert_eq!(first.not_kept, None);
    assert_eq!(scratch.read().work, IoStats::default());

    append(&path, ANSWER);
    let third = scratch.read();
    let bytes = WITNESS + ANSWER.len() as u64;
    assert_eq!(third.work, IoStats { opened: 1, bytes, rows: 1 });
    let session = third.sessions.iter().find(|entry| entry.session.id.as_str() == "s1").unwrap();
    assert_eq!(session.session.message_count, 1001);
    assert_eq!(
        session.messages.iter().map(|message| (message.usage.output, message.subagent)).collect::<Vec<_>>(),
        [(3, false), (3, true)]
    );
}

/// What a function asks of files on this thread, in bytes.
fn bytes_asked<T>(run: impl FnOnce() -> T) -> u64 {
    let asked = || {
        let all = system::read_small(Path::new("/proc/thread-self/io"), 4096).unwrap();
        let all = String::from_utf8(all).unwrap();
        all.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse::<u64>().unwrap()
    };
    let before = asked();
    run();
    asked() - before
}

#[test]
fn a_line_appended_to_a_session_of_many_messages_reads_them_once() {
    const MESSAGES: u64 = 10_000;
    let scratch = Scratch::new();
    let answer = |number| ANSWER.replace(r#""id":"i""#, &format!(r#""id":"i{number}""#));
    let path = scratch.file("projects/-p/s1.jsonl", &(0..MESSAGES).map(answer).collect::<String>());
    let places = Locations { threads: 1, ..scratch.places() };
    let list = || overview_now(&places, 1, |_| (), |_| true);
    assert_eq!(list().work.opened, 1);
    let nothing_new = bytes_asked(list);
    append(&path, PROMPT);
    let more = bytes_asked(list) - nothing_new;
    assert!((16 * MESSAGES..40 * MESSAGES).contains(&more), "{more} bytes: a message takes some 25");
}

#[test]
fn a_cancelled_reading_resumes_where_it_stopped() {
    let scratch = Scratch::new();
    for number in 0..9 {
        scratch.file(&format!("projects/-p/s{number}.jsonl"), PROMPT);
    }
    let places = Locations { threads: 1, ..scratch.places() };
    let began = overview_now(&places, 1, |_| (), |progress| progress.files < 3);
    assert_eq!((began.work.opened, began.sessions.len()), (3, 3));
    let ended = overview_now(&places, 1, |_| (), |_| true);
    assert_eq!((ended.work.opened, ended.sessions.len()), (6, 9));
    assert_eq!(overview_now(&places, 1, |_| (), |_| true).work, IoStats::default());
}

#[test]
fn the_end_of_a_session_is_cached() {
    let scratch = Scratch::new();
    let exit = PROMPT.replace("Fix the build", "<command-name>/exit</command-name>").replace("u1", "u3");
    let path = scratch.file("projects/-p/s1.jsonl", &[PROMPT, ANSWER, &exit].concat());
    let was_exited = || {
        let overview = overview_now(&scratch.places(), 1, |_| (), |_| true);
        let read = scratch.read();
        [overview, read].map(|catalog| catalog.sessions[0].session.was_exited)
    };
    assert_eq!([was_exited(), was_exited()], [[true; 2]; 2]);
    append(&path, &PROMPT.replace("u1", "u4"));
    assert_eq!([was_exited(), was_exited()], [[false; 2]; 2]);
}

#[test]
fn a_session_that_moves_to_another_folder_is_not_read_again() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", PROMPT);
    scratch.read();
    let moved = scratch.at("projects/-q/s1.jsonl");
    fs::create_dir_all(moved.parent().unwrap()).unwrap();
    fs::rename(path, &moved).unwrap();
    let found = scratch.read();
    assert_eq!((found.work.opened, found.work.bytes), (0, 0));
    assert_eq!(found.sessions[0].session.file.as_deref(), Some(&*moved));
    assert_eq!(scratch.read().work, IoStats::default());
}

#[test]
fn a_session_belongs_to_the_directory_it_was_moved_to_last() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", PROMPT);
    let check = |expected: &str| {
        let overview = overview_now(&scratch.places(), 1, |_| (), |_| true);
        for catalog in [overview, scratch.read()] {
            let session = &catalog.sessions[0].session;
            let directory = Some(Path::new(expected));
            assert_eq!((session.cwd.as_deref(), session.repo_path.as_deref()), (directory, directory));
            assert_eq!(session.project.as_deref(), expected.strip_prefix('/'));
        }
    };
    check("/p");
    for directory in ["/q", "/r"] {
        append(&path, &format!("{{\"type\":\"relocated\",\"relocatedCwd\":\"{directory}\"}}\n"));
        check(directory);
    }
    // A `cd` moves nothing.
    append(&path, &PROMPT.replace("/p", "/elsewhere").replace("u1", "u3"));
    check("/r");
}

#[test]
fn a_rewritten_file_is_read_again() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", PROMPT);
    scratch.read();
    fs::write(&path, PROMPT.replace("Fix the build", "Write the book")).unwrap();
    assert_eq!(scratch.read().sessions[0].session.title.as_deref(), Some("Write the book"));
    let renamed = scratch.at("projects/-p/s2.jsonl");
    fs::rename(&path, renamed).unwrap();
    let found = scratch.read();
    assert_eq!((found.sessions[0].session.id.as_str(), found.work.opened), ("s2", 1));
}

#[test]
fn a_flat_subagent_belongs_to_the_session_its_records_name() {
    let scratch = Scratch::new();
    scratch.file("projects/-p/s1.jsonl", PROMPT);
    scratch.file(
        "projects/-p/agent-a.jsonl",
        &ANSWER.replace("{\"type\"", "{\"sessionId\":\"s1\",\"isSidechain\":true,\"type\""),
    );
    let found = scratch.read();
    assert_eq!((found.sessions.len(), found.subagents), (1, 1));
    assert_eq!(found.sessions[0].session.subagents[0].id, "a");
    assert!(!found.sessions[0].messages[0].copied);
}

#[test]
fn sub_agents_messages_are_counted_once() {
    let scratch = Scratch::new();
    let record = |session: &str, kind: &str, key: &str| {
        ANSWER
            .replace("{\"type\":\"assistant\"", &format!("{{\"sessionId\":\"{session}\",\"type\":\"{kind}\""))
            .replace("\"i\"", &format!("\"{key}\""))
    };
    scratch.file("projects/-p/s1.jsonl", PROMPT);
    // 2.0.77 wrote the prompt of a warm-up before it knew the session.
    scratch
        .file("projects/-p/agent-a.jsonl", &(record("never", "user", "i") + &record("s1", "assistant", "i")));
    scratch.file("projects/-p/agent-b.jsonl", &record("gone", "assistant", "j"));
    scratch.file("projects/-p/lost/subagents/agent-c.jsonl", &record("lost", "assistant", "k"));
    // Its transcript has moved away from it.
    scratch.file("projects/-q/s1/subagents/agent-d.jsonl", &record("s1", "assistant", "l"));
    for _ in 0..2 {
        let found = scratch.read();
        let of = |entry: &CatalogEntry| (entry.session.id.to_string(), entry.messages.len());
        assert_eq!(found.sessions.iter().map(of).collect::<Vec<_>>(), [("s1".to_owned(), 2)]);
        let unattached_messages: Vec<_> = found.unattached_messages.iter().map(of).collect();
        assert_eq!(unattached_messages, [("gone".to_owned(), 1), ("lost".to_owned(), 1)]);
        assert_eq!(found.subagents, 4);
    }
    assert_eq!(scratch.read().work, IoStats::default());
}

#[test]
fn sub_agents_are_those_that_a_tool_use_called() {
    let call = r#"{"type":"assistant","uuid":"c","message":{"id":"c","model":"m","content":[{"type":"tool_use","id":"t","name":"Task","input":{"description":"Count files","prompt":"Count the files. ","subagent_type":"Explore"}}]}}
"#;
    let task = |text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"r\",\"parentUuid\":null,\"isSidechain\":true,\"sessionId\":\"s1\",\"message\":{{\"content\":\"{text}\"}}}}\n"
        )
    };
    let check = |files: &[(&str, String)], expected: &[(&str, &str)]| {
        let scratch = Scratch::new();
        for (name, content) in files {
            scratch.file(&format!("projects/-p/{name}.jsonl"), content);
        }
        for _ in 0..2 {
            let found = overview_now(&scratch.places(), 1, |_| (), |_| true);
            let agents = found.sessions[0].session.subagents.iter();
            let actual: Vec<_> =
                agents.map(|agent| (agent.agent_type.as_deref(), agent.description.as_deref())).collect();
            let expected: Vec<_> = expected.iter().map(|(kind, words)| (Some(*kind), Some(*words))).collect();
            assert_eq!(actual, expected, "{files:?}");
            // Their tasks are known still when they go on.
            for (name, _) in files.iter().filter(|(name, _)| name.contains("agent")) {
                append(&scratch.at(&format!("projects/-p/{name}.jsonl")), ANSWER);
            }
        }
    };
    let count = task("Count the files.");
    // In the session's own file, beside it, and below its folder.
    check(&[("s1", [call, &count].concat())], &[("Explore", "Count files")]);
    check(
        &[("s1", call.to_owned()), ("agent-a", count.clone()), ("agent-b", task("Warmup"))],
        &[("Explore", "Count files")],
    );
    let below = [
        ("s1", call.to_owned()),
        ("s1/subagents/agent-a", count),
        ("s1/subagents/agent-acompact-1", task("Sum up")),
    ];
    check(&below, &[("Explore", "Count files")]);
}

#[test]
fn without_a_cache_everything_is_still_listed() {
    let scratch = Scratch::new();
    scratch.file("projects/-p/s1.jsonl", PROMPT);
    let blocked = scratch.file("file", "in the way").join("catalog.sqlite");
    let found = scratch.read_keeping(&blocked);
    assert_eq!(found.sessions.len(), 1);
    assert!(found.not_kept.unwrap().contains("cannot create the folder"));
    let damaged = scratch.file("catalog.sqlite", "no database");
    assert_eq!(scratch.read_keeping(&damaged).not_kept, None);
    assert_eq!(scratch.read_keeping(&damaged).work, IoStats::default());
}

#[test]
fn a_locked_database_delays_nobody_for_long() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", PROMPT);
    scratch.read();
    let writer = database::rusqlite::Connection::open(scratch.at("state/catalog.sqlite")).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    append(&path, ANSWER);
    let found = scratch.read();
    assert_eq!((found.sessions[0].session.message_count, found.work.rows), (2, 0));
    assert!(found.not_kept.unwrap().contains("locked"));
}

#[test]
fn a_listing_from_facts_opens_no_file_and_loses_nothing() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", &(PROMPT.to_owned() + ANSWER));
    scratch.read();
    assert_eq!(scratch.read_facts().work.opened, 0);
    append(&path, PROMPT);
    assert_eq!(scratch.read_facts().sessions[0].session.message_count, 3);
    let after = scratch.read();
    assert_eq!((after.work.opened, after.sessions[0].messages.len()), (0, 1));
}

#[test]
fn a_selection_from_digests_equals_one_from_transcripts() {
    let scratch = Scratch::new();
    let places = scratch.places();
    let on = |branch: &str, cwd: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{branch}\",\"cwd\":\"{cwd}\",\"gitBranch\":\"{branch}\",\"timestamp\":\"2026-01-02T03:04:05.678Z\",\"message\":{{\"content\":\"x\"}}}}\n"
        )
    };
    let changing = scratch.file("projects/-p/s1.jsonl", &on("main", "/p/web"));
    scratch.file("projects/-p/s2.jsonl", &on("fix", "/p/api"));
    let chosen = |filter: &SessionFilter| {
        let mut ids: Vec<_> =
            select(&places, &discover(&places), filter, |_| true).into_iter().map(String::from).collect();
        ids.sort();
        ids.join(" ")
    };
    let branch = SessionFilter { branch: Some("fix".into()), ..SessionFilter::default() };
    let project = SessionFilter { project: Some("web".into()), ..SessionFilter::default() };
    let since = SessionFilter { since: "2026-01-02T03:04:06Z".parse().ok(), ..SessionFilter::default() };
    for _ in 0..2 {
        // The first time from the transcripts, the second from what was kept of them.
        assert_eq!(
            (chosen(&branch), chosen(&project), chosen(&since)),
            ("s2".into(), "s1".into(), String::new())
        );
    }
    assert_eq!(scratch.read().work, IoStats::default());
    append(&changing, &on("fix", "/p/web"));
    assert_eq!(chosen(&branch), "s1 s2");
}

#[test]
fn one_session_is_described_without_reading_others() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.at(&format!("projects/-p/{name}.jsonl"));
    let answer =
        |name: &str| ANSWER.replace("u2", &format!("u2-{name}")).replace(r#""i""#, &format!("\"{name}\""));
    for name in ["s1", "s2"] {
        scratch.file(&format!("projects/-p/{name}.jsonl"), &format!("{PROMPT}{}", answer(name)));
    }
    let places = scratch.places();
    let apply_totals = |entries: &mut [CatalogEntry]| {
        for entry in entries {
            entry.session.usage.output = entry.messages.iter().map(|message| message.usage.output).sum();
        }
    };
    let all = || overview_now(&places, 1, apply_totals, |_| true).sessions;
    let files = Cell::new(0);
    let one = |name: &str| {
        files.set(0);
        let progress = |progress: catalog::ReadProgress| {
            files.set(progress.of_files);
            true
        };
        overview_of(&places, &discover(&places), &name.parse().unwrap(), 1, apply_totals, progress)
    };
    let among = |name: &str| {
        let mut sessions = all().into_iter().map(|entry| *entry.session);
        sessions.find(|session| session.id.as_str() == name)
    };
    assert_eq!(one("s1"), None, "nothing is kept yet");
    let known = among("s1");
    assert_eq!((one("s1"), files.get()), (known, 0));
    append(&path("s2"), &answer("more"));
    assert_eq!((one("s1"), files.get()), (among("s1"), 0));
    for name in ["s1", "s2"] {
        append(&path(name), &answer(&format!("last-{name}")));
    }
    let changed = one("s1");
    assert_eq!(files.get(), 1, "the other is not read");
    assert_eq!(changed.as_ref().map(|session| session.usage.output), Some(6));
    assert_eq!(changed, among("s1"));
    scratch.file("projects/-p/s3.jsonl", PROMPT);
    assert_eq!((one("s1"), one("s4")), (None, None));
}

#[test]
fn many_digests_are_kept_in_order() {
    let scratch = Scratch::new();
    for number in 0..600 {
        let second = format!("2026-01-01T00:{:02}:{:02}Z", number % 7, number % 60);
        let prompt = format!(
            r#"{{"type":"user","uuid":"u{number}","timestamp":"{second}","cwd":"/p{}","message":{{"role":"user","content":"task {number}"}}}}"#,
            number % 3
        );
        scratch.file(&format!("projects/-p{}/s{number}.jsonl", number % 3), &(prompt + "\n"));
    }
    let look = || {
        let found = overview_now(&scratch.places(), 1, |_| (), |_| true);
        let sessions: Vec<_> = found.sessions.into_iter().map(|entry| entry.session).collect();
        (sessions, found.work.opened)
    };
    let (first, opened) = look();
    assert_eq!((first.len(), opened), (600, 600));
    assert!(first.is_sorted_by_key(|session| (std::cmp::Reverse(session.last_modified), &session.id)));
    assert_eq!(look(), (first, 0));
}

#[test]
fn scalars_are_the_same_with_and_without_texts() {
    let scratch = Scratch::new();
    let titled = r#"{"type":"custom-title","customTitle":"The build","sessionId":"s1"}"#;
    scratch.file("projects/-p/s1.jsonl", &format!("{PROMPT}{ANSWER}{titled}\n"));
    scratch.file("projects/-p/s1/subagents/agent-a.jsonl", ANSWER);
    let look = |extent| {
        map_sessions(&scratch.places(), &discover(&scratch.places()), 1, extent, |_| (), |_| true, Some)
            .sessions
            .remove(0)
    };
    let read = look(Projection::Scalars);
    assert_eq!(read.keywords, None, "who reads a transcript does not reckon them");
    let whole = look(Projection::Full);
    assert_eq!(whole.session, read.session, "what is read anyway is described");
    let title = |entry: &CatalogEntry| entry.session.title.as_deref().map(ToOwned::to_owned);
    assert_eq!((title(&whole).as_deref(), whole.session.subagents.len()), (Some("The build"), 1));
    assert_eq!(whole.keywords, Some(Keywords::from_text("Fix the build")));
    let describe_scalars = look(Projection::Scalars);
    assert_eq!(describe_scalars.keywords, whole.keywords);
    let bare = Session { first_message: None, last_prompt: None, subagents: Vec::new(), ..*whole.session };
    assert_eq!(*describe_scalars.session, bare);
}

#[test]
fn an_overview_of_unchanged_files_is_computed_once() {
    let scratch = Scratch::new();
    let path = scratch.file("projects/-p/s1.jsonl", &(PROMPT.to_owned() + ANSWER));
    scratch.file("projects/-p/s1/subagents/agent-a.jsonl", ANSWER);
    scratch.file("projects/-p/s2.jsonl", PROMPT);
    // Asks the ledger's place for a figure, and counts how often it is asked.
    let look = |pricing_version: u64| {
        let asked = Cell::new(0);
        let apply_totals = |entries: &mut [CatalogEntry]| {
            asked.set(asked.get() + 1);
            for entry in entries {
                entry.session.usage.output = entry.messages.len() as u64;
                entry.session.cost_usd = Some(pricing_version as f64);
            }
        };
        let found = overview_now(&scratch.places(), pricing_version, apply_totals, |_| true);
        let sessions: Vec<_> = found.sessions.into_iter().map(|entry| entry.session).collect();
        (asked.get(), sessions, found.work)
    };
    let (asked, first, _) = look(7);
    assert_eq!((asked, first[0].usage.output + first[1].usage.output), (1, 2));
    assert_eq!(look(7), (0, first.clone(), IoStats::default()), "nothing has changed");
    assert_eq!(look(8).0, 1, "other rules");
    assert_eq!(look(8).0, 0);
    append(&path, PROMPT);
    let (asked, changed, work) = look(8);
    assert_eq!((asked, work.opened), (1, 1), "a transcript has changed");
    assert_ne!(changed, first);
    let whole = system::read_small(&scratch.at("state/overview.bin"), 1 << 20).unwrap();
    for damaged in [&b""[..], b"\x01nonsense", &whole[..40]] {
        fs::write(scratch.at("state/overview.bin"), damaged).unwrap();
        assert_eq!(look(8), (1, changed.clone(), IoStats::default()), "a damaged file is made again");
    }
    // A filter that had to look for itself leaves no figures behind.
    append(&path, PROMPT);
    let all = select(&scratch.places(), &discover(&scratch.places()), &SessionFilter::default(), |_| true);
    assert_eq!((all.len(), look(8).0), (2, 1));
}

#[test]
fn an_incremental_overview_equals_a_full_one() {
    let scratch = Scratch::new();
    let answer = |id: &str| ANSWER.replace("\"id\":\"i\"", &format!("\"id\":\"{id}\""));
    let session = |id: &str, content: &str| scratch.file(&format!("projects/-p/{id}.jsonl"), content);
    let copied = session("s1", &(PROMPT.to_owned() + &answer("shared")));
    session("s2", &(PROMPT.to_owned() + &answer("shared")));
    let own = session("s3", &(PROMPT.to_owned() + &answer("own")));
    scratch.file("projects/-p/s3/subagents/agent-a.jsonl", &answer("of a"));
    let look = |state: &str| {
        let asked = Cell::new(0);
        let apply_totals = |entries: &mut [CatalogEntry]| {
            asked.set(entries.len());
            for entry in entries {
                entry.session.usage.output = entry.messages.len() as u64;
            }
        };
        let places = Locations { cache: Some(scratch.at(state).join("catalog.sqlite")), ..scratch.places() };
        let found = overview_now(&places, 1, apply_totals, |_| true);
        let sessions: Vec<_> = found.sessions.into_iter().map(|entry| entry.session).collect();
        (asked.get(), sessions, found.work.opened)
    };
    let mut state = 0;
    let mut check = |asked: usize, opened: u64, what: &str| {
        let (now, sessions, files) = look("state");
        assert_eq!((now, files), (asked, opened), "{what}");
        state += 1;
        assert_eq!(sessions, look(&format!("state-{state}")).1, "{what}");
        assert_eq!(look("state").1, sessions, "{what}, asked again");
        let all = discover(&scratch.places());
        assert_eq!(
            select(&scratch.places(), &all, &SessionFilter::default(), |_| true).len(),
            sessions.len(),
            "{what}"
        );
    };
    check(3, 4, "nothing was known");
    append(&own, &answer("more"));
    check(1, 1, "its own message is new");
    scratch.file("projects/-p/s3/subagents/agent-b.jsonl", &answer("of b"));
    check(1, 1, "a sub-agent is new");
    append(&copied, &answer("another"));
    check(3, 1, "copies have to be separated");
    append(
        &own,
        &answer("copy")
            .replace("\"uuid\":\"u2\"", r#""uuid":"u3","forkedFrom":{"sessionId":"s9","messageUuid":"u"}"#),
    );
    check(3, 1, "a message is another session's");
    session("s4", PROMPT);
    check(4, 1, "a session is new");
    fs::create_dir_all(scratch.at("projects/-q")).unwrap();
    fs::rename(scratch.at("projects/-p/s4.jsonl"), scratch.at("projects/-q/s4.jsonl")).unwrap();
    check(4, 0, "a session has moved and is not read again");
    fs::write(&own, PROMPT.replace("u1", "u7") + &answer("other") + &answer("shared")).unwrap();
    check(4, 1, "a transcript was replaced");
    fs::remove_file(&own).unwrap();
    check(3, 0, "a session is gone");
}
