//! The whole program, in a scratch home, with the real `claude` against a scripted model.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]

mod annotate;
mod archive;
mod background_jobs;
mod blame;
mod cost;
mod crash;
mod cron;
mod day;
mod demo;
mod desk;
mod diff;
mod doctor;
mod earlier_state;
mod eval;
mod first_run;
mod fork;
mod handoff;
mod heal;
mod hidden;
mod hooks;
mod installations;
mod list;
mod lost;
mod many_blocks;
mod memory;
mod odd_files;
mod openclaw;
mod openclaw_sqlite;
mod outputs;
mod pick;
mod pick_as_of;
mod picker;
mod prompts;
mod reports;
mod resolve;
mod resume;
mod resume_refusals;
mod resume_warnings;
mod run;
mod run_agent;
mod run_holders;
mod run_label;
mod run_worktree;
mod scaling;
mod schemas;
mod search;
mod search_freshness;
mod search_quality;
mod secrets;
mod serving;
mod shells;
mod show;
mod show_parts;
mod status;
mod statusline;
mod store;
mod watch;
mod widths;
