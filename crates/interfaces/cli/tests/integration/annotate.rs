//! What a person annotates sessions with: `name`, `tag`, `note`, `pin` and `hide`.

use serde_json::Value;
use testkit::{ScratchHome, Transcript};

const IDS: [&str; 3] = [
    "11111111-1111-4111-8111-111111111111",
    "22222222-2222-4222-8222-222222222222",
    "33333333-3333-4333-8333-333333333333",
];

fn home() -> ScratchHome {
    let home = ScratchHome::new();
    for (id, at, prompt) in [
        (IDS[0], "2026-03-01T09:00:00Z", "Rotate the walrus keys"),
        (IDS[1], "2026-03-02T09:00:00Z", "Paint the walrus shed"),
        (IDS[2], "2026-03-03T09:00:00Z", "Feed the walrus twice"),
    ] {
        Transcript::new(id).at(at).prompt(prompt).answer("Done.").write_to(&home);
    }
    home
}

#[track_caller]
fn run(home: &ScratchHome, arguments: &[&str]) -> (i32, String, String) {
    let output = home.command(env!("CARGO_BIN_EXE_backstory")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn printed(home: &ScratchHome, arguments: &[&str]) -> String {
    let (code, out, problem) = run(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {problem}");
    out
}

/// The sessions that a command answers with, by their place in [`IDS`].
#[track_caller]
fn found(home: &ScratchHome, arguments: &[&str]) -> Vec<usize> {
    let answer: Value = serde_json::from_str(&printed(home, &[arguments, &["--json"]].concat())).unwrap();
    let rows = answer["sessions"].as_array().or_else(|| answer["hits"].as_array()).unwrap();
    let mut found = Vec::new();
    for row in rows {
        found.push(IDS.iter().position(|id| row["session_id"] == *id).unwrap());
    }
    found
}

#[test]
fn a_pinned_session_is_listed_first_and_a_hidden_one_on_request() {
    let home = home();
    assert_eq!(found(&home, &["list"]), [2, 1, 0]);
    assert_eq!(printed(&home, &["pin", "1111"]), "11111111  pinned\n");
    assert_eq!(found(&home, &["list"]), [0, 2, 1]);
    assert_eq!(found(&home, &["list", "--pinned"]), [0]);
    assert_eq!(found(&home, &["list", "--limit", "1"]), [0]);
    printed(&home, &["hide", "2222", "3333"]);
    assert_eq!(found(&home, &["list"]), [0]);
    assert_eq!(found(&home, &["list", "--hidden"]), [2, 1]);
    assert_eq!(found(&home, &["search", "walrus"]), [0]);
    let asked = printed(&home, &["prompts"]);
    assert!(asked.contains("Rotate the walrus keys") && asked.lines().count() == 1, "{asked}");
    let mut hidden = found(&home, &["search", "walrus", "is:hidden"]);
    hidden.sort_unstable();
    assert_eq!(hidden, [1, 2]);
    assert!(printed(&home, &["show", "2222"]).contains("Paint the walrus shed"), "its id still names it");
    printed(&home, &["hide", "2222", "3333", "--undo"]);
    printed(&home, &["pin", "1111", "--undo"]);
    assert_eq!(found(&home, &["list"]), [2, 1, 0]);
}

#[test]
fn a_hidden_session_is_offered_and_continued_by_its_id_alone() {
    let home = ScratchHome::new();
    let shop = home.repository("shop");
    let shop = shop.path();
    for (id, at, prompt) in [
        (IDS[0], "2026-03-01T09:00:00Z", "Rotate the walrus keys"),
        (IDS[1], "2026-03-02T09:00:00Z", "Feed the walrus twice"),
    ] {
        Transcript::new(id).cwd(shop).at(at).prompt(prompt).answer("Done.").write_to(&home);
    }
    home.write("bin/claude", "#!/bin/sh\necho '2.1.330 (Claude Code)'\n");
    let claude = home.path().join("bin/claude");
    std::fs::set_permissions(claude, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Nothing is due: the notice of what will be deleted names what is hidden, too.
    home.write(".claude/settings.json", "{\"cleanupPeriodDays\": 36500}");
    printed(&home, &["hide", "2222"]);
    let shop = shop.display().to_string();
    let there = |arguments: &[&str]| {
        let output = home
            .command(env!("CARGO_BIN_EXE_backstory"))
            .args(arguments)
            .current_dir(&shop)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    for command in [&["resume", "--last", "--print"][..], &["fork", "--last", "--print"], &["show", "--last"]]
    {
        let said = there(command);
        assert!(said.contains(IDS[0]) || said.contains(&IDS[0][..8]), "{command:?}: {said}");
        assert!(!said.contains(IDS[1]), "{command:?}: {said}");
    }
    for command in [
        &["pick", "feed the walrus twice", "--json"][..],
        &["status", "--json"],
        &["list"],
        &["search", "feed walrus"],
    ] {
        let said = there(command);
        assert!(!said.contains(&IDS[1][..8]), "{command:?}: {said}");
    }
    let mut completing = home.command(env!("CARGO_BIN_EXE_backstory"));
    completing.env("COMPLETE", "fish").args(["--", "backstory", "resume", ""]);
    let offered = String::from_utf8(completing.output().unwrap().stdout).unwrap();
    assert!(!offered.contains("2222"), "{offered}");
    assert!(there(&["resume", "2222", "--print"]).contains(IDS[1]), "its id names it");
    assert_eq!(found(&home, &["list", "2222"]), Vec::<usize>::new(), "too short for an id");
    assert_eq!(found(&home, &["list", &IDS[1][..8]]), [1]);
}

#[test]
fn tags_are_filters() {
    let home = home();
    assert_eq!(printed(&home, &["tag", "1111", "release", "#auth"]), "11111111  #auth #release\n");
    printed(&home, &["tag", "3333", "Release"]);
    assert_eq!(found(&home, &["list", "--tag", "RELEASE"]), [2, 0]);
    assert_eq!(found(&home, &["search", "walrus", "tag:auth"]), [0]);
    assert_eq!(found(&home, &["search", "walrus", "--tag", "later"]), [0; 0]);
    assert_eq!(printed(&home, &["tag"]), "    1  #Release\n    1  #auth\n    1  #release\n");
    assert!(printed(&home, &["list"]).contains("#auth #release Rotate the walrus keys"));
    printed(&home, &["tag", "1111", "--remove", "auth", "--remove", "release"]);
    assert_eq!(found(&home, &["list", "--tag", "release"]), [2]);
    let (code, _, problem) = run(&home, &["tag", "1111", "two words"]);
    assert_eq!(code, 2);
    assert!(problem.contains("`two words` is no tag"), "{problem}");
}

#[test]
fn a_name_is_the_title_until_claude_code_has_a_newer_one() {
    let home = home();
    printed(&home, &["name", "1111", "Keys", "of", "the", "walrus"]);
    printed(&home, &["note", "1111", "Ana has to look at this"]);
    let shown = printed(&home, &["show", "1111"]);
    assert!(shown.starts_with("Keys of the walrus\n"), "{shown}");
    assert!(shown.contains("\nAna has to look at this\n"), "{shown}");
    assert_eq!(found(&home, &["list", "keys", "of"]), [0]);
    Transcript::new(IDS[0])
        .at("2026-03-01T09:00:00Z")
        .prompt("Rotate the walrus keys")
        .answer("Done.")
        .title("Rotation")
        .write_to(&home);
    assert!(printed(&home, &["list"]).contains("Rotation"));
    printed(&home, &["name", "1111", "--clear"]);
    assert!(printed(&home, &["name", "1111"]).contains("no name; its title is \"Rotation\""));
}

#[test]
fn a_secret_in_a_mark_is_not_printed_and_what_is_forgotten_is_gone() {
    let home = home();
    let key = ["AKIA", "QWERTYUIOPASDFGH"].concat();
    printed(&home, &["note", "1111", &format!("the key is {key}")]);
    for arguments in [&["note", "1111"][..], &["show", "1111"], &["list", "--json"]] {
        assert!(!printed(&home, arguments).contains(&key), "{arguments:?}");
    }
    printed(&home, &["note", "2222", "the xylophone plan"]);
    printed(&home, &["forget", "2222", "--yes"]);
    let annotations = home.state_dir().join("annotations.sqlite");
    let bytes = testkit::files::bytes(&annotations);
    assert!(!bytes.windows(9).any(|window| window == b"xylophone"));
}

#[test]
fn a_session_is_found_by_its_name_its_tags_and_its_note() {
    let home = home();
    printed(&home, &["name", "1111", "zebra unicorn"]);
    printed(&home, &["tag", "1111", "release"]);
    printed(&home, &["note", "2222", "The shed of the quagga."]);
    assert_eq!(found(&home, &["search", "Zebra unicorn"]), [0]);
    assert_eq!(found(&home, &["search", "unicorn release"]), [0]);
    assert_eq!(found(&home, &["search", "quagga"]), [1]);
    let said = printed(&home, &["search", "zebra"]);
    assert!(!said.contains("No session has") && !said.contains("Did you mean"), "{said}");
    let said = printed(&home, &["search", "quagga"]);
    assert!(said.contains("\n      note: The shed of the quagga.\n"), "{said}");
    // What is said in others follows, and what a filter leaves out is left out.
    printed(&home, &["name", "3333", "walrus"]);
    let all = found(&home, &["search", "walrus"]);
    assert_eq!((all[0], all.len()), (2, 3));
    assert_eq!(found(&home, &["search", "zebra", "--tag", "other"]), [] as [usize; 0]);
    // Two that are meant are asked for at once.
    printed(&home, &["note", "3333", "Not of a quagga."]);
    let mut both = found(&home, &["search", "quagga"]);
    both.sort_unstable();
    assert_eq!(both, [1, 2]);
    assert_eq!(found(&home, &["search", "zebra", "--tag", "release"]), [0]);
    printed(&home, &["hide", "1111"]);
    assert_eq!(found(&home, &["search", "zebra"]), [] as [usize; 0]);

    assert!(printed(&home, &["show", "ZEBRA unicorn"]).contains("Rotate the walrus keys"));
    printed(&home, &["name", "2222", "zebra unicorn"]);
    let (code, _, problem) = run(&home, &["show", "zebra unicorn"]);
    assert!(code == 4 && problem.contains("2 sessions are named `zebra unicorn`; give an id"), "{problem}");
}

#[test]
fn a_citation_is_a_question_for_its_session() {
    let home = home();
    assert_eq!(found(&home, &["search", "22222222:1"]), [1]);
    let cited = |line: &str| printed(&home, &["search", line]);
    let first = cited("22222222:1");
    assert!(first.contains("  22222222:1  ") && first.contains("show 22222222:1\n"), "{first}");
    let beyond = cited("22222222:99");
    assert!(
        beyond.contains("session 22222222 has no message at line 99; its last text is cited"),
        "{beyond}"
    );
    assert_eq!(found(&home, &["search", "deadbeef1"]), [] as [usize; 0]);
    let (code, _, problem) = run(&home, &["show", "22222222:99"]);
    assert!(code != 0 && problem.contains("has no line 99: it ends at line "), "{problem}");
    let (code, _, problem) = run(&home, &["show", "22222222:0"]);
    assert!(code == 3 && problem.contains("has no line 0: lines are counted from 1"), "{problem}");
}

#[test]
fn a_file_of_annotations_that_is_still_being_made_is_empty() {
    let home = home();
    printed(&home, &["index"]);
    std::fs::write(home.state_dir().join("annotations.sqlite"), "").unwrap();
    assert_eq!(found(&home, &["search", "shed"]), [1]);
    assert_eq!(
        printed(&home, &["name", "2222"]),
        "22222222  no name; its title is \"Paint the walrus shed\"\n"
    );
}

#[test]
fn damaged_annotations_stop_no_search_and_come_back_from_a_backup() {
    let home = home();
    printed(&home, &["name", "2222", "The", "shed"]);
    printed(&home, &["archive"]);
    let file = home.state_dir().join("annotations.sqlite");
    let log = home.state_dir().join("annotations.sqlite-wal");
    let _ = std::fs::remove_file(log);
    std::fs::write(&file, "this is not a database, but long enough to look at").unwrap();
    assert_eq!(found(&home, &["search", "walrus"]), [2, 1, 0]);
    let answer: Value = serde_json::from_str(&printed(&home, &["search", "walrus", "--json"])).unwrap();
    let note = answer["notes"][0].as_str().unwrap();
    assert!(note.starts_with("hidden sessions are searched, too: cannot use the names, tags"), "{note}");
    for asked in [["name", "2222"].as_slice(), &["tag"]] {
        let (code, _, problem) = run(&home, asked);
        assert!(code != 0 && problem.contains("file is not a database"), "{code} {problem}");
        assert!(problem.contains("puts its newest backup in its place"), "{problem}");
    }
    printed(&home, &["tag", "2222", "red"]);
    assert_eq!(printed(&home, &["name", "2222"]), "22222222  The shed\n");
}
