//! Any tree of types, any count, packed and unpacked in any fragments, against the reference.
//!
//! proptest makes the trees and, where one fails, looks for the smallest that still does. The seed is fixed unless
//! OMPI_RS_SEED says another number.

use super::super::{Convertor, Layout, Scalar, pack_external, unpack_external};
use super::basic;
use super::naive::Naive;
use alloc::sync::Arc;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use std::boxed::Box;
use std::cell::Cell;
use std::vec::Vec;
use std::{println, vec};

/// How a type is made.
#[derive(Clone, Debug)]
enum Tree {
    Basic { log2_bytes: u32 },
    Contiguous(usize, Box<Tree>),
    Vector { count: usize, block: usize, stride: Stride, of: Box<Tree> },
    Blocks { blocks: Vec<(isize, usize)>, of: Box<Tree> },
    Structure(Vec<(isize, usize, Tree)>),
    Resized { lb: isize, extent: isize, of: Box<Tree> },
}

/// From block to block: as multiples of the extent, touching, or any number of bytes.
#[derive(Clone, Debug)]
enum Stride {
    Extents(isize),
    Touching,
    Bytes(isize),
}

fn tree() -> impl Strategy<Value = Tree> {
    let basic = (0..5u32).prop_map(|log2_bytes| Tree::Basic { log2_bytes });
    // Rows of two numbers with a gap between, which have a loop of their own.
    let number = |log2_bytes| Tree::Basic { log2_bytes };
    let records = (2..4u32, 2..4u32, 1..9isize, 4..9usize).prop_map(move |(one, two, gap, count)| {
        let parts = Tree::Structure(vec![(0, 1, number(one)), ((1 << one) + gap, 1, number(two))]);
        Tree::Vector { count, block: 1, stride: Stride::Extents(1), of: Box::new(parts) }
    });
    prop_oneof![5 => basic, 1 => records].prop_recursive(5, 24, 4, |inner| {
        let of = inner.clone().prop_map(Box::new);
        let stride = prop_oneof![
            (-4..=4isize).prop_map(Stride::Extents),
            Just(Stride::Touching),
            (-70..=70isize).prop_map(Stride::Bytes),
        ];
        let step = (-40..=40isize, 0..14isize, 0..3usize);
        let regular =
            step.prop_map(|(step, count, block)| (0..count).map(|index| (index * step, block)).collect::<Vec<_>>());
        let equal = (prop::collection::vec(-200..=200isize, 0..14), 0..3usize)
            .prop_map(|(starts, block)| starts.into_iter().map(|start| (start, block)).collect());
        let any = prop::collection::vec((-200..=200isize, 0..4usize), 0..14);
        let part = (-100..=100isize, 0..3usize, inner);
        prop_oneof![
            1 => (0..5usize, of.clone()).prop_map(|(count, of)| Tree::Contiguous(count, of)),
            2 => (0..6usize, 0..4usize, stride, of.clone())
                .prop_map(|(count, block, stride, of)| Tree::Vector { count, block, stride, of }),
            2 => (prop_oneof![regular, equal, any], of.clone()).prop_map(|(blocks, of)| Tree::Blocks { blocks, of }),
            1 => prop::collection::vec(part, 1..5).prop_map(Tree::Structure),
            1 => (-30..=30isize, -40..=200isize, of).prop_map(|(lb, extent, of)| Tree::Resized { lb, extent, of }),
        ]
    })
}

impl Tree {
    /// Basic elements of it.
    fn elements(&self) -> usize {
        match self {
            Tree::Basic { .. } => 1,
            Tree::Contiguous(count, of) => count * of.elements(),
            Tree::Vector { count, block, of, .. } => count * block * of.elements(),
            Tree::Blocks { blocks, of } => blocks.iter().map(|(_, count)| count).sum::<usize>() * of.elements(),
            Tree::Structure(parts) => parts.iter().map(|(_, count, of)| count * of.elements()).sum(),
            Tree::Resized { of, .. } => of.elements(),
        }
    }

    fn build(&self) -> (Arc<Layout>, Naive) {
        let (layout, naive) = match self {
            Tree::Basic { log2_bytes } => {
                let bytes = 1 << log2_bytes;
                (Ok(basic(Scalar::Unsigned, bytes)), Naive::basic(bytes))
            }
            Tree::Contiguous(count, of) => {
                let (layout, naive) = of.build();
                (Layout::contiguous(*count, &layout), Naive::of_blocks(&[(0, *count, &naive)]))
            }
            Tree::Vector { count, block, stride, of } => {
                let (layout, naive) = of.build();
                let stride = match stride {
                    Stride::Extents(extents) => naive.extent() * extents,
                    Stride::Touching => naive.extent() * *block as isize,
                    Stride::Bytes(bytes) => *bytes,
                };
                let blocks: Vec<_> = (0..*count as isize).map(|index| (index * stride, *block, &naive)).collect();
                (Layout::hvector(*count, *block, stride, &layout), Naive::of_blocks(&blocks))
            }
            Tree::Blocks { blocks, of } => {
                let (layout, naive) = of.build();
                let listed: Vec<_> = blocks.iter().map(|(start, count)| (*start, *count, &naive)).collect();
                (Layout::blocks(blocks, &layout), Naive::of_blocks(&listed))
            }
            Tree::Structure(parts) => {
                let built: Vec<_> = parts.iter().map(|(start, count, of)| (*start, *count, of.build())).collect();
                let layouts: Vec<_> =
                    built.iter().map(|(start, count, (layout, _))| (*start, *count, layout)).collect();
                let naives: Vec<_> = built.iter().map(|(start, count, (_, naive))| (*start, *count, naive)).collect();
                (Layout::structure(&layouts), Naive::of_blocks(&naives))
            }
            Tree::Resized { lb, extent, of } => {
                let (layout, naive) = of.build();
                (layout.resized(*lb, *extent), Naive { bounds: Some((*lb, lb + extent)), marked: true, ..naive })
            }
        };
        (Arc::new(layout.unwrap()), naive)
    }
}

/// Where a message is cut, and in which order its fragments go.
#[derive(Clone, Debug)]
struct Cuts {
    at: Vec<Index>,
    // The fragment to go next among those that are left.
    order: Vec<Index>,
}

fn cuts() -> impl Strategy<Value = Cuts> {
    let order = prop::collection::vec(any::<Index>(), 8);
    (prop::collection::vec(any::<Index>(), 0..8), order).prop_map(|(at, order)| Cuts { at, order })
}

impl Cuts {
    /// The fragments of a message of so many bytes, in the order of the message.
    fn fragments(&self, bytes: usize) -> Vec<(usize, usize)> {
        let mut ends: Vec<usize> = self.at.iter().map(|cut| cut.index(bytes + 1)).collect();
        ends.push(bytes);
        ends.sort_unstable();
        ends.iter().scan(0, |from, end| Some((core::mem::replace(from, *end), *end))).collect()
    }

    fn shuffled(&self, bytes: usize) -> Vec<(usize, usize)> {
        let mut left = self.fragments(bytes);
        let mut shuffled: Vec<_> = Vec::new();
        for next in &self.order {
            if !left.is_empty() {
                shuffled.push(left.remove(next.index(left.len())));
            }
        }
        shuffled.extend(left);
        shuffled
    }
}

#[test]
fn any_tree_of_types() {
    // Under valgrind and the sanitizers, which are up to 50 times slower, fewer of them.
    let cases = if std::env::var_os("OMPI_RS_FEWER_ROUNDS").is_some() { 200 } else { 6000 };
    let seed = std::env::var("OMPI_RS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let mut seeds = [0; 32];
    seeds[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seeds));
    let kinds = [const { Cell::new(0) }; 3];
    let ended = runner.run(&(tree(), 0..4usize, cuts(), any::<(Index, Index)>()), |(tree, count, cuts, part)| {
        if tree.elements() > MANY {
            return Ok(());
        }
        let (layout, naive) = tree.build();
        let kind = &kinds[layout.is_contiguous() as usize + (layout.size() == 0) as usize];
        kind.set(kind.get() + 1);
        bounds(&layout, &naive)?;
        described(&layout)?;
        packed(&layout, &naive, count, &cuts, part)?;
        unpacked(&layout, &naive, count, &cuts)?;
        placed(&layout, &naive, count, part)?;
        if naive.elements.len() < FEW {
            external(&layout, &naive, count)?;
            elements(&layout, &naive)?;
        }
        Ok(())
    });
    match ended {
        Ok(()) => {}
        Err(TestError::Fail(why, input)) => panic!("{why}\nthe smallest case found (seed {seed}): {input:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    let kinds = kinds.map(|kind| kind.get());
    println!("types: {kinds:?} (gaps, contiguous, empty)");
    assert!(kinds.iter().all(|kind| *kind > cases / 60), "{kinds:?}");
}

fn bounds(layout: &Layout, naive: &Naive) -> Result<(), TestCaseError> {
    prop_assert_eq!(layout.size(), naive.size());
    prop_assert_eq!(layout.primitives(), naive.elements.len());
    let (low, high) = naive.bounds.unwrap_or((0, 0));
    prop_assert_eq!((layout.lb(), layout.extent()), (low, high - low));
    let (low, high) = span(&naive.bytes(1));
    prop_assert_eq!((layout.true_lb(), layout.true_extent()), (low, high - low));
    Ok(())
}

/// From the first place to behind the last one.
/// What a peer makes of its description has the same bytes in the same order; no part of a description is one.
fn described(layout: &Layout) -> Result<(), TestCaseError> {
    let mut bytes = Vec::new();
    layout.describe(&mut bytes);
    let copy = Layout::of_description(&bytes).unwrap();
    prop_assert_eq!((copy.size(), copy.extent(), copy.lb()), (layout.size(), layout.extent(), layout.lb()));
    prop_assert_eq!((copy.true_lb(), copy.true_extent()), (layout.true_lb(), layout.true_extent()));
    prop_assert_eq!(merged_runs(&copy), merged_runs(layout));
    for end in (0..bytes.len()).step_by(7) {
        prop_assert!(Layout::of_description(&bytes[..end]).is_err());
    }
    Ok(())
}

fn merged_runs(layout: &Layout) -> Vec<(isize, usize)> {
    let mut runs: Vec<(isize, usize)> = Vec::new();
    layout.each_run(&mut |run| match runs.last_mut() {
        Some((offset, bytes)) if *offset + *bytes as isize == run.offset => *bytes += run.bytes,
        _ => runs.push((run.offset, run.bytes)),
    });
    runs
}

fn span(places: &[isize]) -> (isize, isize) {
    (places.iter().min().copied().unwrap_or(0), places.iter().max().map_or(0, |last| last + 1))
}

/// Memory whose bytes differ from their neighbours, and what a message of these places is.
fn memory(places: &[isize]) -> (Vec<u8>, isize, Vec<u8>) {
    let (low, high) = span(places);
    let memory: Vec<u8> = (0..high - low).map(|byte| (byte * 131 + byte / 251) as u8).collect();
    let message = places.iter().map(|place| memory[(place - low) as usize]).collect();
    (memory, low, message)
}

fn packed(
    layout: &Arc<Layout>,
    naive: &Naive,
    count: usize,
    cuts: &Cuts,
    part: (Index, Index),
) -> Result<(), TestCaseError> {
    let places = naive.bytes(count);
    let (memory, low, wanted) = memory(&places);
    let at = memory.as_ptr().cast_mut().wrapping_offset(-low);
    // SAFETY: `memory` covers every place.
    let mut convertor = unsafe { Convertor::new(layout.clone(), at, count) };
    prop_assert_eq!(convertor.total(), wanted.len());
    if let (Some(run), false) = (convertor.contiguous(), wanted.is_empty()) {
        let begin = (run as isize - memory.as_ptr() as isize) as usize;
        prop_assert_eq!(&memory[begin..begin + wanted.len()], &wanted[..], "not one run");
    }
    // What lies together is sent from where it lies, however it was put together.
    let together = places.windows(2).all(|pair| pair[1] == pair[0] + 1);
    prop_assert!(!together || wanted.is_empty() || convertor.contiguous().is_some(), "one run is packed");
    let mut got = vec![0u8; wanted.len()];
    for (from, end) in cuts.fragments(wanted.len()) {
        prop_assert_eq!(convertor.position(), from);
        // SAFETY: room for as many.
        prop_assert_eq!(unsafe { convertor.pack(got[from..].as_mut_ptr(), end - from) }, end - from);
    }
    prop_assert_eq!(&got, &wanted, "packed in order");
    // From anywhere, any number of bytes, and not one more; behind the end there is nothing.
    let from = part.0.index(wanted.len() + 1);
    let room = part.1.index(wanted.len() + 4 - from);
    let moved = room.min(wanted.len() - from);
    let mut got = vec![0xc3u8; room + 1];
    convertor.seek(from);
    // SAFETY: `got` is longer than that.
    prop_assert_eq!(unsafe { convertor.pack(got.as_mut_ptr(), room) }, moved);
    prop_assert_eq!(&got[..moved], &wanted[from..from + moved], "{} bytes from {} on", room, from);
    prop_assert!(got[moved..].iter().all(|byte| *byte == 0xc3), "written behind the end");
    // Without a convertor, from the beginning only.
    let moved = room.min(wanted.len());
    got.fill(0xc3);
    // SAFETY: as above.
    prop_assert_eq!(unsafe { layout.pack(at, count, got.as_mut_ptr(), room) }, moved);
    prop_assert_eq!(&got[..moved], &wanted[..moved], "{} bytes at once", room);
    prop_assert!(got[moved..].iter().all(|byte| *byte == 0xc3), "written behind the end at once");
    Ok(())
}

/// Fragments that arrive in any order.
/// The places of any part of the message, run by run, and of as many runs as are wanted.
fn placed(layout: &Layout, naive: &Naive, count: usize, part: (Index, Index)) -> Result<(), TestCaseError> {
    let places = naive.bytes(count);
    let from = part.0.index(places.len() + 1);
    let end = from + part.1.index(places.len() + 1 - from);
    let (mut got, mut runs) = (vec![], 0);
    let whole = layout.runs_from(from, end - from, &mut |run| {
        runs += 1;
        got.extend((0..run.bytes as isize).map(|byte| run.offset + byte));
        true
    });
    prop_assert!(whole);
    prop_assert_eq!(&got[..], &places[from..end], "the places of {} to {}", from, end);
    let mut some = vec![];
    let whole = layout.runs_from(from, end - from, &mut |run| {
        some.extend((0..run.bytes as isize).map(|byte| run.offset + byte));
        false
    });
    prop_assert_eq!(whole, runs == 0);
    prop_assert!(places[from..end].starts_with(&some) && (some.is_empty() == (runs == 0)), "enough after the first");
    let one = naive.bytes(1);
    if let Some(place) = one.get(part.0.index(one.len().max(1))) {
        let below = one.iter().filter(|other| *other < place).count();
        prop_assert_eq!(layout.bytes_below(*place), below);
    }
    Ok(())
}

fn unpacked(layout: &Arc<Layout>, naive: &Naive, count: usize, cuts: &Cuts) -> Result<(), TestCaseError> {
    let places = naive.bytes(count);
    let mut unique = places.clone();
    unique.sort_unstable();
    unique.dedup();
    if unique.len() != places.len() {
        // Overlapping entries are erroneous in a receive.
        return Ok(());
    }
    let (data, low, message) = memory(&places);
    let mut wanted = vec![0x5au8; data.len()];
    for (place, byte) in places.iter().zip(&message) {
        wanted[(place - low) as usize] = *byte;
    }
    let mut target = vec![0x5au8; data.len()];
    // SAFETY: `target` covers every place.
    let mut convertor = unsafe { Convertor::new(layout.clone(), target.as_mut_ptr().wrapping_offset(-low), count) };
    for (from, end) in cuts.shuffled(message.len()) {
        convertor.seek(from);
        // SAFETY: readable.
        prop_assert_eq!(unsafe { convertor.unpack(message[from..].as_ptr(), end - from) }, end - from);
    }
    prop_assert_eq!(&target, &wanted);
    // Without a convertor; there is no room for more than all of it.
    target.fill(0x5a);
    let longer = [&message[..], &[7; 8]].concat();
    // SAFETY: as above, and readable.
    let moved =
        unsafe { layout.unpack(target.as_mut_ptr().wrapping_offset(-low), count, longer.as_ptr(), longer.len()) };
    prop_assert_eq!((moved, target), (message.len(), wanted), "at once");
    Ok(())
}

/// The portable representation turns each basic element around.
fn external(layout: &Arc<Layout>, naive: &Naive, count: usize) -> Result<(), TestCaseError> {
    let (memory, low, native) = memory(&naive.bytes(count));
    let at = memory.as_ptr().cast_mut().wrapping_offset(-low);
    let mut wanted = native.clone();
    let mut begin = 0;
    for (_, bytes) in (0..count).flat_map(|_| &naive.elements) {
        wanted[begin..begin + bytes].reverse();
        begin += bytes;
    }
    prop_assert_eq!(layout.external_size() * count, wanted.len());
    let mut packed = vec![0u8; wanted.len()];
    // SAFETY: `memory` covers every place; `packed` is as long as the data.
    prop_assert_eq!(unsafe { pack_external(layout, at, count, packed.as_mut_ptr()) }, wanted.len());
    prop_assert_eq!(&packed, &wanted, "portable");
    let plain = Arc::new(Layout::structure(&[(0, wanted.len(), &Arc::new(basic(Scalar::Byte, 1)))]).unwrap());
    let mut unpacked = vec![0u8; wanted.len()];
    // Bytes stay as they are; the other way is `unpack_external` of the same elements side by side.
    // SAFETY: both are as long as the layout says.
    let moved = unsafe { unpack_external(&plain, unpacked.as_mut_ptr(), 1, packed.as_ptr()) };
    prop_assert_eq!((moved, &unpacked), (wanted.len(), &wanted));
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
    prop_assert_eq!((moved, &unpacked[..]), (native.len(), &native[..]));
    Ok(())
}

/// How many basic elements any number of bytes is.
fn elements(layout: &Layout, naive: &Naive) -> Result<(), TestCaseError> {
    let sizes: Vec<usize> = naive.elements.iter().chain(&naive.elements).map(|(_, bytes)| *bytes).collect();
    let mut ends = vec![0];
    for bytes in &sizes {
        ends.push(ends.last().unwrap() + bytes);
    }
    for bytes in 0..=*ends.last().unwrap() {
        let wanted = ends.iter().position(|end| *end == bytes);
        prop_assert_eq!(layout.elements_in(bytes), wanted, "{} bytes", bytes);
        if let Some(elements) = wanted {
            prop_assert_eq!(layout.bytes_of(elements), Some(bytes), "{} elements", elements);
        }
    }
    Ok(())
}

/// Larger types take too long.
const MANY: usize = 5000;
/// Up to so many basic elements each is looked at by itself.
const FEW: usize = 300;
