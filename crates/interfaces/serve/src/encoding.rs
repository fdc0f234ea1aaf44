//! Compressed answers: which encodings a client takes, and answers of JSON that are long enough for it to pay.

use axum::body::Bytes;
use axum::http::{HeaderMap, header};

/// From so many bytes on an answer is compressed: below, the client reads it faster than it is compressed.
pub(crate) const LEAST: usize = 64 << 10;
/// The fastest level: the reader mostly is on this machine.
const LEVEL: i32 = 1;
/// The encoding of answers.
pub(crate) const ENCODING: &str = "zstd";

/// Whether a client takes an encoding; one with a weight of nothing is refused.
pub(crate) fn accepts(headers: &HeaderMap, word: &str) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|one| {
        let mut parts = one.split(';').map(str::trim);
        let is_it = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(word));
        is_it && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// The bytes compressed; `None` where that fails or they would not be shorter.
pub(crate) fn compressed(bytes: &[u8]) -> Option<Bytes> {
    let packed = zstd::bulk::compress(bytes, LEVEL).ok()?;
    (packed.len() < bytes.len()).then(|| Bytes::from(packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_takes() {
        let check = |values: &[&str], word: &str, expected: bool| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::ACCEPT_ENCODING, value.parse().unwrap());
            }
            assert_eq!(accepts(&headers, word), expected, "{headers:?}");
        };
        check(&["gzip, deflate, br, zstd"], "zstd", true);
        check(&["gzip", "ZSTD;q=0.5"], "zstd", true);
        check(&["br;q=0, gzip;q=0.5"], "br", false);
        check(&["identity"], "zstd", false);
        check(&[], "zstd", false);
    }

    #[test]
    fn what_does_not_get_shorter_is_left() {
        let text = "[{\"a\": 1}]".repeat(10_000);
        let packed = compressed(text.as_bytes()).unwrap();
        assert!(packed.len() < text.len() / 20);
        assert_eq!(zstd::bulk::decompress(&packed, text.len()).unwrap(), text.as_bytes());
        assert_eq!(compressed(b"x"), None);
    }
}
