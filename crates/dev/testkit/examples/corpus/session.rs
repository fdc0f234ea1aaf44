//! One session: who works on what with which release, turn by turn, and what goes wrong with its file.

use std::fs;
use std::path::Path;

use model::ProjectSlug;
use serde_json::json;
use testkit::Transcript;
use testkit::transcript::Lineage;

use crate::random::Random;
use crate::words::Topic;

/// Releases with different layouts of messages and sub-agents, the newest most often.
const VERSIONS: [&str; 8] =
    ["2.1.329", "2.1.329", "2.1.260", "2.1.100", "2.1.59", "2.0.77", "2.0.42", "1.0.60"];
const PROJECTS: [&str; 6] = [
    "/home/ana/shop",
    "/home/ana/atlas",
    "/home/ana/green.house",
    "/home/ana/shop/.worktrees/next",
    "/srv/compiler",
    "/home/ana/照片",
];
const MODELS: [&str; 3] = ["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"];

/// A session, and what it is about.
pub(crate) struct Session {
    topic: &'static Topic,
    version: &'static str,
    speaks_cjk: bool,
    project: &'static str,
    transcript: Transcript,
}

impl Session {
    /// The session with this number; later numbers begin at a later time.
    pub(crate) fn new(number: u64, random: &mut Random) -> Self {
        let topic = Topic::choose(random);
        let version = random.pick(&VERSIONS);
        let minutes = number * 37;
        let (day, hour, minute) = (minutes / 1440, minutes / 60 % 24, minutes % 60);
        let (month, day) = (1 + day / 28 % 12, 1 + day % 28);
        let project = random.pick(&PROJECTS);
        let transcript = Transcript::new(&random.uuid())
            .version(version)
            .cwd(project)
            .branch(if random.once_in(3) { "main" } else { "feature/next" })
            .model(random.pick(&MODELS))
            .entrypoint(if random.once_in(6) { "sdk-cli" } else { "cli" })
            .at(&format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"));
        let mut session = Self { topic, version, speaks_cjk: random.once_in(12), project, transcript };
        session.work(random.skewed(2, 160), random);
        session
    }

    /// A fork that goes on by itself.
    pub(crate) fn fork(&self, random: &mut Random) -> Self {
        let lineage = match self.version {
            "2.1.329" if random.once_in(2) => Lineage::ForkedFrom,
            "2.1.329" => Lineage::RequestSession,
            "2.0.77" | "2.1.59" => Lineage::ParentsSessionId,
            _ => Lineage::SharedUuids,
        };
        let transcript = self.transcript.fork(&random.uuid(), lineage);
        let mut fork = Self { transcript, ..*self };
        fork.work(random.between(1, 4), random);
        fork
    }

    /// Damage to files: a line in the making, NUL bytes, half a record, a record of the future.
    pub(crate) fn damage(&mut self, random: &mut Random) {
        let torn = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"and th"#;
        match random.between(0, 60) {
            0..3 => self.change(|all| all.torn(torn)),
            3 => self.change(|all| all.junk([0; 512])),
            4 => self.change(|all| all.junk(torn)),
            5 => self.change(|all| all.junk("")),
            6 => self.change(|all| all.note("a-type-of-tomorrow", json!({"payload": [1, {"deep": null}]}))),
            _ => {}
        }
    }

    /// Writes its file where Claude Code keeps those of its project; answers the file's size.
    pub(crate) fn write(&self, projects: &Path) -> u64 {
        let folder = projects.join(ProjectSlug::from_path(self.project).as_str());
        fs::metadata(self.transcript.write_in(&folder)).expect("the file just written").len()
    }

    fn work(&mut self, turns: usize, random: &mut Random) {
        for turn in 0..turns {
            self.turn(random);
            if turn > 20 && random.once_in(30) {
                let summary = self.topic.prose(12, random);
                self.change(|all| all.compaction(&summary));
            }
        }
        let title = self.topic.subject(random);
        match random.between(0, 3) {
            0 => self.change(|all| all.title(&title)),
            1 => self.change(|all| all.ai_title(&title)),
            _ => {}
        }
        if random.once_in(2) {
            self.change(|all| all.exit(0.5));
        }
    }

    fn turn(&mut self, random: &mut Random) {
        let ask = if self.speaks_cjk { self.topic.cjk_request(random) } else { self.topic.request(random) };
        self.change(|all| if random.once_in(15) { all.queued(&ask) } else { all.prompt(&ask) });
        if random.once_in(2) {
            let thought = self.topic.prose(random.skewed(1, 8), random);
            self.change(|all| all.thinking(&thought));
        }
        for _ in 0..random.skewed(1, 12) {
            let words = self.topic.prose(random.between(1, 3), random);
            self.change(|all| all.answer(&words));
            self.step(random);
        }
        let report = self.topic.prose(random.skewed(2, 16), random);
        self.change(|all| all.answer(&report).turn_ended(48_000).minutes_later(4));
    }

    /// One use of a tool.
    fn step(&mut self, random: &mut Random) {
        let topic = self.topic;
        match random.between(0, 40) {
            0..12 => self.read(random.skewed(10, 240), random),
            12..20 => self.run(random.skewed(2, 160), random),
            20..27 => self.edit(random),
            27..32 => self.search(random),
            32..36 => self.fail(random),
            36 => self.delegate(random),
            37 => self.commit(random),
            38 => self.read_two(random),
            // Seldom, a line of some hundred kilobytes.
            _ if random.once_in(8) => self.run(random.skewed(1_000, 12_000), random),
            _ => {
                let (path, code) = (topic.path(random), topic.code(20, random));
                self.tool("Write", json!({"file_path": path, "content": code}), "File created.");
            }
        }
    }

    fn read(&mut self, lines: usize, random: &mut Random) {
        let (path, code) = (self.topic.path(random), self.topic.code(lines, random));
        self.tool("Read", json!({"file_path": self.absolute(&path)}), &code);
    }

    fn read_two(&mut self, random: &mut Random) {
        let (first, second) = (self.topic.code(30, random), self.topic.code(30, random));
        let input = || json!({"file_path": self.absolute("README.md")});
        let both = [("Read", input(), first.as_str()), ("Read", input(), second.as_str())];
        self.change(|all| all.parallel_tools(both));
    }

    fn run(&mut self, lines: usize, random: &mut Random) {
        let command = format!("cargo test {}", self.topic.identifier(random));
        let input = json!({"command": command, "description": "Runs the tests that touch it"});
        self.tool("Bash", input, &self.topic.output(lines, random));
    }

    fn edit(&mut self, random: &mut Random) {
        let topic = self.topic;
        let (path, old, new) = (topic.path(random), topic.code(6, random), topic.code(8, random));
        let input = json!({"file_path": self.absolute(&path), "old_string": old, "new_string": new});
        self.tool("Edit", input, "The file has been updated.");
    }

    fn search(&mut self, random: &mut Random) {
        let input = json!({"pattern": self.topic.identifier(random), "path": "."});
        self.tool("Grep", input, &self.topic.output(random.skewed(1, 40), random));
    }

    fn commit(&mut self, random: &mut Random) {
        let subject = self.topic.subject(random);
        let done = format!("[main {:07x}] {subject}\n 2 files changed", random.next() & 0xfff_ffff);
        self.tool("Bash", json!({"command": format!("git commit -am \"{subject}\"")}), &done);
    }

    fn fail(&mut self, random: &mut Random) {
        let error = self.topic.error(random);
        self.change(|all| all.failed_tool("Bash", json!({"command": "cargo build"}), &error));
    }

    fn delegate(&mut self, random: &mut Random) {
        let topic = self.topic;
        let (subject, task) = (topic.subject(random), topic.prose(4, random));
        let (code, report) = (topic.code(60, random), topic.prose(6, random));
        let read = json!({"file_path": self.absolute("src/lib.rs")});
        let work = |agent: Transcript| agent.answer(&subject).tool("Read", read, &code).answer(&report);
        self.change(|all| all.subagent("Explore", &subject, &task, work));
    }

    fn tool(&mut self, name: &str, input: serde_json::Value, output: &str) {
        self.change(|all| all.tool(name, input, output));
    }

    fn absolute(&self, path: &str) -> String {
        format!("{}/{path}", self.project)
    }

    fn change(&mut self, step: impl FnOnce(Transcript) -> Transcript) {
        let transcript = std::mem::replace(&mut self.transcript, Transcript::new("empty"));
        self.transcript = step(transcript);
    }
}
