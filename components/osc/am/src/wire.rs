//! The packets: one word that says which window and who, then records; little-endian. A record is an access, with the
//! description of the target's datatype and the data if they are short, or it synchronises, or it answers.

use alloc::vec::Vec;
use ompi_core::framework::op::Operation;
use ompi_core::oob::WindowPacket;

/// Bytes of the word that a packet begins with.
pub const PACKET_HEAD_BYTES: usize = WindowPacket::BYTES;
/// Bytes of an access without what follows it.
pub const HEAD_BYTES: usize = 32;
/// Bytes of an [`Record::Answer`] without its data.
pub const ANSWER_BYTES: usize = 8;

/// What an access asks for.
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
    /// Two elements come: the expected and the new value.
    CompareAndSwap = 5,
}

impl Kind {
    /// Whether an answer is due.
    pub fn reads(self) -> bool {
        matches!(self, Kind::Get | Kind::GetAccumulate | Kind::CompareAndSwap)
    }
}

// By number, from that of the first one on; so below.
const KINDS: [Kind; 5] = [Kind::Put, Kind::Get, Kind::Accumulate, Kind::GetAccumulate, Kind::CompareAndSwap];

/// What else an origin asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SyncKind {
    /// Tell when all before is done.
    Flush = 6,
    /// A lock that others may share, please. What comes later waits for it.
    LockShared = 7,
    /// A lock, please; likewise.
    LockExclusive = 8,
    /// As `Flush`, and the lock is given back.
    Unlock = 9,
    /// MPI_Win_complete.
    Complete = 10,
}

impl SyncKind {
    /// Whether what comes later waits for a lock.
    pub fn is_lock(self) -> bool {
        matches!(self, SyncKind::LockShared | SyncKind::LockExclusive)
    }
}

const SYNCS: [SyncKind; 5] =
    [SyncKind::Flush, SyncKind::LockShared, SyncKind::LockExclusive, SyncKind::Unlock, SyncKind::Complete];

const ACK: u8 = 11;
const ANSWER: u8 = 12;
const POST: u8 = 13;
const REFUSED: u8 = 14;
const OFFER: u8 = 15;
const READS: u8 = 16;

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

/// An access without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What is asked for.
    pub kind: Kind,
    /// Of an accumulate.
    pub operation: Operation,
    /// The handle of the target's datatype, if it is one that all processes have; else 0, and a description comes.
    pub datatype: u16,
    /// Of an accumulate: the handle of the basic type that all data is of.
    pub basic: u16,
    /// Data and result travel in messages of the PML, and the description, too, unless it is here.
    pub apart: bool,
    /// The data stays where it is: the record has its address, at which the target copies it; a run of bytes, for a run of bytes.
    pub lent: bool,
    /// As the program gave it.
    pub displacement: i64,
    /// Elements of the target's datatype.
    pub count: u64,
    /// What the answer names (with `lent` an empty one, as soon as the data was copied), or with `apart` what the tags of the messages are made of.
    pub number: u32,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// An access; then the description of the target's datatype and the data.
    Access(Head, &'a [u8], &'a [u8]),
    /// It synchronises.
    Sync(SyncKind),
    /// To an origin, for [`SyncKind::Flush`] and [`SyncKind::Unlock`].
    Ack(Option<Failure>),
    /// To an origin: the next bytes of what the access with this number reads; without any it ends.
    Answer(u32, &'a [u8]),
    /// To an origin, instead of an answer: the access could not be done.
    Refused(ReadId, Failure),
    /// To an origin: MPI_Win_post.
    Post,
    /// The origin would leave data in its memory, of which this is an address.
    Offer(u64),
    /// To an origin: it may. And where the target's memory lies, if the origin may copy there itself; else 0.
    Reads(u64),
}

/// What an origin calls an access that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadId {
    /// [`Head::number`].
    pub number: u32,
    /// [`Head::apart`]: the two kinds are numbered each for itself.
    pub apart: bool,
}

/// An access that could not be done; of those of an origin since its last flush that read nothing, the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The error class, which 16 bits hold; not 0.
    pub class: i32,
    /// The displacement as the program gave it.
    pub displacement: i64,
}

/// Appends an access; `description` and `data` bytes of these follow, which the caller appends.
#[inline(always)]
pub fn push_access(to: &mut Vec<u8>, head: &Head, description: usize, data: usize) {
    let Head { kind, operation, datatype, basic, apart, lent, displacement, count, number } = *head;
    let first = kind as u64
        | (operation as u64) << 8
        | u64::from(datatype) << 16
        | u64::from(basic) << 32
        | u64::from(apart) << 48
        | u64::from(lent) << 49;
    let last = u64::from(number) | (description as u64 & 0xffff) << 32 | (data as u64 & 0xffff) << 48;
    to.extend_from_slice([first, displacement as u64, count, last].map(u64::to_le_bytes).as_flattened());
}

/// Appends what synchronises.
pub fn push_sync(to: &mut Vec<u8>, sync: SyncKind) {
    push_word(to, sync as u64);
}

/// Appends an [`Record::Ack`].
pub fn push_ack(to: &mut Vec<u8>, failure: Option<Failure>) {
    match failure {
        None => push_word(to, u64::from(ACK)),
        Some(Failure { class, displacement }) => {
            push_word(to, u64::from(ACK) | u64::from(class as u32) << 32);
            push_word(to, displacement as u64);
        }
    }
}

/// Appends a [`Record::Answer`] whose data the caller appends.
pub fn push_answer(to: &mut Vec<u8>, number: u32, bytes: usize) {
    push_word(to, u64::from(ANSWER) | (bytes as u64 & 0xffff) << 16 | u64::from(number) << 32);
}

/// Appends a [`Record::Refused`].
pub fn push_refused(to: &mut Vec<u8>, read: ReadId, Failure { class, displacement }: Failure) {
    let class = u64::from(class as u16);
    push_word(to, u64::from(REFUSED) | u64::from(read.apart) << 8 | class << 16 | u64::from(read.number) << 32);
    push_word(to, displacement as u64);
}

/// Appends a [`Record::Post`].
pub fn push_post(to: &mut Vec<u8>) {
    push_word(to, u64::from(POST));
}

/// Appends a [`Record::Offer`].
pub fn push_offer(to: &mut Vec<u8>, address: u64) {
    push_word(to, u64::from(OFFER));
    push_word(to, address);
}

/// Appends a [`Record::Reads`].
pub fn push_reads(to: &mut Vec<u8>, base: u64) {
    push_word(to, u64::from(READS));
    push_word(to, base);
}

fn push_word(to: &mut Vec<u8>, word: u64) {
    to.extend_from_slice(&word.to_le_bytes());
}

impl Record<'_> {
    /// The first record of some, and what follows it; `None` if it is none.
    #[inline]
    pub fn split(records: &[u8]) -> Option<(Record<'_>, &[u8])> {
        let (first, rest) = word(records)?;
        match first as u8 {
            ACK if first >> 32 == 0 => Some((Record::Ack(None), rest)),
            ACK => {
                let (displacement, rest) = word(rest)?;
                let failure = Failure { class: (first >> 32) as i32, displacement: displacement as i64 };
                Some((Record::Ack(Some(failure)), rest))
            }
            ANSWER => {
                let (data, rest) = rest.split_at_checked(usize::from((first >> 16) as u16))?;
                Some((Record::Answer((first >> 32) as u32, data), rest))
            }
            REFUSED => {
                let (displacement, rest) = word(rest)?;
                let read = ReadId { number: (first >> 32) as u32, apart: first >> 8 & 1 != 0 };
                let failure = Failure { class: i32::from((first >> 16) as u16), displacement: displacement as i64 };
                (failure.class != 0).then_some((Record::Refused(read, failure), rest))
            }
            POST => Some((Record::Post, rest)),
            OFFER => word(rest).map(|(address, rest)| (Record::Offer(address), rest)),
            READS => word(rest).map(|(base, rest)| (Record::Reads(base), rest)),
            kind => match KINDS.get(usize::from(kind).wrapping_sub(Kind::Put as usize)) {
                Some(kind) => access(*kind, first, rest),
                None => {
                    Some((Record::Sync(*SYNCS.get(usize::from(kind).wrapping_sub(SyncKind::Flush as usize))?), rest))
                }
            },
        }
    }
}

#[inline(always)]
fn access(kind: Kind, first: u64, rest: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (words, rest) = rest.split_first_chunk::<{ HEAD_BYTES - size_of::<u64>() }>()?;
    let (words, _) = words.as_chunks::<{ size_of::<u64>() }>();
    let [displacement, count, last] = core::array::from_fn(|word| u64::from_le_bytes(words[word]));
    let head = Head {
        kind,
        operation: *OPERATIONS.get(usize::from((first >> 8) as u8))?,
        datatype: (first >> 16) as u16,
        basic: (first >> 32) as u16,
        apart: first >> 48 & 1 != 0,
        lent: first >> 49 & 1 != 0,
        displacement: displacement as i64,
        count,
        number: last as u32,
    };
    let (description, rest) = rest.split_at_checked(usize::from((last >> 32) as u16))?;
    let (data, rest) = rest.split_at_checked(usize::from((last >> 48) as u16))?;
    Some((Record::Access(head, description, data), rest))
}

#[inline(always)]
fn word(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*word), rest))
}

/// The tags of the messages of a long access, by its number. Packets go outside all tags.
pub struct Tags {
    /// Of the description of the target's datatype.
    pub description: i32,
    /// Of the data.
    pub data: i32,
    /// Of what was read.
    pub result: i32,
}

impl Tags {
    /// Of a number below 2^28; of any other ones that no message has.
    pub fn of(number: u32) -> Tags {
        let first = (number & ((1 << 28) - 1)) as i32 * 4;
        Tags { description: first, data: first + 1, result: first + 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head {
        kind: Kind::GetAccumulate,
        operation: Operation::Bxor,
        datatype: 521,
        basic: 522,
        apart: false,
        lent: true,
        displacement: -3,
        count: 1 << 40,
        number: 7,
    };

    #[test]
    fn tables_are_by_number() {
        assert!(KINDS.iter().zip(1..).all(|(kind, number)| *kind as u8 == number));
        assert!(SYNCS.iter().zip(6..).all(|(sync, number)| *sync as u8 == number));
        assert!(OPERATIONS.iter().zip(0..).all(|(operation, number)| *operation as u32 == number));
    }

    #[test]
    fn records_come_back_and_what_is_none_is_refused() {
        let mut records = Vec::new();
        push_access(&mut records, &HEAD, 3, 2);
        records.extend_from_slice(&[1, 2, 3, 4, 5]);
        let access = records.clone();
        SYNCS.iter().for_each(|sync| push_sync(&mut records, *sync));
        let failure = Failure { class: 56, displacement: -9 };
        push_ack(&mut records, None);
        push_ack(&mut records, Some(failure));
        push_answer(&mut records, u32::MAX, 1);
        records.push(77);
        push_post(&mut records);
        let reads = [ReadId { number: 9, apart: false }, ReadId { number: u32::MAX, apart: true }];
        push_offer(&mut records, u64::MAX);
        push_reads(&mut records, 1 << 63);
        reads.iter().for_each(|read| push_refused(&mut records, *read, failure));
        let mut rest = &records[..];
        let mut wanted = alloc::vec![Record::Access(HEAD, &[1, 2, 3], &[4, 5])];
        wanted.extend(SYNCS.map(Record::Sync));
        wanted.extend([Record::Ack(None), Record::Ack(Some(failure)), Record::Answer(u32::MAX, &[77]), Record::Post]);
        wanted.extend([Record::Offer(u64::MAX), Record::Reads(1 << 63)]);
        wanted.extend(reads.map(|read| Record::Refused(read, failure)));
        for wanted in wanted {
            let (record, after) = Record::split(rest).unwrap();
            assert_eq!(record, wanted);
            rest = after;
        }
        assert!(rest.is_empty());
        for end in 0..access.len() {
            assert_eq!(Record::split(&access[..end]), None, "{end} bytes");
        }
        for (at, value) in [(0, 0), (0, 17), (0, 200), (1, 14), (1, 200), (28, 6), (29, 1), (30, 3), (31, 1)] {
            let mut wrong = access.clone();
            wrong[at] = value;
            assert_eq!(Record::split(&wrong), None, "byte {at} is {value}");
        }
        assert_eq!(Record::split(&[REFUSED, 0, 0, 0, 7, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]), None, "no class");
    }
}
