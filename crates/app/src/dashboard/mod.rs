//! What the dashboard's pages ask for beside what every interface does: a row for each session, a session's blocks with
//! all that can be shown of them, its outline, words in it, its pictures, a day to replay, and spending to add up.

pub mod blocks;
pub mod day;
pub mod find;
pub mod outline;
pub mod picture;
pub mod rows;
pub mod spending;
