//! Questions and the sessions that they find.

use search::{ChunkKind, HitTexts, Mode, Query, SearchScope, Searcher};
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
fn words_that_no_session_has_stand_for_those_that_are_indexed() {
    let history = History::new();
    history.write(&session("s1", "What is MaxChunkSize?", "The migrations of telemetry have it."));
    history.write(&session("s2", "Make the parser faster", "Streaming helps the migration."));
    history.sync();
    let searcher = Searcher::open(&history.index()).unwrap().unwrap();
    let found = |question: &str, is_typing: bool| {
        let query = searcher.fitted(&Query::parse(question), is_typing).unwrap();
        (searcher.unknown_words(&query).unwrap(), query != Query::parse(question))
    };
    assert_eq!(found("maxchunksize", false), (vec![], true), "its stem is another");
    assert_eq!(found("parser migra", true), (vec![], true));
    assert_eq!(found("parser migra", false), (vec!["migra".to_owned()], false), "nobody is typing it");
    assert!(found("parser ", true).1, "nothing is being typed, and what holds all words is counted");
    let near = |word: &str| searcher.nearest_words(&Query::parse(word)).unwrap();
    assert_eq!(near("telemetri"), [""; 0], "it is indexed");
    assert_eq!(near("telemetrx"), ["telemetry"], "as it is written, not as it is indexed");
}

#[test]
fn a_slip_of_the_hand_is_searched_for_as_what_sessions_have() {
    let history = History::new();
    history.write(&session("s1", "What is MaxChunkSize?", "The migrations of telemetry have it."));
    history.write(&session("s2", "Make the parser faster", "Streaming helps the migration."));
    history.sync();
    let searcher = Searcher::open(&history.index()).unwrap().unwrap();
    let check = |question: &str, is_typing: bool, expected: &[(&str, &str)]| {
        let query = searcher.corrected(&Query::parse(question), is_typing).unwrap();
        let found: Vec<(&str, &str)> = query.corrections.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(found, expected, "{question}");
        query.text
    };
    let both = [("pasrer", "parser"), ("Telemetrx", "telemetry")];
    assert_eq!(check("the pasrer, Telemetrx!", false, &both), "the parser, telemetry!");
    check("pasrer telemetrx", true, &both[..1]);
    for right in
        ["faster parser", "maxchunksize", "a steaming kettle", "wie wird der pasrer schnell", "pasrer.rs"]
    {
        check(right, false, &[]);
    }
    check("\"the pasrer\"", false, &[]);
}

#[test]
fn a_question_in_another_language_is_answered_by_its_words_and_else_by_what_is_nearest() {
    let history = History::new();
    history.write(&session("s1", "The retry queue of the mailer is stuck", "It waited for a lock."));
    history.write(&session("s2", "Make the parser faster", "Streaming helps."));
    history.sync();
    let mut searcher = Searcher::open(&history.index()).unwrap().unwrap();
    let mut ask = |question: &str| {
        let scope = SearchScope::default();
        let found = searcher.search(&Query::parse(question), &scope, Mode::Hybrid, 1, 10).unwrap();
        let hits: Vec<(String, bool)> = found
            .hits
            .iter()
            .map(|hit| (hit.session.to_string(), hit.confidence >= search::LIKELY))
            .collect();
        (found.meaning, hits)
    };
    let (meaning, hits) = ask("wie haben wir den parser schneller gemacht");
    assert_eq!((meaning, &*hits[0].0), (search::MeaningStatus::OtherLanguage, "s2"));
    let (meaning, hits) = ask("日本");
    assert_eq!(meaning, search::MeaningStatus::OtherLanguage);
    assert!(hits.len() == 2 && hits.iter().all(|(_, is_likely)| !is_likely), "{hits:?}");
    assert_eq!(ask("how was the parser made faster").0, search::MeaningStatus::Ran);
}

#[test]
fn sessions_of_the_days_that_are_meant_come_first() {
    let history = History::new();
    history.write(&session("s1", "The parser, the parser and the parser", "The parser is slow."));
    history.write(&session("s2", "Something of the parser", "Later."));
    let later =
        session("s3", "Make tea", "Later.").minutes_later(3 * 24 * 60).prompt("the parser").answer("Yes.");
    history.write(&later);
    history.sync();
    let first = |favored| {
        let scope = SearchScope { favored, ..SearchScope::default() };
        history.hits_in("parser", &scope).iter().map(|hit| hit.session.to_string()).collect::<Vec<_>>()
    };
    let at =
        history.hits("parser").into_iter().find(|hit| &*hit.session.to_string() == "s3").unwrap().at.unwrap();
    let hour = jiff::SignedDuration::from_hours(1);
    let before = first(None);
    let days = first(Some((at.checked_sub(hour).unwrap(), at.checked_add(hour).unwrap())));
    assert_eq!((&*before[0], &*days[0], days.len()), ("s1", "s3", 3), "{before:?} {days:?}");
}

#[test]
fn a_summary_is_found_in_the_session_that_it_is_of() {
    let history = History::new();
    let one = session("s1", "hi", "Hello.").summary_of("elsewhere", "Router telemetry audit");
    let leaf = one.last_uuid().unwrap();
    history.write(&one);
    history.sync();
    assert_eq!(history.found("router telemetry"), [""; 0]);
    history.write(&one.summary_of("elsewhere too", "Kettle").summary_of(&leaf, "Greeting the walrus"));
    history.sync();
    assert_eq!(history.found("walrus"), ["s1"]);
    assert_eq!(history.found("kettle"), [""; 0]);
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
fn the_place_where_the_words_come_together_is_cited() {
    let history = History::new();
    let reason = "The telemetry client waits for its shutdown until a timeout of two seconds is over. ";
    let rest =
        "Each command pays for that, even where nothing is to be sent at all, so we lower it to a tenth. ";
    let transcript = session("s1", "hello", "hi")
        .prompt("shutdown timeout, shutdown timeout")
        .answer("Shutdown timeout.")
        .prompt("why is it slow?")
        .answer(&[reason, &rest.repeat(8)].concat());
    history.write(&transcript);
    history.sync();
    let hits = history.hits("telemetry shutdown timeout");
    assert!(hits[0].snippet.as_ref().unwrap().text.contains("two seconds"), "{hits:?}");
}

#[test]
fn a_later_place_that_is_as_good_is_named_beside_the_cited_one() {
    let history = History::new();
    let transcript = session("s1", "hello", "hi")
        .prompt("which port does the gateway listen on?")
        .answer("The gateway listens on port 8080, as its table of settings says at the end: nobody changed that.")
        .prompt("that is refused")
        .answer("You are right: the gateway listens on port 9090 now.")
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
    let without = SearchScope { texts: HitTexts::Omitted, ..SearchScope::default() };
    let alone = &history.hits_in("gateway listens port", &without)[0];
    assert_eq!((alone.line, &alone.later, &alone.snippet), (hits[0].line, &None, &None));
}

#[test]
fn one_index_answers_letter_by_letter_what_a_new_one_answers() {
    let history = History::new();
    for (id, port) in [("s1", "8080"), ("s2", "9090"), ("s3", "9191")] {
        let said = format!("which port does the gateway listen on? {port}");
        history.write(&session(id, "feed the walrus", "fed").prompt(&said).answer("The gateway listens."));
    }
    history.sync();
    let open = || Searcher::open(&history.index()).unwrap().unwrap();
    let only =
        |id: &str| SearchScope { sessions: Some([id.parse().unwrap()].into()), ..SearchScope::default() };
    let by_person = SearchScope { role: Some(Role::User), ..SearchScope::default() };
    let scopes = [SearchScope::default(), only("s2"), by_person, only("s3"), only("gone")];
    let mut kept = open();
    let question = "the gateway listens on port 9090";
    for end in 1..=question.len() {
        for scope in &scopes {
            let query = Query::parse(&question[..end]);
            let found =
                |searcher: &mut Searcher| searcher.search(&query, scope, Mode::Hybrid, 2, 10).unwrap();
            assert_eq!(found(&mut kept).hits, found(&mut open()).hits, "{}", &question[..end]);
        }
    }
    assert_eq!(history.hits(question).len(), 3);
    for (question, expected) in [("\"the gateway\" 9090", 3), ("\"gateway walrus\"", 0)] {
        let found = kept.search(&Query::parse(question), &scopes[0], Mode::Hybrid, 2, 10).unwrap();
        assert_eq!(found.hits.len(), expected, "{question}");
    }
}

#[test]
fn a_later_place_with_the_same_text_is_not_named() {
    let plan = |port: u32| {
        let rest = "Then the table of settings is read again, and the old port stays open for a minute.";
        format!("# The gateway listens on another port\n\nLet the gateway listen on port {port}. {rest}")
    };
    let told = |second: &str| {
        let history = History::new();
        let planned = session("s1", "hello", "hi").answer(&plan(9090)).prompt(second);
        history.write(&planned.answer("Done."));
        history.sync();
        let hit = history.hits("gateway listens port").remove(0);
        (hit.line, hit.later.map(|later| later.line))
    };
    let (_, again) = told(&format!("Implement the following plan:\n\n{}", plan(9090)));
    assert_eq!(again, None, "it is the same plan");
    let corrected = told(&plan(9191));
    assert!(corrected.1.is_some_and(|later| later > corrected.0), "one word is a correction: {corrected:?}");
}

#[test]
fn a_prompt_that_waited_counts_once_and_is_cited_where_it_was_said() {
    let history = History::new();
    let printed = Transcript::new("printed").cwd("/p").entrypoint("sdk-cli");
    history.write(&printed.prompt("Polish the brass sextant").answer("It shines."));
    let absorbed =
        session("absorbed", "hello", "hi").queued("Oil the brass hinges").answer("They are quiet.");
    history.write(&absorbed);
    history.sync();
    let all = SearchScope { places: 5, ..SearchScope::default() };
    for (question, id) in [("brass sextant", "printed"), ("brass hinges", "absorbed")] {
        let hits = history.hits(question);
        assert_eq!((hits[0].session.as_str(), hits[0].kind, hits[0].more), (id, ChunkKind::Prompt, 0));
        assert!(hits[0].later.is_none(), "{:?}", hits[0].later);
        assert!(history.hits_in(question, &all)[0].places.is_empty());
    }
}

#[test]
fn a_prompt_that_was_withdrawn_is_marked() {
    let history = History::new();
    let withdrawn =
        session("withdrawn", "hello", "hi").withdrawn("Sell the lighthouse").prompt("Keep it").answer("Yes.");
    history.write(&withdrawn);
    history.write(&session("said", "Paint the lighthouse", "It is white."));
    history.sync();
    let hits = history.hits("lighthouse");
    let found: Vec<_> = hits.iter().map(|hit| (hit.session.as_str(), hit.kind)).collect();
    assert_eq!(found, [("said", ChunkKind::Prompt), ("withdrawn", ChunkKind::Queued)]);
}

#[test]
fn without_words_the_newest_that_pass_are_found_each_at_its_last_text() {
    let history = History::new();
    let at = |id: &str, time: &str| Transcript::new(id).cwd("/p").at(time);
    let input = json!({"command": "make"});
    history.write(&at("old", "2026-01-01T10:00:00Z").prompt("first").answer("one"));
    history.write(
        &at("new", "2026-01-03T10:00:00Z").prompt("third").answer("three").tool("Bash", input, "made"),
    );
    history.write(&at("mid", "2026-01-02T10:00:00Z").prompt("second").answer("two"));
    history.sync();
    let found = |scope: &SearchScope, limit: usize| {
        let mut searcher = Searcher::open(&history.index()).unwrap().unwrap();
        let found = searcher.newest(scope, limit).unwrap();
        let text =
            |hit: &search::RankedHit| (hit.session.to_string(), hit.snippet.as_ref().unwrap().text.clone());
        (found.hits.iter().map(text).collect::<Vec<_>>(), found.total)
    };
    let owned = |all: &[(&str, &str)]| {
        all.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect::<Vec<_>>()
    };
    let all = SearchScope::default();
    assert_eq!(found(&all, 9), (owned(&[("new", "three"), ("mid", "two"), ("old", "one")]), 3));
    assert_eq!(found(&all, 1), (owned(&[("new", "three")]), 3));
    let by_user = SearchScope { role: Some(Role::User), ..SearchScope::default() };
    assert_eq!(found(&by_user, 2).0, owned(&[("new", "third"), ("mid", "second")]));
    let by_tool = SearchScope { role: Some(Role::Tool), ..SearchScope::default() };
    assert_eq!(found(&by_tool, 9).0, owned(&[("new", "make")]));
    let early = SearchScope { until: "2026-01-02T00:00:00Z".parse().ok(), ..SearchScope::default() };
    assert_eq!(found(&early, 9), (owned(&[("old", "one")]), 1));
    let chosen = SearchScope { sessions: Some(ids(&["mid"])), ..SearchScope::default() };
    assert_eq!(found(&chosen, 9), (owned(&[("mid", "two")]), 1));
}

#[test]
fn a_fork_is_cited_at_a_text_of_its_own() {
    let history = History::new();
    let original = session("s1", "why is the refresh token rejected?", "Its clock is ahead.");
    history.write(&original);
    let fork = original.fork("s2", Lineage::SharedUuids);
    history.write(&fork.prompt("so keep one refresh token").answer("One refresh token is kept."));
    history.sync();
    let hits = history.hits("refresh token");
    let cited: Vec<_> = hits.iter().map(|hit| hit.uuid.clone()).collect();
    assert_eq!(cited.len(), 2);
    assert_ne!(cited[0], cited[1], "{hits:#?}");
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
    let mut searcher = Searcher::open(&index).unwrap().unwrap();
    let outcome =
        searcher.search(&Query::parse("platypus"), &SearchScope::default(), Mode::Lexical, 2, 5).unwrap();
    assert_eq!(outcome.hits.len(), 1);
    assert_eq!(outcome.hits[0].session.as_str(), "s1");
}

/// The text of the first hit's citation.
fn cited(history: &History, question: &str) -> String {
    let hits = history.hits(question);
    hits[0].snippet.as_ref().unwrap().text.clone()
}

#[test]
fn of_texts_with_the_same_words_the_one_that_says_why_is_cited() {
    let history = History::new();
    let transcript = session("s1", "hello", "hi")
        .answer(
            "Now the gateway and its port are looked at, in all files of the repository, one after another.",
        )
        .answer(
            "That gateway has another port now, because all files of the repository name one after another.",
        );
    history.write(&transcript);
    history.sync();
    let text = cited(&history, "gateway port");
    assert!(text.contains("because"), "{text}");
}

#[test]
fn what_was_said_is_cited_rather_than_the_summary_of_it() {
    let history = History::new();
    let said = "The gateway listens on port 8080, as its table of settings says, and nobody has changed that so far.";
    let summary =
        "The gateway listens on port 8080, which is in its table of settings, and nothing else was changed.";
    history.write(
        &session("s1", "hello", "hi").answer(said).compaction(summary).prompt("go on").answer("Done."),
    );
    history.sync();
    let text = cited(&history, "gateway listens port");
    assert!(text.contains("nobody"), "{text}");
}

/// What is found by words and meaning.
fn understood(history: &History, question: &str) -> Vec<search::RankedHit> {
    let mut searcher = Searcher::open(&history.index()).unwrap().unwrap();
    searcher.search(&Query::parse(question), &SearchScope::default(), Mode::Hybrid, 2, 20).unwrap().hits
}

#[test]
fn made_up_words_find_nothing() {
    let history = History::new();
    history.write(&session("s1", "Users are logged out at random", "The refreshToken rotation is racy."));
    history.sync();
    for question in ["zzzqqq xyzzy", "snorgle the grabnitz until it plonks"] {
        assert_eq!(understood(&history, question), [], "{question}");
    }
    for question in ["zzzqqq rotation", "snorgle the password"] {
        let hits = understood(&history, question);
        assert!(hits.iter().all(|hit| hit.session.as_str() == "s1"), "{question}: {hits:?}");
    }
    assert_eq!(understood(&history, "zzzqqq rotation").len(), 1, "one of the words is indexed");
}

#[test]
fn matches_are_likely_down_to_the_first_that_is_not() {
    let history = History::new();
    history.write(&session(
        "s1",
        "why does the token refresh fail?",
        "The refresh token has expired by then.",
    ));
    history.write(&session("s2", "bake bread", "A token of gratitude, with butter and salt."));
    for n in 3..20 {
        history.write(&session(
            &format!("s{n}"),
            "water the garden",
            &format!("The roses have had {n} litres."),
        ));
    }
    history.sync();
    let confidence =
        |question| -> Vec<f32> { understood(&history, question).iter().map(|hit| hit.confidence).collect() };
    let likely = confidence("why did the token refresh fail");
    assert!(likely[0] >= search::LIKELY, "{likely:?}");
    assert!(likely.is_sorted_by(|one, other| one >= other), "{likely:?}");
    assert!(*likely.last().unwrap() < search::LIKELY, "{likely:?}");
    let absent = confidence("how much salt is in the sea water of the harbor");
    assert!(absent.iter().all(|chance| *chance < search::LIKELY), "{absent:?}");
    assert!(confidence("token")[0] >= search::LIKELY, "a single word that is there");
}
