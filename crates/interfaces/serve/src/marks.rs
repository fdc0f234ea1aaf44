//! Takes over the pins and tags that the dashboard kept in a setting of its own before they became annotations.

use std::collections::BTreeMap;

use app::sessions::annotate;
use model::SessionId;
use serde::Deserialize;

use crate::problem::Problem;
use crate::state::Server;

/// The setting.
const SETTING: &str = "dashboard.marks";

/// What the setting says.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Marks {
    pinned: Vec<String>,
    tags: BTreeMap<String, Vec<String>>,
}

/// Takes them over, and removes the setting.
pub(crate) fn take_over(server: &Server) -> Result<(), Problem> {
    let Some(text) = server.store.setting(SETTING) else { return Ok(()) };
    let (pinned, tags) = read(&text);
    annotate::adopt(&server.context(), &pinned, &tags)?;
    server.store.remove_setting(SETTING)
}

/// The pins and the tags; what is no session's id was never made by the dashboard.
fn read(text: &str) -> (Vec<SessionId>, BTreeMap<SessionId, Vec<String>>) {
    let Marks { pinned, tags } = serde_json::from_str(text).unwrap_or_default();
    let pinned = pinned.into_iter().filter_map(|id| id.parse().ok()).collect();
    let tags = tags.into_iter().filter_map(|(id, tags)| Some((id.parse().ok()?, tags))).collect();
    (pinned, tags)
}
