//! The dashboard: built from `web/` into `web/dist`, and part of this program. Each file is there three times, as it is and
//! compressed in two ways, so that nothing is compressed while it is served.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use include_dir::{Dir, include_dir};

use crate::encoding::accepts;
use crate::front::kind;
use crate::problem::Problem;

/// The built dashboard.
static DIST: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../../web/dist");
/// The page that everything else belongs to.
const INDEX: &str = "index.html";
/// How files are compressed: the word for it, and what their names end with; the better one first.
const ENCODINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// The dashboard's answer to a path.
pub(crate) fn answer(path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let name = path.trim_start_matches('/');
    let is_page = !name.rsplit('/').next().is_some_and(|last| last.contains('.'));
    // The dashboard's own addresses lead to its page, which reads them.
    let name = if is_page { INDEX } else { name };
    let plain = DIST.get_file(name).ok_or_else(|| Problem::not_found(format!("there is no {path}")))?;
    let compressed = ENCODINGS.into_iter().filter(|(word, _)| accepts(headers, word));
    let found =
        compressed.filter_map(|(word, ending)| Some((word, DIST.get_file(format!("{name}.{ending}"))?)));
    let (encoding, file) = found.map(|(word, file)| (Some(word), file)).next().unwrap_or((None, plain));
    let ending = name.rsplit('.').next().unwrap_or_default();
    let mut response = Body::from(file.contents()).into_response();
    let is_hashed = name.starts_with("assets/");
    let caching = if is_hashed { "private, max-age=31536000, immutable" } else { "private, no-cache" };
    let head = response.headers_mut();
    head.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(ending)));
    head.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    head.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(word) = encoding {
        head.insert(header::CONTENT_ENCODING, HeaderValue::from_static(word));
    }
    Ok(response)
}

/// Whether what is at a path is the same for everybody who is signed in: a page or one of its files, and nothing of a session.
pub(crate) fn is_for_everybody(path: &str) -> bool {
    !path.starts_with("/api") || path == "/api/v1/docs" || path.starts_with("/api/v1/docs/")
}

/// Whether a request is that of a person's browser for a page.
pub(crate) fn reads_pages(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    request.method() == Method::GET
        && !request.uri().path().starts_with("/api")
        && accepts.is_some_and(|accepted| accepted.contains("text/html"))
}

/// A refusal as a page: a person who opens the address without the link reads what to do.
pub(crate) fn refusal() -> Response {
    let page = plain(
        "This browser is not signed in",
        "<p>Run <code>backstory serve link</code> on the machine that serves this, and open here what it prints: \
         a link for one browser, once.",
    );
    (StatusCode::UNAUTHORIZED, page).into_response()
}

/// A page of a heading and a few words in HTML. It has no style but the browser's own, light or dark: whoever is not signed
/// in gets no file of ours.
pub(crate) fn plain(heading: &str, words: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <meta name=color-scheme content=\"light dark\"><title>{heading} · Backstory</title><h1>{heading}</h1>{words}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(path: &str, encodings: &str) -> Option<Response> {
        let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, encodings.parse().unwrap())]);
        answer(path, &headers).ok()
    }

    fn script() -> String {
        let assets = DIST.get_dir("assets").unwrap();
        let is_script = |path: &str| path.rsplit_once('.').is_some_and(|(_, ending)| ending == "js");
        let names = assets.files().map(|file| file.path().to_str().unwrap().to_owned());
        format!("/{}", names.filter(|name| is_script(name)).min().unwrap())
    }

    #[test]
    fn files_are_served_as_the_client_takes_them() {
        let check = |encodings: &str, expected: Option<&str>| {
            let response = asked(&script(), encodings).unwrap();
            let encoding = response.headers().get(header::CONTENT_ENCODING);
            assert_eq!(encoding.map(|word| word.to_str().unwrap()), expected, "{encodings}");
            assert!(response.headers()[header::CACHE_CONTROL].to_str().unwrap().contains("immutable"));
        };
        check("gzip, deflate, br, zstd", Some("br"));
        check("gzip", Some("gzip"));
        check("br;q=0, gzip;q=0.5", Some("gzip"));
        check("identity", None);
    }

    #[test]
    fn its_own_addresses_lead_to_its_page_and_no_others() {
        for path in ["/", "/sessions", "/s/3601d36f"] {
            let response = asked(path, "").unwrap();
            assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8", "{path}");
            assert_eq!(response.headers()[header::CACHE_CONTROL], "private, no-cache");
        }
        // A browser takes no other kind for a service worker, and asks for it again.
        let worker = asked("/sw.js", "").unwrap();
        assert_eq!(worker.headers()[header::CONTENT_TYPE], "text/javascript; charset=utf-8");
        assert_eq!(worker.headers()[header::CACHE_CONTROL], "private, no-cache");
        for path in ["/assets/none.js", "/../Cargo.toml", "/.env"] {
            assert!(asked(path, "").is_none(), "{path}");
        }
    }
}
