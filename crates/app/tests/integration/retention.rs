//! What is kept of sessions: a part of one is never put back for the whole, and no secret is kept where none is wanted.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use app::retention::{archive as kept, deadline, forget, restore};
use app::search::{Request as SearchRequest, search};
use app::sessions::list::{self, list};
use app::sessions::lookup::{SessionRef, find_candidates};
use app::sessions::show::{Request as ShowRequest, ShownMessage, show};
use app::sessions::{before, day, page};
use app::{Caller, Kind, NextStep};

use crate::scene::{MAIN, OPS, PERSON, Scene, secret};

fn text(file: &std::path::Path) -> String {
    String::from_utf8(system::read_small(file, 1 << 30).unwrap()).unwrap()
}

#[test]
fn a_copy_of_a_session_deleted_during_copying_is_reported_incomplete() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let transcript = scene.transcript(PERSON);
    let line = serde_json::json!({"type": "user", "sessionId": PERSON.0, "filler": "word ".repeat(200)});
    let long = text(&transcript) + &format!("{line}\n").repeat(1000);
    fs::write(&transcript, &long).unwrap();
    let steps = AtomicU64::new(0);
    let rules = archive::Rules { threads: 1, ..archive::Rules::default() };
    let folders = [transcript::ConfigFolder::new(scene.home().config_dir())];
    let copies = scene.home().state_dir().join("archive");
    archive::pass(&copies, &folders, &rules, "2026-01-02T00:00:00Z".parse().unwrap(), &|| {
        steps.fetch_add(1, Ordering::Relaxed) < 6
    })
    .unwrap();
    let waiting = kept::archive(&context, &kept::Request { check: true, status: true, ..Default::default() });
    assert!(waiting.unwrap().incomplete.iter().any(|file| !file.is_gone));
    fs::remove_file(&transcript).unwrap();

    let checked = kept::archive(&context, &kept::Request { check: true, ..Default::default() }).unwrap();
    let [part] = checked.incomplete.as_slice() else { panic!("{checked:?}") };
    assert_eq!((part.whole_bytes, part.is_gone), (long.len() as u64, true));
    let answer = list(&context, &list::Request::default()).unwrap();
    let session = answer.sessions.iter().find(|session| session.id.as_str() == PERSON.0).unwrap();
    assert_eq!(session.missing_bytes, part.whole_bytes - part.bytes);
    assert!(answer.notes.iter().any(|note| note.contains("deleted while it was copied")), "{answer:?}");

    let request = |partial, dry_run| restore::Request { session: PERSON.0.to_owned(), dry_run, partial };
    let refused = restore::restore(&context, &request(false, false)).unwrap_err();
    let step = NextStep::RestorePart { session: PERSON.0.parse().unwrap() };
    assert_eq!((refused.kind, refused.next_steps.first()), (Kind::Unavailable, Some(&step)));
    assert!(!transcript.exists(), "nothing was written");
    let planned = restore::restore(&context, &request(false, true)).unwrap();
    assert_eq!(planned.missing_bytes, session.missing_bytes);
    restore::restore(&context, &request(true, false)).unwrap();
    let restored = text(&transcript);
    assert!(long.starts_with(&restored) && restored.ends_with('\n'), "only whole lines");
}

#[test]
fn no_secret_is_archived_with_no_secrets() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    scene.add_session(MAIN.0, MAIN.1, &format!("the key is {}", secret()));
    let all = |no_secrets| kept::Request { no_secrets, ..Default::default() };
    assert_eq!(kept::archive(&context, &all(None)).unwrap().redacted_files, 0);
    fs::remove_file(scene.transcript(MAIN)).unwrap();
    let done = kept::archive(&context, &all(Some(true))).unwrap();
    assert!(done.no_secrets && done.redacted_now >= 1 && done.failed.is_empty(), "{done:?}");
    assert_eq!(done.redacted_files, done.files);
    let request = restore::Request { session: MAIN.0.to_owned(), dry_run: false, partial: false };
    let restored = restore::restore(&context, &request).unwrap();
    assert_eq!(restored.secrets_left_out, Some(1));
    let text = text(&scene.transcript(MAIN));
    assert!(text.contains("[redacted:") && !text.contains(&secret()), "{text}");
    // It holds for later copies too, until that is taken back.
    scene.add_session(OPS.0, OPS.1, &format!("another key is {}", secret()));
    let again = kept::archive(&context, &all(None)).unwrap();
    assert_eq!(again.redacted_files, again.files + again.versions);
    let back = kept::archive(&context, &all(Some(false))).unwrap();
    assert_eq!((back.no_secrets, back.redacted_files), (false, back.versions));
}

#[test]
fn the_deletion_notice_is_given_once_a_day() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let age = |session, days: u64| {
        let at = SystemTime::from(context.now) - Duration::from_hours(24 * days);
        fs::File::options().append(true).open(scene.transcript(session)).unwrap().set_modified(at).unwrap();
    };
    for session in [PERSON, MAIN, OPS] {
        age(session, 29);
    }
    assert_eq!(deadline::notice(&context), None);
    age(OPS, 31);
    age(MAIN, 32);
    let notice = deadline::notice(&context).unwrap();
    let ids: Vec<&str> = notice.sessions.iter().map(model::SessionId::as_str).collect();
    assert_eq!((ids.as_slice(), notice.days, notice.is_kept), ([MAIN.0, OPS.0].as_slice(), 30, true));
    assert_eq!((notice.uncopied, notice.left_out), (0, 0), "they are copied before they are spoken of");
    assert_eq!(deadline::notice(&context), None, "once a day");
    let tomorrow = app::Context { now: context.now + jiff::SignedDuration::from_hours(25), ..context };
    assert!(deadline::notice(&tomorrow).is_some());

    let plans = deadline::keep_longer(&tomorrow).unwrap();
    let [plan] = plans.as_slice() else { panic!("{plans:?}") };
    assert_eq!(plan.after.as_deref(), Some("{\n  \"cleanupPeriodDays\": 365\n}\n"));
    plan.apply(true).unwrap();
    assert!(plan.backup().is_file());
    assert_eq!(deadline::keep_longer(&tomorrow).unwrap(), []);
}

#[test]
fn forgetting_with_transcripts_deletes_all_that_claude_code_keeps_of_a_session() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let id = PERSON.0;
    let own = [
        format!(".claude/projects/-elsewhere/{id}.jsonl"),
        format!(".claude/file-history/{id}/abc@v1"),
        format!(".claude/tasks/{id}/1.json"),
        format!(".claude/todos/{id}-agent-{id}.json"),
    ];
    let others = [format!(".claude/tasks/{}/1.json", MAIN.0), format!(".claude/todos/{}.json", MAIN.0)];
    for name in own.iter().chain(&others) {
        scene.home().write(name, text(&scene.transcript(PERSON)));
    }
    let prompt =
        serde_json::json!({"display": "Boil it", "timestamp": 1_764_000_000_000_i64, "sessionId": id});
    scene.home().write(".claude/history.jsonl", format!("{prompt}\n{prompt}\n"));
    let request = |transcripts| forget::Request {
        session: Some(id.to_owned()),
        transcripts,
        ..forget::Request::default()
    };
    let kept = forget::forget(&context, &request(false)).unwrap();
    assert_eq!((kept.deleted_files.len(), kept.notes.len()), (0, 0));
    let done = forget::forget(&context, &request(true)).unwrap();
    let there = |name: &String| scene.home().path().join(name).exists();
    assert!(!scene.transcript(PERSON).exists() && !own.iter().any(there), "{done:?}");
    assert!(others.iter().all(there) && scene.transcript(MAIN).exists(), "{done:?}");
    assert_eq!(done.deleted_files.len(), 5, "{done:?}");
    let [note] = done.notes.as_slice() else { panic!("{done:?}") };
    assert!(note.starts_with("2 prompts of theirs can still be read in "), "{note}");
}

#[test]
fn a_session_in_a_folder_that_cannot_be_read_is_not_deleted() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    kept::archive(&context, &kept::Request::default()).unwrap();
    let transcript = scene.transcript(PERSON);
    let folder = transcript.parent().unwrap();
    fs::rename(folder, scene.home().path().join("away")).unwrap();
    // A link that leads to itself can be read by nobody, not even by root.
    std::os::unix::fs::symlink(folder, folder).unwrap();
    kept::archive(&context, &kept::Request::default()).unwrap();

    let answer = list(&context, &list::Request::default()).unwrap();
    let session = answer.sessions.iter().find(|session| session.id.as_str() == PERSON.0).unwrap();
    assert_eq!((session.origin.as_str(), session.archived, session.deleted_at), ("native", true, None));
    let named = format!("{} cannot be read", session.unreadable_folder.as_deref().unwrap().display());
    assert!(answer.notes.iter().any(|note| note.starts_with(&named)), "{:?}", answer.notes);
    let refused = app::proceed::resume::resume(&context, session, &[]).unwrap_err();
    assert!(refused.message.ends_with("which cannot be read"), "{refused}");
    let told = day::day(&context, &day::Request { since: Some("2026-01-10".into()), ..Default::default() });
    let told = told.unwrap();
    let sessions: Vec<&str> = told
        .projects
        .iter()
        .flat_map(|project| &project.sessions)
        .map(|day| day.session_id.as_str())
        .collect();
    assert!(sessions.contains(&PERSON.0), "{told:?}");
    assert!(told.notes[0].contains("could not be read: "), "{told:?}");
    fs::remove_file(folder).unwrap();
    let gone = list(&context, &list::Request::default()).unwrap();
    let session = gone.sessions.iter().find(|session| session.id.as_str() == PERSON.0).unwrap();
    assert_eq!((session.origin.as_str(), session.unreadable_folder.as_deref()), ("archived", None));
}

const GHOST: &str = "99999999-eeee-4eee-8eee-999999999999";

#[test]
fn traces_of_a_session_without_transcript_are_found_and_shown() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let directory = scene.directory(PERSON.1);
    let line = |id: &str, text: &str, at: i64| {
        serde_json::json!({"display": text, "timestamp": at, "project": directory, "sessionId": id})
            .to_string()
    };
    let key = format!("Use {} for the marmalade", secret());
    let history = [
        line(GHOST, "/model", 1_764_000_000_000),
        line(GHOST, "Boil the marmalade", 1_764_000_060_000),
        line(GHOST, &key, 1_764_000_120_000),
        // Its transcript is there.
        line(PERSON.0, "Boil no marmalade", 1_764_000_180_000),
    ];
    scene.home().write(".claude/history.jsonl", history.join("\n"));
    scene.home().write(&format!(".claude/file-history/{GHOST}/abc@v1"), "x");
    let ghosts = |context: &app::Context| {
        let request = list::Request { origin: Some(list::OriginName::Ghost), ..Default::default() };
        list(context, &request).unwrap().sessions
    };
    let found = ghosts(&context);
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.id.as_str(), one.title.as_deref()), (GHOST, Some("Boil the marmalade")));
    assert_eq!(one.origin.as_str(), "ghost");
    assert!(
        list(&context, &list::Request::default())
            .unwrap()
            .sessions
            .iter()
            .all(|session| session.id.as_str() != GHOST)
    );
    assert_eq!(
        ghosts(&scene.context(Caller::Agent("main".parse().unwrap()), MAIN.1)),
        [],
        "it is the person's"
    );

    let shown = show(&context, ShowRequest { session: GHOST[..8].to_owned(), ..empty_show() }).unwrap();
    let mut texts = Vec::new();
    shown
        .each(|message| -> Result<(), app::Error> {
            texts.push(format!("{:?}", message.parts));
            Ok(())
        })
        .unwrap();
    assert!(texts[0].contains("Left: 3 prompts, 1 checkpoint of a file"), "{texts:?}");
    assert!(texts[0].contains("Not left: answers"), "{texts:?}");
    assert!(
        texts.len() == 4 && texts[3].contains("[redacted:") && !texts[3].contains(&secret()),
        "{texts:?}"
    );

    let refused = find_candidates(&context, &SessionRef::Named(GHOST.to_owned()), 3).unwrap_err();
    assert!(refused.message.contains("before Backstory kept a copy"), "{refused}");
    let check = |query: &str, expected: &[&str]| {
        let request = SearchRequest { query: query.to_owned(), ..Default::default() };
        let answer = search(&context, &request).unwrap();
        let hits: Vec<&str> = answer.ghosts.iter().map(|hit| hit.session_id.as_str()).collect();
        assert_eq!((answer.hits.len(), hits.as_slice()), (0, expected), "{query}");
    };
    check("boil marmalade", &[GHOST]);
    check("\"boil the\" origin:ghost", &[GHOST]);
    check("origin:ghost", &[GHOST]);
    check("origin:ghost since:2025-01-01 until:2025-12-31", &[GHOST]);
    check("origin:ghost since:2040-01-01", &[]);
    check("boil marmalade project:elsewhere", &[]);
    check("boil marmalade role:assistant", &[]);
}

#[test]
fn sub_agents_of_a_session_without_transcript_are_found_and_shown() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let record = |kind: &str, text: &str| {
        let message = serde_json::json!({"role": kind, "content": [{"type": "text", "text": text}]});
        serde_json::json!({
            "type": kind, "uuid": kind, "isSidechain": true, "agentId": "a1", "sessionId": GHOST, "cwd": "/elsewhere/kitchen",
            "timestamp": "2026-01-10T11:00:00.000Z", "message": message,
        })
    };
    let agent =
        format!("{}\n{}\n", record("user", "Stir the quinces"), record("assistant", "They are jelly now."));
    scene
        .home()
        .write(&format!(".claude/projects/-elsewhere-kitchen/{GHOST}/subagents/agent-a1.jsonl"), agent);
    let request = list::Request { origin: Some(list::OriginName::Ghost), ..Default::default() };
    let found = list(&context, &request).unwrap().sessions;
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.title.as_deref(), one.project.as_deref()), (Some("Stir the quinces"), Some("kitchen")));
    let texts = |subagents| {
        let request = ShowRequest { session: GHOST[..8].to_owned(), subagents, ..empty_show() };
        let mut texts = Vec::new();
        let keep = |message: ShownMessage| -> Result<(), app::Error> {
            texts.push(format!("{:?}", message.parts));
            Ok(())
        };
        show(&context, request).unwrap().each(keep).unwrap();
        texts
    };
    assert!(texts(false).concat().contains("Left: 1 sub-agent's transcript"), "{:?}", texts(false));
    assert!(texts(true).concat().contains("They are jelly now."), "{:?}", texts(true));
    let request = SearchRequest { query: "quinces jelly".to_owned(), ..Default::default() };
    let hits = search(&context, &request).unwrap().hits;
    assert_eq!(hits[0].session_id.as_ref().map(model::SessionId::as_str), Some(GHOST));
    let within = SearchRequest { session: Some(GHOST[..8].to_owned()), ..request.clone() };
    assert_eq!(search(&context, &within).unwrap().hits.len(), 1);
    let page_of_agent = page::Request {
        session: GHOST.to_owned(),
        subagent: Some("a1".to_owned()),
        ..page::Request::default()
    };
    let read = page::page(&context, &page_of_agent).unwrap();
    assert_eq!(read.messages.len(), 2, "{read:?}");
    let erased = forget::forget(
        &context,
        &forget::Request {
            project: Some("/elsewhere/../elsewhere/kitchen".to_owned()),
            ..Default::default()
        },
    );
    assert_eq!(erased.unwrap().sessions.len(), 1);
    assert!(search(&context, &request).unwrap().hits.is_empty());
    assert_eq!(
        list(&context, &list::Request { origin: Some(list::OriginName::Ghost), ..Default::default() })
            .unwrap()
            .sessions,
        []
    );
}

fn empty_show() -> ShowRequest {
    serde_json::from_value(serde_json::json!({"session": ""})).unwrap()
}

#[test]
fn decisions_before_a_compaction_are_listed_with_their_places() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let request = |compaction| before::Request { session: PERSON.0.to_owned(), compaction };
    let none = before::before(&context, &request(None)).unwrap();
    assert_eq!((none.compactions.len(), none.decisions.len()), (0, 0), "nothing was cut away");
    let record = |number: usize, kind: &str, content: serde_json::Value, result: serde_json::Value| {
        scene.append(PERSON, &serde_json::json!({
            "type": kind, "uuid": format!("r{number}"), "sessionId": PERSON.0, "cwd": "/p", "toolUseResult": result,
            "timestamp": "2026-01-10T11:00:00.000Z", "message": {"role": kind, "content": content},
        }));
    };
    let null = serde_json::Value::Null;
    let call = |id: &str, name: &str, input: serde_json::Value| serde_json::json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
    let done = |id: &str| serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
    let lines = text(&scene.transcript(PERSON)).lines().count();
    record(1, "assistant", call("1", "AskUserQuestion", serde_json::json!({"questions": []})), null.clone());
    record(2, "user", done("1"), serde_json::json!({"questions": [], "answers": {"Which colour?": "Red"}}));
    record(
        3,
        "assistant",
        call("2", "Write", serde_json::json!({"file_path": "/p/a.rs", "content": "x"})),
        null.clone(),
    );
    record(4, "user", done("2"), serde_json::json!({"type": "create"}));
    record(
        5,
        "assistant",
        call("3", "ExitPlanMode", serde_json::json!({"plan": "First paint, then dry"})),
        null.clone(),
    );
    record(6, "user", done("3"), serde_json::json!({}));
    let commit =
        serde_json::json!({"stdout": "[main 1a2b3c4] Paint it red\n 1 file changed, 1 insertion(+)"});
    record(
        7,
        "assistant",
        call("4", "Bash", serde_json::json!({"command": "git commit -am red"})),
        null.clone(),
    );
    record(8, "user", done("4"), commit);
    record(11, "user", serde_json::json!("Yes, please."), null.clone());
    record(9, "user", serde_json::json!("Kept as it was"), null.clone());
    scene.append(PERSON, &serde_json::json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "c", "parentUuid": null, "sessionId": PERSON.0,
        "timestamp": "2026-01-10T11:30:00.000Z", "compactMetadata": {"trigger": "auto", "preTokens": 150_000,
        "postTokens": 9000, "preservedMessages": {"uuids": ["r9"]}},
    }));
    record(10, "user", serde_json::json!("What comes after is still there"), null);
    let answer = before::before(&context, &request(None)).unwrap();
    let last = &answer.compactions[0];
    assert_eq!(
        (last.trigger.as_deref(), last.tokens_before, last.tokens_after),
        (Some("auto"), Some(150_000), Some(9000))
    );
    let place = |line: usize| format!("{}:{}", PERSON.0, lines + line);
    let decisions: Vec<(&str, &str)> =
        answer.decisions.iter().map(|one| (one.text.as_str(), one.place.as_str())).collect();
    assert!(decisions.contains(&("Which colour? Red", place(2).as_str())), "{decisions:?}");
    assert!(decisions.contains(&("First paint, then dry", place(6).as_str())), "{decisions:?}");
    assert!(
        !decisions
            .iter()
            .any(|(text, _)| ["Kept", "What comes", "Yes"].iter().any(|word| text.starts_with(word))),
        "{decisions:?}"
    );
    assert_eq!((answer.files[0].path.to_str(), &answer.files[0].place), (Some("/p/a.rs"), &place(3)));
    assert_eq!((answer.commits[0].hash.as_str(), &answer.commits[0].place), ("1a2b3c4", &place(8)));
    assert_eq!(before::before(&context, &request(Some(2))).unwrap_err().kind, Kind::NotFound);
}

#[test]
fn an_index_or_cache_that_is_damaged_in_any_page_is_rebuilt() {
    const PAGE: usize = 4096;
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let ask = || {
        let request = SearchRequest { query: format!("{} tune please", PERSON.1), ..Default::default() };
        let answer = search(&context, &request).map_err(|error| format!("{error:?}"))?;
        let hits: Vec<_> = answer.hits.into_iter().map(|hit| (hit.session_id, hit.line)).collect();
        let listed = list(&context, &list::Request::default()).map_err(|error| format!("{error:?}"))?;
        let ids: Vec<_> = listed.sessions.into_iter().map(|session| (session.id, session.title)).collect();
        Ok::<_, String>((hits, ids))
    };
    let expected = ask().unwrap();
    assert!(!expected.0.is_empty() && expected.1.len() == 3);
    let all = testkit::long::amount(false, true);
    let state = scene.home().state_dir();
    let mut tried = 0;
    let mut folders = vec![state.clone(), state.join("index")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            let is_ours = folder.ends_with("index")
                || name.starts_with("catalog.sqlite")
                || name.starts_with("overview");
            let is_log = ["-wal", "-shm", ".lock", ".set-aside"].iter().any(|end| name.ends_with(end));
            if !path.is_file() || !is_ours || is_log {
                continue;
            }
            let pages =
                entry.metadata().unwrap().len().div_ceil(PAGE as u64).try_into().unwrap_or(usize::MAX);
            let few = [0, pages / 2, pages.saturating_sub(1)];
            for page in (0..pages).filter(|page| all || few.contains(page)) {
                let Ok(mut bytes) = system::read_small(&path, 1 << 30) else { continue };
                let begin = (page * PAGE).min(bytes.len());
                let end = (begin + PAGE).min(bytes.len());
                bytes[begin..end].fill(0xA5);
                fs::write(&path, bytes).unwrap();
                tried += 1;
                // A page may be found to be damaged once it is needed: the next question has all of it again.
                let first = ask();
                let second =
                    ask().unwrap_or_else(|error| panic!("{name} page {page}: {error}, before {first:?}"));
                assert_eq!(second, expected, "{name} page {page}, before {first:?}");
            }
        }
    }
    assert!(tried >= 6, "{tried}");
}
