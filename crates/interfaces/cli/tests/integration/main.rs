//! The whole program, in a scratch home, with the real `claude` against a scripted model.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails the test that called it"
)]

mod annotating;
mod background_jobs;
mod before_resuming;
mod blaming;
mod changing;
mod choosing;
mod continuing;
mod crashing;
mod cron;
mod desk;
mod doctor;
mod earlier;
mod evaluating;
mod floor;
mod freshness;
mod growth;
mod handing_over;
mod healing;
mod hidden;
mod hits;
mod holding;
mod hooking;
mod keeping;
mod labelling;
mod many_blocks;
mod memory;
mod naming;
mod odd_files;
mod openclaw;
mod outputs;
mod picking;
mod printing;
mod reading;
mod refusals;
mod registering;
mod replaying;
mod running;
mod schemas;
mod secrets;
mod serving;
mod shells;
mod smart_fork;
mod spending;
mod status;
mod status_line;
mod storing;
mod telling;
mod unread;
mod watching;
mod widths;
mod worktrees;
