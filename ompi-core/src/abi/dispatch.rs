//! Dispatch slots: where C symbols jump to whose function depends on the PML that runs.

use opal_core::sync::{AtomicPtr, Ordering};

/// Where a C symbol jumps to: a function of its own type.
pub struct DispatchSlot(AtomicPtr<()>);

impl DispatchSlot {
    /// Leads to a function.
    pub const fn to(function: *const ()) -> DispatchSlot {
        DispatchSlot(AtomicPtr::new(function.cast_mut()))
    }

    /// The function that the symbol jumps to.
    #[inline(always)]
    pub fn get(&self) -> *const () {
        // Acquire pairs with the Release in `set`: the caller that jumps there sees what was made before.
        self.0.load(Ordering::Acquire)
    }

    /// Leads the symbol to a function of its type from now on.
    pub fn set(&self, function: *const ()) {
        self.0.store(function.cast_mut(), Ordering::Release);
    }
}
