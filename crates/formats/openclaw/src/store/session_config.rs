//! OpenClaw's configuration of sessions: the block `session`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::delivery::ChatType;
use super::entry::{DirectSpelling, SendDecision};
use super::session_key::{DmScope, KeyRules};
use crate::config::OpenClawConfig;
use crate::roster::ConfiguredAgent;

/// What OpenClaw assumes where nothing is configured.
const MODEL: &str = "claude-opus-4-5";
const CONTEXT_TOKENS: i64 = 200_000;

/// The settings of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionConfig {
    /// `session.mainKey` and what else decides about keys.
    pub keys: KeyRules,
    /// `session.sendPolicy`; `None` where there is none.
    pub send_policy: Option<SendRules>,
    /// When sessions are reset.
    pub reset: ResetConfig,
    /// `session.maintenance`.
    pub maintenance: MaintenanceConfig,
    /// `session.writeLock`.
    pub write_lock: WriteLockConfig,
    /// The configured model, without its provider.
    pub model: Option<String>,
    /// The size of a context that is assumed where nothing is known.
    pub context_tokens: i64,
    /// `subagents.allowAgents` of each agent: under whose names an agent may start sub-agents.
    pub allowed_agents: BTreeMap<String, Vec<String>>,
}

/// The rules by which messages may be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SendRules {
    /// What holds where no rule matches.
    pub default: Option<SendDecision>,
    /// The rules, in order.
    pub rules: Vec<SendRule>,
}

/// One rule; what it does not name matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendRule {
    /// What it decides.
    pub action: SendDecision,
    /// The channel it is for.
    pub channel: Option<String>,
    /// The kind of chat it is for.
    pub chat_type: Option<ChatType>,
    /// How keys begin that it is for, without `agent:<id>:` in 2026.9.
    pub key_prefix: Option<String>,
    /// How whole keys begin that it is for.
    pub raw_key_prefix: Option<String>,
}

/// When sessions are reset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResetConfig {
    /// `session.reset`.
    pub usual: Option<ResetRule>,
    /// `session.resetByType`: `direct` (also `dm`), `group`, `thread`.
    pub by_type: BTreeMap<ResetType, ResetRule>,
    /// Whether there is a `session.resetByType`, even an empty one.
    pub has_types: bool,
    /// `session.resetByChannel`, by the channel in lower case.
    pub by_channel: BTreeMap<String, ResetRule>,
    /// `session.idleMinutes`, which is the older form.
    pub idle_minutes: Option<f64>,
    /// `session.resetTriggers`: the messages that reset a session.
    pub triggers: Vec<String>,
}

/// The kinds of sessions that are reset differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResetType {
    /// Direct chats.
    Direct,
    /// Groups and channels.
    Group,
    /// Threads.
    Thread,
}

/// How a session is reset; what is not set follows from the other settings.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ResetRule {
    /// Daily, or after a time without messages.
    pub mode: Option<ResetMode>,
    /// The hour of the daily reset.
    pub at_hour: Option<f64>,
    /// The minutes without messages.
    pub idle_minutes: Option<f64>,
}

/// When a session is reset by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetMode {
    /// At an hour of the day.
    Daily,
    /// After a time without messages.
    Idle,
}

/// What becomes of old sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaintenanceConfig {
    /// Whether sessions are removed, or only reported.
    pub mode: MaintenanceMode,
    /// Sessions in which nothing happened for so long are removed.
    pub prune_after: Duration,
    /// The most sessions that are kept.
    pub max_entries: usize,
    /// The size in bytes from which the store is set aside.
    pub rotate_bytes: u64,
}

/// Whether maintenance acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaintenanceMode {
    /// It says what it would do.
    Warn,
    /// It does it.
    Enforce,
}

/// The times of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteLockConfig {
    /// How long a lock is waited for.
    pub acquire_timeout: Duration,
    /// How old an abandoned lock of a transcript is at least.
    pub stale: Duration,
    /// How long a lock is held at most.
    pub max_hold: Duration,
}

impl Default for WriteLockConfig {
    fn default() -> Self {
        Self {
            acquire_timeout: Duration::from_secs(10),
            stale: Duration::from_mins(30),
            max_hold: Duration::from_mins(5),
        }
    }
}

impl Default for MaintenanceConfig {
    fn default() -> Self {
        Self {
            mode: MaintenanceMode::Warn,
            prune_after: Duration::from_hours(30 * 24),
            max_entries: 500,
            rotate_bytes: 10 << 20,
        }
    }
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self::new(&OpenClawConfig::default(), &|_| None)
    }
}

impl SessionConfig {
    /// Reads the block of a configuration; `variable` looks up what overrides it in the environment.
    pub fn new(config: &OpenClawConfig, variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let block = config.at("/session");
        Self {
            keys: keys(block),
            send_policy: Some(&block["sendPolicy"]).filter(|rules| rules.is_object()).map(send_rules),
            reset: reset(block),
            maintenance: maintenance(&block["maintenance"]),
            write_lock: write_lock(&block["writeLock"], variable),
            model: Some(model(config)),
            context_tokens: config
                .at("/agents/defaults/contextTokens")
                .as_i64()
                .filter(|tokens| *tokens > 0)
                .unwrap_or(CONTEXT_TOKENS),
            allowed_agents: allowed_agents(config),
        }
    }
}

fn keys(block: &Value) -> KeyRules {
    let main_key = block["mainKey"].as_str().map(|name| name.trim().to_lowercase()).unwrap_or_default();
    let links = block["identityLinks"].as_object();
    KeyRules {
        main_key: if main_key.is_empty() { "main".to_owned() } else { main_key },
        dm_scope: match block["dmScope"].as_str() {
            Some("per-peer") => DmScope::PerPeer,
            Some("per-channel-peer") => DmScope::PerChannelPeer,
            Some("per-account-channel-peer") => DmScope::PerAccountChannelPeer,
            _ => DmScope::Main,
        },
        identity_links: links.into_iter().flatten().map(|(name, ids)| (name.clone(), texts(ids))).collect(),
        direct: DirectSpelling::default(),
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn send_rules(block: &Value) -> SendRules {
    let rules = block["rules"].as_array().into_iter().flatten().filter(|rule| rule.is_object());
    SendRules { default: decision(&block["default"]), rules: rules.map(send_rule).collect() }
}

/// As OpenClaw reads a rule: an action that it does not know allows.
fn send_rule(rule: &Value) -> SendRule {
    let matched = &rule["match"];
    let text = |name: &str| {
        let text = matched[name].as_str()?.trim().to_lowercase();
        (!text.is_empty()).then_some(text)
    };
    SendRule {
        action: decision(&rule["action"]).unwrap_or(SendDecision::Allow),
        channel: text("channel"),
        chat_type: matched["chatType"].as_str().and_then(ChatType::from_word),
        key_prefix: text("keyPrefix"),
        raw_key_prefix: text("rawKeyPrefix"),
    }
}

fn decision(value: &Value) -> Option<SendDecision> {
    value.as_str().and_then(SendDecision::from_word)
}

fn reset(block: &Value) -> ResetConfig {
    let types = &block["resetByType"];
    let named = [("direct", ResetType::Direct), ("group", ResetType::Group), ("thread", ResetType::Thread)];
    let mut by_type: BTreeMap<_, _> =
        named.into_iter().filter_map(|(name, kind)| Some((kind, reset_rule(&types[name])?))).collect();
    if let Some(older) = reset_rule(&types["dm"]) {
        by_type.entry(ResetType::Direct).or_insert(older);
    }
    let channels = block["resetByChannel"].as_object().into_iter().flatten();
    let triggers = texts(&block["resetTriggers"]);
    ResetConfig {
        usual: reset_rule(&block["reset"]),
        by_type,
        has_types: types.is_object(),
        by_channel: channels
            .filter_map(|(name, rule)| Some((name.trim().to_lowercase(), reset_rule(rule)?)))
            .collect(),
        idle_minutes: block["idleMinutes"].as_f64(),
        triggers: if triggers.is_empty() { vec!["/new".to_owned(), "/reset".to_owned()] } else { triggers },
    }
}

fn reset_rule(rule: &Value) -> Option<ResetRule> {
    rule.is_object().then(|| ResetRule {
        mode: match rule["mode"].as_str() {
            Some("daily") => Some(ResetMode::Daily),
            Some("idle") => Some(ResetMode::Idle),
            _ => None,
        },
        at_hour: rule["atHour"].as_f64(),
        idle_minutes: rule["idleMinutes"].as_f64(),
    })
}

fn maintenance(block: &Value) -> MaintenanceConfig {
    let usual = MaintenanceConfig::default();
    let days = block["pruneDays"].as_f64().map(|days| format!("{days}d"));
    let prune = match &block["pruneAfter"] {
        Value::String(text) => Some(text.clone()),
        Value::Number(days) => Some(format!("{days}d")),
        _ => days,
    };
    let rotate = match &block["rotateBytes"] {
        Value::String(text) => bytes(text),
        number => number.as_u64(),
    };
    let most = block["maxEntries"].as_u64().filter(|most| *most > 0);
    MaintenanceConfig {
        mode: match block["mode"].as_str() {
            Some("enforce") => MaintenanceMode::Enforce,
            _ => MaintenanceMode::Warn,
        },
        prune_after: prune.as_deref().and_then(duration).unwrap_or(usual.prune_after),
        max_entries: most.map_or(usual.max_entries, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        rotate_bytes: rotate.filter(|bytes| *bytes > 0).unwrap_or(usual.rotate_bytes),
    }
}

/// `30d`, `12h`, `90m`, `45s`, `500ms`; a plain number is of days.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let text = text.trim().to_lowercase();
    let (number, unit) = split_unit(&text);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" | "" => 86_400.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number? * seconds).ok()
}

/// `10mb`, `1.5gb`, `512k`; a plain number is of bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is within the range")]
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = split_unit(&text);
    let factor = match unit {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        "g" | "gb" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    number.map(|number| number * factor).filter(|bytes| (0.0..1e18).contains(bytes)).map(|bytes| bytes as u64)
}

fn split_unit(text: &str) -> (Option<f64>, &str) {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    (text[..at].trim().parse().ok(), &text[at..])
}

/// The variables come before the configuration.
fn write_lock(block: &Value, variable: &dyn Fn(&str) -> Option<String>) -> WriteLockConfig {
    let usual = WriteLockConfig::default();
    let set = |field: &str, name: &str, usual: Duration| {
        let named = variable(&format!("OPENCLAW_SESSION_WRITE_LOCK_{name}_MS"));
        let named = named.and_then(|text| text.trim().parse().ok());
        let millis = named.or_else(|| block[field].as_u64()).filter(|millis| *millis > 0);
        millis.map_or(usual, Duration::from_millis)
    };
    WriteLockConfig {
        acquire_timeout: set("acquireTimeoutMs", "ACQUIRE_TIMEOUT", usual.acquire_timeout),
        stale: set("staleMs", "STALE", usual.stale),
        max_hold: set("maxHoldMs", "MAX_HOLD", usual.max_hold),
    }
}

fn model(config: &OpenClawConfig) -> String {
    let set = config.at("/agents/defaults/model");
    let name =
        set.as_str().or_else(|| set["primary"].as_str()).map(str::trim).filter(|name| !name.is_empty());
    let name = name.map(|name| name.split_once('/').map_or(name, |(_, model)| model));
    name.unwrap_or(MODEL).to_owned()
}

fn allowed_agents(config: &OpenClawConfig) -> BTreeMap<String, Vec<String>> {
    let common = texts(&config.at("/agents/defaults/subagents")["allowAgents"]);
    let of = |agent: ConfiguredAgent<'_>| {
        let own = &agent.settings["subagents"]["allowAgents"];
        (agent.id.to_string(), if own.is_array() { texts(own) } else { common.clone() })
    };
    config.roster().into_iter().map(of).chain([("*".to_owned(), common.clone())]).collect()
}

impl SessionConfig {
    /// Whether an agent may start sub-agents under another one's name.
    pub fn may_spawn_as(&self, agent: &str, other: &str) -> bool {
        let allowed = self.allowed_agents.get(agent).or_else(|| self.allowed_agents.get("*"));
        let is_it = |name: &String| name.trim() == "*" || name.trim().eq_ignore_ascii_case(other);
        agent == other || allowed.is_some_and(|allowed| allowed.iter().any(is_it))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn parse(text: &str) -> SessionConfig {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("openclaw.json"), text).unwrap();
        SessionConfig::new(&OpenClawConfig::find(scratch.path()), &|_| None)
    }

    #[test]
    fn defaults_are_those_of_openclaw() {
        let plain = parse("{}");
        assert_eq!(plain, SessionConfig::default());
        assert_eq!((plain.keys.main_key.as_str(), plain.keys.dm_scope), ("main", DmScope::Main));
        assert_eq!(plain.maintenance.prune_after, Duration::from_hours(720));
        assert_eq!(plain.reset.triggers, ["/new", "/reset"]);
        let odd = r#"{session: {mainKey: 7, dmScope: "?", identityLinks: [], sendPolicy: 1, reset: [], resetByType: 2,
            idleMinutes: "x", maintenance: {mode: 1, pruneAfter: "soon", maxEntries: 0, rotateBytes: "much"}, writeLock: {staleMs: -1}}}"#;
        assert_eq!(parse(odd), plain);
    }

    #[test]
    fn every_setting_is_read() {
        let all = parse(
            r#"{session: {mainKey: "Home", dmScope: "per-peer", identityLinks: {anna: ["slack:u1", 7]},
            sendPolicy: {default: "deny", rules: [{action: "Deny", match: {channel: " Slack", chatType: "dm", keyPrefix: "agent:"}}, 7, {action: "?"}]},
            reset: {mode: "idle", idleMinutes: 5}, resetByType: {dm: {mode: "daily", atHour: 3}, thread: {idleMinutes: 9}},
            resetByChannel: {Discord: {atHour: 1}}, idleMinutes: 7, resetTriggers: ["/again"],
            maintenance: {mode: "enforce", pruneDays: 2, maxEntries: 9, rotateBytes: "1kb"},
            writeLock: {acquireTimeoutMs: 100, staleMs: 200, maxHoldMs: 300}},
            agents: {defaults: {subagents: {allowAgents: ["*"]}}, list: [{id: "Main", subagents: {allowAgents: ["coder"]}}]}}"#,
        );
        assert_eq!((all.keys.main_key.as_str(), all.keys.dm_scope), ("home", DmScope::PerPeer));
        assert_eq!(all.keys.identity_links["anna"], ["slack:u1"]);
        let rules = all.send_policy.clone().unwrap();
        assert_eq!((rules.default, rules.rules.len()), (Some(SendDecision::Deny), 2));
        let first = &rules.rules[0];
        assert_eq!(
            (first.action, first.channel.as_deref(), first.chat_type, first.key_prefix.as_deref()),
            (SendDecision::Deny, Some("slack"), Some(ChatType::Direct), Some("agent:"))
        );
        assert_eq!(rules.rules[1].action, SendDecision::Allow);
        assert_eq!(all.reset.usual.unwrap().mode, Some(ResetMode::Idle));
        assert_eq!(all.reset.by_type[&ResetType::Direct].at_hour, Some(3.0));
        assert_eq!(all.reset.by_channel["discord"].at_hour, Some(1.0));
        assert_eq!(
            (all.reset.idle_minutes, all.reset.triggers.as_slice()),
            (Some(7.0), &["/again".to_owned()][..])
        );
        let expected = MaintenanceConfig {
            mode: MaintenanceMode::Enforce,
            prune_after: Duration::from_hours(48),
            max_entries: 9,
            rotate_bytes: 1024,
        };
        assert_eq!(all.maintenance, expected);
        assert_eq!(all.write_lock.stale, Duration::from_millis(200));
        assert!(all.may_spawn_as("main", "Coder") && !all.may_spawn_as("main", "ops"));
        assert!(all.may_spawn_as("ops", "coder") && !parse("{}").may_spawn_as("ops", "coder"));
    }

    #[test]
    fn agents_in_a_map_may_start_others() {
        let all = parse(r#"{agents: {entries: {Main: {subagents: {allowAgents: ["coder"]}}, ops: {}}}}"#);
        assert!(all.may_spawn_as("main", "coder") && !all.may_spawn_as("ops", "coder"));
    }

    #[test]
    fn the_environment_comes_first() {
        let scratch = tempfile::tempdir().unwrap();
        fs::write(scratch.path().join("openclaw.json"), "{session: {writeLock: {staleMs: 5, maxHoldMs: 6}}}")
            .unwrap();
        let named = |name: &str| (name == "OPENCLAW_SESSION_WRITE_LOCK_STALE_MS").then(|| "7".to_owned());
        let found = SessionConfig::new(&OpenClawConfig::find(scratch.path()), &named).write_lock;
        assert_eq!((found.stale, found.max_hold), (Duration::from_millis(7), Duration::from_millis(6)));
    }

    #[test]
    fn durations_and_sizes_are_parsed() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(duration(text).map(|found| found.as_secs()), expected, "{text}");
        };
        check("30d", Some(2_592_000));
        check(" 2 H ", Some(7200));
        check("90m", Some(5400));
        check("7", Some(604_800));
        check("-1d", None);
        check("soon", None);
        assert_eq!(
            (bytes("10mb"), bytes("1.5k"), bytes("7"), bytes("x")),
            (Some(10 << 20), Some(1536), Some(7), None)
        );
    }
}
