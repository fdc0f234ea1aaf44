//! The session in which a request is made. Searches leave it out: a question about past work is not about the
//! current conversation.

use std::sync::Arc;

use model::SessionId;
use transcript::{ConfigFolder, RegisteredProcess};

use crate::{App, Config, Context};

impl Context {
    /// The Claude Code session that asks, if one does. It is left out of results unless it is named by its id.
    ///
    /// The variable holds the session with which Claude Code began; after `/clear` or a resume only its registry knows
    /// the one of now.
    pub(crate) fn asking_session(&self) -> Option<SessionId> {
        let config = self.config();
        let registries =
            || config.claude_folders.iter().map(|folder| ConfigFolder::new(folder).live_registry());
        let of_parent = |pid| registries().find_map(|registry| RegisteredProcess::of_process(&registry, pid));
        let parent = config.parent_process.and_then(of_parent).map(|live| live.session);
        parent.or_else(|| config.claude_session.clone())
    }

    /// The context of a server process: the session that started it is not the one that asks.
    #[must_use]
    pub fn for_other_processes(&self) -> Self {
        let config =
            Config { claude_session: None, worker_mark: None, parent_process: None, ..self.config().clone() };
        Self { app: Arc::new(App { config, ..App::clone(&self.app) }), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::context;

    #[test]
    fn the_current_session_of_a_process_wins_over_its_first() {
        let home = tempfile::tempdir().unwrap();
        let registry = ConfigFolder::new(home.path()).live_registry();
        std::fs::create_dir_all(&registry).unwrap();
        let parent = std::process::id();
        let record = format!(r#"{{"pid":{parent},"sessionId":"now"}}"#);
        std::fs::write(registry.join(format!("{parent}.json")), record).unwrap();
        let config = Config {
            claude_folders: vec![home.path().to_owned()],
            claude_session: Some("before".parse().unwrap()),
            ..Config::default()
        };
        let asking = |parent_process| {
            let asked = context(Config { parent_process, ..config.clone() });
            (asked.asking_session(), asked.for_other_processes().asking_session())
        };
        assert_eq!(asking(Some(parent)), (Some("now".parse().unwrap()), None));
        assert_eq!(asking(Some(u32::MAX)), (Some("before".parse().unwrap()), None));
        assert_eq!(asking(None), (Some("before".parse().unwrap()), None));
    }
}
