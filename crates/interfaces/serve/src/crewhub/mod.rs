//! The routes that CrewHub's front end calls, with its names and shapes; a file for each subject.

mod agents;
mod assignments;
mod change;
mod chat;
mod chat_key;
mod claude_versions;
mod connections;
mod context;
mod cooldown;
mod cron;
mod display_names;
mod documents;
mod handoff;
mod history;
mod history_positions;
mod key;
mod layout;
mod notify;
mod permission;
mod projects;
mod requests;
mod room_rules;
mod rooms;
mod rule;
pub(crate) mod sessions;
mod settings;
mod shown_requests;
mod sources;
mod store;
mod unsupported;

pub(crate) use claude_versions::ClaudeVersions;
pub(crate) use cooldown::Cooldowns;
pub(crate) use history_positions::HistoryPositions;
pub(crate) use shown_requests::ShownRequests;
pub(crate) use sources::Sources;
pub(crate) use store::Store;

use crate::routes::Routes;

/// Adds the routes.
pub(crate) fn add(routes: &mut Routes) {
    sessions::add(routes);
    history::add(routes);
    chat::add(routes);
    permission::add(routes);
    connections::add(routes);
    cron::add(routes);
    agents::add(routes);
    rooms::add(routes);
    projects::add(routes);
    documents::add(routes);
    assignments::add(routes);
    display_names::add(routes);
    room_rules::add(routes);
    settings::add(routes);
    unsupported::add(routes);
    handoff::add(routes);
    notify::add(routes);
}
