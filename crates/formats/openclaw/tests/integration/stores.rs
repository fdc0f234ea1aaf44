//! What the store does with its files: locks, cache, isolation, transcripts, the life of sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{Timestamp, ToSpan as _};
use model::AgentId;
use openclaw::{
    AgentStore, ChatType, ConversationLog, DeliveryContext, Entry, InboundGroup, InboundMessage, LockTimes,
    MaintenanceMode, Mirrored, OldTranscript, OpenClawConfig, ResetOptions, RouteUpdate, SessionKey,
    StoreCache, StoreError, ThreadId, UsageUpdate,
};

struct Desk {
    scratch: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { scratch: tempfile::tempdir().unwrap() };
        desk.write("openclaw.json", r#"{agents: {list: [{id: "main", default: true}, {id: "coder"}]}}"#);
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn agent(&self, name: &str) -> AgentStore {
        let states = [self.scratch.path().to_owned()];
        AgentStore::find(&states, None, Path::new("/h"), &name.parse().unwrap(), &|_| None)
    }

    fn main(&self) -> AgentStore {
        self.agent("main")
    }
}

fn key(text: &str) -> SessionKey {
    text.parse().unwrap()
}

fn now() -> Timestamp {
    "2026-01-15T12:00:00Z".parse().unwrap()
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

const STORE: &str = "agents/main/sessions/sessions.json";

fn entry(id: &str) -> Entry {
    Entry { session_id: Some(id.to_owned()), ..Entry::default() }
}

#[test]
fn a_store_is_made_private_and_written_as_openclaw_writes_it() {
    let desk = Desk::new();
    desk.main().create(&key("agent:main:main"), &entry("s1"), &now).unwrap();
    let expected =
        "{\n  \"agent:main:main\": {\n    \"sessionId\": \"s1\",\n    \"updatedAt\": 1768478400000\n  }\n}";
    assert_eq!(text(&desk.path(STORE)), expected);
    let mode = |name: &str| fs::metadata(desk.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(STORE), mode("agents/main/sessions")), (0o600, 0o700));
    fs::set_permissions(desk.path(STORE), fs::Permissions::from_mode(0o644)).unwrap();
    desk.main().record_compaction(&key("agent:main:main"), &now).unwrap();
    assert_eq!(mode(STORE), 0o600);
    // Making it again changes nothing.
    let before = text(&desk.path(STORE));
    desk.main().create(&key("agent:main:main"), &entry("s2"), &now).unwrap();
    assert_eq!(text(&desk.path(STORE)), before);
}

#[test]
fn json5_is_read_and_a_broken_file_is_set_aside() {
    let desk = Desk::new();
    desk.write(STORE, "// mine\n{'agent:main:main': {sessionId: 's1', updatedAt: 5,},}");
    let loaded = desk.main().load();
    assert_eq!(loaded.problem, None);
    assert_eq!(loaded.store.get(&key("agent:main:main")).unwrap().unwrap().updated_at, Some(5));
    let done = desk.main().record_compaction(&key("agent:main:main"), &now).unwrap();
    assert!(done.notes[0].contains("JSON5"), "{:?}", done.notes);
    assert!(text(&desk.path(&format!("{STORE}.json5.1768478400000"))).contains("// mine"));

    desk.write(STORE, "{broken");
    let loaded = desk.main().load();
    assert!(loaded.problem.is_some() && loaded.store.keys().next().is_none());
    assert_eq!(text(&desk.path(STORE)), "{broken", "reading changes nothing");
    let done = desk.main().create(&key("agent:main:main"), &entry("s2"), &now).unwrap();
    assert!(done.notes[0].contains("set aside"), "{:?}", done.notes);
    assert_eq!(text(&desk.path(&format!("{STORE}.broken.1768478400000"))), "{broken");
}

#[test]
fn agents_have_separate_stores() {
    let desk = Desk::new();
    desk.write(STORE, r#"{"agent:main:main": {"sessionId": "s1"}}"#);
    let coder = desk.agent("coder");
    assert!(coder.path().ends_with("agents/coder/sessions/sessions.json"));
    let refused = coder.create(&key("agent:main:new"), &Entry::default(), &now).unwrap_err();
    assert_eq!(refused.to_string(), "agent:main:new belongs to agent main, not to agent coder");
    assert_eq!(coder.load().store.get(&key("agent:main:main")), Ok(None));
    // No path leads out of the agent's folder.
    let away = Entry { session_file: Some("/etc/passwd".into()), ..entry("s1") };
    assert_eq!(coder.transcript_of(&away).unwrap(), coder.folder().join("s1.jsonl"));
    let moved =
        Entry { session_file: Some("/old/agents/main/sessions/s1-topic-5.jsonl".into()), ..entry("s1") };
    assert_eq!(coder.transcript_of(&moved).unwrap(), coder.folder().join("s1-topic-5.jsonl"));
    assert!(matches!(coder.transcript_of(&entry("../x")), Err(StoreError::Outside(_))));
    let topic = coder.transcript(&"s1".parse().unwrap(), Some("a/b c"));
    assert_eq!(topic, coder.folder().join("s1-topic-a%2Fb%20c.jsonl"));
}

#[test]
fn one_store_for_all_agents_shows_each_its_own() {
    let desk = Desk::new();
    let file = desk.path("all.json").display().to_string();
    desk.write("openclaw.json", &format!("{{session: {{store: '{file}'}}}}"));
    desk.write(
        "all.json",
        r#"{"agent:main:main": {"sessionId": "s1"}, "agent:coder:main": {"sessionId": "s2"}}"#,
    );
    let keys = |agent: &str| {
        let loaded = desk.agent(agent).load();
        loaded.store.keys().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        (keys("main"), keys("coder")),
        (vec!["agent:main:main".into()], vec!["agent:coder:main".into()])
    );
    desk.agent("coder").delete(&key("agent:coder:main"), OldTranscript::Archive, &now).unwrap();
    assert_eq!(text(&desk.path("all.json")), r#"{"agent:main:main": {"sessionId": "s1"}}"#);
}

#[test]
fn the_lock_of_both_generations_is_honoured() {
    let desk = Desk::new();
    let mut store = desk.main();
    store.times = LockTimes { timeout: Duration::ZERO, ..LockTimes::default() };
    let lock = desk.path(&format!("{STORE}.lock"));
    desk.write(STORE, r#"{"agent:main:main": {"sessionId": "s1"}}"#);
    let held = |content: String| {
        fs::write(&lock, content).unwrap();
        let error = store.record_compaction(&key("agent:main:main"), &Timestamp::now).unwrap_err();
        assert!(error.to_string().starts_with("timeout acquiring session store lock: "), "{error}");
        assert!(matches!(error, StoreError::Locked { .. }));
        assert!(store.lock_state(Timestamp::now()).is_some_and(|state| !state.is_stale));
    };
    held(format!(r#"{{"pid":1,"startedAt":{}}}"#, Timestamp::now().as_millisecond()));
    held(format!("{{\n  \"pid\": 999999,\n  \"createdAt\": \"{}\"\n}}", Timestamp::now()));
    held(String::new());
    // Left long ago.
    let old = Timestamp::now() - 1.minute();
    fs::write(&lock, format!(r#"{{"pid":1,"createdAt":"{old}"}}"#)).unwrap();
    fs::File::options().write(true).open(&lock).unwrap().set_modified(old.into()).unwrap();
    assert!(store.lock_state(Timestamp::now()).is_some_and(|state| state.is_stale && state.pid == Some(1)));
    store.record_compaction(&key("agent:main:main"), &Timestamp::now).unwrap();
    assert!(!lock.exists() && store.lock_state(Timestamp::now()).is_none());
}

#[test]
fn the_cache_expires_by_time_changes_and_writes() {
    let desk = Desk::new();
    let main = key("agent:main:main");
    desk.write(STORE, r#"{"agent:main:main": {"label": "one"}}"#);
    let (store, cache) = (desk.main(), StoreCache::new(None));
    let label = |cache: &StoreCache, at: Timestamp| {
        cache.load(&store, at).store.get(&main).unwrap().and_then(|entry| entry.label).unwrap_or_default()
    };
    assert_eq!(label(&cache, now()), "one");
    // What is taken out is a copy.
    let mut taken = cache.load(&store, now()).store;
    taken.remove(&main).unwrap();
    assert_eq!(label(&cache, now()), "one");
    // The same size and time: only the age tells.
    let time = fs::metadata(store.path()).unwrap().modified().unwrap();
    let same = |text: &str| {
        use std::io::{Seek as _, Write as _};
        let mut file = fs::File::options().write(true).open(store.path()).unwrap();
        file.rewind().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.set_modified(time).unwrap();
    };
    same(r#"{"agent:main:main": {"label": "two"}}"#);
    assert_eq!(label(&cache, now() + 45.seconds()), "one");
    assert_eq!(label(&cache, now() + 45_001.milliseconds()), "two");
    assert_eq!(label(&StoreCache::new(Some("0")), now()), "two");
    same(r#"{"agent:main:main": {"label": "six"}}"#);
    assert_eq!(label(&cache, now() + 46.seconds()), "two");
    cache.forget(&store);
    assert_eq!(label(&cache, now() + 46.seconds()), "six");
    // Another size.
    desk.write(STORE, r#"{"agent:main:main": {"label": "seven"}}"#);
    assert_eq!(label(&cache, now() + 46.seconds()), "seven");
    store
        .set_fields(&main, &serde_json::json!({"label": "eight"}).as_object().cloned().unwrap(), &now)
        .unwrap();
    assert_eq!(label(&cache, now() + 46.seconds()), "eight");
}

#[test]
fn inbound_messages_are_recorded() {
    let desk = Desk::new();
    let (store, group) = (desk.main(), key("agent:main:discord:channel:987"));
    let message = InboundMessage {
        label: Some(" Ana ".into()),
        provider: Some("Discord".into()),
        chat_type: Some(ChatType::Channel),
        from: Some("u1".into()),
        thread_id: Some(ThreadId::Number(7)),
        group: Some(InboundGroup {
            id: "987".into(),
            subject: Some("#general".into()),
            space: Some("My Guild".into()),
            ..InboundGroup::default()
        }),
        ..InboundMessage::default()
    };
    assert_eq!(store.record_meta_from_inbound(&group, &message, false, &now).unwrap().value, None);
    let made = store.record_meta_from_inbound(&group, &message, true, &now).unwrap().value.unwrap();
    assert_eq!(made.display_name.as_deref(), Some("discord:my-guild#general"));
    assert_eq!((made.group_channel.as_deref(), made.subject.as_deref()), (Some("#general"), None));
    assert_eq!(made.origin.as_ref().unwrap().label.as_deref(), Some("Ana"));
    assert!(made.session().is_some_and(|id| id.is_uuid()));

    let place = |to: &str, thread: Option<&str>| DeliveryContext {
        channel: Some(" Slack".into()),
        to: Some(to.into()),
        thread_id: thread.map(|thread| ThreadId::Text(thread.into())),
        ..DeliveryContext::default()
    };
    let inline = RouteUpdate { inline: Some(place(" C1 ", Some("t1"))), ..RouteUpdate::default() };
    let routed = store.update_last_route(&group, &inline, &now).unwrap().value;
    assert_eq!(
        routed.delivery_context.as_ref().and_then(DeliveryContext::key).as_deref(),
        Some("slack|C1||t1")
    );
    assert_eq!((routed.last_channel.as_deref(), routed.last_to.as_deref()), (Some("slack"), Some("C1")));
    let explicit = RouteUpdate { explicit: Some(place("C2", None)), ..RouteUpdate::default() };
    let routed = store.update_last_route(&group, &explicit, &now).unwrap().value;
    assert_eq!(
        routed.delivery_context.as_ref().and_then(DeliveryContext::key).as_deref(),
        Some("slack|C2||")
    );
    assert_eq!(routed.last_thread_id, None);

    let usage =
        UsageUpdate { input: 10, output: 2, context: Some(200), model: Some("m".into()), provider: None };
    store.record_usage(&group, &usage, &now).unwrap();
    let used = store.record_usage(&group, &usage, &now).unwrap().value;
    assert_eq!((used.input_tokens, used.output_tokens, used.total_tokens), (Some(20), Some(4), Some(24)));
    store.record_compaction(&group, &now).unwrap();
    let flushed = store.record_memory_flush(&group, &now).unwrap().value;
    assert_eq!((flushed.compaction_count, flushed.memory_flush_compaction_count), (Some(1), Some(1)));
    let beat = store.record_heartbeat(&group, "alive", &now).unwrap().value;
    assert_eq!(
        (beat.last_heartbeat_text.as_deref(), beat.last_heartbeat_sent_at),
        (Some("alive"), Some(now().as_millisecond()))
    );
    // Time never goes back.
    let later = now() - 1.hour();
    assert_eq!(
        store.record_compaction(&group, &|| later).unwrap().value.updated_at,
        Some(now().as_millisecond())
    );
    let unknown = store.record_compaction(&key("agent:main:none"), &now).unwrap_err();
    assert!(matches!(unknown, StoreError::NoSession { .. }));
}

#[test]
fn the_claude_session_behind_one_is_kept_replaced_and_cleared() {
    let desk = Desk::new();
    let (store, main) = (desk.main(), key("agent:main:main"));
    let made = store.create(&main, &entry("s1"), &now).unwrap().value;
    assert_eq!(store.claude_session_of(&made), None);
    let side = desk.path("agents/main/sessions/s1.jsonl.claude-sdk.json");
    for id in ["c1", "c2"] {
        let kept = store.set_claude_session(&main, &id.parse().unwrap(), &now).unwrap().value;
        assert_eq!(store.claude_session_of(&kept).unwrap().as_str(), id);
        assert_eq!(kept.sdk_session_id.as_deref(), Some(id));
        assert_eq!(kept.cli_session_ids.as_ref().unwrap()["claude-cli"], id);
        assert_eq!(
            text(&side),
            format!("{{\"resumeSessionId\":\"{id}\",\"updatedAt\":\"2026-01-15T12:00:00.000Z\"}}")
        );
    }
    // In this order they are trusted.
    let mut all = Entry {
        sdk_session_id: Some("field".into()),
        cli_session_ids: Some([("claude-cli".to_owned(), "listed".to_owned())].into()),
        claude_cli_session_id: Some("older".into()),
        ..entry("s1")
    };
    let check = |entry: &Entry, expected: Option<&str>| {
        let found = store.claude_session_of(entry);
        assert_eq!(found.as_ref().map(model::SessionId::as_str), expected);
    };
    check(&all, Some("c2"));
    fs::remove_file(&side).unwrap();
    check(&all, Some("field"));
    all.sdk_session_id = Some("../bad".into());
    check(&all, Some("listed"));
    all.cli_session_ids = None;
    check(&all, Some("older"));

    store.set_claude_session(&main, &"c3".parse().unwrap(), &now).unwrap();
    let after = store.reset(&main, ResetOptions::default(), &now).unwrap().value.after.unwrap();
    check(&after, None);
    assert_eq!(
        (after.sdk_session_id, after.cli_session_ids, after.claude_cli_session_id),
        (None, None, None)
    );
    assert!(!side.exists());
}

#[test]
fn a_reset_starts_a_new_conversation_and_keeps_settings() {
    let desk = Desk::new();
    let (store, main) = (desk.main(), key("agent:main:main"));
    let fields = Entry { label: Some("mine".into()), input_tokens: Some(5), ..entry("s1") };
    store.create(&main, &fields, &now).unwrap();
    desk.write("agents/main/sessions/s1.jsonl", "{}\n");
    let ended = store.reset(&main, ResetOptions::default(), &now).unwrap().value;
    let after = ended.after.unwrap();
    assert_eq!((after.label.as_deref(), after.input_tokens), (Some("mine"), None));
    assert!(after.session_id != ended.before.session_id && after.session().is_some());
    let archive = desk.path("agents/main/sessions/s1.jsonl.reset.2026-01-15T12-00-00.000Z");
    assert_eq!((ended.archived.as_deref(), text(&archive).as_str()), (Some(archive.as_path()), "{}\n"));
    assert!(!desk.path("agents/main/sessions/s1.jsonl").exists());

    let id = after.session_id.unwrap();
    desk.write(&format!("agents/main/sessions/{id}.jsonl"), "{}\n");
    let options = ResetOptions { keep_metadata: false, transcript: OldTranscript::Delete };
    let ended = store.reset(&main, options, &now).unwrap().value;
    assert_eq!((ended.after.unwrap().label, ended.archived), (None, None));
    assert!(!desk.path(&format!("agents/main/sessions/{id}.jsonl")).exists());

    store.delete(&main, OldTranscript::Archive, &now).unwrap();
    assert_eq!(text(&desk.path(STORE)), "{}");
    assert!(matches!(store.delete(&main, OldTranscript::Archive, &now), Err(StoreError::NoSession { .. })));
    assert!(store.is_reset_trigger(" /NEW ") && store.is_reset_trigger("/reset now"));
    assert!(!store.is_reset_trigger("/newer") && !store.is_reset_trigger("new"));
}

#[test]
fn threads_have_transcripts_of_their_own() {
    let desk = Desk::new();
    let (store, group) = (desk.main(), key("agent:main:telegram:group:1"));
    let made = store.create_thread(&group, "7", &now).unwrap().value;
    let id = made.session_id.clone().unwrap();
    let thread = group.thread("7");
    assert_eq!(store.transcript_of(&made).unwrap(), store.folder().join(format!("{id}-topic-7.jsonl")));
    store.create(&group, &entry("s1"), &now).unwrap();
    for (key, text) in [(&group, "in the group"), (&thread, "in the thread")] {
        let done = store.append_assistant_message(key.as_str(), text, &[], Path::new("/p"), &now).unwrap();
        let Mirrored::Done(path) = done else { panic!("{done:?}") };
        let log = ConversationLog::load(&path).unwrap().unwrap();
        assert!(log.lines[1].text.contains(text) && log.lines.len() == 2);
        let entry = store.load().store.get(key).unwrap().unwrap();
        assert_eq!(entry.session_file.as_deref(), path.to_str());
    }
    let refused = |key: &str, text: &str, expected: &str| {
        let done = store.append_assistant_message(key, text, &[], Path::new("/p"), &now).unwrap();
        assert_eq!(done, Mirrored::Refused(expected.into()));
    };
    refused(" ", "x", "missing sessionKey");
    refused("agent:main:x", " ", "empty text");
    refused("agent:main:x", "x", "unknown sessionKey: agent:main:x");
}

#[test]
fn sub_agents_cannot_spawn_and_need_permission() {
    let desk = Desk::new();
    desk.write(
        "openclaw.json",
        r#"{agents: {list: [{id: "main", subagents: {allowAgents: ["coder"]}}, {id: "coder"}]}}"#,
    );
    let (main, coder) = (desk.main(), desk.agent("coder"));
    let parent = key("agent:main:main");
    let (child, made) = main.spawn(&parent, &main, Some("research"), &now).unwrap().value;
    assert!(child.is_subagent() && made.spawned_by.as_deref() == Some("agent:main:main"));
    let forbidden = |error: StoreError| matches!(error, StoreError::MaySpawn(_));
    assert!(forbidden(main.spawn(&child, &main, None, &now).unwrap_err()));
    let (other, _) = main.spawn(&parent, &coder, None, &now).unwrap().value;
    assert_eq!(other.agent(), Some("coder".parse::<AgentId>().unwrap()));
    assert!(forbidden(coder.spawn(&key("agent:coder:main"), &main, None, &now).unwrap_err()));
    assert!(matches!(coder.spawn(&parent, &coder, None, &now), Err(StoreError::OtherAgent { .. })));
}

#[test]
fn maintenance_warns_before_it_enforces() {
    let desk = Desk::new();
    let hour = |ago: i64| (now() - ago.hours()).as_millisecond();
    let entries: Vec<String> = [("old", 24 * 31), ("a", 1), ("b", 2), ("c", 3)]
        .iter()
        .map(|(name, ago)| {
            format!(r#""agent:main:{name}": {{"sessionId": "{name}", "updatedAt": {}}}"#, hour(*ago))
        })
        .collect();
    let whole = format!("{{{}}}", entries.join(", "));
    desk.write(STORE, &whole);
    desk.write("agents/main/sessions/old.jsonl", "{}\n");
    desk.write("openclaw.json", "{session: {maintenance: {maxEntries: 2, rotateBytes: 10}}}");
    let store = desk.main();
    let report = store.maintain(None, &now).unwrap().value;
    let expected = (vec!["agent:main:old".to_owned()], vec!["agent:main:c".to_owned()]);
    assert_eq!(
        ((report.pruned, report.capped), report.is_done, report.is_large),
        (expected.clone(), false, true)
    );
    assert_eq!(text(&desk.path(STORE)), whole);
    let report = store.maintain(Some(MaintenanceMode::Enforce), &now).unwrap().value;
    assert_eq!(((report.pruned, report.capped), report.is_done), (expected, true));
    assert_eq!(text(&report.backup.unwrap()), whole);
    assert!(desk.path("agents/main/sessions/old.jsonl.deleted.2026-01-15T12-00-00.000Z").exists());
    for at in 1..6_i64 {
        store.maintain(Some(MaintenanceMode::Enforce), &|| now() + at.seconds()).unwrap();
    }
    let backups = fs::read_dir(store.folder()).unwrap().flatten();
    let backups = backups.filter(|entry| entry.file_name().to_string_lossy().contains(".bak.")).count();
    assert_eq!((backups, store.load().store.keys().count()), (3, 2));
}

#[test]
fn freshness_follows_the_configuration() {
    let desk = Desk::new();
    desk.write("openclaw.json", "{session: {reset: {mode: 'idle', idleMinutes: 10}, resetByChannel: {slack: {mode: 'daily', atHour: 0}}}}");
    let store = desk.main();
    let zone = jiff::tz::TimeZone::UTC;
    let is_fresh = |channel: Option<&str>, ago: i64| {
        let updated = Some((now() - ago.minutes()).as_millisecond());
        let entry = Entry { channel: channel.map(str::to_owned), updated_at: updated, ..entry("s") };
        store.freshness(&key("agent:main:main"), &entry, now(), &zone).is_fresh
    };
    assert!(is_fresh(None, 9) && !is_fresh(None, 11));
    assert!(is_fresh(Some("slack"), 11 * 60) && !is_fresh(Some("slack"), 13 * 60));
}

#[test]
fn where_a_database_holds_the_sessions_the_file_is_not_written() {
    use database::rusqlite::Connection;

    let desk = Desk::new();
    fs::create_dir_all(desk.path("agents/main/agent")).unwrap();
    let connection = Connection::open(desk.path("agents/main/agent/openclaw-agent.sqlite")).unwrap();
    connection.execute_batch("CREATE TABLE session_nodes (session_key TEXT, entry_json TEXT, updated_at INTEGER); PRAGMA user_version = 23;").unwrap();
    desk.main().create(&key("agent:main:main"), &entry("s1"), &now).unwrap();
    connection.execute_batch("INSERT INTO session_nodes VALUES ('agent:main:main', '{}', 1)").unwrap();
    let before = text(&desk.path(STORE));
    let refused = desk.main().create(&key("agent:main:new"), &entry("s2"), &now).unwrap_err();
    assert!(matches!(refused, StoreError::InDatabase { .. }));
    let refused = desk.main().append_assistant_message("agent:main:main", "x", &[], Path::new("/"), &now);
    assert!(matches!(refused, Err(StoreError::InDatabase { .. })));
    assert_eq!(text(&desk.path(STORE)), before);
}

#[test]
fn a_large_store_is_changed_though_others_write_meanwhile() {
    let desk = Desk::new();
    let filler = "x".repeat(2 << 20);
    desk.write(
        STORE,
        &format!(
            r#"{{"agent:main:main": {{"sessionId": "s1", "filler": "{filler}"}}, "agent:main:b": {{}}}}"#
        ),
    );
    let store = desk.main();
    let mut calls = 0;
    store
        .update(&now, |content, _| {
            calls += 1;
            if calls == 1 {
                // Another process comes first.
                let theirs = text(store.path())
                    .replace("\"agent:main:b\": {}", "\"agent:main:b\": {\"label\": \"theirs\"}");
                fs::write(desk.path("new"), theirs).unwrap();
                fs::rename(desk.path("new"), store.path()).unwrap();
            }
            content.put(&key("agent:main:main"), &Entry { label: Some("ours".into()), ..entry("s1") })
        })
        .unwrap();
    assert_eq!(calls, 2);
    let loaded = store.load().store;
    let label = |name: &str| loaded.get(&key(name)).unwrap().unwrap().label;
    assert_eq!(
        (label("agent:main:main").as_deref(), label("agent:main:b").as_deref()),
        (Some("ours"), Some("theirs"))
    );
    assert!(loaded.text(&key("agent:main:main")).unwrap().unwrap().contains(&filler));
}

#[test]
fn the_configuration_names_the_file() {
    let desk = Desk::new();
    desk.write("openclaw.json", "{session: {store: '~/s/{agentId}/x.json'}}");
    assert_eq!(desk.agent("coder").path(), Path::new("/h/s/coder/x.json"));
    let config = OpenClawConfig::find(desk.scratch.path());
    let same =
        AgentStore::of_agent(desk.scratch.path(), &config, Path::new("/h"), &AgentId::main(), &|_| None);
    assert_eq!(same.path(), Path::new("/h/s/main/x.json"));
}

#[test]
fn the_settings_of_the_write_lock_decide_whether_a_transcript_is_written() {
    let desk = Desk::new();
    let main = key("agent:main:main");
    desk.main().create(&main, &entry("s1"), &Timestamp::now).unwrap();
    let lock = desk.path("agents/main/sessions/s1.jsonl.lock");
    // Locked by another program so many seconds ago.
    let locked = |seconds: i64| {
        let at = Timestamp::now() - seconds.seconds();
        fs::write(&lock, format!(r#"{{"pid":1,"createdAt":"{at}"}}"#)).unwrap();
        fs::File::options().write(true).open(&lock).unwrap().set_modified(at.into()).unwrap();
    };
    let append = |settings: &str, clock: &dyn Fn() -> Timestamp| {
        desk.write("openclaw.json", &format!("{{session: {{writeLock: {{{settings}}}}}}}"));
        let done = desk.main().append_assistant_message(main.as_str(), "hi", &[], Path::new("/p"), clock);
        done.map(|_| ()).map_err(|error| error.to_string())
    };

    // `staleMs`: half an hour without it.
    locked(60);
    let refused = append("acquireTimeoutMs: 1", &Timestamp::now).unwrap_err();
    assert!(refused.contains("s1.jsonl.lock"), "{refused}");
    append("acquireTimeoutMs: 1, staleMs: 30000", &Timestamp::now).unwrap();

    // `acquireTimeoutMs`: as long as the other program takes, or not.
    locked(0);
    append("acquireTimeoutMs: 1", &Timestamp::now).unwrap_err();
    let asked = std::cell::Cell::new(0);
    let released_later = || {
        asked.set(asked.get() + 1);
        if asked.get() == 20 {
            fs::remove_file(&lock).unwrap();
        }
        Timestamp::now()
    };
    append("acquireTimeoutMs: 60000", &released_later).unwrap();
    assert!(asked.get() >= 20);

    // `maxHoldMs`: each look at the clock takes six seconds.
    let slow = || {
        let ticks = std::cell::Cell::new(0);
        move || {
            ticks.set(ticks.get() + 6);
            now() + i64::from(ticks.get()).seconds()
        }
    };
    let written = text(&desk.path("agents/main/sessions/s1.jsonl"));
    let refused = append("maxHoldMs: 5000", &slow()).unwrap_err();
    assert!(refused.contains("maxHoldMs"), "{refused}");
    assert!(!lock.exists(), "it was released");
    assert_eq!(text(&desk.path("agents/main/sessions/s1.jsonl")), written);
    append("maxHoldMs: 50000", &slow()).unwrap();
    assert!(text(&desk.path("agents/main/sessions/s1.jsonl")).len() > written.len());
}

#[test]
fn the_environment_sets_the_write_lock_before_the_configuration() {
    let desk = Desk::new();
    desk.write(
        "openclaw.json",
        "{session: {writeLock: {maxHoldMs: 50000, staleMs: 7, acquireTimeoutMs: 9}}}",
    );
    let config = OpenClawConfig::find(desk.scratch.path());
    let set = |name: &str| (name == "OPENCLAW_SESSION_WRITE_LOCK_MAX_HOLD_MS").then(|| "5000".to_owned());
    let store = AgentStore::of_agent(desk.scratch.path(), &config, Path::new("/h"), &AgentId::main(), &set);
    let times = store.transcript_times();
    assert_eq!([times.max_hold, times.stale, times.timeout].map(|time| time.as_millis()), [5000, 7, 9]);
}

#[test]
fn a_store_of_more_than_64_mib_is_read_and_changed() {
    let desk = Desk::new();
    let filler = "x".repeat(13 << 20);
    let entries: Vec<String> = (0..5)
        .map(|at| format!(r#""agent:main:e{at}": {{"sessionId": "s{at}", "unknown": "{filler}"}}"#))
        .collect();
    let whole = format!("{{{}}}", entries.join(","));
    assert!(whole.len() > 64 << 20);
    desk.write(STORE, &whole);
    let store = desk.main();
    assert_eq!(store.load().store.keys().count(), 5);
    let fields = serde_json::json!({"label": "new"}).as_object().cloned().unwrap();
    let done = store.set_fields(&key("agent:main:e4"), &fields, &now).unwrap();
    assert!(done.notes.is_empty(), "{:?}", done.notes);
    let after = text(&desk.path(STORE));
    // Of all the others every byte is as before.
    let others = whole.len() - entries[4].len() - 1;
    assert!(after.as_bytes()[..others] == whole.as_bytes()[..others]);
    assert!(after.contains(r#""label":"new""#) || after.contains(r#""label": "new""#));
}
