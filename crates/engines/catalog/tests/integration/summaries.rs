//! Summaries that old versions of Claude Code wrote into another session's transcript.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

use catalog::{Detail, Locations, read};
use testkit::transcript::Transcript;
use transcript::ConfigFolder;

fn titles(places: &Locations) -> Vec<Option<String>> {
    let mut sessions: Vec<_> =
        read(places, Detail::Facts, |_| true).sessions.into_iter().map(|entry| entry.session).collect();
    sessions.sort_by(|one, other| one.id.cmp(&other.id));
    sessions.into_iter().map(|session| session.title.map(|title| title.to_string())).collect()
}

#[test]
fn a_summary_is_the_title_of_the_session_whose_record_it_names() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("projects/-p");
    std::fs::create_dir_all(&folder).unwrap();
    let greeting = Transcript::new("s1").prompt("hi").answer("Hello.");
    let leaf = greeting.last_uuid().unwrap();
    let named = Transcript::new("s2").prompt("hi").answer("Hello.").ai_title("A title of its own");
    let other = named.last_uuid().unwrap();
    greeting.write_in(&folder);
    named.write_in(&folder);
    Transcript::new("s3")
        .summary_of(&leaf, "Router telemetry audit")
        .summary_of(&other, "Something else")
        .prompt("Mend the parser")
        .answer("Done.")
        .write_in(&folder);
    let places = Locations {
        config_folders: vec![ConfigFolder::new(scratch.path())],
        cache: Some(scratch.path().join("cache/catalog.sqlite")),
        threads: 2,
        ..Locations::default()
    };
    let expected = [Some("Router telemetry audit"), Some("A title of its own"), Some("Mend the parser")];
    assert_eq!(titles(&places), expected.map(|title| title.map(str::to_owned)));
    // The session alone is read again.
    greeting.prompt("and then?").write_in(&folder);
    assert_eq!(titles(&places)[0].as_deref(), expected[0]);
}
