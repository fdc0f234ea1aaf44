//! Texts that look like a secret but are none are left alone.

use crate::made_up::Random;

#[track_caller]
fn check(text: &str) {
    assert_eq!(redact::redact(text), text);
}

#[test]
fn placeholders() {
    for text in [
        "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxx",
        "API_KEY=your-key-here",
        "export OPENAI_API_KEY=sk-your-key-here-please-replace-it",
        "ANTHROPIC_API_KEY=sk-ant-...",
        "ANTHROPIC_API_KEY=sk-ant-xxxxxxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=ghp_your_token",
        "token: ${GITHUB_TOKEN}",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "token: $(cat /run/secrets/token)",
        "--token <token>",
        "--token $TOKEN",
        "Authorization: Bearer $TOKEN",
        "Authorization: Bearer ${accessToken}",
        "Authorization: Bearer <your-access-token-goes-here>",
        "Authorization: Bearer {token}",
        "postgres://user:password@localhost:5432/app",
        "postgres://postgres:postgres@localhost/app",
        "postgres://${USER}:${PASSWORD}@${HOST}/app",
        "amqp://guest:guest@localhost",
        "https://user:pass@example.com/",
        "mysql://root:<password>@db/app",
        "redis://:PASSWORD@host:6379",
        "https://hooks.slack.com/services/XXXXXXXXX/XXXXXXXXX/xxxxxxxxxxxxxxxxxxxxxxxx",
        "password = ********",
        "password=changeme123",
        "DB_PASSWORD=",
        "DB_PASSWORD=\"\"",
        "password: example-1",
        "key=\"-----BEGIN PRIVATE KEY-----\\nXXXX\\nXXXX\\n-----END PRIVATE KEY-----\"",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "It begins with -----BEGIN RSA PRIVATE KEY----- and then comes base64.",
        "grep -l 'BEGIN RSA PRIVATE KEY' -r .",
        "[redacted:github-token]",
        "password: [redacted:password]",
    ] {
        check(text);
    }
}

#[test]
fn code_about_secrets() {
    for text in [
        "const apiKey = process.env.API_KEY_2;",
        "api_key = os.environ[\"API_KEY_V2_SECRET\"]",
        "apiKey := os.Getenv(\"POSTHOG_API_KEY2\")",
        "let token = get_token_from_keychain2(&user1);",
        "token = await fetchToken32()",
        "password: string;",
        "password: &str,",
        "fn login(user: &str, password: &str) -> Result<Token2, Error>",
        "if password == other.password1 { return }",
        "$pw_passwd = $pwob->passwd($_[1]);",
        "pub const ERROR_WRONG_PASSWORD: u32 = 1323u32;",
        "const HRESULT NTE_INCORRECT_PASSWORD = 0x80090033;",
        "type: \"password\", placeholder: \"Enter your password\"",
        "password must be at least 8 characters with 1 digit",
        "tokens: 12345, maxTokens: 200000, token_count=512",
        "{\"input_tokens\":1234,\"next_token\":\"abc123def456ghi789\"}",
        "ApplyControlToken: SpApplyControlTokenFn,",
        "tokenizer=base64EncodedTokenizer2",
        "primary_key: id1, foreign_key: user_id2, cache_key: v1/abc123def456abc123",
        "secretName: my-app-secret-v2",
        "secretKeyRef:\n  name: db-credentials-v1\n  key: password",
        "PWD=/home/sam1/code2",
        "pwd: ~/work1",
        "--- PASS: TestLogin2 (0.00s)",
        "ok: 12 pass: 11 fail: 1",
        "curl -u \"$USER:$PASSWORD\" https://host",
        "curl -u user:password https://host",
        "mysql -u root -p shop1",
        "mysql -p3306",
        "redis-cli -a $REDIS_PASSWORD ping; redis-cli -h 10.0.0.1 -p 6379",
        "mongosh -u admin -p password localhost",
        "mongodb -p 27017:27017 mongo:7.0",
        "docker run -p 27017:27017 mongo",
        "sqlcmd -S localhost -P <password>",
        "7z x archive.7z -o/tmp -p; 7z a -p",
        "zip -r out1.zip src2; unzip -P password in1.zip",
        "echo 'see notes: chapter12' | grep chpasswd",
        "htpasswd -c .htpasswd sam2",
        "pass: 12, fail: 'none2'",
        "compass: 'north12'",
        "password: PasswordInput, passwordField: HTTPServerURL",
        "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURJVENDQWdtZ0F3SUJBZ0lJ",
        "ca.crt: LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0KTUlHZk1BMEdDU3FHU0liM0RRRUJB",
        "2.7.2. Basic Options",
        "Basic authentication and bearer tokens",
        "the bearer of this letter2",
        "proxy_auth: Option<(String, String)>,",
        "pub const COOKIE: super::PROPERTYKEY = super::PROPERTYKEY { fmtid: 1 };",
        "# password, scram-sha-256: \"password\", \"scram-sha-256\"",
        "proxy_url=\"socks5h://<username>:<password>@proxy-host2\"",
        "sk-circle-fade-dot sk-cube-grid sk-folding-cube-2",
        "npm_config_registry npm_lifecycle_event npm_package_json",
        "AKIA is how they begin; ghp_ and xoxb- too",
        "SK is short, key-value, eyJ",
    ] {
        check(text);
    }
}

#[test]
fn sentences_about_secrets() {
    for text in [
        "the password for the form is required",
        "password is not set",
        "The password for staging is stored in vault-2, not here.",
        "password of the db is at least 12chars",
        "use password hashing with SHA-256",
        "use the password manager v2",
        "log in as admin with two-factor authentication",
        "login as admin/superuser at 10.0.0.7",
        "credentials are read from ~/.aws/credentials2",
        "credentials: include, mode: cors2",
        "creds are kept for 30days",
        "branch deferred-credential-helper -> soph/issue-63-deferred-credential-helper",
        "Das Passwort für staging lautet anders als v2.",
        "la contraseña es obligatoria",
        "пароль от базы не задан",
        "密码是必填项",
        "pass: true",
        "pass: 12 tests",
        "pass: TestLogin2 and 3 more",
        "First pass: collect all 2 lists",
        "  pass: 12ms",
        "pw = 800px",
        "claude-opus-4-1-20250805 answered from ip-10-0-3-17.ec2.internal",
        "https://maps.internal/api?key=value1&page=2",
        "kind: Secret\nmetadata:\n  name: db-credentials\n  namespace: shop",
        "kind: Secret\ndata:\n  url: <base64>\n  name: ''",
        "const S: [u8; 64] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];",
        "replace(/a(b)(c)/, '$1$2')",
        "auth(\"read\", \"write\") and checkAuth(user, \"write2\")",
        "DriverManager.getConnection(url, \"app\", password)",
        "echo \"done\" | docker login --password-stdin",
        "cat token.txt | sudo -S tee file2",
        "ssh-keygen -t ed25519 -N \"\" -f key2",
        "the .NET user guide, chapter2",
        "db.internal:5432:5432",
    ] {
        check(text);
    }
}

#[test]
fn numbers_of_things() {
    for text in [
        "session 1ba1de03-5c0e-4b1f-9d2e-0123456789ab",
        "\"session_id\": \"1ba1de03-5c0e-4b1f-9d2e-0123456789ab\"",
        "commit 3f1d2c4b5a69788796a5b4c3d2e1f00112233445",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "\"integrity\": \"sha512-GQPzSLyqpBUkgqDaHRaoOmdYT/iXBjLpLpMv9mBE3P1VrNn2GkKyZbWbV9nVWD+0hKRE5zZ2eE8Dq6Pg3nZw==\"",
        "checksum = \"e1e6a3f2b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f\"",
        "h1:Qz0bdxQ+4v8oVfHTPZ1o3CkY1q1vVQ6b8s3fJ2Vq0uE=",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
        "//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXX0=",
        "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CQ2mZr8v9fMx6",
        "https://example.org/a/b/c?id=3f1d2c4b5a69788796a5b4c3d2e1f001&page=2",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHk3m2m9w1o0p5r6t7y8u9i0o1p2a3s4d5f6g7h8j9k0 sam@host",
        "-----BEGIN PUBLIC KEY-----\nMIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQC7\n-----END PUBLIC KEY-----",
        "http://localhost:8080/@scope/package@1.2.3",
        "git@github.com:owner/repo.git",
        "https://github.com/owner/repo/commit/3f1d2c4b5a69788796a5b4c3d2e1f00112233445",
        "1700000000:5f4dcc3b5aa765d61d8327deb882cf99",
    ] {
        check(text);
    }
}

/// Encoded data holds every beginning by chance; it must not be taken for tokens.
#[test]
fn encoded_data() {
    const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut random = Random::new(7);
    let mut text = String::new();
    for _ in 0..4_000_000 {
        text.push(char::from(BASE64[random.below(64)]));
    }
    let found = redact::find(&text);
    assert!(found.len() <= 4, "{} in 4 MB of base64: {:?}", found.len(), found.first());
}
