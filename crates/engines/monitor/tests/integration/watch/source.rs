//! The system's events: refused, lost, or of a folder that is another one now.

use std::fs;

use super::{WatchedFolder, append, prompt, prompts};

#[test]
fn a_refused_event_source_is_reported_and_replaced_by_polling() {
    let folder = WatchedFolder::new(false);
    let mut subscriber = folder.listen();
    let watching = subscriber.snapshot().watching.unwrap();
    assert!(!watching.events && watching.reason.is_some());
    folder.write("-p/s1.jsonl", &prompt(1));
    subscriber.until_prompt(1);
}

#[test]
fn a_replaced_folder_is_watched_again() {
    let folder = WatchedFolder::by_events_alone();
    let path = folder.write("-p/s1.jsonl", &prompts(1..3));
    let mut subscriber = folder.listen();
    append(&path, &prompt(3));
    subscriber.until_prompt(3);
    // Taken away and made again before anybody could look.
    let project = path.parent().unwrap();
    fs::remove_dir_all(project).unwrap();
    folder.write("-p/s1.jsonl", &prompts(1..5));
    subscriber.until_prompt(4);
    append(&path, &prompt(5));
    subscriber.until_prompt(5);
    // Another one takes its place.
    let other = folder.write("-other/s2.jsonl", &prompts(10..12)).parent().unwrap().to_owned();
    subscriber.until_prompt(11);
    fs::rename(project, folder.file("-gone")).unwrap();
    fs::rename(other, project).unwrap();
    append(&folder.file("-p/s2.jsonl"), &prompt(12));
    subscriber.until_prompt(12);
    append(&folder.file("-gone/s1.jsonl"), &prompt(6));
    subscriber.until_prompt(6);
    assert_eq!(subscriber.prompts(), [3, 4, 5, 10, 11, 12, 6]);
}
