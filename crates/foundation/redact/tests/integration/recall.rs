//! At least 99 of 100 made-up secrets are found, of every kind and in every surrounding.

use std::collections::BTreeMap;

use crate::made_up::{Secret, forms, secrets};

/// The longest stretch of a secret that may be left standing, in characters.
const LEFT: usize = 5;

fn is_gone(secret: &Secret, redacted: &str) -> bool {
    // The kind may be a word of the secret: `github`.
    let parts = redacted.split("[redacted:").enumerate();
    let kept = parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once(']').map_or("", |(_, rest)| rest) });
    let redacted = kept.collect::<Vec<_>>().join("[]");
    let occurs = |part: &str| {
        let chars: Vec<char> = part.chars().collect();
        chars.windows(LEFT + 1).any(|piece| redacted.contains(&piece.iter().collect::<String>()))
    };
    // Line ends and words such as BEGIN are no secret.
    let parts = secret.gone.iter().flat_map(|gone| gone.split(['\n', ' ']));
    !parts.filter(|part| !part.contains("--")).any(|part| part.len() > LEFT && occurs(part))
}

#[test]
fn most_secrets_are_found() {
    let all = secrets(8);
    let mut missed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for secret in &all {
        let redacted = redact::redact(&secret.text);
        if !is_gone(secret, &redacted) {
            missed.entry(secret.kind).or_default().push(format!("{} -> {redacted}", secret.text));
        }
    }
    let count: usize = missed.values().map(Vec::len).sum();
    let recall = 1.0 - count as f64 / all.len() as f64;
    println!("{} made-up secrets, {count} missed: recall {recall:.5}", all.len());
    for (kind, texts) in &missed {
        println!("{kind}: {} missed, such as {:?}", texts.len(), texts.iter().take(3).collect::<Vec<_>>());
    }
    assert!(all.len() > 10_000 && recall >= 0.99, "recall {recall} over {}: {missed:?}", all.len());
}

/// How many of the ways to write a secret may show it, and how often each is tried.
const SHOWN: usize = 6;
const TIMES: u64 = 20;

#[test]
fn secrets_as_people_write_them_are_found() {
    let forms = forms(TIMES);
    assert!(forms.len() >= 165, "{}", forms.len());
    let mut shown = Vec::new();
    for (form, secrets) in &forms {
        let missed: Vec<&Secret> =
            secrets.iter().filter(|secret| !is_gone(secret, &redact::redact(&secret.text))).collect();
        if let [first, ..] = missed[..] {
            shown.push((missed.len(), *form, first.text.as_str()));
        }
    }
    println!("{} forms, {TIMES} times each: {} show a secret", forms.len(), shown.len());
    // What is shown now and then depends on chance alone: letters without digits, for example.
    let often: Vec<_> = shown.iter().filter(|(count, ..)| *count as u64 * 10 > TIMES).collect();
    assert!(often.len() <= SHOWN, "{often:#?}");
    let missed: usize = shown.iter().map(|(count, ..)| count).sum();
    assert!(missed * 50 <= forms.len() * usize::try_from(TIMES).unwrap(), "{missed}: {shown:#?}");
}

#[test]
fn every_kind_has_a_minimum_recall() {
    let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for secret in secrets(8) {
        let (all, found) = seen.entry(secret.kind).or_default();
        *all += 1;
        *found += usize::from(is_gone(&secret, &redact::redact(&secret.text)));
    }
    let weak: Vec<_> = seen.iter().filter(|(_, (all, found))| (*found as f64) < 0.95 * *all as f64).collect();
    assert!(weak.is_empty(), "{weak:?}");
}

#[test]
fn the_replacement_names_the_kind() {
    let mut wrong = Vec::new();
    for secret in secrets(1) {
        let redacted = redact::redact(&secret.text);
        if is_gone(&secret, &redacted) && !redacted.contains(&format!("[redacted:{}]", secret.kind)) {
            wrong.push(format!("{}: {} -> {redacted}", secret.kind, secret.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn redaction_is_idempotent() {
    for secret in secrets(1) {
        let once = redact::redact(&secret.text).into_owned();
        assert_eq!(redact::redact(&once), once, "{}", secret.text);
    }
}
