//! Backstory over HTTP: our API, the event stream, and the routes that CrewHub's front end calls.
//!
//! Only this crate and `mcp` know an async runtime. It decides nothing: a request is checked, becomes one call of a
//! function of `app` on a thread that may block, and its answer is written as JSON.

mod api;
mod background;
mod chat;
mod connection;
mod crew;
mod etag;
mod events;
mod extract;
mod folder;
mod front;
mod health;
mod lease;
mod openapi;
mod problem;
mod routes;
mod security;
mod server;
mod stall;
mod state;

pub use openapi::document;
pub use security::tokens::{NewToken, Scope, TokenInfo, Tokens};
pub use server::{Notice, Options, Reporter, serve};
