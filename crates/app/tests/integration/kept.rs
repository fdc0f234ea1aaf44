//! What is kept of sessions: a part of one is never put back for the whole, and no secret is kept where none is wanted.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use app::kept::{archive as kept, deadline, restore};
use app::sessions::list::{self, list};
use app::{Caller, Kind, NextStep};

use crate::scene::{MAIN, OPS, PERSON, Scene, secret};

#[test]
fn a_session_that_was_deleted_while_it_was_copied_is_said_to_be_a_part() {
    let scene = Scene::new();
    let context = scene.context(Caller::Person, PERSON.1);
    let transcript = scene.transcript(PERSON);
    let line = serde_json::json!({"type": "user", "sessionId": PERSON.0, "filler": "word ".repeat(200)});
    let content = fs::read_to_string(&transcript).unwrap() + &format!("{line}\n").repeat(1000);
    fs::write(&transcript, &content).unwrap();
    let steps = AtomicU64::new(0);
    let rules = archive::Rules { threads: 1, ..archive::Rules::default() };
    let folders = [transcript::ConfigFolder::new(scene.home().config_dir())];
    let copies = scene.home().state_dir().join("archive");
    archive::pass(&copies, &folders, &rules, &|| steps.fetch_add(1, Ordering::Relaxed) < 6).unwrap();
    let waiting = kept::archive(&context, &kept::Request { check: true, status: true, ..Default::default() });
    assert!(waiting.unwrap().incomplete.iter().any(|file| !file.is_gone));
    fs::remove_file(&transcript).unwrap();

    let checked = kept::archive(&context, &kept::Request { check: true, ..Default::default() }).unwrap();
    let [part] = checked.incomplete.as_slice() else { panic!("{checked:?}") };
    assert_eq!((part.whole_bytes, part.is_gone), (content.len() as u64, true));
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
    let restored = fs::read_to_string(&transcript).unwrap();
    assert!(content.starts_with(&restored) && restored.ends_with('\n'), "only whole lines");
}

#[test]
fn no_secret_is_kept_where_none_is_wanted() {
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
    let text = fs::read_to_string(scene.transcript(MAIN)).unwrap();
    assert!(text.contains("[redacted:") && !text.contains(&secret()), "{text}");
    // It holds for later copies too, until that is taken back.
    scene.add_session(OPS.0, OPS.1, &format!("another key is {}", secret()));
    let again = kept::archive(&context, &all(None)).unwrap();
    assert_eq!(again.redacted_files, again.files + again.versions);
    let back = kept::archive(&context, &all(Some(false))).unwrap();
    assert_eq!((back.no_secrets, back.redacted_files), (false, back.versions));
}

#[test]
fn what_the_next_start_deletes_is_said_once_a_day() {
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
