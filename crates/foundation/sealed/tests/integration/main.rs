//! Compressed copies on a real disk.

mod copies;
