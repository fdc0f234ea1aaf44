//! How much a test does: little in every run, much with `BACKSTORY_TEST_LONG=1`, as `scripts/test --long` sets it. Either way
//! it covers every case that has a name; what grows are the cases that chance makes.

/// Rounds, seeds or cases of a property: `short` in an ordinary run, `long` in a long one.
#[expect(clippy::disallowed_methods, reason = "the one place where tests ask how long they may be")]
pub fn amount<T>(short: T, long: T) -> T {
    if std::env::var_os("BACKSTORY_TEST_LONG").is_some_and(|wanted| wanted == "1") { long } else { short }
}
