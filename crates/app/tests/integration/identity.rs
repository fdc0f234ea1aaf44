//! What is one message, one record, one session and a fork, over histories that chance makes: docs/design/identity.md.
//!
//! A small model of what Claude Code, relays and people do writes the files and knows the true answer.

#![allow(clippy::unwrap_used, reason = "a scratch folder that cannot be made fails the test")]

mod world;

use std::path::Path;

use catalog::{CatalogEntry, Detail, Locations, read};
use cost::{Period, Prices, RowDetail, SessionSpending, ledger};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use transcript::{Chain, ConfigFolder, Reader, messages};

use world::{Step, World, a_step};

/// The output tokens of all sessions together, each message once.
fn spent(entries: &[CatalogEntry]) -> u64 {
    let spending = |entry: &CatalogEntry| (entry.session.id.clone(), entry.session.forked_from.clone());
    let sessions: Vec<_> = entries
        .iter()
        .map(|entry| {
            let (session, forked_from) = spending(entry);
            SessionSpending {
                session,
                forked_from: forked_from.map(|origin| origin.session_id),
                started: entry.session.created,
                messages: &entry.messages,
                subagents: &entry.subagent_messages,
                cost_state: None,
                earlier_totals: &[],
            }
        })
        .collect();
    let rows = ledger(&sessions, &TimeZone::UTC, &Prices::default(), RowDetail::Day, Period::ALWAYS);
    rows.iter().map(|row| row.usage.output).sum()
}

/// What is shown of a transcript's main chain, in order.
fn shown(file: &Path) -> Vec<String> {
    let chain = Chain::read(file).unwrap();
    let (mut reader, mut said) = (Reader::open(file).unwrap(), Vec::new());
    while let Some(line) = reader.next_line().unwrap() {
        let Ok(record) = line.record() else { continue };
        for message in messages(&record).filter(|message| chain.holds(message.uuid)) {
            said.extend(message.parts.iter().filter_map(|part| match part {
                transcript::Part::Text(text) => Some(text.to_string()),
                _ => None,
            }));
        }
    }
    said
}

fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let scratch = tempfile::tempdir().unwrap();
    let mut world = World::default();
    let places = Locations {
        config_folders: vec![ConfigFolder::new(scratch.path())],
        cache: Some(scratch.path().join("cache/catalog.sqlite")),
        threads: 1,
        ..Locations::default()
    };
    for (at, step) in steps.iter().enumerate() {
        world.take(step);
        // Now and then it is looked at in between: what was read before must make no difference.
        if at % 3 == 0 {
            world.write(scratch.path());
            read(&places, Detail::Spending, |_| true);
        }
    }
    world.write(scratch.path());
    let catalog = read(&places, Detail::Spending, |_| true);
    let truth = world.truth();
    prop_assert_eq!(spent(&catalog.sessions), truth.output_tokens, "tokens of {:#?}", steps);
    for CatalogEntry { session, .. } in &catalog.sessions {
        // The first records of an unmarked fork are those of all its ancestors: any of them may be named.
        let found = session.forked_from.as_ref().map(|origin| origin.session_id.as_str());
        let ancestors = truth.ancestors(session.id.as_str());
        let is_right = found.map_or(ancestors.is_empty(), |found| ancestors.iter().any(|one| one == found));
        // Of a session with two files only one gives the clues: forks of the other are then next to one another.
        let is_of_diverged = ancestors.first().is_some_and(|parent| truth.said[parent].len() > 1);
        prop_assert!(
            is_right || is_of_diverged,
            "{} is from {:?}, not of {:?}, in {:#?}",
            session.id,
            found,
            ancestors,
            steps
        );
    }
    for CatalogEntry { session, .. } in &catalog.sessions {
        let file = session.file.as_deref().unwrap();
        let mut files = vec![shown(file)];
        prop_assert_eq!(
            session.visible_messages,
            files[0].iter().filter(|text| !text.starts_with("The conversation was compacted")).count() as u64,
            "messages of {} in {:#?}",
            session.id,
            steps
        );
        files.extend(session.diverged.iter().map(|other| shown(other)));
        files.sort();
        let mut expected = truth.said[session.id.as_str()].clone();
        expected.sort();
        prop_assert_eq!(files, expected, "conversations of {} in {:#?}", session.id, steps);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::long::amount(60, 2_000)))]

    #[test]
    fn histories_have_the_answer_that_they_were_made_with(steps in prop::collection::vec(a_step(), 1..14)) {
        check(&steps)?;
    }
}
