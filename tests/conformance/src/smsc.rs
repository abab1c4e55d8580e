//! What every way to copy promises: all bytes of any range, none beside it, and an error where there is nobody or nothing.

use crate::declined::{accepted, opened};
use crate::pair;
use opal_core::Error;
use opal_core::framework::shmem;
use opal_core::framework::smsc::{Component, LocalRun, Module, PeerId, Piece};
use opal_core::shareable;

/// A running module with one peer, which runs the same suite.
pub struct Fixture<'a> {
    /// The module.
    pub module: &'static dyn Module,
    /// Its number for the peer.
    pub peer: PeerId,
    /// Which side this is.
    pub side: u32,
    /// Gives the peer some bytes and takes its.
    pub exchange: &'a mut dyn FnMut(&[u8]) -> Vec<u8>,
}

/// Runs every case between two processes of this node. Before any thread exists and before any component is opened.
///
/// # Panics
/// With the component's own sentence if it declines, and at the first broken promise.
pub fn between_two(component: &'static dyn Component) {
    let mut pair = pair::fork();
    shmem::select(Some(pair.inherited)).expect("a component of shmem runs");
    opened(component);
    let (_, module) = accepted(component.info(), component.query(Some(1)));
    let address = pair.exchange(&module.address());
    let peer = module.connect(&address).expect("the peer is who it says");
    pair.barrier();
    let side = pair.side;
    suite(&mut Fixture { module, peer, side, exchange: &mut |bytes| pair.exchange(bytes) });
    pair.end();
}

/// Runs every case; panics at the first broken promise.
pub fn suite(fixture: &mut Fixture<'_>) {
    for (name, case) in CASES {
        println!("side {}: {name}", fixture.side);
        case(fixture);
        (fixture.exchange)(&[]);
    }
}

type Case = fn(&mut Fixture<'_>);

/// All cases by name.
pub const CASES: &[(&str, Case)] = &[
    ("abilities make sense", abilities),
    ("every size and place", sizes),
    ("both at once", both_at_once),
    ("pieces", pieces),
    ("runs", runs),
    ("memory that ends", memory_that_ends),
    ("no address of a peer", no_address),
];

fn pattern(side: u32, index: usize) -> u8 {
    (index * 131 + (index >> 8) * 7 + (index >> 16) * 3 + side as usize * 77 + 1) as u8
}

/// Bytes that the peer reads and writes: private memory, unless the module reaches shareable memory only.
struct Room {
    at: *mut u8,
    bytes: usize,
    heap: Option<Vec<u8>>,
}

impl Fixture<'_> {
    fn room(&self, bytes: usize, value: impl Fn(usize) -> u8) -> Room {
        let mut heap = self.module.caps().any_memory.then(|| vec![0; bytes]);
        let at = heap.as_mut().map_or_else(
            || shareable::allocate(bytes, 64).expect("there is shareable memory"),
            |heap| heap.as_mut_ptr(),
        );
        for index in 0..bytes {
            // SAFETY: within what was allocated, and nobody else knows it.
            unsafe { at.wrapping_add(index).write(value(index)) };
        }
        Room { at, bytes, heap }
    }
}

impl Room {
    fn as_ptr(&self) -> *const u8 {
        self.at
    }

    fn as_mut_ptr(&self) -> *mut u8 {
        self.at
    }

    /// What is there, while the peer waits.
    fn bytes(&self) -> Vec<u8> {
        // SAFETY: bytes of the room; read as another process may have written them.
        (0..self.bytes).map(|index| unsafe { self.at.wrapping_add(index).read_volatile() }).collect()
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.heap.is_none() {
            // SAFETY: the case has ended, for the peer, too.
            unsafe { shareable::free(self.at) };
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

fn abilities(fixture: &mut Fixture<'_>) {
    let caps = fixture.module.caps();
    assert!(caps.min_bytes > 0 && caps.max_bytes >= 4096);
}

fn odd_sizes() -> Vec<usize> {
    let mut sizes = vec![0, 1, 2, 63, 64, 65, 511, 4095, 4096, 4097, 8191, 65535, 65537, (1 << 20) + 13];
    sizes.extend([(16 << 20) + 1, (64 << 20) + 4099]);
    sizes
}

/// Reads from and writes to places of any alignment, with guards around what is written.
fn sizes(fixture: &mut Fixture<'_>) {
    const MOST: usize = (64 << 20) + (1 << 16);
    const GUARD: u8 = 0x5a;
    let own = fixture.room(MOST, |index| pattern(fixture.side, index));
    // For the peer's writes.
    let place = fixture.room(MOST, |_| GUARD);
    let addresses = [own.as_ptr() as u64, place.as_ptr() as u64].map(u64::to_le_bytes).concat();
    let theirs = (fixture.exchange)(&addresses);
    let (source, target) = (number(&theirs[..8]), number(&theirs[8..]));
    let other = 1 - fixture.side;
    let mut got = vec![GUARD; MOST];
    for (turn, bytes) in odd_sizes().into_iter().enumerate() {
        let (from, to) = (turn * 1237 % 9000, 1 + turn * 577 % 5000);
        // SAFETY: `to + bytes` is less than the vector's length.
        let read = unsafe {
            fixture.module.copy_from(fixture.peer, source + from as u64, got.as_mut_ptr().wrapping_add(to), bytes)
        };
        assert_eq!(read, Ok(()), "{bytes} bytes from {from}");
        assert!(got[..to].iter().all(|byte| *byte == GUARD), "nothing before {bytes} bytes");
        assert!(got[to + bytes..].iter().all(|byte| *byte == GUARD), "nothing behind {bytes} bytes");
        assert!((0..bytes).all(|index| got[to + index] == pattern(other, from + index)), "{bytes} bytes are theirs");
        got[to..to + bytes].fill(GUARD);
        // SAFETY: `from + bytes` is less than the vector's length.
        let written =
            unsafe { fixture.module.copy_to(fixture.peer, target + to as u64, own.as_ptr().wrapping_add(from), bytes) };
        assert_eq!(written, Ok(()), "{bytes} bytes to {to}");
        (fixture.exchange)(&[]);
        // Another process wrote it: read as such.
        let byte = |index: usize| {
            // SAFETY: a byte of the room.
            unsafe { place.as_ptr().wrapping_add(index).read_volatile() }
        };
        assert!((0..bytes).all(|index| byte(to + index) == pattern(other, from + index)), "{bytes} bytes were written");
        assert!(byte(to - 1) == GUARD && byte(to + bytes) == GUARD, "nothing beside {bytes} bytes was");
        // The peer's next write begins elsewhere.
        let erased = vec![GUARD; bytes];
        // SAFETY: the same range of the room, which only the peer touches otherwise, and it waits.
        unsafe { place.as_mut_ptr().wrapping_add(to).copy_from(erased.as_ptr(), bytes) };
        (fixture.exchange)(&[]);
    }
}

/// Each side reads one half of a message while the other one writes the other half.
fn both_at_once(fixture: &mut Fixture<'_>) {
    const BYTES: usize = (3 << 20) + 77;
    const HALF: usize = BYTES / 2 + 11;
    for _ in 0..20 {
        let data = fixture.room(BYTES, |index| pattern(fixture.side, index));
        let place = fixture.room(BYTES, |_| 0);
        let addresses = [data.as_ptr() as u64, place.as_mut_ptr() as u64].map(u64::to_le_bytes).concat();
        let theirs = (fixture.exchange)(&addresses);
        let (source, target) = (number(&theirs[..8]), number(&theirs[8..]));
        // SAFETY: less than the vector's length.
        let read = unsafe { fixture.module.copy_from(fixture.peer, source, place.as_mut_ptr(), HALF) };
        // SAFETY: the rest of the vector.
        let written = unsafe {
            let rest = data.as_ptr().wrapping_add(HALF);
            fixture.module.copy_to(fixture.peer, target + HALF as u64, rest, BYTES - HALF)
        };
        assert_eq!((read, written), (Ok(()), Ok(())));
        (fixture.exchange)(&[]);
        assert!(place.bytes().iter().enumerate().all(|(at, byte)| *byte == pattern(1 - fixture.side, at)));
    }
}

/// Pieces of the peer's memory, none of them beside or behind the one before, in one call.
fn pieces(fixture: &mut Fixture<'_>) {
    const COUNT: usize = 333;
    const ROOM: usize = COUNT * 4096;
    let own = fixture.room(ROOM, |index| pattern(fixture.side, index));
    let place = fixture.room(ROOM, |_| 0);
    let addresses = [own.as_ptr() as u64, place.as_ptr() as u64].map(u64::to_le_bytes).concat();
    let theirs = (fixture.exchange)(&addresses);
    let (source, target) = (number(&theirs[..8]), number(&theirs[8..]));
    // A permutation of the pages; some pieces are empty.
    let runs: Vec<(usize, usize)> =
        (0..COUNT).map(|turn| (turn * 100 % COUNT * 4096 + turn % 7, turn * 37 % 4000)).collect();
    let bytes: usize = runs.iter().map(|(_, bytes)| bytes).sum();
    let there = |from: u64| -> Vec<Piece> {
        runs.iter().map(|(offset, bytes)| Piece { at: from + *offset as u64, bytes: *bytes }).collect()
    };
    let mut got = vec![0u8; bytes];
    // SAFETY: as long as all pieces together.
    let read = unsafe { fixture.module.gather_from(fixture.peer, &there(source), got.as_mut_ptr()) };
    assert_eq!(read, Ok(()));
    let wanted =
        |side: u32| runs.iter().flat_map(move |(offset, bytes)| (0..*bytes).map(move |at| pattern(side, offset + at)));
    assert!(got.iter().copied().eq(wanted(1 - fixture.side)), "pieces are read in their order");
    let packed: Vec<u8> = wanted(fixture.side).collect();
    // SAFETY: as above.
    let written = unsafe { fixture.module.scatter_to(fixture.peer, &there(target), packed.as_ptr()) };
    assert_eq!(written, Ok(()));
    (fixture.exchange)(&[]);
    let mut expected = vec![0u8; ROOM];
    for (offset, bytes) in &runs {
        (0..*bytes).for_each(|at| expected[offset + at] = pattern(1 - fixture.side, offset + at));
    }
    assert!(place.bytes() == expected, "pieces are written, and nothing beside them");
    let beyond = [Piece { at: source, bytes: 8 }, Piece { at: 0, bytes: 8 }, Piece { at: source, bytes: 8 }];
    // SAFETY: longer than three times eight bytes.
    let read = unsafe { fixture.module.gather_from(fixture.peer, &beyond, got.as_mut_ptr()) };
    assert_eq!(read, Err(Error::Invalid));
    (fixture.exchange)(&[]);
}

/// Bytes that lie one behind the other in the peer, to and from runs of memory here, more of them than a call of the system takes.
fn runs(fixture: &mut Fixture<'_>) {
    const COUNT: usize = 1111;
    const SPACING: usize = 200;
    let lengths: Vec<usize> = (0..COUNT).map(|turn| turn * 37 % (SPACING + 1)).collect();
    let bytes: usize = lengths.iter().sum();
    let own = fixture.room(bytes, |index| pattern(fixture.side, index));
    let place = fixture.room(bytes, |_| 0);
    let addresses = [own.as_ptr() as u64, place.as_ptr() as u64].map(u64::to_le_bytes).concat();
    let theirs = (fixture.exchange)(&addresses);
    let (source, target) = (number(&theirs[..8]), number(&theirs[8..]));
    let mut memory = vec![0u8; COUNT * SPACING];
    // A permutation: runs do not follow each other here.
    let starts: Vec<usize> = (0..COUNT).map(|turn| turn * 100 % COUNT * SPACING).collect();
    let list = |memory: &mut [u8]| -> Vec<LocalRun> {
        let run = |(start, bytes): (&usize, &usize)| {
            let part = &mut memory[*start..start + bytes];
            LocalRun { at: part.as_mut_ptr(), bytes: part.len() }
        };
        starts.iter().zip(&lengths).map(run).collect()
    };
    // SAFETY: parts of the vector.
    let read = unsafe { fixture.module.scatter_from(fixture.peer, source, &list(&mut memory)) };
    assert_eq!(read, Ok(()));
    let (mut expected, mut done) = (vec![0u8; COUNT * SPACING], 0);
    for (start, bytes) in starts.iter().zip(&lengths) {
        (0..*bytes).for_each(|at| expected[start + at] = pattern(1 - fixture.side, done + at));
        done += bytes;
    }
    assert!(memory == expected, "bytes land in the runs, and nothing beside them");
    // SAFETY: likewise.
    let written = unsafe { fixture.module.gather_to(fixture.peer, target, &list(&mut memory)) };
    assert_eq!(written, Ok(()));
    (fixture.exchange)(&[]);
    // The peer had them from here.
    assert!(place.bytes() == own.bytes(), "runs are written in their order");
    // SAFETY: likewise.
    let read = unsafe { fixture.module.scatter_from(fixture.peer, 0, &list(&mut memory)) };
    assert_eq!(read, Err(Error::Invalid));
    (fixture.exchange)(&[]);
}

/// A range of which a part is nobody's memory is refused, in either direction.
fn memory_that_ends(fixture: &mut Fixture<'_>) {
    const PAGES: usize = 40 * 4096;
    // SAFETY: a new mapping.
    let base = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(core::ptr::null_mut(), PAGES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    assert_ne!(base, libc::MAP_FAILED);
    // SAFETY: the last page of it.
    let unmapped = unsafe { libc::munmap(base.wrapping_add(PAGES - 4096), 4096) };
    assert_eq!(unmapped, 0);
    let theirs = number(&(fixture.exchange)(&(base as u64).to_le_bytes()));
    // Whoever reaches shareable memory only refuses the whole of it.
    let any = fixture.module.caps().any_memory;
    let mut room = vec![0u8; PAGES];
    let mut both = |remote: u64, bytes: usize| {
        // SAFETY: not longer than the vector.
        let read = unsafe { fixture.module.copy_from(fixture.peer, remote, room.as_mut_ptr(), bytes) };
        // SAFETY: as above.
        let written = unsafe { fixture.module.copy_to(fixture.peer, remote, room.as_ptr(), bytes) };
        (read, written)
    };
    let there = if any { Ok(()) } else { Err(Error::Invalid) };
    assert_eq!(fixture.module.reaches(fixture.peer, theirs, PAGES - 4096), any);
    assert_eq!(fixture.module.is_reached(base.cast(), PAGES - 4096), any);
    assert_eq!(both(theirs, PAGES - 4096), (there, there));
    for (remote, bytes) in [(theirs, PAGES), (theirs + 5, PAGES - 4096), (0, 1), (u64::MAX - 4, 8), (1 << 63, 64)] {
        assert_eq!(both(remote, bytes), (Err(Error::Invalid), Err(Error::Invalid)), "{bytes} bytes at {remote:#x}");
    }
    (fixture.exchange)(&[]);
    // SAFETY: what is left of the mapping.
    unsafe { libc::munmap(base, PAGES - 4096) };
}

/// What is no address is refused, and so is one under which somebody else is found.
fn no_address(fixture: &mut Fixture<'_>) {
    let own = fixture.module.address();
    let theirs = (fixture.exchange)(&own);
    assert_eq!(fixture.module.connect(&theirs).map(drop), Ok(()));
    for length in 0..theirs.len() {
        assert_eq!(fixture.module.connect(&theirs[..length]), Err(Error::Malformed));
    }
    // Whatever bit is wrong, nobody is taken for the peer.
    for bit in 0..theirs.len() * 8 {
        let mut wrong = theirs.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        let refused = fixture.module.connect(&wrong);
        let known = [Error::Malformed, Error::Mismatch, Error::Unreachable, Error::Permission];
        assert!(refused.is_err_and(|error| known.contains(&error)), "bit {bit}: {refused:?}");
    }
    (fixture.exchange)(&[]);
}
