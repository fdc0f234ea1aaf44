//! Proves the harness with the real programs: one binary for all of it.

mod claude;
mod home;
mod house;
mod model_server;
mod transcript;
