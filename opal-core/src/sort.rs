//! Sorting in one function for all types.
//!
//! The standard library compiles its sort anew for every type and every key, six to ten KiB each: a tenth of this library's
//! code once. Here only comparing and moving are compiled for each; what lies between works on indices. Nothing that is
//! called often sorts.

use alloc::vec::Vec;

/// Sorts by a key; equal elements keep their order.
pub fn by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    let order = order(list.len(), &mut |one, other| key(&list[one]) < key(&list[other]));
    permute(list, order);
}

/// Sorts in ascending order; equal elements keep their order.
pub fn ascending<T: Ord>(list: &mut [T]) {
    let order = order(list.len(), &mut |one, other| list[one] < list[other]);
    permute(list, order);
}

/// The indices below `count` in the order of `less`, equal ones in their own: a merge sort from short runs to long ones.
fn order(count: usize, less: &mut dyn FnMut(usize, usize) -> bool) -> Vec<usize> {
    let mut from: Vec<usize> = (0..count).collect();
    let mut into = from.clone();
    let mut run = 1;
    while run < count {
        for start in (0..count).step_by(2 * run) {
            let (middle, end) = ((start + run).min(count), (start + 2 * run).min(count));
            let (mut left, mut right) = (start, middle);
            for place in &mut into[start..end] {
                let is_right = left == middle || right < end && less(from[right], from[left]);
                let taken = if is_right { &mut right } else { &mut left };
                *place = from[*taken];
                *taken += 1;
            }
        }
        core::mem::swap(&mut from, &mut into);
        run *= 2;
    }
    from
}

/// Moves to each place the element whose index `order` has there.
fn permute<T>(list: &mut [T], mut order: Vec<usize>) {
    for start in 0..list.len() {
        let mut at = start;
        while order[at] != start {
            let next = core::mem::replace(&mut order[at], at);
            list.swap(at, next);
            at = next;
        }
        order[at] = at;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn sorts_as_the_standard_library_does() {
        let mut seed = 1u64;
        let mut next = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        for count in (0..70).chain([1000]) {
            for range in [1, 2, 7, u64::MAX] {
                // The second part tells equal keys apart.
                let list: Vec<(u64, usize)> = (0..count).map(|place| (next() % range, place)).collect();
                let (mut ours, mut theirs) = (list.clone(), list.clone());
                by_key(&mut ours, |(key, _)| *key);
                theirs.sort_by_key(|(key, _)| *key);
                assert_eq!(ours, theirs, "{count} of {range}");
                let (mut ours, mut theirs) = (list.clone(), list);
                ours.reverse();
                ascending(&mut ours);
                theirs.sort();
                assert_eq!(ours, theirs, "{count} of {range}");
            }
        }
    }
}
