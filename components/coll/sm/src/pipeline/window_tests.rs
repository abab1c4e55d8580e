//! Which slot a step gets, and which tail its writer waits for.

use super::*;
use alloc::vec;

#[test]
fn no_slot_is_used_again_before_what_was_in_it_is_taken() {
    for (slots, longest) in
        [1, 2, 7, 16, 23, 32, 64].into_iter().flat_map(|slots| [(slots, 7), (slots, 13), (slots, 80)])
    {
        // By slot: the tail that frees it.
        let (mut window, mut used, mut base) = (Window::first(slots), vec![0; slots], 0);
        let length = |operation| longest - operation % longest;
        for operation in 0..3000u64 {
            for step in base..base + length(operation) {
                let (index, wanted) = (window.index(step), window.wanted(step));
                assert!(wanted >= used[index], "step {step} of {slots} slots");
                assert!(
                    wanted <= base.max((step + 1).saturating_sub(window.slots as u64)),
                    "nothing is waited for in vain"
                );
                used[index] = step + 1;
            }
            base += length(operation);
            window = window.after(length(operation) as usize, base, slots);
        }
        assert_eq!(used.iter().filter(|step| **step > 0).count(), slots, "all are used in the end");
    }
}

#[test]
fn few_slots_are_used_at_first() {
    let (mut window, most) =
        (Window::first(64), |window: &Window, steps: u64| (0..steps).map(|step| window.index(step)).max());
    assert_eq!(most(&window, 1000), Some(FIRST_SLOTS - 1));
    let lap = FIRST_SLOTS as u64;
    window = window.after(FIRST_SLOTS / 2, lap * LAPS - 1, 64);
    assert_eq!(window.slots, FIRST_SLOTS);
    assert_eq!(window.after(1, lap * LAPS, 64).slots, 2 * FIRST_SLOTS);
    window = window.after(FIRST_SLOTS, lap, 64);
    assert_eq!(window.slots, 2 * FIRST_SLOTS);
    window = window.after(FIRST_SLOTS * 2, 3 * lap, 64);
    assert_eq!(window.slots, 2 * FIRST_SLOTS, "further ones only if it pays");
}
