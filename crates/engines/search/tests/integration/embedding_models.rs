//! Search with an embedding model that a person chose.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use embedding::ModelChoice;
use search::{
    EmbedReport, MeaningStatus, Mode, Query, QueryEncoder, SearchResults, SearchScope, Searcher, SourceKind,
    embed,
};
use testkit::EmbeddingServer;
use testkit::embedding_server::Reply;
use testkit::transcript::Transcript;
use transcript::Role;

use crate::history::{History, ids, session};

const INDEX: &str = "BACKSTORY_TEST_EMBED_INDEX";
const URL: &str = "BACKSTORY_TEST_EMBED_URL";

fn endpoint(url: &str) -> ModelChoice {
    ModelChoice::Endpoint {
        url: url.to_owned(),
        model: "small".to_owned(),
        key: None,
        timeout: Duration::from_secs(30),
    }
}

fn transformer() -> ModelChoice {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/tools/model");
    assert!(folder.join("model.safetensors").exists(), "the weights are missing: run scripts/test once");
    ModelChoice::Folder(folder)
}

fn embed_all(index: &Path, choice: &ModelChoice) -> EmbedReport {
    embed(index, &choice.open().unwrap(), 2, &mut |_| true, |_| false).unwrap()
}

fn asked(history: &History, question: &str, choice: Option<ModelChoice>, deep: usize) -> SearchResults {
    let mut searcher = Searcher::open(&history.index()).unwrap().unwrap();
    searcher.set_query_encoder(choice.map(|choice| QueryEncoder { choice, deep, pause: |_| false }));
    searcher.search(&Query::parse(question), &SearchScope::default(), Mode::Hybrid, 2, 20).unwrap()
}

/// Many sessions, each with two things said in it.
fn many(count: usize) -> History {
    let history = History::new();
    for n in 0..count {
        history.write(&session(&format!("s{n}"), &format!("question number {n}"), &"a".repeat(n + 1)));
    }
    history.sync();
    history
}

#[test]
fn everything_can_be_embedded_by_an_endpoint_and_goes_on_where_it_was() {
    let history = many(100);
    let server = EmbeddingServer::start(Vec::new());
    let choice = endpoint(server.url());
    let model = choice.open().unwrap();
    let before = asked(&history, "question", Some(choice.clone()), 0).understood.unwrap();
    assert_eq!((before.documents.as_str(), before.covered), ("built-in", Some(0.0)));
    assert!(before.fallback.unwrap().starts_with("only 0% of the text is embedded with small at http://127"));
    let mut steps = 0;
    let once = &mut |_: &EmbedReport| {
        steps += 1;
        steps == 1
    };
    let first = embed(&history.index(), &model, 1, once, |_| false).unwrap();
    assert!(first.of == 200 && first.done == first.added && (64..70).contains(&first.added), "{first:?}");
    let rest = embed_all(&history.index(), &choice);
    assert_eq!((rest.done, rest.of, rest.added), (200, 200, 200 - first.added));
    assert_eq!(embed_all(&history.index(), &choice).added, 0, "nothing is embedded twice");
    let after = asked(&history, "question", Some(choice.clone()), 0).understood.unwrap();
    assert_eq!(
        (after.question.as_str(), after.covered, after.fallback),
        (choice.name().as_str(), Some(1.0), None)
    );
    assert_eq!(after.documents, choice.name());

    history.write(&session("new", "one more question", "here"));
    history.sync();
    assert_eq!(embed_all(&history.index(), &choice).added, 2, "only what is new");
    search::discard(&history.index()).unwrap();
    history.sync();
    assert_eq!(embed_all(&history.index(), &choice).added, 202, "another list of files, other numbers");
}

#[test]
fn vectors_of_two_models_never_mix() {
    let history = many(3);
    let server = EmbeddingServer::start(Vec::new());
    embed_all(&history.index(), &endpoint(server.url()));
    let other = ModelChoice::Endpoint {
        url: server.url().to_owned(),
        model: "large".to_owned(),
        key: None,
        timeout: Duration::from_secs(30),
    };
    let understood = asked(&history, "question", Some(other.clone()), 0).understood.unwrap();
    assert_eq!((understood.documents.as_str(), understood.covered), ("built-in", Some(0.0)));
    assert_eq!(embed_all(&history.index(), &other).added, 6);
    let understood = asked(&history, "question", Some(endpoint(server.url())), 0).understood.unwrap();
    assert_eq!(understood.covered, Some(0.0), "those of the first went when the second had all");
}

/// Not a test of its own: the process that [`a_killed_pass_costs_its_last_step`] kills.
#[test]
fn child_that_embeds() {
    let (Some(index), Ok(url)) = (std::env::var_os(INDEX), std::env::var(URL)) else { return };
    embed_all(Path::new(&index), &endpoint(&url));
}

#[test]
fn a_killed_pass_costs_its_last_step() {
    let history = many(300);
    let server = EmbeddingServer::start(Vec::new());
    for round in 1..4 {
        let before = server.asked().len();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "embedding_models::child_that_embeds"])
            .env(INDEX, history.index())
            .env(URL, server.url())
            .spawn()
            .unwrap();
        while server.asked().len() < before + round && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let rest = embed_all(&history.index(), &endpoint(server.url()));
    assert_eq!((rest.done, rest.of), (600, 600));
    assert!(rest.added < 600, "the killed ones left something: {rest:?}");
    let texts: usize = server.asked().iter().map(|one| one.body["input"].as_array().unwrap().len()).sum();
    assert!(texts <= 600 + 3 * 66, "at most one step is lost each time: {texts}");
}

#[test]
fn where_the_model_cannot_be_had_the_table_answers_and_says_so() {
    let history = many(3);
    let check = |choice: ModelChoice, expected: &str| {
        let outcome = asked(&history, "question number", Some(choice), 20);
        let understood = outcome.understood.unwrap();
        let why = understood.fallback.unwrap();
        assert!(why.contains(expected), "{why}");
        assert_eq!((outcome.meaning, outcome.total, understood.rescored), (MeaningStatus::Ran, 3, 0));
        assert_eq!((understood.question.as_str(), understood.documents.as_str()), ("built-in", "built-in"));
    };
    check(ModelChoice::Folder(PathBuf::from("/nowhere/model")), "/nowhere/model/config.json");
    check(ModelChoice::Hub { cache: PathBuf::from("/nowhere"), name: "a/b".to_owned() }, "hf download a/b");
    let refusal = Reply { status: 401, headers: Vec::new(), body: "{}".to_owned() };
    let server = EmbeddingServer::start(vec![refusal]);
    check(endpoint(server.url()), "401");
    let broken = tempfile::tempdir().unwrap();
    for file in ["config.json", "vocab.txt"] {
        let ModelChoice::Folder(whole) = transformer() else { return };
        std::fs::copy(whole.join(file), broken.path().join(file)).unwrap();
    }
    std::fs::write(broken.path().join("model.safetensors"), "x").unwrap();
    check(ModelChoice::Folder(broken.path().to_owned()), "model.safetensors");
}

/// Sessions that say in other words what is asked for.
fn paraphrased() -> History {
    let history = History::new();
    history.write(&session(
        "login",
        "People get signed out all the time",
        "The session cookie expired too early.",
    ));
    history.write(&session(
        "disk",
        "The nightly backup failed",
        "The volume had no room left for the archive.",
    ));
    history.write(&session("chart", "Draw the axes in grey", "Labels are rotated now."));
    history.sync();
    history
}

#[test]
fn a_transformer_reads_the_question_and_on_request_the_best_sessions_again() {
    let history = paraphrased();
    let question = "storage was full";
    let outcome = asked(&history, question, Some(transformer()), 0);
    let understood = outcome.understood.unwrap();
    assert_eq!((understood.question, understood.documents.as_str()), (transformer().name(), "built-in"));
    assert_eq!((understood.rescored, understood.fallback), (0, None));
    assert_eq!(outcome.hits[0].session.as_str(), "disk");
    let deep = asked(&history, question, Some(transformer()), 2);
    let understood = deep.understood.unwrap();
    assert!((1..=2).contains(&understood.rescored), "{understood:?}");
    assert_eq!(deep.hits[0].session.as_str(), "disk");
    assert!(deep.hits[0].why.nearest != outcome.hits[0].why.nearest, "it was read again");
    assert!(deep.hits.windows(2).all(|two| two[0].score >= two[1].score));

    let embedded = embed_all(&history.index(), &transformer());
    assert_eq!((embedded.done, embedded.of), (6, 6));
    let both = asked(&history, question, Some(transformer()), 20);
    let understood = both.understood.unwrap();
    assert_eq!((understood.documents, understood.covered), (transformer().name(), Some(1.0)));
    assert_eq!(both.hits[0].session.as_str(), "disk");
}

#[test]
fn the_language_that_a_model_was_not_taught_is_left_to_words() {
    let history = paraphrased();
    let outcome = asked(&history, "磁盘满了", Some(transformer()), 0);
    assert_eq!((outcome.meaning, outcome.understood), (MeaningStatus::OtherLanguage, None));
}

#[test]
fn a_filter_leaves_both_sides_something_to_find() {
    let history = History::new();
    let said = |id: &str| {
        Transcript::new(id)
            .cwd("/p")
            .at("2026-03-01T10:00:00Z")
            .prompt("the walrus swims")
            .answer("a walrus dives")
    };
    for id in ["s1", "s2", "s3"] {
        history.write(&said(id));
    }
    history.sync();
    let since = Some("2026-01-01T00:00:00Z".parse().unwrap());
    let until = Some("2027-01-01T00:00:00Z".parse().unwrap());
    let scopes = [
        SearchScope { sessions: Some(ids(&["s2"])), ..SearchScope::default() },
        SearchScope { role: Some(Role::User), ..SearchScope::default() },
        SearchScope {
            role: Some(Role::Assistant),
            sessions: Some(ids(&["s1", "s3"])),
            ..SearchScope::default()
        },
        SearchScope { since, until, ..SearchScope::default() },
        SearchScope { sources: Some(HashSet::from([SourceKind::ClaudeSessions])), ..SearchScope::default() },
    ];
    for scope in scopes {
        let found = |mode| {
            let mut searcher = Searcher::open(&history.index()).unwrap().unwrap();
            let hits = searcher.search(&Query::parse("walrus"), &scope, mode, 2, 20).unwrap().hits;
            hits.into_iter().map(|hit| (hit.session.to_string(), hit.why)).collect::<Vec<_>>()
        };
        let names = |found: &[(String, _)]| found.iter().map(|(id, _)| id.clone()).collect::<HashSet<_>>();
        let (words, meaning, both) = (found(Mode::Lexical), found(Mode::Semantic), found(Mode::Hybrid));
        assert!(!words.is_empty(), "{scope:?}");
        assert_eq!(names(&words), names(&meaning), "{scope:?}");
        assert_eq!(names(&words), names(&both), "{scope:?}");
        assert!(both.iter().all(|(_, why)| why.best_chunk > 0.0 && why.nearest.is_some()), "{both:?}");
    }
}

#[test]
fn of_a_session_only_what_was_said_in_the_time_asked_for_is_near() {
    let history = History::new();
    let (before, after) = ("2026-01-01T10:00:00Z", "2026-03-01T10:00:00Z");
    let (near, far) = ("the walrus swims in the sea", "invoice totals are rounded up");
    history.write(&Transcript::new("before").cwd("/p").at(before).prompt(near));
    history.write(&Transcript::new("after").cwd("/p").at(after).prompt(near));
    history.write(&Transcript::new("across").cwd("/p").at(before).prompt(near).at(after).prompt(far));
    history.sync();
    let nearest = |scope: &SearchScope| {
        let mut searcher = Searcher::open(&history.index()).unwrap().unwrap();
        // Whatever holds a word of it is found, near or not.
        let query = Query::parse("walrus swims invoice totals");
        let hits = searcher.search(&query, scope, Mode::Hybrid, 2, 20).unwrap().hits;
        hits.into_iter().map(|hit| (hit.session.to_string(), hit.why.nearest)).collect::<HashMap<_, _>>()
    };
    let moment = Some("2026-02-01T00:00:00Z".parse().unwrap());
    let all = nearest(&SearchScope::default());
    let since = nearest(&SearchScope { since: moment, ..SearchScope::default() });
    let until = nearest(&SearchScope { until: moment, ..SearchScope::default() });
    assert_eq!((since.get("before"), until.get("after")), (None, None));
    assert_eq!(since["after"], all["after"]);
    assert_eq!(until["before"], all["before"]);
    assert_eq!(until["across"], until["before"], "what it said first");
    assert_ne!(since["across"], until["across"], "what it said last");
}

#[test]
fn vectors_of_replaced_files_do_not_stay() {
    let history = many(4);
    let size = || {
        let files = std::fs::read_dir(history.index()).unwrap().map(Result::unwrap);
        let vectors = files.filter(|file| file.file_name().to_string_lossy().starts_with("vectors"));
        vectors.map(|file| file.metadata().unwrap().len()).collect::<Vec<_>>()
    };
    let [first] = size()[..] else { panic!("one file: {:?}", size()) };
    for round in 0..10 {
        history.write(&session("s1", &format!("other words, round {round}"), "replaced"));
        history.sync();
        let outcome = asked(&history, &format!("round {round}"), None, 0);
        assert_eq!((outcome.meaning, outcome.hits[0].session.as_str()), (MeaningStatus::Ran, "s1"));
    }
    assert_eq!(size(), [first], "as many vectors as at first, in one file");
}

#[test]
fn vectors_that_are_lost_or_of_another_table_are_made_again() {
    let history = many(3);
    let vectors = history.index().join("vectors.bin");
    let damage: [fn(&Path); 2] = [
        |vectors| {
            use std::os::unix::fs::FileExt as _;
            // The number the table is known by.
            let file = std::fs::OpenOptions::new().write(true).open(vectors).unwrap();
            file.write_all_at(&[1, 2, 3, 4], 8).unwrap();
        },
        |vectors| std::fs::remove_file(vectors).unwrap(),
    ];
    for damage in damage {
        damage(&vectors);
        assert_eq!(asked(&history, "question", None, 0).meaning, MeaningStatus::Nothing);
        history.sync();
        let outcome = asked(&history, "question", None, 0);
        assert_eq!(
            (outcome.meaning, outcome.total),
            (MeaningStatus::Ran, 3),
            "although no transcript has changed"
        );
    }
}
