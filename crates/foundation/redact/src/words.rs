//! Secrets that are announced by a word: a name and its value, an address with a password, a header, a
//! private key's first line.

use std::sync::LazyLock;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

use crate::rules::PASSWORD_WORDS;
use crate::{Secret, Text, address, assignment, command, header, private_key, runs};

/// The kind of secret that a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announces {
    /// A value behind a name that ends with it.
    Value,
    /// A private key, or a value.
    Key,
    /// A URL.
    Address,
    /// A bearer token.
    Bearer,
    /// Another scheme's token, or one without a scheme.
    Authorization,
    /// A name and a password in base64.
    Basic,
    /// An authorization in a registry's settings.
    Auth,
    /// A cookie.
    Cookie,
    /// A command that is given a password.
    Command,
    /// A database user's password.
    Identified,
    /// A signature in an address, which is as good as a password while it lasts.
    Signature,
    /// A token that is too short to be a long run, or is too often broken.
    Token,
    /// A client's secret of Azure, which dots may part into short pieces.
    Azure,
    /// The private part of a `PuTTY` key.
    Putty,
    /// A block of PEM in base64.
    Encoded,
    /// A password in another script.
    Foreign,
}

/// The words, in the spellings that occur, from where they are unlike others. At most 64, so that vector instructions look for all at once.
const WORDS: &[(&str, Announces)] = &[
    ("pass", Announces::Value),
    ("Pass", Announces::Value),
    ("PASS", Announces::Value),
    ("pwd", Announces::Value),
    ("Pwd", Announces::Value),
    ("PWD", Announces::Value),
    ("ecret", Announces::Value),
    ("ECRET", Announces::Value),
    ("oken", Announces::Value),
    ("OKEN", Announces::Value),
    ("key", Announces::Key),
    ("Key", Announces::Key),
    ("KEY", Announces::Key),
    ("://", Announces::Address),
    ("earer", Announces::Bearer),
    ("EARER", Announces::Bearer),
    ("orization", Announces::Authorization),
    ("ORIZATION", Announces::Authorization),
    ("asic ", Announces::Basic),
    ("ASIC ", Announces::Basic),
    ("_auth", Announces::Auth),
    ("\"auth", Announces::Auth),
    ("ookie", Announces::Cookie),
    ("OOKIE", Announces::Cookie),
    ("curl ", Announces::Command),
    ("mysql", Announces::Command),
    ("login", Announces::Command),
    ("sshpass", Announces::Command),
    ("redis-cli", Announces::Command),
    ("mongo", Announces::Command),
    ("sqlcmd", Announces::Command),
    ("ldap", Announces::Command),
    ("7z ", Announces::Command),
    ("zip -", Announces::Command),
    ("smbclient", Announces::Command),
    ("FIED BY", Announces::Identified),
    ("sig=", Announces::Signature),
    ("ignature=", Announces::Signature),
    ("AKIA", Announces::Token),
    ("ASIA", Announces::Token),
    ("ABIA", Announces::Token),
    ("ACCA", Announces::Token),
    ("fm2_", Announces::Token),
    ("fm1r_", Announces::Token),
    ("snyk_", Announces::Token),
    ("dp.st.", Announces::Token),
    ("whsec_", Announces::Token),
    ("sntrys_", Announces::Token),
    ("7Q~", Announces::Azure),
    ("8Q~", Announces::Azure),
    ("Private-Lines", Announces::Putty),
    ("LS0tLS1CRUdJTi", Announces::Encoded),
];

/// The words of all scripts.
static ALL: LazyLock<Vec<(&str, Announces)>> = LazyLock::new(|| {
    let foreign = PASSWORD_WORDS.iter().map(|word| (*word, Announces::Foreign));
    WORDS.iter().copied().chain(foreign).collect()
});

/// Looks for all words in one pass.
enum Finder {
    /// A searcher with vector instructions.
    Packed(packed::Searcher),
    /// An automaton for machines without suitable vector instructions.
    Automaton(AhoCorasick),
    /// The words could not be compiled; they are fixed, so this does not occur.
    Nothing,
}

static FINDER: LazyLock<Finder> = LazyLock::new(|| {
    let words = || ALL.iter().map(|(word, _)| word);
    if let Some(searcher) = packed::Searcher::new(words()) {
        return Finder::Packed(searcher);
    }
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words());
    automaton.map_or(Finder::Nothing, Finder::Automaton)
});

/// Finds all secrets of this kind.
pub(crate) fn find(text: Text<'_>, found: &mut Vec<Secret>) {
    let mut done = 0;
    let mut each = |place: aho_corasick::Match| {
        if place.start() < done {
            return;
        }
        let before = found.len();
        ask(text, ALL[place.pattern().as_usize()].1, place.start(), place.end(), found);
        if let Some(last) = found.get(before..).and_then(<[Secret]>::last) {
            done = last.end;
        }
    };
    match &*FINDER {
        Finder::Packed(searcher) => searcher.find_iter(text.bytes).for_each(&mut each),
        Finder::Automaton(automaton) => automaton.find_iter(text.bytes).for_each(&mut each),
        Finder::Nothing => {}
    }
}

fn ask(text: Text<'_>, announces: Announces, start: usize, end: usize, found: &mut Vec<Secret>) {
    match announces {
        Announces::Value => {
            found.extend(assignment::value(text, start, end).or_else(|| command::of_a_user(text, start)));
        }
        Announces::Key => {
            found.extend(private_key::block(text, start).or_else(|| assignment::value(text, start, end)));
        }
        Announces::Address => found.extend(address::password(text, start)),
        Announces::Bearer => found.extend(header::bearer(text, start, end)),
        Announces::Authorization => found.extend(header::authorization(text, start, end)),
        Announces::Identified => found.extend(assignment::identified(text, end)),
        Announces::Basic => found.extend(header::basic(text, end)),
        Announces::Auth => found.extend(header::registry(text, end)),
        Announces::Cookie => header::cookies(text, start, end, found),
        Announces::Command => found.extend(command::password(text, start, end)),
        Announces::Signature => found.extend(address::signature(text, end)),
        Announces::Token => runs::token(text, start, found),
        Announces::Azure => found.extend(runs::azure_secret(text, end, end)),
        Announces::Encoded => found.extend(private_key::encoded(text, start)),
        Announces::Putty => found.extend(private_key::putty(text, end)),
        Announces::Foreign => found.extend(assignment::foreign(text, end)),
    }
}

/// Whether the kind only repeats the name of the secret, so that the secret's own form is more specific.
pub(crate) fn is_general(kind: &str) -> bool {
    matches!(kind, "password" | "secret" | "token" | "api-key" | "bearer-token" | "cookie" | "url-password")
}
