//! The terminal that a command runs in, as long as it is the same one.

use system::ProcessStat;

/// A terminal, until the program that was first started in it ends: the next terminal may get its device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalSession {
    /// The name of the device.
    pub(crate) device: String,
    /// The process of that program; 0 where the system does not say, or where a container hides it.
    pub(crate) leader: u32,
}

impl TerminalSession {
    /// The one that this process is in, on the device of that name.
    pub fn of(device: String) -> Self {
        let leader = ProcessStat::own().map(|own| own.session);
        Self { device, leader: leader.unwrap_or_default() }
    }

    /// A name that no other has: of the program that was first started in it, and when; `None` where the system does not
    /// say, and where that is this process, with which it ends.
    pub(crate) fn name(&self) -> Option<String> {
        let leader = Some(self.leader).filter(|leader| *leader != 0 && *leader != std::process::id())?;
        Some(format!("terminal-{leader:0>7}-{:0>10}", ProcessStat::read(leader)?.started))
    }

    /// Whether the terminal of such a name is open.
    pub(crate) fn is_open(name: &str) -> bool {
        let parts = name.strip_prefix("terminal-").and_then(|rest| rest.split_once('-'));
        let found =
            parts.and_then(|(leader, started)| Some((ProcessStat::read(leader.parse().ok()?)?, started)));
        found.is_some_and(|(leader, started)| leader.started == started.trim_start_matches('0'))
    }
}
