//! A small HTTP client that sends exactly what a test says, whole or in parts.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;
use testkit::PATIENCE;

/// A request that is put together.
pub(crate) struct Asking {
    address: String,
    head: String,
    body: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// An event of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// An open event stream.
pub(crate) struct Listening {
    pub(crate) status: u16,
    reader: BufReader<TcpStream>,
}

impl Asking {
    /// A request without any header.
    pub(crate) fn new(address: &str, method: &str, path: &str) -> Self {
        Self { address: address.to_owned(), head: format!("{method} {path} HTTP/1.1\r\n"), body: Vec::new() }
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        for part in [name, ": ", value, "\r\n"] {
            self.head += part;
        }
        self
    }

    #[must_use]
    pub(crate) fn body(self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let asking = self.header("Content-Type", kind).header("Content-Length", &body.len().to_string());
        Self { body, ..asking }
    }

    #[must_use]
    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    fn sent(self) -> BufReader<TcpStream> {
        let mut stream = connect(&self.address);
        stream.write_all(format!("{}\r\n", self.head).as_bytes()).expect("the head is sent");
        // A server may refuse a large body before it has read it.
        let _ = stream.write_all(&self.body);
        BufReader::new(stream)
    }

    /// Sends it and reads the answer.
    pub(crate) fn send(self) -> Answer {
        Answer::read(&mut self.header("Connection", "close").sent())
    }

    /// Sends it and listens to the events of the answer.
    pub(crate) fn listen(self) -> Listening {
        let mut reader = self.sent();
        let (status, _) = read_head(&mut reader);
        Listening { status, reader }
    }
}

/// A connection on which a test writes what it likes.
pub(crate) fn connect(address: &str) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    stream
}

fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        let length = reader.read_line(&mut line).unwrap_or_default();
        if length == 0 || line == "\r\n" {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let status = lines.first().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap_or_default();
    let pair = |line: &String| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    (status, lines.iter().skip(1).filter_map(pair).collect())
}

impl Answer {
    /// Reads an answer to its end; the status is 0 where there is none.
    pub(crate) fn read(reader: &mut impl BufRead) -> Self {
        let (status, headers) = read_head(reader);
        let mut answer = Self { status, headers, body: String::new() };
        let mut body = Vec::new();
        if answer.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = chunk(reader) {
                body.extend(chunk);
            }
        } else {
            let length =
                answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or_default();
            // One to `HEAD` says a length and has no body.
            let _ = reader.take(length).read_to_end(&mut body);
        }
        answer.body = String::from_utf8_lossy(&body).into_owned();
        answer
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn to_json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON of an answer that is no failure.
    #[track_caller]
    pub(crate) fn succeeded(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        if self.body.is_empty() { Value::Null } else { self.to_json() }
    }

    /// The code of a failure with this status.
    #[track_caller]
    pub(crate) fn failed(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.to_json();
        assert_eq!(problem["status"], status);
        assert!(
            problem["next_steps"].is_array() && !problem["detail"].as_str().unwrap_or_default().is_empty()
        );
        problem["code"].as_str().unwrap_or_default().to_owned()
    }
}

fn chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let length = usize::from_str_radix(line.trim_end(), 16).ok().filter(|length| *length > 0)?;
    let mut bytes = vec![0; length + 2];
    reader.read_exact(&mut bytes).ok()?;
    bytes.truncate(length);
    Some(bytes)
}

impl Listening {
    /// The next event; none when the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Heard> {
        let (mut id, mut name, mut data) = (None, String::new(), String::new());
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end();
            // The last chunk: the connection stays open for another request.
            if line == "0" {
                return None;
            }
            match line.split_once(": ") {
                Some(("id", text)) => id = Some(text.to_owned()),
                Some(("event", text)) => text.clone_into(&mut name),
                Some(("data", text)) => text.clone_into(&mut data),
                _ if line.is_empty() && !name.is_empty() => {
                    let data = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{error}: {data}"));
                    return Some(Heard { id, name, data });
                }
                _ => {}
            }
        }
    }

    /// The next event of which this is true.
    #[track_caller]
    pub(crate) fn until(&mut self, is_it: impl Fn(&Heard) -> bool) -> Heard {
        let mut seen = Vec::new();
        while let Some(heard) = self.next() {
            if is_it(&heard) {
                return heard;
            }
            seen.push(heard.name);
        }
        panic!("the stream ended after {seen:?}")
    }
}
