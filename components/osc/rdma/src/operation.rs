//! Operations of the transport that are under way.

use alloc::boxed::Box;
use alloc::sync::Arc;
use opal_core::sync::{AtomicBool, AtomicU64, Ordering};
use opal_core::{Result, wait};

/// What is under way to one process.
#[derive(Default)]
pub struct Flow {
    under_way: AtomicU64,
    has_failed: AtomicBool,
}

impl Flow {
    /// Whether everything is complete.
    pub fn is_over(&self) -> bool {
        self.under_way.load(Ordering::SeqCst) == 0
    }

    /// Whether something has failed since the last call.
    pub fn take_failure(&self) -> bool {
        self.has_failed.swap(false, Ordering::Relaxed)
    }
}

/// One access, or one word: perhaps several operations of the transport.
pub struct Operation {
    flow: Arc<Flow>,
    left: AtomicU64,
    has_failed: AtomicBool,
    found: AtomicU64,
    /// Memory that it uses, if it is not the program's.
    _scratch: Option<Box<dyn Send + Sync>>,
}

impl Operation {
    /// Of which nothing was begun.
    pub fn new(flow: &Arc<Flow>, scratch: Option<Box<dyn Send + Sync>>) -> Arc<Operation> {
        Arc::new(Operation {
            flow: flow.clone(),
            left: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            found: AtomicU64::new(0),
            _scratch: scratch,
        })
    }

    /// Whether all that was begun is complete.
    pub fn is_over(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    /// What the atomic operation found; `None` if something has failed.
    pub fn found(&self) -> Option<u64> {
        (!self.has_failed.load(Ordering::Relaxed)).then(|| self.found.load(Ordering::Relaxed))
    }

    /// One more operation of the transport begins.
    pub fn begins(&self) {
        self.left.fetch_add(1, Ordering::SeqCst);
        self.flow.under_way.fetch_add(1, Ordering::SeqCst);
    }

    /// It did not.
    pub fn begins_not(&self) {
        self.left.fetch_sub(1, Ordering::SeqCst);
        self.flow.under_way.fetch_sub(1, Ordering::SeqCst);
    }

    /// One has ended.
    pub fn ends(&self, ended: Result<u64>) {
        match ended {
            Ok(found) => self.found.store(found, Ordering::Relaxed),
            Err(_) => {
                self.has_failed.store(true, Ordering::Relaxed);
                self.flow.has_failed.store(true, Ordering::Relaxed);
            }
        }
        // SeqCst, as threads want it that may sleep; the stores above come before.
        self.begins_not();
        wait::wake_threads();
    }
}
