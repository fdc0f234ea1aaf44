//! The prompts that Claude Code asks on a schedule in any session that is open in a directory: its
//! `.claude/scheduled_tasks.json`. They outlive the session that made them.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use model::SessionId;

use crate::armed::RECURRING;
use crate::json::Raw;
use crate::moment::moment;

/// The largest file that is read, in bytes.
const CAP: u64 = 1 << 20;
/// The longest time for which Claude Code repeats a prompt.
const LONGEST: SignedDuration = SignedDuration::from_hours(30 * 24);

/// A prompt that any session in a directory asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledTask {
    /// Claude Code's id of it.
    pub id: String,
    /// What is asked.
    pub prompt: String,
    /// When, as cron writes it, in local time.
    pub cron: String,
    /// Whether it is asked again and again; else once.
    pub is_recurring: bool,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// When it was asked last.
    pub last_asked: Option<Timestamp>,
    /// When Claude Code deletes it; absent where it does not by itself.
    pub until: Option<Timestamp>,
    /// The session that made it.
    pub made_by: Option<SessionId>,
}

impl ScheduledTask {
    /// Where a directory's prompts are.
    pub fn file(directory: &Path) -> PathBuf {
        directory.join(".claude/scheduled_tasks.json")
    }

    /// The prompts of a directory; none where the file is not there or cannot be read as Claude Code reads it.
    pub fn of_directory(directory: &Path) -> Vec<Self> {
        let bytes = system::read_small(&Self::file(directory), CAP).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        Raw::new(text.trim()).get("tasks").elements().filter_map(Self::read).collect()
    }

    fn read(task: Raw<'_>) -> Option<Self> {
        let text = |name: &str| task.get(name).text().map(std::borrow::Cow::into_owned);
        let created = moment(task.get("createdAt"));
        let is_recurring = task.get("recurring").is_true();
        let age = task.get("maxAgeMs").count().and_then(|age| i64::try_from(age).ok());
        let age = age.map_or(RECURRING, SignedDuration::from_millis).min(LONGEST);
        let ends = is_recurring && !task.get("permanent").is_true();
        Some(Self {
            id: text("id")?,
            prompt: text("prompt")?,
            cron: text("cron")?,
            is_recurring,
            created,
            last_asked: moment(task.get("lastFiredAt")),
            until: created.filter(|_| ends).and_then(|created| created.checked_add(age).ok()),
            made_by: text("createdBySessionId").and_then(|id| id.parse().ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Vec<ScheduledTask> {
        let home = tempfile::tempdir().unwrap();
        let file = ScheduledTask::file(home.path());
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        std::fs::write(file, json).unwrap();
        ScheduledTask::of_directory(home.path())
    }

    #[test]
    fn the_prompts_of_a_directory() {
        let tasks = read(
            r#"{"tasks":[{"id":"ab12","cron":"*/5 * * * *","prompt":"check the build","createdAt":1772359200000,
                "recurring":true,"lastFiredAt":1772359500000,
                "createdBySessionId":"a1b2c3d4-0001-4000-8000-000000000001"},
               {"id":"cd34","cron":"0 9 2 3 *","prompt":"once","createdAt":1772359200000}]}"#,
        );
        let first = &tasks[0];
        assert_eq!((first.prompt.as_str(), first.cron.as_str()), ("check the build", "*/5 * * * *"));
        assert_eq!(first.until.unwrap().to_string(), "2026-03-08T10:00:00Z", "after a week");
        assert_eq!(first.last_asked.unwrap().to_string(), "2026-03-01T10:05:00Z");
        assert_eq!(first.made_by.as_ref().unwrap().as_str(), "a1b2c3d4-0001-4000-8000-000000000001");
        let once = &tasks[1];
        assert_eq!((once.is_recurring, once.until, &once.made_by), (false, None, &None));
    }

    #[test]
    fn a_prompt_ends_when_claude_code_deletes_it() {
        let check = |more: &str, expected: Option<&str>| {
            let task =
                r#"{"id":"a","cron":"* * * * *","prompt":"p","createdAt":1772359200000,"recurring":true"#;
            let tasks = read(&format!(r#"{{"tasks":[{task}{more}}}]}}"#));
            assert_eq!(tasks[0].until.map(|until| until.to_string()).as_deref(), expected, "{more}");
        };
        check("", Some("2026-03-08T10:00:00Z"));
        check(r#","maxAgeMs":3600000"#, Some("2026-03-01T11:00:00Z"));
        check(r#","maxAgeMs":99999999999"#, Some("2026-03-31T10:00:00Z"));
        check(r#","permanent":true"#, None);
    }

    #[test]
    fn a_file_that_is_something_else_holds_none() {
        for json in [
            "",
            "{",
            "[]",
            "7",
            r#"{"tasks":7}"#,
            r#"{"tasks":[7,{"id":"a"},{"id":1,"cron":"","prompt":""}]}"#,
        ] {
            assert_eq!(read(json), [], "{json}");
        }
        assert_eq!(ScheduledTask::of_directory(Path::new("/nowhere")), []);
        let task = r#"{"id":"a","cron":"* * * * *","prompt":"p"}"#;
        let many = vec![task; 1000].join(",");
        assert_eq!(read(&format!(r#"{{"tasks":[{many}]}}"#)).len(), 1000, "none is hidden behind others");
    }
}
