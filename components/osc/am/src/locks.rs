//! The lock of one process's memory: who has it, who waits.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use ompi_core::framework::osc::Lock;

/// Granted in the order in which it was asked for; shared ones together.
#[derive(Default)]
pub struct Locks {
    held: Vec<(u32, Lock)>,
    waiting: VecDeque<(u32, Lock)>,
}

impl Locks {
    /// Asks for the lock. Who gets it now is returned by [`Locks::next_granted`].
    pub fn ask(&mut self, origin: u32, lock: Lock) {
        self.waiting.push_back((origin, lock));
    }

    /// Gives back what an origin has; false if it has nothing.
    pub fn release(&mut self, origin: u32) -> bool {
        let place = self.held.iter().position(|(holder, _)| *holder == origin);
        place.map(|place| self.held.swap_remove(place)).is_some()
    }

    /// The next origin that gets the lock now, if any.
    pub fn next_granted(&mut self) -> Option<u32> {
        let (origin, lock) = *self.waiting.front()?;
        let free = match lock {
            Lock::Exclusive => self.held.is_empty(),
            Lock::Shared => self.held.iter().all(|(_, held)| *held == Lock::Shared),
        };
        if !free {
            return None;
        }
        self.waiting.pop_front();
        self.held.push((origin, lock));
        Some(origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(locks: &mut Locks) -> Vec<u32> {
        core::iter::from_fn(|| locks.next_granted()).collect()
    }

    #[test]
    fn nobody_overtakes() {
        let mut locks = Locks::default();
        for (origin, lock) in [(1, Lock::Shared), (2, Lock::Shared), (3, Lock::Exclusive), (4, Lock::Shared)] {
            locks.ask(origin, lock);
        }
        assert_eq!(granted(&mut locks), [1, 2]);
        assert!(locks.release(1) && !locks.release(1) && !locks.release(3));
        assert_eq!(granted(&mut locks), []);
        assert!(locks.release(2));
        assert_eq!(granted(&mut locks), [3]);
        locks.ask(5, Lock::Exclusive);
        assert_eq!(granted(&mut locks), []);
        assert!(locks.release(3));
        assert_eq!(granted(&mut locks), [4]);
        assert!(locks.release(4));
        assert_eq!(granted(&mut locks), [5]);
    }
}
