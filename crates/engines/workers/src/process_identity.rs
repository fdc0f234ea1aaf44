//! Identifies processes beyond their ids, which are reused, and finds the processes of lost workers.

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::command_line::MARK_VARIABLE;

/// The identity of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct ProcessIdentity {
    /// Process id.
    pub pid: u32,
    /// When the process started: the system's boot id and clock ticks since boot (`proc_pid_stat(5)`). `None`
    /// on systems without `/proc`.
    #[serde(rename = "began")]
    pub started: Option<String>,
}

impl ProcessIdentity {
    /// The process that has this id now; `None` if there is none.
    pub fn from_pid(pid: u32) -> Option<Self> {
        if !system::has_process_stats() {
            return system::process_exists(pid).then_some(Self { pid, started: None });
        }
        let started = system::ProcessStat::read(pid)?.started;
        let boot = system::boot_id().unwrap_or_default();
        Some(Self { pid, started: Some(format!("{boot}/{started}")) })
    }

    /// This process.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self::from_pid(pid).unwrap_or(Self { pid, started: None })
    }

    /// Whether the process is still running.
    pub fn is_alive(&self) -> bool {
        Self::from_pid(self.pid).is_some_and(|now| self.started.is_none() || now.started == self.started)
    }

    /// Sends a signal to the process group if the process is alive.
    pub fn signal_group(&self, signal: Signal) {
        if let Some(group) = pid_number(self.pid).filter(|_| self.is_alive()) {
            // It has ended by itself where it does not arrive.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Finds the process with a worker's mark that leads its process group.
    pub fn find_by_mark(mark: &str) -> Option<Self> {
        let leads = |pid: &u32| system::ProcessStat::read(*pid).is_some_and(|stat| stat.group == *pid);
        marked_processes(mark).find(leads).and_then(Self::from_pid)
    }

    /// Kills all remaining processes with a worker's mark; the shells of its tools have process groups of
    /// their own.
    pub(crate) fn kill_marked(mark: &str) {
        for pid in marked_processes(mark).filter(|pid| *pid != std::process::id()).filter_map(pid_number) {
            // It has ended by itself where it does not arrive.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Ids of the processes started with a worker's mark.
fn marked_processes(mark: &str) -> impl Iterator<Item = u32> {
    system::process_ids().filter(move |pid| system::has_variable(*pid, MARK_VARIABLE, mark))
}

fn pid_number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command};

    use super::*;

    fn sleeper(mark: &str) -> Child {
        Command::new("sleep").arg("600").env(MARK_VARIABLE, mark).process_group(0).spawn().unwrap()
    }

    #[test]
    fn a_process_is_alive_until_it_ends() {
        assert!(ProcessIdentity::current().is_alive());
        let mut child = sleeper("life-one");
        let life = ProcessIdentity::from_pid(child.id()).unwrap();
        let other = ProcessIdentity { started: Some("another-boot/1".into()), ..life.clone() };
        assert!(life.is_alive() && !other.is_alive(), "the number alone is not the process");
        other.signal_group(Signal::KILL);
        assert!(life.is_alive());
        life.signal_group(Signal::KILL);
        child.wait().unwrap();
        assert!(!life.is_alive());
    }

    #[test]
    fn a_zombie_process_is_not_alive() {
        let mut child = sleeper("life-two");
        let life = ProcessIdentity::from_pid(child.id()).unwrap();
        child.kill().unwrap();
        while life.is_alive() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_process_is_found_by_its_mark() {
        let mark = format!("{}-marked", std::process::id());
        assert_eq!(ProcessIdentity::find_by_mark(&mark), None);
        let mut child = sleeper(&mark);
        // Until it has become `sleep`, a new process has its parent's environment.
        let found = std::iter::repeat_with(|| ProcessIdentity::find_by_mark(&mark)).flatten().next();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(found.map(|life| life.pid), Some(child.id()));
    }
}
