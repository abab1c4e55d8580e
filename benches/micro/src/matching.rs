//! pml/ob1's matching.

use crate::ob1::{Matcher, Tag};
use core::hint::black_box;
use criterion::{BatchSize, Criterion};

/// Post, arrive, enqueue, take, with and without others in the way.
pub fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("matching");
    for others in [0, 100, 10_000] {
        group.bench_function(format!("post and arrive behind {others} posted"), |bencher| {
            let mut matcher = Matcher::<u64, u64>::new(2);
            for tag in 0..others {
                matcher.post(Some(1), Tag::only(1000 + tag), 0);
            }
            bencher.iter(|| {
                matcher.post(Some(1), Tag::only(black_box(7)), 1);
                matcher.arrive(1, black_box(7)).expect("it was posted")
            });
        });
        group.bench_function(format!("enqueue and take behind {others} unexpected"), |bencher| {
            let mut matcher = Matcher::<u64, u64>::new(2);
            for tag in 0..others {
                matcher.enqueue(1, 1000 + tag, 0);
            }
            bencher.iter(|| {
                matcher.enqueue(1, black_box(7), 1);
                matcher.take(Some(1), Tag::only(black_box(7))).expect("it was kept")
            });
        });
    }
    group.bench_function("wildcards: post any and arrive", |bencher| {
        let mut matcher = Matcher::<u64, u64>::new(64);
        bencher.iter(|| {
            matcher.post(None, Tag::ANY, 1);
            matcher.arrive(black_box(63), black_box(7)).expect("it was posted")
        });
    });
    group.bench_function("a new communicator of 1024", |bencher| {
        bencher.iter_batched(|| (), |()| Matcher::<u64, u64>::new(black_box(1024)), BatchSize::SmallInput);
    });
    group.finish();
}
