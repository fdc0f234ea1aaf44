//! The real `claude` of a scratch home, held where a program has just started it: so a test meets a moment that is
//! otherwise over in milliseconds.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use crate::files::{self, wait_until};
use crate::{Claude, ScratchHome};

/// What it was started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// To say its release.
    Version,
    /// To work.
    Work,
}

/// A `claude` that can be held at its next starts.
pub struct HoldableClaude {
    folder: PathBuf,
}

/// Holds every `claude` that is started for one purpose, until it is dropped.
pub struct HeldClaude {
    pipe: PathBuf,
    held: PathBuf,
    /// Those that are held read from the pipe, and go on when nobody can write to it any more.
    _writer: File,
}

impl Claude {
    /// Makes it the `claude` on this home's `PATH`, in the place of the one that may be there, but one that can be held.
    pub fn install_holdable(&self, home: &ScratchHome) -> HoldableClaude {
        // It may be that none is installed.
        let _ = fs::remove_file(home.path().join("bin/claude"));
        let link = self.install(home);
        let program = link.with_file_name("real-claude");
        fs::rename(&link, &program).expect("another name for `claude`");
        let folder = home.dir("held");
        let script = format!(
            "#!/bin/sh\n\
             start=work; [ \"$1\" != --version ] || start=version\n\
             if [ -p '{folder}'/$start ]; then\n\
             echo \"$PPID $$\" >>'{folder}'/$start.held\n\
             read -r end <'{folder}'/$start\n\
             fi\n\
             exec '{program}' \"$@\"\n",
            folder = folder.display(),
            program = program.display(),
        );
        // A program that is open for writing cannot be started, and any child of this process may have inherited a file
        // that was opened here: another process writes it.
        let text = home.write("held/claude.sh", script);
        let installed = Command::new("install").args(["-m", "755"]).arg(text).arg(&link).status();
        assert!(installed.expect("install").success(), "no new `claude` in the scratch home");
        HoldableClaude { folder }
    }
}

impl HoldableClaude {
    /// Holds every `claude` that is started from now on.
    pub fn hold(&self, start: Start) -> HeldClaude {
        let pipe = self.folder.join(match start {
            Start::Version => "version",
            Start::Work => "work",
        });
        let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success(), "no pipe {}", pipe.display());
        // For reading, too: so the system does not wait for a reader.
        let writer = File::options().read(true).write(true).open(&pipe).expect("a pipe just made");
        let held = pipe.with_extension("held");
        fs::write(&held, "").expect("a file in the scratch home");
        HeldClaude { pipe, held, _writer: writer }
    }
}

impl HeldClaude {
    /// Waits until a `claude` is held that this process started.
    #[track_caller]
    pub fn wait_for_child_of(&self, process: u32) {
        self.wait_for(&format!("process {process} starts claude"), |parent, _| parent == process);
    }

    /// Waits until this very process is held.
    #[track_caller]
    pub fn wait_for_process(&self, process: u32) {
        self.wait_for(&format!("claude {process} is held"), |_, own| own == process);
    }

    #[track_caller]
    fn wait_for(&self, what: &str, is_it: impl Fn(u32, u32) -> bool) {
        wait_until(self.held.parent().expect("a folder"), what, || {
            let text = String::from_utf8(files::bytes(&self.held)).expect("numbers");
            text.lines().any(|line| {
                let numbers: Vec<u32> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
                matches!(numbers[..], [parent, own] if is_it(parent, own))
            })
        });
    }
}

impl Drop for HeldClaude {
    fn drop(&mut self) {
        // First its name: who has not opened it by now does not begin to wait.
        let _ = fs::remove_file(&self.pipe);
    }
}
