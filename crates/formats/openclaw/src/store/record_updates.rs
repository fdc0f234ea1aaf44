//! Updates of an entry during a session, each under the lock.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::agent_store::{AgentStore, Updated};
use super::delivery::{ChatType, DeliveryContext, SessionOrigin, ThreadId, normalized_channel};
use super::entry::Entry;
use super::session_key::SessionKey;
use super::session_store::SessionStore;
use super::store_error::StoreError;

/// The facts about a session in an incoming message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboundMessage {
    /// The name of the conversation.
    pub label: Option<String>,
    /// The channel it came from, such as `slack`.
    pub provider: Option<String>,
    /// The surface it was written on.
    pub surface: Option<String>,
    /// The kind of the chat.
    pub chat_type: Option<ChatType>,
    /// Who wrote it.
    pub from: Option<String>,
    /// To whom.
    pub to: Option<String>,
    /// The account that received it.
    pub account_id: Option<String>,
    /// The thread.
    pub thread_id: Option<ThreadId>,
    /// The group or channel, where it is of one.
    pub group: Option<InboundGroup>,
}

/// The group a message came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboundGroup {
    /// Its id.
    pub id: String,
    /// Its subject.
    pub subject: Option<String>,
    /// The name of the channel, such as `#general`.
    pub channel: Option<String>,
    /// The workspace.
    pub space: Option<String>,
}

/// Where the last answer went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteUpdate {
    /// What the caller says outright; it comes first, and clears the thread where it names none.
    pub explicit: Option<DeliveryContext>,
    /// What came with the message.
    pub inline: Option<DeliveryContext>,
    /// The message itself.
    pub message: Option<InboundMessage>,
}

/// The tokens of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageUpdate {
    /// Tokens that were sent.
    pub input: i64,
    /// Tokens that were answered.
    pub output: i64,
    /// The size of the model's context.
    pub context: Option<i64>,
    /// The provider.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
}

impl AgentStore {
    /// Records what a message says of its session; `None` where there is none and none is to be made, or the message
    /// says nothing.
    pub fn record_meta_from_inbound(
        &self,
        key: &SessionKey,
        message: &InboundMessage,
        create_if_missing: bool,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Option<Entry>>, StoreError> {
        let id = new_id();
        self.update(clock, |store, now| {
            let known = store.get(key)?;
            let patch = meta_patch(key, known.as_ref(), message);
            match (known, patch) {
                (None, _) if !create_if_missing => Ok(None),
                (known, None) => Ok(known),
                (known, Some(patch)) => put(store, key, known.as_ref(), &patch, now, &id).map(Some),
            }
        })
    }

    /// Records where an answer went; creates the session if it is missing.
    pub fn update_last_route(
        &self,
        key: &SessionKey,
        route: &RouteUpdate,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        let id = new_id();
        self.update(clock, |store, now| {
            let known = store.get(key)?;
            let before = known.as_ref().and_then(delivery_of);
            let given = DeliveryContext::merged(route.explicit.as_ref(), route.inline.as_ref());
            let mut merged = DeliveryContext::merged(given.as_ref(), before.as_ref()).unwrap_or_default();
            // An explicit place without a thread is not in the thread of the last one.
            let explicit = route.explicit.as_ref().and_then(DeliveryContext::normalized);
            if explicit.is_some_and(|place| place.to.is_some() && place.thread_id.is_none()) {
                merged.thread_id = route.inline.as_ref().and_then(|place| place.normalized()?.thread_id);
            }
            let mut patch =
                route.message.as_ref().and_then(|message| meta_patch(key, known.as_ref(), message));
            let patch = patch.get_or_insert_default();
            let mut base = known.clone().unwrap_or_default();
            set_delivery(&mut base, merged.normalized());
            put(
                store,
                key,
                Some(&base).filter(|_| known.is_some() || base != Entry::default()),
                patch,
                now,
                &id,
            )
        })
    }

    /// Sets fields of a session, whatever they are, and makes it where there is none; null removes a field.
    pub fn set_fields(
        &self,
        key: &SessionKey,
        fields: &Map<String, Value>,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        let id = new_id();
        self.update(clock, |store, now| {
            store.put_fields(key, fields)?;
            if let Some(settled) = store.get(key)?.and_then(|entry| settled_delivery(&entry, fields)) {
                store.put_fields(key, &settled)?;
            }
            let known = store.get(key)?;
            put(store, key, known.as_ref(), &Entry::default(), now, &id)
        })
    }

    /// Adds the tokens of a run.
    pub fn record_usage(
        &self,
        key: &SessionKey,
        usage: &UsageUpdate,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        self.update_entry(key, clock, |entry, _| {
            let input = entry.input_tokens.unwrap_or(0).saturating_add(usage.input);
            let output = entry.output_tokens.unwrap_or(0).saturating_add(usage.output);
            Some(Entry {
                input_tokens: Some(input),
                output_tokens: Some(output),
                total_tokens: Some(input.saturating_add(output)),
                context_tokens: usage.context,
                model_provider: usage.provider.clone(),
                model: usage.model.clone(),
                ..Entry::default()
            })
        })
    }

    /// Counts a compaction.
    pub fn record_compaction(
        &self,
        key: &SessionKey,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        self.update_entry(key, clock, |entry, _| {
            let count = entry.compaction_count.unwrap_or(0).saturating_add(1);
            Some(Entry { compaction_count: Some(count), ..Entry::default() })
        })
    }

    /// Records that the memory was saved, and how many compactions there were.
    pub fn record_memory_flush(
        &self,
        key: &SessionKey,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        self.update_entry(key, clock, |entry, now| {
            Some(Entry {
                memory_flush_at: Some(now.as_millisecond()),
                memory_flush_compaction_count: Some(entry.compaction_count.unwrap_or(0)),
                ..Entry::default()
            })
        })
    }

    /// Records the last message of the heartbeat.
    pub fn record_heartbeat(
        &self,
        key: &SessionKey,
        text: &str,
        clock: &dyn Fn() -> Timestamp,
    ) -> Result<Updated<Entry>, StoreError> {
        self.update_entry(key, clock, |_, now| {
            Some(Entry {
                last_heartbeat_text: Some(text.to_owned()),
                last_heartbeat_sent_at: Some(now.as_millisecond()),
                ..Entry::default()
            })
        })
    }
}

/// A new id for a conversation.
pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Merges a patch into an entry and puts it into the store.
pub(crate) fn put(
    store: &mut SessionStore,
    key: &SessionKey,
    known: Option<&Entry>,
    patch: &Entry,
    now: Timestamp,
    id: &str,
) -> Result<Entry, StoreError> {
    let merged = Entry::merged(known, patch, now, || id.to_owned());
    store.put(key, &merged)?;
    Ok(merged)
}

/// Where the answers of a session go, from all fields that say it.
pub fn delivery_of(entry: &Entry) -> Option<DeliveryContext> {
    let structured = entry.delivery_context.as_ref();
    let thread = entry.last_thread_id.clone();
    let thread = thread.or_else(|| structured?.thread_id.clone());
    let last = DeliveryContext {
        channel: entry.last_channel.clone().or_else(|| entry.channel.clone()),
        to: entry.last_to.clone(),
        account_id: entry.last_account_id.clone(),
        thread_id: thread.or_else(|| entry.origin.as_ref()?.thread_id.clone()),
    };
    DeliveryContext::merged(Some(&last), structured)
}

/// Sets all fields that say where answers go.
fn set_delivery(entry: &mut Entry, place: Option<DeliveryContext>) {
    let said = place.clone().unwrap_or_default();
    entry.last_channel = said.channel;
    entry.last_to = said.to;
    entry.last_account_id = said.account_id;
    entry.last_thread_id = said.thread_id;
    entry.delivery_context = place;
}

/// The fields that say where answers go, so that all agree with those that were set: OpenClaw does that at each write.
/// `None` where none was set.
fn settled_delivery(entry: &Entry, set: &Map<String, Value>) -> Option<Map<String, Value>> {
    let is_set = |name: &str| set.contains_key(name);
    let named = ["channel", "deliveryContext", "lastChannel", "lastTo", "lastAccountId", "lastThreadId"];
    if !named.into_iter().any(is_set) {
        return None;
    }
    let known = if is_set("deliveryContext") { entry.delivery_context.clone() } else { delivery_of(entry) };
    let mut place = known.unwrap_or_default();
    if is_set("lastChannel") {
        place.channel.clone_from(&entry.last_channel);
    }
    if is_set("lastTo") {
        place.to.clone_from(&entry.last_to);
    }
    if is_set("lastAccountId") {
        place.account_id.clone_from(&entry.last_account_id);
    }
    if is_set("lastThreadId") {
        place.thread_id.clone_from(&entry.last_thread_id);
    }
    let channel = entry.channel.as_deref().and_then(normalized_channel);
    let mut settled = Entry { channel, ..Entry::default() };
    set_delivery(&mut settled, place.normalized());
    let fields = serde_json::to_value(&settled).ok()?;
    Some(named.map(|name| (name.to_owned(), fields[name].clone())).into_iter().collect())
}

/// What a message says of its session; `None` where it says nothing.
fn meta_patch(key: &SessionKey, known: Option<&Entry>, message: &InboundMessage) -> Option<Entry> {
    let trimmed = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let origin = SessionOrigin {
        label: trimmed(&message.label),
        provider: message.provider.as_deref().or(message.surface.as_deref()).and_then(normalized_channel),
        surface: trimmed(&message.surface).map(|text| text.to_lowercase()),
        chat_type: message.chat_type,
        from: trimmed(&message.from),
        to: trimmed(&message.to),
        account_id: trimmed(&message.account_id),
        thread_id: message.thread_id.clone(),
    };
    let says = origin != SessionOrigin::default();
    let mut patch = Entry::default();
    if says {
        patch.origin = SessionOrigin::merged(known.and_then(|entry| entry.origin.as_ref()), Some(&origin));
    }
    if let Some((group, channel)) = message.group.as_ref().zip(origin.provider) {
        let subject = trimmed(&group.subject);
        let is_channel = message.chat_type == Some(ChatType::Channel);
        let by_sign = subject.clone().filter(|subject| is_channel && subject.starts_with('#'));
        patch.chat_type = Some(if is_channel { ChatType::Channel } else { ChatType::Group });
        patch.group_id = Some(group.id.trim().to_lowercase()).filter(|id| !id.is_empty());
        patch.group_channel = trimmed(&group.channel).or(by_sign);
        patch.subject = subject.filter(|_| patch.group_channel.is_none());
        patch.space = trimmed(&group.space);
        let or_known = |new: &Option<String>, old: fn(&Entry) -> &Option<String>| {
            new.clone().or_else(|| known.and_then(|entry| old(entry).clone()))
        };
        let names = GroupNames {
            subject: or_known(&patch.subject, |entry| &entry.subject),
            channel: or_known(&patch.group_channel, |entry| &entry.group_channel),
            space: or_known(&patch.space, |entry| &entry.space),
        };
        let fallback = patch.group_id.as_deref().unwrap_or(key.as_str());
        patch.display_name = Some(display_name(&channel, &names, fallback));
        patch.channel = Some(channel);
    } else if !says {
        return None;
    }
    Some(patch)
}

struct GroupNames {
    subject: Option<String>,
    channel: Option<String>,
    space: Option<String>,
}

/// The name a group is shown under: `discord:g-general`.
fn display_name(provider: &str, names: &GroupNames, fallback: &str) -> String {
    let detail = match (&names.channel, &names.space) {
        (Some(channel), Some(space)) if channel.starts_with('#') => Some(format!("{space}{channel}")),
        (Some(channel), Some(space)) => Some(format!("{space}#{channel}")),
        (channel, space) => channel.clone().or_else(|| names.subject.clone()).or_else(|| space.clone()),
    };
    let raw = detail.unwrap_or_else(|| fallback.to_owned());
    let mut token = slug(&raw);
    if token.is_empty() {
        token = slug(&shortened(&raw));
    }
    if names.channel.is_none() {
        token = token.trim_start_matches('#').to_owned();
    }
    let is_plain = !token.is_empty() && !token.starts_with(['@', '#']) && !token.starts_with("g-");
    if is_plain && !token.contains('#') {
        token = format!("g-{token}");
    }
    if token.is_empty() { provider.to_owned() } else { format!("{provider}:{token}") }
}

fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.trim().to_lowercase().chars() {
        let is_kept = c.is_ascii_lowercase() || c.is_ascii_digit() || "#@._+-".contains(c);
        let c = if is_kept { c } else { '-' };
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    slug.trim_matches(['-', '.']).to_owned()
}

fn shortened(id: &str) -> String {
    let letters: Vec<char> = id.trim().chars().collect();
    if letters.len() <= 14 {
        return letters.into_iter().collect();
    }
    let (first, last) = (&letters[..6], &letters[letters.len() - 4..]);
    first.iter().chain(&['.', '.', '.']).chain(last).collect()
}
