//! Sockets on which a process sleeps: a transport's, or descriptors of others.

use crate::sync::Once;
use crate::sys;

/// Sockets on which a process can sleep.
pub trait Sockets: Sync {
    /// Sleeps until something happens to one of them or to what is watched beside them, at most this long; returns
    /// whether anything did.
    fn sleep(&self, at_most_us: u64) -> bool;

    /// From now on a sleep ends when this descriptor is readable, too. `false` where the system refuses.
    fn watch(&self, descriptor: i32) -> bool;

    /// Whether anything of the job can come from them.
    fn is_needed(&self) -> bool;

    /// The next pass of progress polls them, even if few passes do.
    fn poll_now(&self);
}

/// What [`watch_descriptor`](super::watch_descriptor) was given. Where no transport has sockets, a process sleeps on these alone.
pub static DESCRIPTORS: Descriptors = Descriptors([const { Once::new() }; DESCRIPTORS_MAX]);

/// See [`DESCRIPTORS`].
pub struct Descriptors([Once<Watched>; DESCRIPTORS_MAX]);

/// A descriptor, and what says whether nothing has come that it does not show.
#[derive(Clone, Copy)]
struct Watched {
    descriptor: i32,
    is_quiet: fn() -> bool,
}

impl Descriptors {
    /// Each.
    pub fn each(&self) -> impl Iterator<Item = i32> {
        self.watched().map(|watched| watched.descriptor)
    }

    /// See [`watch_queue`](super::watch_queue). `false` if there is no place.
    pub fn watch_queue(&self, descriptor: i32, is_quiet: fn() -> bool) -> bool {
        self.0.iter().any(|place| {
            let mut mine = false;
            place.call_once(|| {
                mine = true;
                Watched { descriptor, is_quiet }
            });
            mine
        })
    }

    /// Whether a sleep on them misses nothing. Asked right before each sleep.
    pub fn are_quiet(&self) -> bool {
        self.watched().all(|watched| (watched.is_quiet)())
    }

    fn watched(&self) -> impl Iterator<Item = Watched> {
        self.0.iter().map_while(|place| place.get().copied())
    }
}

impl Sockets for Descriptors {
    fn sleep(&self, at_most_us: u64) -> bool {
        let mut all = [0; DESCRIPTORS_MAX];
        let mut count = 0;
        for (place, descriptor) in all.iter_mut().zip(self.each()) {
            *place = descriptor;
            count += 1;
        }
        sys::await_readable(&all[..count], at_most_us)
    }

    fn watch(&self, descriptor: i32) -> bool {
        self.watch_queue(descriptor, || true)
    }

    fn is_needed(&self) -> bool {
        self.each().next().is_some()
    }

    fn poll_now(&self) {}
}

/// A few cards, and the waker of this node.
const DESCRIPTORS_MAX: usize = sys::READABLE_MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_queue_that_is_not_quiet_keeps_all_awake() {
        let descriptors = Descriptors([const { Once::new() }; DESCRIPTORS_MAX]);
        assert!(descriptors.are_quiet() && !descriptors.is_needed());
        assert!(descriptors.watch(3) && descriptors.watch_queue(4, || true));
        assert!(descriptors.are_quiet());
        assert!(descriptors.watch_queue(5, || false) && descriptors.watch(6));
        assert!(!descriptors.are_quiet());
        assert!(descriptors.each().eq([3, 4, 5, 6]));
        assert!((4..DESCRIPTORS_MAX).all(|_| descriptors.watch(7)) && !descriptors.watch(8), "no place is left");
    }
}
