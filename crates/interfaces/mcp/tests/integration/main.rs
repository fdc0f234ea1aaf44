//! The whole program as an MCP server, in a scratch home: with a client of the tests' own, with real clients, and with the
//! real `claude` against a scripted model.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]
#![allow(clippy::needless_pass_by_value, reason = "tests write `json!(…)` in place, without a `&`")]

mod bridge;
mod claude;
mod client;
mod clients;
mod hostile;
mod http;
mod places;
mod protocol;
mod quoting;
mod scene;
mod scope;
mod sessions;
mod workers;
