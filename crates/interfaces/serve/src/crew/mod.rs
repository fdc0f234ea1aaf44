//! The routes that CrewHub's front end calls, with its names and shapes; a file for each subject.

mod absent;
mod agents;
mod assignments;
mod change;
mod chat;
mod connections;
mod context;
mod cooldown;
mod cron;
mod documents;
mod history;
mod key;
mod notify;
mod office;
mod permission;
mod places;
mod projects;
mod rooms;
mod rule;
pub(crate) mod sessions;
mod settings;
mod sources;
mod store;

pub(crate) use cooldown::Cooldowns;
pub(crate) use places::Places;
pub(crate) use sources::Sources;
pub(crate) use store::Store;

use crate::routes::Routes;

/// Adds the routes.
pub(crate) fn add(routes: &mut Routes) {
    sessions::add(routes);
    chat::add(routes);
    permission::add(routes);
    connections::add(routes);
    cron::add(routes);
    agents::add(routes);
    rooms::add(routes);
    projects::add(routes);
    documents::add(routes);
    assignments::add(routes);
    settings::add(routes);
    absent::add(routes);
    notify::add(routes);
}
