//! A built front end that the person names: files of its folder and of nothing else.

use std::path::{Path, PathBuf};

use app::{Error, Kind};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};
use system::{open_regular, read_limited};
use tokio::task::spawn_blocking;

use crate::folder;
use crate::problem::Problem;

/// The largest file that is served, in bytes.
const LARGEST: u64 = 64 << 20;
/// The page that everything else belongs to.
const INDEX: &str = "index.html";
/// Where its pages load the script that sends the key of a browser for them.
const KEY_PATH: &str = "/backstory-key.js";
const KEY_SCRIPT: &str = include_str!("key.js");
/// What loads it, before any script of a page's own.
const KEY_TAG: &str = "<script src=\"/backstory-key.js\"></script>";

/// A folder of a front end.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    /// Its real path.
    folder: PathBuf,
    /// What its pages may load and run.
    policy: HeaderValue,
}

impl Front {
    /// A folder with an `index.html`.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let folder = path.canonicalize().map_err(|error| folder::unusable(path, &error))?;
        let index = open_regular(&folder.join(INDEX)).and_then(|file| read_limited(file, LARGEST));
        let index = index.map_err(|error| {
            Error::caused(Kind::Usage, format!("{} is no built front end: {INDEX}", path.display()), &error)
        })?;
        let policy = HeaderValue::from_str(&policy(&String::from_utf8_lossy(&index)));
        Ok(Self {
            folder,
            policy: policy.map_err(|error| Error::caused(Kind::Internal, "a policy", &error))?,
        })
    }

    /// The file under a path of an address, if it is one of the folder's.
    fn file(&self, path: &str) -> Option<PathBuf> {
        let mut file = self.folder.clone();
        for part in path.split('/').filter(|part| !part.is_empty()) {
            let name = decoded(part)?;
            if name.starts_with('.') || name.contains(['/', '\\', '\0']) {
                return None;
            }
            file.push(name);
        }
        // A link may lead out of the folder.
        file.canonicalize().ok().filter(|file| file.starts_with(&self.folder) && file.is_file())
    }

    fn read(&self, path: &str) -> Result<Response, Problem> {
        if path == KEY_PATH {
            let head = [(header::CONTENT_TYPE, kind("js")), (header::CACHE_CONTROL, "no-cache")];
            return Ok((head, KEY_SCRIPT).into_response());
        }
        let has_ending = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let file = match self.file(path) {
            Some(file) => file,
            // The front end's own addresses lead to its page, which reads them.
            None if !has_ending => self.folder.join(INDEX),
            // Browsers ask for it where an answer is no page.
            None if path == "/favicon.ico" => return Ok(StatusCode::NO_CONTENT.into_response()),
            None => return Err(Problem::not_found(format!("there is no {path}"))),
        };
        let missing = |_| Problem::not_found(format!("there is no {path}"));
        let bytes = open_regular(&file).and_then(|file| read_limited(file, LARGEST)).map_err(missing)?;
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let kind = kind(ending);
        let bytes = if ending == "html" { with_key_script(&bytes) } else { bytes };
        let mut response = ([(header::CONTENT_TYPE, kind)], Body::from(bytes)).into_response();
        // A build names such files by what is in them.
        let is_hashed = path.starts_with("/assets/");
        let caching = if is_hashed { "private, max-age=31536000, immutable" } else { "no-cache" };
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
        if ending == "html" {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        }
        Ok(response)
    }
}

/// The page, which loads our script first: where its head begins, else behind its type.
fn with_key_script(page: &[u8]) -> Vec<u8> {
    let ends = end_of_tag(page, b"<head").or_else(|| end_of_tag(page, b"<!doctype"));
    let (before, after) = page.split_at(ends.unwrap_or(0));
    [before, KEY_TAG.as_bytes(), after].concat()
}

/// The place behind a tag that begins like this.
fn end_of_tag(page: &[u8], start: &[u8]) -> Option<usize> {
    let is_tag = |at: &usize| {
        let (found, rest) = page[*at..].split_at(start.len());
        let is_whole = rest.first().is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace());
        found.eq_ignore_ascii_case(start) && is_whole
    };
    let begins = (0..page.len().saturating_sub(start.len())).find(is_tag)?;
    Some(begins + page[begins..].iter().position(|byte| *byte == b'>')? + 1)
}

/// A part of an address as it was before it was escaped, where that is text.
fn decoded(part: &str) -> Option<String> {
    let mut pieces = part.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// The front end's answer to a path.
pub(crate) async fn answer(front: Front, path: String) -> Result<Response, Problem> {
    let read = spawn_blocking(move || front.read(&path)).await;
    read.unwrap_or_else(|_| Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response()))
}

/// What a page of a front end may load: its own files, and the scripts that were written into the page when it was
/// built, identified by their hashes. Many front ends write styles into the page while they run.
fn policy(page: &str) -> String {
    let scripts: Vec<String> =
        inline_scripts(page).map(|script| format!(" 'sha256-{}'", base64(&Sha256::digest(script)))).collect();
    let scripts = scripts.concat();
    format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:{scripts}; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data: blob:; media-src 'self' blob:; font-src 'self' data:; connect-src 'self' data: blob:; \
         worker-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
}

fn inline_scripts(page: &str) -> impl Iterator<Item = &str> {
    let mut rest = page;
    std::iter::from_fn(move || {
        loop {
            let (_, begun) = rest.split_once("<script")?;
            let (attributes, body) = begun.split_once('>')?;
            let (script, after) = body.split_once("</script")?;
            rest = after;
            if !attributes.contains("src=") {
                return Some(script);
            }
        }
    })
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let all =
            three.iter().fold(0_usize, |all, byte| all << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = if place <= three.len() { LETTERS[all >> (18 - 6 * place) & 63] } else { b'=' };
            text.push(char::from(letter));
        }
    }
    text
}

/// The type of a file by the ending of its name.
pub(crate) fn kind(ending: &str) -> &'static str {
    match ending {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" | "webmanifest" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "wasm" => "application/wasm",
        "glb" => "model/gltf-binary",
        "mp3" => "audio/mpeg",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_files_of_the_folder_are_served() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("dist");
        fs::create_dir_all(root.join("assets")).unwrap();
        fs::write(root.join(INDEX), "<p>page").unwrap();
        fs::write(root.join("assets/a.js"), "1").unwrap();
        fs::write(root.join(".env"), "hidden").unwrap();
        fs::write(scratch.path().join("secret.txt"), "secret").unwrap();
        symlink(scratch.path().join("secret.txt"), root.join("out.txt")).unwrap();
        symlink(scratch.path(), root.join("up")).unwrap();
        let front = Front::open(&root).unwrap();
        let check = |path: &str, expected: Option<&str>| {
            let kind = front.read(path).ok().map(|response| response.headers()[header::CONTENT_TYPE].clone());
            assert_eq!(kind.as_ref().map(|kind| kind.to_str().unwrap()), expected, "{path}");
        };
        check("/", Some("text/html; charset=utf-8"));
        check("/assets/a.js", Some("text/javascript; charset=utf-8"));
        check("/rooms/7", Some("text/html; charset=utf-8"));
        for path in
            ["/out.txt", "/up/secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/.env", "/assets/b.js"]
        {
            check(path, None);
        }
        assert_eq!(Front::open(scratch.path()).unwrap_err().kind, Kind::Usage);
    }

    #[test]
    fn a_page_loads_the_script_of_the_key_first() {
        let check = |page: &str, expected: &str| {
            let found = String::from_utf8(with_key_script(page.as_bytes())).unwrap();
            assert_eq!(found.replace(KEY_TAG, "+"), expected);
        };
        check("<!doctype html><HEAD lang=en><script src=a>", "<!doctype html><HEAD lang=en>+<script src=a>");
        check("<p>page", "+<p>page");
        check("<!DOCTYPE html><header>x", "<!DOCTYPE html>+<header>x");
        check("<head", "+<head");
        assert!(KEY_TAG.contains(KEY_PATH));
    }

    #[test]
    fn scripts_in_the_page_are_named_by_their_hashes() {
        let page = "<script>a()</script><script type=module src=/x.js></script>";
        assert!(policy(page).contains("'sha256-qVpDBgj7bpq5hMAcGp3AOc79J3Y1Z4HvySTwKrWDoy4='"));
        assert_eq!(policy(page).matches("sha256-").count(), 1);
        assert_eq!(
            (base64(b""), base64(b"f"), base64(b"fo"), base64(b"foo")),
            (String::new(), "Zg==".into(), "Zm8=".into(), "Zm9v".into())
        );
    }
}
