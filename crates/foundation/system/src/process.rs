//! What the operating system says of processes: by `/proc` on Linux, elsewhere only whether one with an id exists.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};

use crate::read_small;

/// The largest file that is read from `/proc`, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A running process, from `proc_pid_stat(5)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// The id of the process that waits for it; 0 where a container hides that one.
    pub parent: u32,
    /// The id of its process group.
    pub group: u32,
    /// The process that leads its session: the first program of its terminal. 0 where a container hides that one.
    pub session: u32,
    /// When it started, in clock ticks since the system booted.
    pub started: String,
}

impl ProcessStat {
    /// The process that has this id now; `None` where there is none, it is a zombie, or there is no `/proc`.
    pub fn read(pid: u32) -> Option<Self> {
        Self::read_file(&format!("/proc/{pid}/stat"))
    }

    /// This process, also where `/proc` counts the processes of another namespace.
    pub fn own() -> Option<Self> {
        Self::read_file("/proc/self/stat")
    }

    fn read_file(path: &str) -> Option<Self> {
        Self::parse(&read_small(Path::new(path), MAX_FILE).ok()?)
    }

    fn parse(stat: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(stat);
        // The name before may contain spaces and brackets.
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let mut id = || fields.next()?.parse().ok();
        let (parent, group, session) = (id()?, id()?, id()?);
        Some(Self { parent, group, session, started: fields.nth(15)?.to_owned() })
    }
}

/// Whether this system says when processes started.
pub fn has_process_stats() -> bool {
    Path::new("/proc/self/stat").exists()
}

/// Whether any process has this id, a zombie included.
pub fn process_exists(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// The ids of all processes; none where there is no `/proc`.
pub fn process_ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process was started with this environment variable, as far as this user may see it.
pub fn has_variable(pid: u32, name: &str, value: &str) -> bool {
    let environment = read_small(Path::new(&format!("/proc/{pid}/environ")), MAX_FILE).unwrap_or_default();
    let wanted = format!("{name}={value}");
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}

/// Identifies the current boot of the system.
pub fn boot_id() -> Option<String> {
    let boot = read_small(Path::new("/proc/sys/kernel/random/boot_id"), MAX_FILE).ok()?;
    Some(String::from_utf8_lossy(&boot).trim().to_owned())
}

/// The name of the namespace in which this process's ids are unique: `pid:[4026531836]`.
pub fn pid_namespace() -> Option<PathBuf> {
    fs::read_link("/proc/self/ns/pid").ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_fields_follow_any_name() {
        let stat =
            |state: &str| format!("12 (a ) b) {state} 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 7777 20");
        let expected = ProcessStat { parent: 2, group: 3, session: 4, started: "7777".to_owned() };
        assert_eq!(ProcessStat::parse(stat("S").as_bytes()), Some(expected));
        assert_eq!(ProcessStat::parse(stat("Z").as_bytes()), None);
        assert_eq!(ProcessStat::parse(b"12 (a) S 1 2"), None);
        assert_eq!(ProcessStat::parse(b""), None);
    }

    #[test]
    fn a_process_is_there_until_it_has_ended() {
        let mut child = Command::new("sleep").arg("600").env("PROCESS_TEST", "one").spawn().unwrap();
        let pid = child.id();
        assert!(process_exists(pid) && process_ids().any(|other| other == pid));
        // Until it has become `sleep`, a new process has its parent's environment.
        while !has_variable(pid, "PROCESS_TEST", "one") {}
        assert!(!has_variable(pid, "PROCESS_TEST", "on"));
        let own = ProcessStat::own().unwrap();
        let stat = ProcessStat::read(pid).unwrap();
        assert_eq!((stat.parent, stat.session), (std::process::id(), own.session));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!((process_exists(pid), ProcessStat::read(pid)), (false, None));
    }

    #[test]
    fn this_process_has_a_boot_and_a_namespace() {
        assert!(has_process_stats());
        assert_eq!(boot_id().map(|id| id.len()), Some(36));
        assert!(pid_namespace().is_some_and(|name| name.to_string_lossy().starts_with("pid:[")));
    }
}
