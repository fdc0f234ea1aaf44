//! Questions and the sessions that they find.

use search::{ChunkKind, Mode, SearchScope};
use serde_json::json;
use testkit::transcript::{Lineage, Transcript};
use transcript::Role;

use crate::history::{History, ids, session};

#[test]
fn words_in_any_form_identifiers_and_cjk() {
    let history = History::new();
    history.write(&session("s1", "Users are logged out at random", "The refreshToken rotation is racy."));
    history.write(&session("s2", "Make the parser faster", "Streaming helps."));
    history.write(&session("s3", "数据库连接池耗尽了", "好的"));
    history.sync();
    for question in ["refreshing tokens", "refresh_token", "refreshToken", "\"refresh token\"", "logging out"]
    {
        assert_eq!(history.found(question).first().map(String::as_str), Some("s1"), "{question}");
    }
    assert_eq!(history.found("连接池"), ["s3"]);
    assert_eq!(history.found("zeppelin"), [""; 0]);
    assert_eq!(history.found("\"token refresh\""), [""; 0], "a quoted phrase has to occur as it is");
}

#[test]
fn the_exact_line_is_cited() {
    let history = History::new();
    let transcript =
        session("s1", "first question", "first answer").prompt("where is the zebra?").answer("In the zoo.");
    let path = history.write(&transcript);
    history.sync();
    let hits = history.hits("zebra");
    let [hit] = hits.as_slice() else { panic!("{hits:?}") };
    let bytes = std::fs::read(&path).unwrap();
    let line = bytes.split(|byte| *byte == b'\n').nth(usize::try_from(hit.line).unwrap() - 1).unwrap();
    let from_offset = &bytes[usize::try_from(hit.offset).unwrap()..];
    assert!(from_offset.starts_with(line));
    let line = String::from_utf8_lossy(line);
    assert!(line.contains("zebra") && line.contains(hit.uuid.as_deref().unwrap()), "{line}");
    assert_eq!((hit.kind, hit.file.as_path()), (ChunkKind::Prompt, path.as_path()));
    let snippet = hit.snippet.as_ref().unwrap();
    let (start, end) = snippet.marks[0];
    assert_eq!(&snippet.text[start..end], "zebra");
}

#[test]
fn a_later_place_that_is_as_good_is_named_beside_the_cited_one() {
    let history = History::new();
    let transcript = session("s1", "hello", "hi")
        .prompt("which port does the gateway listen on?")
        .answer("The gateway listens on port 8080.")
        .prompt("that is refused")
        .answer("You are right: the gateway listens on port 9090 now, as its settings say.")
        .answer("Done with the gateway.");
    history.write(&transcript);
    history.sync();
    let hits = history.hits("gateway listens port");
    let text = |hit: &search::RankedHit| hit.snippet.as_ref().unwrap().text.clone();
    assert!(text(&hits[0]).contains("8080"), "an answer is worth more than its question: {}", text(&hits[0]));
    let later = hits[0].later.as_deref().unwrap();
    assert!(text(later).contains("9090") && later.line > hits[0].line, "{}", text(later));
    assert_eq!(history.hits("refused")[0].later, None);
    let all = SearchScope { places: 5, ..SearchScope::default() };
    assert_eq!(history.hits_in("gateway listens port", &all)[0].later, None, "it is among all places");
}

#[test]
fn a_path_finds_who_changed_the_file() {
    let history = History::new();
    let edit = json!({"file_path": "/p/src/auth/token.rs", "old_string": "a", "new_string": "b"});
    let read = json!({"file_path": "/p/src/auth/token.rs"});
    history.write(&session("changed", "x", "y").tool("Edit", edit, "ok"));
    history.write(&session("read", "x", "y").tool("Read", read, "content"));
    history.write(&session("named", "look at src/auth/token.rs", "y"));
    history.write(&session("other", "x", "y"));
    history.sync();
    let found = history.found("src/auth/token.rs");
    assert_eq!((found[0].as_str(), found.len()), ("changed", 3), "who read or named it comes after");
    assert!(history.hits("token.rs")[0].why.changed_file);
    let scope = SearchScope { file: Some("auth/token.rs".to_owned()), ..SearchScope::default() };
    let found: Vec<_> = history.hits_in("y", &scope).into_iter().map(|hit| hit.session.to_string()).collect();
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn filters() {
    let history = History::new();
    history.write(&session("s1", "the walrus", "no animal here"));
    history.write(&session("s2", "no animal here", "the walrus"));
    history.sync();
    let found = |scope: &SearchScope| {
        let hits = history.hits_in("walrus", scope);
        hits.into_iter().map(|hit| hit.session.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(found(&SearchScope { role: Some(Role::User), ..SearchScope::default() }), ["s1"]);
    assert_eq!(found(&SearchScope { role: Some(Role::Assistant), ..SearchScope::default() }), ["s2"]);
    assert_eq!(found(&SearchScope { sessions: Some(ids(&["s2"])), ..SearchScope::default() }), ["s2"]);
    let long_ago = Some("2001-01-01T00:00:00Z".parse().unwrap());
    assert_eq!(found(&SearchScope { until: long_ago, ..SearchScope::default() }), [""; 0]);
    assert_eq!(found(&SearchScope { since: long_ago, ..SearchScope::default() }).len(), 2);
}

#[test]
fn a_record_held_by_several_sessions_is_indexed_once() {
    let history = History::new();
    let parent = session("parent", "the walrus swims", "indeed");
    let fork =
        parent.clone().fork("fork", Lineage::SharedUuids).prompt("and the ostrich?").answer("It runs.");
    history.write(&parent);
    history.sync();
    history.write(&fork);
    let synced = history.sync();
    let hits = history.hits("walrus");
    assert_eq!(hits.len(), 2);
    for hit in &hits {
        let other = if hit.session.as_str() == "parent" { "fork" } else { "parent" };
        assert_eq!(hit.also_in.iter().map(ToString::to_string).collect::<Vec<_>>(), [other]);
        // Each is cited in its own file, whichever of them was indexed.
        assert_eq!(hit.file.file_stem(), Some(hit.session.as_str().as_ref()), "{hit:?}");
        assert!(hit.snippet.is_some() && hit.line > 0);
    }
    assert_eq!(history.found("ostrich"), ["fork"]);
    assert!(synced.chunks_added <= 3, "the copies are not indexed again: {synced:?}");
    let only_fork = SearchScope { sessions: Some(ids(&["fork"])), ..SearchScope::default() };
    assert_eq!(history.hits_in("walrus", &only_fork).len(), 1, "found through the copy it holds");
}

#[test]
fn a_long_copy_is_indexed_once_too() {
    let history = History::new();
    let say =
        |talk: Transcript, number: usize| talk.prompt(&format!("walrus number {number}")).answer("indeed");
    let parent = (0..40).fold(session("parent", "the walrus swims", "indeed"), say);
    history.write(&parent);
    history.sync();
    history.write(
        &parent.clone().fork("fork", Lineage::SharedUuids).prompt("and the ostrich?").answer("It runs."),
    );
    let synced = history.sync();
    assert_eq!(synced.chunks_added, 2, "the copies are not indexed again: {synced:?}");
    assert_eq!(history.hits("walrus").len(), 2);
    history.write_in("-p", "parent", &session("parent", "the heron flies", "indeed").bytes());
    history.sync();
    assert_eq!(history.found("walrus"), ["fork"], "what the copy holds stays found");
    assert_eq!(history.found("heron")[0], "parent");
}

#[test]
fn subagents_answer_for_their_session() {
    let transcript = Transcript::new("s1").cwd("/p").prompt("count").subagent(
        "general-purpose",
        "Count files",
        "Count the platypus files",
        |agent| agent.answer("There are three platypus files."),
    );
    let home = testkit::home::ScratchHome::new();
    transcript.write_to(&home);
    let index = home.path().join("index");
    crate::history::sync_folders(&home.config_dir(), &index);
    let mut searcher = search::Searcher::open(&index).unwrap().unwrap();
    let outcome = searcher
        .search(&search::Query::parse("platypus"), &SearchScope::default(), Mode::Lexical, 2, 5)
        .unwrap();
    assert_eq!(outcome.hits.len(), 1);
    assert_eq!(outcome.hits[0].session.as_str(), "s1");
}
