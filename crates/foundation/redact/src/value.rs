//! Decides whether a value is a secret, or a placeholder, code, a word or random data.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::rules::{PLACEHOLDERS, SURE_PLACEHOLDERS};

/// Parts of names that have digits but are not random.
const TECHNICAL: &[&str] = &[
    "base64",
    "base62",
    "base58",
    "base32",
    "sha256",
    "sha-256",
    "sha512",
    "sha-512",
    "bcrypt",
    "sha384",
    "sha1",
    "md5",
    "utf8",
    "utf16",
    "oauth2",
    "oauth1",
    "http2",
    "ipv4",
    "ipv6",
    "x509",
    "ed25519",
    "secp256k1",
    "rs256",
    "hs256",
    "es256",
    "web3",
    "k8s",
    "i18n",
    "l10n",
    "u64",
    "u32",
    "u16",
    "i64",
    "i32",
    "f64",
    "f32",
    "int64",
    "int32",
    "uint8",
    "uint32",
    "uint64",
    "p256",
    "pkcs8",
    "pkcs1",
    "aes256",
    "aes128",
    "ec2",
    "s3",
    "v1",
    "v2",
    "v3",
];

/// Whether a value is a placeholder: empty, one repeated character, a variable, a template, or a word such as
/// `example`.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    is_sure_placeholder(value) || is_template(value) || holds(value, &PLACEHOLDER_WORDS)
}

/// Whether a token of a known form is a placeholder; an `EXAMPLE` in it proves nothing.
pub(crate) fn is_sure_placeholder(value: &[u8]) -> bool {
    let filled = |byte: u8| matches!(byte, b'x' | b'X' | b'*' | b'.' | b'#' | b'?');
    let is_filler = |four: &[u8]| filled(four[0]) && four.iter().all(|byte| *byte == four[0]);
    value.is_empty()
        || has_few_distinct_chars(value)
        || value.windows(4).any(is_filler)
        || value.windows(3).any(|three| three == b"...")
        || holds(value, &SURE_PLACEHOLDER_WORDS)
}

/// Whether the value has at most three different characters.
pub(crate) fn has_few_distinct_chars(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    for byte in value {
        seen[usize::from(*byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() <= 3
}

/// A variable or a template.
fn is_template(value: &[u8]) -> bool {
    let opens = |pair: &[u8]| matches!(pair, b"${" | b"{{" | b"$(" | b"#{" | b"<%" | b"%(" | b"@{");
    let is_variable = || {
        let name = value.strip_prefix(b"$").or_else(|| value.strip_prefix(b"%"));
        name.is_some_and(|name| {
            name.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'%'))
        }) || (value[0] == b'$' && value[1..].iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'_'))
    };
    matches!(value.first(), Some(b'<' | b'{' | b'[' | b'('))
        || value.windows(2).any(opens)
        || matches!(value, b"%s" | b"%v" | b"%d" | b"%q")
        || is_variable()
}

/// Words to be found in a value, in any case.
type Words = LazyLock<Option<AhoCorasick>>;

static PLACEHOLDER_WORDS: Words = LazyLock::new(|| words(PLACEHOLDERS));
static SURE_PLACEHOLDER_WORDS: Words = LazyLock::new(|| words(SURE_PLACEHOLDERS));
static TECHNICAL_WORDS: Words = LazyLock::new(|| words(TECHNICAL));

fn words(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
}

fn holds(value: &[u8], words: &Words) -> bool {
    words.as_ref().is_some_and(|words| words.is_match(value))
}

/// Whether the value is an expression of a program: a call, an index, a path of names.
pub(crate) fn is_code(value: &[u8]) -> bool {
    let joins = |pair: &[u8]| matches!(pair, b"->" | b"::" | b"=>");
    let is_pointer = matches!(value.first(), Some(b'*' | b'&'));
    if is_pointer
        || value.iter().any(|byte| matches!(byte, b'(' | b'[' | b'{'))
        || value.windows(2).any(joins)
    {
        return true;
    }
    let is_name = |part: &[u8]| {
        part.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
            && part.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            && !is_random_piece(part)
    };
    let dotted: Vec<&[u8]> =
        value.split(|byte| matches!(byte, b'.' | b'?')).filter(|part| !part.is_empty()).collect();
    dotted.len() > 1 && dotted.iter().all(|part| is_name(part))
}

/// Whether the value is a number as written in programs: `0x1003`, `2108u32`, `-1`, `1_000`, `3.5s`.
pub(crate) fn is_number(value: &[u8]) -> bool {
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let (digits, is_digit): (&[u8], fn(&u8) -> bool) =
        match value.strip_prefix(b"0x").or(value.strip_prefix(b"0X")) {
            Some(digits) => (digits, u8::is_ascii_hexdigit),
            None => (value, u8::is_ascii_digit),
        };
    let length = digits.iter().take_while(|byte| is_digit(byte) || matches!(byte, b'_' | b'.')).count();
    let unit = digits[length..].strip_prefix(b"_").unwrap_or(&digits[length..]);
    // No number of a program is longer than 256 bits, and a key often is as long.
    (1..64).contains(&length) && unit.len() <= 5 && (unit.is_empty() || b"uifULsmkMG".contains(&unit[0]))
}

/// Whether the value is a path or URL rather than a secret itself.
pub(crate) fn is_path_or_url(value: &[u8]) -> bool {
    let drive = matches!(value, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    drive
        || value.starts_with(b"/")
        || value.starts_with(b"~/")
        || value.starts_with(b"./")
        || value.starts_with(b"../")
        || value.windows(3).any(|three| three == b"://")
}

/// Whether no character makes up a third of it, as one does in encoded numbers.
pub(crate) fn is_evenly_distributed(value: &[u8]) -> bool {
    let mut counts = [0_usize; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    counts.iter().all(|count| *count * 3 < value.len())
}

/// Whether chance made it: a piece of it mixes letters and digits, or cases, as no word does.
pub(crate) fn is_random(value: &[u8]) -> bool {
    pieces(value).any(is_random_piece)
}

/// Whether the value mixes kinds of characters: weak evidence, sufficient after a name and in quotes.
pub(crate) fn is_mixed(value: &[u8]) -> bool {
    is_random(value) || pieces(value).any(is_mixed_piece)
}

fn pieces(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'=')))
        .filter(|piece| piece.len() >= 10)
}

fn is_random_piece(piece: &[u8]) -> bool {
    if piece.len() < 10 {
        return false;
    }
    let counted = CharCounts::new(piece);
    let groups = counted.turns + 1;
    let is_broken = counted.letters > 0 && groups >= 4 && !(groups < 6 && is_technical(piece));
    // Names in camel case change between cases, too, but a capital is rare in them.
    let is_jumbled = counted.capitals * 10 >= counted.letters * 3;
    is_broken
        || (piece.len() >= 16 && is_jumbled && (counted.turns + counted.case_turns) * 5 >= piece.len() * 2)
}

fn is_mixed_piece(piece: &[u8]) -> bool {
    let counted = CharCounts::new(piece);
    let is_long = piece.len() >= 20 && counted.digits >= 1 && counted.case_turns >= 4;
    is_long || (piece.len() >= 12 && counted.digits >= 2 && counted.letters >= 2 && !is_technical(piece))
}

/// Whether the piece contains a technical name whose digits are not random.
pub(crate) fn is_technical(piece: &[u8]) -> bool {
    holds(piece, &TECHNICAL_WORDS)
}

/// Whether a password is meant and not a word: letters with digits or with a sign that words have not.
pub(crate) fn is_password(value: &[u8]) -> bool {
    let counted = CharCounts::new(value);
    let odd = value.iter().filter(|byte| b"!@#$%^&*+~".contains(byte)).count();
    let sequence_only = counted.letters == 0;
    let is_usual = (6..=128).contains(&value.len()) && !sequence_only && (counted.digits > 0 || odd > 0);
    (is_usual && !value.iter().any(u8::is_ascii_whitespace)) || is_jumbled_word(value)
}

/// Whether the value is one word that mixes small and capital letters in no usual way; identifiers change case, too,
/// but have longer parts.
fn is_jumbled_word(value: &[u8]) -> bool {
    if !(8..=128).contains(&value.len()) || !value.iter().all(u8::is_ascii_alphabetic) {
        return false;
    }
    // `HTTPServer` has two parts.
    let begins = |pair: &&[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    let parts = 1 + value.windows(2).filter(begins).count();
    let counted = CharCounts::new(value);
    // In names, capitals are few, or most where they are initials; chance makes half of the letters so.
    let is_even =
        (3..=7).contains(&(counted.capitals * 10 / value.len())) && counted.case_turns * 4 >= value.len();
    value.len() * 4 < parts * 11 || (value.len() >= 12 && is_even)
}

/// Whether the value is text in base64, as the secrets of Kubernetes are; words never are by chance.
pub(crate) fn is_encoded_text(value: &[u8]) -> bool {
    let is_mixed = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    (8..=400).contains(&value.len())
        && value.len().is_multiple_of(4)
        && is_mixed
        && decoded(value)
            .is_some_and(|text| text.iter().all(|byte| (0x20..0x7F).contains(byte) || *byte == b'\n'))
}

/// Decodes base64 of either alphabet; `None` if it is invalid.
pub(crate) fn decoded(encoded: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(encoded.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    let padding = encoded.iter().rev().take_while(|byte| **byte == b'=').count();
    for byte in &encoded[..encoded.len() - padding] {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.extend(u8::try_from((bits >> held) & 0xFF));
        }
    }
    (padding <= 2).then_some(out)
}

/// Whether the value is a long mix of letters, digits and many signs, as web frameworks generate keys.
pub(crate) fn is_signed(value: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"!@#$%^&*(-_=+)".contains(byte);
    if !(40..=128).contains(&value.len())
        || !value.iter().all(|byte| byte.is_ascii_alphanumeric() || is_sign(byte))
    {
        return false;
    }
    let counted = CharCounts::new(value);
    let turns = value.windows(2).filter(|pair| is_sign(&pair[0]) != is_sign(&pair[1])).count();
    counted.digits >= 3 && counted.letters >= 10 && turns >= 10 && !is_sure_placeholder(value)
}

/// Whether the value is a UUID.
pub(crate) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// The number of characters of each kind in a text.
struct CharCounts {
    letters: usize,
    capitals: usize,
    digits: usize,
    /// Changes between letters and digits.
    turns: usize,
    /// Changes between small letters and capitals.
    case_turns: usize,
}

impl CharCounts {
    fn new(text: &[u8]) -> Self {
        let letters = text.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
        let turn = |pair: &&[u8]| pair[0].is_ascii_digit() != pair[1].is_ascii_digit();
        let case = |pair: &&[u8]| {
            pair.iter().all(u8::is_ascii_alphabetic)
                && pair[0].is_ascii_lowercase() != pair[1].is_ascii_lowercase()
        };
        let turns = text.windows(2).filter(turn).count();
        let case_turns = text.windows(2).filter(case).count();
        let capitals = text.iter().filter(|byte| byte.is_ascii_uppercase()).count();
        Self { letters, capitals, digits, turns, case_turns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_is_distinguished_from_words() {
        let check = |value: &str, expected| assert_eq!(is_random(value.as_bytes()), expected, "{value}");
        check("5f4dcc3b5aa765d61d8327deb882cf99", true);
        check("wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEY", true);
        check("QmFzZTY0IGlzIG5vdCBzZWNyZXQ", true);
        check("abcdef1234567890abcdef1234567890", true);
        check("GetAccessTokenFromKeychain", false);
        check("SpApplyControlTokenFn", false);
        check("my-secret-key-v2", false);
        check("base64EncodedSecret", false);
        check("sha256OfThePassword", false);
        check("12345678901234567890", false);
        check("tokenTokenTokenToken", false);
    }

    #[test]
    fn placeholders() {
        let check = |value: &str, expected| assert_eq!(is_placeholder(value.as_bytes()), expected, "{value}");
        check("", true);
        check("xxxxxxxxxxxxxxxx", true);
        check("sk-xxxx-1", true);
        check("****", true);
        check("abc...xyz", true);
        check("your-key-here", true);
        check("YOUR_API_KEY", true);
        check("<token>", true);
        check("${TOKEN}", true);
        check("$TOKEN", true);
        check("%TOKEN%", true);
        check("{{ token }}", true);
        check("[redacted:token]", true);
        check("changeme123", true);
        check("example-key-1", true);
        check("hunter2", false);
        check("$tr0ng!", false);
        check("5f4dcc3b5aa765d61d8327deb882cf99", false);
    }

    #[test]
    fn passwords() {
        let check = |value: &str, expected| assert_eq!(is_password(value.as_bytes()), expected, "{value}");
        check("hunter2", true);
        check("QqYyzbLu", true);
        check("txdVzRiJlCEUuvsL", true);
        check("getUserPassword", false);
        check("HTTPServerURL", false);
        check("DatabasePassWd", false);
        check("PasswordInput", false);
        check("Tr0ub4dor&3", true);
        check("p@ssword", true);
        check("password", false);
        check("123456", false);
        check("user-password", false);
        check("a 1 b 2 c", false);
    }

    #[test]
    fn encoded_and_signed() {
        let check =
            |value: &str, expected| assert_eq!(is_encoded_text(value.as_bytes()), expected, "{value}");
        check("aHVudGVyMg==", true);
        check("c2stbGl2ZS1hYmNk", true);
        check("password", false);
        check("UserPassword", false);
        check("getTokenFromEnvs", false);
        check("iVBORw0KGgoAAAANSUhE", false);
        let check = |value: &str, expected| assert_eq!(is_signed(value.as_bytes()), expected, "{value}");
        check("G)ov^(a*8bHN_wDeM3$t+$p5%(0%dk2-x=w7q&z!r9@m#e1v", true);
        check("%(user)s:%(password)s@%(host)s:%(port)s/%(database)s", false);
        check("a-name-of-many-parts-that-goes-on-and-on-and-on-and-on", false);
    }

    #[test]
    fn numbers() {
        let check = |value: &str, expected| assert_eq!(is_number(value.as_bytes()), expected, "{value}");
        check("0x80550009", true);
        check("2108u32", true);
        check("-2147212282i32", true);
        check("0xC000006B_u32", true);
        check("1_000", true);
        check("30s", true);
        check("1234abcd", false);
        check("9lives", false);
        check("x1", false);
    }

    #[test]
    fn code_and_places() {
        let check = |value: &str, expected| {
            assert_eq!(is_code(value.as_bytes()) || is_path_or_url(value.as_bytes()), expected, "{value}");
        };
        check("os.getenv(1)", true);
        check("config.password2", true);
        check("req.body?.password1", true);
        check("users[0]", true);
        check("*const", true);
        check("super::Password1", true);
        check("/home/sam1", true);
        check("https://host/1", true);
        check("hunter2", false);
        check("aB3k9Zk2Qx7.x9", false);
    }
}
