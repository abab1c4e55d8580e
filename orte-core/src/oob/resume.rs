//! What goes on when a connection is made again: both ends count frames, and keep those that the other one has not acknowledged.
//!
//! | bytes of a sealed payload | what |
//! |---|---|
//! | 8 | how many frames its sender has taken, little-endian |
//! | … | a frame in its envelope; none: only the number is said |
//!
//! In the handshake of the new connection both say how many they have taken ([`super::handshake`]), and each sends the rest. Whoever is
//! called may take further frames of the old connection before the new one stands: those come again, and are left out.
//!
//! What is kept is bounded by what may be under way: output and input of ranks have their windows, and the other frames are few.

use super::OobFlaw;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// One end of a connection, whatever it goes over.
#[derive(Default)]
pub struct Resumable {
    /// Frames that this end gave out.
    sent: u64,
    /// Those of them that the other end has not acknowledged: the last ones.
    kept: VecDeque<Vec<u8>>,
    kept_bytes: usize,
    /// Frames of the other end that were taken.
    taken: u64,
    /// So many come again.
    repeated: u64,
    /// Bytes taken since the other end was told a number.
    untold_bytes: usize,
}

impl Resumable {
    /// The payload for a frame in its envelope, which is not empty.
    pub fn give(&mut self, frame: &[u8]) -> Vec<u8> {
        self.sent += 1;
        self.kept_bytes += frame.len();
        self.kept.push_back(frame.to_vec());
        self.payload(frame)
    }

    /// The frame of a payload that came, unless it was here before or there is none.
    pub fn take(&mut self, payload: &[u8]) -> Result<Option<Vec<u8>>, OobFlaw> {
        let Some((number, frame)) = payload.split_first_chunk::<NUMBER_BYTES>() else { return Err(OobFlaw::Length) };
        self.acknowledged(u64::from_le_bytes(*number))?;
        if frame.is_empty() {
            return Ok(None);
        }
        if self.repeated > 0 {
            self.repeated -= 1;
            return Ok(None);
        }
        self.taken += 1;
        self.untold_bytes += payload.len();
        Ok(Some(frame.to_vec()))
    }

    /// How many frames of the other end were taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The other end keeps much that it need not.
    pub fn owes(&self) -> bool {
        self.untold_bytes >= UNTOLD_BYTES
    }

    /// A payload that says only what was taken.
    pub fn acknowledgement(&mut self) -> Vec<u8> {
        self.payload(&[])
    }

    /// The other end has everything.
    pub fn has_arrived(&self) -> bool {
        self.kept.is_empty()
    }

    /// Bytes of what it may not have.
    pub fn kept_bytes(&self) -> usize {
        self.kept_bytes
    }

    /// Goes on over a new connection: `told` is what the other end was told that this one has taken, `theirs` what that has. The payloads
    /// to begin with.
    pub fn resume(&mut self, told: u64, theirs: u64) -> Result<Vec<Vec<u8>>, OobFlaw> {
        self.repeated = self.taken.checked_sub(told).ok_or(COUNT)?;
        self.acknowledged(theirs)?;
        self.untold_bytes = 0;
        let number = self.taken.to_le_bytes();
        Ok(self.kept.iter().map(|frame| [&number[..], frame].concat()).collect())
    }

    fn payload(&mut self, frame: &[u8]) -> Vec<u8> {
        self.untold_bytes = 0;
        [&self.taken.to_le_bytes()[..], frame].concat()
    }

    fn acknowledged(&mut self, number: u64) -> Result<(), OobFlaw> {
        let left = self.sent.checked_sub(number).filter(|left| *left <= self.kept.len() as u64).ok_or(COUNT)?;
        while self.kept.len() as u64 > left {
            self.kept_bytes -= self.kept.pop_front().map_or(0, |frame| frame.len());
        }
        Ok(())
    }
}

const NUMBER_BYTES: usize = 8;
const COUNT: OobFlaw = OobFlaw::Field("count of frames");
/// The other end is told what was taken at least this often.
const UNTOLD_BYTES: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oob::{Receiver, Sender};
    use alloc::vec;

    /// One end with its connection.
    struct End {
        session: Resumable,
        sender: Sender,
        receiver: Receiver,
        got: Vec<Vec<u8>>,
    }

    impl End {
        fn new() -> End {
            let (sender, receiver) = (Sender::new([1; 32]), Receiver::new([1; 32], Vec::new()));
            End { session: Resumable::default(), sender, receiver, got: Vec::new() }
        }

        fn send(&mut self, frame: &[u8]) -> Vec<u8> {
            let payload = self.session.give(frame);
            self.sender.seal(&payload).unwrap()
        }

        fn hear(&mut self, bytes: &[u8]) {
            self.receiver.push(bytes);
            while let Some(payload) = self.receiver.next_payload().unwrap() {
                self.got.extend(self.session.take(&payload).unwrap());
            }
        }

        /// Over a new connection with this key; what it begins with.
        fn resume(&mut self, key: u8, told: u64, theirs: u64) -> Vec<u8> {
            (self.sender, self.receiver) = (Sender::new([key; 32]), Receiver::new([key; 32], Vec::new()));
            let payloads = self.session.resume(told, theirs).unwrap();
            payloads.iter().flat_map(|payload| self.sender.seal(payload).unwrap()).collect()
        }
    }

    fn frames(from: u8, count: u8) -> Vec<Vec<u8>> {
        (0..count).map(|number| vec![from + number; 1 + usize::from(number) * 3]).collect()
    }

    /// The connection ends after each number of bytes in each direction, and the one that is called hears more between its answer and
    /// the end: nothing is lost, and nothing comes twice.
    #[test]
    fn a_connection_that_ends_anywhere_goes_on() {
        let (up, down) = (frames(0, 5), frames(100, 4));
        let whole: usize = up.iter().map(|frame| frame.len() + 8 + 40).sum();
        for cut in 0..=whole {
            for late in [0, 1, 60, whole] {
                let (mut daemon, mut mpirun) = (End::new(), End::new());
                let sent: Vec<u8> = up.iter().flat_map(|frame| daemon.send(frame)).collect();
                let answers: Vec<u8> = down.iter().flat_map(|frame| mpirun.send(frame)).collect();
                assert_eq!(sent.len(), whole);
                mpirun.hear(&sent[..cut]);
                daemon.hear(&answers[..cut.min(answers.len())]);
                // The call, and the answer to it.
                let (theirs, told) = (daemon.session.taken(), mpirun.session.taken());
                mpirun.hear(&sent[cut..(cut + late).min(whole)]);
                let first = mpirun.resume(2, told, theirs);
                let again = daemon.resume(2, theirs, told);
                mpirun.hear(&again);
                daemon.hear(&first);
                let last = daemon.send(b"last");
                mpirun.hear(&last);
                let end = mpirun.session.acknowledgement();
                let end = mpirun.sender.seal(&end).unwrap();
                daemon.hear(&end);
                assert_eq!(mpirun.got, [&up[..], &[b"last".to_vec()]].concat(), "cut at {cut}, late {late}");
                assert_eq!(daemon.got, down, "cut at {cut}");
                assert!(daemon.session.has_arrived() && daemon.session.kept_bytes() == 0);
            }
        }
    }

    #[test]
    fn what_is_acknowledged_is_not_kept() {
        let (mut one, mut other) = (Resumable::default(), Resumable::default());
        for _ in 0..1000 {
            let payload = one.give(&[7; 1000]);
            assert_eq!(other.take(&payload), Ok(Some(vec![7; 1000])));
            if other.owes() {
                assert_eq!(one.take(&other.acknowledgement()), Ok(None));
            }
            assert!(one.kept_bytes() <= UNTOLD_BYTES + 1000, "{}", one.kept_bytes());
        }
    }

    #[test]
    fn counts_that_cannot_be_are_refused() {
        let mut session = Resumable::default();
        session.give(b"x");
        assert_eq!(session.take(b"short"), Err(OobFlaw::Length));
        assert_eq!(session.take(&2u64.to_le_bytes()), Err(COUNT));
        assert_eq!(session.resume(1, 0), Err(COUNT), "it took nothing");
        assert_eq!(session.resume(0, 9), Err(COUNT), "it gave one");
        assert_eq!(session.take(&1u64.to_le_bytes()), Ok(None));
        assert_eq!(session.resume(0, 0), Err(COUNT), "the first one is not kept any more");
        assert_eq!(session.resume(0, 1), Ok(vec![]));
    }
}
