//! What Claude is told has a length, whoever tells it.

use app::choose::pick::pick;
use app::choose::request::Request as PickRequest;
use app::cron::add::Request as JobRequest;
use app::proceed::fork_request::{self, Request as ForkRequest};
use app::search::grep;
use app::sessions::{blame, diff, show};
use app::workers::message::{self, message};
use app::workers::send::{self, send};
use app::workers::spawn::{self, spawn};
use app::workers::start::{self, start};
use app::{Caller, Error, Kind};
use serde_json::json;

use crate::scene::{PERSON, Scene};

#[test]
fn a_text_that_is_too_long_is_refused_wherever_it_is_given() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let (long, to) = ("x".repeat(100_001), PERSON.0.to_owned());
    let check = |what: &str, found: Option<Error>| {
        let error = found.unwrap_or_else(|| panic!("{what} is done"));
        assert_eq!(error.kind, Kind::TooLarge, "{what}: {error}");
        assert!(error.message.contains("at most 100 kB"), "{what}: {error}");
        assert!(!error.next_steps.is_empty(), "{what}");
    };
    let task = || long.clone();
    check(
        "start",
        start(&context, &start::Request { task: task(), fresh: true, ..Default::default() }).err(),
    );
    check("spawn", spawn(&context, &spawn::Request { task: task(), ..Default::default() }).err());
    check("send", send(&context, &send::Request { to: to.clone(), message: task() }).err());
    let to_all = message::Request { workers: vec![to], message: task(), ..Default::default() };
    check("message", message(&context, &to_all).err());
    check("pick", pick(&context, &PickRequest { task: task(), ..Default::default() }).err());
    let labelled = PickRequest { task: task(), label: Some("tidy".to_owned()), ..Default::default() };
    check("pick with a label", pick(&context, &labelled).err());
    let fork = ForkRequest { intent: task(), ..Default::default() };
    check("fork", fork_request::forks(&context, &fork).err());
    let job = JobRequest {
        name: "tidy".to_owned(),
        task: task(),
        every: Some("6h".to_owned()),
        ..Default::default()
    };
    check("cron", app::cron::add(&context, &job).err());
}

#[test]
fn lines_that_are_too_long_to_be_read_are_counted_in_every_answer() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let mut line = vec![b'x'; transcript::LINE_CAP + 1];
    line.push(b'\n');
    let mut file = std::fs::File::options().append(true).open(scene.transcript(PERSON)).unwrap();
    std::io::Write::write_all(&mut file, &line).unwrap();

    let shown: show::Request = serde_json::from_value(json!({"session": PERSON.0})).unwrap();
    let left_out = show::show(&context, shown).unwrap().each(|_| Ok::<_, Error>(())).unwrap();
    assert_eq!(left_out.too_long_lines, 1);
    let changed: diff::Request = serde_json::from_value(json!({"session": PERSON.0})).unwrap();
    assert_eq!(diff::diff(&context, &changed).unwrap().too_long_lines, 1);
    let pattern = grep::Request { pattern: PERSON.1.to_owned(), ..grep::Request::default() };
    assert_eq!(grep::grep(&context, &pattern).unwrap().too_long_lines, 1);
    let what = blame::Request { what: "nothing.rs".to_owned(), limit: None };
    let notes = blame::blame(&context, &what).unwrap().notes;
    assert_eq!(notes, ["1 line was too long to be read in the sessions that were looked through"]);
}
