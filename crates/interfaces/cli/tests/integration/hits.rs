//! From a hit to the place: further places in a session, hits by their rank, and questions that ask for a day, a branch
//! or a price.

use serde_json::Value;
use testkit::claude::Run;
use testkit::{ScratchHome, Terminal, Transcript};

const PROGRAM: &str = env!("CARGO_BIN_EXE_backstory");
const PARSER: &str = "3601d36e-b6c0-4e4b-9000-7b07e25374f7";
const TIDES: &str = "e6d03ad1-0f3c-4d0e-8a51-1c7d2b9e4a60";

/// Two sessions; that of the parser says "walrus colony" in three places.
fn home() -> ScratchHome {
    let home = ScratchHome::new();
    let (harbor, mono) = (home.dir("harbor"), home.dir("mono"));
    Transcript::new(PARSER)
        .cwd(harbor)
        .branch("soph/wingman")
        .prompt("count the walrus colony")
        .answer("The walrus colony has forty animals.")
        .prompt("and the ostrich?")
        .answer("It runs away from the walrus colony.")
        .write_to(&home);
    Transcript::new(TIDES).cwd(mono).prompt("show the tides").answer("They are high.").write_to(&home);
    home
}

fn run(home: &ScratchHome, arguments: &[&str]) -> Run {
    let mut command = home.command(PROGRAM);
    command.args(arguments);
    Run::of(command)
}

fn json(home: &ScratchHome, arguments: &[&str]) -> Value {
    let run = run(home, &[arguments, &["--json"]].concat()).succeeded();
    serde_json::from_str(&run.stdout).unwrap()
}

fn ids(listed: &Value) -> Vec<&str> {
    listed["sessions"].as_array().unwrap().iter().map(|row| row["session_id"].as_str().unwrap()).collect()
}

#[test]
fn a_hit_names_the_other_places_in_its_session() {
    let home = home();
    let hits = json(&home, &["search", "walrus colony"]);
    assert_eq!((hits["hits"][0]["more"].as_u64(), hits["hits"][0].get("places")), (Some(2), None), "{hits}");
    let said = run(&home, &["search", "walrus colony"]).succeeded().stdout;
    assert!(said.contains("+2 more in it"), "{said}");
    let all = json(&home, &["search", "--all-hits", "walrus colony"]);
    let hit = &all["hits"][0];
    let places = hit["places"].as_array().unwrap();
    let mut lines: Vec<u64> = places.iter().map(|place| place["line"].as_u64().unwrap()).collect();
    assert!(lines.is_sorted() && lines.len() == 2, "{hit}");
    lines.push(hit["line"].as_u64().unwrap());
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 3, "each is another line: {hit}");
    let said = run(&home, &["search", "--all-hits", "walrus colony"]).succeeded().stdout;
    for line in lines {
        assert!(said.contains(&format!("3601d36e:{line}")), "{line}: {said}");
    }
}

#[test]
fn a_hit_is_named_by_its_rank_on_the_same_terminal() {
    let home = home();
    let mut shell = home.command("sh");
    shell.env("TERM", "xterm-256color").env("PAGER", "cat");
    let script = format!(
        "'{PROGRAM}' show @1; echo first $?; '{PROGRAM}' search ostrich; '{PROGRAM}' show @1; \
         '{PROGRAM}' show @9; echo left $?; exec cat"
    );
    shell.args(["-c", &script]);
    let terminal = Terminal::run(&shell, 100, 70);
    terminal.until(|screen| screen.contains("left 3"));
    let screen = terminal.screen();
    assert!(screen.contains("there is no search on this terminal") && screen.contains("first 3"), "{screen}");
    assert!(screen.contains(PARSER) && screen.contains("▶ line 3"), "{screen}");
    assert!(screen.contains("the last search on this terminal has one hit"), "{screen}");
}

#[test]
fn a_question_for_a_day_a_branch_or_a_price_is_answered_by_a_list() {
    let home = home();
    let day = json(&home, &["search", "what did I do on january 15"]);
    assert_eq!(day["hits"], serde_json::json!([]));
    assert_eq!(day["hint"]["next_step"]["step"], "list_between", "{day}");
    let said = run(&home, &["search", "last thing I did on the wingman branch"]).succeeded().stdout;
    assert!(said.contains("`wingman` looks like a branch: backstory list --branch soph/wingman"), "{said}");
    assert!(said.contains("count the walrus colony") && !said.contains("tides"), "{said}");
    let said = run(&home, &["search", "most expensive session"]).succeeded().stdout;
    assert!(said.contains("backstory cost --by session") && said.contains("show the tides"), "{said}");
    let said = run(&home, &["search", "sessions of 1 february 2001"]).succeeded().stdout;
    assert!(said.contains("There are no such sessions."), "{said}");
    // With other words it is a search like any other, and the list is a hint.
    let said = run(&home, &["search", "ostrich on the wingman branch"]).succeeded().stdout;
    assert!(said.contains("backstory search ostrich --branch soph/wingman"), "{said}");
    assert!(said.contains("3601d36e:"), "{said}");
}

#[test]
fn a_list_is_chosen_by_words_file_time_and_order() {
    let home = home();
    let listed = |arguments: &[&str]| {
        let all = json(&home, &[&["list"], arguments].concat());
        ids(&all).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(listed(&["Walrus", "wingman"]), [PARSER]);
    assert_eq!(listed(&["walrus", "tides"]), [""; 0]);
    assert_eq!(listed(&["--until", "2001-01-01"]), [""; 0]);
    assert_eq!(listed(&["--until", "2100-01-01"]).len(), 2);
    assert_eq!(listed(&["--sort", "messages", "--limit", "1"]), [PARSER]);
    assert_eq!(listed(&["--sort", "oldest"]).len(), 2);
    assert_eq!(listed(&["--file", "nowhere.rs"]), [""; 0]);
    let mut here = home.command(PROGRAM);
    here.args(["list", "--here", "--json"]).current_dir(home.dir("mono"));
    let here: Value = serde_json::from_str(&Run::of(here).succeeded().stdout).unwrap();
    assert_eq!(ids(&here), [TIDES]);
}

#[test]
fn a_pattern_is_found_in_what_tools_printed() {
    let home = home();
    let shop = home.dir("shop");
    let key = "AKIAIOSFODNN7EXAMPLQ";
    let output = format!("line one\nfatal: bad object 0x082c\nthe \"quoted\" line\n{key} 0x082c");
    Transcript::new("5ec2e700-0f3c-4d0e-8a51-1c7d2b9e4a60")
        .cwd(shop)
        .prompt("what is wrong?")
        .tool("Bash", serde_json::json!({"command": "git fsck"}), &output)
        .answer("It is broken.")
        .write_to(&home);
    let found = json(&home, &["search", "--grep", "fatal: .* 0x[0-9a-f]+"]);
    let matches = &found["sessions"][0]["matches"];
    assert_eq!((found["lines"].as_u64(), matches[0]["role"].as_str()), (Some(1), Some("tool")), "{found}");
    assert_eq!(matches[0]["text"], "fatal: bad object 0x082c");
    let said = run(&home, &["search", "--grep", "the \"quoted\"", "-F"]).succeeded().stdout;
    assert!(said.contains("5ec2e700:3  tool  the \"quoted\" line"), "{said}");
    // A call's input counts too, and small letters match capital ones.
    let said = run(&home, &["search", "--grep", "git fsck"]).succeeded().stdout;
    assert!(said.contains("assistant  git fsck"), "{said}");
    assert_eq!(json(&home, &["search", "--grep", "WALRUS"])["lines"], 0);
    assert_eq!(json(&home, &["search", "--grep", "walrus"])["lines"], 3);
    assert_eq!(json(&home, &["search", "--grep", "walrus", "--role", "user"])["lines"], 1);
    assert_eq!(json(&home, &["search", "--grep", "walrus", "--session", "e6d03ad1"])["lines"], 0);
    let said = run(&home, &["search", "--grep", "0x082c"]).succeeded().stdout;
    assert!(said.contains("[redacted:") && !said.contains(key), "{said}");
    let wrong = run(&home, &["search", "--grep", "(unclosed"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("`(unclosed` is not a valid regular expression"), "{}", wrong.stderr);
    let nothing = run(&home, &["search", "--grep", "ostriches fly"]).succeeded().stdout;
    assert!(nothing.contains("Nothing in 3 sessions matches `ostriches fly`."), "{nothing}");
}

#[test]
fn words_that_no_session_has_are_named_and_a_weak_match_is_not_offered_to_be_continued() {
    let home = home();
    let found = json(&home, &["search", "walrus colony gpg"]);
    assert_eq!(found["unknown_words"], serde_json::json!(["gpg"]), "{found}");
    assert_eq!(json(&home, &["search", "walrus colony"])["unknown_words"], Value::Null);
    let weak = run(&home, &["search", "walrus gpg banana helm"]).succeeded().stdout;
    assert!(weak.starts_with("No session has the words `gpg`, `banana`, `helm`."), "{weak}");
    let is_weak = weak.contains("No good matches");
    assert!(is_weak && weak.contains("Read it:") && !weak.contains("Continue it:"), "{weak}");
    // Another language is no list of words.
    let other = json(&home, &["search", "wo sind die walrus"]);
    assert_eq!(other["unknown_words"], serde_json::json!(["wo", "sind", "die"]), "three of four");
    assert_eq!(json(&home, &["search", "wo sind bloss die walrus"])["unknown_words"], Value::Null);
}
