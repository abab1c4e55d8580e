//! The handshake, by which the two ends of a connection prove to each other that they belong to the same job.
//!
//! | sender | message | bytes |
//! |---|---|---|
//! | connecting side | hello: magic (8 bytes), wire id u32, from u32, to u32, interface of from u8, of to u8, protection u8, resumes u8, job u64, received u64, attempt u32, zero u32, nonce (16 bytes), first half of MAC("hello", what goes before) | 80 |
//! | accepting side | answer: nonce (32 bytes), received u64, resumes u8, zeros, MAC("answer", hello, what goes before) | 80 |
//! | connecting side | proof: MAC("proof", hello, answer) | 32 |
//! | accepting side | verdict: 1 welcome, 2 yield to the connection that the accepting side makes, 3 to 5 refused, because the accepting side's protection is none, auth, encrypt | 1 |
//!
//! MAC is HMAC-SHA-256 (RFC 2104) under the job's secret, compared in constant time. Data follows a welcome. That of
//! the hello proves nothing for good, since an attacker that has seen it can send it again. It tells at once which
//! connections cannot be of the job, so that many of those do not crowd out the others (`accept`). Protection is 0
//! none, 1 auth, 2 encrypt (`record`); where it is not none the data is under the keys MAC("connect", hello, nonce) for
//! what the connecting side sends and MAC("accept", hello, nonce) for the rest. Hello and answer have a nonce each, so
//! no two connections have the same keys. The interfaces of a hello name the connection, not the path: one that broke is made
//! again through any interface (`resume`). Both sides say how many bytes of its stream have come; resumes is 1 where a side
//! keeps what is not acknowledged. Attempts are numbered, so that one which was given up cannot take the place of a later
//! one. An attacker that learns the job's secret can read recorded traffic.

use crate::record::{Key, Protect};
use crate::wire::{self, bytes_in, u32_in, u64_in};
use core::ops::Range;
use hmac::{Hmac, KeyInit, Mac};
use memoffset::span_of;
use opal_core::framework::btl::Job;
use sha2::Sha256;

/// Bytes of hello and answer.
pub const HELLO_BYTES: usize = size_of::<Hello>();
const _: () = assert!(size_of::<Answer>() == HELLO_BYTES);
/// Bytes of a proof.
pub const PROOF_BYTES: usize = 32;
/// The verdict by which the connection is in force.
pub const WELCOME: u8 = 1;
/// The verdict by which the connecting side waits for the accepting side's own connection.
pub const YIELD: u8 = 2;
/// The verdict, and how the accepting side protects the connection, by which it does not come about.
pub const OTHER_PROTECTION: u8 = 3;
const MAGIC: [u8; 8] = *b"ompi-tcp";

/// Random bytes of the accepting side for one handshake.
pub type Nonce = [u8; 32];
/// Random bytes of the connecting side for one handshake.
pub type HelloNonce = [u8; 16];

/// The two ends of a connection: indices of processes and numbers of interfaces, and how the connecting one protects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointIds {
    /// The connecting process.
    pub from: u32,
    /// The accepting process.
    pub to: u32,
    pub from_interface: u8,
    pub to_interface: u8,
    pub protect: Protect,
    /// Of the connecting process.
    pub progress: Progress,
    /// The number of the attempt, from 1.
    pub attempt: u32,
}

/// How far a side is with what the other one sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the stream that have come.
    pub received: u64,
    /// It keeps what it sends until that is acknowledged.
    pub resumes: bool,
}

/// The keys of a connection, of what either side sends.
pub struct Keys {
    pub connecting: Key,
    pub accepting: Key,
}

/// Why a hello is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is no hello of a process of this job to this one.
    Invalid,
    /// It has another wire format, of this id.
    OtherFormat(u32),
}

/// The first message.
pub fn hello(job: &Job, ids: EndpointIds, nonce: &HelloNonce) -> [u8; HELLO_BYTES] {
    let mut bytes = [0; HELLO_BYTES];
    bytes[span_of!(Hello, magic)].copy_from_slice(&MAGIC);
    bytes[span_of!(Hello, wire_id)].copy_from_slice(&wire::WIRE_ID.to_le_bytes());
    bytes[span_of!(Hello, from)].copy_from_slice(&ids.from.to_le_bytes());
    bytes[span_of!(Hello, to)].copy_from_slice(&ids.to.to_le_bytes());
    bytes[span_of!(Hello, from_interface)].copy_from_slice(&[ids.from_interface]);
    bytes[span_of!(Hello, to_interface)].copy_from_slice(&[ids.to_interface]);
    bytes[span_of!(Hello, protect)].copy_from_slice(&[ids.protect as u8]);
    bytes[span_of!(Hello, resumes)].copy_from_slice(&[u8::from(ids.progress.resumes)]);
    bytes[span_of!(Hello, received)].copy_from_slice(&ids.progress.received.to_le_bytes());
    bytes[span_of!(Hello, attempt)].copy_from_slice(&ids.attempt.to_le_bytes());
    bytes[span_of!(Hello, job)].copy_from_slice(&job.number.to_le_bytes());
    bytes[span_of!(Hello, nonce)].copy_from_slice(nonce);
    let mac = hello_mac(job, &bytes).finalize().into_bytes();
    bytes[span_of!(Hello, mac)].copy_from_slice(&mac[..HELLO_MAC_BYTES]);
    bytes
}

/// The job that the first message names, if it is one.
pub fn job_of(hello: &[u8; HELLO_BYTES]) -> Result<u64, Refused> {
    check_format(hello).map(|()| u64_in(hello, span_of!(Hello, job)))
}

/// Checks what has come of the first message, as far as it tells the format.
pub fn check_beginning(hello: &[u8]) -> Result<(), Refused> {
    if hello.len() < span_of!(Hello, wire_id).end { Ok(()) } else { check_format(hello) }
}

fn check_format(hello: &[u8]) -> Result<(), Refused> {
    if hello[span_of!(Hello, magic)] != MAGIC {
        return Err(Refused::Invalid);
    }
    match u32_in(hello, span_of!(Hello, wire_id)) {
        wire::WIRE_ID => Ok(()),
        wire_id => Err(Refused::OtherFormat(wire_id)),
    }
}

/// Checks the first message, as the process that accepts.
pub fn check_hello(job: &Job, hello: &[u8; HELLO_BYTES]) -> Result<EndpointIds, Refused> {
    check_format(hello)?;
    let [from_interface] = bytes_in(hello, span_of!(Hello, from_interface));
    let [to_interface] = bytes_in(hello, span_of!(Hello, to_interface));
    let (from, to) = (u32_in(hello, span_of!(Hello, from)), u32_in(hello, span_of!(Hello, to)));
    let [protect] = bytes_in(hello, span_of!(Hello, protect));
    let protect = Protect::decode(protect).ok_or(Refused::Invalid)?;
    let progress = progress_in(hello, span_of!(Hello, received), span_of!(Hello, resumes));
    let attempt = u32_in(hello, span_of!(Hello, attempt));
    let ids = EndpointIds { from, to, from_interface, to_interface, protect, progress, attempt };
    let is_here = u64_in(hello, span_of!(Hello, job)) == job.number && ids.to == job.index;
    let plausible = is_here && ids.from < job.size && ids.from != job.index;
    let from_job = || hello_mac(job, hello).verify_truncated_left(&hello[span_of!(Hello, mac)]).is_ok();
    if plausible && from_job() { Ok(ids) } else { Err(Refused::Invalid) }
}

/// The second message.
pub fn answer(job: &Job, hello: &[u8; HELLO_BYTES], nonce: &Nonce, progress: Progress) -> [u8; HELLO_BYTES] {
    let mut bytes = [0; HELLO_BYTES];
    bytes[span_of!(Answer, nonce)].copy_from_slice(nonce);
    bytes[span_of!(Answer, received)].copy_from_slice(&progress.received.to_le_bytes());
    bytes[span_of!(Answer, resumes)].copy_from_slice(&[u8::from(progress.resumes)]);
    let mac = mac(job, b"answer", hello, &bytes[..ANSWER_SAID_BYTES]);
    bytes[span_of!(Answer, mac)].copy_from_slice(&mac.finalize().into_bytes());
    bytes
}

/// The third message, if the second one proves that the accepting side knows the secret.
pub fn proof(job: &Job, hello: &[u8; HELLO_BYTES], answer: &[u8; HELLO_BYTES]) -> Option<[u8; PROOF_BYTES]> {
    let said = &answer[..ANSWER_SAID_BYTES];
    mac(job, b"answer", hello, said).verify_slice(&answer[span_of!(Answer, mac)]).ok()?;
    Some(mac(job, b"proof", hello, said).finalize().into_bytes().into())
}

/// Whether the third message proves that the connecting side knows the secret.
pub fn is_proof_valid(
    job: &Job,
    hello: &[u8; HELLO_BYTES],
    answer: &[u8; HELLO_BYTES],
    proof: &[u8; PROOF_BYTES],
) -> bool {
    mac(job, b"proof", hello, &answer[..ANSWER_SAID_BYTES]).verify_slice(proof).is_ok()
}

/// The keys after a handshake with this hello, and this nonce in the answer.
pub fn keys(job: &Job, hello: &[u8; HELLO_BYTES], nonce: &Nonce) -> Keys {
    let key = |label| mac(job, label, hello, nonce).finalize().into_bytes().into();
    Keys { connecting: key(b"connect".as_slice()), accepting: key(b"accept".as_slice()) }
}

/// The accepting side's nonce in its answer.
pub fn nonce_of(answer: &[u8; HELLO_BYTES]) -> Nonce {
    bytes_in(answer, span_of!(Answer, nonce))
}

/// How far the accepting side says that it is.
pub fn progress_of(answer: &[u8; HELLO_BYTES]) -> Progress {
    progress_in(answer, span_of!(Answer, received), span_of!(Answer, resumes))
}

fn progress_in(bytes: &[u8; HELLO_BYTES], received: Range<usize>, resumes: Range<usize>) -> Progress {
    let [resumes] = bytes_in(bytes, resumes);
    Progress { received: u64_in(bytes, received), resumes: resumes == 1 }
}

fn mac(job: &Job, label: &[u8], hello: &[u8; HELLO_BYTES], answer: &[u8]) -> Hmac<Sha256> {
    mac_of(job, [label, hello, answer])
}

/// Of all that goes before its own place.
fn hello_mac(job: &Job, hello: &[u8; HELLO_BYTES]) -> Hmac<Sha256> {
    mac_of(job, [b"hello", &hello[..span_of!(Hello, mac).start], &[]])
}

fn mac_of(job: &Job, parts: [&[u8]; 3]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&job.secret).expect("HMAC takes keys of any length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}

/// All of an answer that its MAC is of.
const ANSWER_SAID_BYTES: usize = size_of::<Answer>() - 32;
/// Half of the hash, the least that RFC 2104 §5 recommends.
const HELLO_MAC_BYTES: usize = 16;

/// The first message. No value of it ever exists: it says where fields lie, as the next type does.
#[repr(C)]
struct Hello {
    magic: [u8; 8],
    wire_id: u32,
    from: u32,
    to: u32,
    from_interface: u8,
    to_interface: u8,
    protect: u8,
    resumes: u8,
    job: u64,
    received: u64,
    attempt: u32,
    zero: u32,
    nonce: HelloNonce,
    mac: [u8; HELLO_MAC_BYTES],
}

#[repr(C)]
struct Answer {
    nonce: Nonce,
    received: u64,
    resumes: u8,
    zeros: [u8; 7],
    mac: [u8; 32],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message that a process of any version can read far enough to say which format the other one speaks.
    #[test]
    fn fields_lie_where_the_table_says() {
        let names = [span_of!(Hello, magic), span_of!(Hello, wire_id), span_of!(Hello, from), span_of!(Hello, to)];
        assert_eq!(names, [0..8, 8..12, 12..16, 16..20]);
        let places = [span_of!(Hello, from_interface), span_of!(Hello, to_interface)];
        assert_eq!(places, [20..21, 21..22]);
        assert_eq!((span_of!(Hello, protect), span_of!(Hello, resumes)), (22..23, 23..24));
        assert_eq!(
            (span_of!(Hello, job), span_of!(Hello, received), span_of!(Hello, attempt)),
            (24..32, 32..40, 40..44)
        );
        assert_eq!((span_of!(Hello, nonce), span_of!(Hello, mac)), (48..64, 64..80));
        let answer =
            [span_of!(Answer, nonce), span_of!(Answer, received), span_of!(Answer, resumes), span_of!(Answer, mac)];
        assert_eq!(answer, [0..32, 32..40, 40..41, 48..80]);
        assert_eq!(ANSWER_SAID_BYTES, 48);
    }
}
