//! Recordings of real sessions, taken up by the rules alone on a clock of their own.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::{Activity, Evidence, SessionId};
use monitor::hooks::HookReader;
use monitor::{ProcessState, RecordedInput, RegistryRecords, RegistryUpdate, Timers, Tracker, replay};
use testkit::recording::{ChangeKind, Seen};
use transcript::record::parse;
use transcript::{ConfigFolder, FileRole, Reader, RegisteredProcess, RegistryStatus, SubagentMeta};

/// How much time passes after the last record.
pub(crate) const AFTER: SignedDuration = SignedDuration::from_secs(20);

/// The states of each session of a recording, in one row, as `state E tool (detail)`; as a live listener hears it, what
/// is the same as before is not reported again.
pub(crate) fn states(seen: &[Seen]) -> Vec<String> {
    let until = seen.last().map_or(Timestamp::UNIX_EPOCH, |last| last.at + AFTER);
    let mut reported: Vec<(Timestamp, Activity)> = Vec::new();
    for (id, written) in of_sessions(seen) {
        let mut tracker = Tracker::new(id, Timers::default());
        reported.extend(replay(&mut tracker, &written, until));
    }
    reported.sort_by_key(|(at, _)| *at);
    let mut words: Vec<String> = reported.iter().map(|(_, activity)| word(activity)).collect();
    words.dedup();
    words
}

/// A state in the words of these tests.
pub(crate) fn word(activity: &Activity) -> String {
    let evidence = match activity.evidence {
        Evidence::Protocol => 'P',
        Evidence::Registry => 'R',
        Evidence::Hook => 'H',
        Evidence::Transcript => 'X',
        Evidence::Timer => 'T',
    };
    let what = match (&activity.tool, &activity.detail) {
        (Some(tool), _) => format!(" {tool}"),
        (None, Some(detail)) => format!(" ({detail})"),
        (None, None) => String::new(),
    };
    format!("{} {evidence}{what}", activity.state.as_str())
}

/// Whether these states are those of a table: those in brackets may be too short to be seen.
pub(crate) fn are_as_reported(states: &[String], expected: &[String]) -> bool {
    let Some((first, rest)) = expected.split_first() else { return states.is_empty() };
    let may_be_missed = first.strip_prefix('[').and_then(|state| state.strip_suffix(']'));
    let is_next = states.first().is_some_and(|state| state == may_be_missed.unwrap_or(first));
    is_next && are_as_reported(&states[1..], rest) || may_be_missed.is_some() && are_as_reported(states, rest)
}

/// The sessions of a recording, each with what was written to its files and what its registry said of it.
pub(crate) type Sessions = Vec<(SessionId, Vec<(Timestamp, RecordedInput)>)>;

/// The one that was first is first: it is left before another one is begun.
pub(crate) fn of_sessions(seen: &[Seen]) -> Sessions {
    let folder = ConfigFolder::new("/recorded");
    let mut sessions = Sessions::new();
    let mut metas: HashMap<PathBuf, SubagentMeta> = HashMap::new();
    let mut records = RegistryRecords::default();
    for Seen { at, file, what } in seen {
        let mut add = |session: SessionId, written: RecordedInput| match sessions
            .iter_mut()
            .find(|(known, _)| *known == session)
        {
            Some((_, all)) => all.push((*at, written)),
            None => sessions.push((session, vec![(*at, written)])),
        };
        if file.starts_with("sessions") {
            for (session, process) in of_registry(&mut records, file, what, *at) {
                add(session, RecordedInput::Process(process));
            }
            continue;
        }
        if let (Some(agent), ChangeKind::Content(meta)) =
            (file.to_string_lossy().strip_suffix(".meta.json"), what)
        {
            metas.insert(format!("{agent}.jsonl").into(), meta_of(meta));
        }
        let ChangeKind::Added(lines) = what else { continue };
        let lines = lines.clone().into_bytes();
        match folder.role(&folder.root().join(file)) {
            Some(FileRole::Session(id)) => add(id, RecordedInput::Transcript(lines)),
            Some(FileRole::Subagent { session, agent }) => {
                let meta = metas.get(file).cloned().unwrap_or_default();
                add(session, RecordedInput::Subagent { agent, meta, lines });
            }
            Some(FileRole::FlatSubagent { agent }) => {
                let first = lines.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let named = parse(first).ok().and_then(|record| record.session()?.parse().ok());
                let Some(session) = named else { continue };
                add(session, RecordedInput::Subagent { agent, meta: SubagentMeta::default(), lines });
            }
            None => {}
        }
    }
    sessions
}

fn of_registry(
    records: &mut RegistryRecords,
    file: &Path,
    what: &ChangeKind,
    at: Timestamp,
) -> Vec<RegistryUpdate> {
    let mut reported = Vec::new();
    match what {
        ChangeKind::Content(content) => {
            let standing = RegisteredProcess::parse_record(content.as_bytes())
                .map_or(RegistryStatus::Unreadable, RegistryStatus::Alive);
            records.observe(file, standing, at, &mut reported);
        }
        ChangeKind::Gone => records.forget(file, at, &mut reported),
        ChangeKind::Killed => {
            let pid = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            records.mark_dead(|live| live.pid.to_string() != pid, at, &mut reported);
        }
        ChangeKind::Added(_) => {}
    }
    reported.retain(|(_, process)| *process != ProcessState::Unknown);
    reported
}

fn meta_of(content: &str) -> SubagentMeta {
    let fields: serde_json::Value = serde_json::from_str(content).unwrap();
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    SubagentMeta {
        agent_type: text("agentType"),
        description: text("description"),
        tool_use: text("toolUseId"),
    }
}

/// The recording of a release that is kept.
pub(crate) fn kept(release: &str) -> Vec<Seen> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let text = system::read_small(&data.join(format!("{release}.jsonl")), 1 << 20).unwrap();
    testkit::recording::read(&String::from_utf8(text).unwrap())
}

#[track_caller]
fn check(release: &str, expected: &[&str]) {
    assert_eq!(states(&kept(release)), expected, "{release}");
}

/// A transcript of a release whose lines go in at the times that they bear: each state in one word with its evidence,
/// what a tool is and what is waited for beside it.
#[track_caller]
fn check_transcript(name: &str, expected: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/transcripts/{name}.jsonl"));
    let mut written: Vec<(Timestamp, RecordedInput)> = Vec::new();
    let mut lines = Reader::open(&path).unwrap();
    while let Some(line) = lines.next_line().unwrap() {
        let before = written.last().map(|(at, _)| *at);
        let made = line.record().unwrap().timestamp();
        // A line without a time is written with the one before it.
        let at = made.max(before).unwrap_or(Timestamp::MIN);
        written.push((at, RecordedInput::Transcript([line.bytes, b"\n"].concat())));
    }
    let until = written.last().unwrap().0 + AFTER;
    let mut tracker = Tracker::new("s1".parse().unwrap(), Timers::default());
    let reported = replay(&mut tracker, &written, until);
    let words: Vec<String> = reported.iter().map(|(_, activity)| word(activity)).collect();
    assert_eq!(words.join(", "), expected, "{name}");
}

#[test]
fn transcripts_of_print_mode() {
    let slow = "thinking X, responding X, tool_use X Bash, tool_use X Bash, thinking X";
    check_transcript("1.0.60-slow", &format!("{slow}, waiting_input X"));
    // The last message has no stop reason there.
    check_transcript("2.0.77-slow", &format!("{slow}, responding X, waiting_input T"));
    check_transcript("2.1.100-slow", &format!("{slow}, waiting_input X"));
    // One tool after the other.
    let slow =
        "thinking X, responding X, tool_use X Bash, thinking X, tool_use X Bash, thinking X, waiting_input X";
    check_transcript("2.1.197-slow", slow);
    let denied = "thinking X, responding X, tool_use X Bash, thinking X, waiting_input X";
    check_transcript("1.0.60-tools", denied);
    // Two at once: what the first one called does not wait.
    let two = "thinking X, tool_use X Agent, tool_use X Agent, thinking X, waiting_input X";
    check_transcript("2.0.77-subs", two);
    check_transcript("2.1.100-subs", two);
    // The API was overloaded at first: that it was asked again is recorded nowhere.
    let retried = "thinking X, waiting_input X";
    check_transcript("1.0.60-err", retried);
    check_transcript("2.1.197-err", retried);
}

#[test]
fn transcripts_of_a_terminal_in_which_a_permission_was_denied() {
    let turn = "thinking X, waiting_input X, thinking X, responding X, tool_use X Bash";
    // Without a status in the registry the seven seconds were over just before the answer came.
    check_transcript(
        "2.1.100-tui",
        &format!("{turn}, waiting_permission T Bash, thinking X, waiting_input X"),
    );
    check_transcript("2.1.197-tui", &format!("{turn}, thinking X, waiting_input X"));
}

#[test]
fn recorded_hooks_of_2_1_329() {
    let folder = tempfile::tempdir().unwrap();
    let reported = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/hooks-2.1.329.jsonl");
    std::fs::copy(reported, monitor::hooks::events_file(folder.path())).unwrap();
    let reported = HookReader::new(folder.path().to_owned()).read();
    let states = |name: &str| {
        let of_session = reported.iter().filter(|hook| hook.session.as_str().starts_with(name));
        let written: Vec<_> = of_session.map(|hook| (hook.at, RecordedInput::Hook(hook.clone()))).collect();
        let until = written.last().unwrap().0 + AFTER;
        let mut tracker = Tracker::new(name.parse().unwrap(), Timers::default());
        let mut words: Vec<String> =
            replay(&mut tracker, &written, until).iter().map(|(_, activity)| word(activity)).collect();
        words.dedup();
        words.join(", ")
    };
    let expected = [
        "waiting_input H, thinking H, waiting_input H",
        "thinking H, waiting_permission H Bash, thinking H, waiting_input H",
        "thinking H, waiting_input H AskUserQuestion, thinking H, waiting_input H",
        // Esc and a tool that failed: no hook tells, the transcript would.
        "thinking H, waiting_permission H Bash, waiting_input H",
        // A sub-agent in the background; its own tools say nothing of the turn, which is over.
        "thinking H, tool_use H Agent, thinking H, waiting_input H",
        "thinking H, waiting_permission H Bash, ended H",
    ];
    assert_eq!(states("7dd91b96"), expected.join(", "));
    assert_eq!(states("ef3129ba"), "waiting_input H, ended H");
}

#[test]
fn a_recording_of_1_0_60() {
    // The second of two runs in print mode; its prompt and its call were written together.
    check("1.0.60", &["thinking X", "waiting_input X", "tool_use X Bash", "thinking X", "waiting_input X"]);
}

#[test]
fn a_recording_of_2_0_77() {
    check(
        "2.0.77",
        &[
            "thinking X",
            "responding X",
            "waiting_input X",
            "thinking X",
            "tool_use X Bash",
            "thinking X",
            "waiting_input X",
            "thinking X",
            "tool_use X Bash",
            "waiting_permission T Bash",
            "thinking X",
            "waiting_input X",
            "thinking X",
            "responding X",
            "waiting_input X",
        ],
    );
}

#[test]
fn a_recording_of_2_1_197() {
    // The machine was busy: records come seconds after what they tell.
    check(
        "2.1.197",
        &[
            "waiting_input R",
            "thinking R",
            "waiting_input R",
            "thinking R",
            "tool_use R Bash",
            "responding R",
            "waiting_input R",
            "waiting_permission R",
            "waiting_permission R Bash",
            "tool_use R Bash",
            "responding R",
            "waiting_input R",
            "thinking R",
            "waiting_input R",
            "ended R",
        ],
    );
}

#[test]
fn a_recording_of_2_1_329() {
    check(
        "2.1.329",
        &[
            "waiting_input R",
            "thinking R",
            "waiting_input R",
            "thinking R",
            "tool_use R Bash",
            "waiting_input R",
            "thinking R",
            "waiting_permission R",
            "waiting_permission R Bash",
            "tool_use R Bash",
            "thinking R",
            "waiting_input R",
            "thinking R",
            "waiting_input R",
            // `/branch`: the copy is seen before the session is left for it.
            "thinking R",
            "waiting_input X",
            "ended R",
            "thinking R",
            "waiting_input R",
            "thinking R",
            "waiting_input R",
            "ended R",
        ],
    );
}
