//! Progress for programs that wait in a loop of MPI_Test or MPI_Iprobe: after many vain calls in a row they yield the core.
//!
//! Measured with hpcc 1.5.0, four ranks on two cores, order 2000. HPL calls MPI_Iprobe in its broadcasts: 0.034 Tflop/s, and
//! 0.0035 to 0.006 without yielding (Open MPI 5: 0.032). A yield after each vain call would slow programs down that look
//! between pieces of work: MPIRandomAccess then reaches 0.0008 Gup/s, as with Open MPI, instead of 0.009. With a yield after
//! 256 vain calls it reaches 0.012, and HPL 0.027 to 0.032.
//!
//! Ranks that seem to have a core each may still share it with processes that they know nothing of: another job, or another container that
//! plays a node. So they yield, too, after many more calls. Measured with `rma_polling` on two such nodes of two ranks each, on two cores
//! with other work: the token went round in 12 to 45 ms, and goes round in 3. Where the ranks know each other it takes 0.05 to 0.2.
//! Where such yields take long one after the other, the core is shared, and the rank moves to another one (`wait/patience.rs`).

use super::may_spin;
use super::patience::PATIENCE;
use crate::sync::{AtomicU32, Ordering};
use crate::{progress, sys};

/// One pass of progress for a call that waits for nothing (MPI_Test, MPI_Iprobe). With more ranks than cores, a process
/// that calls it again and again in vain gives its core up now and then: what it looks for may come from a rank that
/// needs it. Without that each exchange takes as long as the system lets a process run, some milliseconds. Returns
/// whether anything moved.
pub fn polled_progress() -> bool {
    if progress::pass() > 0 {
        EMPTY_POLLS.store(0, Ordering::Relaxed);
        return true;
    }
    polled_memory();
    false
}

/// For a call that looks at memory which other processes change, and may be one of a loop that waits for that: a get or a lock of
/// one-sided communication. As [`polled_progress`], but without a pass of progress for each call.
#[inline]
pub fn polled_memory() {
    // Relaxed: where threads spoil the count one of them yields sooner or later.
    let polls = EMPTY_POLLS.load(Ordering::Relaxed) + if may_spin() { 1 } else { WEIGHT_OF_SHARED };
    EMPTY_POLLS.store(polls, Ordering::Relaxed);
    if polls >= EMPTY_POLLS_PER_YIELD {
        give_way();
    }
}

#[cold]
#[inline(never)]
fn give_way() {
    EMPTY_POLLS.store(0, Ordering::Relaxed);
    if may_spin() {
        let since_ns = sys::monotonic_ns();
        sys::yield_now();
        PATIENCE.yielded(since_ns, sys::monotonic_ns());
    } else {
        sys::yield_now();
    }
    progress::outside::back();
    super::tell_lost_in_job();
}

// Polls since the last one that moved something, or that yielded.
static EMPTY_POLLS: AtomicU32 = AtomicU32::new(0);
/// Where each rank has a core.
const EMPTY_POLLS_PER_YIELD: u32 = 4096;
/// Where they share cores a poll counts for so many: 64 of them yield.
const WEIGHT_OF_SHARED: u32 = EMPTY_POLLS_PER_YIELD / 64;
