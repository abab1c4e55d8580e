//! Layouts of known shapes; [`trees`] tries any.

use super::{Convertor, Layout, Marker, Primitive, Run, Scalar};
use crate::Error;
use alloc::sync::Arc;
use std::vec::Vec;

mod naive;
mod trees;

fn basic(scalar: Scalar, bytes: usize) -> Layout {
    let primitive = Primitive::new(scalar, bytes as u8);
    Layout::basic(primitive, &[Run { offset: 0, bytes }], bytes, bytes)
}

#[test]
fn a_vector_of_a_million_blocks_is_one_loop() {
    let double = Arc::new(basic(Scalar::Float, 8));
    let vector = Layout::hvector(1_000_000, 1, 16, &double).unwrap();
    assert_eq!(vector.body.blocks.len(), 1);
    assert_eq!((vector.size(), vector.extent()), (8_000_000, 16_000_000 - 8));
    // The same from a list of displacements.
    let listed: Vec<(isize, usize)> = (0..1000).map(|index| (index * 16, 1)).collect();
    assert_eq!(Layout::blocks(&listed, &double).unwrap().body.blocks.len(), 1);
    // Rows that touch make one run.
    let whole = Layout::hvector(1000, 10, 80, &double).unwrap();
    assert!(whole.is_contiguous());
    // A vector of vectors that continue each other is one vector.
    let column = Arc::new(Layout::hvector(10, 1, 16, &double).unwrap().resized(0, 160).unwrap());
    let columns = Layout::contiguous(10, &column).unwrap();
    assert_eq!(columns.body.blocks.len(), 1);
}

#[test]
fn runs_evenly_apart_are_copied_to_such() {
    let int = Arc::new(basic(Scalar::Signed, 4));
    let from = Layout::hvector(5, 2, 16, &int).unwrap();
    let values: [u32; 18] = core::array::from_fn(|index| index as u32);
    let mut copies = [u32::MAX; 18];
    let mut copy = |to: &Layout, first: usize| {
        copies.fill(u32::MAX);
        let at = copies.as_mut_ptr().wrapping_add(first).cast();
        // SAFETY: five runs of two numbers each lie in both arrays.
        let copied = unsafe { from.copy_strided(values.as_ptr().cast_mut().cast(), to, at) };
        (copied, copies)
    };
    let wanted = |place: fn(usize) -> usize| {
        let mut wanted = [u32::MAX; 18];
        (0..5).for_each(|run| wanted[place(run)..][..2].copy_from_slice(&[4 * run as u32, 4 * run as u32 + 1]));
        (true, wanted)
    };
    assert_eq!(copy(&Layout::hvector(5, 2, 12, &int).unwrap(), 3), wanted(|run| 3 + 3 * run));
    assert_eq!(copy(&Layout::hvector(5, 2, -16, &int).unwrap(), 16), wanted(|run| 16 - 4 * run));
    let nothing = (false, [u32::MAX; 18]);
    for other in [(10, 1, 8), (4, 2, 16), (5, 2, 8)] {
        assert_eq!(copy(&Layout::hvector(other.0, other.1, other.2, &int).unwrap(), 0), nothing, "{other:?}");
    }
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
fn each_bound_has_a_marker_of_its_own() {
    let (int, char) = (Arc::new(basic(Scalar::Signed, 4)), Arc::new(basic(Scalar::Character, 1)));
    let [lower, upper] = [Marker::Lower, Marker::Upper].map(|which| Arc::new(Layout::marker(which).unwrap()));
    let structure = |parts: &[(isize, usize, &Arc<Layout>)]| Arc::new(Layout::structure(parts).unwrap());
    let bounds = |layout: &Layout| (layout.lb(), layout.lb() + layout.extent());
    // MPI 1.1 §3.12.3, example: {(lb, -3), (int, 0), (ub, 6)} has extent 9, and two of them have 18.
    let both = structure(&[(-3, 1, &lower), (0, 1, &int), (6, 1, &upper)]);
    assert_eq!((bounds(&both), both.size(), both.primitives()), ((-3, 6), 4, 1));
    assert_eq!(bounds(&Layout::contiguous(2, &both).unwrap()), (-3, 15));
    // One marker alone leaves the other bound to the data, in structures of structures, too.
    let item = structure(&[(0, 1, &int), (4, 1, &char), (20, 1, &upper)]);
    assert_eq!((bounds(&item), bounds(&structure(&[(0, 1, &int), (4, 2, &item)]))), ((0, 20), (0, 44)));
    let behind = structure(&[(-4, 1, &lower), (0, 1, &int)]);
    assert_eq!((bounds(&behind), bounds(&structure(&[(0, 1, &behind), (8, 1, &int)]))), ((-4, 4), (-4, 12)));
    // Of several the outer one counts; markers alone are a type; none of them is repeated.
    let all = [(9, 1, &upper), (2, 1, &lower), (0, 1, &int), (-8, 3, &lower), (7, 3, &upper)];
    assert_eq!(bounds(&structure(&all)), (-8, 9));
    let alone = structure(&[(8, 1, &upper)]);
    assert_eq!((bounds(&alone), alone.size()), ((0, 8), 0));
    // Without MPI_UB the end is padded, from the marked beginning on.
    assert_eq!(bounds(&structure(&[(-3, 1, &lower), (0, 1, &int)])), (-3, 5));
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

#[test]
fn items_and_cut_elements_are_counted() {
    let item = Arc::new(Layout::item(12));
    assert_eq!((item.size(), item.extent(), item.primitives()), (12, 12, 1));
    let short = Arc::new(Layout::item(5));
    let pair = Arc::new(Layout::structure(&[(0, 1, &short), (5, 1, &item)]).unwrap());
    assert_eq!((pair.size(), pair.extent()), (17, 17));
    for (bytes, whole) in [(0, 0), (4, 0), (5, 1), (16, 1), (17, 2), (22, 3), (34, 4), (170, 20)] {
        assert_eq!(pair.elements_within(bytes), whole, "{bytes} bytes");
    }
    // An integer that has four bytes in the portable representation and eight here, behind a character.
    let run = |bytes| [Run { offset: 0, bytes }];
    let long = Arc::new(Layout::narrowed(Primitive::new(Scalar::Signed, 8), &run(8), 8, 8, Some(4)));
    assert_eq!((long.bytes_of_external(7), long.bytes_of_external(8)), ((8, 4), (16, 8)));
    let character = Arc::new(basic(Scalar::Character, 1));
    let mixed = Layout::structure(&[(0, 1, &character), (8, 2, &long)]).unwrap();
    assert_eq!((mixed.size(), mixed.external_size()), (17, 9));
    for (there, whole) in [
        (0, (0, 0)),
        (1, (1, 1)),
        (4, (1, 1)),
        (5, (9, 5)),
        (9, (17, 9)),
        (10, (18, 10)),
        (14, (26, 14)),
        (17, (26, 14)),
    ] {
        assert_eq!(mixed.bytes_of_external(there), whole, "{there} bytes there");
    }
}
