//! State folders that earlier builds wrote: they are read, and what cannot be made again is still there.
//!
//! `tests/earlier` has the `.backstory` of one session after `list`, `search`, `pick`, `cron add` and, in builds that knew
//! them, `name`, `tag` and `archive`, named by when the build was made.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::claude::Run;
use testkit::{ScratchHome, Transcript};

const ID: &str = "3601d36f-b6c0-4e4b-9000-7b07e25374f7";
/// The first of the builds that kept names, tags and copies.
const KEEPS: &str = "2026-11-23T12";

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

#[test]
fn state_folders_of_earlier_builds_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier");
    let mut builds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    builds.sort();
    assert!(builds.len() >= 5, "{builds:?}");
    for build in builds {
        let name = build.file_name().unwrap().to_string_lossy().into_owned();
        let home = ScratchHome::new();
        let unpacked =
            Command::new("tar").arg("-xzf").arg(&build).arg("-C").arg(home.path()).status().unwrap();
        assert!(unpacked.success() && home.state_dir().join("catalog.sqlite").exists(), "{name}");
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
        assert!(set_aside(&home.state_dir()).is_empty(), "{name}: {:?}", set_aside(&home.state_dir()));
        fs::remove_file(file).unwrap();
        let mut command = home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["show", ID]);
        let shown = Run::of(command);
        assert!(shown.stdout.contains("walrus-proof"), "{name}: its copy is read: {}", shown.stderr);
    }
}
