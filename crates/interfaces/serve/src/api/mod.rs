//! Our own API: `/api/v1`. Requests and answers are the types of `app`; a file for each subject.

mod annotations;
mod cost;
pub(crate) mod cron;
mod cursor_text;
mod dashboard;
mod doctor;
mod known_place;
mod message;
mod own_scope;
mod page_cursor;
mod projects;
mod search;
mod sessions;
mod tokens;
mod workers;

use crate::events;
use crate::routes::Routes;

/// Adds the routes.
pub(crate) fn add(routes: &mut Routes) {
    sessions::add(routes);
    annotations::add(routes);
    search::add(routes);
    projects::add(routes);
    cost::add(routes);
    workers::add(routes);
    cron::add(routes);
    dashboard::add(routes);
    doctor::add(routes);
    tokens::add(routes);
    own_scope::add(routes);
    events::route::add(routes);
}
