//! Tells an agent's worker where and for whom it works, appended to its system prompt.
//!
//! The format is CrewHub's context envelope, version 1: a line naming the agent, followed by fenced JSON.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Maximum size of an envelope in bytes; parts that do not fit are omitted.
const MAX_BYTES: usize = 2048;
/// Opening fence of the JSON.
const FENCE: &str = "```crewhub-context";

/// The context of an agent's worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Id of the agent.
    pub agent: &'a str,
    /// Name of the project.
    pub project: &'a str,
    /// Path of the repository.
    pub repo: &'a Path,
}

impl Envelope<'_> {
    /// Appends the envelope to the system prompt's addition, unless that contains an envelope already.
    pub fn append_to(&self, appended: Option<&str>) -> String {
        match appended {
            Some(text) if text.contains(FENCE) => text.to_owned(),
            Some(text) => format!("{text}\n\n{}", self.text()),
            None => self.text(),
        }
    }

    fn text(&self) -> String {
        let with = |projects: Value| {
            let mut all = json!({
                "v": 1,
                "projects": projects,
                "privacy": "internal",
                "context_version": 1,
                "self": {"handle": format!("@{}", self.agent), "agentId": self.agent},
            });
            // `serde_json` sorts the names: the same content has the same hash.
            let digest = Sha256::digest(all.to_string().as_bytes());
            let first = digest.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
            let hash = format!("{first:016x}");
            all["context_hash"] = hash.into();
            format!("**You are {}**\n\n{FENCE}\n{all}\n```", self.agent)
        };
        let repo = self.repo.to_string_lossy();
        let whole = with(json!([{"id": self.project, "name": self.project, "repo": repo}]));
        if whole.len() <= MAX_BYTES { whole } else { with(json!([])) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(project: &str) -> Envelope<'_> {
        Envelope { agent: "main", project, repo: Path::new("/p/shop") }
    }

    #[test]
    fn the_envelope_names_agent_project_and_repository() {
        let text = envelope("shop").append_to(None);
        let (who, rest) = text.split_once("\n\n```crewhub-context\n").unwrap();
        assert_eq!(who, "**You are main**");
        let found: Value = serde_json::from_str(rest.strip_suffix("\n```").unwrap()).unwrap();
        assert_eq!(found["projects"], json!([{"id": "shop", "name": "shop", "repo": "/p/shop"}]));
        assert_eq!((&found["v"], &found["self"]["agentId"]), (&json!(1), &json!("main")));
        let hash = found["context_hash"].as_str().unwrap();
        assert_eq!(hash.len(), 16);
        assert_ne!(
            hash,
            envelope("other").text().split("context_hash\":\"").nth(1).unwrap().get(..16).unwrap()
        );
    }

    #[test]
    fn the_envelope_is_appended_once_and_bounded() {
        let once = envelope("shop").append_to(Some("Be kind."));
        assert!(once.starts_with("Be kind.\n\n**You are main**"));
        assert_eq!(envelope("other").append_to(Some(&once)), once);
        let long = "x".repeat(5000);
        assert!(envelope(&long).append_to(None).len() <= MAX_BYTES);
    }
}
