//! The `usage` object of an API message.

use model::{PricingTerms, Usage};

use crate::json::{Raw, raw_fields};

raw_fields! {
    /// The `usage` object of an API message.
    pub(crate) struct Counters {
        input = "input_tokens",
        output = "output_tokens",
        cache_read = "cache_read_input_tokens",
        cache_write = "cache_creation_input_tokens",
        by_lifetime: Option<Lifetimes<'a>> = "cache_creation",
        server_tools: Option<ServerTools<'a>> = "server_tool_use",
        tier = "service_tier",
        speed = "speed",
    }
}

raw_fields! {
    /// Cache writes by how long they are kept.
    pub(crate) struct Lifetimes { one_hour = "ephemeral_1h_input_tokens" }
}

raw_fields! {
    /// The use of the API's own tools.
    pub(crate) struct ServerTools { web_searches = "web_search_requests" }
}

impl Counters<'_> {
    /// The tokens of each kind.
    pub(crate) fn usage(self) -> Usage {
        let count = |field: Raw<'_>| field.count().unwrap_or(0);
        let all_writes = count(self.cache_write);
        let one_hour = count(self.by_lifetime.unwrap_or_default().one_hour).min(all_writes);
        Usage {
            input: count(self.input),
            output: count(self.output),
            cache_read: count(self.cache_read),
            cache_write_5m: all_writes - one_hour,
            cache_write_1h: one_hour,
            web_searches: count(self.server_tools.unwrap_or_default().web_searches),
        }
    }

    /// The terms they were used under.
    pub(crate) fn terms(self) -> PricingTerms {
        PricingTerms { batch: self.tier.is("batch"), fast: self.speed.is("fast") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_any_shape() {
        let check = |json: &str, expected: Usage| {
            assert_eq!(Counters::from_raw(Raw::new(json)).usage(), expected, "{json}");
        };
        check("null", Usage::default());
        check(r#""all""#, Usage::default());
        check(r#"{"input_tokens":4,"output_tokens":83}"#, Usage { input: 4, output: 83, ..Usage::default() });
        check(
            r#"{"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_1h_input_tokens":40,"ephemeral_5m_input_tokens":60},"cache_read_input_tokens":null}"#,
            Usage { cache_write_5m: 60, cache_write_1h: 40, ..Usage::default() },
        );
        check(r#"{"cache_creation_input_tokens":100}"#, Usage { cache_write_5m: 100, ..Usage::default() });
        check(r#"{"input_tokens":-1,"output_tokens":1e400}"#, Usage::default());
    }
}
