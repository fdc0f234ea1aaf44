//! Hostile content, each with its expected outcome: what is read, and why the rest is passed over.

use std::fs;

use model::Usage;
use transcript::{Reader, Summary, UsageCollector};

const PROMPT: &str = r#"{"type":"user","uuid":"u1","message":{"role":"user","content":"Hello"}}"#;
const CUT: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"und"#;

fn read(content: &[u8]) -> (Summary, UsageCollector, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, content).unwrap();
    let mut reader = Reader::open(&path).unwrap();
    let (mut summary, mut spent) = (Summary::new(&"a".parse().unwrap()), UsageCollector::default());
    while let Some(line) = reader.next_line().unwrap() {
        summary.observe(line, &mut spent);
    }
    (summary, spent, reader.unfinished().len())
}

/// All figures that are not 0, in words.
fn outcome(content: &[u8]) -> String {
    let (summary, _, unfinished) = read(content);
    let passed = summary.skipped;
    let figures = [
        (summary.lines, "lines"),
        (summary.visible_messages, "messages"),
        (summary.mended, "mended"),
        (summary.unknown, "unknown"),
        (passed.blank, "blank"),
        (passed.nul, "nul"),
        (passed.not_utf8, "not utf-8"),
        (passed.not_json, "not json"),
        (unfinished as u64, "bytes unfinished"),
    ];
    let there = figures.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

#[track_caller]
fn check(content: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(outcome(content.as_ref()), expected);
}

#[test]
fn files_with_nothing_in_them() {
    check("", "");
    check("\n", "1 lines, 1 blank");
    check("\n  \n\t\r\n", "3 lines, 3 blank");
    check("\u{feff}\n", "1 lines, 1 blank");
    check("{}", "1 lines, 1 unknown");
    check("{", "1 bytes unfinished");
}

#[test]
fn files_that_end_badly() {
    let torn_letter = [CUT.as_bytes(), "ü".as_bytes().split_at(1).0].concat();
    check(PROMPT, "1 lines, 1 messages");
    check(format!("{PROMPT}\n{PROMPT}"), "2 lines, 2 messages");
    check(format!("{PROMPT}\n{CUT}"), "1 lines, 1 messages, 68 bytes unfinished");
    check(
        [format!("{PROMPT}\n").as_bytes(), &torn_letter].concat(),
        "1 lines, 1 messages, 69 bytes unfinished",
    );
    check(
        [format!("{PROMPT}\n").as_bytes(), &[0; 4096]].concat(),
        "1 lines, 1 messages, 4096 bytes unfinished",
    );
    // The client went on writing behind what the crash left.
    check(format!("{PROMPT}\n{CUT}{PROMPT}\n"), "2 lines, 2 messages, 1 not json");
    check(format!("{PROMPT}\n{}{PROMPT}\n", "\0".repeat(4096)), "2 lines, 2 messages");
    check(
        [format!("{PROMPT}\n").as_bytes(), &torn_letter, b"\n", PROMPT.as_bytes(), b"\n"].concat(),
        "3 lines, 2 messages, 1 not json",
    );
}

#[test]
fn text_from_other_systems() {
    check(format!("\u{feff}{PROMPT}\r\n{PROMPT}\r\n"), "2 lines, 2 messages");
    check(format!("\u{feff}{PROMPT}\n\u{feff}{PROMPT}\n"), "2 lines, 2 messages, 1 not json");
    check(format!("{PROMPT}\r{PROMPT}\n"), "1 lines, 2 messages");
    check(
        [b"{\"type\":\"user\",\"x\":\"\xff\xfe\"}\n", PROMPT.as_bytes()].concat(),
        "2 lines, 1 messages, 1 mended",
    );
    // UTF-16, as an editor may have saved it.
    let wide: Vec<u8> = format!("{PROMPT}\n").encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(wide, "1 lines, 1 nul, 1 bytes unfinished");
}

#[test]
fn lines_with_several_records() {
    let padding = "\0".repeat(9000);
    check(format!("{PROMPT}{PROMPT}{PROMPT}\n{PROMPT}\n"), "2 lines, 4 messages");
    check(format!("{PROMPT}{PROMPT}"), "1 lines, 2 messages");
    check(format!("{PROMPT}{padding}\n{PROMPT}\n"), "2 lines, 2 messages");
    check(format!("{PROMPT}{padding}{PROMPT}\n"), "1 lines, 2 messages");
    check(format!("{PROMPT}{padding}"), "1 lines, 1 messages");
    check(format!("{PROMPT}{CUT}{PROMPT}\n"), "1 lines, 2 messages, 1 not json");
    check(format!("{CUT}{CUT}{PROMPT}{PROMPT}\n"), "1 lines, 2 messages, 1 not json");
    check(format!("{PROMPT}{CUT}\n"), "1 lines, 1 messages, 1 not json");
    check(
        [PROMPT.as_bytes(), b"\xff\xfe", PROMPT.as_bytes(), b"\n"].concat(),
        "1 lines, 2 messages, 1 mended, 1 not utf-8",
    );
    check(
        [b"{\"type\":\"user\",\"x\":\"\xff\xfe\"}", PROMPT.as_bytes(), b"\n"].concat(),
        "1 lines, 1 messages, 1 mended",
    );
}

#[test]
fn lines_that_are_not_records() {
    check("null\n12\n\"user\"\n[]\n[{\"type\":\"user\"}]\n<html>\n", "6 lines, 6 not json");
    check("{\"type\":\"user\"}{\"type\":\"user\"}\n", "1 lines");
    check("{\"type\":\"user\"} and more\n", "1 lines, 1 not json");
    check("{\"type\":\"user\",}\n{type:\"user\"}\n{'type':'user'}\n", "3 lines, 3 not json");
}

#[test]
fn records_of_no_known_type() {
    check("{}\n{\"silly\":\"this\"}\n{\"type\":\"of-tomorrow\",\"uuid\":\"u\"}\n", "3 lines, 3 unknown");
    check(
        "{\"type\":null}\n{\"type\":7}\n{\"type\":[\"user\"]}\n{\"type\":{\"type\":\"user\"}}\n",
        "4 lines, 4 unknown",
    );
    check("{\"type\":\"User\"}\n{\"TYPE\":\"user\"}\n", "2 lines, 2 unknown");
}

#[test]
fn fields_of_the_wrong_type() {
    for message in ["null", "7", "\"text\"", "[]", "{}", "{\"content\":7}", "{\"content\":[null,7,[],{}]}"] {
        check(format!("{{\"type\":\"user\",\"message\":{message}}}\n"), "1 lines");
        check(format!("{{\"type\":\"assistant\",\"message\":{message}}}\n"), "1 lines");
    }
    check(
        "{\"type\":\"user\",\"uuid\":[],\"timestamp\":{},\"cwd\":7,\"sessionId\":true,\"message\":{\"content\":\"Hi\"}}\n",
        "1 lines, 1 messages",
    );
}

#[test]
fn brackets_without_end() {
    let millions = 5_000_000;
    check("[".repeat(millions) + "\n", "1 lines, 1 not json");
    check("{\"a\":".repeat(millions / 5) + "\n", "1 lines, 1 not json");
    let bomb = "[".repeat(millions) + &"]".repeat(millions);
    check(format!("{{\"type\":\"user\",\"message\":{{\"content\":{bomb}}}}}\n"), "1 lines");
    check(
        format!("{{\"type\":\"user\",\"later\":{bomb},\"message\":{{\"content\":\"Hello\"}}}}\n"),
        "1 lines, 1 messages",
    );
}

#[track_caller]
fn check_prompt(record: &str, expected: &str) {
    let (summary, ..) = read(format!("{record}\n").as_bytes());
    assert_eq!(summary.first_prompt.as_deref(), Some(expected));
}

#[test]
fn invalid_unicode_is_replaced() {
    check_prompt(r#"{"type":"user","message":{"content":"cut \ud83d here"}}"#, "cut \u{fffd} here");
    check_prompt(r#"{"type":"user","message":{"content":"\ude80\ud83d"}}"#, "\u{fffd}\u{fffd}");
    check_prompt(r#"{"type":"user","\ud83d":1,"message":{"\ud83d":1,"content":"Hi"}}"#, "Hi");
    check_prompt("{\"type\":\"user\",\"message\":{\"content\":\"a\ttab\"}}", "a tab");
}

#[test]
fn the_last_duplicate_key_wins() {
    check_prompt(r#"{"type":"system","type":"user","message":{"content":"a","content":"b"}}"#, "b");
    check_prompt(r#"{"type":"user","message":{"content":"a"},"message":{"content":"b"}}"#, "b");
}

#[track_caller]
fn check_input_tokens(counter: &str, expected: u64) {
    let line = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m\",\"model\":\"claude-x\",\
         \"usage\":{{\"input_tokens\":{counter},\"output_tokens\":2}}}}}}\n"
    );
    let (_, spent, _) = read(line.as_bytes());
    let usage: Vec<_> = spent.messages().iter().map(|message| message.usage).collect();
    assert_eq!(usage, [Usage { input: expected, output: 2, ..Usage::default() }], "{counter}");
}

#[test]
fn invalid_counters_are_ignored() {
    check_input_tokens("7", 7);
    check_input_tokens("1.0", 1);
    check_input_tokens("\"12\"", 12);
    check_input_tokens("-1", 0);
    check_input_tokens("1e400", 0);
    check_input_tokens("-1e400", 0);
    check_input_tokens("null", 0);
    check_input_tokens("{\"tokens\":7}", 0);
    check_input_tokens("99999999999999999999999999", u64::MAX);
}

#[test]
fn counters_near_the_end_of_numbers_are_added_up_without_a_panic() {
    let line = |id: u64| {
        format!(
            "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{id}\",\"model\":\"claude-x\",\"usage\":\
             {{\"input_tokens\":{0},\"output_tokens\":{0},\"cache_creation_input_tokens\":{0},\"cache_read_input_tokens\":{0}}}}}}}\n",
            u64::MAX
        )
    };
    let (summary, spent, _) = read((line(1) + &line(2)).as_bytes());
    assert_eq!(summary.context_tokens, u64::MAX);
    let total = spent.messages().iter().fold(Usage::default(), |sum, message| sum + message.usage);
    assert_eq!(total.total(), u64::MAX);
}

#[test]
fn files_that_were_written_to_lately() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("aaaa.jsonl");
    let call = |hour: &str, tool: &str, path: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{hour}{tool}","timestamp":"2026-11-20T{hour}:00:00Z","cwd":"/p/shop","message":{{"role":"assistant","content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{{"file_path":"{path}"}}}}]}}}}"#
        )
    };
    let lines = [
        call("09", "Edit", "/p/shop/old.rs"),
        call("11", "Read", "/p/shop/read.rs"),
        call("11", "Write", "src/new.rs"),
        "torn {".to_owned(),
        call("12", "Edit", "/else/where.rs"),
    ];
    fs::write(&file, lines.join("\n") + "\n").unwrap();
    let since = "2026-11-20T10:00:00Z".parse().unwrap();
    let found = transcript::files_written(&file, since).unwrap();
    let paths: Vec<_> = found.keys().map(|path| path.display().to_string()).collect();
    assert_eq!(paths, ["/else/where.rs", "/p/shop/src/new.rs"]);
    assert!(transcript::files_written(&scratch.path().join("gone"), since).is_err());
}

#[test]
fn every_new_running_total_is_kept() {
    let total = |tokens: u32| {
        format!(
            r#"{{"type":"cost-state","totalCostUSD":1,"modelUsage":{{"m":{{"outputTokens":{tokens}}}}}}}"#
        )
    };
    let prompt = |minute: u32| {
        format!(
            r#"{{"type":"user","uuid":"u{minute}","timestamp":"2026-11-20T09:{minute:02}:00Z","message":{{"content":"x"}}}}"#
        )
    };
    let lines = [prompt(1), total(5), total(5), prompt(2), total(8), prompt(3), total(9)];
    let (summary, ..) = read((lines.join("\n") + "\n").as_bytes());
    let described = |total: &model::CostState| {
        (total.at.map(|at| at.to_string()), total.models.iter().map(|(_, usage)| usage.output).sum())
    };
    let at = |minute: u32| Some(format!("2026-11-20T09:{minute:02}:00Z"));
    let earlier: Vec<(_, u64)> = summary.earlier_totals.iter().map(described).collect();
    assert_eq!(earlier, [(at(1), 5), (at(2), 8)]);
    assert_eq!(summary.cost_state.as_ref().map(described), Some((at(3), 9)));
    let many: String = (0..1000).map(|tokens| total(tokens) + "\n").collect();
    assert_eq!(read(many.as_bytes()).0.earlier_totals.len(), 32);
}

#[test]
fn prompts_are_summarized() {
    let prompts = |texts: &[&str]| {
        let prompt = |text: &&str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n");
        let (summary, ..) = read(texts.iter().map(prompt).collect::<String>().as_bytes());
        (summary.first_prompt.unwrap_or_default(), summary.last_prompt.unwrap_or_default())
    };
    let last = |texts: &[&str]| prompts(texts).1;
    let command = |name: &str| format!("<command-name>{name}</command-name>");
    assert_eq!(last(&["Fix it", &command("/exit")]), "Fix it");
    assert_eq!(last(&["Fix it", &command("/compact"), &command("/clear")]), "Fix it");
    assert_eq!(last(&["Fix it", &command("/ship")]), "/ship");
    assert_eq!(last(&[&command("/clear"), &command("/model")]), "/model");
    assert_eq!(last(&[&command("/clear"), "Fix it"]), "Fix it");
    for (length, kept) in [(199, 199), (200, 200), (201, 200), (1000, 200)] {
        let (first, last) = prompts(&[&"é".repeat(length)]);
        assert_eq!((first.chars().count(), last.chars().count()), (kept, kept));
        assert_eq!(first.ends_with('…'), length > 200);
    }
}

#[test]
fn file_snapshots_give_the_time_if_nothing_else_does() {
    let note = |minute: u32| {
        format!(
            "{{\"type\":\"file-history-snapshot\",\"snapshot\":{{\"timestamp\":\"2026-11-20T09:{minute:02}:00Z\"}}}}\n"
        )
    };
    let times = |content: &str| {
        let (summary, ..) = read(content.as_bytes());
        [summary.first_at, summary.last_at].map(|at| at.map(|at| at.to_string()).unwrap_or_default())
    };
    assert_eq!(times(&(note(1) + &note(5))), ["2026-11-20T09:01:00Z", "2026-11-20T09:05:00Z"]);
    let prompt = "{\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-11-20T09:03:00Z\"}\n";
    assert_eq!(times(&(note(1) + prompt + &note(5))), ["2026-11-20T09:03:00Z"; 2]);
}
