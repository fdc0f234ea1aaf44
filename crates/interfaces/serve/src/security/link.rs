//! The link that `serve` prints. Its token is in memory only, until a browser has exchanged it for a cookie.

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::extract::Request;
use axum::http::Method;
use subtle::ConstantTimeEq as _;

use crate::security::tokens::new_secret;

/// The query's field for a token.
const TOKEN: &str = "token";
/// The query's field for the key of a browser, whose streams and new tabs can send no header.
const KEY: &str = "key";
/// Where an event stream is, which takes a token in its address because a browser's stream can send no header.
const STREAMS: [&str; 2] = ["/api/events", "/api/v1/events"];

/// The token of the link, until it is used.
pub(super) struct Link(Mutex<Option<String>>);

impl Link {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Some(new_secret())))
    }

    /// The token; empty once it was used.
    pub(super) fn token(&self) -> String {
        self.locked().clone().unwrap_or_default()
    }

    /// Uses the token, which succeeds once; none where it is another.
    pub(super) fn exchange<T, E>(
        &self,
        secret: &str,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let mut token = self.locked();
        let is_it = token.as_ref().is_some_and(|token| token.as_bytes().ct_eq(secret.as_bytes()).into());
        is_it.then(|| work().inspect(|_| *token = None))
    }

    fn locked(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The token in the address of a page.
pub(super) fn in_page(request: &Request) -> Option<String> {
    let is_page = request.method() == Method::GET && !request.uri().path().starts_with("/api");
    is_page.then(|| field(request, TOKEN)).flatten()
}

/// The token in the address of an event stream.
pub(super) fn in_stream(request: &Request) -> Option<String> {
    let is_stream = request.method() == Method::GET && STREAMS.contains(&request.uri().path());
    is_stream.then(|| field(request, TOKEN)).flatten()
}

/// The key in the address of what a browser reads.
pub(super) fn key(request: &Request) -> Option<String> {
    (request.method() == Method::GET).then(|| field(request, KEY)).flatten()
}

fn field(request: &Request, wanted: &str) -> Option<String> {
    let pairs = request.uri().query()?.split('&').filter_map(|pair| pair.split_once('='));
    // Ours hold nothing that needs an escape.
    pairs
        .filter(|(name, value)| *name == wanted && !value.is_empty())
        .map(|(_, value)| value.to_owned())
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_used_with_success_once() {
        let link = Link::new();
        let token = link.token();
        for wrong in ["", "another", &token[1..]] {
            assert_eq!(link.exchange(wrong, || Ok::<_, ()>(1)), None, "{wrong}");
        }
        assert_eq!(link.exchange(&token, || Err::<(), _>("the disk is full")), Some(Err("the disk is full")));
        assert_eq!(link.exchange(&token, || Ok::<_, ()>(1)), Some(Ok(1)));
        assert_eq!(link.exchange(&token, || Ok::<_, ()>(2)), None);
        assert!(link.token().is_empty() && link.exchange("", || Ok::<_, ()>(3)).is_none());
    }
}
