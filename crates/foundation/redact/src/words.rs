//! Secrets that are announced by a word: a name and its value, an address with a password, a header, a
//! private key's first line.

use std::sync::LazyLock;

use aho_corasick::packed;
use aho_corasick::{AhoCorasick, MatchKind};

use crate::rules::{FOREIGN_PASSWORD_WORDS, PASSWORD_WORDS};
use crate::{
    Secret, Text, address, argument, assignment, command, hash, header, kubernetes, private_key, runs,
    sentence,
};

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
    /// A password in another language.
    Foreign,
    /// A value behind `pw`, which is followed by a sign here.
    ShortName,
    /// A command, or a user and a password in a sentence.
    Login,
    /// A user and a password in a sentence.
    Credentials,
    /// A hash of a password.
    Hash,
    /// A call whose second argument is a password.
    Call,
    /// A call whose third argument is a password.
    Connection,
    /// A string that is made secure.
    SecureString,
    /// A line of `.pgpass`.
    PasswordFile,
    /// A token of Snyk, or its command.
    Snyk,
}

/// The words, in the spellings that occur, from where they are unlike others.
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
    ("login", AnnouncedSecret::Login),
    ("log in", AnnouncedSecret::Login),
    ("creds", AnnouncedSecret::Credentials),
    ("redential", AnnouncedSecret::Credentials),
    ("ugangsdat", AnnouncedSecret::Credentials),
    ("psk", AnnouncedSecret::Value),
    ("pw:", AnnouncedSecret::ShortName),
    ("pw=", AnnouncedSecret::ShortName),
    ("pw =", AnnouncedSecret::ShortName),
    ("pw\"", AnnouncedSecret::ShortName),
    ("PW=", AnnouncedSecret::ShortName),
    ("sudo -S", AnnouncedSecret::Command),
    ("net us", AnnouncedSecret::Command),
    ("cureString", AnnouncedSecret::SecureString),
    ("auth(", AnnouncedSecret::Call),
    ("auth=(", AnnouncedSecret::Call),
    ("Auth(", AnnouncedSecret::Call),
    ("tConnection(", AnnouncedSecret::Connection),
    (":5432:", AnnouncedSecret::PasswordFile),
    ("$1$", AnnouncedSecret::Hash),
    ("$5$", AnnouncedSecret::Hash),
    ("$6$", AnnouncedSecret::Hash),
    ("$y$", AnnouncedSecret::Hash),
    ("$apr1$", AnnouncedSecret::Hash),
    ("$2a$", AnnouncedSecret::Hash),
    ("$2b$", AnnouncedSecret::Hash),
    ("$2y$", AnnouncedSecret::Hash),
    ("$argon2", AnnouncedSecret::Hash),
    ("pbkdf2_", AnnouncedSecret::Hash),
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
    ("snyk", AnnouncedSecret::Snyk),
    ("dp.st.", AnnouncedSecret::Token),
    ("whsec_", AnnouncedSecret::Token),
    ("sntrys_", AnnouncedSecret::Token),
    ("7Q~", AnnouncedSecret::Azure),
    ("8Q~", AnnouncedSecret::Azure),
    ("Private-Lines", AnnouncedSecret::Putty),
    ("LS0tLS1CRUdJTi", AnnouncedSecret::Encoded),
];

/// The words of all languages that are written with letters of English.
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

impl Finder {
    fn new(words: &[&str]) -> Self {
        let packed = packed::Config::new().heuristic_pattern_limits(false).builder().extend(words).build();
        if let Some(searcher) = packed {
            return Self::Packed(searcher);
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words);
        automaton.map_or(Self::Nothing, Self::Automaton)
    }

    fn each(&self, bytes: &[u8], each: impl FnMut(aho_corasick::Match)) {
        match self {
            Self::Packed(searcher) => searcher.find_iter(bytes).for_each(each),
            Self::Automaton(automaton) => automaton.find_iter(bytes).for_each(each),
            Self::Nothing => {}
        }
    }
}

static FINDER: LazyLock<Finder> =
    LazyLock::new(|| Finder::new(&ALL.iter().map(|(word, _)| *word).collect::<Vec<_>>()));
/// Most texts have none of these letters, and need not be searched for them.
static FOREIGN: LazyLock<Finder> = LazyLock::new(|| Finder::new(FOREIGN_PASSWORD_WORDS));

/// Finds all secrets of this kind.
pub(crate) fn find(text: Text<'_>, found: &mut Vec<Secret>) {
    let mut done = 0;
    FINDER.each(text.bytes, |place| {
        if place.start() < done {
            return;
        }
        let before = found.len();
        ask(text, ALL[place.pattern().as_usize()].1, place.start(), place.end(), found);
        if let Some(last) = found.get(before..).and_then(<[Secret]>::last) {
            done = last.end;
        }
    });
    if !text.bytes.is_ascii() {
        FOREIGN.each(text.bytes, |place| found.extend(foreign(text, place.start(), place.end())));
    }
}

/// The password behind a word of another language.
fn foreign(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    assignment::foreign(text, end).or_else(|| sentence::foreign_password(text, start, end))
}

fn ask(text: Text<'_>, announces: AnnouncedSecret, start: usize, end: usize, found: &mut Vec<Secret>) {
    match announces {
        AnnouncedSecret::Value => {
            let found_here = found.len();
            found.extend(assignment::value(text, start, end).or_else(|| announced(text, start, end)));
            if found.len() == found_here && &text.bytes[start..end] == b"ecret" {
                kubernetes::values(text, end, found);
            }
        }
        AnnouncedSecret::Key => {
            let block = private_key::block(text, start).or_else(|| private_key::last_lines(text, start));
            let key = block.or_else(|| assignment::value(text, start, end));
            found.extend(key.or_else(|| command::given_to_option(text, start)));
        }
        AnnouncedSecret::Address => found.extend(address::password(text, start)),
        AnnouncedSecret::Bearer => found.extend(header::bearer(text, start, end)),
        AnnouncedSecret::Authorization => found.extend(header::authorization(text, start, end)),
        AnnouncedSecret::Identified => found.extend(assignment::identified(text, end)),
        AnnouncedSecret::Basic => found.extend(header::basic(text, end)),
        AnnouncedSecret::Auth => {
            let call = || text.bytes[end..].starts_with(b"(").then(|| argument::second(text, end + 1))?;
            found.extend(header::registry(text, end).or_else(call));
        }
        AnnouncedSecret::Cookie => header::cookies(text, start, end, found),
        AnnouncedSecret::Command => found.extend(command::password(text, start, end)),
        AnnouncedSecret::Signature => found.extend(address::signature(text, end)),
        AnnouncedSecret::Token => runs::token(text, start, found),
        AnnouncedSecret::Azure => found.extend(runs::azure_secret(text, end, end)),
        AnnouncedSecret::Encoded => found.extend(private_key::encoded(text, start)),
        AnnouncedSecret::Putty => found.extend(private_key::putty(text, end)),
        AnnouncedSecret::Foreign => found.extend(foreign(text, start, end)),
        AnnouncedSecret::ShortName => found.extend(assignment::value(text, start, start + 2)),
        AnnouncedSecret::Login => {
            found.extend(command::password(text, start, end).or_else(|| sentence::login(text, end)));
        }
        AnnouncedSecret::Credentials => found.extend(sentence::credentials(text, end)),
        AnnouncedSecret::Hash => found.extend(hash::password_hash(text, start)),
        AnnouncedSecret::Call => found.extend(argument::second(text, end)),
        AnnouncedSecret::Connection => found.extend(argument::third(text, end)),
        AnnouncedSecret::SecureString => found.extend(argument::secure_string(text, end)),
        AnnouncedSecret::PasswordFile => found.extend(command::password_file(text, start, end)),
        AnnouncedSecret::Snyk => match text.bytes.get(end) {
            Some(b'_') => runs::token(text, start, found),
            _ => found.extend(command::password(text, start, end)),
        },
    }
}

/// What a command or a sentence says of the password whose name's keyword is at `start..end`.
fn announced(text: Text<'_>, start: usize, end: usize) -> Option<Secret> {
    command::of_a_user(text, start)
        .or_else(|| command::given_to_option(text, start))
        .or_else(|| text.bytes[end..].starts_with(b"word-stdin").then(|| command::fed(text, start))?)
        .or_else(|| sentence::password(text, start, end))
}

/// Whether the kind only repeats the name of the secret, so that the secret's own form is more specific.
pub(crate) fn is_general(kind: &str) -> bool {
    matches!(kind, "password" | "secret" | "token" | "api-key" | "bearer-token" | "cookie" | "url-password")
}
