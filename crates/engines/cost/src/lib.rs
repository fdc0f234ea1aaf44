//! The cost of sessions: every API message counted once, for the session it belongs to, and its price.
//!
//! Pure: messages, totals and a time zone in, rows out. Reading transcripts is left to others.

mod cli_total;
mod ledger;
mod lineage;
mod name;
mod price;
mod spending;
mod totals;
mod windows;

pub use ledger::{CountedMessage, LedgerRow, Period, RULES_VERSION, RowDetail, Spender, ledger, messages};
pub use name::plain_model;
pub use price::{InvalidPrice, OwnPrice, Prices, prices_as_of};
pub use spending::SessionSpending;
pub use totals::{Total, totals_by};
pub use windows::{UsageWindow, WindowProjection, windows};
