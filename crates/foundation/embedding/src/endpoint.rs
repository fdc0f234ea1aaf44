//! Vectors from an OpenAI-compatible endpoint that a person has configured: the one place of Backstory
//! that opens a connection.
//!
//! Texts go in batches, answers are checked, a busy server is asked again a few times. How to wait in
//! between is the caller's: it can end the waiting.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::Agent;
use ureq::http::{Response, StatusCode, Uri};

use crate::error::Error;
use crate::vector::Vector;

/// The maximum number of texts in one request; its bytes are limited, too, except for a single longer text.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 128 << 10;
/// An answer of more bytes is none.
const LONGEST_ANSWER: u64 = 64 << 20;
/// The number of attempts before a request fails.
const ATTEMPTS: u32 = 4;
/// The first pause; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// A longer pause is not waited for, whatever the server asks.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// The number of characters repeated from a server's error message.
const LONGEST_REASON: usize = 200;

/// The key of an account; it is shown nowhere.
#[derive(Clone)]
pub struct ApiKey(pub String);

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}

/// An endpoint, as it was configured.
#[derive(Debug)]
pub struct Endpoint {
    /// The URL without the last part of its path: `https://api.openai.com/v1`.
    base: String,
    model: String,
    key: Option<ApiKey>,
    agent: Agent,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

/// Why one request failed, and whether another may not.
struct Failure {
    reason: String,
    /// How long to wait before a retry; `None` if a retry is useless.
    pause: Option<Duration>,
}

impl Endpoint {
    /// An endpoint of this address, model and key; a request may take so long. The environment's proxies
    /// are not used, redirections are not followed. A key is for `https`, or for this machine alone.
    pub fn new(base: &str, model: &str, key: Option<ApiKey>, timeout: Duration) -> Result<Self, Error> {
        check_address(base, key.is_some())?;
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent("backstory")
            .build();
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self { base, model: model.to_owned(), key, agent: config.into() })
    }

    /// The hash of address and model name that identifies the vectors.
    pub fn hash(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(format!("{} {}", self.base, self.model).as_bytes())
    }

    /// The vectors of texts, in their order; `None` for one that is blank. `pause` waits, and returns false
    /// when there is to be no other attempt.
    pub fn embed(
        &self,
        texts: &[&str],
        mut pause: impl FnMut(Duration) -> bool,
    ) -> Result<Vec<Option<Vector>>, Error> {
        let mut vectors = vec![None; texts.len()];
        let spoken: Vec<usize> = (0..texts.len()).filter(|at| !texts[*at].trim().is_empty()).collect();
        let mut rest = &spoken[..];
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(batch_of(rest.iter().map(|at| texts[*at].len())));
            let input: Vec<&str> = batch.iter().map(|at| texts[*at]).collect();
            for (at, vector) in batch.iter().zip(self.patiently(&input, &mut pause)?) {
                vectors[*at] = Some(vector);
            }
            rest = after;
        }
        Ok(vectors)
    }

    fn patiently(
        &self,
        input: &[&str],
        pause: &mut impl FnMut(Duration) -> bool,
    ) -> Result<Vec<Vector>, Error> {
        let mut longer = FIRST_PAUSE;
        for attempt in 1.. {
            let failure = match self.ask(input) {
                Ok(vectors) => return Ok(vectors),
                Err(failure) => failure,
            };
            let is_worth = failure.pause.is_some_and(|asked| {
                asked <= LONGEST_PAUSE && attempt < ATTEMPTS && pause(asked.max(longer))
            });
            if !is_worth {
                return Err(Error::Endpoint { url: self.base.clone(), reason: failure.reason });
            }
            longer *= 2;
        }
        Ok(Vec::new())
    }

    fn ask(&self, input: &[&str]) -> Result<Vec<Vector>, Failure> {
        let request = Request { model: &self.model, input, encoding_format: "float" };
        let body = serde_json::to_vec(&request).map_err(|error| Failure::last(error.to_string()))?;
        let mut call =
            self.agent.post(format!("{}/embeddings", self.base)).header("content-type", "application/json");
        if let Some(ApiKey(key)) = &self.key {
            call = call.header("authorization", format!("Bearer {key}"));
        }
        let mut response = call.send(&body[..]).map_err(|error| self.no_answer(&error))?;
        let bytes = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let bytes = bytes.map_err(|error| self.no_answer(&error))?;
        if response.status() != StatusCode::OK {
            return Err(self.refused(&response, &bytes));
        }
        let answer = serde_json::from_slice(&bytes);
        let answer: Answer =
            answer.map_err(|error| Failure::last(format!("its answer has no vectors: {error}")))?;
        in_order(answer, input.len()).map_err(Failure::last)
    }

    fn no_answer(&self, error: &ureq::Error) -> Failure {
        let is_passing = matches!(
            error,
            ureq::Error::Io(_)
                | ureq::Error::Timeout(_)
                | ureq::Error::ConnectionFailed
                | ureq::Error::HostNotFound
        );
        Failure { reason: self.shown(&error.to_string()), pause: is_passing.then_some(FIRST_PAUSE) }
    }

    fn refused<B>(&self, response: &Response<B>, body: &[u8]) -> Failure {
        let status = response.status();
        let asked = response.headers().get("retry-after").and_then(|after| after.to_str().ok()?.parse().ok());
        let is_passing = matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504);
        let says: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let says = says["error"]["message"].as_str().or(says["error"].as_str()).unwrap_or_default();
        Failure {
            reason: self.shown(format!("it answers {status}: {says}").trim_end_matches(": ")),
            pause: is_passing.then(|| asked.map_or(FIRST_PAUSE, Duration::from_secs)),
        }
    }

    /// A server's words, so that they can be shown: short, on one line, without the key.
    fn shown(&self, says: &str) -> String {
        let says = match &self.key {
            Some(ApiKey(key)) if !key.is_empty() => says.replace(key, "…"),
            _ => says.to_owned(),
        };
        says.chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .take(LONGEST_REASON)
            .collect()
    }
}

impl Failure {
    fn last(reason: String) -> Self {
        Self { reason, pause: None }
    }
}

/// Refuses a URL that would expose the key to others, or that contains one.
fn check_address(base: &str, has_key: bool) -> Result<(), Error> {
    let refused =
        |url: &str, reason: &str| Err(Error::Endpoint { url: url.to_owned(), reason: reason.to_owned() });
    let Some(address) = base.parse::<Uri>().ok().filter(|address| address.host().is_some()) else {
        return refused(base, "that is no address; one looks like https://api.openai.com/v1");
    };
    if address.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return refused(address.host().unwrap_or_default(), "its address holds a name or a password");
    }
    match address.scheme_str() {
        Some("https") => Ok(()),
        Some("http") if !has_key || address.host().is_some_and(is_loopback) => Ok(()),
        Some("http") => refused(base, "a key is not sent over plain http to another machine; use https"),
        _ => refused(base, "only https and http are spoken"),
    }
}

fn is_loopback(host: &str) -> bool {
    let number = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || number.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The number of the next texts that fit into one request.
fn batch_of(lengths: impl Iterator<Item = usize>) -> usize {
    let totals = lengths.scan(0, |total: &mut usize, length| {
        *total = total.saturating_add(length);
        Some(*total)
    });
    totals.take(BATCH).take_while(|total| *total <= BATCH_BYTES).count().max(1)
}

/// The vectors of an answer, one for each text, all of one length.
fn in_order(answer: Answer, count: usize) -> Result<Vec<Vector>, String> {
    let mut data = answer.data;
    data.sort_by_key(|one| one.index);
    if data.len() != count || data.iter().enumerate().any(|(at, one)| one.index != at) {
        return Err(format!("it gives {} vectors for {count} texts", data.len()));
    }
    let vectors: Option<Vec<Vector>> =
        data.into_iter().map(|one| Vector::normalized(one.embedding)).collect();
    let vectors = vectors.ok_or("a vector of its answer points nowhere")?;
    let is_even = vectors.windows(2).all(|two| two[0].numbers().len() == two[1].numbers().len());
    is_even.then_some(vectors).ok_or_else(|| "its vectors are not of one length".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_bounded_by_texts_and_bytes_and_never_empty() {
        for (lengths, expected) in [
            (vec![10; 100], BATCH),
            (vec![BATCH_BYTES / 2; 5], 2),
            (vec![BATCH_BYTES + 1, 1], 1),
            (vec![usize::MAX, usize::MAX], 1),
            (vec![5], 1),
        ] {
            assert_eq!(batch_of(lengths.into_iter()), expected);
        }
    }

    #[test]
    fn a_key_goes_nowhere_in_the_open() {
        let check = |base: &str, with_key: bool, without: bool| {
            assert_eq!(check_address(base, true).is_ok(), with_key, "{base}");
            assert_eq!(check_address(base, false).is_ok(), without, "{base}");
        };
        check("https://api.openai.com/v1", true, true);
        check("http://localhost:11434/v1", true, true);
        check("http://127.0.0.1:8080/v1", true, true);
        check("http://[::1]:8080/v1", true, true);
        check("http://192.168.1.5:8080/v1", false, true);
        check("http://localhost.example.com/v1", false, true);
        check("http://127.0.0.1.example.com/v1", false, true);
        check("https://sam:secret@example.com/v1", false, false);
        check("ftp://example.com", false, false);
        check("/v1", false, false);
        check("", false, false);
        let shown = check_address("http://sam:secret@example.com/v1", true).unwrap_err().to_string();
        assert!(!shown.contains("secret"), "{shown}");
    }

    #[test]
    fn a_key_is_shown_nowhere() {
        let key = ApiKey("sk-secret".to_owned());
        let endpoint = Endpoint::new("http://127.0.0.1:9/v1/", "m", Some(key), Duration::from_secs(1))
            .expect("loopback");
        assert!(!format!("{endpoint:?}").contains("sk-secret"));
        assert_eq!(endpoint.shown("bad key sk-secret\u{1b}[2J"), "bad key … [2J");
    }
}
