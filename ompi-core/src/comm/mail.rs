//! Letters between processes outside all communicators: what is said to make a communicator.
//!
//! A letter is found by its sender and its [`Subject`]. Context numbers are local to their process, so a subject names
//! the *receiver's* number, as messages do. Letters of one sender with one subject keep their order. A letter waits here
//! until it is asked for, however early it came.
//!
//! **Invariant:** nothing is locked while the PML runs.

use crate::error::{Class, Fault, Result};
use crate::framework::pml;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use opal_core::sync::Guarded;

/// What a letter is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject([u64; 3]);

/// Which conversations there are. Those of different kinds never meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// All of a communicator; the number counts its collective constructors.
    Collective = 1,
    /// The same, and what they agree on afterwards.
    Spread = 2,
    /// All of a new communicator: its collectives.
    Complete = 3,
    /// The members of a group inside a communicator; the number is the user's tag.
    Part = 4,
    /// Two leaders over a communicator that both are in; the number is the user's tag.
    Bridge = 5,
    /// The members of a group without a communicator; the number is a hash.
    Group = 6,
    /// The leaders of two groups without a communicator.
    GroupBridge = 7,
    /// As `Spread`, without a communicator.
    GroupSpread = 8,
}

impl Subject {
    /// About the communicator that the receiver knows by its context number `context`.
    pub fn of(kind: Kind, context: u32, number: u64) -> Subject {
        Subject([kind as u64, u64::from(context), number])
    }

    /// About what has no communicator.
    pub fn named(kind: Kind, name: [u64; 2]) -> Subject {
        Subject([kind as u64 | NAMED, name[0], name[1]])
    }

    /// The same conversation as a process knows it by its own context number.
    pub fn at(self, context: u32) -> Subject {
        let Subject([kind, _, number]) = self;
        if kind & NAMED != 0 { self } else { Subject([kind, u64::from(context), number]) }
    }
}

const NAMED: u64 = 1 << 32;
/// Three words of subject, and the letter's length in words.
const HEAD_WORDS: usize = 4;

#[derive(Default)]
struct Letter {
    words: Vec<u64>,
    length: usize,
}

struct Office {
    letters: BTreeMap<(u32, Subject), VecDeque<Letter>>,
}

static OFFICE: Guarded<Office> = Guarded::new(Office { letters: BTreeMap::new() });

/// Makes sure that what a process writes arrives; `Err` if it was lost.
pub fn expect(process: u32) -> Result<()> {
    pml::selected().reach(process).map(drop)
}

/// Sends a letter.
pub fn send(process: u32, subject: Subject, words: &[u64]) -> Result<()> {
    let room = (pml::selected().reach(process)? / 8).saturating_sub(HEAD_WORDS);
    if room == 0 {
        return Err(Fault::new(Class::Intern).because("the transport carries no notes"));
    }
    let Subject(subject) = subject;
    let mut note = Vec::new();
    // An empty letter is one note, too.
    let mut rest = words;
    loop {
        let (now, later) = rest.split_at(rest.len().min(room));
        note.clear();
        for word in subject.iter().chain([&(words.len() as u64)]).chain(now) {
            note.extend_from_slice(&word.to_le_bytes());
        }
        pml::selected().note(process, &note)?;
        rest = later;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// The first letter of a sender with a subject, if all of it is here.
pub fn take(process: u32, subject: Subject) -> Option<Vec<u64>> {
    let mut office = OFFICE.lock();
    let queue = office.letters.get_mut(&(process, subject))?;
    let first = queue.pop_front_if(|letter| letter.words.len() == letter.length)?;
    if queue.is_empty() {
        office.letters.remove(&(process, subject));
    }
    Some(first.words)
}

/// As [`take`], for who waits: `Err` if the sender can no longer be reached and its letter is not here.
pub fn awaited(process: u32, subject: Subject) -> Result<Option<Vec<u64>>> {
    match take(process, subject) {
        None => expect(process).map(|()| None),
        letter => Ok(letter),
    }
}

/// For the PML: a note arrived, with anything in it. False if it is none.
pub fn arrived(process: u32, note: &[u8]) -> bool {
    let mut words = note.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
    let (Some(kind), Some(context), Some(number), Some(length)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let mut office = OFFICE.lock();
    let queue = office.letters.entry((process, Subject([kind, context, number]))).or_default();
    if queue.back().is_none_or(|last| last.words.len() == last.length) {
        queue.push_back(Letter { words: Vec::new(), length: length as usize });
    }
    let Some(letter) = queue.back_mut() else { return false };
    let missing = letter.length - letter.words.len();
    letter.words.extend(words.take(missing));
    true
}

/// Throws away what was said about a context number of this process, which will be another communicator's.
pub fn forget(context: u32) {
    let about = |Subject([kind, number, _]): &Subject| kind & NAMED == 0 && *number == u64::from(context);
    let mut office = OFFICE.lock();
    if !office.letters.is_empty() {
        office.letters.retain(|(_, subject), _| !about(subject));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn note(subject: Subject, length: u64, words: &[u64]) -> Vec<u8> {
        let Subject(head) = subject;
        head.iter().chain([&length]).chain(words).flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn pieces_become_letters_in_order() {
        opal_core::sync::raise_threads();
        let subject = Subject::of(Kind::Part, 77, 5);
        for (length, words) in [(3, &[1, 2][..]), (3, &[3]), (0, &[]), (1, &[9])] {
            assert!(arrived(4, &note(subject, length, words)));
        }
        assert_eq!(take(5, subject), None);
        assert_eq!(take(4, subject.at(78)), None);
        assert_eq!(take(4, subject), Some(vec![1, 2, 3]));
        assert_eq!(take(4, subject), Some(vec![]));
        assert_eq!(take(4, subject), Some(vec![9]));
        assert_eq!(take(4, subject), None);
    }

    #[test]
    fn what_makes_no_sense_disturbs_nobody() {
        opal_core::sync::raise_threads();
        assert!(!arrived(4, &[1; 31]));
        let subject = Subject::of(Kind::Part, 78, 5);
        assert!(arrived(4, &note(subject, 1, &[1, 2, 3])));
        assert_eq!(take(4, subject), Some(vec![1]));
        assert!(arrived(4, &note(subject, u64::MAX, &[1, 2, 3])));
        assert_eq!(take(4, subject), None);
        forget(78);
        assert!(arrived(4, &note(subject, 1, &[8])));
        assert_eq!(take(4, subject), Some(vec![8]));
    }
}
