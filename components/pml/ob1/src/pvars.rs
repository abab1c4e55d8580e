//! Performance variables: what MPI's tool interface reads of this component.

use crate::context::Context;
use crate::counters::{
    COMPARED, DAMAGED, FRAGMENTED, GETS, POSTED, POSTED_WANTED, RTS_SENT, SENT_AGAIN, SINGLE_COPIES, STREAMED,
    UNEXPECTED, UNEXPECTED_MEMORY, WERE_UNEXPECTED,
};
use crate::state::{STATE, State};
use opal_core::mca::Pvar;
use opal_core::mca::pvar::{PvarClass, Reading};
use opal_core::sync::Ordering;

/// All of them.
pub static ALL: &[&Pvar] = &[
    &Pvar::new(
        "unexpected_length",
        PvarClass::Level,
        2,
        "Messages that have arrived and that no receive has matched, those of collective operations included.",
        Reading::Of(|| UNEXPECTED.now()),
    ),
    &Pvar::new(
        "unexpected_most",
        PvarClass::HighWatermark,
        2,
        "As pml_ob1_unexpected_length: the most at once.",
        Reading::Mark(&UNEXPECTED),
    ),
    &Pvar::new(
        "unexpected_arrived",
        PvarClass::Counter,
        2,
        "Messages that arrived before a receive that matches them was posted.",
        Reading::Of(|| WERE_UNEXPECTED.now()),
    ),
    &Pvar::new(
        "unexpected_memory",
        PvarClass::Level,
        3,
        "Memory of the messages that have arrived and that no receive has matched, in bytes. Of long ones only the announcement \
         is here, which does not count.",
        Reading::Of(|| UNEXPECTED_MEMORY.now()),
    ),
    &Pvar::new(
        "unexpected_memory_most",
        PvarClass::HighWatermark,
        3,
        "As pml_ob1_unexpected_memory: the most at once, in bytes.",
        Reading::Mark(&UNEXPECTED_MEMORY),
    ),
    &Pvar::new(
        "posted_length",
        PvarClass::Level,
        2,
        "Receives that are posted and that no message has matched, those of collective operations included.",
        Reading::Of(posted),
    ),
    &Pvar::new(
        "posted_most",
        PvarClass::HighWatermark,
        2,
        "As pml_ob1_posted_length: the most at once. Counting begins when a handle is allocated, and makes receives slower.",
        Reading::Mark(&POSTED),
    )
    .when_wanted(count_posted),
    &Pvar::new(
        "matches_tried",
        PvarClass::Counter,
        5,
        "Posted receives that were compared with messages that came, and unexpected messages that were compared with receives, those of \
         collective operations included. What a long list's index finds, and what is taken without a list, is not compared. Counting \
         begins when a handle is allocated, and makes receives slower.",
        Reading::Of(|| COMPARED.now()),
    )
    .when_wanted(count_posted),
    &Pvar::new(
        "rts_sent",
        PvarClass::Counter,
        4,
        "Messages that were announced before their data was sent, because they are long, or because the receiver had no more room.",
        Reading::Of(|| RTS_SENT.now()),
    ),
    &Pvar::new(
        "received_by_single_copy",
        PvarClass::Counter,
        4,
        "Long messages that this process received in one copy, by the system or between mapped buffers.",
        Reading::Of(|| SINGLE_COPIES.now()),
    ),
    &Pvar::new(
        "received_by_get",
        PvarClass::Counter,
        4,
        "Long messages that this process read from the sender's memory through a network.",
        Reading::Of(|| GETS.now()),
    ),
    &Pvar::new(
        "received_in_fragments",
        PvarClass::Counter,
        4,
        "Long messages that this process received in fragments, through shared memory or a network.",
        Reading::Of(|| FRAGMENTED.now()),
    ),
    &Pvar::new(
        "received_streamed",
        PvarClass::Counter,
        5,
        "Long messages that this process received in fragments and stored around its caches.",
        Reading::Of(|| STREAMED.now()),
    ),
    &Pvar::new(
        "damaged",
        PvarClass::Counter,
        3,
        "Messages and single copies that came to this process with a checksum that did not match. Counted with pml_ob1_checksum 1.",
        Reading::Of(|| DAMAGED.now()),
    ),
    &Pvar::new(
        "sent_again",
        PvarClass::Counter,
        4,
        "Messages that this process sent again because they, or others before them, had not arrived as they were sent. Counted with \
         pml_ob1_checksum 1.",
        Reading::Of(|| SENT_AGAIN.now()),
    ),
];

fn posted() -> u64 {
    posted_in(&mut STATE.lock())
}

/// Counts posted receives from now on: none of them on a fast path.
fn count_posted() -> bool {
    let mut state = STATE.lock();
    // Relaxed: written and read under the lock.
    if !POSTED_WANTED.swap(true, Ordering::Relaxed) {
        POSTED.add(posted_in(&mut state));
        (0..state.context_numbers()).for_each(|number| {
            state.context(number).into_iter().for_each(Context::count_posts);
        });
    }
    true
}

fn posted_in(state: &mut State) -> u64 {
    let numbers = 0..state.context_numbers();
    numbers.map(|number| state.context(number).map_or(0, |context| context.posted_receives() as u64)).sum()
}
