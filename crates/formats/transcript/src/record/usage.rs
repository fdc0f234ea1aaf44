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
        geo = "inference_geo",
        iterations = "iterations",
    }
}

raw_fields! {
    /// One pass of a model over a prompt.
    struct Iteration {
        kind = "type",
        model = "model",
        input = "input_tokens",
        output = "output_tokens",
        cache_read = "cache_read_input_tokens",
        cache_write = "cache_creation_input_tokens",
        by_lifetime: Option<Lifetimes<'a>> = "cache_creation",
    }
}

raw_fields! {
    /// Cache writes by how long they are kept.
    pub(crate) struct Lifetimes { one_hour = "ephemeral_1h_input_tokens", five_minutes = "ephemeral_5m_input_tokens" }
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

    /// The terms they were used under. Claude Code counts a speed that it does not know as fast.
    pub(crate) fn terms(self) -> PricingTerms {
        let is_usual = !self.speed.is_text() || self.speed.is("standard") || self.speed.is("");
        PricingTerms { batch: self.tier.is("batch"), fast: !is_usual, us: self.geo.is("us") }
    }

    /// What is to be paid for: the message itself, answered by `model`, and what it took besides.
    ///
    /// The counters are the sum over the passes of type `message`. An advisor's answer and a compaction are not in them;
    /// a pass of any other type is where that sum needs it.
    pub(crate) fn charges<'a>(self, model: &str) -> Charges<'a>
    where
        Self: 'a,
    {
        let whole = self.usage();
        if !self.iterations.is_array() {
            return Charges { own: whole, ..Charges::default() };
        }
        let passes: Vec<Iteration<'_>> = self.iterations.elements().map(Iteration::from_raw).collect();
        let sum = |is_in: &dyn Fn(&Iteration<'_>) -> bool| {
            passes.iter().filter(|pass| is_in(pass)).fold(Usage::default(), |sum, pass| sum + pass.usage())
        };
        let is_complete = prompt_and_answer(sum(&|pass| pass.kind.is("message"))) == prompt_and_answer(whole);
        let is_beside = |pass: &Iteration<'_>| match pass.kind.plain() {
            Some("message") => false,
            Some("advisor_message" | "compaction") => true,
            _ => is_complete,
        };
        let inside: Vec<_> = passes.iter().filter(|pass| !is_beside(pass)).collect();
        let is_sum = prompt_and_answer(sum(&|pass| !is_beside(pass))) == prompt_and_answer(whole);
        let mut charges = Charges { own: whole, ..Charges::default() };
        if is_sum && inside.len() > 1 {
            charges.requests = with_lifetimes(&inside, whole);
            for (at, pass) in inside.iter().enumerate().rev() {
                if let Some(other) = pass.model.plain().filter(|other| *other != model) {
                    let usage = charges.requests.remove(at);
                    charges.own = charges.own.saturating_sub(usage);
                    charges.beside.insert(0, (Some(other), usage));
                }
            }
        }
        charges.beside.extend(
            passes.iter().filter(|pass| is_beside(pass)).map(|pass| (pass.model.plain(), pass.usage())),
        );
        charges
    }

    /// The tokens of the last pass over the conversation: the size of the context.
    pub(crate) fn last_pass(self) -> Usage {
        let is_in = |pass: &Iteration<'_>| pass.kind.is("message") || pass.kind.is("fallback_message");
        let last = self.iterations.elements().map(Iteration::from_raw).filter(is_in).last();
        last.map(Iteration::usage).filter(|usage| usage.context() > 0).unwrap_or_else(|| self.usage())
    }
}

/// What is to be paid for one message.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Charges<'a> {
    /// The message itself.
    pub(crate) own: Usage,
    /// Its parts, where there are several.
    pub(crate) requests: Vec<Usage>,
    /// What it took besides: the model, if it is another one, and its tokens.
    pub(crate) beside: Vec<(Option<&'a str>, Usage)>,
}

impl Iteration<'_> {
    fn usage(self) -> Usage {
        let Self { input, output, cache_read, cache_write, by_lifetime, .. } = self;
        Counters { input, output, cache_read, cache_write, by_lifetime, ..Counters::default() }.usage()
    }

    /// Cache writes of which the pass itself does not say how long they are kept.
    fn of_unknown_lifetime(self) -> u64 {
        let usage = self.usage();
        let said = self.by_lifetime.unwrap_or_default().five_minutes.count().unwrap_or(0);
        usage.cache_write_5m.saturating_sub(said)
    }
}

/// The counters that passes have, too.
fn prompt_and_answer(usage: Usage) -> [u64; 4] {
    [usage.input, usage.output, usage.cache_read, usage.cache_write()]
}

/// The tokens of each pass. What the whole has written to the one-hour cache is theirs, first come, first served.
fn with_lifetimes(passes: &[&Iteration<'_>], whole: Usage) -> Vec<Usage> {
    let said = passes.iter().map(|pass| pass.usage().cache_write_1h).sum();
    let mut left = whole.cache_write_1h.saturating_sub(said);
    let of_pass = |pass: &&Iteration<'_>| {
        let (usage, taken) = (pass.usage(), left.min(pass.of_unknown_lifetime()));
        left -= taken;
        Usage {
            cache_write_5m: usage.cache_write_5m - taken,
            cache_write_1h: usage.cache_write_1h + taken,
            ..usage
        }
    };
    passes.iter().map(of_pass).collect()
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

    #[test]
    fn terms_of_any_shape() {
        let check = |json: &str, terms: [bool; 3]| {
            let PricingTerms { batch, fast, us } = Counters::from_raw(Raw::new(json)).terms();
            assert_eq!([batch, fast, us], terms, "{json}");
        };
        check(r#"{"service_tier":"standard","speed":"standard","inference_geo":"global"}"#, [false; 3]);
        check(r#"{"service_tier":null,"speed":null,"inference_geo":null}"#, [false; 3]);
        check(r#"{"service_tier":"batch","speed":"fast","inference_geo":"us"}"#, [true; 3]);
        check(r#"{"speed":"of tomorrow"}"#, [false, true, false]);
        check(r#"{"speed":"","inference_geo":"not_available"}"#, [false; 3]);
    }

    /// The charges of passes, each `type input output model`, under a top level of `input output`.
    fn charges(whole: (u64, u64), passes: &[(&str, u64, u64, &str)]) -> String {
        let passes: Vec<_> = passes
            .iter()
            .map(|(kind, input, output, model)| {
                let model = if model.is_empty() { serde_json::Value::Null } else { (*model).into() };
                serde_json::json!({"type": kind, "model": model, "input_tokens": input, "output_tokens": output})
            })
            .collect();
        let (input, output) = whole;
        let json = serde_json::json!({"input_tokens": input, "output_tokens": output, "iterations": passes})
            .to_string();
        let counters = Counters::from_raw(Raw::new(&json));
        let Charges { own, requests, beside } = counters.charges("m");
        let short = |usage: &Usage| format!("{}/{}", usage.input, usage.output);
        let beside: Vec<_> =
            beside.iter().map(|(model, usage)| format!("{}:{}", model.unwrap_or(""), short(usage))).collect();
        let requests: Vec<_> = requests.iter().map(short).collect();
        format!("{} [{}] {}", short(&own), requests.join(" "), beside.join(" ")).trim_end().to_owned()
    }

    #[test]
    fn every_pass_is_paid_for_once() {
        assert_eq!(charges((5, 6), &[]), "5/6 []");
        assert_eq!(charges((5, 6), &[("message", 5, 6, "")]), "5/6 []");
        assert_eq!(charges((5, 6), &[("message", 2, 3, ""), ("message", 3, 3, "m")]), "5/6 [2/3 3/3]");
        let advised = [("message", 2, 3, ""), ("advisor_message", 90, 9, "big"), ("message", 3, 3, "")];
        assert_eq!(charges((5, 6), &advised), "5/6 [2/3 3/3] big:90/9");
        let compacted = [("compaction", 90, 9, ""), ("message", 5, 6, "")];
        assert_eq!(charges((5, 6), &compacted), "5/6 [] :90/9");
        // Passes that do not add up say nothing of the parts.
        assert_eq!(charges((9, 9), &[("message", 2, 3, ""), ("message", 3, 3, "")]), "9/9 []");
        let fallen_back = [("message", 2, 3, ""), ("fallback_message", 3, 3, "other")];
        assert_eq!(charges((5, 6), &fallen_back), "2/3 [2/3] other:3/3");
        assert_eq!(charges((2, 3), &fallen_back), "2/3 [] other:3/3");
    }
}
