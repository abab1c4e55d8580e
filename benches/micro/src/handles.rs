//! From a handle to its object.

use core::hint::black_box;
use criterion::Criterion;
use ompi_core::handle::HandleTable;
use std::sync::Arc;

/// Look-up of one, of many, of what is stale; a handle's life.
pub fn all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("handle");
    let table: HandleTable<u64> = HandleTable::new();
    let handles: Vec<usize> = (0..10_000).map(|value| table.insert(Arc::new(value)).expect("there is room")).collect();
    group.bench_function("borrow, always the same", |bencher| {
        bencher.iter(|| table.borrow(black_box(handles[17])).copied());
    });
    group.bench_function("borrow, 10,000 in turn", |bencher| {
        let mut index = 0;
        bencher.iter(|| {
            index = (index + 7919) % handles.len();
            table.borrow(black_box(handles[index])).copied()
        });
    });
    let stale = table.insert(Arc::new(1)).expect("there is room");
    table.remove(stale);
    group.bench_function("borrow of a stale one", |bencher| bencher.iter(|| table.borrow(black_box(stale)).copied()));
    group.bench_function("insert and remove", |bencher| {
        let object = Arc::new(7u64);
        bencher.iter(|| {
            let handle = table.insert(Arc::clone(&object)).expect("there is room");
            table.remove(black_box(handle)).is_some()
        });
    });
    group.finish();
}
