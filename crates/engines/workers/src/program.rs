//! Finds the installed `claude` and determines its release.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use system::{CommandLimits, run_command};

use crate::Release;

/// Maximum size of the output in bytes.
const CAP: u64 = 4096;

/// An installed `claude`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Path of the program.
    pub path: PathBuf,
    /// What the user types to run it: a plain name if it is found through `PATH`, else the path.
    pub name: OsString,
}

impl Program {
    /// Finds a program by its path, or by name in `search_path` as a shell does.
    pub fn find(wanted: &OsStr, search_path: &OsStr) -> Option<Self> {
        let name = wanted.to_owned();
        if Path::new(wanted).components().count() > 1 {
            return is_program(Path::new(wanted)).then(|| Self { path: wanted.into(), name });
        }
        let folders = std::env::split_paths(search_path).filter(|folder| folder.is_absolute());
        let path = folders.map(|folder| folder.join(wanted)).find(|path| is_program(path))?;
        Some(Self { path, name })
    }

    /// The program's release; `None` if it does not report one within `limit`.
    ///
    /// `--version` runs in `home`, where it neither reads nor writes a project's files.
    pub fn release(&self, home: &Path, limit: Duration) -> Option<Release> {
        let mut command = Command::new(&self.path);
        command.arg("--version").current_dir(home);
        let limits = CommandLimits { time: limit, stdout: CAP, stderr: 0 };
        let output = run_command(command, None, limits).ok()?;
        String::from_utf8_lossy(&output.stdout).parse().ok()
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn script(path: &Path, mode: u32, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        let scratch = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| scratch.path().join(name));
        for folder in [&one, &two] {
            fs::create_dir(folder).unwrap();
        }
        script(&one.join("claude"), 0o644, "not a program");
        script(&two.join("claude"), 0o755, "#!/bin/sh\n");
        let path = std::env::join_paths([&one, &two]).unwrap();
        let find = |wanted: &OsStr| Program::find(wanted, &path).map(|found| found.path);
        assert_eq!(find("claude".as_ref()), Some(two.join("claude")));
        assert_eq!(find("clod".as_ref()), None);
        assert_eq!(find(two.join("claude").as_os_str()), Some(two.join("claude")));
        assert_eq!(find(one.join("claude").as_os_str()), None);
        assert_eq!(find(two.as_os_str()), None);
    }

    #[test]
    fn the_release_is_read_from_the_program() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("claude");
        let check = |text: &str, expected: Option<&str>| {
            script(&path, 0o755, &format!("#!/bin/sh\n{text}\n"));
            let program = Program { path: path.clone(), name: "claude".into() };
            let found = program.release(scratch.path(), LIMIT).map(|release| release.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        };
        check("echo '2.1.329 (Claude Code)'", Some("2.1.329"));
        check("echo unknown", None);
        check("exit 1", None);
        // One that never stops talking is cut off, not waited for.
        check("exec yes 2.1.329", Some("2.1.329"));
    }
}
