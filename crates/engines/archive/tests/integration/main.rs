//! The archive on a real disk: copied, restored, moved, interrupted.

mod archive;
mod faults;
mod forms;
mod relocate;
mod two_days;
