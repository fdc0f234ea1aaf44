//! `statusline`: the line that Claude Code shows below its prompt, made of what Claude Code passes to the command and
//! of its registry of live processes. Uses no index, settings or state, because it has to answer within milliseconds.

use std::io::Read;
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::SessionId;
use monitor::install::{self, STATUS_LINE};
use serde_json::{Value, json};
use transcript::{ConfigFolder, LiveStatus, RegisteredProcess};

use crate::live::hooks::{Plan, Scope, for_sh, plan};
use crate::{Context, Error};

/// The most that is read of what Claude Code passes, in bytes.
const CAP: u64 = 1 << 20;
/// How often Claude Code asks again while nothing happens in the session, in seconds: others begin to wait meanwhile.
const REFRESH: u32 = 30;
/// The share of the context from which it is marked, in percent.
const FULL: f64 = 80.0;
/// The share of a usage limit from which it is marked, in percent.
const NEARLY_USED: f64 = 80.0;
/// How many waiting sessions are named.
const NAMED: usize = 2;

/// A part of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusPart {
    /// What it says.
    pub text: String,
    /// Whether it should be noticed.
    pub is_marked: bool,
}

/// The parts of the line for a payload, in order; none where it cannot be read.
pub fn status_line(payload: impl Read, zone: &TimeZone, now: Timestamp) -> Vec<StatusPart> {
    let mut text = Vec::new();
    if payload.take(CAP).read_to_end(&mut text).is_err() {
        return Vec::new();
    }
    let Ok(payload) = serde_json::from_slice::<Value>(&text) else { return Vec::new() };
    let waiting = waiting_elsewhere(&payload);
    parts(&payload, &waiting, zone, now)
}

/// The change that installs our status line in Claude Code.
pub fn install(context: &Context, scope: &Scope) -> Result<Plan, Error> {
    context.require_person("changing Claude Code's settings")?;
    let command = install::status_line_command(&for_sh(context.program())?);
    let line = json!({"type": "command", "command": command, "refreshInterval": REFRESH}).to_string();
    plan(context, scope, "status-line", |text, _| Ok(Some(install::with_member(text, STATUS_LINE, &line)?)))
}

/// The change that removes it; an earlier status line is restored.
pub fn uninstall(context: &Context, scope: &Scope) -> Result<Plan, Error> {
    context.require_person("changing Claude Code's settings")?;
    plan(context, scope, "status-line", |text, backup| {
        if !install::has_status_line(text) {
            return Ok(Some(text.to_owned()));
        }
        let before = match backup {
            Some(kept) if kept.installed == text => return Ok(kept.original),
            kept => kept.and_then(|kept| kept.original).unwrap_or_default(),
        };
        let theirs =
            install::member_text(&before, STATUS_LINE).filter(|_| !install::has_status_line(&before));
        Ok(Some(match theirs {
            Some(theirs) => install::with_member(text, STATUS_LINE, theirs)?,
            None => install::without_member(text, STATUS_LINE)?,
        }))
    })
}

/// The names of other sessions that wait for the person, by their directories.
fn waiting_elsewhere(payload: &Value) -> Vec<String> {
    let Some(transcript) = payload["transcript_path"].as_str() else { return Vec::new() };
    // `<config folder>/projects/<slug>/<id>.jsonl`
    let Some(folder) = Path::new(transcript).ancestors().nth(3) else { return Vec::new() };
    let own = payload["session_id"].as_str().and_then(|id| id.parse::<SessionId>().ok());
    let live = RegisteredProcess::find(&ConfigFolder::new(folder).live_registry());
    let waits = |live: &RegisteredProcess| {
        live.status == Some(LiveStatus::Waiting) && Some(&live.session) != own.as_ref()
    };
    let name = |live: RegisteredProcess| {
        let name = live.cwd.as_deref().and_then(Path::file_name);
        name.map_or_else(|| live.session.short().to_owned(), |name| name.to_string_lossy().into_owned())
    };
    live.into_iter().filter(waits).map(name).collect()
}

fn parts(payload: &Value, waiting: &[String], zone: &TimeZone, now: Timestamp) -> Vec<StatusPart> {
    let model = payload["model"]["display_name"].as_str().map(|name| plain(name.to_owned()));
    let line = [
        model,
        context(payload),
        payload["cost"]["total_cost_usd"].as_f64().map(|cost| plain(format!("${cost:.2}"))),
        cache(&payload["prompt_cache"], zone, now),
        limit(payload, ("five_hour", "5h"), zone, now),
        limit(payload, ("seven_day", "7d"), zone, now).filter(|part| part.is_marked),
        elsewhere(waiting),
    ];
    line.into_iter().flatten().collect()
}

fn context(payload: &Value) -> Option<StatusPart> {
    let used = payload["context_window"]["used_percentage"].as_f64()?;
    Some(StatusPart { text: format!("context {used:.0}%"), is_marked: used >= FULL })
}

/// Whether the next message finds the prompt in the cache.
fn cache(cache: &Value, zone: &TimeZone, now: Timestamp) -> Option<StatusPart> {
    let until = moment(&cache["expires_at"]).filter(|until| *until > now);
    match (cache["warm"].as_bool()?, until) {
        (true, Some(until)) => Some(plain(format!("cache until {}", clock(until, zone)))),
        _ if cache["caching_observed"] == false => None,
        _ => {
            let again = cache["recache_tokens_if_cold"].as_u64().filter(|tokens| *tokens >= 1_000);
            let again =
                again.map_or_else(String::new, |tokens| format!(", {}k to read again", tokens / 1_000));
            Some(StatusPart { text: format!("cache cold{again}"), is_marked: true })
        }
    }
}

/// How much of a subscription's usage window is used, and when it ends.
fn limit(payload: &Value, (key, name): (&str, &str), zone: &TimeZone, now: Timestamp) -> Option<StatusPart> {
    let window = &payload["rate_limits"][key];
    let used = window["used_percentage"].as_f64()?;
    // Claude Code learns of the next window with its next message.
    let until = moment(&window["resets_at"]).filter(|until| *until > now)?;
    let format = if until.duration_since(now).as_hours() < 24 { "%H:%M" } else { "%a %H:%M" };
    let until = until.to_zoned(zone.clone()).strftime(format).to_string();
    Some(StatusPart { text: format!("{name} {used:.0}% until {until}"), is_marked: used >= NEARLY_USED })
}

fn elsewhere(waiting: &[String]) -> Option<StatusPart> {
    let (count, verb) = (waiting.len(), if waiting.len() == 1 { "waits" } else { "wait" });
    let named = waiting.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if count > NAMED { ", …" } else { "" };
    (count > 0).then(|| StatusPart { text: format!("{count} {verb}: {named}{more}"), is_marked: true })
}

fn moment(seconds: &Value) -> Option<Timestamp> {
    Timestamp::from_second(seconds.as_i64()?).ok()
}

fn clock(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%H:%M").to_string()
}

fn plain(text: String) -> StatusPart {
    StatusPart { text, is_marked: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_780_315_200; // 2026-06-01T12:00:00Z

    fn check(payload: &Value, waiting: &[&str], expected: &[&str]) {
        let waiting: Vec<String> = waiting.iter().map(|name| (*name).to_owned()).collect();
        let now = Timestamp::from_second(NOON).unwrap();
        let shown = |part: StatusPart| if part.is_marked { format!("!{}", part.text) } else { part.text };
        let found: Vec<String> =
            parts(payload, &waiting, &TimeZone::UTC, now).into_iter().map(shown).collect();
        assert_eq!(found, expected, "{payload}");
    }

    #[test]
    fn the_status_line_shows_the_input_of_claude_code() {
        // As 2.1.330 passes it after the first answer.
        let payload = json!({
            "session_id": "8d5f793e-13bb-4f49-90ba-3aed819900f6",
            "model": {"id": "claude-opus-5-5", "display_name": "Opus 5.5"},
            "cost": {"total_cost_usd": 0.070_775_999, "total_duration_ms": 14_070},
            "context_window": {"context_window_size": 1_000_000, "used_percentage": 1},
            "prompt_cache": {"warm": true, "caching_observed": true, "ttl": "5m", "expires_at": NOON + 300},
            "rate_limits": {
                "five_hour": {"used_percentage": 23.5, "resets_at": NOON + 7_200},
                "seven_day": {"used_percentage": 41.2, "resets_at": NOON + 200_000},
            },
        });
        let expected = ["Opus 5.5", "context 1%", "$0.07", "cache until 12:05", "5h 24% until 14:00"];
        check(&payload, &[], &expected);
    }

    #[test]
    fn values_over_their_limit_are_highlighted() {
        let payload = json!({
            "context_window": {"used_percentage": 91.4},
            "prompt_cache": {"warm": true, "expires_at": NOON, "recache_tokens_if_cold": 120_345},
            "rate_limits": {"seven_day": {"used_percentage": 80, "resets_at": NOON + 200_000}},
        });
        let cold = "!cache cold, 120k to read again";
        let week = "!7d 80% until Wed 19:33";
        check(&payload, &["shop"], &["!context 91%", cold, week, "!1 waits: shop"]);
        check(&json!({}), &["a", "b", "c"], &["!3 wait: a, b, …"]);
    }

    #[test]
    fn missing_or_invalid_fields_are_left_out() {
        let never = json!({"prompt_cache": {"warm": false, "caching_observed": false}});
        let over = json!({"rate_limits": {"five_hour": {"used_percentage": 99, "resets_at": NOON}}});
        let odd = json!({"model": 1, "cost": [], "context_window": {"used_percentage": null}, "prompt_cache": {"warm": "x"}});
        for payload in [json!({}), json!([]), json!(null), never, over, odd] {
            check(&payload, &[], &[]);
        }
        let now = Timestamp::from_second(NOON).unwrap();
        for text in ["", "{", "[1", "{\"transcript_path\": \"x\"}", "\u{0}"] {
            assert_eq!(status_line(text.as_bytes(), &TimeZone::UTC, now), []);
        }
    }
}
