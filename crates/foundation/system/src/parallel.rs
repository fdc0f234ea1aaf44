//! The same work on many items, or two pieces of work at once, on a few threads.

use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does `work` on each item, on up to `threads` threads, and returns the results in the order of the items.
///
/// A thread that is free takes the next item, so items that an iterator takes long to produce are worked on while the
/// next ones are produced.
pub fn in_parallel<T, R: Send>(
    threads: usize,
    items: impl IntoIterator<Item = T, IntoIter: Send>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = items.into_iter().enumerate();
    let parts = fold_in_parallel(threads, items, Vec::new, |done, (at, item)| done.push((at, work(item))));
    let mut done: Vec<_> = parts.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Folds the items on up to `threads` threads, each with a state of its own that begins as `begin`, and returns the
/// states in any order: at least one, even where there are no items.
///
/// A thread that is free takes the next item, so none waits long for one that the system holds up.
pub fn fold_in_parallel<T, S: Send>(
    threads: usize,
    items: impl IntoIterator<Item = T, IntoIter: Send>,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) + Sync,
) -> Vec<S> {
    let items = items.into_iter();
    let threads = items.size_hint().1.map_or(threads, |most| threads.min(most));
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = || {
        let mut state = begin();
        while let Some(item) = next() {
            work(&mut state, item);
        }
        state
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut states = vec![take()];
        for other in others {
            states.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        states
    })
}

/// Runs two functions at once, the second on a thread of its own, and returns both results.
pub fn join<A, B: Send>(one: impl FnOnce() -> A, other: impl FnOnce() -> B + Send) -> (A, B) {
    thread::scope(|scope| {
        let other = scope.spawn(other);
        let one = one();
        (one, other.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_processed_once() {
        for threads in [0, 1, 2, 7] {
            let parts = fold_in_parallel(threads, 0..100, Vec::new, Vec::push);
            assert!(parts.len() <= threads.max(1), "{threads}");
            let mut taken: Vec<i32> = parts.into_iter().flatten().collect();
            taken.sort_unstable();
            assert_eq!(taken, (0..100).collect::<Vec<_>>(), "{threads}");
            assert_eq!(in_parallel(threads, 0..100, |item| item), taken, "in their order");
        }
        assert_eq!(fold_in_parallel(2, 0..0, || 1, |_, _| ()), [1], "one begins even where there is nothing");
    }

    #[test]
    fn two_functions_run_at_once() {
        let (sender, receiver) = std::sync::mpsc::channel();
        // Each waits for the other.
        let (back, answer) = std::sync::mpsc::channel();
        let first = || {
            sender.send(1).unwrap();
            answer.recv().unwrap()
        };
        let second = move || {
            back.send(2).unwrap();
            receiver.recv().unwrap()
        };
        assert_eq!(join(first, second), (2, 1));
    }

    #[test]
    #[should_panic(expected = "in the second")]
    fn a_panic_of_the_second_is_passed_on() {
        join(|| (), || panic!("in the second"));
    }
}
