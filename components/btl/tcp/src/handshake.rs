//! How two ends of a connection prove to each other that they belong to the same job.
//!
//! | who | what | bytes |
//! |---|---|---|
//! | who connects | hello: magic [8], wire id u32, from u32, to u32, interface of from u8, of to u8, zero u16, job u64, nonce [32] | 64 |
//! | who accepts | answer: nonce [32], MAC("answer", hello, nonce) | 64 |
//! | who connects | proof: MAC("proof", hello, nonce) | 32 |
//! | who accepts | verdict: 1 welcome, 2 yield to the connection that is on its way from here | 1 |
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
/// The connection is in force from now on.
pub const WELCOME: u8 = 1;
/// This process's own attempt goes first; wait for it.
pub const YIELD: u8 = 2;
const MAGIC: [u8; 8] = *b"ompi-tcp";

/// Random bytes for one handshake.
pub type Nonce = [u8; 32];

/// Who connects, to whom, over which pair of interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    pub from: u32,
    pub to: u32,
    pub from_interface: u8,
    pub to_interface: u8,
}

/// Why a hello is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is none.
    Stranger,
    /// It is one in another format.
    OtherFormat(u32),
}

/// The first message.
pub fn hello(job: &Job, names: Names, nonce: &Nonce) -> [u8; HELLO_BYTES] {
    let mut bytes = [0; HELLO_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&wire::WIRE_ID.to_le_bytes());
    bytes[12..16].copy_from_slice(&names.from.to_le_bytes());
    bytes[16..20].copy_from_slice(&names.to.to_le_bytes());
    bytes[20] = names.from_interface;
    bytes[21] = names.to_interface;
    bytes[24..32].copy_from_slice(&job.number.to_le_bytes());
    bytes[32..].copy_from_slice(nonce);
    bytes
}

/// Checks a hello that is meant for this process.
pub fn greeted(job: &Job, hello: &[u8; HELLO_BYTES]) -> Result<Names, Refused> {
    if hello[..8] != MAGIC {
        return Err(Refused::Stranger);
    }
    if u32_at(hello, 8) != wire::WIRE_ID {
        return Err(Refused::OtherFormat(u32_at(hello, 8)));
    }
    let names =
        Names { from: u32_at(hello, 12), to: u32_at(hello, 16), from_interface: hello[20], to_interface: hello[21] };
    let plausible =
        u64_at(hello, 24) == job.number && names.to == job.index && names.from < job.size && names.from != job.index;
    if plausible { Ok(names) } else { Err(Refused::Stranger) }
}

/// The second message.
pub fn answer(job: &Job, hello: &[u8; HELLO_BYTES], nonce: &Nonce) -> [u8; HELLO_BYTES] {
    let mut bytes = [0; HELLO_BYTES];
    bytes[..32].copy_from_slice(nonce);
    bytes[32..].copy_from_slice(&mac(job, b"answer", hello, nonce).finalize().into_bytes());
    bytes
}

/// The third message, if the answer proves that the other end knows the secret.
pub fn answered(job: &Job, hello: &[u8; HELLO_BYTES], answer: &[u8; HELLO_BYTES]) -> Option<[u8; PROOF_BYTES]> {
    let (nonce, theirs) = answer.split_first_chunk::<32>()?;
    mac(job, b"answer", hello, nonce).verify_slice(theirs).ok()?;
    Some(mac(job, b"proof", hello, nonce).finalize().into_bytes().into())
}

/// Whether the third message proves that the other end knows the secret.
pub fn is_proved(job: &Job, hello: &[u8; HELLO_BYTES], nonce: &Nonce, proof: &[u8; PROOF_BYTES]) -> bool {
    mac(job, b"proof", hello, nonce).verify_slice(proof).is_ok()
}

fn mac(job: &Job, what: &[u8], hello: &[u8; HELLO_BYTES], nonce: &Nonce) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&job.secret).expect("HMAC takes keys of any length");
    mac.update(what);
    mac.update(hello);
    mac.update(nonce);
    mac
}
