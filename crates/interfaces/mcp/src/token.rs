//! The token that clients of the HTTP server send: kept in Backstory's folder, readable by its owner only.

use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use app::{Error, Kind};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The name of its file.
const FILE: &str = "mcp-token";
/// A longer file is not one of ours, in bytes.
const LONGEST: u64 = 1024;
/// The shortest token that nobody guesses, in characters.
const SHORTEST: usize = 32;
const SCHEME: &[u8] = b"bearer ";

/// A secret that clients have to send.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// The token in this folder, created if missing.
    pub(crate) fn load_or_create(folder: &Path) -> Result<Self, Error> {
        let file = folder.join(FILE);
        let failed = |error: io::Error| {
            Error::caused(Kind::Unavailable, format!("cannot use the token in {}", file.display()), &error)
        };
        match read(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => return read.map(Self).map_err(failed),
        }
        system::create_private_folder(folder).map_err(failed)?;
        let token = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        match system::private_file().write(true).create_new(true).open(&file) {
            Ok(mut made) => {
                made.write_all(token.as_bytes()).and_then(|()| made.sync_all()).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
        }
        Ok(Self(token))
    }

    /// The token itself, for the person who started the server.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether an `Authorization` header holds it. The time of the comparison does not depend on the token.
    pub(crate) fn is_in(&self, authorization: &[u8]) -> bool {
        let (scheme, given) = authorization.split_at(SCHEME.len().min(authorization.len()));
        let is_bearer = scheme.eq_ignore_ascii_case(SCHEME);
        is_bearer && Sha256::digest(given.trim_ascii()) == Sha256::digest(self.0.as_bytes())
    }
}

/// Reads a token that nobody else could have read or written.
fn read(file: &Path) -> io::Result<String> {
    let opened = system::open_regular(file)?;
    if opened.metadata()?.mode() & 0o077 != 0 {
        return Err(io::Error::other("other users can read or change it: chmod 600, or remove it"));
    }
    let text = String::from_utf8_lossy(&system::read_limited(opened, LONGEST)?).trim().to_owned();
    if text.len() < SHORTEST || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(io::Error::other(format!("it is not one word of {SHORTEST} characters or more")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_kept_private() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("state");
        let token = Token::load_or_create(&folder).unwrap();
        assert_eq!(token.as_str().len(), 64);
        assert_eq!(Token::load_or_create(&folder).unwrap().as_str(), token.as_str());
        let file = folder.join(FILE);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::load_or_create(&folder).err().unwrap().message.contains("other users can read"));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&file, "short").unwrap();
        assert!(Token::load_or_create(&folder).err().unwrap().message.contains("32 characters"));
    }

    #[test]
    fn only_the_whole_token_is_one() {
        let token = Token("0123456789abcdef0123456789abcdef".to_owned());
        let check = |header: &str, expected: bool| {
            assert_eq!(token.is_in(header.as_bytes()), expected, "{header}");
        };
        check("Bearer 0123456789abcdef0123456789abcdef", true);
        check("bearer  0123456789abcdef0123456789abcdef ", true);
        check("Bearer 0123456789abcdef0123456789abcde", false);
        check("Bearer ", false);
        check("Bear", false);
        check("", false);
        check("Basic 0123456789abcdef0123456789abcdef", false);
        check("0123456789abcdef0123456789abcdef", false);
    }
}
