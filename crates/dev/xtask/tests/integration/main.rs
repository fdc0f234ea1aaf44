//! What is written by the commands of xtask: the table, the weights of `pick`, and generated pages.

mod distil;
mod fit;
mod openapi;
mod redactions;
mod schema;
mod settings;
