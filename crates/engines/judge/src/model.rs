//! Names of models in the Messages API and on Claude Code's command line.

/// A model's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// The model's id in the Messages API.
    pub api: String,
    /// The model's name for `claude --model`.
    pub alias: String,
}

/// Plain name, API id and Claude Code alias of each known model.
const MODELS: [(&str, &str, &str); 3] = [
    ("claude-haiku", "claude-haiku-4-5-20251001", "haiku"),
    ("claude-sonnet", "claude-sonnet-4-5-20250929", "sonnet"),
    ("claude-opus", "claude-opus-4-5-20251101", "opus"),
];

impl ModelName {
    /// Resolves the name in the settings; an unknown name is used for both as it is.
    pub fn from_setting(name: &str) -> Self {
        let known = MODELS.iter().find(|(plain, _, alias)| [*plain, *alias].contains(&name));
        let (api, alias) = known.map_or((name, name), |(_, api, alias)| (*api, *alias));
        Self { api: api.to_owned(), alias: alias.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_mapped() {
        let check = |name: &str, api: &str, alias: &str| {
            assert_eq!(ModelName::from_setting(name), ModelName { api: api.into(), alias: alias.into() });
        };
        check("claude-haiku", "claude-haiku-4-5-20251001", "haiku");
        check("haiku", "claude-haiku-4-5-20251001", "haiku");
        check("claude-haiku-5-5", "claude-haiku-5-5", "claude-haiku-5-5");
    }
}
