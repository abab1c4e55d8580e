//! The handshake of a daemon that calls mpirun.
//!
//! | sender | message | bytes |
//! |---|---|---|
//! | daemon | magic (8 bytes), protocol u32, node u32, taken u64, nonce (32 bytes), PROOF("call", all of that) | 88 |
//! | mpirun | nonce (32 bytes), taken u64, PROOF("answer", the call, nonce, taken) | 72 |
//! | daemon | PROOF("confirm", the call, mpirun's nonce) | 32 |
//!
//! PROOF is HMAC-SHA-256 (RFC 2104) under the job's secret, compared in constant time. That of the call tells outsiders
//! at once. Taken is how many frames of the other side came over connections before this one ([`super::resume`]): 0 for a first call, and
//! more for each later one, since a daemon that was not told its orders does not call again.
//! An attacker that recorded a call can send it again, but not confirm it. Frames follow, under keys that are
//! proofs as well: both nonces go into them, so no two connections have the same.

use super::{OobFlaw, PROTOCOL, SECRET_BYTES, Secret};
use crate::job;
use alloc::vec::Vec;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Bytes of a nonce.
pub const NONCE_BYTES: usize = 32;
/// Bytes of a proof.
pub const PROOF_BYTES: usize = 32;
/// Random bytes of one side for one handshake.
pub type Nonce = [u8; NONCE_BYTES];
/// What frames of one direction are proven with.
pub type SealKey = [u8; PROOF_BYTES];

const MAGIC: [u8; 8] = *b"ompi-oob";
const CALL_BYTES: usize = MAGIC.len() + 16 + NONCE_BYTES + PROOF_BYTES;
const ANSWER_BYTES: usize = NONCE_BYTES + TAKEN_BYTES + PROOF_BYTES;
const TAKEN_BYTES: usize = 8;

/// The keys of a connection.
pub struct Keys {
    /// Of what the daemon sends.
    pub daemon: SealKey,
    /// Of what mpirun sends.
    pub mpirun: SealKey,
}

/// What to do next.
pub enum Step {
    /// Wait for more bytes.
    Wait,
    /// Send these, then wait.
    Send(Vec<u8>),
    /// The other side is trusted: the node that it is, the connection's keys, what came behind the handshake, and what is to be
    /// sent first.
    Trusted {
        /// The daemon's node.
        node: u32,
        /// Of this connection.
        keys: Keys,
        /// The beginning of the other side's frames.
        rest: Vec<u8>,
        /// Belongs to the handshake.
        send: Vec<u8>,
        /// How many frames this side said that it has taken.
        told: u64,
        /// How many the other side has.
        theirs: u64,
    },
}

/// mpirun's side.
pub struct Accepting {
    secret: Secret,
    nonce: Nonce,
    bytes: Vec<u8>,
    /// The call that was answered, and with which number.
    call: Option<(Vec<u8>, u64)>,
}

/// A daemon's side.
pub struct Calling {
    secret: Secret,
    node: u32,
    taken: u64,
    call: Vec<u8>,
    bytes: Vec<u8>,
}

impl Accepting {
    /// With a nonce that was never used.
    pub fn new(secret: Secret, nonce: Nonce) -> Accepting {
        Accepting { secret, nonce, bytes: Vec::new(), call: None }
    }

    /// Whether a caller that knows the secret was answered.
    pub fn is_answered(&self) -> bool {
        self.call.is_some()
    }

    /// Takes what came, where nobody calls again.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Step, OobFlaw> {
        self.push_with(bytes, |_| 0)
    }

    /// Takes what came. `taken` says how many frames of a node came over connections before.
    pub fn push_with(&mut self, bytes: &[u8], taken: impl Fn(u32) -> u64) -> Result<Step, OobFlaw> {
        self.bytes.extend_from_slice(bytes);
        if let Some((call, told)) = &self.call {
            let Some((confirm, rest)) = self.bytes.split_at_checked(PROOF_BYTES) else { return Ok(Step::Wait) };
            if !proves(&self.secret, &[b"confirm", call, &self.nonce], confirm) {
                return Err(OobFlaw::Proof);
            }
            let keys = keys(&self.secret, call, &self.nonce);
            let (node, theirs) = (node_of(call), u64_at(call, MAGIC.len() + 8).unwrap_or_default());
            return Ok(Step::Trusted { node, keys, rest: rest.to_vec(), send: Vec::new(), told: *told, theirs });
        }
        // A caller that sends something else is refused at once, and not waited for.
        let known = self.bytes.len().min(MAGIC.len());
        if self.bytes[..known] != MAGIC[..known] {
            return Err(OobFlaw::Magic);
        }
        if let Some(protocol) = u32_at(&self.bytes, MAGIC.len()).filter(|theirs| *theirs != PROTOCOL) {
            return Err(OobFlaw::Protocol(protocol));
        }
        if self.bytes.len() < CALL_BYTES {
            return Ok(Step::Wait);
        }
        // A daemon says nothing more before it has the answer.
        if self.bytes.len() > CALL_BYTES {
            return Err(OobFlaw::Length);
        }
        let (said, theirs) = self.bytes.split_at(CALL_BYTES - PROOF_BYTES);
        if !proves(&self.secret, &[b"call", said], theirs) {
            return Err(OobFlaw::Proof);
        }
        let call = core::mem::take(&mut self.bytes);
        let told = taken(node_of(&call));
        let number = told.to_le_bytes();
        let answer = proof(&self.secret, &[b"answer", &call, &self.nonce, &number]);
        self.call = Some((call, told));
        Ok(Step::Send([&self.nonce[..], &number, &answer].concat()))
    }
}

impl Calling {
    /// The first call of this node, with a nonce that was never used.
    pub fn new(secret: Secret, node: u32, nonce: Nonce) -> Calling {
        Calling::again(secret, node, 0, nonce)
    }

    /// A call after the connection broke. So many frames have come.
    pub fn again(secret: Secret, node: u32, taken: u64, nonce: Nonce) -> Calling {
        let mut call = Vec::with_capacity(CALL_BYTES);
        call.extend_from_slice(&MAGIC);
        call.extend_from_slice(&PROTOCOL.to_le_bytes());
        call.extend_from_slice(&node.to_le_bytes());
        call.extend_from_slice(&taken.to_le_bytes());
        call.extend_from_slice(&nonce);
        let own = proof(&secret, &[b"call", &call]);
        call.extend_from_slice(&own);
        Calling { secret, node, taken, call, bytes: Vec::new() }
    }

    /// What is sent first.
    pub fn call(&self) -> &[u8] {
        &self.call
    }

    /// Takes what came.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Step, OobFlaw> {
        self.bytes.extend_from_slice(bytes);
        let Some((answer, rest)) = self.bytes.split_at_checked(ANSWER_BYTES) else { return Ok(Step::Wait) };
        let (nonce, after) = answer.split_at(NONCE_BYTES);
        let (number, theirs) = after.split_at(TAKEN_BYTES);
        if !proves(&self.secret, &[b"answer", &self.call, nonce, number], theirs) {
            return Err(OobFlaw::Proof);
        }
        let confirm = proof(&self.secret, &[b"confirm", &self.call, nonce]);
        let keys = keys(&self.secret, &self.call, nonce);
        let (told, theirs) = (self.taken, u64_at(number, 0).unwrap_or_default());
        Ok(Step::Trusted { node: self.node, keys, rest: rest.to_vec(), send: confirm.to_vec(), told, theirs })
    }
}

/// The secret of the ranks, which need not be able to speak for mpirun.
pub fn secret_of_ranks(secret: &Secret) -> [u8; 32] {
    proof(secret, &[b"ranks"])
}

/// A secret whose job has this number among those of its launcher: it stands in its last bytes.
pub fn of_job(mut secret: Secret, number: u32) -> Secret {
    secret[SECRET_BYTES - 4..].copy_from_slice(&number.to_le_bytes());
    secret
}

/// The job, the same on all hosts.
pub fn job_of(secret: &Secret) -> u64 {
    let bytes = proof(secret, &[b"job"]);
    let random = u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
    job::numbered(random, u32_at(secret, SECRET_BYTES - 4).unwrap_or_default())
}

fn keys(secret: &Secret, call: &[u8], nonce: &[u8]) -> Keys {
    Keys { daemon: proof(secret, &[b"daemon", call, nonce]), mpirun: proof(secret, &[b"mpirun", call, nonce]) }
}

fn node_of(call: &[u8]) -> u32 {
    u32_at(call, MAGIC.len() + 4).unwrap_or(u32::MAX)
}

fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let field: [u8; 4] = bytes.get(offset..offset + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(field))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let field: [u8; 8] = bytes.get(offset..offset + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(field))
}

/// The parts one after the other, the first of them saying what it is for.
pub(super) fn proof(key: &[u8; 32], parts: &[&[u8]]) -> [u8; PROOF_BYTES] {
    let mut bytes = [0; PROOF_BYTES];
    bytes.copy_from_slice(&mac(key, parts).finalize().into_bytes());
    bytes
}

pub(super) fn proves(key: &[u8; 32], parts: &[&[u8]], theirs: &[u8]) -> bool {
    mac(key, parts).verify_slice(theirs).is_ok()
}

fn mac(key: &[u8; 32], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of HMAC have any length");
    parts.iter().for_each(|part| mac.update(part));
    mac
}
