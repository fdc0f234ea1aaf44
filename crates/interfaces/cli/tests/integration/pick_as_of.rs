//! Later events change no answer about an earlier moment: not records, sessions, forks and sub-agents, and nothing
//! that git does.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::Value;
use testkit::claude::Run;
use testkit::transcript::Lineage;
use testkit::{ScratchHome, Transcript, long};

/// The moment that is asked about.
const THEN: &str = "2026-11-20T11:00:00Z";
/// The time of all that comes later.
const LATER: &str = "2026-11-20T12:00:00Z";

/// A session that was there at the moment.
#[derive(Debug, Clone)]
struct Earlier {
    branch: &'static str,
    hours: i64,
    about: String,
    compactions: usize,
}

/// Something that happens after it.
#[derive(Debug, Clone)]
enum Later {
    /// A session goes on, on another branch.
    Turn { of: usize, about: String, branch: &'static str },
    /// The context of the session is compacted.
    Compaction { of: usize },
    /// It gets another title, which has no time of its own.
    Title { of: usize, about: String },
    /// A new session begins.
    Session { about: String, branch: &'static str },
    /// One is forked, and the fork goes on.
    Fork { of: usize, lineage: Lineage, about: String },
    /// A file is committed.
    Commit,
    /// Another branch is made and checked out.
    Switch,
    /// The branch is called differently.
    Rename,
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["refresh", "token", "paint", "button", "green", "parser", "login"]);
    prop::collection::vec(word, 1..5).prop_map(|words| words.join(" "))
}

fn branch() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["main", "feature/paint", "fix/token"])
}

fn earlier() -> impl Strategy<Value = Earlier> {
    (branch(), 1_i64..60, words(), 0_usize..4).prop_map(|(branch, hours, about, compactions)| Earlier {
        branch,
        hours,
        about,
        compactions,
    })
}

fn later() -> impl Strategy<Value = Later> {
    let lineage = prop::sample::select(vec![
        Lineage::RequestSession,
        Lineage::ForkedFrom,
        Lineage::SharedUuids,
        Lineage::ParentsSessionId,
    ]);
    prop_oneof![
        (any::<usize>(), words(), branch()).prop_map(|(of, about, branch)| Later::Turn { of, about, branch }),
        any::<usize>().prop_map(|of| Later::Compaction { of }),
        (any::<usize>(), words()).prop_map(|(of, about)| Later::Title { of, about }),
        (words(), branch()).prop_map(|(about, branch)| Later::Session { about, branch }),
        (any::<usize>(), lineage, words()).prop_map(|(of, lineage, about)| Later::Fork {
            of,
            lineage,
            about
        }),
        Just(Later::Commit),
        Just(Later::Switch),
        Just(Later::Rename),
    ]
}

/// A home with a repository, and the sessions that were written so far.
struct World {
    home: ScratchHome,
    sessions: Vec<Transcript>,
    made: usize,
}

impl World {
    fn new(earlier: &[Earlier]) -> Self {
        let home = ScratchHome::new();
        home.repository("shop");
        let mut world = Self { home, sessions: Vec::new(), made: 0 };
        for one in earlier {
            let began =
                THEN.parse::<jiff::Timestamp>().unwrap() - jiff::SignedDuration::from_hours(one.hours);
            let mut session = world.session(one.branch, &began.to_string(), &one.about);
            for _ in 0..one.compactions {
                session = session.compaction("so far").prompt(&one.about).answer("Done.");
            }
            session.write_to(&world.home);
            world.sessions.push(session);
        }
        world
    }

    fn session(&mut self, branch: &str, at: &str, about: &str) -> Transcript {
        self.made += 1;
        let id = format!("{:08}-1111-4111-8111-111111111111", self.made);
        let cwd = self.home.path().join("shop");
        Transcript::new(&id).cwd(cwd).branch(branch).at(at).prompt(about).answer("Done.")
    }

    fn happens(&mut self, later: &Later) {
        let known = self.sessions.len();
        let grown = |session: &Transcript| session.clone().at(LATER);
        match later {
            Later::Commit => self.git(&["commit", "--quiet", "--allow-empty", "-m", "More"]),
            Later::Switch => {
                self.made += 1;
                let name = format!("later-{}", self.made);
                self.git(&["switch", "--quiet", "--create", &name]);
            }
            Later::Rename => {
                self.made += 1;
                let name = format!("renamed-{}", self.made);
                self.git(&["branch", "--move", &name]);
            }
            Later::Session { about, branch } => {
                let new = self.session(branch, LATER, about);
                new.write_to(&self.home);
                self.sessions.push(new);
            }
            _ if known == 0 => {}
            Later::Turn { of, about, branch } => {
                self.replace(of % known, |old| grown(old).branch(branch).prompt(about).answer("Done."));
            }
            Later::Compaction { of } => {
                self.replace(of % known, |old| grown(old).compaction("so far").prompt("go on"));
            }
            Later::Title { of, about } => self.replace(of % known, |old| grown(old).title(about)),
            Later::Fork { of, lineage, about } => {
                self.made += 1;
                let id = format!("{:08}-2222-4222-8222-222222222222", self.made);
                let fork =
                    self.sessions[of % known].fork(&id, *lineage).at(LATER).prompt(about).answer("Done.");
                fork.write_to(&self.home);
                self.sessions.push(fork);
            }
        }
    }

    fn replace(&mut self, at: usize, how: impl Fn(&Transcript) -> Transcript) {
        self.sessions[at] = how(&self.sessions[at]);
        self.sessions[at].write_to(&self.home);
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = self.home.command("git");
        git.current_dir(self.home.path().join("shop")).args(arguments);
        git.envs([("GIT_AUTHOR_NAME", "Ana Tester"), ("GIT_AUTHOR_EMAIL", "ana@example.com")]);
        git.envs([("GIT_COMMITTER_NAME", "Ana Tester"), ("GIT_COMMITTER_EMAIL", "ana@example.com")]);
        git.envs([("GIT_AUTHOR_DATE", LATER), ("GIT_COMMITTER_DATE", LATER)]);
        let _ = Run::of(git).succeeded();
    }

    /// The choice at the moment; only the number it is kept under may differ.
    fn pick(&self, task: &str) -> Value {
        let mut command = self.home.command(env!("CARGO_BIN_EXE_backstory"));
        command.args(["pick", "--repo", "shop", "--as-of", THEN, "--json", "--", task]);
        let run = Run::of(command).succeeded();
        let mut answer: Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(answer["decision"].take().is_number(), "{}", run.stdout);
        answer
    }
}

proptest! {
    #![proptest_config(Config { cases: long::amount(6, 100), failure_persistence: None, ..Config::default() })]

    #[test]
    fn what_comes_later_changes_no_answer(
        before in prop::collection::vec(earlier(), 0..5),
        after in prop::collection::vec(later(), 1..7),
        task in words(),
    ) {
        let mut world = World::new(&before);
        let answer = world.pick(&task);
        prop_assert_eq!(answer["candidates"].as_u64(), Some(before.len() as u64));
        prop_assert_eq!(answer["branch"].as_str(), Some("main"));
        for one in &after {
            world.happens(one);
        }
        prop_assert_eq!(world.pick(&task), answer.clone(), "with what was kept of the first look");
        fs::remove_dir_all(world.home.state_dir()).unwrap();
        prop_assert_eq!(world.pick(&task), answer, "and for the first time");
    }
}
