//! What processes tell each other when a window is made: where their words and their memory lie, and the keys of both. Bytes of a peer may
//! be anything.

use alloc::vec::Vec;
use opal_core::framework::btl::KEY_BYTES_MAX;

/// Length in words: whether the process can serve the window, two addresses, two lengths of keys, and the keys.
pub const TOLD_WORDS: usize = 5 + 2 * KEY_WORDS;
const KEY_WORDS: usize = KEY_BYTES_MAX / 8;

/// Registered memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Where it begins; 0 where there is none.
    pub address: u64,
    /// The transport's key.
    pub key: Vec<u8>,
}

/// What a process tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Words of synchronisation.
    pub words: Place,
    /// The window's memory.
    pub memory: Place,
}

impl Told {
    /// As it travels; keys have at most [`KEY_BYTES_MAX`] bytes.
    pub fn encode(&self) -> [u64; TOLD_WORDS] {
        let mut told = [0; TOLD_WORDS];
        told[..5].copy_from_slice(&[
            1,
            self.words.address,
            self.memory.address,
            self.words.key.len() as u64,
            self.memory.key.len() as u64,
        ]);
        for (place, key) in [&self.words.key, &self.memory.key].into_iter().enumerate() {
            let room = &mut told[5 + place * KEY_WORDS..][..KEY_WORDS];
            for (word, bytes) in room.iter_mut().zip(key.chunks(8)) {
                let mut eight = [0; 8];
                eight[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(eight);
            }
        }
        told
    }

    /// Of a process that has so many words, and so much memory in the window; `None`: it cannot serve the window, or that cannot be.
    pub fn parse(told: &[u64; TOLD_WORDS], words: usize, bytes: usize) -> Option<Told> {
        let place = |number: usize, bytes: usize| {
            let (address, length) = (told[1 + number], usize::try_from(told[3 + number]).ok()?);
            let end = address.checked_add(bytes as u64)?;
            let is_place = length <= KEY_BYTES_MAX && (address != 0 || bytes == 0) && end <= isize::MAX as u64;
            let key = told[5 + number * KEY_WORDS..][..KEY_WORDS].iter().flat_map(|word| word.to_le_bytes());
            is_place.then(|| Place { address, key: key.take(length).collect() })
        };
        let (words, memory) = (place(0, words.checked_mul(8)?)?, place(1, bytes)?);
        (told[0] == 1 && words.address.is_multiple_of(8)).then_some(Told { words, memory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Told {
        let place =
            |address, bytes: usize| Place { address, key: (0..bytes).map(|byte| (byte % 251) as u8 + 1).collect() };
        Told { words: place(0x1000, 16), memory: place(0x2001, KEY_BYTES_MAX) }
    }

    #[test]
    fn what_is_told_comes_back() {
        let without = Told { memory: Place::default(), ..told() };
        for (told, bytes) in [(told(), 100), (without, 0)] {
            assert_eq!(Told::parse(&told.encode(), 4, bytes), Some(told));
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let good = told().encode();
        let changes: [(usize, u64); 9] = [
            (0, 0),
            (0, 2),
            (1, 0),
            (1, 0x1004),
            (1, u64::MAX - 7),
            (2, 0),
            (2, u64::MAX - 50),
            (3, KEY_BYTES_MAX as u64 + 1),
            (4, u64::MAX),
        ];
        for (word, value) in changes {
            let mut told = good;
            told[word] = value;
            assert_eq!(Told::parse(&told, 4, 100), None, "word {word} is {value:#x}");
        }
        assert_eq!(Told::parse(&good, usize::MAX, 100), None);
        assert_eq!(Told::parse(&good, 4, usize::MAX), None);
    }
}
