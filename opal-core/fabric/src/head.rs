//! What stands before each message, and the tokens by which it is known for one of the job.
//!
//! | offset | bytes | head |
//! |---|---|---|
//! | 0 | 4 | the transport's wire id |
//! | 4 | 4 | rank of the sender |
//! | 8 | 8 | token of the pair, see [`token`] |
//! | 16 | 8 | immediate |
//!
//! Little-endian. A transport may put more behind it.

use core::ops::Range;
use hmac::{Hmac, KeyInit, Mac};
use memoffset::span_of;
use opal_core::framework::btl::{self, Job, Peer};
use opal_core::sparse::Table;
use opal_core::{Error, Result, message};
use sha2::Sha256;

/// Bytes of a head.
pub const HEAD_BYTES: usize = size_of::<Layout>();

/// A head in parts, without the wire id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Rank of the sender.
    pub from: u32,
    /// The pair's token.
    pub token: u64,
    /// The immediate.
    pub immediate: u64,
}

impl Head {
    /// As bytes of a format.
    pub fn encode(&self, wire_id: u32) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[span_of!(Layout, wire_id)].copy_from_slice(&wire_id.to_le_bytes());
        bytes[span_of!(Layout, from)].copy_from_slice(&self.from.to_le_bytes());
        bytes[span_of!(Layout, token)].copy_from_slice(&self.token.to_le_bytes());
        bytes[span_of!(Layout, immediate)].copy_from_slice(&self.immediate.to_le_bytes());
        bytes
    }

    /// From bytes; `None` for those of another format.
    pub fn parse(bytes: &[u8; HEAD_BYTES], wire_id: u32) -> Option<Head> {
        let word = |range| u32::from_le_bytes(part(bytes, range));
        let long = |range| u64::from_le_bytes(part(bytes, range));
        (word(span_of!(Layout, wire_id)) == wire_id).then(|| Head {
            from: word(span_of!(Layout, from)),
            token: long(span_of!(Layout, token)),
            immediate: long(span_of!(Layout, immediate)),
        })
    }

    /// Whether only a process of the job can have made it, for this one. `known`: the token of messages of a rank that was added.
    pub fn is_of_job(&self, label: &str, job: &Job, known: impl FnOnce(u32) -> Option<u64>) -> bool {
        if self.from >= job.size || self.from == job.index {
            return false;
        }
        self.token == known(self.from).unwrap_or_else(|| token(label, job, self.from, job.index))
    }
}

/// What only processes of the job can write into a message of `from` to `to`; `label` is the transport's name.
pub fn token(label: &str, job: &Job, from: u32, to: u32) -> u64 {
    secret(label, job, [&from.to_le_bytes(), &to.to_le_bytes()])
}

/// Tokens of messages to a rank, and of those that come from it.
pub fn tokens(label: &str, job: &Job, rank: u32) -> [u64; 2] {
    [token(label, job, job.index, rank), token(label, job, rank, job.index)]
}

/// A number that only processes of the job can make of these parts: the first 8 bytes of their HMAC-SHA256.
pub fn secret(label: &str, job: &Job, parts: [&[u8]; 2]) -> u64 {
    let mut mac = Hmac::<Sha256>::new_from_slice(&job.secret).expect("HMAC takes keys of any length");
    mac.update(label.as_bytes());
    mac.update(&job.number.to_le_bytes());
    parts.iter().for_each(|part| mac.update(part));
    let hash = mac.finalize().into_bytes();
    u64::from_le_bytes(*hash.first_chunk().expect("the hash has 32 bytes"))
}

/// This process's address and a peer's, `parsed` from bytes in this format. `Err` after a message.
pub fn addresses<A, B>(
    label: &str,
    rank: u32,
    bytes: &[u8],
    (wire_id, format): (u32, &str),
    parsed: (Option<A>, Option<B>),
) -> Result<(A, B)> {
    btl::check_wire_id(label, rank, wire_id_of(bytes), wire_id, format)?;
    let (own, Some(theirs)) = parsed else {
        message!("{label}: the address of rank {rank} cannot be: it was damaged on the way");
        return Err(Error::Malformed);
    };
    Ok((own.expect("made by this process"), theirs))
}

/// The wire id of a published address, which stands first, whatever else there is in it.
pub fn wire_id_of(address: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*address.first_chunk()?))
}

/// Whether a process can be a peer: another one of the job, with an address. `Err(Exists)`: it is one already.
pub fn may_add<T>(peer: &Peer<'_>, job: &Job, peers: &Table<T>) -> Result<bool> {
    // Within a job, a process's number for the layer above is its rank.
    let rank = peer.index;
    if peer.is_self || peer.address.is_empty() || rank >= job.size || rank == job.index {
        return Ok(false);
    }
    if peers.get(rank as usize).is_some() { Err(Error::Exists) } else { Ok(true) }
}

fn part<const N: usize>(bytes: &[u8; HEAD_BYTES], range: Range<usize>) -> [u8; N] {
    bytes[range].try_into().expect("a field is as long as its type")
}

/// No value of it ever exists: it says where fields lie.
#[repr(C)]
struct Layout {
    wire_id: u32,
    from: u32,
    token: u64,
    immediate: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job = Job { number: 7, index: 1, size: 3, one_node: false, secret: [5; 32] };

    #[test]
    fn heads_come_back_in_their_own_format() {
        let head = Head { from: 2, token: 0x0123_4567_89ab_cdef, immediate: 1 << 63 };
        let bytes = head.encode(0x0102_0304);
        assert_eq!(bytes[..8], [4, 3, 2, 1, 2, 0, 0, 0]);
        assert_eq!((Head::parse(&bytes, 0x0102_0304), Head::parse(&bytes, 0x0102_0305)), (Some(head), None));
        assert_eq!((wire_id_of(&bytes), wire_id_of(&bytes[..3])), (Some(0x0102_0304), None));
    }

    #[test]
    fn only_the_job_makes_tokens() {
        let [there, here] = tokens("btl/x", &JOB, 2);
        let head = |from, token| Head { from, token, immediate: 0 };
        let is_of_job = |head: Head| head.is_of_job("btl/x", &JOB, |_| None);
        assert!(is_of_job(head(2, here)));
        assert!(!is_of_job(head(2, there)), "the other direction's");
        assert!(!is_of_job(head(0, here)), "another pair's");
        assert!(!is_of_job(head(1, token("btl/x", &JOB, 1, 1))), "this process itself");
        assert!(!is_of_job(head(3, token("btl/x", &JOB, 3, 1))), "no rank of the job");
        assert!(!head(2, here).is_of_job("btl/y", &JOB, |_| None), "another transport's");
        let others = [Job { number: 8, ..JOB }, Job { secret: [6; 32], ..JOB }];
        assert!(others.iter().all(|job| !head(2, here).is_of_job("btl/x", job, |_| None)));
        assert!(head(2, 9).is_of_job("btl/x", &JOB, |_| Some(9)), "one that is known is not made again");
    }

    #[test]
    fn addresses_of_one_format() {
        let bytes = Head { from: 2, token: 0, immediate: 0 }.encode(7);
        let parse =
            |wire_id, theirs: Option<u8>| addresses("btl/x", 2, &bytes, (wire_id, "btl/x 1"), (Some('a'), theirs));
        assert_eq!(parse(7, Some(9)), Ok(('a', 9)));
        assert_eq!([parse(7, None), parse(8, Some(9))], [Err(Error::Malformed), Err(Error::Mismatch)]);
    }

    #[test]
    fn who_can_be_a_peer() {
        let peer = |index, is_self, address| Peer { index, is_self, same_node: true, address };
        let mut peers = Table::new();
        *peers.place(0) = Some(());
        let may = |peer: Peer<'static>| may_add(&peer, &JOB, &peers);
        assert_eq!([may(peer(2, false, &[1])), may(peer(0, false, &[1]))], [Ok(true), Err(Error::Exists)]);
        let not = [peer(2, true, &[1]), peer(1, false, &[1]), peer(3, false, &[1]), peer(2, false, &[])];
        assert!(not.into_iter().all(|one| may(one) == Ok(false)));
    }
}
