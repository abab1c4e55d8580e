//! Every order in which one thread completes a request while another one is about to sleep for it.

use super::*;
use crate::sync::model::{check, set_model_waker, spawn};
use crate::sync::{AtomicBool, raise_threads};
use alloc::sync::Arc;

#[test]
fn nobody_sleeps_through_another_threads_completion() {
    check(|| {
        raise_threads();
        set_model_waker();
        let complete = Arc::new(AtomicBool::new(false));
        let other = spawn({
            let complete = complete.clone();
            move || {
                complete.swap(true, Ordering::SeqCst);
                wake_threads();
            }
        });
        until(|| complete.load(Ordering::Acquire)).unwrap();
        other.join().unwrap();
    });
}
