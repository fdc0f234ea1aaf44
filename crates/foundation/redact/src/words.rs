//! Secrets that are announced by a word: a name and its value, an address with a password, a header, a
//! private key's first line.

use std::sync::LazyLock;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

use crate::rules::PASSWORD_WORDS;
use crate::{Secret, Text, address, assignment, command, header, private_key, runs};

/// The kind of secret that a word announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnnouncedSecret {
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

/// The words, in the spellings that occur, from where they are unlike others. At most 64, so that vector instructions
/// look for all at once.
const WORDS: &[(&str, AnnouncedSecret)] = &[
    ("pass", AnnouncedSecret::Value),
    ("Pass", AnnouncedSecret::Value),
    ("PASS", AnnouncedSecret::Value),
    ("pwd", AnnouncedSecret::Value),
    ("Pwd", AnnouncedSecret::Value),
    ("PWD", AnnouncedSecret::Value),
    ("ecret", AnnouncedSecret::Value),
    ("ECRET", AnnouncedSecret::Value),
    ("oken", AnnouncedSecret::Value),
    ("OKEN", AnnouncedSecret::Value),
    ("key", AnnouncedSecret::Key),
    ("Key", AnnouncedSecret::Key),
    ("KEY", AnnouncedSecret::Key),
    ("://", AnnouncedSecret::Address),
    ("earer", AnnouncedSecret::Bearer),
    ("EARER", AnnouncedSecret::Bearer),
    ("orization", AnnouncedSecret::Authorization),
    ("ORIZATION", AnnouncedSecret::Authorization),
    ("asic ", AnnouncedSecret::Basic),
    ("ASIC ", AnnouncedSecret::Basic),
    ("_auth", AnnouncedSecret::Auth),
    ("\"auth", AnnouncedSecret::Auth),
    ("ookie", AnnouncedSecret::Cookie),
    ("OOKIE", AnnouncedSecret::Cookie),
    ("curl ", AnnouncedSecret::Command),
    ("mysql", AnnouncedSecret::Command),
    ("login", AnnouncedSecret::Command),
    ("sshpass", AnnouncedSecret::Command),
    ("redis-cli", AnnouncedSecret::Command),
    ("mongo", AnnouncedSecret::Command),
    ("sqlcmd", AnnouncedSecret::Command),
    ("ldap", AnnouncedSecret::Command),
    ("7z ", AnnouncedSecret::Command),
    ("zip -", AnnouncedSecret::Command),
    ("smbclient", AnnouncedSecret::Command),
    ("FIED BY", AnnouncedSecret::Identified),
    ("sig=", AnnouncedSecret::Signature),
    ("ignature=", AnnouncedSecret::Signature),
    ("AKIA", AnnouncedSecret::Token),
    ("ASIA", AnnouncedSecret::Token),
    ("ABIA", AnnouncedSecret::Token),
    ("ACCA", AnnouncedSecret::Token),
    ("fm2_", AnnouncedSecret::Token),
    ("fm1r_", AnnouncedSecret::Token),
    ("snyk_", AnnouncedSecret::Token),
    ("dp.st.", AnnouncedSecret::Token),
    ("whsec_", AnnouncedSecret::Token),
    ("sntrys_", AnnouncedSecret::Token),
    ("7Q~", AnnouncedSecret::Azure),
    ("8Q~", AnnouncedSecret::Azure),
    ("Private-Lines", AnnouncedSecret::Putty),
    ("LS0tLS1CRUdJTi", AnnouncedSecret::Encoded),
];

/// The words of all scripts.
static ALL: LazyLock<Vec<(&str, AnnouncedSecret)>> = LazyLock::new(|| {
    let foreign = PASSWORD_WORDS.iter().map(|word| (*word, AnnouncedSecret::Foreign));
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

fn ask(text: Text<'_>, announces: AnnouncedSecret, start: usize, end: usize, found: &mut Vec<Secret>) {
    match announces {
        AnnouncedSecret::Value => {
            found.extend(assignment::value(text, start, end).or_else(|| command::of_a_user(text, start)));
        }
        AnnouncedSecret::Key => {
            found.extend(private_key::block(text, start).or_else(|| assignment::value(text, start, end)));
        }
        AnnouncedSecret::Address => found.extend(address::password(text, start)),
        AnnouncedSecret::Bearer => found.extend(header::bearer(text, start, end)),
        AnnouncedSecret::Authorization => found.extend(header::authorization(text, start, end)),
        AnnouncedSecret::Identified => found.extend(assignment::identified(text, end)),
        AnnouncedSecret::Basic => found.extend(header::basic(text, end)),
        AnnouncedSecret::Auth => found.extend(header::registry(text, end)),
        AnnouncedSecret::Cookie => header::cookies(text, start, end, found),
        AnnouncedSecret::Command => found.extend(command::password(text, start, end)),
        AnnouncedSecret::Signature => found.extend(address::signature(text, end)),
        AnnouncedSecret::Token => runs::token(text, start, found),
        AnnouncedSecret::Azure => found.extend(runs::azure_secret(text, end, end)),
        AnnouncedSecret::Encoded => found.extend(private_key::encoded(text, start)),
        AnnouncedSecret::Putty => found.extend(private_key::putty(text, end)),
        AnnouncedSecret::Foreign => found.extend(assignment::foreign(text, end)),
    }
}

/// Whether the kind only repeats the name of the secret, so that the secret's own form is more specific.
pub(crate) fn is_general(kind: &str) -> bool {
    matches!(kind, "password" | "secret" | "token" | "api-key" | "bearer-token" | "cookie" | "url-password")
}
