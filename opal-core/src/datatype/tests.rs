//! Random type trees against a reference that lists every byte.

use super::{Convertor, Layout, Primitive, Run, Scalar, pack_external, unpack_external};
use crate::Error;
use alloc::sync::Arc;
use std::vec::Vec;
use std::{println, vec};

/// A type map as the standard writes it: every basic element by itself.
#[derive(Clone, Debug)]
struct Naive {
    // Displacement and size.
    elements: Vec<(isize, usize)>,
    bounds: Option<(isize, isize)>,
    marked: bool,
    align: usize,
}

impl Naive {
    fn basic(bytes: usize) -> Naive {
        let bounds = Some((0, bytes as isize));
        Naive { elements: vec![(0, bytes)], bounds, marked: false, align: bytes }
    }

    fn extent(&self) -> isize {
        self.bounds.map_or(0, |(low, high)| high - low)
    }

    fn of_blocks(blocks: &[(isize, usize, &Naive)], round: bool) -> Naive {
        let mut result = Naive { elements: vec![], bounds: None, marked: false, align: 1 };
        for (start, count, of) in blocks.iter().filter(|block| block.1 > 0) {
            result.align = result.align.max(of.align);
            for index in 0..*count as isize {
                let by = start + index * of.extent();
                result.elements.extend(of.elements.iter().map(|(at, bytes)| (at + by, *bytes)));
                let Some((low, high)) = of.bounds.map(|(low, high)| (low + by, high + by)) else { continue };
                result.bounds = match (result.bounds, result.marked, of.marked) {
                    (held, true, false) => held,
                    (_, false, true) | (None, _, _) => Some((low, high)),
                    (Some(held), _, _) => Some((held.0.min(low), held.1.max(high))),
                };
                result.marked |= of.marked;
            }
        }
        if let (true, false, Some((low, high))) = (round, result.marked, result.bounds) {
            let mut high = high;
            while (high - low) % result.align as isize != 0 {
                high += 1;
            }
            result.bounds = Some((low, high));
        }
        result
    }

    fn bytes(&self, count: usize) -> Vec<isize> {
        let of_one = |index: isize| {
            let by = index * self.extent();
            self.elements.iter().flat_map(move |(at, bytes)| (0..*bytes as isize).map(move |byte| at + by + byte))
        };
        (0..count as isize).flat_map(of_one).collect()
    }

    fn size(&self) -> usize {
        self.elements.iter().map(|(_, bytes)| bytes).sum()
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn between(&mut self, low: isize, high: isize) -> isize {
        low + self.below((high - low + 1) as usize) as isize
    }
}

fn basic(scalar: Scalar, bytes: usize) -> Layout {
    let primitive = Primitive::new(scalar, bytes as u8);
    Layout::basic(primitive, &[Run { offset: 0, bytes }], bytes, bytes)
}

fn random_type(random: &mut Random, depth: usize) -> (Arc<Layout>, Naive) {
    if depth == 0 || random.below(8) == 0 {
        let bytes = 1 << random.below(5);
        return (Arc::new(basic(Scalar::Unsigned, bytes)), Naive::basic(bytes));
    }
    let (layout, naive) = random_type(random, depth - 1);
    let extent = naive.extent();
    let (made, naive) = match random.below(7) {
        0 => {
            let count = random.below(5);
            (Layout::contiguous(count, &layout), Naive::of_blocks(&[(0, count, &naive)], false))
        }
        1 | 2 => {
            let (count, block) = (random.below(6), random.below(4));
            // Multiples of the extent and odd strides, forwards and backwards, touching and apart.
            let stride = match random.below(3) {
                0 => extent * random.between(-4, 4),
                1 => extent * block as isize,
                _ => random.between(-70, 70),
            };
            let blocks: Vec<_> = (0..count as isize).map(|index| (index * stride, block, &naive)).collect();
            (Layout::hvector(count, block, stride, &layout), Naive::of_blocks(&blocks, false))
        }
        3 | 4 => {
            let same = random.below(2) == 0;
            let block = random.below(3);
            let step = random.between(-40, 40);
            let regular = random.below(3) == 0;
            let blocks: Vec<(isize, usize)> = (0..random.below(14) as isize)
                .map(|index| {
                    let start = if regular { index * step } else { random.between(-200, 200) };
                    (start, if same { block } else { random.below(4) })
                })
                .collect();
            let listed: Vec<_> = blocks.iter().map(|(start, count)| (*start, *count, &naive)).collect();
            (Layout::blocks(&blocks, &layout), Naive::of_blocks(&listed, false))
        }
        5 => {
            let others: Vec<_> = (0..random.below(4)).map(|_| random_type(random, depth - 1)).collect();
            let mut parts = vec![(random.between(-100, 100), random.below(3), &layout, &naive)];
            for (layout, naive) in &others {
                parts.push((random.between(-100, 100), random.below(3), layout, naive));
            }
            let layouts: Vec<_> = parts.iter().map(|part| (part.0, part.1, part.2)).collect();
            let naives: Vec<_> = parts.iter().map(|part| (part.0, part.1, part.3)).collect();
            (Layout::structure(&layouts), Naive::of_blocks(&naives, true))
        }
        _ => {
            let (lb, extent) = (random.between(-30, 30), random.between(-40, 200));
            let bounds = Some((lb, lb + extent));
            (layout.resized(lb, extent), Naive { bounds, marked: true, ..naive })
        }
    };
    (Arc::new(made.unwrap()), naive)
}

fn check(layout: &Arc<Layout>, naive: &Naive, random: &mut Random, what: &str) {
    assert_eq!(layout.size(), naive.size(), "{what}");
    assert_eq!(layout.primitives(), naive.elements.len(), "{what}");
    let (low, high) = naive.bounds.unwrap_or((0, 0));
    assert_eq!((layout.lb(), layout.extent()), (low, high - low), "{what}");
    let places = naive.bytes(1);
    let true_low = places.iter().min().copied().unwrap_or(0);
    let true_high = places.iter().max().map_or(0, |last| last + 1);
    assert_eq!((layout.true_lb(), layout.true_extent()), (true_low, true_high - true_low), "{what}");

    let count = random.below(4);
    let places = naive.bytes(count);
    let (low, high) = (places.iter().min().copied().unwrap_or(0), places.iter().max().copied().unwrap_or(0));
    let memory: Vec<u8> = (0..(high - low + 1)).map(|_| random.next() as u8).collect();
    let at = memory.as_ptr().cast_mut().wrapping_offset(-low);
    let wanted: Vec<u8> = places.iter().map(|place| memory[(place - low) as usize]).collect();

    // SAFETY: `memory` covers every place.
    let mut convertor = unsafe { Convertor::new(layout.clone(), at, count) };
    assert_eq!(convertor.total(), wanted.len(), "{what}");
    if let Some(run) = convertor.contiguous()
        && !wanted.is_empty()
    {
        let begin = (run as isize - memory.as_ptr() as isize) as usize;
        assert_eq!(memory[begin..begin + wanted.len()], wanted, "{what}: not one run");
    }
    // What lies together is sent from where it lies, however it was put together.
    let together = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
    assert!(!together || wanted.is_empty() || convertor.contiguous().is_some(), "{what}: one run is packed");
    for _ in 0..4 {
        convertor.seek(0);
        let mut packed = vec![0u8; wanted.len()];
        let mut done = 0;
        while done < packed.len() {
            let about = 1 + wanted.len() / (1 + random.below(6));
            let room = (1 + random.below(about)).min(packed.len() - done);
            // SAFETY: room for as many.
            let moved = unsafe { convertor.pack(packed[done..].as_mut_ptr(), room) };
            assert_eq!(moved, room, "{what}");
            done += moved;
            assert_eq!(convertor.position(), done);
        }
        assert_eq!(packed, wanted, "{what}");
        // From anywhere, any number of bytes, and not one more; behind the end there is nothing.
        let from = random.below(wanted.len() + 1);
        let room = random.below(wanted.len() + 4 - from);
        let moved = room.min(wanted.len() - from);
        let mut part = vec![0xc3u8; room + 1];
        convertor.seek(from);
        // SAFETY: `part` is longer than that.
        assert_eq!(unsafe { convertor.pack(part.as_mut_ptr(), room) }, moved, "{what}");
        assert_eq!(part[..moved], wanted[from..from + moved], "{what}: {room} bytes from {from} on");
        assert!(part[moved..].iter().all(|byte| *byte == 0xc3), "{what}: written behind the end");
    }
    if naive.elements.len() < 300 {
        external(layout, naive, at, &wanted, count, what);
    }
    unpack(layout, naive, &wanted, count, random, what);
}

/// The portable representation turns each basic element around.
fn external(layout: &Arc<Layout>, naive: &Naive, at: *mut u8, native: &[u8], count: usize, what: &str) {
    let mut wanted = native.to_vec();
    let mut begin = 0;
    for (_, bytes) in (0..count).flat_map(|_| &naive.elements) {
        wanted[begin..begin + bytes].reverse();
        begin += bytes;
    }
    assert_eq!(layout.external_size() * count, wanted.len(), "{what}");
    let mut packed = vec![0u8; wanted.len()];
    // SAFETY: the caller's memory covers every place; `packed` is as long as the data.
    assert_eq!(unsafe { pack_external(layout, at, count, packed.as_mut_ptr()) }, wanted.len(), "{what}");
    assert_eq!(packed, wanted, "{what}: portable");
    let plain = Arc::new(Layout::structure(&[(0, wanted.len(), &Arc::new(basic(Scalar::Byte, 1)))]).unwrap());
    let mut unpacked = vec![0u8; wanted.len()];
    // Bytes stay as they are; the other way is `unpack_external` of the same elements side by side.
    // SAFETY: both are as long as the layout says.
    let moved = unsafe { unpack_external(&plain, unpacked.as_mut_ptr(), 1, packed.as_ptr()) };
    assert_eq!((moved, &unpacked), (wanted.len(), &wanted), "{what}");
    let sides = naive.elements.iter().scan(0, |end, (_, bytes)| {
        *end += *bytes as isize;
        Some((*end - *bytes as isize, 1, Arc::new(basic(Scalar::Unsigned, *bytes))))
    });
    let sides: Vec<_> = sides.collect();
    let sides: Vec<_> = sides.iter().map(|(place, one, layout)| (*place, *one, layout)).collect();
    let size = naive.size() as isize;
    let close = Arc::new(Layout::structure(&sides).unwrap().resized(0, size).unwrap());
    // SAFETY: both are as long as the layout says.
    let moved = unsafe { unpack_external(&close, unpacked.as_mut_ptr(), count, packed.as_ptr()) };
    assert_eq!((moved, &unpacked[..]), (native.len(), native), "{what}");
}

fn unpack(layout: &Arc<Layout>, naive: &Naive, packed: &[u8], count: usize, random: &mut Random, what: &str) {
    let places = naive.bytes(count);
    let (low, high) = (places.iter().min().copied().unwrap_or(0), places.iter().max().copied().unwrap_or(0));
    let mut unique = places.clone();
    unique.sort_unstable();
    unique.dedup();
    if unique.len() != places.len() {
        // Overlapping entries are erroneous in a receive.
        return;
    }
    let mut wanted = vec![0x5au8; (high - low + 1) as usize];
    for (place, byte) in places.iter().zip(packed) {
        wanted[(place - low) as usize] = *byte;
    }
    let mut memory = vec![0x5au8; wanted.len()];
    // SAFETY: `memory` covers every place.
    let mut convertor = unsafe { Convertor::new(layout.clone(), memory.as_mut_ptr().wrapping_offset(-low), count) };
    // Two halves in the wrong order, in pieces.
    let middle = random.below(packed.len() + 1);
    for (mut at, end) in [(middle, packed.len()), (0, middle)] {
        convertor.seek(at);
        while at < end {
            let bytes = 1 + random.below(end - at);
            // SAFETY: readable.
            assert_eq!(unsafe { convertor.unpack(packed[at..].as_ptr(), bytes) }, bytes, "{what}");
            at += bytes;
        }
    }
    assert_eq!(memory, wanted, "{what}");
}

fn elements(layout: &Layout, naive: &Naive, what: &str) {
    let sizes: Vec<usize> = naive.elements.iter().chain(&naive.elements).map(|(_, bytes)| *bytes).collect();
    let mut ends = vec![0];
    for bytes in &sizes {
        ends.push(ends.last().unwrap() + bytes);
    }
    for bytes in 0..=*ends.last().unwrap() {
        let wanted = ends.iter().position(|end| *end == bytes);
        assert_eq!(layout.elements_in(bytes), wanted, "{what}: {bytes} bytes");
        if let Some(elements) = wanted {
            assert_eq!(layout.bytes_of(elements), Some(bytes), "{what}: {elements} elements");
        }
    }
}

#[test]
fn random_types() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut kinds, mut largest) = ([0usize; 3], 0);
    // Under valgrind, which is 50 times slower, fewer of them.
    let rounds = if std::env::var_os("OMPI_RS_FEWER_ROUNDS").is_some() { 200 } else { 6000 };
    for round in 0..rounds {
        let depth = 1 + round % 5;
        let (layout, naive) = random_type(&mut random, depth);
        if naive.elements.len() > 20_000 {
            continue;
        }
        let what = std::format!("round {round}");
        check(&layout, &naive, &mut random, &what);
        if naive.elements.len() < 300 {
            elements(&layout, &naive, &what);
        }
        kinds[layout.is_contiguous() as usize + (layout.size() == 0) as usize] += 1;
        largest = largest.max(layout.size());
    }
    println!("types: {kinds:?} (gaps, contiguous, empty), the largest has {largest} bytes");
    assert!(kinds.iter().all(|kind| *kind > rounds / 60), "{kinds:?}");
}

#[test]
fn a_vector_of_a_million_blocks_is_one_loop() {
    let double = Arc::new(basic(Scalar::Float, 8));
    let vector = Layout::hvector(1_000_000, 1, 16, &double).unwrap();
    assert_eq!(vector.body.pieces.len(), 1);
    assert_eq!((vector.size(), vector.extent()), (8_000_000, 16_000_000 - 8));
    // The same from a list of displacements.
    let listed: Vec<(isize, usize)> = (0..1000).map(|index| (index * 16, 1)).collect();
    assert_eq!(Layout::blocks(&listed, &double).unwrap().body.pieces.len(), 1);
    // Rows that touch make one run.
    let whole = Layout::hvector(1000, 10, 80, &double).unwrap();
    assert!(whole.is_contiguous());
    // A vector of vectors that continue each other is one vector.
    let column = Arc::new(Layout::hvector(10, 1, 16, &double).unwrap().resized(0, 160).unwrap());
    let columns = Layout::contiguous(10, &column).unwrap();
    assert_eq!(columns.body.pieces.len(), 1);
}

#[test]
fn places_far_apart_cost_no_memory() {
    let double = Arc::new(basic(Scalar::Float, 8));
    let far = 1isize << 60;
    let vector = Arc::new(Layout::hvector(3, 2, far, &double).unwrap());
    assert_eq!((vector.size(), vector.lb(), vector.extent()), (48, 0, 2 * far + 16));
    let back = Arc::new(Layout::blocks(&[(far, 1), (-far, 1)], &double).unwrap());
    assert_eq!((back.true_lb(), back.true_extent(), back.size()), (-far, 2 * far + 8, 16));
    assert_eq!((back.elements_in(8), back.elements_in(12), back.bytes_of(3)), (Some(1), None, Some(24)));
    let mut runs = Vec::new();
    vector.each_run(&mut |run| runs.push((run.offset, run.bytes)));
    assert_eq!(runs, [(0, 16), (far, 16), (2 * far, 16)]);
    // Only the turn that is asked for is touched: the others' addresses are nobody's.
    let value = 0x0102_0304_0506_0708u64;
    let at = (&raw const value).cast::<u8>().cast_mut().wrapping_offset(-2 * far);
    // SAFETY: the third turn's first half is `value`; nothing else is packed.
    let mut convertor = unsafe { Convertor::new(vector, at, 1) };
    convertor.seek(34);
    let mut packed = [0u8; 4];
    // SAFETY: as above; `packed` has room.
    assert_eq!(unsafe { convertor.pack(packed.as_mut_ptr(), 4) }, 4);
    assert_eq!(packed, value.to_ne_bytes()[2..6]);
    assert!(Layout::hvector(9, 1, far, &double).is_err());
}

#[test]
fn structures_are_padded_unless_resized() {
    let (int, double) = (Arc::new(basic(Scalar::Signed, 4)), Arc::new(basic(Scalar::Float, 8)));
    let char = Arc::new(basic(Scalar::Character, 1));
    // MPI 5.0 §5.1.6, example: {(double, 0), (char, 8)} has extent 16.
    let padded = Layout::structure(&[(0, 1, &double), (8, 1, &char)]).unwrap();
    assert_eq!((padded.extent(), padded.size(), padded.true_extent()), (16, 9, 9));
    let same = Layout::structure(&[(0, 2, &int), (8, 1, &int)]).unwrap();
    assert!(same.is_contiguous());
    assert_eq!(same.primitive(), int.primitive());
    assert_eq!(padded.primitive(), None);
    // MPI 5.0 §5.1.7, example: type1 with lb -3 and extent 9; two of them end at 15.
    let type1 = Arc::new(int.resized(-3, 9).unwrap());
    let type2 = Layout::contiguous(2, &type1).unwrap();
    assert_eq!((type2.lb(), type2.extent()), (-3, 18));
}

#[test]
fn what_does_not_fit_is_refused() {
    let double = Arc::new(basic(Scalar::Float, 8));
    assert_eq!(Layout::contiguous(usize::MAX / 4, &double), Err(Error::Invalid));
    assert_eq!(Layout::hvector(3, 1, isize::MAX / 2, &double), Err(Error::Invalid));
    assert_eq!(Layout::hvector(usize::MAX, 1, 0, &double), Err(Error::Invalid));
    assert_eq!(Layout::blocks(&[(isize::MAX, 1)], &double), Err(Error::Invalid));
    assert_eq!(double.resized(isize::MAX, 8), Err(Error::Invalid));
    let huge = Arc::new(Layout::contiguous(1 << 58, &double).unwrap());
    assert_eq!(Layout::structure(&[(0, 1, &huge), (0, 1, &huge)]), Err(Error::Invalid));
    let mut nested = Arc::new(Layout::blocks(&[(0, 1), (16, 1), (40, 2)], &double).unwrap());
    let refused = (0..2000).find_map(|_| match Layout::hvector(1 + 9 / nested.size().min(9), 3, 1 << 20, &nested) {
        Ok(layout) => {
            nested = Arc::new(layout.resized(0, 64).unwrap());
            None
        }
        Err(error) => Some(error),
    });
    assert!(matches!(refused, Some(Error::Invalid | Error::OutOfResource)), "{refused:?}");
}
