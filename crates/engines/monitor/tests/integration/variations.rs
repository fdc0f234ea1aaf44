//! Recordings as nobody made them: torn at other places, looked at more often, heard in another order, by releases to
//! come, with what lacks or means nothing. No variation makes a session that asks for something look done.

use jiff::{SignedDuration, Timestamp};
use model::{Activity, SessionId};
use monitor::{LiveProcess, ProcessState, RecordedInput, Timers, Tracker, replay};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use transcript::LiveStatus;

use crate::recordings::{AFTER, kept, of_sessions};

const RELEASES: [&str; 4] = ["1.0.60", "2.0.77", "2.1.197", "2.1.329"];
/// Two events that are reported so soon one after the other may be heard the other way round.
const NEAR: SignedDuration = SignedDuration::from_millis(50);

/// One session's files and registry record, and when each was seen.
type Course = Vec<(Timestamp, RecordedInput)>;

/// A variation that does not change what the session does in the end.
#[derive(Debug, Clone)]
enum Harmless {
    /// A single write is seen in two parts.
    Torn(Index, Index),
    /// The registry's record is looked at once more, a while later.
    LookedAt(Index),
    /// The registry is heard before the transcript, or after it, that was written at the same time.
    Overtaken(Index),
    /// A record of an unknown type is in between.
    Unknown(Index, &'static str),
    /// Every record has a field that nobody knows.
    Field,
}

/// A variation that may change anything but must not be misunderstood.
#[derive(Debug, Clone)]
enum Harm {
    /// A record lacks one of its fields.
    Lacks(Index, Index, Index),
    /// One of its fields means something else.
    Other(Index, Index, Index, &'static str),
    /// A record is not there, or not whole.
    Cut(Index, Index),
    /// A release with another number wrote it.
    Release(&'static str),
    /// The reason for waiting has a new name in the registry.
    Renamed(&'static str),
}

fn harmless() -> impl Strategy<Value = Harmless> {
    let unknown = select(vec!["new-thing", "thinking", "", "agent-listing-v2"]);
    prop_oneof![
        4 => (any::<Index>(), any::<Index>()).prop_map(|(at, cut)| Harmless::Torn(at, cut)),
        2 => any::<Index>().prop_map(Harmless::LookedAt),
        3 => any::<Index>().prop_map(Harmless::Overtaken),
        2 => (any::<Index>(), unknown).prop_map(|(at, kind)| Harmless::Unknown(at, kind)),
        1 => Just(Harmless::Field),
    ]
}

fn harm() -> impl Strategy<Value = Harm> {
    let index = any::<Index>;
    let values = select(vec!["null", "[]", "{}", "17", "true", "\"\"", "\"x\"", "[[[]]]", "-1e400"]);
    let releases = select(vec![
        "9.9.9",
        "3.0",
        "2.1.400-beta.1",
        "v4.2.0+build",
        "",
        "next",
        "2.1.99999999999999999999",
    ]);
    prop_oneof![
        3 => (index(), index(), index()).prop_map(|(at, line, field)| Harm::Lacks(at, line, field)),
        3 => (index(), index(), index(), values).prop_map(|(at, line, field, value)| Harm::Other(at, line, field, value)),
        2 => (index(), index()).prop_map(|(at, cut)| Harm::Cut(at, cut)),
        1 => releases.prop_map(Harm::Release),
        1 => select(vec!["plan approval", "consent", "…"]).prop_map(Harm::Renamed),
    ]
}

fn course(release: &str, session: Index) -> (SessionId, Course) {
    let sessions = of_sessions(&kept(release));
    session.get(&sessions).clone()
}

/// The text that was written to a transcript at one moment, changed.
fn written(course: &mut Course, at: Index, change: impl FnOnce(&mut Vec<u8>)) {
    let mut lines: Vec<&mut Vec<u8>> = course
        .iter_mut()
        .filter_map(|(_, written)| match written {
            RecordedInput::Transcript(lines) | RecordedInput::Subagent { lines, .. } => Some(lines),
            RecordedInput::Process(_) | RecordedInput::Hook(_) => None,
        })
        .collect();
    if !lines.is_empty() {
        let at = at.index(lines.len());
        change(lines[at]);
    }
}

/// One field of one record, changed.
fn field(lines: &mut Vec<u8>, line: Index, at: Index, change: impl Fn(&mut Map<String, Value>, &str)) {
    let mut records: Vec<Value> = each(lines).filter_map(|line| serde_json::from_slice(line).ok()).collect();
    if records.is_empty() {
        return;
    }
    let number = line.index(records.len());
    let mut places: Vec<(&'static str, String)> = Vec::new();
    for place in ["", "/message", "/message/content/0"] {
        let fields = records[number].pointer(place).and_then(Value::as_object);
        places.extend(fields.into_iter().flatten().map(|(name, _)| (place, name.clone())));
    }
    if places.is_empty() {
        return;
    }
    let (place, name) = at.get(&places);
    if let Some(fields) = records[number].pointer_mut(place).and_then(Value::as_object_mut) {
        change(fields, name);
    }
    *lines = records.iter().flat_map(|record| format!("{record}\n").into_bytes()).collect();
}

fn each(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn in_every_record(course: &mut Course, change: impl Fn(&mut Map<String, Value>)) {
    for (_, written) in course {
        if let RecordedInput::Transcript(lines) | RecordedInput::Subagent { lines, .. } = written {
            let records = each(lines).map(|line| {
                let Ok(mut record) = serde_json::from_slice::<Value>(line) else {
                    return [line, b"\n"].concat();
                };
                record.as_object_mut().map(&change);
                format!("{record}\n").into_bytes()
            });
            *lines = records.collect::<Vec<_>>().concat();
        }
    }
}

fn vary(course: &mut Course, change: &Harmless) {
    match change {
        Harmless::Torn(at, cut) => {
            let at = at.index(course.len());
            let (when, RecordedInput::Transcript(lines)) = &mut course[at] else { return };
            let whole: Vec<usize> =
                lines.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
            let rest = lines.split_off(*cut.get(&whole));
            let when = *when;
            if !rest.is_empty() {
                course.insert(at + 1, (when, RecordedInput::Transcript(rest)));
            }
        }
        Harmless::LookedAt(at) => {
            let at = at.index(course.len());
            let (when, RecordedInput::Process(process)) = &course[at] else { return };
            let later = course
                .get(at + 1)
                .map_or(*when + AFTER / 2, |(next, _)| *when + next.duration_since(*when) / 2);
            let again = (later, RecordedInput::Process(process.clone()));
            course.insert(at + 1, again);
        }
        Harmless::Overtaken(at) => {
            let at = at.index(course.len());
            if at + 1 == course.len() {
                return;
            }
            let (one, other) = (&course[at], &course[at + 1]);
            let is_one_file = matches!(
                (&one.1, &other.1),
                (RecordedInput::Process(_), RecordedInput::Process(_))
                    | (RecordedInput::Transcript(_), RecordedInput::Transcript(_))
            );
            // Who is left is read to the end first.
            let leaves = |written: &RecordedInput| {
                matches!(
                    written,
                    RecordedInput::Process(ProcessState::Ended { .. } | ProcessState::Lost { .. })
                )
            };
            if is_one_file || leaves(&one.1) || leaves(&other.1) || other.0.duration_since(one.0) > NEAR {
                return;
            }
            let (first, second) = (one.0, other.0);
            course.swap(at, at + 1);
            (course[at].0, course[at + 1].0) = (first, second);
        }
        Harmless::Unknown(at, kind) => written(course, *at, |lines| {
            let record =
                json!({"type": kind, "uuid": "odd", "content": {"deep": [1, null]}, "status": "done"});
            lines.extend(format!("{record}\n").into_bytes());
        }),
        Harmless::Field => in_every_record(course, |fields| {
            fields.insert("state".to_owned(), json!({"isOver": true, "waiting": null}));
        }),
    }
}

fn spoil(course: &mut Course, harm: &Harm) {
    match harm {
        Harm::Lacks(at, line, which) => written(course, *at, |lines| {
            field(lines, *line, *which, |fields, name| drop(fields.remove(name)));
        }),
        Harm::Other(at, line, which, value) => written(course, *at, |lines| {
            // What is no JSON for a strict parser is put in by hand.
            field(lines, *line, *which, |fields, name| {
                drop(fields.insert(name.to_owned(), json!("@other@")));
            });
            let text = String::from_utf8_lossy(lines).replace("\"@other@\"", value);
            *lines = text.into_bytes();
        }),
        Harm::Cut(at, cut) => written(course, *at, |lines| lines.truncate(cut.index(lines.len() + 1))),
        Harm::Release(number) => in_every_record(course, |fields| {
            if fields.contains_key("version") {
                fields.insert("version".to_owned(), json!(number));
            }
        }),
        Harm::Renamed(name) => {
            for (_, written) in course {
                if let RecordedInput::Process(ProcessState::Alive(LiveProcess {
                    status: Some(status), ..
                })) = written
                    && status.waiting_for.is_some()
                {
                    status.waiting_for = Some((*name).to_owned());
                }
            }
        }
    }
}

/// Plays a course; at each moment at which the registry says that something is asked, so does the session.
fn play(id: SessionId, course: &Course) -> Result<Activity, TestCaseError> {
    let mut tracker = Tracker::new(id, Timers::default());
    let mut asks = false;
    for (at, written) in course {
        replay(&mut tracker, std::slice::from_ref(&(*at, written.clone())), *at);
        if let RecordedInput::Process(process) = written {
            asks = matches!(process, ProcessState::Alive(LiveProcess { status: Some(status), .. }) if status.activity == LiveStatus::Waiting);
        }
        if asks {
            let activity = tracker.activity(*at);
            prop_assert!(activity.is_blocked(), "{activity:?} at {at}");
        }
    }
    let until = course.last().map_or(Timestamp::UNIX_EPOCH, |(at, _)| *at) + AFTER;
    replay(&mut tracker, &[], until);
    Ok(tracker.activity(until))
}

fn alike(one: &Activity, other: &Activity) -> bool {
    Activity { since: None, ..one.clone() } == Activity { since: None, ..other.clone() }
}

proptest! {
    #[test]
    fn harmless_changes_leave_the_activity_unchanged(release in select(&RELEASES[..]), session: Index, changes in vec(harmless(), 1..12)) {
        let (id, mut course) = course(release, session);
        let expected = play(id.clone(), &course)?;
        for change in &changes {
            vary(&mut course, change);
        }
        let found = play(id, &course)?;
        prop_assert!(alike(&found, &expected), "{found:?}, and not {expected:?}");
    }

    #[test]
    fn missing_records_are_not_taken_for_the_end(release in select(&RELEASES[..]), session: Index, harm in vec(harm(), 1..12), changes in vec(harmless(), 0..4)) {
        let (id, mut course) = course(release, session);
        for change in &changes {
            vary(&mut course, change);
        }
        for harm in &harm {
            spoil(&mut course, harm);
        }
        play(id, &course)?;
    }

    /// Where the registry has a status, the number says nothing.
    #[test]
    fn later_releases_are_handled(release in select(&RELEASES[2..]), session: Index, number in "[0-9a-z.+-]{0,12}") {
        let (id, mut course) = course(release, session);
        let expected = play(id.clone(), &course)?;
        in_every_record(&mut course, |fields| drop(fields.insert("version".to_owned(), json!(number))));
        let found = play(id, &course)?;
        prop_assert!(alike(&found, &expected), "{found:?}, and not {expected:?}");
    }
}
