//! Every order of the accesses of threads to guarded data.

use super::super::model::{check, spawn};
use super::super::writing;
use super::*;
use alloc::sync::Arc;

fn add(guarded: &ConditionalLock<[u8; 64]>) {
    let mut value = guarded.lock();
    writing(value.as_ptr(), 1);
    value[0] += 1;
}

#[test]
fn one_at_a_time() {
    check(|| {
        raise_threads();
        let guarded = Arc::new(ConditionalLock::new([0; 64]));
        let other = spawn({
            let guarded = guarded.clone();
            move || add(&guarded)
        });
        if let Some(mut value) = guarded.try_lock() {
            writing(value.as_ptr(), 1);
            value[0] += 1;
        } else {
            add(&guarded);
        }
        other.join().unwrap();
        assert_eq!(guarded.lock()[0], 2);
    });
}
