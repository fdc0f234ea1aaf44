//! `run --worktree`: real work trees of a real git, with the real `claude` in them.

use serde_json::{Value, json};
use testkit::{Answer, Claude, Gate, Script};

use crate::desk::Desk;
use crate::run_label::ready;

/// Whoever is to wait does so until the gate is open.
fn desk(gate: &Gate) -> Desk {
    let write = json!({"command": "echo new > made.txt", "description": "Make a file"});
    let script = Script::new()
        .on("wait here", [Answer::held(gate)])
        .on("say hello", [Answer::text("Hello there.")])
        .on("and again", [Answer::text("Hello again.")])
        .on("make a file", [Answer::text("I will.").then_tool("Bash", write), Answer::text("Made.")]);
    Desk::new(Claude::newest(), script)
}

#[test]
fn a_task_has_a_work_tree_of_its_own_which_goes_when_nothing_is_lost() {
    let desk = desk(&Gate::new());
    let shop = desk.project("shop");
    let tree = shop.path().canonicalize().expect("real").join(".claude/worktrees/hello");
    let first = ready(&desk, shop.path(), &["--worktree=hello", "say hello"]);
    assert_eq!((&first["start"], first["directory"].as_str()), (&"fresh".into(), tree.to_str()), "{first}");
    let id = first["session_id"].as_str().expect("an id");
    assert!(desk.transcript(&tree, id).is_file(), "it worked there");
    assert_eq!(shop.git(["status", "--porcelain"]), "");

    // A fork of a session of the main tree goes on there, and that of the main tree stays as it is.
    let main = ready(&desk, shop.path(), &["--fresh", "say hello"]);
    let from = main["session_id"].as_str().expect("an id");
    let before = std::fs::metadata(desk.transcript(shop.path(), from)).expect("a transcript").len();
    let fork = ready(&desk, shop.path(), &["--worktree=hello", "--fork", from, "and again"]);
    assert_eq!((&fork["start"], fork["directory"].as_str()), (&"fork".into(), tree.to_str()), "{fork}");
    assert!(desk.transcript(&tree, fork["session_id"].as_str().expect("an id")).is_file());
    assert_eq!(std::fs::metadata(desk.transcript(shop.path(), from)).expect("a transcript").len(), before);

    // What is new in it keeps it.
    std::fs::write(tree.join("new.rs"), "").expect("a file");
    let number = first["worker"].to_string();
    let kept = desk.backstory(&["stop", &number, "--remove-worktree"]);
    assert_eq!(kept.code, Some(6), "{}", kept.stderr);
    assert!(kept.stderr.contains("1 changed or new file is not committed"), "{}", kept.stderr);
    std::fs::remove_file(tree.join("new.rs")).expect("the file");
    let removed = desk.json(&["stop", &number, "--remove-worktree"]);
    assert_eq!(removed["removed_worktree"].as_str(), tree.to_str(), "{removed}");
    assert!(!tree.exists());
    assert_eq!(shop.git(["branch", "--format=%(refname:short)"]), "main");
}

#[test]
fn a_claude_that_looks_only_in_its_own_folder_forks_into_a_work_tree_from_a_copy() {
    let gate = Gate::new();
    let desk = Desk::new(
        Claude::v2_1_100(),
        Script::new()
            .on("wait here", [Answer::held(&gate)])
            .on("say hello", [Answer::text("Hello there.")])
            .on("and again", [Answer::text("Hello again.")]),
    );
    let shop = desk.project("shop");
    let tree = shop.path().canonicalize().expect("real").join(".claude/worktrees/old");
    let main = ready(&desk, shop.path(), &["--fresh", "say hello"]);
    let from = main["session_id"].as_str().expect("an id");
    let before = testkit::files::bytes(&desk.transcript(shop.path(), from));
    let fork = ready(&desk, shop.path(), &["--worktree=old", "--fork", from, "and again"]);
    assert_eq!((&fork["start"], fork["directory"].as_str()), (&"fork".into(), tree.to_str()), "{fork}");
    let id = fork["session_id"].as_str().expect("an id");
    let said = crate::desk::prompts(&desk.transcript(&tree, id));
    assert_eq!(said, ["say hello", "and again"], "it knows what was said before, and went on");
    assert_eq!(testkit::files::bytes(&desk.transcript(shop.path(), from)), before, "that one stays as it is");
    let files = std::fs::read_dir(desk.home.project_folder(&tree)).expect("a folder");
    let files = files.flatten().filter(|file| file.path().extension().is_some_and(|end| end == "jsonl"));
    assert_eq!(files.count(), 1, "nothing is left of the copy but the fork");

    // Where it cannot begin, no copy is left either.
    let workers = ["wait here", "say hello"].map(|task| {
        ready(&desk, shop.path(), &["--worktree=old", "--detach", "--fresh", task])["worker"].clone()
    });
    let mut refused = desk.command(&["run", "--worktree=old", "--fork", from, "and again"]);
    refused.current_dir(shop.path());
    assert_eq!(testkit::claude::Run::of(refused).code, Some(6));
    let copies = || {
        let files = std::fs::read_dir(desk.home.project_folder(&tree)).expect("a folder").flatten();
        let files = files.map(|file| file.path()).filter(|file| file.is_file());
        let is_copy = |file: &std::path::PathBuf| {
            String::from_utf8_lossy(&testkit::files::bytes(file)).contains("\"forkedFrom\"")
        };
        files.filter(is_copy).count()
    };
    assert_eq!(copies(), 1, "the first one");
    for worker in workers.iter().rev() {
        let _ = desk.json(&["stop", &worker.to_string()]);
    }
    gate.open();
}

#[test]
fn a_work_tree_in_which_somebody_works_is_kept() {
    let gate = Gate::new();
    let desk = desk(&gate);
    let shop = desk.project("shop");
    let first = ready(&desk, shop.path(), &["--worktree=one", "--detach", "wait here"]);
    // Two trees, two workers at once.
    let second = ready(&desk, shop.path(), &["--worktree=two", "--detach", "say hello"]);
    assert_eq!((&first["behind"], &second["behind"]), (&Value::Null, &Value::Null));
    let third = ready(&desk, shop.path(), &["--worktree=one", "--detach", "say hello"]);
    let number = third["worker"].to_string();
    let kept = desk.backstory(&["stop", &number, "--remove-worktree"]);
    assert_eq!(kept.code, Some(6), "{}", kept.stderr);
    assert!(kept.stderr.contains(&format!("worker {} is working there", first["worker"])), "{}", kept.stderr);
    for worker in [&first, &second] {
        let removed = desk.json(&["stop", &worker["worker"].to_string(), "--remove-worktree"]);
        assert_eq!(removed["status"], "stopped", "{removed}");
    }
    gate.open();
    assert_eq!(shop.git(["branch", "--format=%(refname:short)"]), "main");
}

#[test]
fn at_the_end_it_is_removed_or_kept_with_the_reason() {
    let desk = desk(&Gate::new());
    let shop = desk.project("shop");
    let run = |words: &[&str]| {
        let mut command = desk.command(&[&["run", "--worktree", "--remove-worktree"], words].concat());
        command.current_dir(shop.path());
        testkit::claude::Run::of(command).succeeded().stderr
    };
    let said = run(&["say hello"]);
    assert!(said.contains("removed ") && said.contains("/.claude/worktrees/task-"), "{said}");
    let said = run(&["--allow", "Bash", "make a file"]);
    assert!(said.contains("is kept: 1 changed or new file is not committed"), "{said}");
    let trees = shop.git(["worktree", "list", "--porcelain"]);
    assert_eq!(trees.lines().filter(|line| line.starts_with("worktree ")).count(), 2, "{trees}");
    // Where nothing can begin, no tree is left.
    let mut refused = desk.command(&["run", "--worktree=bad", "--fork", "no-such-session", "say hello"]);
    refused.current_dir(shop.path());
    assert_eq!(testkit::claude::Run::of(refused).code, Some(3));
    assert!(!shop.path().join(".claude/worktrees/bad").exists());
    let mut named = desk.command(&["run", "--worktree=../x", "say hello"]);
    named.current_dir(shop.path());
    assert_eq!(testkit::claude::Run::of(named).code, Some(2));
}
