//! The shareable memory of another process of the node.

use super::joint::{self, Region};
use crate::sync::ConditionalLock;
use crate::sys::{GrowingMapping, Place, PlacedFile};
use crate::{Error, Result};
use alloc::collections::BTreeMap;
use alloc::sync::{Arc, Weak};

/// Its file, mapped here as far as it was needed.
pub struct PeerHeap {
    place: Place,
    // Where the range begins there, and how long it is.
    base: u64,
    bytes: u64,
    // From the first use on.
    range: ConditionalLock<Option<Arc<GrowingMapping>>>,
}

impl PeerHeap {
    /// The memory of the process that has this file: opened once, as long as somebody has it. Errors as below.
    pub fn of(place: &Place) -> Result<Arc<PeerHeap>> {
        let mut known = KNOWN.lock();
        if let Some(peer) = known.get(&place.words()).and_then(Weak::upgrade) {
            return Ok(peer);
        }
        let peer = Arc::new(PeerHeap::open(*place)?);
        known.retain(|_, peer| peer.strong_count() > 0);
        known.insert(place.words(), Arc::downgrade(&peer));
        Ok(peer)
    }

    /// Opens the file of a peer and looks where its range begins. Maps nothing yet. `Err(Permission)` if it cannot be opened,
    /// `Err(Mismatch)` if another file is there or it is none of these.
    fn open(place: Place) -> Result<PeerHeap> {
        let (file, mut header) = (opened(&place)?, [0; 16]);
        file.read_beginning(&mut header).map_err(|_| Error::Mismatch)?;
        let word = |at: usize| u64::from_le_bytes(core::array::from_fn(|byte| header[at + byte]));
        let (base, bytes) = (word(8), file.length()?);
        let is_range = word(0) == MAGIC && bytes > HEADER_BYTES as u64 && base.checked_add(bytes).is_some();
        if !is_range || usize::try_from(bytes).is_err() {
            return Err(Error::Mismatch);
        }
        Ok(PeerHeap { place, base, bytes, range: ConditionalLock::new(None) })
    }

    /// Whether all of these bytes of the peer's are where its shareable memory lies, or in memory that it and this process have mapped
    /// together ([`Joint`](super::Joint)).
    #[inline(always)]
    pub fn holds(&self, remote: u64, bytes: usize) -> bool {
        self.offset(remote, bytes).is_some() || joint::find(&self.place, remote, bytes).is_some()
    }

    /// Where `bytes` bytes that the peer has at `remote` are here; maps them if they are not yet. Any process may write them at any time.
    /// `Err(Invalid)` if they are not shareable, `Err(Unreachable)` if they must be mapped and the peer is gone, `Err(OutOfResource)` if
    /// there are no addresses left.
    pub fn reach(&self, remote: u64, bytes: usize) -> Result<Mapped> {
        if let Some(offset) = self.offset(remote, bytes) {
            let range = self.mapped(offset + bytes)?;
            return Ok(Mapped { at: range.base().wrapping_add(offset), _kept: Kept::Range(range) });
        }
        let (at, region) = joint::find(&self.place, remote, bytes).ok_or(Error::Invalid)?;
        Ok(Mapped { at, _kept: Kept::Joint(region) })
    }

    /// Unmaps what is mapped, once nobody holds a part of it.
    pub fn let_go(&self) {
        *self.range.lock() = None;
    }

    // Held for as long as it is used, not the lock: other threads copy at the same time.
    fn mapped(&self, bytes: usize) -> Result<Arc<GrowingMapping>> {
        let mut held = self.range.lock();
        let range = match &*held {
            Some(range) => range,
            None => held.insert(Arc::new(GrowingMapping::reserve(self.bytes as usize)?)),
        };
        if bytes > range.mapped() {
            // The descriptor is not kept: a node of many processes would need many.
            let file = opened(&self.place).map_err(|_| Error::Unreachable)?;
            range.extend(&file, bytes, false)?;
        }
        Ok(range.clone())
    }

    #[inline(always)]
    fn offset(&self, remote: u64, bytes: usize) -> Option<usize> {
        let offset = remote.wrapping_sub(self.base);
        (offset < self.bytes && bytes as u64 <= self.bytes - offset).then_some(offset as usize)
    }
}

/// A part of a peer's memory, mapped as long as this lives.
#[derive(Debug)]
pub struct Mapped {
    at: *mut u8,
    _kept: Kept,
}

/// What keeps it mapped.
#[derive(Debug)]
enum Kept {
    Range(#[expect(dead_code, reason = "held, not looked at")] Arc<GrowingMapping>),
    Joint(#[expect(dead_code, reason = "held, not looked at")] Arc<Region>),
}

// SAFETY: an address range; what is done with its bytes is up to the program's synchronisation.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// The address of its first byte here.
    pub fn at(&self) -> *mut u8 {
        self.at
    }
}

// By place. Whoever needs one holds it.
static KNOWN: ConditionalLock<BTreeMap<[u64; Place::WORDS], Weak<PeerHeap>>> = ConditionalLock::new(BTreeMap::new());

fn opened(place: &Place) -> Result<PlacedFile> {
    // Not sealed, another number: not what the peer says.
    PlacedFile::open(place).map_err(|error| if error == Error::Malformed { Error::Mismatch } else { error })
}

/// "ompishar", as the header begins.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"ompishar");
/// The first page.
pub(super) const HEADER_BYTES: usize = 4096;
