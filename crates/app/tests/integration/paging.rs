//! A session a page at a time.

use app::sessions::page::{Answer, Request, page};
use app::sessions::show::{Request as ShowRequest, ShownMessage, show};
use app::{Caller, Context, Error, Kind};
use serde_json::json;

use crate::scene::{PERSON, Scene};

fn ask(context: &Context, change: impl FnOnce(&mut Request)) -> Result<Answer, Error> {
    let mut request = Request { session: PERSON.0[..8].to_owned(), limit: Some(1), ..Request::default() };
    change(&mut request);
    page(context, &request)
}

fn roles(answer: &Answer) -> Vec<&str> {
    answer.messages.iter().map(|message| message.message.role.as_str()).collect()
}

#[test]
fn pages_lead_to_each_other() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let last = ask(&context, |_| ()).unwrap();
    assert_eq!((roles(&last), last.is_last), (vec!["assistant"], true));
    let first = ask(&context, |request| request.before = last.older.clone()).unwrap();
    assert_eq!((roles(&first), first.older.as_ref(), first.is_last), (vec!["user"], None, false));
    let again = ask(&context, |request| request.after = Some(first.newer.clone())).unwrap();
    assert_eq!(again.messages, last.messages);
    assert_eq!(ask(&context, |request| request.after = Some(last.newer.clone())).unwrap().messages, []);
}

#[test]
fn a_cited_record_is_shown_by_its_place_or_its_id() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let last = ask(&context, |_| ()).unwrap();
    let offset = last.messages[0].offset;
    let uuid = last.messages[0].message.uuid.clone();
    for (around, around_offset) in [(uuid, None), (None, Some(offset))] {
        for limit in [1, 2] {
            let found = ask(&context, |request| {
                request.around.clone_from(&around);
                request.around_offset = around_offset;
                request.limit = Some(limit);
            });
            let found = found.unwrap();
            assert_eq!((found.messages.len(), found.messages.last()), (limit, last.messages.last()));
        }
    }
}

#[test]
fn contradictory_requests_are_refused() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let check = |change: fn(&mut Request), expected: Kind| {
        let failed = ask(&context, change).map_err(|error| error.kind);
        assert_eq!(failed, Err(expected));
    };
    check(|request| request.session = "zz".to_owned(), Kind::NotFound);
    check(|request| request.session = String::new(), Kind::Usage);
    check(|request| request.around = Some("no-such-id".to_owned()), Kind::NotFound);
    check(|request| request.before = Some("x".to_owned()), Kind::Usage);
    check(|request| request.after = Some("99999999".to_owned()), Kind::NotFound);
    check(|request| request.around_offset = Some(u64::MAX), Kind::NotFound);
    check(
        |request| {
            request.before = Some("1".to_owned());
            request.after = Some("1".to_owned());
        },
        Kind::Usage,
    );
}

#[test]
fn show_ends_with_the_last_messages_and_resolves_ids_as_page_does() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let shown = |session: &str, last: usize| {
        let request = ShowRequest { session: session.to_owned(), last: Some(last), ..ShowRequest::default() };
        let mut roles = Vec::new();
        show(&context, request)?.each(|shown| -> Result<(), Error> {
            roles.push(shown.role.as_str());
            Ok(())
        })?;
        Ok::<_, Error>(roles)
    };
    assert_eq!(shown(PERSON.0, 1).unwrap(), ["assistant"]);
    assert_eq!(shown(&PERSON.0[..8], 2000).unwrap(), ["user", "assistant"]);
    for name in ["", "zz", "1111111g"] {
        let paged = ask(&context, |request| request.session = name.to_owned()).unwrap_err();
        let error = shown(name, 1).unwrap_err();
        assert_eq!(
            (error.kind, error.message, error.next_steps),
            (paged.kind, paged.message, paged.next_steps)
        );
    }
    let request = ShowRequest {
        session: PERSON.0.to_owned(),
        last: Some(1),
        subagents: true,
        ..ShowRequest::default()
    };
    assert_eq!(show(&context, request).unwrap_err().kind, Kind::Usage);
}

#[test]
fn more_messages_than_a_page_has_are_shown_in_order() {
    let scene = Scene::new();
    for number in 0..1200 {
        let parent = if number == 0 { format!("u2-{}", PERSON.1) } else { format!("n{}", number - 1) };
        let record = json!({"uuid": format!("n{number}"), "parentUuid": parent, "sessionId": PERSON.0, "type": "user",
            "isSidechain": false, "message": {"role": "user", "content": format!("number {number}")}});
        scene.append(PERSON, &record);
    }
    let request = ShowRequest { session: PERSON.0.to_owned(), last: Some(1100), ..ShowRequest::default() };
    let mut shown = Vec::new();
    let conversation = show(&scene.context(Caller::Person, PERSON.1), request).unwrap();
    let add = |one: ShownMessage| -> Result<(), Error> {
        shown.extend(one.uuid);
        Ok(())
    };
    conversation.each(add).unwrap();
    assert_eq!(shown, (100..1200).map(|number| format!("n{number}")).collect::<Vec<_>>());
}
