//! Prices of API messages: the person's own, else those of the table that is compiled in (`prices.toml`).

use std::fmt;
use std::sync::LazyLock;

use jiff::civil::Date;
use model::{PricingTerms, Usage};
use serde::Deserialize;

use crate::name::plain_model;

/// The prices that hold: the person's own, and the built-in table for every model without one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    own: Vec<Rates>,
}

/// What a person pays for a model, in US dollars per million tokens. What is left out costs what the table says; for a
/// model that is not in it, a cache read or write costs as much as input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnPrice {
    /// Input that is neither read from nor written to the cache.
    pub input: Option<f64>,
    /// Output, thinking included.
    pub output: Option<f64>,
    /// Input read from the cache.
    pub cache_read: Option<f64>,
    /// Input written to the cache for five minutes.
    pub cache_write_5m: Option<f64>,
    /// Input written to the cache for an hour.
    pub cache_write_1h: Option<f64>,
}

/// Why a person's price cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidPrice {
    /// A price is negative or no number.
    NotAPrice,
    /// The model is not in the table, and its input or output has no price.
    Incomplete,
}

impl fmt::Display for InvalidPrice {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::NotAPrice => "a price must be a number of at least 0",
            Self::Incomplete => "the built-in table lacks this model, so it needs `input` and `output`",
        })
    }
}

impl std::error::Error for InvalidPrice {}

impl Prices {
    /// Sets the price of a model, and of its variants such as dated names.
    pub fn set(&mut self, model: &str, price: OwnPrice) -> Result<(), InvalidPrice> {
        let OwnPrice { input, output, cache_read, cache_write_5m, cache_write_1h } = price;
        let given = [input, output, cache_read, cache_write_5m, cache_write_1h];
        if given.into_iter().flatten().any(|price| !price.is_finite() || price < 0.0) {
            return Err(InvalidPrice::NotAPrice);
        }
        let name = plain_model(model);
        let listed = listed(name);
        let either = |own: Option<f64>, listed: Option<f64>| own.or(listed).ok_or(InvalidPrice::Incomplete);
        let input = either(input, listed.map(|rates| rates.input))?;
        let cache = |own: Option<f64>, listed: Option<f64>| own.or(listed).unwrap_or(input);
        let rates = Rates {
            names: vec![name.to_owned()],
            input,
            output: either(output, listed.map(|rates| rates.output))?,
            cache_read: cache(cache_read, listed.map(|rates| rates.cache_read)),
            cache_write_5m: cache(cache_write_5m, listed.map(|rates| rates.cache_write_5m)),
            cache_write_1h: cache(cache_write_1h, listed.map(|rates| rates.cache_write_1h)),
            fast: listed.and_then(|rates| rates.fast),
            long: listed.and_then(|rates| rates.long),
            is_own: true,
        };
        self.own.retain(|known| known.names != rates.names);
        self.own.push(rates);
        Ok(())
    }

    /// The price of one API message in US dollars; `None` for a model or terms that no price is known of.
    ///
    /// `usage` has to be of a single message: some models charge more for long input.
    pub fn price(&self, model: &str, usage: &Usage, terms: PricingTerms) -> Option<f64> {
        self.rates(model)?.price(usage, terms)
    }

    /// Whether the person set the price of a model.
    pub fn is_own(&self, model: &str) -> bool {
        longest(&self.own, plain_model(model)).is_some()
    }

    /// The rates of a model.
    pub(crate) fn rates(&self, model: &str) -> Option<&Rates> {
        let model = plain_model(model);
        longest(&self.own, model).or_else(|| listed(model))
    }
}

/// The day up to which the table was kept.
pub fn prices_as_of() -> Option<Date> {
    TABLE.as_of
}

/// The table's row for a model.
fn listed(model: &str) -> Option<&'static Rates> {
    longest(&TABLE.models, model)
}

/// The rates of a model, by the longest name that begins it.
fn longest<'a>(all: &'a [Rates], model: &str) -> Option<&'a Rates> {
    let named = all.iter().flat_map(|rates| rates.names.iter().map(move |name| (name, rates)));
    named.filter(|(name, _)| begins(name, model)).max_by_key(|(name, _)| name.len()).map(|(_, rates)| rates)
}

/// Whether a model is the named one or a variant of it (`…-thinking`); a further number is another model.
fn begins(name: &str, model: &str) -> bool {
    let Some(rest) = model.strip_prefix(name) else { return false };
    rest.is_empty()
        || rest.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// One model's prices in US dollars per million tokens, and what multiplies them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rates {
    names: Vec<String>,
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write_5m: f64,
    cache_write_1h: f64,
    fast: Option<f64>,
    long: Option<Long>,
    /// Whether the person has set them.
    #[serde(skip)]
    is_own: bool,
}

/// The factors for a message with more than `over` input tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Long {
    over: u64,
    input: f64,
    output: f64,
}

impl Rates {
    /// The price of one message; `None` when the table has no factor for the terms it was served on.
    pub(crate) fn price(&self, usage: &Usage, terms: PricingTerms) -> Option<f64> {
        self.price_of_parts(usage, &[], terms)
    }

    /// The same for one whose parts are known, if it has any: each is as long as its own prompt.
    pub(crate) fn price_of_parts(&self, usage: &Usage, parts: &[Usage], terms: PricingTerms) -> Option<f64> {
        let batch = if terms.batch { TABLE.shared.batch } else { 1.0 };
        let fast = if terms.fast { self.fast? } else { 1.0 };
        // Who says what they pay has said it for where they are served.
        let us = if terms.us && !self.is_own { TABLE.shared.us } else { 1.0 };
        let parts =
            if self.long.is_some() && !parts.is_empty() { parts } else { std::slice::from_ref(usage) };
        let tokens: f64 = parts.iter().map(|part| self.tokens(part)).sum();
        Some(tokens * batch * fast * us + searches(usage))
    }

    /// The price of one prompt and its answer on usual terms.
    fn tokens(&self, usage: &Usage) -> f64 {
        let (input, output) = match &self.long {
            Some(long) if usage.context() > long.over => (long.input, long.output),
            _ => (1.0, 1.0),
        };
        self.prompt(usage) * input + self.answer(usage) * output
    }

    /// The price in US dollars of several messages on usual terms of which only the sum is known.
    pub(crate) fn price_of_sum(&self, usage: &Usage) -> f64 {
        self.prompt(usage) + self.answer(usage) + searches(usage)
    }

    fn prompt(&self, usage: &Usage) -> f64 {
        dollars(usage.input, self.input)
            + dollars(usage.cache_read, self.cache_read)
            + dollars(usage.cache_write_5m, self.cache_write_5m)
            + dollars(usage.cache_write_1h, self.cache_write_1h)
    }

    fn answer(&self, usage: &Usage) -> f64 {
        dollars(usage.output, self.output)
    }
}

fn searches(usage: &Usage) -> f64 {
    usage.web_searches as f64 * TABLE.shared.web_search_per_1000 / 1e3
}

fn dollars(tokens: u64, per_million: f64) -> f64 {
    tokens as f64 * per_million / 1e6
}

/// The whole of `prices.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceTable {
    as_of: Option<Date>,
    shared: SharedRates,
    #[serde(rename = "model")]
    models: Vec<Rates>,
}

/// The rates that apply to every model.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedRates {
    web_search_per_1000: f64,
    batch: f64,
    us: f64,
}

/// The table is part of the program, and a test reads it: it cannot fail here.
static TABLE: LazyLock<PriceTable> = LazyLock::new(|| toml::from_str(TEXT).unwrap_or_default());

const TEXT: &str = include_str!("prices.toml");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// One million of each: the sum of a model's prices.
    fn usage() -> Usage {
        Usage {
            input: 1,
            output: 10,
            cache_read: 100,
            cache_write_5m: 1_000,
            cache_write_1h: 10_000,
            web_searches: 0,
        }
    }

    fn check(model: &str, usage: Usage, terms: PricingTerms, millionths: Option<f64>) {
        let found = Prices::default().price(model, &usage, terms).map(|price| price * 1e6);
        let near = match (found, millionths) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-6 * expected.max(1.0),
            (found, expected) => found == expected,
        };
        assert!(near, "{model} {terms:?}: {found:?}, expected {millionths:?}");
    }

    #[test]
    fn every_known_model_has_complete_prices() {
        let table: PriceTable = toml::from_str(TEXT).unwrap();
        assert!(table.as_of.is_some());
        let names: Vec<_> = table.models.iter().flat_map(|rates| &rates.names).collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "a name occurs twice");
        for rates in &table.models {
            // A slipped digit shows: writing the cache costs more than input, for an hour the most.
            assert!(rates.cache_read < rates.input && rates.input < rates.output, "{rates:?}");
            assert!(rates.input < rates.cache_write_5m && rates.cache_write_5m < rates.cache_write_1h);
            assert!(rates.names.iter().all(|name| plain_model(name) == name), "{rates:?}");
        }
    }

    #[test]
    fn every_counter_has_its_price() {
        let usual = PricingTerms::default();
        check("claude-opus-5-5", usage(), usual, Some(4.0 + 200.0 + 20.0 + 5_000.0 + 80_000.0));
        check("claude-sonnet-4-5-20250929", usage(), usual, Some(3.0 + 150.0 + 30.0 + 3_750.0 + 60_000.0));
        check(
            "us.anthropic.claude-3-5-haiku-20241022-v1:0",
            usage(),
            usual,
            Some(0.8 + 40.0 + 8.0 + 1_000.0 + 16_000.0),
        );
        check("claude-haiku-4-5", Usage { web_searches: 3, ..Usage::default() }, usual, Some(30_000.0));
        check("claude-haiku-4-5", Usage::default(), usual, Some(0.0));
    }

    #[test]
    fn prices_agree_with_the_cli() {
        // From `cost-state` records of 2.1.329: counters and the dollars the CLI made of them.
        let usage = |input, output, cache_read, cache_write_5m| Usage {
            input,
            output,
            cache_read,
            cache_write_5m,
            ..Usage::default()
        };
        check("claude-opus-5-5", usage(24, 258, 34_721, 20_772), PricingTerms::default(), Some(116_060.2));
        check("claude-opus-5-5", usage(16, 241, 37_536, 12_728), PricingTerms::default(), Some(76_031.2));
    }

    #[test]
    fn pricing_terms_multiply_the_price() {
        let output = Usage { output: 10, ..Usage::default() };
        let usual = PricingTerms::default();
        let (batch, fast) = (PricingTerms { batch: true, ..usual }, PricingTerms { fast: true, ..usual });
        check("claude-opus-5-5", output, batch, Some(100.0));
        check("claude-opus-5-5", output, fast, Some(400.0));
        check("claude-opus-4-6", output, fast, Some(1_500.0));
        check("claude-opus-5-5", Usage { web_searches: 1, ..output }, batch, Some(10_100.0));
        check("claude-haiku-4-5", output, fast, None);
        let us = PricingTerms { us: true, ..usual };
        check("claude-opus-5-5", Usage { web_searches: 1, ..output }, us, Some(10_220.0));
        check("claude-opus-5-5", output, PricingTerms { batch: true, fast: true, us: true }, Some(220.0));
    }

    #[test]
    fn fast_mode_costs_what_the_cli_says() {
        let fast = PricingTerms { fast: true, ..PricingTerms::default() };
        // 16 and 80; reading the cache 0.4, writing it 20 and 32.
        for model in ["claude-fable-5-2", "claude-mythos-5-2"] {
            check(model, usage(), fast, Some(16.0 + 800.0 + 40.0 + 20_000.0 + 320_000.0));
        }
        check(
            "claude-mythos-5-2",
            usage(),
            PricingTerms::default(),
            Some(8.0 + 400.0 + 20.0 + 10_000.0 + 160_000.0),
        );
    }

    #[test]
    fn each_part_of_a_message_is_as_long_as_its_own_prompt() {
        let part = |input| Usage { input, ..Usage::default() };
        let price = |model: &str, parts: &[Usage]| {
            let whole = parts.iter().fold(Usage::default(), |sum, part| sum + *part);
            let prices = Prices::default();
            format!(
                "{:.0}",
                prices.rates(model).unwrap().price_of_parts(&whole, parts, PricingTerms::default()).unwrap()
                    * 1e6
            )
        };
        assert_eq!(price("claude-haiku-5-5", &[part(60_000), part(60_000)]), "12000");
        assert_eq!(price("claude-haiku-5-5", &[part(20_000), part(100_010)]), "52005");
        assert_eq!(price("claude-opus-5-5", &[part(60_000), part(60_000)]), "480000");
    }

    #[test]
    fn long_input_is_priced_higher_for_models_that_do_so() {
        let long = |cache_read| Usage { input: 1, output: 10, cache_read, ..Usage::default() };
        check("claude-sonnet-4-5", long(199_999), PricingTerms::default(), Some(3.0 + 150.0 + 59_999.7));
        check("claude-sonnet-4-5", long(200_000), PricingTerms::default(), Some(6.0 + 225.0 + 120_000.0));
        check("claude-sonnet-4-6", long(200_000), PricingTerms::default(), Some(3.0 + 150.0 + 60_000.0));
        check("claude-haiku-5-5", long(100_000), PricingTerms::default(), Some(0.5 + 25.0 + 5_000.0));
    }

    #[test]
    fn an_unknown_model_has_no_price() {
        let prices = Prices::default();
        let known = |model: &str| prices.price(model, &usage(), PricingTerms::default()).is_some();
        assert!(known("claude-opus-4-20250514") && known("claude-fable-5-1-thinking"));
        for model in [
            "claude-opus-4-9",
            "claude-opus-6",
            "claude-sonnet-45",
            "claude",
            "claude-opus",
            "gpt-5.6",
            "",
            "<synthetic>",
        ] {
            assert!(!known(model), "{model}");
        }
    }

    #[test]
    fn own_prices_come_before_the_table() {
        let own = |model: &str, price: OwnPrice| {
            let mut prices = Prices::default();
            prices.set(model, price).map(|()| prices)
        };
        let check = |prices: &Prices, model: &str, millionths: Option<f64>| {
            let found = prices.price(model, &usage(), PricingTerms::default()).map(|price| price * 1e6);
            let is_near =
                found.zip(millionths).is_none_or(|(found, expected)| (found - expected).abs() < 1e-6);
            assert!(is_near && found.is_some() == millionths.is_some(), "{model}: {found:?}");
        };
        // What is left out is the table's.
        let cheaper =
            own("claude-opus-5-5-20260101", OwnPrice { output: Some(1.0), ..OwnPrice::default() }).unwrap();
        check(&cheaper, "claude-opus-5-5", Some(4.0 + 10.0 + 20.0 + 5_000.0 + 80_000.0));
        check(&cheaper, "us.anthropic.claude-opus-5-5-v1:0", Some(4.0 + 10.0 + 20.0 + 5_000.0 + 80_000.0));
        check(&cheaper, "claude-sonnet-4-5", Some(3.0 + 150.0 + 30.0 + 3_750.0 + 60_000.0));
        assert!(cheaper.is_own("claude-opus-5-5") && !cheaper.is_own("claude-opus-5"));
        // A model that the table lacks needs what everybody pays for.
        let both = OwnPrice { input: Some(2.0), output: Some(3.0), ..OwnPrice::default() };
        check(&own("glm-5", both).unwrap(), "glm-5", Some(2.0 + 30.0 + 200.0 + 2_000.0 + 20_000.0));
        check(&own("glm-5", both).unwrap(), "glm-6", None);
        let only_input = OwnPrice { input: Some(2.0), ..OwnPrice::default() };
        assert_eq!(own("glm-5", only_input), Err(InvalidPrice::Incomplete));
        for wrong in [-1.0, f64::NAN, f64::INFINITY] {
            let wrong = OwnPrice { cache_read: Some(wrong), ..both };
            assert_eq!(own("glm-5", wrong), Err(InvalidPrice::NotAPrice));
        }
    }
}
