//! Goes to the terminal that a session runs in: the pane of tmux, where it has one.

use std::io;
use std::process::{Command, Stdio};

/// What tmux prints of each pane, between tabs.
const FORMAT: &str =
    "#{pane_tty}\t#{pane_id}\t#{session_name}:#{window_index}.#{pane_index}\t#{session_name}";

/// A pane of tmux.
#[derive(Debug, PartialEq, Eq)]
struct Pane {
    id: String,
    /// For people: session, window and pane.
    name: String,
    session: String,
}

/// Shows the terminal of a process; returns what to say about it.
pub(crate) fn jump(pid: u32) -> String {
    let Some(terminal) = terminal(pid) else {
        return format!("process {pid} has no terminal");
    };
    let panes = output(&["list-panes", "-a", "-F", FORMAT]).unwrap_or_default();
    let Some(pane) = pane(&panes, &terminal) else {
        return format!("it is open in process {pid} on {terminal}");
    };
    let Pane { id, name, session } = pane;
    let shown = output(&["select-window", "-t", &id])
        .and_then(|_| output(&["select-pane", "-t", &id]))
        .and_then(|_| output(&["switch-client", "-t", &id]));
    match shown {
        Ok(_) => format!("tmux shows {name}"),
        // Nobody looks at that server, or watches from elsewhere.
        Err(_) => format!("it is in tmux at {name}: tmux attach -t {session}"),
    }
}

/// The terminal that a process is attached to, such as `/dev/pts/3`.
fn terminal(pid: u32) -> Option<String> {
    let ps = Command::new("ps").args(["-o", "tty=", "-p", &pid.to_string()]).stdin(Stdio::null()).output();
    let name = String::from_utf8(ps.ok()?.stdout).ok()?;
    let name = name.trim();
    let is_one = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/');
    is_one.then(|| format!("/dev/{name}"))
}

/// The output of a command of tmux that succeeds.
fn output(arguments: &[&str]) -> io::Result<String> {
    let run = Command::new("tmux").args(arguments).stdin(Stdio::null()).output()?;
    if !run.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&run.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// The pane with this terminal, among those that tmux printed.
fn pane(panes: &str, terminal: &str) -> Option<Pane> {
    panes.lines().find_map(|line| {
        let mut fields = line.split('\t');
        let owned = |text: &str| text.to_owned();
        (fields.next()? == terminal).then_some(())?;
        let (id, name, session) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Pane { id: owned(id), name: owned(name), session: owned(session) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_is_found_by_its_terminal() {
        let panes = "/dev/pts/1\t%0\twork:0.0\twork\n/dev/pts/12\t%7\tmy shop:2.1\tmy shop\nbroken\n";
        let found = pane(panes, "/dev/pts/12").unwrap();
        assert_eq!(
            (found.id.as_str(), found.name.as_str(), found.session.as_str()),
            ("%7", "my shop:2.1", "my shop")
        );
        assert_eq!(pane(panes, "/dev/pts/2"), None);
        assert_eq!(pane("", "/dev/pts/2"), None);
    }

    #[test]
    fn a_process_without_a_terminal_has_none() {
        assert_eq!(terminal(u32::MAX), None);
    }
}
