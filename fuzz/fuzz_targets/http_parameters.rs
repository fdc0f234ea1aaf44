//! What a client of `serve` puts into an address and into headers: read or refused, never a path, and read back as written.

#![no_main]

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};
use cursor_text::CursorText;
use libfuzzer_sys::fuzz_target;
use transcript::Position;

// The files themselves: the crate around them would bring all of Backstory along.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/interfaces/serve/src/api/cursor_text.rs"]
mod cursor_text;
#[allow(dead_code, unused_imports)]
#[path = "../../crates/interfaces/serve/src/crewhub/key.rs"]
mod key;
#[allow(dead_code, unused_imports)]
#[path = "../../crates/interfaces/serve/src/security/origin.rs"]
mod origin;

/// What those files need of their crate.
#[allow(dead_code)]
mod problem {
    pub(crate) struct Problem(String);

    impl Problem {
        pub(crate) fn usage(what: impl Into<String>) -> Self {
            Self(what.into())
        }

        pub(crate) fn forbidden(what: impl Into<String>) -> Self {
            Self(what.into())
        }

        pub(crate) fn detail(&self) -> &str {
            &self.0
        }
    }
}

#[allow(dead_code)]
mod crewhub {
    pub(crate) mod store {
        pub(crate) struct Agent {
            pub(crate) id: String,
            pub(crate) current_session_id: Option<String>,
        }

        pub(crate) struct StoredData {
            pub(crate) agents: Vec<Agent>,
        }

        pub(crate) struct Store(StoredData);

        impl Store {
            pub(crate) fn read<T>(&self, look: impl FnOnce(&StoredData) -> T) -> T {
                look(&self.0)
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        parameters(text);
        cursors(text);
    }
    headers(bytes);
});

/// An id that was read is written as one that is read alike, and holds nothing that means something in a path.
fn parameters(text: &str) {
    if let Ok(key) = text.parse::<key::Key>() {
        // The name of an agent is written in small letters, without white space around it.
        assert!(key.to_string().parse::<key::Key>().is_ok_and(|again| again == key), "{text:?}");
        assert!(!text.contains(['/', '\\', '\0']), "{text:?}");
        // Dots within a name are a name; alone they would be a folder.
        let name = text.split_once(':').map_or("", |(_, name)| name);
        assert!(!matches!(name, "" | "." | ".."), "{text:?}");
    }
}

/// A cursor that was read is written as one that is read alike: of a list of sessions, and of the messages of one.
fn cursors(text: &str) {
    if let Some(cursor) = CursorText::read(text) {
        let id = cursor.id.as_str();
        assert!(!id.contains(['/', '\\', '\0']) && !matches!(id, "" | "." | ".."), "{text:?}");
        assert_eq!(CursorText::read(&cursor.to_string()), Some(cursor), "{text:?}");
    }
    if let Ok(position) = text.parse::<Position>() {
        assert!(position.to_string().parse::<Position>().is_ok_and(|again| again == position), "{text:?}");
    }
}

/// A host that is accepted is this machine, and a page of another origin is refused.
fn headers(bytes: &[u8]) {
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return };
    let mut request = Request::new(Body::empty());
    request.headers_mut().insert(header::HOST, value.clone());
    if let Ok(host) = origin::host(&request, origin::Bound::Loopback) {
        let lower = host.to_ascii_lowercase();
        assert!(["localhost", "127.", "[", "::1"].iter().any(|start| lower.starts_with(start)), "{host:?}");
    }
    let mut headers = axum::http::HeaderMap::new();
    headers.insert(header::ORIGIN, value);
    for (bound, own) in [
        (origin::Bound::Loopback, "http://localhost:8787"),
        (origin::Bound::Encrypted, "https://localhost:8787"),
    ] {
        if origin::check(&Method::GET, "/api/sessions", &headers, (bound, "localhost:8787")).is_ok() {
            assert_eq!(bytes, own.as_bytes());
        }
    }
}
