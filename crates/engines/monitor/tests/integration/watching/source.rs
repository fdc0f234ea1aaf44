//! The system's events: refused, lost, or of a folder that is another one now.

use std::fs;

use super::{Room, append, prompt, prompts};

#[test]
fn a_source_that_is_refused_is_said_and_covered() {
    let room = Room::new(false);
    let mut ear = room.listen();
    let watching = ear.snapshot().watching.unwrap();
    assert!(!watching.events && watching.reason.is_some());
    room.write("-p/s1.jsonl", &prompt(1));
    ear.until_prompt(1);
}

#[test]
fn a_folder_that_is_another_one_is_watched_anew() {
    let room = Room::by_events_alone();
    let path = room.write("-p/s1.jsonl", &prompts(1..3));
    let mut ear = room.listen();
    append(&path, &prompt(3));
    ear.until_prompt(3);
    // Taken away and made again before anybody could look.
    let folder = path.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    room.write("-p/s1.jsonl", &prompts(1..5));
    ear.until_prompt(4);
    append(&path, &prompt(5));
    ear.until_prompt(5);
    // Another one takes its place.
    let other = room.write("-other/s2.jsonl", &prompts(10..12)).parent().unwrap().to_owned();
    ear.until_prompt(11);
    fs::rename(folder, room.file("-gone")).unwrap();
    fs::rename(other, folder).unwrap();
    append(&room.file("-p/s2.jsonl"), &prompt(12));
    ear.until_prompt(12);
    append(&room.file("-gone/s1.jsonl"), &prompt(6));
    ear.until_prompt(6);
    assert_eq!(ear.prompts(), [3, 4, 5, 10, 11, 12, 6]);
}
