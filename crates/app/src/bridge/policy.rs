//! Which of the six tools an agent has.

use crate::config::settings::BridgeSettings;
use crate::{Context, Error, Kind};

/// A tool of the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tool {
    /// What the worker is to do, for whom and with which budget.
    ConversationContext,
    /// Searches what the agent remembers.
    MemorySearch,
    /// Announces something to the user of the agent's chat.
    Announce,
    /// What the session has cost and may cost.
    SessionInfo,
    /// The state of the worker's repository.
    ProjectStatus,
    /// The sessions of the worker's repository.
    SessionList,
}

impl Tool {
    /// All tools, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::ConversationContext,
        Self::MemorySearch,
        Self::Announce,
        Self::SessionInfo,
        Self::ProjectStatus,
        Self::SessionList,
    ];

    /// OpenClaw's name of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Self::ConversationContext => "openclaw_conversation_context",
            Self::MemorySearch => "openclaw_memory_search",
            Self::Announce => "openclaw_announce",
            Self::SessionInfo => "openclaw_session_info",
            Self::ProjectStatus => "openclaw_project_status",
            Self::SessionList => "openclaw_session_list",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        // The common beginning may be left out in the settings.
        Self::ALL
            .into_iter()
            .find(|tool| tool.name() == name || tool.name().strip_prefix("openclaw_") == Some(name))
    }
}

/// The tools that settings allow.
pub(super) fn tools(settings: &BridgeSettings) -> Result<Vec<Tool>, Error> {
    let wanted = settings.tools.iter().map(|name| {
        Tool::from_name(name).ok_or_else(|| {
            let known: Vec<_> = Tool::ALL.iter().map(|tool| tool.name()).collect();
            Error::new(
                Kind::Settings,
                format!("`bridge.tools` names `{name}`, which is not a tool of the bridge"),
            )
            .hint(format!("the tools are {}", known.join(", ")))
        })
    });
    let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
    Ok(Tool::ALL.into_iter().filter(|tool| settings.enabled && wanted.contains(tool)).collect())
}

/// What OpenClaw's own configuration says about its bridge.
pub(super) fn in_openclaw(context: &Context) -> Option<bool> {
    let config = context.config();
    let first = || config.store_folders().first().map(|state| openclaw::OpenClawConfig::find(state));
    let read = config.openclaw_configuration.as_deref().map(openclaw::OpenClawConfig::read).or_else(first);
    read.and_then(|config| config.bridge_enabled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_listed_in_their_own_order() {
        let check = |enabled: bool, names: &[&str], expected: Option<&[Tool]>| {
            let tools = names.iter().map(|name| (*name).to_owned()).collect();
            let found = super::tools(&BridgeSettings { enabled, tools });
            assert_eq!(found.ok().as_deref(), expected, "{names:?}");
        };
        check(true, &[], Some(&[]));
        check(true, &["session_list", "openclaw_announce"], Some(&[Tool::Announce, Tool::SessionList]));
        check(false, &["openclaw_announce"], Some(&[]));
        check(true, &["openclaw_spawn"], None);
    }
}
