//! The catalog over files of Claude Code's: what is found, what it costs, and what it remembers.

mod lineage;
mod memory;
mod summaries;
mod work;
