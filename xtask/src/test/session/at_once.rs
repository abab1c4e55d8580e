//! Tests that wait for deadlines of theirs most of the time, a few at once.

use crate::failure::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Does the work for each item, `most` at once; each outcome goes to `done` with the time that it took, in the order in which they end.
pub fn each<T: Sync, O: Send>(
    items: &[T],
    most: usize,
    work: impl Fn(&T) -> O + Sync,
    mut done: impl FnMut(&T, Duration, O) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..most.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let outcome = work(item);
                    // After a failure of `done` nobody receives.
                    let _ = sender.send((item, start.elapsed(), outcome));
                }
            });
        }
        drop(sender);
        receiver.iter().try_for_each(|(item, time, outcome)| done(item, time, outcome))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn each_item_once_and_several_at_the_same_time() {
        let (meet, mut done) = (Barrier::new(3), Vec::new());
        each(
            &[0, 1, 2, 3, 4, 5],
            3,
            |item| {
                meet.wait();
                item * item
            },
            |item, _, square| {
                done.push((*item, square));
                Ok(())
            },
        )
        .unwrap();
        done.sort_unstable();
        assert_eq!(done, [0, 1, 2, 3, 4, 5].map(|item| (item, item * item)));
    }
}
