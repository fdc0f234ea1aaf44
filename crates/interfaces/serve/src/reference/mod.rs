//! The reference of the API as a page: built from openapi.json in the browser, with files of its own and no other host.

use axum::Router;
use axum::http::header;
use axum::routing::get;

use crate::state::Shared;

/// The files: address, type and content.
const FILES: [(&str, &str, &str); 3] = [
    ("/api/v1/docs", "text/html; charset=utf-8", include_str!("page.html")),
    ("/api/v1/docs/page.css", "text/css; charset=utf-8", include_str!("page.css")),
    ("/api/v1/docs/page.js", "text/javascript; charset=utf-8", include_str!("page.js")),
];

/// The routes of the page. They are no part of the API that they describe.
pub(crate) fn routes() -> Router<Shared> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, text)| {
        router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }))
    })
}
