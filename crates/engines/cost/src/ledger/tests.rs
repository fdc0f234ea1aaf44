//! The ledger on histories small enough to add up by hand, and on shuffled ones.

use std::time::Instant;

use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::totals_by;

const OPUS: &str = "claude-opus-5-5";
const NOON: i64 = 1_780_315_200; // 2026-06-01T12:00:00Z
const HOUR: i64 = 3_600;

/// A session's files, owned.
#[derive(Debug, Clone)]
struct Files {
    id: &'static str,
    forked_from: &'static str,
    started: i64,
    messages: Vec<MessageUsage>,
    cost_state: Option<CostState>,
    earlier_totals: Vec<CostState>,
}

impl Files {
    fn new(id: &'static str, messages: &[MessageUsage]) -> Self {
        Self {
            id,
            forked_from: "",
            started: NOON,
            messages: messages.to_vec(),
            cost_state: None,
            earlier_totals: Vec::new(),
        }
    }

    fn fork_of(self, forked_from: &'static str) -> Self {
        Self { forked_from, ..self }
    }

    fn at(self, started: i64) -> Self {
        Self { started, ..self }
    }

    /// The CLI's total: dollars, and output tokens of one model; one that was set before was written before.
    fn total(mut self, dollars: f64, model: &str, output: u64) -> Self {
        let usage = Usage { output, ..Usage::default() };
        let models = vec![(model.to_owned(), usage)];
        self.earlier_totals.extend(self.cost_state.take());
        Self { cost_state: Some(CostState { at: None, total_cost_usd: dollars, models }), ..self }
    }

    /// The total was written at noon.
    fn written_at_noon(mut self) -> Self {
        let noon = Timestamp::from_second(NOON).ok();
        self.cost_state.iter_mut().for_each(|total| total.at = noon);
        self
    }
}

/// A message of one model with this many output tokens.
fn said(key: u64, output: u64) -> MessageUsage {
    MessageUsage {
        key,
        message: key,
        model: OPUS.to_owned(),
        at: Timestamp::from_second(NOON).ok(),
        by_record: false,
        usage: Usage { output, ..Usage::default() },
        requests: Vec::new(),
        terms: model::PricingTerms::default(),
        copied: false,
        subagent: false,
    }
}

fn copied(key: u64, output: u64) -> MessageUsage {
    MessageUsage { copied: true, ..said(key, output) }
}

fn fold(files: &[Files]) -> Vec<LedgerRow> {
    let sessions: Vec<_> = files
        .iter()
        .map(|files| SessionSpending {
            session: files.id.parse().unwrap(),
            forked_from: files.forked_from.parse().ok(),
            started: Timestamp::from_second(files.started).ok(),
            messages: &files.messages,
            subagents: &[],
            cost_state: files.cost_state.as_ref(),
            earlier_totals: &files.earlier_totals,
        })
        .collect();
    ledger(&sessions, &TimeZone::UTC, &Prices::default(), RowDetail::Day, Period::ALWAYS)
}

/// One line for each row: `session output millionths-of-a-dollar`, `+` before what is unattributed.
fn check(files: &[Files], expected: &[&str]) {
    let rows = fold(files);
    let lines: Vec<_> = rows
        .iter()
        .map(|row| {
            let mark = if row.attributed { "" } else { "+" };
            let cost = row.cost.map_or("?".to_owned(), |cost| format!("{:.0}", cost * 1e6));
            format!("{mark}{} {} {cost}", row.session, row.usage.output)
        })
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_message_counts_once_with_its_largest_counters() {
    check(&[Files::new("a", &[said(1, 1), said(1, 94), said(1, 1)])], &["a 94 1880"]);
    check(&[Files::new("a", &[said(1, 10), said(2, 5)])], &["a 15 300"]);
    check(
        &[Files::new("a", &[said(1, 10)]), Files::new("b", &[copied(1, 12), said(2, 1)])],
        &["a 12 240", "b 1 20"],
    );
    check(&[Files::new("a", &[])], &[]);
    check(&[], &[]);
}

#[test]
fn a_message_belongs_to_the_session_that_had_it_first() {
    // A mark on the line decides, even against the start.
    check(&[Files::new("a", &[copied(1, 9)]).at(0), Files::new("b", &[said(1, 9)])], &["b 9 180"]);
    // Without marks the parent, then the earlier start, then the name.
    check(&[Files::new("a", &[said(1, 9)]).fork_of("b").at(0), Files::new("b", &[said(1, 9)])], &["b 9 180"]);
    check(&[Files::new("a", &[said(1, 9)]), Files::new("b", &[said(1, 9)]).at(0)], &["b 9 180"]);
    check(&[Files::new("b", &[said(1, 9)]), Files::new("a", &[said(1, 9)])], &["a 9 180"]);
    // The parent's file is gone: its forks hold what is left of it, once.
    let orphans =
        [Files::new("a", &[copied(1, 9)]).fork_of("x"), Files::new("b", &[copied(1, 9)]).fork_of("x").at(0)];
    check(&orphans, &["b 9 180"]);
}

#[test]
fn a_row_is_a_local_day_a_model_and_a_price() {
    let late = MessageUsage { at: Timestamp::from_second(NOON + 11 * HOUR).ok(), ..said(2, 2) };
    let timeless = MessageUsage { at: None, ..said(3, 3) };
    let dated = MessageUsage { model: "claude-haiku-4-5-20251001".to_owned(), ..said(4, 4) };
    let unknown = MessageUsage { model: "claude-opus-9".to_owned(), ..said(5, 5) };
    let free = MessageUsage { model: "<synthetic>".to_owned(), ..said(6, 6) };
    let fast = MessageUsage {
        terms: model::PricingTerms { fast: true, ..model::PricingTerms::default() },
        ..dated.clone()
    };
    let fast = MessageUsage { key: 7, message: 7, ..fast };
    let files = Files::new("a", &[said(1, 1), late, timeless, dated, unknown, free, fast]);
    let sessions = [SessionSpending {
        session: "a".parse().unwrap(),
        forked_from: None,
        started: Timestamp::from_second(NOON - 24 * HOUR).ok(),
        messages: &files.messages,
        subagents: &[],
        cost_state: None,
        earlier_totals: &[],
    }];
    let zone = TimeZone::fixed(jiff::tz::offset(2));
    let rows = ledger(&sessions, &zone, &Prices::default(), RowDetail::Day, Period::ALWAYS);
    let found: Vec<_> =
        rows.iter().map(|row| (row.day, row.model.as_str(), row.usage.output, row.cost.is_some())).collect();
    let june = |day| Some(date(2026, 6, day));
    let expected = [
        (Some(date(2026, 5, 31)), OPUS, 3, true),
        (june(1), "claude-haiku-4-5", 4, true),
        (june(1), "claude-haiku-4-5", 4, false),
        (june(1), OPUS, 1, true),
        (june(1), "claude-opus-9", 5, false),
        (june(2), OPUS, 2, true),
    ];
    assert_eq!(found, expected);
}

#[test]
fn cli_cost_beyond_the_transcript_is_unattributed() {
    let own = Files::new("a", &[said(1, 10)]);
    check(&[own.clone().total(0.0002, OPUS, 10)], &["a 10 200"]);
    check(&[own.clone().total(0.0005, OPUS, 25)], &["a 10 200", "+a 15 300"]);
    // The same model under a longer name is no excess.
    check(&[own.clone().total(0.0002, "claude-opus-5-5[1m]", 10)], &["a 10 200"]);
    // The CLI's money counts, not the table's.
    check(&[own.clone().total(0.0009, OPUS, 25)], &["a 10 200", "+a 15 700"]);
    check(&[own.clone().total(0.0009, OPUS, 10)], &["a 10 200", "+a 0 700"]);
    // A total that is less than the transcript takes nothing away.
    check(&[own.clone().total(0.0001, OPUS, 5)], &["a 10 200"]);
    check(&[own.total(0.0004, "claude-haiku-4-5", 7)], &["a 10 200", "+a 7 200"]);
    check(&[Files::new("a", &[]).total(0.0001, OPUS, 5)], &["+a 5 100"]);
}

#[test]
fn rows_can_be_split_by_hour_or_by_agent() {
    let later = MessageUsage { at: Timestamp::from_second(NOON + 3 * HOUR).ok(), ..said(2, 2) };
    let of_subagent = |key, output| MessageUsage { subagent: true, ..said(key, output) };
    let messages =
        [said(1, 1), later, of_subagent(3, 4), of_subagent(4, 8), of_subagent(5, 16), of_subagent(6, 32)];
    let files = Files::new("a", &messages).total(1.0, OPUS, 100);
    let subagent = |messages, kind: Option<&str>| SubagentMessages { messages, kind: kind.map(Into::into) };
    let subagents = [subagent(2..3, Some("Explore")), subagent(3..4, None), subagent(4..5, Some("Explore"))];
    let sessions = [SessionSpending {
        session: "a".parse().unwrap(),
        forked_from: None,
        started: None,
        messages: &files.messages,
        subagents: &subagents,
        cost_state: files.cost_state.as_ref(),
        earlier_totals: &[],
    }];
    let rows = |detail| ledger(&sessions, &TimeZone::UTC, &Prices::default(), detail, Period::ALWAYS);
    let by_hour: Vec<_> = rows(RowDetail::Hour).iter().map(|row| (row.hour, row.usage.output)).collect();
    assert_eq!(by_hour, [(Some(12), 61), (Some(15), 2), (None, 37)]);
    let by_agent = rows(RowDetail::Agent);
    let by_agent: Vec<_> =
        by_agent.iter().map(|row| (row.spender.clone(), row.attributed, row.usage.output)).collect();
    let explore = Spender::Subagent(Some("Explore".to_owned()));
    let expected = [
        (Spender::Session, true, 3),
        (Spender::Subagent(None), true, 40),
        (explore, true, 20),
        (Spender::Session, false, 37),
    ];
    assert_eq!(by_agent, expected);
}

#[test]
fn a_period_holds_its_messages_and_the_rest_of_sessions_that_end_in_it() {
    let at = |hour| Timestamp::from_second(NOON + hour * HOUR).ok();
    let later = MessageUsage { at: at(3), ..said(2, 2) };
    let files = Files::new("a", &[said(1, 1), later]).total(1.0, OPUS, 100);
    let sessions = [SessionSpending {
        session: "a".parse().unwrap(),
        forked_from: None,
        started: None,
        messages: &files.messages,
        subagents: &[],
        cost_state: files.cost_state.as_ref(),
        earlier_totals: &[],
    }];
    let check = |begin: Option<Timestamp>, end: Option<Timestamp>, expected: &[u64]| {
        let period = Period { begin, end };
        let rows = ledger(&sessions, &TimeZone::UTC, &Prices::default(), RowDetail::Hour, period);
        assert_eq!(rows.iter().map(|row| row.usage.output).collect::<Vec<_>>(), expected, "{period:?}");
    };
    check(None, None, &[1, 2, 97]);
    check(at(1), None, &[2, 97]);
    check(at(3), None, &[2, 97]);
    check(at(4), None, &[]);
    check(None, at(3), &[1]);
    check(at(0), at(1), &[1]);
}

#[test]
fn own_prices_replace_the_cost_of_the_cli() {
    let files = Files::new("a", &[said(1, 10)]).total(0.0009, OPUS, 25);
    let sessions = [SessionSpending {
        session: "a".parse().unwrap(),
        forked_from: None,
        started: None,
        messages: &files.messages,
        subagents: &[],
        cost_state: files.cost_state.as_ref(),
        earlier_totals: &[],
    }];
    let mut prices = Prices::default();
    prices.set(OPUS, crate::OwnPrice { output: Some(2.0), ..crate::OwnPrice::default() }).unwrap();
    let rows = ledger(&sessions, &TimeZone::UTC, &prices, RowDetail::Day, Period::ALWAYS);
    let millionths: Vec<_> = rows.iter().map(|row| (row.cost.unwrap() * 1e6).round()).collect();
    assert_eq!(millionths, [20.0, 30.0]);
}

#[test]
fn messages_are_counted_once_with_their_time() {
    let files = [Files::new("a", &[said(1, 10)]), Files::new("b", &[copied(1, 12), said(2, 1)]).fork_of("a")];
    let sessions: Vec<_> = files
        .iter()
        .map(|files| SessionSpending {
            session: files.id.parse().unwrap(),
            forked_from: files.forked_from.parse().ok(),
            started: None,
            messages: &files.messages,
            subagents: &[],
            cost_state: None,
            earlier_totals: &[],
        })
        .collect();
    let prices = Prices::default();
    let found = messages(&sessions, &prices);
    let found: Vec<_> = found.iter().map(|one| (one.session.as_str(), one.usage.output)).collect();
    assert_eq!(found, [("a", 12), ("b", 1)]);
}

#[test]
fn a_fork_does_not_count_its_parent_again() {
    let parent = Files::new("a", &[said(1, 10)]);
    let fork = Files::new("b", &[copied(1, 10), said(2, 6)]).fork_of("a");
    // A printed fork's total continues its parent's, …
    check(&[parent.clone(), fork.clone().total(0.00032, OPUS, 16)], &["a 10 200", "b 6 120"]);
    check(&[parent.clone(), fork.clone().total(0.0004, OPUS, 20)], &["a 10 200", "b 6 120", "+b 4 80"]);
    // … with the parent's own titles and compactions, …
    let titled = parent.clone().total(0.0003, OPUS, 15);
    check(&[titled.clone(), fork.clone().total(0.00042, OPUS, 21)], &["a 10 200", "+a 5 100", "b 6 120"]);
    check(
        &[titled.clone(), fork.clone().total(0.00052, OPUS, 26)],
        &["a 10 200", "+a 5 100", "b 6 120", "+b 5 100"],
    );
    // … also when the copy holds nothing of what came before a compaction.
    let compacted = Files::new("b", &[said(2, 6)]).fork_of("a").total(0.00042, OPUS, 21);
    check(&[titled.clone(), compacted], &["a 10 200", "+a 5 100", "b 6 120"]);
    // A branch's total begins at zero.
    check(&[parent, fork.clone().total(0.00016, OPUS, 8)], &["a 10 200", "b 6 120", "+b 2 40"]);
    check(&[titled, fork.total(0.00012, OPUS, 6)], &["a 10 200", "+a 5 100", "b 6 120"]);
}

/// A message of this id and request; without one it is 0.
fn requested(id: u64, request: u64, output: u64) -> MessageUsage {
    MessageUsage { key: id + request, message: id, ..said(0, output) }
}

#[test]
fn a_copy_without_a_request_id_is_recognized_by_its_message_id() {
    let original = Files::new("a", &[requested(100, 7, 94)]);
    let copy = Files::new("b", &[requested(100, 0, 90), requested(200, 8, 12)]).fork_of("a");
    check(&[original.clone(), copy.clone()], &["a 94 1880", "b 12 240"]);
    // Copies of copies, and no original.
    let again = Files::new("c", &[requested(100, 0, 94), requested(300, 9, 1)]).fork_of("b");
    check(&[original, copy.clone(), again.clone()], &["a 94 1880", "b 12 240", "c 1 20"]);
    check(&[copy, again], &["b 106 2120", "c 1 20"]);
    // An id under two requests is two messages.
    let twice = [requested(100, 7, 10), requested(100, 8, 5)];
    check(&[Files::new("a", &twice)], &["a 15 300"]);
    let with_copy = Files::new("b", &[requested(100, 0, 10)]).at(NOON + 1);
    check(&[Files::new("a", &twice), with_copy], &["a 15 300"]);
}

#[test]
fn a_fork_of_an_open_session_continues_from_the_written_total() {
    // The parent was resumed after 10 had been written, said 6 more and is open still: the fork copies all 16.
    let parent = Files::new("a", &[said(1, 10), said(2, 6)]).total(0.0002, OPUS, 10);
    let fork = Files::new("b", &[copied(1, 10), copied(2, 6), said(3, 4)]).fork_of("a");
    let fork = fork.total(0.00028, OPUS, 14);
    check(&[parent.clone(), fork.clone()], &["a 16 320", "b 4 80"]);
    // Later the parent ends, and writes the rest.
    check(&[parent.clone().total(0.00032, OPUS, 16), fork.clone()], &["a 16 320", "b 4 80"]);
    check(&[parent.total(0.00042, OPUS, 21), fork], &["a 16 320", "+a 5 100", "b 4 80"]);
}

#[test]
fn messages_after_a_total_are_added_to_it() {
    let later = MessageUsage { at: Timestamp::from_second(NOON + HOUR).ok(), ..said(2, 6) };
    let open = Files::new("a", &[said(1, 10), later.clone()]).total(0.0003, OPUS, 15).written_at_noon();
    check(std::slice::from_ref(&open), &["a 16 320", "+a 5 100"]);
    check(&[open.total(0.00042, OPUS, 21)], &["a 16 320", "+a 5 100"]);
    // A sub-agent's file, or a copy, says when it was.
    let subagent = MessageUsage { subagent: true, ..later };
    let open = Files::new("a", &[said(1, 10), subagent]).total(0.0002, OPUS, 10).written_at_noon();
    check(&[open], &["a 16 320"]);
}

#[test]
fn unattributed_cost_counts_on_the_last_day() {
    let next = MessageUsage { at: Timestamp::from_second(NOON + 24 * HOUR).ok(), ..said(2, 1) };
    let rows = fold(&[Files::new("a", &[next, said(1, 1)]).total(1.0, OPUS, 50)]);
    let last = rows.last().unwrap();
    assert_eq!((last.attributed, last.day, last.usage.output), (false, Some(date(2026, 6, 2)), 48));
}

#[test]
fn thousands_of_sessions_fold_at_once() {
    let messages: Vec<Vec<MessageUsage>> = (0..4_000)
        .map(|session: u64| {
            (0..30).map(|n| said(session.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ n, n)).collect()
        })
        .collect();
    let sessions: Vec<_> = (0..)
        .zip(&messages)
        .map(|(at, messages)| SessionSpending {
            session: format!("s{at}").parse().unwrap(),
            forked_from: None,
            started: Timestamp::from_second(NOON + at).ok(),
            messages,
            subagents: &[],
            cost_state: None,
            earlier_totals: &[],
        })
        .collect();
    let start = Instant::now();
    assert_eq!(
        ledger(&sessions, &TimeZone::UTC, &Prices::default(), RowDetail::Day, Period::ALWAYS).len(),
        4_000
    );
    println!("120,000 messages in {:?}", start.elapsed());
}

fn histories() -> impl Strategy<Value = Vec<Files>> {
    let message = (
        0..12_u64,
        0..50_u64,
        any::<bool>(),
        0..3_i64,
        prop::sample::select(vec![OPUS, "claude-haiku-4-5", "new"]),
    )
        .prop_map(|(key, output, copied, day, model)| MessageUsage {
            copied,
            model: model.to_owned(),
            at: Timestamp::from_second(NOON + day * 24 * HOUR).ok(),
            ..said(key, output)
        });
    let message = (message, 0..3_u64).prop_map(|(message, request)| {
        let id = message.key;
        // Of an id there are copies without a request.
        MessageUsage { key: id + request * 100, message: id, ..message }
    });
    let total = prop::option::of((0..100_u64, 0..300_u64)).prop_map(|total| {
        total.map(|(dollars, output)| CostState {
            at: Timestamp::from_second(NOON + 24 * HOUR).ok().filter(|_| output % 2 == 0),
            total_cost_usd: dollars as f64 / 1e4,
            models: vec![(OPUS.to_owned(), Usage { output, ..Usage::default() })],
        })
    });
    let parent = prop::sample::select(vec!["", "a", "b", "c", "d", "x"]);
    let session = (prop::collection::vec(message, 0..8), parent, 0..3_i64, total);
    prop::collection::vec(session, 0..5).prop_map(|sessions| {
        let files = |(id, (messages, forked_from, started, cost_state))| Files {
            id,
            forked_from,
            started,
            messages,
            cost_state,
            earlier_totals: Vec::new(),
        };
        ["a", "b", "c", "d"].into_iter().zip(sessions).map(files).collect()
    })
}

proptest! {
    #[test]
    fn the_order_of_reading_makes_no_difference(
        (files, shuffled) in histories().prop_flat_map(|files| (Just(files.clone()), Just(files).prop_shuffle())),
    ) {
        prop_assert_eq!(fold(&files), fold(&shuffled));
    }

    #[test]
    fn the_order_of_lines_makes_no_difference(
        (files, shuffled) in histories().prop_flat_map(|files| {
            let messages: Vec<_> = files.iter().map(|files| Just(files.messages.clone()).prop_shuffle()).collect();
            (Just(files), messages)
        }),
    ) {
        let shuffled: Vec<_> =
            files.iter().cloned().zip(shuffled).map(|(files, messages)| Files { messages, ..files }).collect();
        prop_assert_eq!(fold(&files), fold(&shuffled));
    }

    #[test]
    fn every_grouping_has_the_same_sum(files in histories()) {
        let rows = fold(&files);
        let sum = |totals: Vec<crate::Total>| {
            let tokens = totals.iter().map(|total| total.usage.total()).sum::<u64>();
            let unpriced = totals.iter().map(|total| total.unpriced_tokens).sum::<u64>();
            let cost = totals.iter().filter_map(|total| total.cost).sum::<f64>();
            (tokens, unpriced, format!("{cost:.9}"))
        };
        let all = sum(totals_by(&rows, |_| ()).into_values().collect());
        prop_assert_eq!(&all, &sum(totals_by(&rows, |row| row.day).into_values().collect()));
        prop_assert_eq!(&all, &sum(totals_by(&rows, |row| row.model.clone()).into_values().collect()));
        prop_assert_eq!(&all, &sum(totals_by(&rows, |row| row.session.clone()).into_values().collect()));
        prop_assert_eq!(&all, &sum(totals_by(&rows, |row| row.session.as_str() < "c").into_values().collect()));
    }
}
