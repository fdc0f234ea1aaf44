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
    assert!(said.contains("+2 more in this session (--all-hits)"), "{said}");
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
fn filters_alone_list_the_newest_sessions_that_pass_them() {
    let home = home();
    let found = |arguments: &[&str]| {
        let answer = json(&home, &[&["search"], arguments].concat());
        let hits = answer["hits"].as_array().unwrap().clone();
        assert!(answer["modes"]["ran"].as_array().unwrap().is_empty(), "{answer}");
        let mut ids: Vec<String> =
            hits.iter().map(|hit| hit["session_id"].as_str().unwrap().to_owned()).collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(found(&["project:harbor"]), [PARSER]);
    assert_eq!(found(&["#harbor"]), [PARSER]);
    assert_eq!(found(&["--branch", "soph/wingman"]), [PARSER]);
    assert_eq!(found(&["--role", "user"]), [PARSER, TIDES]);
    assert_eq!(found(&["--role", "tool"]), [""; 0]);
    assert_eq!(found(&["--until", "2001-01-01"]), [""; 0]);
    let said = run(&home, &["search", "project:harbor", "role:user"]).succeeded().stdout;
    assert!(said.starts_with("   1  count the walrus colony"), "{said}");
    assert!(said.contains("and the ostrich?") && !said.contains("No matches"), "the last prompt: {said}");
    let nothing = run(&home, &["search", "--tag", "release"]).succeeded().stdout;
    assert!(nothing.starts_with("No session passes these filters."), "{nothing}");
    let file = run(&home, &["search", "--file", "nowhere.rs"]);
    assert_eq!(file.code, Some(0), "{file:?}");
    for empty in [&["search"][..], &["search", "..."]] {
        let refused = run(&home, empty);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("a filter such as project:web"), "{}", refused.stderr);
    }
}

#[test]
fn what_looks_like_an_id_is_never_searched_for_as_words() {
    let home = home();
    let mono = home.dir("mono");
    Transcript::new("c0ffee00-0f3c-4d0e-8a51-1c7d2b9e4a60")
        .cwd(mono)
        .prompt("why is 6706f449 broken, as e6d03ad1 is?")
        .answer("It lacks a tree.")
        .write_to(&home);
    let found = |id: &str| {
        let answer = json(&home, &["search", id]);
        let ids: Vec<String> = answer["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["session_id"].as_str().unwrap().to_owned())
            .collect();
        (ids, answer["notes"][0].as_str().unwrap_or_default().to_owned())
    };
    for id in [TIDES, "e6d03ad1", "e6d03ad1-0f3c"] {
        assert_eq!(found(id), (vec![TIDES.to_owned()], String::new()), "{id}");
    }
    let said = run(&home, &["search", "e6d03ad1"]).succeeded().stdout;
    assert!(said.contains("show the tides") && said.contains("They are high."), "{said}");
    let (sessions, note) = found("6706f449");
    assert_eq!(sessions, ["c0ffee00-0f3c-4d0e-8a51-1c7d2b9e4a60"], "a commit");
    assert!(note.contains("no session id starts with `6706f449`"), "{note}");
    let unknown = run(&home, &["search", "3601d36e-b6c0-4e4b-9000-7b07e25374ff"]);
    assert_eq!(unknown.code, Some(3), "{unknown:?}");
    assert!(unknown.stderr.contains(&format!("did you mean {PARSER}?")), "{}", unknown.stderr);
    // Beside other words it is one of them.
    assert_eq!(json(&home, &["search", "6706f449 broken"])["notes"], Value::Null);
}

#[test]
fn a_hit_is_named_by_its_rank_on_the_same_terminal() {
    let home = home();
    let mut shell = home.command("sh");
    shell.env("TERM", "xterm-256color").env("PAGER", "cat");
    let script = format!(
        "'{PROGRAM}' show @1; echo first $?; '{PROGRAM}' search ostrich; '{PROGRAM}' show @1; \
         '{PROGRAM}' show @1:2; '{PROGRAM}' show @9; echo left $?; \
         setsid --wait '{PROGRAM}' show @1; echo next terminal $?; exec cat"
    );
    shell.args(["-c", &script]);
    let terminal = Terminal::run(&shell, 100, 90);
    terminal.until(|screen| screen.contains("next terminal"));
    let screen = terminal.screen();
    assert!(screen.contains("left 3") && screen.contains("▶ line 2"), "{screen}");
    assert!(screen.contains("next terminal 3"), "a device that is used again has no search: {screen}");
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
    let said = run(&home, &["search", "last session"]).succeeded().stdout;
    assert!(
        said.starts_with("`last session` looks like a question for the newest: backstory list"),
        "{said}"
    );
    assert!(said.contains("show the tides"), "{said}");
    let said = run(&home, &["search", "who wrote walrus.go"]).succeeded().stdout;
    assert!(said.contains("backstory blame walrus.go"), "{said}");
    let said = run(&home, &["search", "most expensive session"]).succeeded().stdout;
    assert!(said.contains("backstory cost --by session") && said.contains("show the tides"), "{said}");
    assert!(said.contains("CACHE READ") && said.contains("total"), "{said}");
    let none = run(&home, &["search", "most expensive session", "--project", "nowhere"]).stdout;
    assert!(!none.contains("show the tides"), "only of that project: {none}");
    let none = run(&home, &["search", "last session", "--project", "nowhere"]).stdout;
    assert!(!none.contains("show the tides"), "only of that project: {none}");
    let said = run(&home, &["search", "sessions of 1 february 2001"]).succeeded().stdout;
    assert!(said.contains("No sessions match; there are"), "{said}");
    // With other words it is a search like any other, and the list is a hint.
    let said = run(&home, &["search", "ostrich on the wingman branch"]).succeeded().stdout;
    assert!(said.contains("backstory search ostrich --branch soph/wingman"), "{said}");
    assert!(said.contains("3601d36e:"), "{said}");
    // The words of a day are not looked for.
    let best = |question: &str| json(&home, &["search", question])["hits"][0]["score"].clone();
    assert_eq!(best("ostrich in january"), best("ostrich"));
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
    let first = json(&home, &["list", "--sort", "oldest"])["sessions"][0]["created"].clone();
    let day = first.as_str().unwrap().split_once('T').unwrap().0.to_owned();
    let day_before = day.parse::<jiff::civil::Date>().unwrap().yesterday().unwrap().to_string();
    assert!(!listed(&["--since", &day, "--until", &day]).is_empty(), "a day is all of it");
    assert!(!listed(&[&format!("until:{day}")]).is_empty());
    assert_eq!(listed(&["--until", &day_before]), [""; 0]);
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
    let line = matches[0]["line"].as_u64().unwrap();
    let shown = run(&home, &["show", &format!("5ec2e700:{line}")]).succeeded().stdout;
    assert!(shown.contains(&format!("▶ line {line}\n  line one\n  fatal: bad object 0x082c")), "{shown}");
    assert!(!shown.contains(key) && shown.contains("It is broken."), "{shown}");
    // A call's input counts too, and small letters match capital ones.
    for order in [
        &["--grep", "-F", "the \"quoted\""][..],
        &["-F", "--grep", "the \"quoted\""],
        &["--grep", "the \"quoted\"", "-F"],
        &["the \"quoted\"", "-F", "--grep"],
    ] {
        assert_eq!(run(&home, &[&["search"], order].concat()).succeeded().stdout, said, "{order:?}");
    }
    for wrong in [&["--grep"][..], &["--grep", "-F"], &["--grep", "a", "b"]] {
        assert_eq!(run(&home, &[&["search"], wrong].concat()).code, Some(2), "{wrong:?}");
    }
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
    let joined = json(&home, &["search", "although walrus colony gpg"]);
    assert_eq!(joined["unknown_words"], serde_json::json!(["gpg"]), "{joined}");
    // Another language is no list of words.
    let other = json(&home, &["search", "wo sind die walrus"]);
    assert_eq!(other["unknown_words"], serde_json::json!(["wo", "sind", "die"]), "three of four");
    assert_eq!(json(&home, &["search", "wo sind bloss die walrus"])["unknown_words"], Value::Null);
}

#[test]
fn values_of_filters_that_no_session_has_are_named() {
    let home = home();
    let check = |arguments: &[&str], note: &str| {
        let said = run(&home, arguments).succeeded().stdout;
        assert!(said.contains(note), "{arguments:?}: {said}");
        assert!(!said.contains("other words"), "they would not help: {said}");
    };
    check(&["search", "walrus", "branch:wingmen"], "no session was on a branch named `wingmen`");
    check(&["search", "walrus", "file:nowhere.rs"], "no session touched a file named `nowhere.rs`");
    check(&["search", "walrus", "--project", "/no/such/place"], "no session was in `/no/such/place`");
    check(&["list", "--branch", "wingmen"], "no session was on a branch named `wingmen`");
    check(&["list", "--project", "/no/such/place"], "no session was in `/no/such/place`");
    let known = run(&home, &["search", "tides", "branch:soph/wingman"]).succeeded().stdout;
    assert!(!known.contains("named"), "others have it: {known}");
}

#[test]
fn where_nothing_is_found_the_filter_is_named_without_which_something_is() {
    let home = home();
    let check = |arguments: &[&str], notes: &[&str]| {
        let found = json(&home, arguments);
        let best = found["hits"][0]["confidence"].as_f64();
        assert!(best.is_none_or(|best| best < 0.5), "{found}");
        let said: Vec<&str> = found["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(said, notes, "{found}");
    };
    let walrus = |filters: &[&'static str]| [&["search", "walrus colony"], filters].concat();
    check(&walrus(&["project:mono"]), &["without `project:mono`, 1 session matches"]);
    check(&walrus(&["--project", "mono"]), &["without `project:mono`, 1 session matches"]);
    // The one that passes is not blamed.
    check(&walrus(&["role:user", "since:2030-01-01"]), &["without `since:2030-01-01`, 1 session matches"]);
    check(&walrus(&["--until", "2001-02-03"]), &["without `until:2001-02-03`, 1 session matches"]);
    // Each of two is one too many.
    check(&walrus(&["project:mono", "since:2030-01-01"]), &["without these filters, 1 session matches"]);
    let nowhere = json(&home, &walrus(&["project:nowhere"]));
    let unknown = nowhere["notes"][0].as_str().unwrap();
    assert!(unknown.starts_with("no session is of a project named `nowhere`; projects: "), "{nowhere}");
    assert!(unknown.contains("harbor") && unknown.contains("mono"), "{nowhere}");
    assert_eq!(nowhere["notes"][1], "without `project:nowhere`, 1 session matches");
    let like = json(&home, &walrus(&["project:harb"]));
    assert_eq!(like["notes"][0], "no session is of a project named `harb`; similar projects: harbor");
    check(&["search", "role:user", "since:2030-01-01"], &["without `since:2030-01-01`, 2 sessions match"]);
    let said = run(&home, &["search", "walrus colony", "project:mono"]).succeeded().stdout;
    assert!(said.contains("without `project:mono`, 1 session matches"), "{said}");
}

#[test]
fn the_newest_about_something_is_listed() {
    let home = home();
    let said = run(&home, &["search", "last session about the Walrus"]).succeeded().stdout;
    assert!(
        said.contains("`last session` looks like a question for the newest: backstory list Walrus"),
        "{said}"
    );
    let none = run(&home, &["search", "last session about the ostrich"]).succeeded().stdout;
    assert!(!none.contains("looks like"), "no title says so: {none}");
    let cheapest = run(&home, &["search", "cheapest session"]).succeeded().stdout;
    assert!(cheapest.contains("backstory list --sort cheapest"), "{cheapest}");
}

#[test]
fn show_takes_words_and_the_last_session() {
    let home = home();
    let shown = run(&home, &["show", "walrus", "colony"]).succeeded().stdout;
    assert!(shown.contains("It runs away from the walrus colony."), "{shown}");
    let last = run(&home, &["show", "--last"]).succeeded();
    assert!(last.stderr.contains("the newest of "), "{}", last.stderr);
    let wrong = run(&home, &["show", "3601d36f"]);
    assert!(wrong.stderr.contains("did you mean 3601d36e"), "an id is never words: {}", wrong.stderr);
}

#[test]
fn snippets_are_words_without_marks_and_hits_have_ranks() {
    let home = home();
    let answer =
        "## Result\n\nThe **walrus census** is done:\n\n```sh\ncargo run --bin census\n```\nForty animals.";
    Transcript::new("aaaaaaaa-0f3c-4d0e-8a51-1c7d2b9e4a60")
        .cwd(home.dir("mono"))
        .prompt("do the census")
        .answer(answer)
        .write_to(&home);
    let said = run(&home, &["search", "walrus census"]).succeeded().stdout;
    assert!(
        said.contains("Result The walrus census is done: cargo run --bin census Forty animals."),
        "{said}"
    );
    assert!(said.lines().any(|line| line.trim_start().starts_with("1  ")), "without a terminal: {said}");
    let hits = json(&home, &["search", "walrus census"]);
    assert!(hits["hits"][0]["score"].as_f64() > Some(0.0), "{hits}");
    assert!(hits["hits"][0]["snippet"].as_str().unwrap().contains("**walrus census**"), "{hits}");
}
