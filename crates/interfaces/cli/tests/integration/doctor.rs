//! `doctor` on homes that are well and on homes that are not.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::json;
use testkit::{Claude, Script, Transcript};

use crate::desk::Desk;
use crate::hooks;

const ID: &str = "11111111-1111-4111-8111-111111111111";

fn desk() -> Desk {
    let desk = Desk::new(Claude::newest(), Script::new());
    let file = Transcript::new(ID)
        .cwd(desk.home.path().join("shop"))
        .prompt("Hello")
        .answer("Hi")
        .write_to(&desk.home);
    age(&file, 0);
    desk
}

/// Lets a file look as old as that.
#[expect(clippy::disallowed_methods, reason = "the program under test reads the clock")]
fn age(file: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_hours(24 * days);
    let file = fs::File::options().append(true).open(file).expect("a transcript");
    file.set_modified(then).expect("a time of change");
}

/// The report without what differs from run to run.
fn report_of(desk: &Desk) -> (Option<i32>, String) {
    let run = desk.backstory(&["doctor"]);
    let text = desk.plain(&run.stdout);
    let lines = text.lines().filter(|line| !line.starts_with("catalog"));
    (run.code, lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_home_that_is_well() {
    let (code, text) = report_of(&desk());
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(text, @r"
    claude     2.1.332  ~/bin/claude  (can fork, registers open sessions, finds sessions from any directory)
    sessions   1  ~/.claude
    sub-agents 0
    index      not created yet; the first `backstory search` creates it
    excerpts   none: off (embedding.excerpts)
    archive    copies of 0 sessions in 0 B, at most 20 GB  ~/.backstory/archive

    No problems found.
    ");
}

#[test]
fn a_report_for_others_has_versions_and_numbers_alone() {
    let desk = desk();
    let _ = desk.backstory(&["search", "Hello"]).succeeded();
    fs::create_dir_all(desk.home.config_dir().join("projects/-p/dir.jsonl")).expect("a problem");
    let text = desk.backstory(&["doctor", "--report"]).succeeded().stdout;
    let machine =
        format!("{} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    // Sizes differ with the length of the scratch home's name.
    let lines = text.lines().filter(|line| !line.starts_with("catalog") && !line.starts_with("archive"));
    let shown = lines.collect::<Vec<_>>().join("\n").replace(&machine, "<version>");
    insta::assert_snapshot!(shown, @r"
    backstory  <version>
    claude     2.1.332
    plugin     not installed
    sessions   1 in 1 folder
    openclaw   0 in 0 folders
    sub-agents 0
    index      1 file, 2 chunks, 0 pending
    findings   1 problem, 0 pieces of advice
    ");
    for private in [desk.home.path().to_str().expect("a path"), "shop", &ID[..8], "/", "dir.jsonl"] {
        assert!(!text.contains(private), "{private}: {text}");
    }
}

#[test]
fn what_is_wrong_comes_with_the_next_step() {
    let desk = desk();
    fs::remove_file(desk.home.path().join("bin/claude")).expect("the link to claude");
    let projects = desk.home.config_dir().join("projects");
    symlink("/etc/passwd", projects.join("-x.jsonl")).expect("a link");
    fs::create_dir_all(projects.join("-p/dir.jsonl")).expect("a folder");
    desk.home.write(".claude/sessions/4194999.json", r#"{"pid":4194999,"sessionId":"s1"}"#);
    let mut command = desk.command(&["doctor"]);
    command.env("PATH", desk.home.path().join("bin"));
    let run = testkit::claude::Run::of(command);
    assert_eq!(run.code, Some(7));
    let text = desk.plain(&run.stdout);
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with("catalog")).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    claude     not found
    sessions   1  ~/.claude
    sub-agents 0
    index      not created yet; the first `backstory search` creates it
    excerpts   none: off (embedding.excerpts)
    archive    copies of 0 sessions in 0 B, at most 20 GB  ~/.backstory/archive

    problem  there is no program `claude` on your PATH
      install Claude Code: npm install -g @anthropic-ai/claude-code@latest; or set `claude.binary` to its program
    problem  ~/.claude/projects/-p/dir.jsonl: it is a folder, not a file
      inspect it: ls -ld ~/.claude/projects/-p/dir.jsonl
    problem  ~/.claude/projects/-x.jsonl: it is a link out of the projects folder, to /etc/passwd
      inspect it: ls -ld ~/.claude/projects/-x.jsonl
    advice  ~/.claude/sessions/4194999.json: a process that has ended is still registered as running
      no action is needed; to tidy up: rm ~/.claude/sessions/4194999.json
    ");
}

#[test]
fn what_claude_code_will_delete_is_told_in_time() {
    let desk = desk();
    let check = |days: u64, settings: &str, expected: usize| {
        age(&desk.transcript(&desk.home.path().join("shop"), ID), days);
        desk.home.write(".claude/settings.json", settings);
        let report = desk.json(&["doctor"]);
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let says = |what: &str| {
            findings
                .iter()
                .filter(|finding| finding["what"].as_str().is_some_and(|said| said.starts_with(what)))
                .count()
        };
        let soon = says("Claude Code will delete");
        assert_eq!(says("1 session has no copy yet"), usize::from(days > 0), "{days} {settings}: {report}");
        assert_eq!((soon, &report["healthy"]), (expected, &true.into()), "{days} {settings}: {report}");
    };
    check(0, "{}", 0);
    check(22, "{}", 0);
    check(24, "{}", 1);
    check(40, "{}", 1);
    check(40, r#"{"cleanupPeriodDays": 365}"#, 0);
    check(360, r#"{"cleanupPeriodDays": 365}"#, 1);
}

#[test]
fn sessions_are_kept_longer_once_that_is_confirmed() {
    let desk = desk();
    let shop = desk.home.path().join("shop");
    age(&desk.transcript(&shop, ID), 31);
    let settings = desk.home.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    let said = |arguments: &[&str]| {
        desk.backstory(arguments).succeeded().stderr.contains("The next start of Claude Code")
    };
    assert!(!said(&["list", "--json"]), "no program reads it");
    assert!(said(&["list"]));
    assert!(!said(&["list"]) && !said(&["search", "Hello"]), "once a day");
    let refused = desk.backstory(&["doctor", "--fix"]);
    assert_eq!(refused.code, Some(2), "it asks: {}", refused.stderr);
    assert!(refused.stdout.contains("+   \"cleanupPeriodDays\": 365"), "{}", refused.stdout);
    let fixed = desk.backstory(&["doctor", "--fix", "--yes"]).succeeded();
    assert!(fixed.stdout.contains("The previous settings are saved in"), "{}", fixed.stdout);
    let text = String::from_utf8(testkit::files::bytes(&settings)).expect("UTF-8");
    assert_eq!(text, "{\n  \"model\": \"opus\",\n  \"cleanupPeriodDays\": 365\n}\n");
    let again = desk.backstory(&["doctor", "--fix"]).succeeded();
    assert!(again.stdout.starts_with("Nothing to fix"), "{}", again.stdout);
}

#[test]
fn made_up_sessions_do_not_hide_which_claude_there_is() {
    let desk = desk();
    let run = desk.backstory(&["doctor", "--demo"]);
    let first = desk.plain(run.stdout.lines().next().unwrap_or_default());
    assert!(first.starts_with("claude     2.1.332  ~/bin/claude  (can fork"), "{first}");
    let silent = desk.home.write("bin/claude-silent", "#!/bin/sh\n");
    fs::remove_file(desk.home.path().join("bin/claude")).expect("the link to claude");
    fs::rename(silent, desk.home.path().join("bin/claude")).expect("another claude");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(desk.home.path().join("bin/claude"), mode).expect("a program");
    let text = desk.backstory(&["doctor"]).stdout;
    assert!(text.contains("unknown version") && !text.contains("()"), "{text}");
}

#[test]
fn a_file_that_was_put_away_is_told_of() {
    let desk = desk();
    let _ = desk.backstory(&["list"]).succeeded();
    let catalog = desk.home.state_dir().join("catalog.sqlite");
    fs::write(&catalog, "no database ".repeat(1000)).expect("a damaged catalog");
    fs::remove_file(desk.home.state_dir().join("overview.bin")).expect("what is kept for listings");
    let _ = desk.backstory(&["list"]).succeeded();
    let (code, text) = report_of(&desk);
    assert_eq!(code, Some(0), "it is mended already: {text}");
    assert!(text.contains("catalog.sqlite.set-aside: one of Backstory's files could not be used"), "{text}");
}

#[test]
fn a_damaged_index_is_said_and_built_again() {
    let desk = desk();
    let found = || desk.json(&["search", "hello"])["hits"].as_array().map(Vec::len);
    let before = found();
    assert!(before.is_some_and(|hits| hits > 0), "{before:?}");
    let text = desk.home.state_dir().join("index/text");
    let files = fs::read_dir(text).expect("the text index").map(|entry| entry.expect("a file").path());
    let words: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "term")).collect();
    for file in &words {
        let length = fs::metadata(file).expect("its length").len();
        fs::write(file, vec![0x55; usize::try_from(length).expect("a small file")]).expect("damage");
    }
    let (code, report) = report_of(&desk);
    assert!(code != Some(0) && report.contains("a file of the search index is damaged"), "{report}");
    assert_eq!(found(), before, "it is built again, and asked once more");
    let (code, report) = report_of(&desk);
    assert_eq!(code, Some(0), "{report}");
    assert!(
        report.contains("files.sqlite.set-aside: one of Backstory's files could not be used"),
        "{report}"
    );
}

#[test]
fn the_plugin_is_checked_where_it_is_installed() {
    let desk = desk();
    let findings = |desk: &Desk| {
        let run = desk.backstory(&["doctor", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("a report");
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        let of = |finding: &serde_json::Value| finding["what"].as_str().unwrap_or_default().to_owned();
        findings.iter().map(of).collect::<Vec<_>>()
    };
    let copy = desk.home.dir("copy");
    let installed = |version: &str| {
        let entry = serde_json::json!([{"scope": "user", "installPath": copy, "version": version}]);
        let list = serde_json::json!({"version": 2, "plugins": {"backstory@backstory": entry}});
        desk.home.write(".claude/plugins/installed_plugins.json", list.to_string());
    };
    desk.home.write(".claude/settings.json", r#"{"enabledPlugins": {"backstory@backstory": true}}"#);
    installed("0.0.1");
    let own = env!("CARGO_PKG_VERSION");
    let expected = [
        "the plugin starts `backstory`, which is not on your PATH".to_owned(),
        format!("the plugin is of version 0.0.1, Backstory of {own}"),
    ];
    assert_eq!(findings(&desk), expected);

    symlink(env!("CARGO_BIN_EXE_backstory"), desk.home.path().join("bin/backstory")).expect("a link");
    installed(own);
    assert_eq!(findings(&desk), Vec::<String>::new());

    hooks::hooks(&desk, "install");
    let expected =
        "both the plugin and the hooks in the settings report what sessions do; the plugin's stay inactive";
    assert_eq!(findings(&desk), [expected]);

    hooks::hooks(&desk, "uninstall");
    let server = serde_json::json!({"type": "stdio", "command": "/opt/bin/backstory", "args": ["mcp"]});
    let other = serde_json::json!({"command": "backstory", "args": ["mcp", "--worker", "3"]});
    let global = serde_json::json!({"mcpServers": {"memory": server}, "projects": {"/shop": {"mcpServers": {"b": other}}}});
    desk.home.write(".claude.json", global.to_string());
    let found = findings(&desk);
    assert!(found.len() == 1 && found[0].contains("its tools are named mcp__memory__"), "{found:?}");
    let (_, text) = report_of(&desk);
    assert!(text.contains("claude mcp remove --scope user memory"), "{text}");
    assert!(text.contains("backstory@backstory  (enabled)"), "{text}");
    // One that the repository brings along, for everybody who works there.
    desk.home.write(".claude.json", "{}");
    let shared = serde_json::json!({"mcpServers": {"past": {"command": "backstory", "args": ["mcp"]}}});
    desk.home.write(".mcp.json", shared.to_string());
    let found = findings(&desk);
    assert!(found.len() == 1 && found[0].contains("its tools are named mcp__past__"), "{found:?}");
    assert!(report_of(&desk).1.contains("claude mcp remove --scope project past"));
    desk.home.write(".claude-plugin/plugin.json", "{}");
    assert_eq!(findings(&desk), Vec::<String>::new(), "what a plugin registers");
    fs::remove_file(desk.home.path().join(".mcp.json")).expect("the server");
    desk.home.write(".claude.json", global.to_string());

    desk.home.write(".claude/settings.json", r#"{"enabledPlugins": {"backstory@backstory": false}}"#);
    assert_eq!(findings(&desk), ["Claude Code's plugin backstory@backstory is installed but disabled"]);
    let (_, text) = report_of(&desk);
    assert!(text.contains("claude plugin enable backstory@backstory"), "{text}");

    desk.home.write(".claude/settings.json", r#"{"enabledPlugins": {"backstory@backstory": true}}"#);
    fs::remove_dir(&copy).expect("the copy");
    let expected = "Claude Code's plugin backstory@backstory is enabled, but its files are missing";
    assert_eq!(findings(&desk)[0], expected);
    let (_, text) = report_of(&desk);
    assert!(text.contains("claude plugin install backstory@backstory"), "{text}");
    let manual = include_str!("../../../../../docs/plugin.md");
    let installing =
        manual.lines().find(|line| line.starts_with("claude plugin install")).expect("the command");
    assert!(text.replace(['\n', ' '], "").contains(&installing.replace(' ', "")), "{text}");
}

#[test]
fn secrets_are_counted_by_kind_and_project_and_never_shown() {
    let desk = desk();
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    for (id, text) in [("22222222-2222-4222-8222-222222222222", &key), (ID, &format!("Use {key} to push"))] {
        Transcript::new(id).cwd(desk.home.path().join("shop")).prompt(text).answer("Hi").write_to(&desk.home);
    }
    let report = desk.json(&["doctor", "--secrets"]);
    let found = report["found"].as_array().expect("a list");
    assert_eq!(found.len(), 1, "{report}");
    let one = &found[0];
    assert_eq!((&one["kind"], &one["project"]), (&json!("github-token"), &json!("shop")), "{report}");
    assert_eq!((&one["values"], &one["sessions"], &one["archived"]), (&json!(1), &json!(2), &json!(0)));
    let shown = desk.backstory(&["doctor", "--secrets"]).succeeded().stdout;
    assert!(shown.contains("github-token  shop: 1 value in 2 sessions"), "{shown}");
    assert!(!shown.contains(&key) && !report.to_string().contains(&key));
}
