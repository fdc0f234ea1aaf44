//! State folders that earlier builds wrote: they are read, and what cannot be made again is still there.
//!
//! `tests/earlier` has the `.backstory` of one session after `list`, `search`, `pick`, `cron add` and, in builds that knew
//! them, `name`, `tag` and `archive`, later `note` and `pin`, named by when the build was made. `scripts/keep-state` adds one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::claude::Run;
use testkit::{ScratchHome, Transcript};

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
/// The first of the builds that kept names, tags and copies.
const KEEPS: &str = "2026-11-23T12";
/// The first whose folder has a note and a pin.
const PINS: &str = "2026-11-29T09";

fn ask(home: &ScratchHome, arguments: &[&str]) -> Value {
    let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
    command.args(arguments).arg("--json");
    let run = Run::of(command).succeeded();
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", run.stdout))
}

/// Files that were put away as unusable.
fn set_aside(state: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(state).unwrap().chain(fs::read_dir(state.join("index")).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_string_lossy().ends_with(".set-aside")).collect()
}

/// The archives of all builds, the oldest first.
fn builds() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier");
    let mut builds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    builds.sort();
    builds
}

/// A home with the state folder of a build.
fn unpacked(build: &Path) -> ScratchHome {
    let home = ScratchHome::new();
    let unpacked = Command::new("tar").arg("-xzf").arg(build).arg("-C").arg(home.path()).status().unwrap();
    assert!(unpacked.success() && home.state_dir().join("catalog.sqlite").exists(), "{}", build.display());
    home
}

#[test]
fn state_folders_of_earlier_builds_are_read() {
    let builds = builds();
    assert!(builds.len() >= 6, "{builds:?}");
    for build in builds {
        let name = build.file_name().unwrap().to_string_lossy().into_owned();
        let home = unpacked(&build);
        let transcript = Transcript::new(ID).cwd(home.dir("shop")).prompt("Paint the garden fence green");
        let file =
            transcript.answer("The fence is green now; two coats of walrus-proof paint.").write_to(&home);
        let sessions = |arguments: &[&str]| ask(&home, arguments)["sessions"].as_array().map(Vec::len);
        assert_eq!(sessions(&["list"]), Some(1), "{name}");
        assert_eq!(ask(&home, &["search", "walrus"])["hits"].as_array().map(Vec::len), Some(1), "{name}");
        assert_eq!(ask(&home, &["cron", "list"])["jobs"][0]["name"], "nightly", "{name}");
        let _ = ask(&home, &["pick", "paint the garden fence", "--repo", "shop"]);
        if *name >= *KEEPS {
            assert_eq!(sessions(&["list", "--tag", "garden"]), Some(1), "{name}");
            assert_eq!(ask(&home, &["list"])["sessions"][0]["title"], "Green fence", "{name}");
        }
        if *name >= *PINS {
            let kept = &ask(&home, &["list"])["sessions"][0]["annotations"];
            assert_eq!((&kept["note"], &kept["pinned"]), (&"two coats".into(), &true.into()), "{name}");
        }
        assert!(set_aside(&home.state_dir()).is_empty(), "{name}: {:?}", set_aside(&home.state_dir()));
        fs::remove_file(file).unwrap();
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["show", ID]);
        let shown = Run::of(command);
        assert!(shown.stdout.contains("walrus-proof"), "{name}: its copy is read: {}", shown.stderr);
    }
}

/// Lets a database look as if a later build had changed its tables.
fn change_later(database: &Path) {
    let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 99')";
    let changed = Command::new("python3").args(["-c", script]).arg(database).status().unwrap();
    assert!(changed.success(), "{}", database.display());
}

#[test]
fn what_a_later_build_wrote_is_refused_and_left_as_it_is() {
    let home = unpacked(builds().last().unwrap());
    home.repository("shop");
    let check = |name: &str, arguments: &[&str]| {
        let file = home.state_dir().join(name);
        change_later(&file);
        let before = testkit::files::bytes(&file);
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(arguments);
        let run = Run::of(command);
        let said = format!("{}{}", run.stdout, run.stderr).replace('\n', " ");
        assert!(said.contains(&format!("{name} was written by a newer Backstory")), "{arguments:?}: {said}");
        assert!(
            said.contains("update Backstory, or move the file away to start over"),
            "{arguments:?}: {said}"
        );
        assert!(testkit::files::bytes(&file) == before, "{name} was changed");
    };
    check("annotations.sqlite", &["tag", ID, "red"]);
    check("schedule.sqlite", &["cron", "list"]);
    check("decisions.sqlite", &["pick", "paint the garden fence", "--repo", "shop"]);
    assert!(set_aside(&home.state_dir()).is_empty(), "{:?}", set_aside(&home.state_dir()));
    // What can be made again is put aside, and made again.
    change_later(&home.state_dir().join("catalog.sqlite"));
    fs::remove_file(home.state_dir().join("overview.bin")).unwrap();
    assert_eq!(ask(&home, &["list"])["sessions"].as_array().map(Vec::len), Some(1));
    let aside = set_aside(&home.state_dir());
    assert!(aside.iter().any(|path| path.ends_with("catalog.sqlite.set-aside")), "{aside:?}");
}
