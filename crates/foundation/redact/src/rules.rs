//! The table of tokens known by their prefix: the service, the prefix and the format of the rest, as documented by
//! the services or agreed on by secret scanners.
//!
//! Lengths are lower bounds and a little generous: services change them, and such a prefix makes a token of any
//! length certain.

/// The characters of a token after its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-`, `.` and `=`.
    Dotted,
    /// Base64 with its padding.
    Base64,
    /// Hexadecimal digits.
    Hex,
    /// Capital letters and digits.
    Upper,
}

impl Body {
    /// Whether a byte belongs to it.
    pub(crate) fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'='),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

/// The number of characters after the prefix, and whether the prefix alone is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// At least this many; no other text has the prefix.
    Least(usize),
    /// At least this many that look random; words have the prefix, too.
    Random(usize),
    /// Exactly this number of characters.
    Exact(usize),
    /// Exactly this many that look random.
    ExactRandom(usize),
}

impl Length {
    /// The minimum number of characters.
    pub(crate) fn least(self) -> usize {
        match self {
            Self::Least(least) | Self::Random(least) | Self::Exact(least) | Self::ExactRandom(least) => least,
        }
    }
}

/// A token known by its prefix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    /// The kind that replaces it in redacted text.
    pub(crate) kind: &'static str,
    /// The prefix.
    pub(crate) prefix: &'static str,
    /// The characters after the prefix.
    pub(crate) body: Body,
    /// The number of characters after the prefix.
    pub(crate) length: Length,
}

const fn token(kind: &'static str, prefix: &'static str, body: Body, length: Length) -> Token {
    Token { kind, prefix, body, length }
}

use Body::{Alnum, Base64, Dotted, Hex, Upper, Word};
use Length::{Exact, ExactRandom, Least, Random};

/// All known tokens; the first match counts.
pub(crate) const TOKENS: &[Token] = &[
    // Models and what is built on them.
    token("anthropic-key", "sk-ant-", Word, Least(16)),
    token("openrouter-key", "sk-or-", Word, Least(24)),
    token("langfuse-key", "sk-lf-", Word, Least(24)),
    token("openai-key", "sk-proj-", Word, Least(20)),
    token("openai-key", "sk-svcacct-", Word, Least(20)),
    token("openai-key", "sk-admin-", Word, Least(20)),
    token("openai-key", "sk-None-", Word, Least(20)),
    token("openai-key", "sk-", Alnum, Random(20)),
    token("groq-key", "gsk_", Alnum, Least(30)),
    token("xai-key", "xai-", Alnum, Least(40)),
    token("perplexity-key", "pplx-", Alnum, Least(32)),
    token("replicate-token", "r8_", Alnum, Least(32)),
    token("hugging-face-token", "hf_", Alnum, Least(30)),
    token("hugging-face-token", "api_org_", Alnum, Least(30)),
    token("pinecone-key", "pcsk_", Word, Least(40)),
    token("nvidia-key", "nvapi-", Word, Least(40)),
    token("langsmith-key", "lsv2_pt_", Word, Least(32)),
    token("langsmith-key", "lsv2_sk_", Word, Least(32)),
    token("tavily-key", "tvly-", Word, Random(28)),
    token("cerebras-key", "csk-", Alnum, Random(40)),
    token("together-key", "tgp_v1_", Word, Least(40)),
    token("fireworks-key", "fw_", Alnum, Random(20)),
    token("firecrawl-key", "fc-", Hex, ExactRandom(32)),
    token("e2b-key", "e2b_", Hex, Exact(40)),
    token("jina-key", "jina_", Alnum, Least(50)),
    // Code and packages.
    token("github-token", "ghp_", Alnum, Least(20)),
    token("github-token", "gho_", Alnum, Least(20)),
    token("github-token", "ghu_", Alnum, Least(20)),
    token("github-token", "ghs_", Alnum, Least(20)),
    token("github-token", "ghr_", Alnum, Least(20)),
    token("github-token", "github_pat_", Word, Least(30)),
    token("gitlab-token", "glpat-", Dotted, Least(20)),
    token("gitlab-token", "gldt-", Word, Least(20)),
    token("gitlab-token", "glrt-", Dotted, Least(20)),
    token("gitlab-token", "glcbt-", Word, Least(20)),
    token("gitlab-token", "glptt-", Word, Least(20)),
    token("gitlab-token", "glft-", Word, Least(20)),
    token("gitlab-token", "glsoat-", Word, Least(20)),
    token("gitlab-token", "glffct-", Word, Least(20)),
    token("gitlab-token", "glimt-", Word, Least(20)),
    token("gitlab-token", "gloas-", Word, Least(20)),
    token("gitlab-token", "glagent-", Word, Least(20)),
    token("gitlab-token", "GR1348941", Word, Least(20)),
    token("bitbucket-token", "ATBB", Alnum, ExactRandom(32)),
    token("bitbucket-token", "ATCTT3", Dotted, Least(40)),
    token("atlassian-token", "ATATT3", Dotted, Least(40)),
    token("npm-token", "npm_", Alnum, Least(30)),
    token("pypi-token", "pypi-AgE", Word, Least(30)),
    token("pypi-token", "pypi-", Word, Random(50)),
    token("crates-io-token", "cio", Alnum, ExactRandom(32)),
    token("rubygems-token", "rubygems_", Hex, Least(40)),
    token("nuget-key", "oy2", Alnum, ExactRandom(43)),
    token("clojars-token", "CLOJARS_", Alnum, Least(50)),
    token("docker-token", "dckr_pat_", Word, Least(20)),
    token("docker-token", "dckr_oat_", Word, Least(20)),
    token("artifactory-key", "AKCp", Alnum, Least(60)),
    token("artifactory-key", "cmVmdGtu", Alnum, Least(50)),
    token("circleci-token", "CCIPAT_", Word, Least(40)),
    token("buildkite-token", "bkua_", Alnum, Least(36)),
    token("sourcegraph-token", "sgp_", Word, Least(40)),
    token("postman-key", "PMAK-", Word, Least(50)),
    token("readme-key", "rdme_", Alnum, Least(60)),
    token("infracost-key", "ico-", Alnum, ExactRandom(32)),
    token("snyk-token", "snyk_", Dotted, Random(36)),
    token("sentry-token", "sntrys_", Base64, Least(40)),
    token("sentry-token", "sntryu_", Hex, Least(40)),
    // Clouds and hosts.
    token("aws-access-key-id", "AKIA", Upper, Exact(16)),
    token("aws-access-key-id", "ASIA", Upper, Exact(16)),
    token("aws-access-key-id", "ABIA", Upper, ExactRandom(16)),
    token("aws-access-key-id", "ACCA", Upper, ExactRandom(16)),
    token("aws-bedrock-key", "ABSK", Base64, Random(80)),
    token("aws-bedrock-key", "bedrock-api-key-", Base64, Least(24)),
    token("alibaba-key-id", "LTAI", Alnum, ExactRandom(20)),
    token("google-api-key", "AIza", Word, Least(30)),
    token("google-api-key", "AQ.Ab8RN6", Word, Least(20)),
    token("google-oauth-secret", "GOCSPX-", Word, Least(20)),
    token("google-oauth-token", "ya29.", Dotted, Least(20)),
    token("google-oauth-token", "1//0", Word, Random(40)),
    token("digitalocean-token", "dop_v1_", Alnum, Least(40)),
    token("digitalocean-token", "doo_v1_", Alnum, Least(40)),
    token("digitalocean-token", "dor_v1_", Alnum, Least(40)),
    token("heroku-key", "HRKU-", Word, Least(30)),
    token("databricks-token", "dapi", Hex, ExactRandom(32)),
    token("fly-token", "fo1_", Word, Least(40)),
    token("fly-token", "fm2_", Base64, Least(80)),
    token("fly-token", "fm1r_", Base64, Least(80)),
    token("netlify-token", "nfp_", Alnum, Least(36)),
    token("vercel-token", "vercel_blob_rw_", Word, Least(30)),
    token("vercel-token", "vck_", Alnum, Random(40)),
    token("render-key", "rnd_", Alnum, Random(28)),
    token("supabase-key", "sbp_", Alnum, Least(40)),
    token("supabase-key", "sb_secret_", Word, Least(20)),
    token("neon-key", "napi_", Alnum, Least(40)),
    token("planetscale-token", "pscale_tkn_", Dotted, Least(30)),
    token("planetscale-token", "pscale_oauth_", Dotted, Least(30)),
    token("planetscale-token", "pscale_pw_", Dotted, Least(30)),
    token("pulumi-token", "pul-", Hex, Exact(40)),
    token("terraform-token", ".atlasv1.", Word, Least(50)),
    token("scalingo-token", "tk-us-", Word, Least(40)),
    token("tailscale-key", "tskey-", Word, Least(24)),
    token("cloudflare-key", "v1.0-", Word, Random(80)),
    // Secrets that keep others.
    token("vault-token", "hvs.", Word, Least(20)),
    token("vault-token", "hvb.", Word, Least(20)),
    token("vault-token", "hvr.", Word, Least(20)),
    token("vault-token", "s.", Alnum, ExactRandom(24)),
    token("doppler-token", "dp.pt.", Alnum, Least(30)),
    token("doppler-token", "dp.st.", Dotted, Least(30)),
    token("doppler-token", "dp.sa.", Alnum, Least(30)),
    token("doppler-token", "dp.ct.", Alnum, Least(30)),
    token("1password-token", "ops_eyJ", Base64, Least(100)),
    token("1password-key", "A3-", Word, Random(28)),
    token("age-key", "AGE-SECRET-KEY-1", Upper, Least(40)),
    token("openshift-token", "sha256~", Word, Least(40)),
    // Talk and mail.
    token("slack-token", "xoxb-", Word, Least(16)),
    token("slack-token", "xoxp-", Word, Least(16)),
    token("slack-token", "xoxa-", Word, Least(16)),
    token("slack-token", "xoxr-", Word, Least(16)),
    token("slack-token", "xoxs-", Word, Least(16)),
    token("slack-token", "xoxe-", Word, Least(16)),
    token("slack-token", "xoxc-", Word, Least(16)),
    token("slack-token", "xoxd-", Dotted, Least(16)),
    token("slack-token", "xapp-", Word, Least(20)),
    token("sendgrid-key", "SG.", Dotted, Least(50)),
    token("mailgun-key", "key-", Alnum, ExactRandom(32)),
    token("brevo-key", "xkeysib-", Word, Least(40)),
    token("brevo-key", "xsmtpsib-", Word, Least(40)),
    token("resend-key", "re_", Word, Random(24)),
    token("twilio-key", "SK", Hex, ExactRandom(32)),
    // Money.
    token("stripe-key", "sk_live_", Alnum, Least(16)),
    token("stripe-key", "sk_test_", Alnum, Least(16)),
    token("stripe-key", "rk_live_", Alnum, Least(16)),
    token("stripe-key", "rk_test_", Alnum, Least(16)),
    token("stripe-webhook-secret", "whsec_", Base64, Least(24)),
    token("elevenlabs-key", "sk_", Hex, ExactRandom(48)),
    token("square-token", "sq0atp-", Word, Least(20)),
    token("square-token", "sq0csp-", Word, Least(40)),
    token("square-token", "EAAAE", Word, Random(58)),
    token("facebook-token", "EAA", Alnum, Random(90)),
    token("shopify-token", "shpat_", Alnum, Least(30)),
    token("shopify-token", "shpss_", Alnum, Least(30)),
    token("shopify-token", "shpca_", Alnum, Least(30)),
    token("shopify-token", "shppa_", Alnum, Least(30)),
    token("flutterwave-key", "FLWSECK", Word, Least(12)),
    token("razorpay-key", "rzp_live_", Alnum, Random(14)),
    token("plaid-token", "access-sandbox-", Word, Exact(36)),
    token("plaid-token", "access-production-", Word, Exact(36)),
    token("easypost-key", "EZAK", Alnum, Random(50)),
    token("easypost-key", "EZTK", Alnum, Random(50)),
    token("shippo-token", "shippo_", Word, Least(40)),
    token("duffel-token", "duffel_", Word, Least(40)),
    // Work.
    token("linear-key", "lin_api_", Alnum, Least(30)),
    token("linear-key", "lin_oauth_", Alnum, Least(30)),
    token("notion-token", "ntn_", Alnum, Least(40)),
    token("notion-token", "secret_", Alnum, ExactRandom(43)),
    token("figma-token", "figd_", Word, Least(36)),
    token("typeform-token", "tfp_", Word, Least(40)),
    token("frameio-token", "fio-u-", Word, Least(50)),
    token("contentful-token", "CFPAT-", Word, Least(40)),
    token("octopus-key", "API-", Upper, ExactRandom(26)),
    token("harness-key", "pat.", Dotted, Random(60)),
    token("posthog-key", "phx_", Alnum, Random(36)),
    token("grafana-token", "glc_", Base64, Random(32)),
    token("grafana-token", "glsa_", Word, Least(32)),
    token("grafana-token", "eyJrIjoi", Base64, Least(60)),
    token("dynatrace-token", "dt0c01.", Dotted, Least(60)),
    token("new-relic-key", "NRAK-", Alnum, Least(24)),
    token("new-relic-key", "NRII-", Word, Least(24)),
    token("new-relic-key", "NRJS-", Alnum, Least(19)),
    token("prefect-key", "pnu_", Alnum, Least(36)),
    token("hubspot-token", "pat-na1-", Word, Exact(36)),
    token("hubspot-token", "pat-eu1-", Word, Exact(36)),
    token("dropbox-token", "sl.", Word, Random(60)),
    token("mapbox-token", "sk.eyJ", Dotted, Least(40)),
];

/// Ends of names whose values are secrets if they look random.
///
/// Compared in lower case and without `_`, `-` and `.`.
pub(crate) const KEY_NAMES: &[&str] = &[
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "accountkey",
    "authkey",
    "servicekey",
    "sharedkey",
    "licensekey",
    "appkey",
    "clientkey",
    "consumerkey",
    "deploykey",
    "hmackey",
    "jwtkey",
    "cryptkey",
    "sessionkey",
    "storagekey",
    "adminkey",
    "integrationkey",
    "subscriptionkey",
    "functionkey",
    "sharedaccesskey",
    "serverkey",
    "writekey",
    "readkey",
    "rolekey",
    "webhookkey",
    "ingestkey",
    "tokenkey",
    "userkey",
    "teamkey",
    "projectkey",
    "botkey",
    "aeskey",
    "mailkey",
    "fernetkey",
    "secretkeybase",
];

/// Ends of names whose values are secrets even if they do not look random.
pub(crate) const PASSWORD_NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "passwort",
    "storepass",
    "keypass",
    "requirepass",
    "psk",
    "pwd",
    "pass",
    "pw",
];

/// Words for a password in other languages, as far as they are written with letters of English; nothing of a name follows
/// them.
pub(crate) const PASSWORD_WORDS: &[&str] = &[
    "ennwort",
    "ontrasena",
    "de passe",
    "senha",
    "achtwoord",
    "haslo",
    "heslo",
    "jelszo",
    "sifre",
    "alasana",
    "lozinka",
    "dgangskode",
];

/// Words for a password in other letters.
pub(crate) const FOREIGN_PASSWORD_WORDS: &[&str] = &[
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "비밀번호",
    "암호",
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "парола",
    "aseña",
    "ASEÑA",
    "hasło",
    "Hasło",
    "jelszó",
    "Jelszó",
    "ösenord",
    "şifre",
    "Şifre",
    "Mật khẩu",
    "mật khẩu",
    "รหัสผ่าน",
    "كلمة المرور",
    "كلمة السر",
    "סיסמה",
    "סיסמא",
    "पासवर्ड",
    "κωδικός",
    "Κωδικός",
];

/// Names that end in `token` and are no secrets: places in a list, and pieces of text.
pub(crate) const HARMLESS_TOKENS: &[&str] = &[
    "nexttoken",
    "pagetoken",
    "continuationtoken",
    "cursortoken",
    "stoptoken",
    "eostoken",
    "bostoken",
    "padtoken",
    "unktoken",
    "masktoken",
    "septoken",
    "clstoken",
    "specialtoken",
    "synctoken",
    "resumetoken",
    "changetoken",
    "designtoken",
    "idempotencytoken",
    "cancellationtoken",
    "starttoken",
    "endtoken",
];

/// Parts of values that mark a placeholder.
pub(crate) const PLACEHOLDERS: &[&str] = &[
    "your",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "replace",
    "insert",
    "dummy",
    "example",
    "sample",
    "fake",
    "mock",
    "todo",
    "not-a-real",
    "not_a_real",
    "undefined",
    "masked",
    "omitted",
];

/// Parts of values that mark a placeholder even in a token of a known form.
pub(crate) const SURE_PLACEHOLDERS: &[&str] = &["your", "placeholder", "redacted", "replace_", "replace-"];

/// Passwords in addresses that every manual uses.
pub(crate) const MANUAL_PASSWORDS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "pwd",
    "pw",
    "p",
    "secret",
    "token",
    "user",
    "username",
    "example",
    "changeme",
    "xxx",
    "test",
    "guest",
    "admin",
    "root",
    "postgres",
    "mysql",
    "db_password",
    "dbpassword",
    "mypassword",
    "proxypass",
    "anonymous",
    "my_password",
    "port",
    "key",
    "credentials",
    "api_key",
    "apikey",
    "access_token",
    "basic",
    "redacted",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_a_test_secret() {
        let list = include_str!("../tests/made_up.txt");
        let forms = list.lines().filter_map(|line| line.split_once('\t'));
        let forms: Vec<_> = forms.collect();
        for token in TOKENS {
            let has_one = forms.iter().any(|(kind, text)| *kind == token.kind && text.contains(token.prefix));
            assert!(has_one, "{} {}", token.kind, token.prefix);
        }
    }

    #[test]
    fn every_kind_is_documented() {
        let page = include_str!("../../../../docs/redaction.md");
        let list = include_str!("../tests/made_up.txt");
        let made_up = list.lines().filter_map(|line| Some(line.split_once('\t')?.0));
        for kind in TOKENS.iter().map(|token| token.kind).chain(made_up.filter(|kind| !kind.starts_with('#')))
        {
            assert!(page.contains(&format!("`{kind}`")), "{kind}");
        }
    }
}
