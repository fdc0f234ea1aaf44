//! Searches in OpenClaw's notes and conversations, also after the files have changed.

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use openclaw::Memory;
use search::{
    Mode, Query, RankedHit, SearchScope, Searcher, SourceFile, SourceKind, SyncReport, source_files, sync,
};

use crate::history::{History, session, sources};

const STORE: &str = "agents/main/sessions/sessions.json";
const TALK: &str = "agents/main/sessions/0b7c.jsonl";

/// A history of Claude's and a state folder of OpenClaw's beside it.
struct Desk {
    history: History,
}

impl Desk {
    fn new() -> Self {
        let desk = Self { history: History::new() };
        fs::create_dir_all(desk.path("workspace")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.history.index().with_file_name(".openclaw").join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn memory(&self) -> Memory {
        Memory::find(&[self.path("")], None, self.history.index().parent().unwrap())
    }

    fn sync(&self) -> SyncReport {
        let mut all: Vec<SourceFile> = sources(&self.history.config());
        all.extend(self.memory().agents.iter().flat_map(source_files));
        sync(&self.history.index(), &all, &mut |_| true).unwrap()
    }

    fn hits_in(&self, question: &str, scope: &SearchScope) -> Vec<RankedHit> {
        let mut searcher = Searcher::open(&self.history.index()).unwrap().unwrap();
        searcher.search(&Query::parse(question), scope, Mode::Lexical, 1, 50).unwrap().hits
    }

    fn hits(&self, question: &str) -> Vec<RankedHit> {
        self.hits_in(question, &SearchScope::default())
    }
}

fn said(id: &str, role: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"timestamp\":\"2026-01-15T12:00:01.000Z\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
    )
}

#[test]
fn several_pieces_of_one_file_are_told_where_they_are_wanted() {
    let desk = Desk::new();
    let filler = "Nothing to see here, and a lot of it. ".repeat(40);
    desk.write(
        "workspace/MEMORY.md",
        &format!("# One\n\nThe walrus swims.\n{filler}\n\n# Two\n\n{filler}\n\n# Three\n\nA walrus, a walrus.\n{filler}\n"),
    );
    desk.sync();
    let lines = |scope: &SearchScope| {
        let mut lines: Vec<_> =
            desk.hits_in("walrus", scope).iter().map(|hit| hit.lines.unwrap().0).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&SearchScope::default()).len(), 1);
    assert_eq!(lines(&SearchScope { passages: 5, ..SearchScope::default() }), [1, 10]);
    assert_eq!(lines(&SearchScope { passages: 1, ..SearchScope::default() }).len(), 1);
    let hits = desk.hits_in("walrus", &SearchScope { passages: 5, ..SearchScope::default() });
    assert!(hits.is_sorted_by(|one, other| one.score >= other.score), "{hits:?}");
}

#[test]
fn every_source_is_found_and_told_apart() {
    let desk = Desk::new();
    desk.history.write(&session("s1", "walrus one", "ok"));
    desk.write("workspace/MEMORY.md", "# Animals\n\nThe walrus lives\nin the north.\n");
    desk.write(TALK, &said("a1", "user", "a walrus by phone"));
    assert_eq!(desk.sync().unreadable_lines, 0);
    let hits = desk.hits("walrus");
    let actual: HashSet<_> = hits.iter().map(|hit| (hit.source.as_str(), hit.lines)).collect();
    let expected = [("claude-sessions", 1), ("sessions", 1), ("memory", 1)];
    let last = |source: &str| if source == "memory" { 4 } else { 1 };
    assert_eq!(
        actual,
        expected.into_iter().map(|(source, line)| (source, Some((line, last(source))))).collect()
    );
    let only = SearchScope { sources: Some(HashSet::from([SourceKind::Memory])), ..SearchScope::default() };
    let notes = desk.hits_in("walrus", &only);
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].passage.as_deref(), Some("# Animals\n\nThe walrus lives\nin the north.\n"));
}

#[test]
fn deleted_notes_and_conversations_leave_and_a_claude_transcript_stays() {
    let desk = Desk::new();
    let claude = desk.history.write(&session("s1", "walrus", "ok"));
    let note = desk.write("workspace/memory/a.md", "walrus");
    let talk = desk.write(TALK, &said("a1", "user", "walrus"));
    desk.sync();
    assert_eq!(desk.hits("walrus").len(), 3);
    for path in [claude, note, talk] {
        fs::remove_file(path).unwrap();
    }
    desk.sync();
    let hits = desk.hits("walrus");
    assert_eq!(hits.len(), 1, "{hits:?}");
    assert!(hits[0].gone && hits[0].source == SourceKind::ClaudeSessions);
    let again = desk.sync();
    assert_eq!((again.rows_written, again.bytes_read), (0, 0));
}

#[test]
fn an_appended_conversation_costs_its_new_bytes_and_a_changed_note_is_read_anew() {
    let desk = Desk::new();
    let talk =
        desk.write(TALK, &(said("a0", "toolResult", &"x".repeat(4 << 20)) + &said("a1", "user", "walrus")));
    let note = desk.write("workspace/MEMORY.md", "the walrus");
    desk.sync();
    let line = said("a2", "assistant", "ostrich");
    fs::OpenOptions::new().append(true).open(&talk).unwrap().write_all(line.as_bytes()).unwrap();
    assert_eq!(desk.sync().bytes_read, line.len() as u64 + 1024, "its own bytes and the witness before them");
    assert_eq!(desk.hits("ostrich").len(), 1);
    fs::write(&note, "the heron").unwrap();
    assert_eq!(desk.sync().bytes_read, 9);
    assert_eq!((desk.hits("heron").len(), desk.hits("walrus").len()), (1, 1));
}

#[test]
fn a_conversation_that_is_put_away_is_not_read_again() {
    let desk = Desk::new();
    let talk = desk.write(TALK, &said("a1", "user", "walrus"));
    desk.sync();
    let away = talk.with_file_name("0b7c.jsonl.reset.2026-01-16T04-00-00.000Z");
    fs::rename(&talk, &away).unwrap();
    assert!(desk.sync().bytes_read <= 1024);
    assert_eq!(desk.hits("walrus")[0].file, away);
}

#[test]
fn an_entry_copied_to_another_conversation_counts_once() {
    let desk = Desk::new();
    desk.write(TALK, &said("a1", "user", "walrus"));
    desk.write(
        "agents/main/sessions/9f00-topic-4.jsonl",
        &(said("a1", "user", "walrus") + &said("a2", "user", "more")),
    );
    let synced = desk.sync();
    assert_eq!(synced.chunks_added, 2);
    let hits = desk.hits("walrus");
    assert_eq!((hits.len(), hits[0].also_in.len()), (2, 1));
    assert_eq!(hits[0].offset, hits[1].offset);
}

#[test]
fn a_claude_session_behind_a_conversation_is_hidden_once_that_is_indexed() {
    let desk = Desk::new();
    desk.history.write(&session("c1", "walrus", "ok"));
    desk.write(STORE, r#"{"agent:main:main": {"sessionId": "0b7c", "claudeCliSessionId": "c1"}}"#);
    desk.sync();
    let owned = || {
        let (conversations, problems) = desk.memory().agents[0].conversations();
        assert!(problems.is_empty(), "{problems:?}");
        let pairs = conversations
            .into_iter()
            .flat_map(|one| one.claude.into_iter().map(move |claude| (claude, one.session.clone())));
        SearchScope { owned: pairs.collect(), ..SearchScope::default() }
    };
    assert_eq!(desk.hits_in("walrus", &owned()).len(), 1, "its owner has no transcript");
    desk.write(TALK, &said("a1", "user", "walrus"));
    desk.sync();
    let hits = desk.hits_in("walrus", &owned());
    assert_eq!(hits.iter().map(|hit| hit.source).collect::<Vec<_>>(), [SourceKind::Sessions]);
    assert_eq!(desk.hits("walrus").len(), 2, "whoever does not ask to hide it sees it");
}

#[test]
fn damage_is_counted_and_secrets_are_not_shown() {
    let desk = Desk::new();
    desk.write(TALK, &format!("\0\0\n\nnot json\n{}{{\"torn", said("a1", "user", "walrus")));
    let key = format!("sk-ant-api03-{}", "Ab3dE6gH9k".repeat(9) + "xyz-AA");
    desk.write("workspace/MEMORY.md", &format!("ostrich key {key} end"));
    fs::create_dir_all(desk.path("workspace/memory/folder.md")).unwrap();
    fs::write(desk.path("workspace/memory.md"), b"heron \xff\xfe\0").unwrap();
    let synced = desk.sync();
    assert_eq!((synced.unreadable_lines, synced.failed.len()), (2, 0));
    for word in ["walrus", "heron"] {
        assert_eq!(desk.hits(word).len(), 1, "{word}");
    }
    let passage = desk.hits("ostrich").remove(0).passage.unwrap();
    assert!(passage.contains("[redacted:") && !passage.contains("Ab3dE6gH9k"), "{passage}");
}
