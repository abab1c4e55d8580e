//! The suite that every copy must pass.
#![allow(unsafe_code)] // a raw copy cannot be called otherwise

/// A component's copy: to, from, bytes.
pub type Copy = unsafe fn(*mut u8, *const u8, usize);

/// Every small size at every alignment of a line, on both sides.
pub fn small_sizes_at_every_alignment(copy: Copy) {
    let source: Vec<u8> = (0..1024u32).map(byte).collect();
    for bytes in 0..=300 {
        for alignment in 0..64 {
            // Both sides move through all residues, in different order.
            one(copy, &source, bytes, alignment, (alignment * 37 + bytes) % 64);
            one(copy, &source, bytes, alignment, alignment);
        }
    }
}

/// Sizes up to several mebibytes from a fixed seed, at odd alignments; the powers of two and their neighbours.
pub fn large_sizes(copy: Copy) {
    let source: Vec<u8> = (0..LARGEST as u32 + 64).map(byte).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize
    };
    for shift in 9..=22 {
        for bytes in [(1 << shift) - 1, 1 << shift, (1 << shift) + 1] {
            one(copy, &source, bytes, next() % 64, next() % 64);
        }
    }
    for round in 0..200 {
        // Small ones more often than large ones.
        let bytes = next() % (1 << (8 + round % 15));
        one(copy, &source, bytes, next() % 64, next() % 64);
    }
}

/// Neighbouring blocks are copied one by one: nothing outside a block changes, in whatever order.
pub fn neighbours(copy: Copy) {
    let source: Vec<u8> = (0..4096u32).map(byte).collect();
    let mut to = vec![0; 4096];
    for block in 0..64 {
        let at = (block * 29 % 64) * 64;
        // SAFETY: 64 bytes at `at` lie within both.
        unsafe { copy(to.as_mut_ptr().wrapping_add(at), source.as_ptr().wrapping_add(at), 64) };
    }
    assert_eq!(to, source);
}

/// To places a few bytes behind the source, counted within a page, where string moves are left out.
pub fn trailing(copy: Copy) {
    let (source, mut to): (Vec<u8>, _) = ((0..1 << 17).map(byte).collect(), vec![0xa5u8; 1 << 17]);
    let page = |base: *const u8| (4096 - base as usize % 4096) % 4096;
    let (from, begin) = (page(source.as_ptr()), page(to.as_ptr()));
    for trail in [1, 8, 16, 31, 32] {
        for bytes in [511, 512, 513, 4095, 4096, 8192, 16384 + 7, 65536] {
            let place = begin + trail;
            // SAFETY: both places hold 64 KiB and two pages.
            unsafe { copy(to.as_mut_ptr().wrapping_add(place), source.as_ptr().wrapping_add(from), bytes) };
            assert!(to[place..place + bytes] == source[from..from + bytes], "{bytes} bytes, {trail} behind");
            assert!(
                to[..place].iter().chain(&to[place + bytes..]).all(|byte| *byte == 0xa5),
                "{bytes} bytes, {trail} behind"
            );
            to.fill(0xa5);
        }
    }
}

fn one(copy: Copy, source: &[u8], bytes: usize, from_offset: usize, to_offset: usize) {
    const GUARD: usize = 128;
    let mut room = vec![0xa5u8; bytes + 2 * GUARD + 64];
    let base = room.as_ptr() as usize;
    let place = GUARD + (64 - base % 64) % 64 + to_offset;
    let place = if place + bytes + GUARD / 2 > room.len() { GUARD } else { place };
    let from = from_offset + (64 - source.as_ptr() as usize % 64) % 64;
    let from = if from + bytes > source.len() { source.len() - bytes } else { from };
    // SAFETY: both places hold `bytes` bytes, which was just made sure, and are parts of different allocations.
    unsafe { copy(room.as_mut_ptr().wrapping_add(place), source.as_ptr().wrapping_add(from), bytes) };
    assert!(
        room[place..place + bytes] == source[from..from + bytes],
        "{bytes} bytes from +{from_offset} to +{to_offset}"
    );
    assert!(room[..place].iter().all(|byte| *byte == 0xa5), "{bytes} bytes: something before them was written");
    assert!(room[place + bytes..].iter().all(|byte| *byte == 0xa5), "{bytes} bytes: something behind them was written");
}

/// Differs from its neighbours and from those a block away.
fn byte(index: u32) -> u8 {
    (index.wrapping_mul(0x9e37_79b9) >> 24) as u8
}

const LARGEST: usize = (1 << 22) + 1;
