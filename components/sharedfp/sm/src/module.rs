//! The word.
//!
//! Every access is relaxed: the pointer says who gets which part of the file, and orders nothing else.

use ompi_core::error::Result;
use ompi_core::framework::sharedfp::Module;
use ompi_core::shared_pool::{self, Shared};
use opal_core::sync::{AtomicU64, Ordering};

/// In the shared pool of rank 0.
pub struct InPool {
    /// The part of the pool.
    pub shared: Shared,
    /// At rank 0: its offset in this process's own pool.
    pub taken_at: Option<usize>,
}

impl Module for InPool {
    fn advance(&self, by: u64) -> Result<u64> {
        Ok(self.shared.word(0).fetch_add(by, Ordering::Relaxed))
    }

    fn set(&self, to: u64) -> Result<()> {
        self.shared.word(0).store(to, Ordering::Relaxed);
        Ok(())
    }

    fn get(&self) -> Result<u64> {
        Ok(self.shared.word(0).load(Ordering::Relaxed))
    }
}

impl Drop for InPool {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `ompi_core::shared_pool::take`.
        self.shared.word(DETACH_COUNT).fetch_add(1, Ordering::Release);
        if let Some(offset) = self.taken_at {
            shared_pool::give_back(offset);
        }
    }
}

/// Where the count of those who have left lies.
pub const DETACH_COUNT: usize = 64;

/// Of a file that one process has opened.
pub struct Alone(pub AtomicU64);

impl Module for Alone {
    fn advance(&self, by: u64) -> Result<u64> {
        Ok(self.0.fetch_add(by, Ordering::Relaxed))
    }

    fn set(&self, to: u64) -> Result<()> {
        self.0.store(to, Ordering::Relaxed);
        Ok(())
    }

    fn get(&self) -> Result<u64> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}
