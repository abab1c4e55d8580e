//! The handshake, by which the two ends of a connection prove to each other that they belong to the same job.
//!
//! | sender | message | bytes |
//! |---|---|---|
//! | connecting side | hello: magic [8], wire id u32, from u32, to u32, interface of from u8, of to u8, zero u16, job u64, nonce [32] | 64 |
//! | accepting side | answer: nonce [32], MAC("answer", hello, nonce) | 64 |
//! | connecting side | proof: MAC("proof", hello, nonce) | 32 |
//! | accepting side | verdict: 1 welcome, 2 yield to the connection that the accepting side makes | 1 |
//!
//! MAC is HMAC-SHA-256 (RFC 2104) under the job's secret, compared in constant time. Data follows a welcome.

use crate::wire::{self, u32_at, u64_at};
use hmac::{Hmac, KeyInit, Mac};
use opal_core::framework::btl::Job;
use sha2::Sha256;

/// Bytes of hello and answer.
pub const HELLO_BYTES: usize = 64;
/// Bytes of a proof.
pub const PROOF_BYTES: usize = 32;
/// The verdict by which the connection is in force.
pub const WELCOME: u8 = 1;
/// The verdict by which the connecting side waits for the accepting side's own connection.
pub const YIELD: u8 = 2;
const MAGIC: [u8; 8] = *b"ompi-tcp";

/// Random bytes for one handshake.
pub type Nonce = [u8; 32];

/// The two ends of a connection: indices of processes and numbers of interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointIds {
    /// The connecting process.
    pub from: u32,
    /// The accepting process.
    pub to: u32,
    pub from_interface: u8,
    pub to_interface: u8,
}

/// Why a hello is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is no hello to this process of this job.
    Invalid,
    /// It has another wire format, of this id.
    OtherFormat(u32),
}

/// The first message.
pub fn hello(job: &Job, ids: EndpointIds, nonce: &Nonce) -> [u8; HELLO_BYTES] {
    let mut bytes = [0; HELLO_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&wire::WIRE_ID.to_le_bytes());
    bytes[12..16].copy_from_slice(&ids.from.to_le_bytes());
    bytes[16..20].copy_from_slice(&ids.to.to_le_bytes());
    bytes[20] = ids.from_interface;
    bytes[21] = ids.to_interface;
    bytes[24..32].copy_from_slice(&job.number.to_le_bytes());
    bytes[32..].copy_from_slice(nonce);
    bytes
}

/// Checks the first message, as the process that accepts.
pub fn check_hello(job: &Job, hello: &[u8; HELLO_BYTES]) -> Result<EndpointIds, Refused> {
    if hello[..8] != MAGIC {
        return Err(Refused::Invalid);
    }
    if u32_at(hello, 8) != wire::WIRE_ID {
        return Err(Refused::OtherFormat(u32_at(hello, 8)));
    }
    let ids = EndpointIds {
        from: u32_at(hello, 12),
        to: u32_at(hello, 16),
        from_interface: hello[20],
        to_interface: hello[21],
    };
    let plausible =
        u64_at(hello, 24) == job.number && ids.to == job.index && ids.from < job.size && ids.from != job.index;
    if plausible { Ok(ids) } else { Err(Refused::Invalid) }
}

/// The second message.
pub fn answer(job: &Job, hello: &[u8; HELLO_BYTES], nonce: &Nonce) -> [u8; HELLO_BYTES] {
    let mut bytes = [0; HELLO_BYTES];
    bytes[..32].copy_from_slice(nonce);
    bytes[32..].copy_from_slice(&mac(job, b"answer", hello, nonce).finalize().into_bytes());
    bytes
}

/// The third message, if the second one proves that the accepting side knows the secret.
pub fn proof(job: &Job, hello: &[u8; HELLO_BYTES], answer: &[u8; HELLO_BYTES]) -> Option<[u8; PROOF_BYTES]> {
    let (nonce, theirs) = answer.split_first_chunk::<32>()?;
    mac(job, b"answer", hello, nonce).verify_slice(theirs).ok()?;
    Some(mac(job, b"proof", hello, nonce).finalize().into_bytes().into())
}

/// Whether the third message proves that the connecting side knows the secret.
pub fn is_proof_valid(job: &Job, hello: &[u8; HELLO_BYTES], nonce: &Nonce, proof: &[u8]) -> bool {
    mac(job, b"proof", hello, nonce).verify_slice(proof).is_ok()
}

fn mac(job: &Job, label: &[u8], hello: &[u8; HELLO_BYTES], nonce: &Nonce) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&job.secret).expect("HMAC takes keys of any length");
    mac.update(label);
    mac.update(hello);
    mac.update(nonce);
    mac
}
