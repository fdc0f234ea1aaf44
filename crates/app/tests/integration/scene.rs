//! A home with the sessions of a person and of two agents, each holding a secret of its own.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use app::config::Variables;
use app::{App, Caller, Config, Context};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use testkit::ScratchHome;

/// Sessions by whose they are: their ids, and what only they say.
pub(crate) const PERSON: (&str, &str) = ("11111111-aaaa-4aaa-8aaa-111111111111", "walrus");
pub(crate) const MAIN: (&str, &str) = ("22222222-bbbb-4bbb-8bbb-222222222222", "lighthouse");
pub(crate) const OPS: (&str, &str) = ("33333333-cccc-4ccc-8ccc-333333333333", "harpsichord");

/// Made up, and put together here so that nobody takes it for one.
pub(crate) fn secret() -> String {
    format!("gh{}{}", "p_", "Zq7Lm2Xv9Kd4Rt6Wb1Nc8Ys3Hf5Jg0PaQeUi")
}

pub(crate) struct Scene {
    home: ScratchHome,
    app: Arc<App>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    /// The same where variables set something.
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        let home = ScratchHome::new();
        for (id, word) in [PERSON, MAIN, OPS] {
            write_session(&home, id, word);
        }
        for (agent, (id, word)) in [("main", MAIN), ("ops", OPS)] {
            let directory = home.path().join(word);
            let entry = json!({
                "sessionId": id, "createdAt": "2026-01-10T10:00:00.000Z", "lastResumedAt": "2026-01-10T10:05:00.000Z",
                "totalCostUsd": 0.1, "totalTurns": 1, "taskHistory": [],
            });
            let registry = json!({"sessions": {directory.to_string_lossy(): entry}});
            home.write(&format!(".openclaw/agents/{agent}/claude-code-sessions.json"), registry.to_string());
        }
        let usual = home.environment().into_iter().map(|(name, value)| (name.to_owned(), value));
        let set = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
        let variables: Variables = usual.chain(set).collect();
        let config = Config::new(&variables).unwrap();
        let clock = || "2026-01-10T12:00:00Z".parse::<Timestamp>().unwrap();
        let app = App {
            config,
            clock,
            zone: || TimeZone::UTC,
            program: PathBuf::from("/nowhere/backstory"),
            recent_files: app::RecentFiles::default(),
        };
        Self { app: Arc::new(app), home }
    }

    /// A request of the caller, made in the directory of the session that says `word`.
    pub(crate) fn context(&self, caller: Caller, word: &str) -> Context {
        Context { caller, ..Context::new(Arc::clone(&self.app), self.directory(word)) }
    }

    /// A session of the directory of the session that says `word`, which begins with this message.
    pub(crate) fn add_session(&self, id: &str, word: &str, message: &str) {
        let directory = self.directory(word);
        let line = json!({
            "type": "user", "uuid": format!("u-{id}"), "parentUuid": null, "sessionId": id, "cwd": directory,
            "version": "2.1.329", "timestamp": "2026-01-10T11:00:00.000Z", "isSidechain": false,
            "message": {"role": "user", "content": message},
        });
        std::fs::write(self.transcript((id, word)), format!("{line}\n")).unwrap();
    }

    pub(crate) fn home(&self) -> &ScratchHome {
        &self.home
    }

    /// The transcript of the session that says `word`.
    pub(crate) fn transcript(&self, (id, word): (&str, &str)) -> PathBuf {
        self.home.project_folder(&self.directory(word)).join(format!("{id}.jsonl"))
    }

    /// Adds a record to a transcript.
    pub(crate) fn append(&self, session: (&str, &str), record: &Value) {
        let mut file = OpenOptions::new().append(true).open(self.transcript(session)).unwrap();
        writeln!(file, "{record}").unwrap();
    }

    pub(crate) fn directory(&self, word: &str) -> PathBuf {
        self.home.path().join(word)
    }
}

fn write_session(home: &ScratchHome, id: &str, word: &str) {
    let directory = home.dir(word);
    let secret = secret();
    let text = format!("Tune the {word} with {secret} please");
    let common = |uuid: &str, second: u32| {
        json!({
            "uuid": format!("{uuid}-{word}"), "sessionId": id, "cwd": directory, "version": "2.1.329",
            "gitBranch": format!("tune-{secret}"), "timestamp": format!("2026-01-10T10:00:{second:02}.000Z"),
            "isSidechain": false, "userType": "external",
        })
    };
    let with = |mut line: Value, more: Value| {
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let usage = json!({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0});
    let call = json!({"type": "tool_use", "id": "t1", "name": "Bash",
        "input": {"command": format!("curl -H 'Authorization: Bearer {secret}' https://h.example/{word}")}});
    let answer = json!([{"type": "text", "text": format!("The {word} is tuned by {secret}.")}, call]);
    let lines = [
        with(
            common("u1", 1),
            json!({"type": "user", "parentUuid": null, "message": {"role": "user", "content": text}}),
        ),
        with(
            common("u2", 2),
            json!({"type": "assistant", "parentUuid": format!("u1-{word}"), "requestId": format!("r-{word}"),
                "message": {"id": format!("m-{word}"), "type": "message", "role": "assistant",
                    "model": "claude-sonnet-4-5", "content": answer, "usage": usage}}),
        ),
        format!(
            "{}\n",
            json!({"type": "custom-title", "sessionId": id, "customTitle": format!("{word} {secret}")})
        ),
    ];
    let folder = home.project_folder(&directory);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{id}.jsonl")), lines.concat()).unwrap();
}
