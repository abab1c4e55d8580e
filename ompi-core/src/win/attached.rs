//! The memory that is attached to a dynamic window, as numbers: what others say is compared with them before anything is touched.

use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;

/// Base and length of each piece, in ascending order; they do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached(Vec<(usize, usize)>);

impl Attached {
    /// Of pieces as [`Attached::pieces`] tells them, from a process that may tell anything.
    pub fn of_pieces(pieces: Vec<(usize, usize)>) -> Attached {
        Attached(pieces)
    }

    /// All of them.
    pub fn pieces(&self) -> &[(usize, usize)] {
        &self.0
    }

    /// Adds memory.
    pub fn attach(&mut self, base: usize, bytes: usize) -> Result<()> {
        let end = base.checked_add(bytes).ok_or(Class::Size)?;
        let place = self.0.partition_point(|(other, length)| other + length <= base);
        if let Some((other, _)) = self.0.get(place).filter(|(other, _)| *other < end) {
            let why = format!("it overlaps the memory that is attached at {other:#x}");
            return Err(Fault::new(Class::RmaAttach).argument("base").because(why));
        }
        self.0.insert(place, (base, bytes));
        Ok(())
    }

    /// Takes memory away.
    pub fn detach(&mut self, base: usize) -> Result<()> {
        let place = self.0.iter().position(|(other, _)| *other == base);
        let none = || Fault::new(Class::Base).argument("base").because("no memory is attached there");
        self.0.remove(place.ok_or_else(none)?);
        Ok(())
    }

    /// Whether all bytes from `low` to before `high` are attached. Pieces may follow each other without a gap.
    pub fn holds(&self, low: i128, high: i128) -> bool {
        let first = self.0.partition_point(|(base, _)| *base as i128 <= low).saturating_sub(1);
        let mut reached = low;
        for (base, bytes) in &self.0[first..] {
            if *base as i128 > reached || reached >= high {
                break;
            }
            reached = reached.max(*base as i128 + *bytes as i128);
        }
        reached >= high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_and_go() {
        let mut attached = Attached::default();
        assert!(!attached.holds(64, 68));
        attached.attach(64, 16).unwrap();
        attached.attach(96, 16).unwrap();
        for (overlap, bytes) in [(64, 2), (79, 2), (95, 2), (0, 200)] {
            assert_eq!(attached.attach(overlap, bytes).unwrap_err().get(), Class::RmaAttach as i32);
        }
        assert_eq!(attached.attach(usize::MAX, 2).unwrap_err().get(), Class::Size as i32);
        assert!(attached.holds(64, 80) && !attached.holds(64, 81) && !attached.holds(63, 70));
        assert!(attached.holds(96, 112) && !attached.holds(76, 100));
        attached.attach(80, 16).unwrap();
        assert!(attached.holds(64, 112) && !attached.holds(64, 113));
        attached.detach(64).unwrap();
        assert_eq!(attached.detach(64).unwrap_err().get(), Class::Base as i32);
        assert!(!attached.holds(64, 68) && attached.holds(80, 112));
        assert_eq!(Attached::of_pieces(attached.pieces().into()), attached);
    }
}
