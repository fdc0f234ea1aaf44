//! One name for a model, however the provider that served it decorates it.

/// The model's own name: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `claude-sonnet-4-5@20250929` and
/// `claude-sonnet-4-5[1m]` are all `claude-sonnet-4-5`. A name that is not Claude's is left as it is.
pub fn plain_model(model: &str) -> &str {
    let Some(start) = model.find("claude-") else { return model };
    let name = &model[start..];
    let name = name.split(['[', '@', ':']).next().unwrap_or(name);
    let name = strip_bedrock_version(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    strip_date(name)
}

/// `…-v1`, what is left of Bedrock's `…-v1:0`.
fn strip_bedrock_version(name: &str) -> &str {
    match name.rsplit_once("-v") {
        Some((rest, version)) if is_digits(version) => rest,
        _ => name,
    }
}

/// Strips a date such as `-20250929`.
fn strip_date(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && is_digits(date) => rest,
        _ => name,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_normalized() {
        let check = |model: &str, expected: &str| assert_eq!(plain_model(model), expected);
        check("claude-opus-5-5", "claude-opus-5-5");
        check("claude-sonnet-4-5-20250929", "claude-sonnet-4-5");
        check("claude-sonnet-4-20250514", "claude-sonnet-4");
        check("claude-sonnet-4-5@20250929", "claude-sonnet-4-5");
        check("claude-opus-4-6[1m]", "claude-opus-4-6");
        check("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5");
        check("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet");
        check("anthropic.claude-opus-4-6-v1", "claude-opus-4-6");
        check(
            "arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0",
            "claude-haiku-4-5",
        );
        check("anthropic/claude-opus-5", "claude-opus-5");
        check("claude-3-5-haiku-latest", "claude-3-5-haiku");
        check("gpt-5.6[x]", "gpt-5.6[x]");
        check("claude-", "claude-");
        check("", "");
        check("claude-ü-20250929", "claude-ü");
    }
}
