//! A transcript of whatever shape costs work in proportion to its size: what is eight times as long takes about eight
//! times as much, not sixty-four. Counted is the processor's time of the whole program, which other programs do not
//! use up.

use std::fmt::Write as _;
use std::fs;

use testkit::ScratchHome;

const SMALL: usize = 4_000;
const FACTOR: usize = 8;
/// Growth that is not taken for quadratic: nothing else costs twice as much for each byte of a longer file.
const MOST: f64 = 2.0;
/// How much the time of a process varies from run to run, in seconds.
const NOISE: f64 = 0.2;
const ID: &str = "11111111-1111-4111-8111-111111111111";

/// Seconds of the processor's time that a command takes over a session of these lines, nothing read before.
fn seconds(lines: &str, arguments: &[&str]) -> f64 {
    let home = ScratchHome::new();
    let folder = home.config_dir().join("projects/-p");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{ID}.jsonl")), lines).unwrap();
    let timed = "TIMEFORMAT='%U %S'; time \"$@\" >/dev/null 2>/dev/null";
    let mut command = home.command("bash");
    let output =
        command.args(["-c", timed, "-", env!("CARGO_BIN_EXE_backstory")]).args(arguments).output().unwrap();
    let actual = String::from_utf8(output.stderr).unwrap();
    actual.split_whitespace().map(|part| part.parse::<f64>().unwrap()).sum()
}

fn check(name: &str, shape: impl Fn(usize) -> String) {
    let small: String = (0..SMALL).map(&shape).collect();
    let large: String = (0..SMALL * FACTOR).map(&shape).collect();
    check_files(name, &small, &large);
}

fn check_files(name: &str, small: &str, large: &str) {
    for arguments in [&["cost", "--json"][..], &["show", ID, "--all", "--json"]] {
        let growth = || {
            let (small, large) = (seconds(small, arguments), seconds(large, arguments));
            (large - NOISE, small, large)
        };
        // Other programs slow the processor down: what is linear shows it at the second try, what is not at none.
        let is_linear = (0..3).any(|_| {
            let (counted, small, _) = growth();
            counted <= small * FACTOR as f64 * MOST
        });
        assert!(is_linear, "{name}: {arguments:?} takes (less noise, small, large) {:?}", growth());
    }
}

fn prompt(fields: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",{fields}\"timestamp\":\"2026-11-03T10:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}

fn answer(fields: &str, at: usize, model: &str, content: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",{fields}\"requestId\":\"r{at}\",\"timestamp\":\"2026-11-03T10:00:00Z\",\"message\":{{\"id\":\"m{at}\",\"role\":\"assistant\",\"model\":\"{model}\",\"content\":[{content}],\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n"
    )
}

const MODEL: &str = "claude-opus-5-5";

#[test]
fn many_different_names() {
    check("models", |at| answer(&format!("\"uuid\":\"u{at}\","), at, &format!("model-{at}"), ""));
    check("sessions", |at| prompt(&format!("\"uuid\":\"u{at}\",\"sessionId\":\"s{at}\","), "x"));
    check("forks", |at| {
        prompt(&format!("\"uuid\":\"u{at}\",\"forkedFrom\":{{\"sessionId\":\"s{at}\"}},"), "x")
    });
    check("directories", |at| prompt(&format!("\"uuid\":\"u{at}\",\"cwd\":\"/d/{at}\","), "x"));
    check("branches", |at| prompt(&format!("\"uuid\":\"u{at}\",\"gitBranch\":\"b{at}\","), "x"));
    check("agents", |at| {
        answer(&format!("\"uuid\":\"u{at}\",\"isSidechain\":true,\"agentId\":\"g{at}\","), at, MODEL, "")
    });
}

#[test]
fn many_records_beside_the_conversation() {
    check("compactions", |at| {
        format!(
            "{{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c{at}\",\"parentUuid\":null}}\n"
        )
    });
    check("titles", |at| format!("{{\"type\":\"custom-title\",\"customTitle\":\"t{at}\"}}\n"));
    check("summaries", |at| {
        format!("{{\"type\":\"summary\",\"summary\":\"t{at}\",\"leafUuid\":\"l{at}\"}}\n")
    });
    check("queue", |at| {
        format!("{{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"p{at}\"}}\n")
    });
    check("totals", |at| {
        format!(
            "{{\"type\":\"cost-state\",\"totalCostUSD\":{at},\"modelUsage\":{{\"m{at}\":{{\"inputTokens\":{at}}}}}}}\n"
        )
    });
    check("files", |at| {
        format!(
            "{{\"type\":\"file-history-delta\",\"trackingPath\":\"f{at}\",\"timestamp\":\"2026-11-03T10:00:00Z\"}}\n"
        )
    });
    check("hooks", |at| {
        format!(
            "{{\"type\":\"progress\",\"uuid\":\"p{at}\",\"data\":{{\"type\":\"hook_progress\"}},\"parentToolUseID\":\"t{at}\"}}\n"
        )
    });
    check("unknown", |at| format!("{{\"type\":\"new-{at}\",\"uuid\":\"n{at}\"}}\n"));
    check("torn", |at| format!("{{\"type\":\"user\",\"uuid\":\"{at}\n"));
}

#[test]
fn trees_of_many_forms() {
    check("chain", |at| {
        let parent = at.wrapping_sub(1);
        prompt(&format!("\"uuid\":\"u{at}\",\"parentUuid\":\"u{parent}\","), "x")
    });
    check("siblings", |at| prompt(&format!("\"uuid\":\"u{at}\",\"parentUuid\":\"u0\","), "x"));
    check("orphans", |at| {
        let side = if at % 2 == 0 { "\"isSidechain\":true," } else { "" };
        prompt(&format!("{side}\"uuid\":\"u{at}\",\"parentUuid\":\"gone{at}\","), "x")
    });
    check("one id", |_| prompt("\"uuid\":\"u\",\"parentUuid\":\"u\",", "x"));
    check("tools", |at| {
        let call = format!("{{\"type\":\"tool_use\",\"id\":\"t{at}\",\"name\":\"Bash\",\"input\":{{}}}}");
        let result = format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{at}\",\"content\":\"x\"}}]");
        let parent = format!("\"uuid\":\"r{at}\",\"parentUuid\":\"u{at}\",");
        answer(&format!("\"uuid\":\"u{at}\","), at, MODEL, &call)
            + &prompt(&parent, "?").replace("\"?\"", &result)
    });
}

#[test]
fn many_pieces_in_one_record() {
    let check = |name: &str, piece: &dyn Fn(usize) -> String, around: &dyn Fn(&str) -> String| {
        let record = |count: usize| {
            let pieces = (0..count).fold(String::new(), |mut all, at| {
                let _ = write!(all, "{}", piece(at));
                all
            });
            around(&pieces)
        };
        // Pieces are shorter than records.
        check_files(name, &record(3 * SMALL), &record(3 * SMALL * FACTOR));
    };
    let said = |text: &str| prompt("\"uuid\":\"u\",", text);
    check("reminders", &|at| format!("<system-reminder>{at}</system-reminder> x "), &said);
    check("open reminders", &|at| format!("<system-reminder {at}> x "), &said);
    check("markers", &|at| format!("<!claude-team-{at}!> x "), &said);
    check("open markers", &|at| format!("<!claude-team-{at} x "), &said);
    check("blocks", &|at| format!("{{\"type\":\"text\",\"text\":\"{at}\"}},"), &|pieces| {
        answer("\"uuid\":\"u\",", 0, MODEL, pieces.trim_end_matches(','))
    });
}
