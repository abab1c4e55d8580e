//! Allocating, and a peer that is this process.

use super::*;

const MIB: usize = 1 << 20;
// One test at a time: where a block lies depends on all others.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn memory_is_shareable_until_it_is_freed_and_peers_see_what_comes_after() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    crate::sync::raise_threads();
    let at = allocate(3 * MIB, 4096).unwrap();
    assert!(at.addr().is_multiple_of(4096) && holds(at, 3 * MIB) && !holds(at, usize::MAX));
    let local = 0u8;
    assert!(!holds(&raw const local, 1));
    assert!(!holds(at, usize::MAX) && at.addr() - BASE.load(Ordering::Relaxed) >= HEADER_BYTES);
    let peer = PeerHeap::of(&place().unwrap()).unwrap();
    let reach = || peer.reach(at.addr() as u64, 3 * MIB).map(|mapped| mapped.at());
    let there = reach().unwrap();
    assert_ne!(there, at);
    let last = 3 * MIB - 1;
    let (own, theirs) = (at.wrapping_add(last), there.wrapping_add(last));
    // SAFETY: allocated here; only this test knows it. So below.
    unsafe { own.write_volatile(7) };
    // SAFETY: the same byte.
    assert_eq!(unsafe { theirs.read_volatile() }, 7);
    // SAFETY: not used any more, but through the peer's mapping.
    unsafe { free(at) };
    // SAFETY: still mapped, whatever is there.
    assert_eq!(unsafe { theirs.read_volatile() }, 0, "its page went back to the system");
    let again = allocate(3 * MIB, 4096).unwrap();
    assert_eq!(again, at, "the first place that fits");
    // SAFETY: allocated again.
    unsafe { own.write_volatile(8) };
    // SAFETY: as above.
    assert_eq!(unsafe { theirs.read_volatile() }, 8, "without a new mapping");
    // SAFETY: not used any more.
    unsafe { free(again) };
}

#[test]
fn a_mapping_is_of_zeros_and_the_peer_has_the_same() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    crate::sync::raise_threads();
    let peer = PeerHeap::of(&place().unwrap()).unwrap();
    let mut first = None;
    for _ in 0..2 {
        let own = mapping(8192).unwrap();
        let at = own.place(0, 8192);
        assert_eq!(*first.get_or_insert(at), at, "the one before was freed");
        let theirs = mapping_of(&peer, at.addr() as u64, 8192).unwrap();
        assert_eq!(theirs.word(8184).load(Ordering::Relaxed), 0);
        own.word(8184).store(7, Ordering::Relaxed);
        assert_eq!(theirs.word(8184).load(Ordering::Relaxed), 7);
        assert_eq!(mapping_of(&peer, at.addr() as u64 + 8, 8).err(), Some(Error::Invalid));
        assert_eq!(mapping_of(&peer, 4096, 8).err(), Some(Error::Invalid));
    }
}

#[test]
fn what_is_held_stays_mapped_in_a_range_of_its_own() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    crate::sync::raise_threads();
    let own = allocate(64, 64).unwrap();
    // SAFETY: allocated here; only this test knows it.
    unsafe { own.write_volatile(8) };
    let peer = PeerHeap::of(&place().unwrap()).unwrap();
    let held = peer.reach(own.addr() as u64, 1).unwrap();
    peer.let_go();
    // SAFETY: mapped as long as `held` lives.
    assert_eq!(unsafe { held.at().read_volatile() }, 8);
    let anew = peer.reach(own.addr() as u64, 1).unwrap();
    assert_ne!(anew.at(), held.at());
    // SAFETY: mapped again.
    assert_eq!(unsafe { anew.at().read_volatile() }, 8);
    // SAFETY: not used any more.
    unsafe { free(own) };
}

#[test]
fn a_peer_that_names_other_memory_is_refused() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    crate::sync::raise_threads();
    let at = allocate(64, 64).unwrap();
    let place = place().unwrap();
    let peer = PeerHeap::of(&place).unwrap();
    assert!(alloc::sync::Arc::ptr_eq(&peer, &PeerHeap::of(&place).unwrap()), "opened once");
    let base = BASE.load(Ordering::Relaxed) as u64;
    let end = base + BYTES.load(Ordering::Relaxed) as u64;
    for (remote, bytes) in [(base - 1, 2), (end - 4, 5), (end, 1), (0, 1), (u64::MAX - 4, 8), (base, usize::MAX)] {
        assert_eq!((peer.holds(remote, bytes), peer.reach(remote, bytes).err()), (false, Some(Error::Invalid)));
    }
    assert!(peer.reach(end - 4, 4).is_ok(), "nothing was ever allocated there, and it can be mapped");
    // A sealed file of somebody else's with the right number is no such memory.
    let other = PlacedFile::create(2 * HEADER_BYTES).unwrap();
    assert_eq!(PeerHeap::of(&other.place()).err(), Some(Error::Mismatch));
    let short = PlacedFile::create(8).unwrap();
    assert_eq!(PeerHeap::of(&short.place()).err(), Some(Error::Mismatch));
    drop(other);
    assert!(PeerHeap::of(&short.place()).is_err());
    // SAFETY: not used any more.
    unsafe { free(at) };
}

#[test]
fn thousands_of_blocks_take_one_file() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    crate::sync::raise_threads();
    let all: alloc::vec::Vec<*mut u8> = (0..4000).map(|_| allocate(70_000, 64).unwrap()).collect();
    assert!(all.iter().all(|at| holds(*at, 70_000)));
    // SAFETY: not used any more.
    all.into_iter().for_each(|at| unsafe { free(at) });
}
