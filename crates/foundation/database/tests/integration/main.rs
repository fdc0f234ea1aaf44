//! Databases on a real disk.

mod database;
