//! Compares the price table with the catalogue of models inside the pinned release of Claude Code.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use cost::Prices;
use memchr::memmem;
use model::{PricingTerms, Usage};

/// How much of the program is read at a time, and how much of the catalogue at most, in bytes.
const STEP: usize = 8 << 20;
const CATALOGUE: usize = 1 << 20;

/// What the catalogue begins with: its tiers of prices, and then the models.
const TIERS: &str = "pricing_tiers:{";
const MODELS: &str = "models:[{id:\"";

/// The catalogue's own text, which is JavaScript.
fn catalogue() -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../tests/tools/node_modules/@anthropic-ai/claude-code-linux-x64/claude");
    let mut program = File::open(program).expect("run `scripts/test` once: it installs Claude Code");
    let (finder, mut step, mut at) = (memmem::Finder::new(TIERS), vec![0; STEP], 0);
    loop {
        program.seek(SeekFrom::Start(at)).unwrap();
        let read = program.read(&mut step).unwrap();
        assert!(read > TIERS.len(), "the catalogue is no longer where it was");
        if let Some(found) = finder.find(&step[..read]) {
            program.seek(SeekFrom::Start(at + found as u64)).unwrap();
            break;
        }
        at += (read - TIERS.len()) as u64;
    }
    let mut bytes = Vec::new();
    program.take(CATALOGUE as u64).read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The text between the bracket that it begins with and the one that closes it.
fn inside(text: &str) -> &str {
    let mut depth = 0;
    let end = text.find(|c: char| {
        depth += i32::from(matches!(c, '{' | '[')) - i32::from(matches!(c, '}' | ']'));
        depth == 0
    });
    &text[1..end.expect("a whole object")]
}

/// The prices of a tier: `{input:2,output:10,…}`. Numbers may be written as `1e5`.
#[derive(Debug)]
struct Tier(BTreeMap<String, f64>);

impl Tier {
    fn of(text: &str) -> Self {
        let fields = text.split(',').filter_map(|field| field.split_once(':'));
        let numbers = fields.filter_map(|(name, number)| Some((name.to_owned(), number.parse().ok()?)));
        Self(numbers.collect())
    }

    /// What one million of each costs.
    fn price(&self, usage: &Usage) -> f64 {
        let of = |name: &str, tokens: u64| self.0.get(name).map_or(0.0, |price| price * tokens as f64 / 1e6);
        of("input", usage.input)
            + of("output", usage.output)
            + of("cache_read", usage.cache_read)
            + of("cache_write_5m", usage.cache_write_5m)
            + of("cache_write_1h", usage.cache_write_1h)
    }
}

/// Every model of the catalogue with its prices, and those for long prompts.
fn models(catalogue: &str) -> Vec<(String, Tier, Option<Tier>)> {
    let tiers = inside(&catalogue[TIERS.len() - 1..]);
    let begin = catalogue.find(MODELS).expect("models") + MODELS.len() - "{id:\"".len();
    let list = inside(&catalogue[begin - 1..]);
    let tier = |name: &str| {
        let at = tiers.find(&format!("{name}:{{")).unwrap_or_else(|| panic!("no tier {name}"));
        let text = inside(&tiers[at + name.len() + 1..]);
        let (usual, long) =
            text.split_once(",long_prompt:").map_or((text, None), |(usual, long)| (usual, Some(long)));
        (Tier::of(usual), long.map(|long| Tier::of(long.trim_matches(['{', '}']))))
    };
    let mut models = Vec::new();
    for model in list.split("{id:\"").skip(1) {
        let id = model.split('"').next().unwrap_or_default();
        let named = model.split_once("pricing:\"").and_then(|(_, rest)| rest.split('"').next());
        let (usual, long) = tier(named.unwrap_or_else(|| panic!("{id} has prices of another shape")));
        models.push((id.to_owned(), usual, long));
    }
    models
}

/// One more of each than of the one before, and so little that it is no long prompt.
fn usage(times: u64) -> Usage {
    Usage {
        input: times,
        output: 10 * times,
        cache_read: 100 * times,
        cache_write_5m: 20 * times,
        cache_write_1h: 30 * times,
        web_searches: 0,
    }
}

#[test]
fn every_model_of_the_pinned_release_has_its_price() {
    let models = models(&catalogue());
    assert!(models.len() > 20, "{models:?}");
    let prices = Prices::default();
    let is_same = |model: &str, tier: &Tier, usage: &Usage| {
        let found = prices.price(model, usage, PricingTerms::default());
        found.is_some_and(|found| (found - tier.price(usage)).abs() < 1e-9)
    };
    let wrong: Vec<_> = models
        .iter()
        .filter(|(model, usual, long)| {
            let is_long_same = long.as_ref().is_none_or(|long| is_same(model, long, &usage(10_000)));
            !(is_same(model, usual, &usage(1)) && is_long_same)
        })
        .collect();
    assert!(wrong.is_empty(), "prices.toml lacks these models, or has other prices for them: {wrong:#?}");
}
