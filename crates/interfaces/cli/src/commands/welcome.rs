//! What this machine holds, in five lines beside the answer to the first command that a person ever gives, and never again.

use std::io::{IsTerminal as _, Write as _};

use app::Context;
use app::retention::holdings::{Holdings, welcome};
use jiff::tz::TimeZone;

use crate::args::Command;
use crate::output::{error_width, is_read_by_a_person};
use crate::text::{count, counted, dollars, safe};
use crate::wrap::wrapped;

/// Whether a person at a terminal looks around with this command.
pub(crate) fn is_possible(command: &Command) -> bool {
    let looks_around = matches!(
        command,
        Command::List(_)
            | Command::Search(_)
            | Command::Show(_)
            | Command::Prompts(_)
            | Command::Today(_)
            | Command::Day(_)
            | Command::Cost(_)
            | Command::Index(_)
            | Command::Archive(_)
            | Command::Pick(_)
            | Command::Status(_)
    );
    looks_around && is_read_by_a_person() && std::io::stderr().is_terminal()
}

/// Says it, unless it was said before. What fails here fails no command.
pub(crate) fn say(context: &Context) {
    let Some(holdings) = welcome(context) else { return };
    let width = error_width();
    let mut text = String::from("\n");
    for line in lines(&holdings, &context.zone()) {
        text.push_str(&width.map_or_else(|| line.clone(), |width| wrapped(&line, width)));
        text.push('\n');
    }
    let _ = anstream::stderr().lock().write_all(text.as_bytes());
}

fn lines(holdings: &Holdings, zone: &TimeZone) -> [String; 5] {
    let day = |time: Option<jiff::Timestamp>| {
        time.map_or_else(|| "?".to_owned(), |time| time.to_zoned(zone.clone()).date().to_string())
    };
    [
        format!(
            "This machine holds {} of {}, from {} to {}, and {} of sub-agents.",
            counted(count(holdings.sessions as u64), "session"),
            counted(count(holdings.projects as u64), "project"),
            day(holdings.since),
            day(holdings.until),
            counted(count(holdings.subagents as u64), "transcript")
        ),
        due(holdings),
        match holdings.ghosts {
            0 => "No session is known that was deleted before.".to_owned(),
            1 => "1 more was deleted before; what is left of its prompts is found: `backstory prompts`.".to_owned(),
            ghosts => format!(
                "{} more were deleted before; what is left of their prompts is found: `backstory prompts`.",
                count(ghosts as u64)
            ),
        },
        spent(&holdings.months),
        "Next: `backstory` to choose a session, `backstory serve` to see them in a browser, `backstory doctor --secrets` for \
         the secrets that lie in them."
            .to_owned(),
    ]
}

fn due(holdings: &Holdings) -> String {
    let kept =
        if holdings.is_kept { "Backstory keeps copies" } else { "no copies are kept (archive.enabled)" };
    match holdings.due {
        0 => format!("Claude Code deletes none of them in the next seven days; {kept}."),
        due => format!(
            "Claude Code deletes {} of them in the next seven days; {kept}, and `backstory doctor --fix` keeps the originals.",
            count(due as u64)
        ),
    }
}

fn spent(months: &[(String, f64)]) -> String {
    if months.is_empty() {
        return "Nothing that they cost is known.".to_owned();
    }
    let months: Vec<_> =
        months.iter().map(|(month, cost)| format!("{} in {}", dollars(*cost), safe(month))).collect();
    format!("They cost about {}: `backstory cost --by month`.", months.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(holdings: &Holdings, expected: &str) {
        assert_eq!(lines(holdings, &TimeZone::UTC)[..4].join("\n"), expected);
    }

    #[test]
    fn five_lines_say_what_there_is() {
        let time = |text: &str| Some(text.parse().unwrap());
        let mut holdings = Holdings {
            sessions: 1234,
            projects: 56,
            subagents: 1,
            since: time("2026-01-31T10:00:00Z"),
            until: time("2026-11-29T10:00:00Z"),
            due: 12,
            is_kept: true,
            ghosts: 3,
            months: vec![("2026-10".to_owned(), 120.0), ("2026-11".to_owned(), 0.5)],
        };
        check(
            &holdings,
            "This machine holds 1.2k sessions of 56 projects, from 2026-01-31 to 2026-11-29, and 1 transcript of sub-agents.\n\
             Claude Code deletes 12 of them in the next seven days; Backstory keeps copies, and `backstory doctor --fix` keeps the originals.\n\
             3 more were deleted before; what is left of their prompts is found: `backstory prompts`.\n\
             They cost about $120.00 in 2026-10, $0.50 in 2026-11: `backstory cost --by month`.",
        );
        holdings = Holdings {
            sessions: 1,
            projects: 1,
            due: 0,
            is_kept: false,
            ghosts: 1,
            months: Vec::new(),
            ..holdings
        };
        check(
            &holdings,
            "This machine holds 1 session of 1 project, from 2026-01-31 to 2026-11-29, and 1 transcript of sub-agents.\n\
             Claude Code deletes none of them in the next seven days; no copies are kept (archive.enabled).\n\
             1 more was deleted before; what is left of its prompts is found: `backstory prompts`.\n\
             Nothing that they cost is known.",
        );
    }
}
