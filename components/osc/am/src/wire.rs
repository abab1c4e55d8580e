//! The messages: a head of seven words, little-endian; then, as the head says, the description of the target's datatype and the
//! data.

use alloc::vec::Vec;
use ompi_core::framework::op::Operation;

/// The tag of heads; data has other ones.
pub const HEAD_TAG: i32 = 0;

/// Bytes of a head.
pub const HEAD_BYTES: usize = 56;

/// Up to so many bytes of data travel with their head.
pub const INLINE_BYTES: usize = 4096;

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// To be written.
    Put = 1,
    /// To be read.
    Get = 2,
    /// To be combined.
    Accumulate = 3,
    /// To be read and combined.
    GetAccumulate = 4,
    /// Two elements follow: the expected and the new value.
    CompareAndSwap = 5,
    /// Tell when all before is done.
    Flush = 6,
    /// A lock, please: `count` is 1 for an exclusive one.
    Lock = 7,
    /// As `Flush`, and the lock is given back.
    Unlock = 8,
    /// MPI_Win_complete.
    Complete = 9,
    /// To an origin, for `Flush` and `Unlock`: `count` is the class of what failed, or 0.
    Ack = 10,
    /// To an origin, for `Lock`.
    Grant = 11,
    /// To an origin: MPI_Win_post.
    Post = 12,
}

const KINDS: [Kind; 12] = [
    Kind::Put,
    Kind::Get,
    Kind::Accumulate,
    Kind::GetAccumulate,
    Kind::CompareAndSwap,
    Kind::Flush,
    Kind::Lock,
    Kind::Unlock,
    Kind::Complete,
    Kind::Ack,
    Kind::Grant,
    Kind::Post,
];

const OPERATIONS: [Operation; 14] = [
    Operation::Sum,
    Operation::Min,
    Operation::Max,
    Operation::Prod,
    Operation::Band,
    Operation::Bor,
    Operation::Bxor,
    Operation::Land,
    Operation::Lor,
    Operation::Lxor,
    Operation::Minloc,
    Operation::Maxloc,
    Operation::Replace,
    Operation::NoOp,
];

/// A head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What is asked for.
    pub kind: Kind,
    /// Of an accumulate.
    pub operation: Operation,
    /// The handle of the target's datatype, if it is one that all processes have; else 0, and a description follows.
    pub datatype: u32,
    /// Of an accumulate: the handle of the basic type that all data is of.
    pub basic: u32,
    /// As the program gave it.
    pub displacement: i64,
    /// Elements of the target's datatype.
    pub count: u64,
    /// The tag of the answer with data that was read.
    pub result_tag: i32,
    /// The tag of the message with the data, if it does not follow here.
    pub data_tag: i32,
    /// Bytes of the description that follows.
    pub description: u64,
    /// Bytes of the data.
    pub bytes: u64,
}

impl Head {
    /// Of a message that only synchronises.
    pub fn of(kind: Kind, count: u64) -> Head {
        Head {
            kind,
            operation: Operation::NoOp,
            datatype: 0,
            basic: 0,
            displacement: 0,
            count,
            result_tag: 0,
            data_tag: 0,
            description: 0,
            bytes: 0,
        }
    }

    /// Appends it.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            pair(self.kind as u32, self.operation as u32),
            pair(self.datatype, self.basic),
            self.displacement as u64,
            self.count,
            pair(self.result_tag as u32, self.data_tag as u32),
            self.description,
            self.bytes,
        ];
        words.iter().for_each(|word| to.extend_from_slice(&word.to_le_bytes()));
    }

    /// Head, description and data of a message; `None` if it is none.
    pub fn decode(message: &[u8]) -> Option<(Head, &[u8], &[u8])> {
        let (head, rest) = message.split_first_chunk::<HEAD_BYTES>()?;
        let word = |at: usize| u64::from_le_bytes(head[8 * at..][..8].try_into().unwrap_or_default());
        let (low, high) = (|at: usize| word(at) as u32, |at: usize| (word(at) >> 32) as u32);
        let head = Head {
            kind: *KINDS.iter().find(|kind| **kind as u32 == low(0))?,
            operation: *OPERATIONS.iter().find(|operation| **operation as u32 == high(0))?,
            datatype: low(1),
            basic: high(1),
            displacement: word(2) as i64,
            count: word(3),
            result_tag: low(4) as i32,
            data_tag: high(4) as i32,
            description: word(5),
            bytes: word(6),
        };
        let (description, data) = rest.split_at_checked(usize::try_from(head.description).ok()?)?;
        let complete = match head.data_tag {
            HEAD_TAG => data.len() as u64 == head.bytes,
            _ => data.is_empty(),
        };
        complete.then_some((head, description, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_come_back_and_what_is_none_is_refused() {
        let head = Head {
            operation: Operation::Bxor,
            datatype: 521,
            basic: 522,
            displacement: -3,
            result_tag: 7,
            description: 3,
            bytes: 2,
            ..Head::of(Kind::GetAccumulate, 1 << 40)
        };
        let mut message = Vec::new();
        head.encode(&mut message);
        message.extend_from_slice(&[1, 2, 3, 4, 5]);
        assert_eq!(Head::decode(&message), Some((head, &[1u8, 2, 3][..], &[4u8, 5][..])));
        for end in 0..message.len() {
            assert_eq!(Head::decode(&message[..end]), None, "{end} bytes");
        }
        for (at, value) in [(0, 0), (0, 13), (4, 14), (4, 200), (40, 6), (47, 255), (48, 1)] {
            let mut wrong = message.clone();
            wrong[at] = value;
            assert_eq!(Head::decode(&wrong), None, "byte {at} is {value}");
        }
        for kind in KINDS {
            let mut message = Vec::new();
            Head::of(kind, 0).encode(&mut message);
            assert_eq!(Head::decode(&message).map(|(head, ..)| head.kind), Some(kind));
        }
    }
}
