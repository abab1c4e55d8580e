//! Rows of numbers that often follow a rule: the processes of a group, the context numbers of a communicator's ranks. One that does
//! takes no memory, however long it is.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// A row of numbers, which does not change. One that is arithmetic is kept as such, so equal rows are kept equally.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence(Kept);

// Known to debuggers: a word that says which one it is, and behind it the fields in this order (`ompi-core/gdb`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C)]
enum Kept {
    // The number at place i is first + i * step, in wrapping arithmetic. `step` is 0 where there are less than two.
    Arithmetic { first: u32, step: u32, length: usize },
    Each(Box<[u32]>),
}

impl Sequence {
    /// No numbers.
    pub const EMPTY: Sequence = Sequence(Kept::Arithmetic { first: 0, step: 0, length: 0 });

    /// These numbers.
    pub fn of(numbers: Box<[u32]>) -> Sequence {
        let Some(first) = numbers.first().copied() else { return Sequence::EMPTY };
        let step = numbers.get(1).map_or(0, |second| second.wrapping_sub(first));
        let is_arithmetic = numbers.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step);
        if is_arithmetic { Sequence::arithmetic(first, step, numbers.len()) } else { Sequence(Kept::Each(numbers)) }
    }

    /// The numbers from 0 to below `length`.
    pub fn up_to(length: u32) -> Sequence {
        Sequence::arithmetic(0, 1, length as usize)
    }

    /// So often this number.
    pub fn repeated(number: u32, length: usize) -> Sequence {
        Sequence::arithmetic(number, 0, length)
    }

    fn arithmetic(first: u32, step: u32, length: usize) -> Sequence {
        let first = if length == 0 { 0 } else { first };
        Sequence(Kept::Arithmetic { first, step: if length < 2 { 0 } else { step }, length })
    }

    /// How many they are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::Arithmetic { length, .. } => *length,
            Kept::Each(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Option<u32> {
        match &self.0 {
            Kept::Arithmetic { first, step, length } => {
                (place < *length).then(|| first.wrapping_add((place as u32).wrapping_mul(*step)))
            }
            Kept::Each(numbers) => numbers.get(place).copied(),
        }
    }

    /// The number at a place that there is.
    ///
    /// # Panics
    /// If there is no such place.
    #[inline]
    pub fn at(&self, place: usize) -> u32 {
        self.get(place).expect("a place of the row")
    }

    /// All in their order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + Clone + '_ {
        (0..self.len()).map(|place| self.at(place))
    }

    /// Whether each place has itself as its number.
    pub fn is_identity(&self) -> bool {
        match &self.0 {
            Kept::Arithmetic { first, step, length } => *first == 0 && (*step == 1 || *length < 2),
            Kept::Each(_) => false,
        }
    }

    /// The first place of a number. It is computed where the numbers rise, and looked for elsewhere.
    pub fn position(&self, number: u32) -> Option<usize> {
        match &self.0 {
            Kept::Arithmetic { first, step, length } => {
                let distance = number.wrapping_sub(*first);
                // Steps that go beyond the last number, and back, are looked for.
                let rises = *step > 0 && (*length as u64).saturating_mul(u64::from(*step)) <= u64::from(u32::MAX);
                match rises {
                    true if distance.is_multiple_of(*step) => {
                        Some((distance / step) as usize).filter(|place| place < length)
                    }
                    true => None,
                    false => self.iter().position(|one| one == number),
                }
            }
            Kept::Each(numbers) => numbers.iter().position(|one| *one == number),
        }
    }

    /// A copy of all.
    pub fn to_vec(&self) -> Vec<u32> {
        self.iter().collect()
    }

    /// The highest one.
    pub fn max(&self) -> Option<u32> {
        match &self.0 {
            Kept::Arithmetic { first, step, length } if *step == 1 && u64::from(*first) + *length as u64 <= 1 << 32 => {
                self.get(length - 1)
            }
            _ => self.iter().max(),
        }
    }
}

impl FromIterator<u32> for Sequence {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Sequence {
        Sequence::of(numbers.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_row_says_what_it_was_made_of() {
        let numbers = [0, 1, 2, 3, u32::MAX, u32::MAX - 1];
        for length in 0..5u32 {
            for code in 0..6u32.pow(length) {
                let row: Vec<u32> = (0..length).map(|place| numbers[(code / 6u32.pow(place) % 6) as usize]).collect();
                let sequence = Sequence::of(row.clone().into());
                assert_eq!(sequence.to_vec(), row);
                assert_eq!((sequence.len(), sequence.is_empty()), (row.len(), row.is_empty()));
                assert_eq!(sequence.get(row.len()), None);
                assert_eq!(sequence.max(), row.iter().copied().max());
                for number in numbers {
                    assert_eq!(
                        sequence.position(number),
                        row.iter().position(|one| *one == number),
                        "{row:?} {number}"
                    );
                }
                assert_eq!(sequence.is_identity(), row.iter().zip(0..).all(|(number, place)| *number == place));
                assert_eq!(sequence.iter().rev().collect::<Vec<_>>(), row.iter().rev().copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn rows_are_equal_as_their_numbers_are() {
        let of = |numbers: &[u32]| Sequence::of(numbers.into());
        assert_eq!(Sequence::up_to(3), of(&[0, 1, 2]));
        assert_eq!(Sequence::up_to(1), of(&[0]));
        assert_eq!(Sequence::up_to(0), of(&[]));
        assert_eq!(Sequence::repeated(7, 2), of(&[7, 7]));
        assert_eq!(Sequence::repeated(7, 0), of(&[]));
        assert_ne!(of(&[0, 1, 3]), of(&[0, 1, 2]));
        assert!(matches!(of(&[4, 2, 0]).0, Kept::Arithmetic { .. }), "downwards, too");
        assert!(
            matches!(Sequence::up_to(1 << 20).0, Kept::Arithmetic { .. }) && Sequence::up_to(1 << 20).is_identity()
        );
    }
}
