//! Printed commands, pasted into every shell that people have: each runs what was printed, and nothing else.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::files::bytes;
use workers::{ClaudeTask, CommandLine, SessionStart, quoted};

/// The shells, with what makes each read a script and nothing of the person's.
const SHELLS: [(&str, &[&str]); 7] = [
    ("bash", &["bash", "--norc"]),
    ("bash in the C locale", &["bash", "--norc"]),
    ("dash", &["dash"]),
    ("busybox", &["busybox", "sh"]),
    ("fish", &["fish", "--no-config"]),
    ("zsh", &["zsh", "-f"]),
    ("mksh", &["mksh"]),
];

/// Texts that try to be more than a word; `{}` is a command that leaves a mark.
const ATTEMPTS: [&str; 57] = [
    "plain",
    "two words",
    "'; {} #",
    "\\'; {} #",
    "\\\\'; {} #",
    "''; {} #",
    "'\\''; {} #",
    "\\'\\'; {}; '",
    "\"; {} #",
    "\\\"; {} #",
    "`{}`",
    "'`{}`'",
    "$({})",
    "'$({})'",
    "\"$({})\"",
    "({})",
    "'({})'",
    "\\'({})\\'",
    "; {}",
    "&& {}",
    "|| {}",
    "| {}",
    "& {} &",
    "{} #",
    "# {}",
    "$'\\'; {} #",
    "$'x'",
    "$\"x\"",
    "\\",
    "\\\\",
    "\\\\\\",
    "'",
    "''",
    "'\\",
    "\\'",
    "a'b\\c'd",
    "é\\'ü",
    "日本\\",
    "!!",
    "!'!",
    "^a^b",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "~",
    "~root",
    "$HOME",
    "${HOME}",
    "%self",
    "=ls",
    "-P",
    "--help",
    "-",
    "<in",
    ">out",
    "👩\u{200d}👧 نمی\u{200c}خواهم",
];

/// Each attempt in four surroundings.
fn names() -> BTreeSet<String> {
    let surrounded = |attempt: &str| {
        let attempt = attempt.replace("{}", "touch PWN");
        [attempt.clone(), format!("a {attempt}"), format!("{attempt}'"), format!("\\{attempt} b")]
    };
    ATTEMPTS.into_iter().flat_map(surrounded).collect()
}

fn line(directory: &Path, word: &str) -> CommandLine {
    CommandLine {
        program: "/unused".into(),
        name: "claude".into(),
        directory: directory.to_owned(),
        config_folder: Some(directory.join("config")),
        task: ClaudeTask::Session(SessionStart::Resume("a1".parse().unwrap())),
        extra: vec![word.into()],
    }
}

/// A `claude` that says where it is, what it was given and where its config folder is.
fn put_claude(bin: &Path) {
    let script = "#!/bin/sh\nprintf '%s\\0' \"$(pwd -P)\" \"$CLAUDE_CONFIG_DIR\" \"$#\" \"$@\" >>\"$SAID\"\n";
    let program = bin.join("claude");
    fs::create_dir_all(bin).unwrap();
    fs::write(&program, script).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file and folder below.
fn below(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(below(&entry.path()));
        }
        found.insert(entry.path());
    }
    found
}

#[test]
fn every_shell_reads_what_was_printed_and_runs_nothing_else() {
    let scratch = tempfile::tempdir().unwrap();
    let root = scratch.path().canonicalize().unwrap();
    let (home, bin) = (root.join("home"), root.join("bin"));
    put_claude(&bin);
    fs::create_dir(&home).unwrap();
    let names = names();
    assert!(names.len() >= 224, "{}", names.len());
    let mut script = String::new();
    let mut expected = Vec::new();
    for (number, name) in names.iter().enumerate() {
        // Below a folder of its own, so that a name may be that of another folder.
        let directory = root.join("all").join(number.to_string()).join(name);
        fs::create_dir_all(&directory).unwrap();
        script += &line(&directory, name).to_shell().unwrap();
        script.push('\n');
        let config = directory.join("config");
        let parts = [directory.to_str().unwrap(), config.to_str().unwrap(), "2", "--resume=a1", name]
            .map(str::to_owned);
        expected.extend(parts);
    }
    fs::write(root.join("script"), &script).unwrap();
    assert!(!script.trim_end().replace('\n', "").contains(char::is_control));
    let before = below(&root.join("all"));
    std::thread::scope(|scope| {
        for (shell, words) in SHELLS {
            let (root, home, bin, expected) = (&root, &home, &bin, &expected);
            scope.spawn(move || {
                let said = root.join(format!("said by {shell}"));
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the shells are where the test's own programs are"
                )]
                let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
                let locale = if shell.ends_with('e') { "C" } else { "C.UTF-8" };
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).arg(root.join("script")).current_dir(home);
                command
                    .env_clear()
                    .env("PATH", path)
                    .env("HOME", home)
                    .env("LC_ALL", locale)
                    .env("SAID", &said);
                let output = command.output().unwrap_or_else(|error| panic!("{shell}: {error}"));
                let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success() && complaint.is_empty(), "{shell}: {complaint}");
                let said = String::from_utf8(bytes(&said)).unwrap();
                let said: Vec<&str> = said.trim_end_matches('\0').split('\0').collect();
                for (said, expected) in said.chunks(5).zip(expected.chunks(5)) {
                    assert_eq!(said, expected, "{shell}");
                }
                assert_eq!(said.len(), expected.len(), "{shell}");
            });
        }
    });
    assert_eq!(below(&root.join("all")), before, "nothing else was run");
    let touched: Vec<_> = below(&home).into_iter().filter(|path| path.ends_with("PWN")).collect();
    assert!(touched.is_empty(), "{touched:?}");
}

#[test]
fn words_that_shells_read_differently_are_not_printed() {
    let check = |directory: OsString| {
        let command = line(&Path::new("/nonexist").join(&directory), "x");
        let why = command.to_shell().unwrap_err().to_string();
        assert!(why.contains("which shells read differently"), "{why}");
        let command = CommandLine { extra: vec![directory], ..line(Path::new("/nonexist"), "x") };
        command.to_shell().unwrap_err();
    };
    for name in
        ["\n'; touch PWN; #", "a\nb", "\r", "\t", "\u{1b}[2J", "\u{85}", "\u{7f}", "x\n", "\u{202e}gpj"]
    {
        check(name.into());
    }
    for name in ["\u{61c}", "\u{2066}a", "\u{200b}", "\u{feff}", "\u{2028}", "\u{e0041}"] {
        check(name.into());
    }
    check(OsString::from_vec(b"a\xffb".to_vec()));
}

#[test]
fn a_relative_directory_is_never_an_option() {
    let check = |directory: &str, expected: &str| {
        let line = line(Path::new(directory), "x").to_shell().unwrap();
        assert!(line.starts_with(&format!("cd {expected} && ")), "{line}");
    };
    check("-", "./-");
    check("-P", "./-P");
    check("=ls", "'./=ls'");
    check("/-", "/-");
    assert_eq!(quoted("=ls").as_deref(), Some("'=ls'"));
}
