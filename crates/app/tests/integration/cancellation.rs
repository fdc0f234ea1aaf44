//! A request that its caller has ended fails as cancelled, whatever it asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use app::choose::pick::pick;
use app::choose::request::Request as PickRequest;
use app::repository::status;
use app::search::{Request as SearchRequest, index, memory, search};
use app::sessions::cost::{Request as CostRequest, cost};
use app::sessions::list::{Request as ListRequest, list};
use app::{Caller, Context, Error, Kind, ProgressSink, Stage, doctor};
use serde_json::json;

use crate::scene::{MAIN, OPS, PERSON, Scene};

/// A way to ask, by its name.
type Question = (&'static str, fn(&Context) -> Result<(), Error>);

const QUESTIONS: [Question; 8] = [
    ("list", |context| list(context, &ListRequest::default()).map(drop)),
    ("cost", |context| cost(context, &CostRequest::default()).map(drop)),
    ("status", |context| {
        let request = status::Request { repo: Some(PERSON.1.to_owned()), ..Default::default() };
        status::status(context, &request).map(drop)
    }),
    ("doctor", |context| doctor::doctor(context, &doctor::Request::default()).map(drop)),
    ("index", |context| index::index(context, &index::Request::default()).map(drop)),
    ("search", |context| search(context, &question()).map(drop)),
    ("memory", |context| {
        let request = memory::search::Request { query: "tune".to_owned(), ..Default::default() };
        memory::search::search(context, &request).map(drop)
    }),
    ("pick", |context| {
        let repo = Some(PERSON.1.to_owned());
        let request = PickRequest { task: "Tune it".to_owned(), repo, ..Default::default() };
        pick(context, &request).map(drop)
    }),
];

fn question() -> SearchRequest {
    SearchRequest { query: "tune".to_owned(), ..Default::default() }
}

#[test]
fn every_long_question_can_be_cancelled() {
    for (name, ask) in QUESTIONS {
        let context = Scene::new().context(Caller::Person, PERSON.1);
        context.cancellation.cancel();
        let failed = ask(&context).map_err(|error| error.kind);
        assert_eq!(failed, Err(Kind::Cancelled), "{name}");
    }
}

#[test]
fn a_cancelled_reading_opens_no_further_file() {
    type Question<'a> = &'a dyn Fn(&Context) -> Result<(), Error>;
    let project = SearchRequest { project: Some("walrus".to_owned()), ..question() };
    let questions: [Question<'_>; 2] =
        [&|context| list(context, &ListRequest::default()).map(drop), &|context| {
            search(context, &project).map(drop)
        }];
    for ask in questions {
        let scene = Scene::new();
        let context = scene.context(Caller::Person, PERSON.1);
        ask(&context).unwrap();
        // Few have changed: those alone are read again.
        for session in [PERSON, MAIN, OPS] {
            scene.append(
                session,
                &json!({"type": "custom-title", "sessionId": session.0, "customTitle": "new"}),
            );
        }
        let steps = Arc::new(AtomicU64::new(0));
        let (counted, cancelled) = (Arc::clone(&steps), context.cancellation.clone());
        let progress = ProgressSink::new(move |progress| {
            if progress.stage == Stage::Reading {
                counted.fetch_add(1, Ordering::Relaxed);
                cancelled.cancel();
            }
        });
        let failed = ask(&Context { progress, ..context }).map_err(|error| error.kind);
        assert_eq!((failed, steps.load(Ordering::Relaxed)), (Err(Kind::Cancelled), 1));
    }
}

#[test]
fn a_search_told_to_answer_now_uses_the_index_as_it_is() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    context.cancellation.answer_now();
    let answer = search(&context, &question()).unwrap();
    assert_eq!((answer.hits.len(), answer.pending.files), (0, 3));
}

#[test]
fn progress_names_the_stage_and_ends_at_the_total() {
    let scene = Scene::new();
    let seen: Arc<Mutex<Vec<(Stage, bool)>>> = Arc::default();
    let steps = Arc::new(AtomicU64::new(0));
    let (reported, counted) = (Arc::clone(&seen), Arc::clone(&steps));
    let progress = ProgressSink::new(move |progress| {
        counted.fetch_add(1, Ordering::Relaxed);
        reported.lock().unwrap().push((progress.stage, progress.done == progress.total));
    });
    let context = Context { progress, ..scene.context(Caller::Person, PERSON.1) };
    list(&context, &ListRequest::default()).unwrap();
    assert_eq!(seen.lock().unwrap().last(), Some(&(Stage::Reading, true)));
    search(&context, &question()).unwrap();
    assert_eq!(seen.lock().unwrap().last().unwrap().0, Stage::Indexing);
    let done = steps.load(Ordering::Relaxed);
    list(&context, &ListRequest::default()).unwrap();
    assert_eq!(steps.load(Ordering::Relaxed), done, "what is read is not read again");
}
