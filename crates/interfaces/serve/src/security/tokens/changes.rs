//! Changes of the file of tokens, also by other processes, so that what a revoked token had open ends at once.

use std::ffi::OsStr;
use std::path::Path;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::watch;

/// Signals each change of the file of tokens.
pub(in crate::security) struct TokenChanges {
    changes: watch::Receiver<()>,
    /// Without one, a stream sees at its next comment that its token was revoked.
    _watcher: Option<RecommendedWatcher>,
}

impl TokenChanges {
    /// Watches the folder that the file is in: the file is replaced as a whole.
    pub(in crate::security) fn watch(file: &Path) -> Self {
        let (sender, changes) = watch::channel(());
        Self { changes, _watcher: watcher(file, sender).ok() }
    }

    /// Marked as changed by each change from now on.
    pub(in crate::security) fn subscribe(&self) -> watch::Receiver<()> {
        let mut changes = self.changes.clone();
        changes.mark_unchanged();
        changes
    }
}

fn watcher(file: &Path, sender: watch::Sender<()>) -> notify::Result<RecommendedWatcher> {
    let name = file.file_name().unwrap_or_default().to_owned();
    let signal = move |event: notify::Result<Event>| {
        if is_change(event, &name) {
            sender.send_replace(());
        }
    };
    let mut watcher = notify::recommended_watcher(signal)?;
    watcher.watch(file.parent().unwrap_or(file), RecursiveMode::NonRecursive)?;
    Ok(watcher)
}

/// Whether the file with this name may have changed: also where events were lost.
fn is_change(event: notify::Result<Event>, name: &OsStr) -> bool {
    let Ok(Event { kind, paths, .. }) = event else { return true };
    !matches!(kind, EventKind::Access(_)) && paths.iter().any(|path| path.file_name() == Some(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[tokio::test]
    async fn a_file_that_is_replaced_has_changed_and_others_have_not() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("tokens.json");
        let changes = TokenChanges::watch(&file);
        let mut subscribed = changes.subscribe();
        fs::write(scratch.path().join("crew.json"), "{}").unwrap();
        fs::write(scratch.path().join("new"), "[]").unwrap();
        fs::rename(scratch.path().join("new"), &file).unwrap();
        subscribed.changed().await.unwrap();
        // Who subscribes later has seen it.
        assert!(!changes.subscribe().has_changed().unwrap());
    }
}
