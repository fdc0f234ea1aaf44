//! Text that is made to be slow, to break the rules, or to part a secret.

use testkit::long;

use crate::made_up::Random;

/// How many times as long as the other the longer text is.
const FACTOR: usize = 8;
/// Growth that is not taken for quadratic.
const MOST: f64 = 2.0;
/// How much the time of one text varies from run to run, in seconds: the system counts in steps of four milliseconds.
const NOISE: f64 = 0.05;

/// Seconds of the processor's time that this thread has taken, which no other program uses up.
#[expect(clippy::disallowed_methods, reason = "a small file of the system")]
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

/// What eight times as much takes is about eight times as much, not sixty-four.
#[track_caller]
fn check_growth(piece: &str) {
    let long = long::amount(1 << 18, 1 << 20);
    let seconds = |length: usize| {
        let text = piece.repeat(length / piece.len());
        let begun = processor_seconds();
        std::hint::black_box(redact::find(&text));
        processor_seconds() - begun
    };
    let growth = || (seconds(long / FACTOR), seconds(long));
    // Other programs slow the processor down: what is linear shows it at the second try, what is not at none.
    let is_linear = (0..3).any(|_| {
        let (short, long) = growth();
        long - NOISE <= short * FACTOR as f64 * MOST
    });
    assert!(is_linear, "{piece:?} takes (less, all) {:?}", growth());
}

#[test]
fn redaction_takes_linear_time() {
    for piece in [
        "a",
        "aA0_-",
        " ",
        "é",
        "密码",
        "=",
        "password=",
        "password = ",
        "\"password\": \"",
        "token.token-token_",
        "secret_key_secret_key_",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n",
        "MIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA\n",
        "eyJ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "a://b:c",
        "://",
        "a://b:c@",
        "curl -u ",
        "mysql -p",
        "login password ",
        "Cookie: a=b; ",
        "Cookie: ",
        "Bearer ",
        "Basic YTpi",
        "sk-",
        "sk-ant-",
        "ghp_",
        "xox",
        "AKIA",
        "Q~",
        "8Q~abcdefghijklmnopqrst.",
        ":AA",
        "123456789:AA",
        "\\",
        "\\n",
        "\\\"",
        "\"",
        "&quot;",
        "password\\\\\\\\\\",
        "_auth=\"\"",
        "密码：",
        "sig=&",
        "redis-cli -a ",
        "mongosh -p",
        "7z -p",
        "zip -P",
        "zip -",
        "smbclient -U a%",
        "htpasswd -b a b ",
        "echo a:b | chpasswd",
        "chpasswd <<< ",
        "LS0tLS1CRUdJTi",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1J",
        "7Q~",
        "pass: '",
        "password: c2stbGl2ZS1hYmNk",
        "name: API_KEY\\n  value: ",
        "kind: Secret\n",
        "kind: Secret data:\n  a: b\n",
        "data:\n  a: b\nkind: Secret\n---\n",
        "echo | sudo -S ",
        "password-stdin",
        "| password-stdin",
        "net use ",
        "credentials are a ",
        "password for a ",
        "login as a / ",
        "auth=(\"a\", ",
        "tConnection(a, ",
        ":5432:a:b:c",
        "$6$",
        "pass: a1",
        "pass: 'a1B2c3D4'\n",
        "pw = ",
        "nmcli password ",
        "пароль от ",
        "-----BEGIN PRIVATE KEY-----\n\n",
        "-----BEGIN PRIVATE KEY-----\nVersion: 1\n",
        "-----BEGIN PRIVATE KEY-----\nab cd\n",
        "-----END PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN%20PRIVATE%20KEY-----%0A",
        "-eyJ",
        "-eyJhbGciOiJIUzI1NiJ9.",
        "eyJhbGciOiJIUzI1NiJ9..",
        "-----BEGIN PRIVATE KEY-----\n12:MIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA\n",
        "MIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA ab cd\n",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUV2QUlCQURBTkJna3Foa2lHOXcw\n",
    ] {
        check_growth(piece);
    }
}

#[test]
fn a_secret_in_a_line_of_ten_megabytes() {
    let secret = format!("gh{}{}", "p_", "a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8");
    let filler = "lorem ipsum ".repeat(400_000);
    let text = format!("{filler}{secret} {filler}");
    assert_eq!(redact::redact(&text).len(), text.len() - secret.len() + "[redacted:github-token]".len());
}

#[test]
fn a_secret_that_is_cut_off() {
    let check = |text: &str, expected: &str| assert_eq!(redact::redact_beginning(text), expected, "{text}");
    check("use ghp_a1B2", "use [redacted:github-token]");
    check("use sk-ant-api03-x", "use [redacted:anthropic-key]");
    check("it is AKIAQQ", "it is [redacted:aws-access-key-id]");
    check("at postgres://app:s3cr", "at postgres://app:[redacted:url-password]");
    check("at http://localhost:80", "at http://localhost:80");
    check("DB_PASSWORD=hunt", "DB_PASSWORD=[redacted:password]");
    check("my eyJhbGciOiJI", "my [redacted:json-web-token]");
    check("-----BEGIN PRIVATE KEY----- MIIEpAIBAAKCAQ", "[redacted:private-key]");
    check("use ghp_a1B2c3D4e5F6g7…", "use [redacted:github-token]…");
    check("at postgres://app:s3cr…", "at postgres://app:[redacted:url-password]…");
    check("the task-list…", "the task-list…");
    check("the task-list", "the task-list");
    check("all tests pass", "all tests pass");
    check("an ordinary prompt about tokens", "an ordinary prompt about tokens");
}

#[test]
fn two_secrets_on_a_line() {
    let (one, two) = ("S3cr3t-11".to_owned(), format!("gl{}", "pat-a1B2c3D4e5F6g7H8i9J0"));
    let text = format!("A_PASSWORD={one} B={two}; C_PASSWORD='{one}'.");
    let expected =
        "A_PASSWORD=[redacted:password] B=[redacted:gitlab-token]; C_PASSWORD='[redacted:password]'.";
    assert_eq!(redact::redact(&text), expected);
}

#[test]
fn any_bytes_of_text_are_taken() {
    let pieces = [
        "password",
        "=",
        ":",
        "\"",
        "'",
        "\\",
        "\n",
        "://",
        "@",
        "a1B2c3D4e5F6",
        "é",
        "密码",
        "：",
        "-----BEGIN",
        " PRIVATE KEY",
        "-----",
        "eyJ",
        ".",
        "Bearer ",
        "Basic ",
        "sk-",
        "curl -u ",
        "Cookie: ",
        ";",
        "key",
        "value",
        "%3D",
        "[",
        "m",
        "\u{1b}",
        "<",
        ">",
        "ghp_",
        "AKIA",
        "sig=",
        "?",
        "&",
        "Q~",
        "8",
        "_",
        "-",
        "~",
        "name: ",
        "is ",
        ",",
        "&quot;",
        "login ",
        "mysql -p",
    ];
    let mut random = Random::new(11);
    for _ in 0..30_000 {
        let count = 1 + random.below(12);
        let text: String = (0..count).map(|_| pieces[random.below(pieces.len())]).collect();
        let secrets = redact::find(&text);
        let mut last = 0;
        for secret in &secrets {
            assert!(
                secret.start >= last && secret.start < secret.end && secret.end <= text.len(),
                "{text:?}"
            );
            last = secret.end;
        }
        let once = redact::redact(&text).into_owned();
        let _ = redact::redact_beginning(&text);
        let whole = redact::original(&secrets, 0..once.len());
        assert_eq!(whole, 0..text.len(), "{text:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_taken(text in "\\PC{0,200}") {
        let once = redact::redact(&text).into_owned();
        proptest::prop_assert_eq!(redact::redact(&once).into_owned(), once.clone());
        let _ = redact::redact_beginning(&text);
    }
}
