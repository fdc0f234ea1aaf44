//! Whether a text goes on is unknown; what is a secret in the whole text must be one in its beginning, too.

use proptest::prelude::*;

use crate::made_up::secrets;

/// Every byte of every secret that [`redact::find`] finds is inside one that [`redact::find_beginning`] finds.
fn hides_as_much(text: &str) -> bool {
    let beginning = redact::find_beginning(text);
    let is_hidden = |secret: &redact::Secret| {
        (secret.start..secret.end)
            .all(|at| beginning.iter().any(|other| (other.start..other.end).contains(&at)))
    };
    redact::find(text).iter().all(is_hidden)
}

#[test]
fn a_secret_at_the_very_end_is_hidden() {
    let check = |text: &str, expected: &str| assert_eq!(redact::redact_beginning(text), expected, "{text}");
    check("the db password: aX9!fESvOa61", "the db password: [redacted:password]");
    check("the db password is aX9!fESvOa61", "the db password is [redacted:password]");
    check("sudo password: Tr0ub4dor", "sudo password: [redacted:password]");
    check("password: Tr0ub4dor&3xyz", "password: [redacted:password]");
    check("password: Tr0ub4dor&3xyz, then", "password: [redacted:password], then");
    check("POST password=Tr0ub4dor&user=sam", "POST password=[redacted:password]&user=sam");
    check("password: Tr0ub4dor && ls", "password: [redacted:password] && ls");
    check("X-Auth-Key: 5f4dcc3b5aa765d61d8327deb882cf991a2b3", "X-Auth-Key: [redacted:api-key]");
    check("token: 5f4dcc3b5aa765d61d8327deb882cf99", "token: [redacted:token]");
    check("openssl rsa -passin pass:hunter2", "openssl rsa -passin pass:[redacted:password]");
    check("keytool -storepass hunter2", "keytool -storepass [redacted:password]");
    check("the password: of", "the password: of");
    check("the token: refresh", "the token: refresh");
}

#[test]
fn no_made_up_secret_is_lost_where_the_text_ends_behind_it() {
    for secret in secrets(4) {
        assert!(hides_as_much(&secret.text), "{}", secret.text);
        let ends = secret.gone.iter().filter_map(|gone| Some(secret.text.find(gone.as_str())? + gone.len()));
        for end in ends {
            assert!(hides_as_much(&secret.text[..end]), "{}", &secret.text[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::long::amount(256, 10_000)))]

    #[test]
    fn a_beginning_hides_what_the_whole_text_hides(
        pieces in prop::collection::vec(
            prop_oneof![
                prop::sample::select(PIECES).prop_map(str::to_owned),
                "[a-zA-Z0-9]{1,24}",
                "\\PC{0,8}",
            ],
            1..10,
        ),
    ) {
        let text = pieces.concat();
        prop_assert!(hides_as_much(&text), "{:?}", text);
    }
}

/// Texts that rules look for; between them any text.
const PIECES: &[&str] = &[
    "password",
    "pass",
    "api_key",
    "token",
    "secret",
    "密码",
    "=",
    ": ",
    " is ",
    " ",
    "\"",
    "'",
    "\n",
    ".",
    "://",
    "@",
    ":",
    "aX9!fESvOa61",
    "hunter2",
    "5f4dcc3b5aa765d61d8327deb882cf99",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----END PRIVATE KEY-----",
    "MIIEpAIBAAKCAQEAaX9fESvOa61bcdefg",
    "eyJhbGciOiJIUzI1NiJ9",
    "Bearer ",
    "Authorization: ",
    "Basic ",
    "c2FtOmh1bnRlcjI=",
    "Cookie: a=",
    "curl -u sam:",
    "mysql -p",
    "sk-ant-",
    "ghp_",
    "AKIA",
    "whsec_",
    "https://hooks.slack.com/services/",
    "?sig=",
    "8Q~",
];
