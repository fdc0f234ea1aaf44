//! What this crate's own tests share.

use model::{Origin, Session, Usage};

/// A session of which nothing is known but its id.
pub(crate) fn session(id: &str) -> Session {
    Session {
        id: id.parse().unwrap(),
        origin: Origin::Native,
        file: None,
        repo_path: None,
        project: None,
        cwd: None,
        branch: None,
        title: None,
        first_message: None,
        last_prompt: None,
        created: None,
        last_modified: None,
        message_count: 0,
        visible_messages: 0,
        file_size: 0,
        usage: Usage::default(),
        context_tokens: 0,
        cost_usd: None,
        registry_cost_usd: None,
        registry_turns: None,
        last_task: None,
        nickname: None,
        is_running: false,
        activity: None,
        origin_marker: None,
        compactions: 0,
        budget_used_pct: None,
        permission_mode: None,
        version: None,
        entrypoint: None,
        forked_from: None,
        subagents: Vec::new(),
        archived: false,
    }
}
