//! Backstory over HTTP: our API, the event stream, and the routes that CrewHub's front end calls.
//!
//! Only this crate and `mcp` know an async runtime. It decides nothing: a request is checked, becomes one call of a
//! function of `app` on a thread that may block, and its answer is written as JSON.

mod api;
mod background;
mod chat;
mod connection;
mod connection_table;
mod crewhub;
mod encoding;
mod etag;
mod events;
mod extract;
mod folder;
mod front;
mod health;
mod lease;
mod listener;
mod marks;
mod notice;
mod openapi;
mod operation;
mod page;
mod problem;
mod reference;
mod refusals;
mod reports;
mod router;
mod routes;
mod security;
mod server;
mod shares;
mod sockets;
mod stall;
mod state;
mod tls;

pub use background::Exporter;
pub use notice::{Notice, Reporter};
pub use router::document;
pub use security::tokens::{NewToken, TokenInfo, TokenScope, Tokens};
pub use server::{Options, link, serve};
pub use tls::Certificate;
