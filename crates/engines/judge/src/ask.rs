//! One call of the Messages API, bounded in time, sent only to addresses that may receive an API key.

use std::net::IpAddr;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Uri;

/// Base URL of the API unless another is given.
const DEFAULT_URL: &str = "https://api.anthropic.com";
/// Value of the `anthropic-version` header.
const VERSION: &str = "2023-06-01";
/// Maximum size of a response in bytes.
const CAP: u64 = 1 << 20;

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ModelRequest<'a> {
    /// Base URL of the API, without the path; the default if `None`.
    pub url: Option<&'a str>,
    /// The API key.
    pub key: &'a str,
    /// The model's id.
    pub model: &'a str,
    /// Maximum number of tokens in the response.
    pub max_tokens: u64,
    /// Time limit from now to the last byte of the response.
    pub limit: Duration,
    /// The prompt.
    pub prompt: &'a str,
}

/// Why there is no response; no variant contains the API key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The time limit passed.
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The key must not be sent to this address.
    #[error("{host} is not asked: {reason}")]
    Address {
        /// Host name, without the rest of the address.
        host: String,
        /// Why the address is refused.
        reason: &'static str,
    },
    /// The connection could not be made or broke.
    #[error("{0}")]
    Connection(String),
    /// The API returned an error.
    #[error("the API answers {status}{}", kind.as_deref().map(|kind| format!(" ({kind})")).unwrap_or_default())]
    Refused {
        /// HTTP status code.
        status: u16,
        /// Error type named by the API, if any.
        kind: Option<String>,
    },
    /// The response contains no text.
    #[error("its answer holds no text")]
    NoText,
}

/// Sends the request and returns the text of the response.
pub fn ask(request: &ModelRequest<'_>) -> Result<String, Error> {
    let is_plain = check(request.url.unwrap_or(DEFAULT_URL))?;
    let call = Call::new(request, is_plain);
    let limit = request.limit;
    let (sender, received) = mpsc::channel();
    // A name that is looked up, or a proxy that hangs, may keep the call longer than its own limit: whoever
    // waits for it here does not.
    std::thread::spawn(move || sender.send(call.make()));
    received.recv_timeout(limit).unwrap_or(Err(Error::TimedOut(limit)))
}

/// Refuses addresses that must not receive a key: only `https`, or `http` on this machine. Returns whether
/// the connection is unencrypted.
fn check(url: &str) -> Result<bool, Error> {
    let refused = |host: &str, reason| Err(Error::Address { host: host.to_owned(), reason });
    let Some(address) = url.parse::<Uri>().ok().filter(|address| address.host().is_some()) else {
        return refused("ANTHROPIC_BASE_URL", "it is no address; one looks like https://api.anthropic.com");
    };
    let host = address.host().unwrap_or_default();
    if address.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return refused(host, "its address in ANTHROPIC_BASE_URL holds a name or a password");
    }
    match address.scheme_str() {
        Some("https") => Ok(false),
        Some("http") if is_loopback(host) => Ok(true),
        Some("http") => refused(host, "a key is not sent over plain http to another machine; use https"),
        _ => refused(host, "only https and http are spoken"),
    }
}

fn is_loopback(host: &str) -> bool {
    let number = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || number.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

struct Call {
    agent: Agent,
    url: String,
    key: String,
    body: String,
    limit: Duration,
}

impl Call {
    fn new(request: &ModelRequest<'_>, is_plain: bool) -> Self {
        let mut config = Agent::config_builder()
            .timeout_global(Some(request.limit))
            .http_status_as_error(false)
            // The key is sent only to the address it was meant for.
            .max_redirects(0);
        if is_plain {
            // Local requests bypass any proxy.
            config = config.proxy(None);
        }
        let body = json!({
            "model": request.model,
            "max_tokens": request.max_tokens,
            "temperature": 0,
            "messages": [{"role": "user", "content": request.prompt}],
        });
        Self {
            agent: config.build().new_agent(),
            url: format!("{}/v1/messages", request.url.unwrap_or(DEFAULT_URL).trim_end_matches('/')),
            key: request.key.to_owned(),
            body: body.to_string(),
            limit: request.limit,
        }
    }

    fn make(&self) -> Result<String, Error> {
        let call = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("anthropic-version", VERSION)
            .header("x-api-key", &self.key);
        let mut answer = call.send(&self.body).map_err(|error| self.error(&error))?;
        let status = answer.status().as_u16();
        let read = answer.body_mut().with_config().limit(CAP).read_to_string();
        let value: Value =
            serde_json::from_str(&read.map_err(|error| self.error(&error))?).unwrap_or_default();
        if status != 200 {
            return Err(Error::Refused { status, kind: value["error"]["type"].as_str().map(str::to_owned) });
        }
        let blocks = value["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        if text.is_empty() { Err(Error::NoText) } else { Ok(text) }
    }

    fn error(&self, error: &ureq::Error) -> Error {
        match error {
            ureq::Error::Timeout(_) => Error::TimedOut(self.limit),
            other => Error::Connection(format!("cannot ask {}: {other}", self.url)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use testkit::{Answer, ModelServer, Script};

    use super::*;

    fn request(url: &str) -> ModelRequest<'_> {
        ModelRequest {
            url: Some(url),
            key: "sk-ant-not-a-key",
            model: "claude-haiku-4-5-20251001",
            max_tokens: 500,
            limit: testkit::PATIENCE,
            prompt: "How relevant?",
        }
    }

    #[test]
    fn a_model_answers() {
        let server = ModelServer::start(Script::new().on("How relevant", [Answer::text("Very.")]));
        assert_eq!(ask(&request(&format!("{}/", server.url()))), Ok("Very.".to_owned()));
        let calls = server.calls();
        assert_eq!(calls.len(), 1);
        let body = &calls[0].body;
        assert_eq!(body["model"], "claude-haiku-4-5-20251001");
        assert_eq!((body["max_tokens"].as_u64(), body["temperature"].as_u64()), (Some(500), Some(0)));
    }

    #[test]
    fn an_api_error_is_reported_without_the_key() {
        let server = ModelServer::start(Script::new().otherwise(Answer::refusal(529, "overloaded_error")));
        let error = ask(&request(server.url())).unwrap_err();
        assert_eq!(error.to_string(), "the API answers 529 (overloaded_error)");
        let nobody = ask(&request("http://127.0.0.1:1")).unwrap_err().to_string();
        assert!(nobody.starts_with("cannot ask http://127.0.0.1:1/v1/messages"), "{nobody}");
        assert!(!nobody.contains("sk-ant"), "{nobody}");
    }

    #[test]
    fn keys_are_not_sent_over_plain_http_and_passwords_not_repeated() {
        let check = |url: &str, why: &str| {
            let said = ask(&request(url)).unwrap_err().to_string();
            assert!(said.contains(why) && !said.contains("hunter2"), "{url}: {said}");
        };
        check("http://elsewhere.invalid", "a key is not sent over plain http");
        check("http://127.0.0.1.elsewhere.invalid/x", "a key is not sent over plain http");
        check("http://sam:hunter2@127.0.0.1:1", "holds a name or a password");
        check("https://sam:hunter2@elsewhere.invalid", "holds a name or a password");
        check("ftp://elsewhere.invalid/?hunter2", "only https and http are spoken");
        check("hunter2 is no address", "it is no address");
        check("", "it is no address");
    }

    #[test]
    fn the_time_limit_is_kept() {
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", silent.local_addr().unwrap());
        let limit = Duration::from_millis(150);
        assert_eq!(ask(&ModelRequest { limit, ..request(&address) }), Err(Error::TimedOut(limit)));
    }
}
