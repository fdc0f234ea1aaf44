//! How long a tool ran. Between a call and its result a person may have been asked whether it may run, and the time they
//! took is not the tool's.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::json::Raw;
use crate::record::Record;

/// Tools that only ask a person: all their time is the person's.
const QUESTIONS: [&str; 3] = ["AskUserQuestion", "ExitPlanMode", "exit_plan_mode"];

/// Measures the tools of a session, in the order of its records.
#[derive(Debug, Clone, Default)]
pub struct ToolTimes {
    /// The calls that were allowed for good; the same call is not asked about again.
    allowed: HashSet<(String, String)>,
}

impl ToolTimes {
    /// For how many milliseconds the call ran that this record answers; `None` where nobody knows, because a person was
    /// asked in between. `subject` is what the call is about.
    pub fn of_result(
        &mut self,
        name: &str,
        subject: &str,
        called: Option<Timestamp>,
        result: &Record<'_>,
    ) -> Option<u64> {
        let was_asked = self.was_asked(name, subject, result.permission_source());
        if let Some(own) = own_time(result.tool_use_result()) {
            return Some(own);
        }
        if was_asked {
            return None;
        }
        let span = result.timestamp()?.duration_since(called?);
        u64::try_from(span.as_millis()).ok()
    }

    fn was_asked(&mut self, name: &str, subject: &str, source: Option<&str>) -> bool {
        match source {
            _ if QUESTIONS.contains(&name) => true,
            // Later calls that the same answer allows have this source, too.
            Some("user_permanent") => self.allowed.insert((name.to_owned(), subject.to_owned())),
            Some(source) => source.starts_with("user_"),
            None => false,
        }
    }
}

impl Record<'_> {
    /// Whether a person decided that the call may run which this result answers: the time between both is not the
    /// tool's alone.
    pub fn waited_for_person(&self) -> bool {
        self.permission_source().is_some_and(|source| source.starts_with("user_"))
    }
}

/// The time that the tool itself measured, in milliseconds.
pub fn own_time(kept: Raw<'_>) -> Option<u64> {
    let milliseconds = ["totalDurationMs", "durationMs"].iter().find_map(|name| kept.get(name).count());
    milliseconds.or_else(|| Some(kept.get("durationSeconds").count()?.saturating_mul(1000)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse;

    /// Each source of a decision, with and without a time of the tool's own: the wait for a person is never counted.
    #[test]
    fn the_wait_for_a_person_is_no_time_of_the_tool() {
        let called: Timestamp = "2026-11-20T10:00:00Z".parse().unwrap();
        let check = |times: &mut ToolTimes, name: &str, decision: &str, kept: &str, expected: Option<u64>| {
            let line = format!(
                r#"{{"type":"user","timestamp":"2026-11-20T10:09:25Z",{decision}"toolUseResult":{kept},"message":{{"content":[]}}}}"#
            );
            let record = parse(line.as_bytes()).unwrap();
            assert_eq!(times.of_result(name, "touch x", Some(called), &record), expected, "{name} {line}");
        };
        let by =
            |source: &str| format!(r#""permissionDecision":{{"decision":"accept","source":"{source}"}},"#);
        let whole = Some(565_000);
        let blank = "{}";
        let times = &mut ToolTimes::default();
        check(times, "Bash", "", blank, whole);
        for source in ["config", "hook", "classifier"] {
            check(times, "Bash", &by(source), blank, whole);
        }
        for source in ["user_temporary", "user_reject", "user_abort", "user_permanent"] {
            check(times, "Bash", &by(source), blank, None);
            check(times, "Bash", &by(source), r#"{"durationMs":7}"#, Some(7));
        }
        // It was allowed for good above.
        check(times, "Bash", &by("user_permanent"), blank, whole);
        check(times, "Agent", &by("user_temporary"), r#"{"totalDurationMs":9}"#, Some(9));
        check(times, "WebSearch", "", r#"{"durationSeconds":2}"#, Some(2000));
        check(times, "AskUserQuestion", "", blank, None);
    }
}
