//! The predefined table against the ABI's data; constructors against naive formulas.

use super::*;
use crate::data::Counts;
use crate::status::Status;
use std::vec;
use std::vec::Vec;

fn named(handle: usize) -> Arc<Datatype> {
    // Tests run in threads.
    opal_core::sync::raise_threads();
    open();
    get(handle).unwrap()
}

fn int() -> Arc<Datatype> {
    named(521)
}

/// Byte offsets of the `int`s (or other runs of `bytes`) of one element.
fn places(datatype: &Datatype, bytes: usize) -> Vec<isize> {
    let mut all = Vec::new();
    datatype.layout.each_run(&mut |run| {
        assert_eq!(run.bytes % bytes, 0);
        all.extend((0..run.bytes / bytes).map(|index| run.offset + (index * bytes) as isize));
    });
    all
}

#[test]
fn every_handle_of_the_abi_has_its_type_and_size() {
    open();
    let text = include_str!("../../api/mpi_abi_constants.json");
    let mut seen = 0;
    for entry in text.split('{').filter(|entry| entry.contains("\"kind\": \"handle-datatype\"")) {
        let field = |name: &str| {
            let from = entry.find(name)? + name.len();
            Some(entry[from..].trim_start_matches([':', ' ', '"']).split(['"', ',', '\n']).next()?.trim())
        };
        let name = field("\"name\"").unwrap();
        let handle: usize = field("\"value\"").unwrap().parse().unwrap();
        if handle == NULL {
            assert!(borrow(handle).is_none());
            continue;
        }
        let datatype = borrow(handle).unwrap_or_else(|| panic!("{name} {handle:#x} is missing"));
        if field("\"alias_of\"").is_none() {
            assert_eq!(datatype.name(), name);
        }
        assert!(datatype.is_committed() && datatype.is_predefined() && datatype.predefined as usize == handle);
        // MPI 5.0 §20: these ranges of handles encode the size.
        if matches!(handle, 0x240..0x280 | 0x2c0..0x300) {
            assert_eq!(datatype.layout.size(), 1 << (handle >> 3 & 7), "{name}");
        }
        assert!(datatype.layout.extent() >= datatype.layout.size() as isize, "{name}");
        seen += 1;
    }
    assert!(seen >= 70, "{seen}");
    let made = (0x200..0x400).filter(|handle| borrow(*handle).is_some()).count();
    assert!(made <= seen, "{made} types for {seen} constants");
}

#[test]
fn sizes_and_extents_are_those_of_c() {
    for (handle, size, extent) in [
        (544, 16, 16),
        (552, 8, 8),
        (553, 12, 16),
        (554, 12, 16),
        (555, 8, 8),
        (556, 6, 8),
        (557, 20, 32),
        (560, 8, 8),
        (561, 16, 16),
        (548, 32, 32),
        (568, 1, 1),
        (572, 4, 4),
    ] {
        let datatype = named(handle);
        assert_eq!((datatype.layout.size(), datatype.layout.extent()), (size, extent), "{}", datatype.name());
    }
}

#[test]
fn vectors_and_lists() {
    let old = int();
    let vector = vector(Number::Int(3), Number::Int(2), Number::Int(-4), &old).unwrap();
    assert_eq!(places(&vector, 4), [0, 4, -16, -12, -32, -28]);
    assert_eq!((vector.layout.lb(), vector.layout.extent()), (-32, 40));
    assert_eq!(vector.contents().integers, [3, 2, -4]);
    let lengths = Counts::Int(&[2, 0, 1]);
    let indexed = indexed(Number::Int(3), lengths, Counts::Int(&[5, 9, 0]), &old).unwrap();
    assert_eq!(places(&indexed, 4), [20, 24, 0]);
    assert_eq!(indexed.contents().integers, [3, 2, 0, 1, 5, 9, 0]);
    let hindexed = hindexed(Number::Int(3), lengths, Counts::Large(&[5, 9, 100]), &old).unwrap();
    assert_eq!(places(&hindexed, 4), [5, 9, 100]);
    assert_eq!(
        (&hindexed.contents().integers[..], &hindexed.contents().addresses[..]),
        (&[3, 2, 0, 1][..], &[5, 9, 100][..])
    );
    let block = indexed_block(Number::Large(2), Number::Large(2), Counts::Large(&[4, 0]), &old).unwrap();
    assert_eq!(places(&block, 4), [16, 20, 0, 4]);
    assert_eq!((&block.contents().counts[..], block.contents().integers.len()), (&[2, 2, 4, 0][..], 0));
    let hblock = hindexed_block(Number::Int(2), Number::Int(1), Counts::Large(&[40, 8]), &old).unwrap();
    assert_eq!((places(&hblock, 4), hblock.contents().addresses.clone()), (vec![40, 8], vec![40, 8]));
    let hvector = hvector(Number::Large(2), Number::Large(1), 10, &old).unwrap();
    assert_eq!((places(&hvector, 4), hvector.contents().counts.clone()), (vec![0, 10], vec![2, 1, 10]));
    let resized = resized(-4, 12, false, &old).unwrap();
    assert_eq!((resized.layout.lb(), resized.layout.extent(), resized.layout.true_lb()), (-4, 12, 0));
    assert_eq!(resized.contents().addresses, [-4, 12]);
}

#[test]
fn wrong_arguments_name_themselves() {
    let old = int();
    let fault = contiguous(Number::Int(-1), &old).unwrap_err();
    assert_eq!((fault.get(), fault.of_argument()), (Class::Count as i32, "count"));
    let fault = vector(Number::Int(1), Number::Int(-1), Number::Int(1), &old).unwrap_err();
    assert_eq!((fault.get(), fault.of_argument()), (Class::Arg as i32, "blocklength"));
    assert!(contiguous(Number::Large(i64::MAX), &old).is_err());
    assert!(vector(Number::Large(2), Number::Large(1), Number::Large(i64::MAX), &old).is_err());
    assert!(Order::from_c(13).is_err());
    let (sizes, part) = (Counts::Int(&[4]), Counts::Int(&[3]));
    assert!(subarray(sizes, part, Counts::Int(&[2]), 1, Order::C, &old).is_err());
    assert!(darray(4, 0, sizes, &[17], &[19], &[3], Order::C, &old).is_err());
}

#[test]
fn contents_keep_old_types_alive_and_give_new_handles() {
    let old = register(Arc::new(contiguous(Number::Int(3), &int()).unwrap())).unwrap();
    let kept = get(old).unwrap();
    let double = named(532);
    let lengths = Counts::Int(&[1, 2]);
    let made = structure(Number::Int(2), lengths, Counts::Large(&[16, 0]), &[kept, double]).unwrap();
    free(old).unwrap();
    assert!(borrow(old).is_none() && free(old).is_err());
    assert_eq!(made.combiner, Combiner::Struct as i32);
    let inner = register(made.contents().datatypes[0].clone()).unwrap();
    assert_eq!(borrow(inner).unwrap().layout.size(), 12);
    let again = register(made.contents().datatypes[0].clone()).unwrap();
    assert_ne!(inner, again);
    free(inner).unwrap();
    assert_eq!(borrow(again).unwrap().with_handle(|handle| handle).unwrap(), again);
    free(again).unwrap();
    assert_eq!(register(made.contents().datatypes[1].clone()).unwrap(), 532);
    assert!(free(532).is_err() && free(NULL).is_err());
    let copy = dup(&int());
    assert!(copy.is_committed() && !copy.is_predefined());
}

#[test]
fn subarrays() {
    let old = int();
    let (sizes, parts, starts) = ([4, 5, 6], [2, 3, 2], [1, 2, 3]);
    for order in [Order::C, Order::Fortran] {
        let made = subarray(Counts::Int(&sizes), Counts::Int(&parts), Counts::Int(&starts), 3, order, &old).unwrap();
        let mut wanted = Vec::new();
        let at = |i: i32, j: i32, k: i32| match order {
            Order::C => ((i * 5 + j) * 6 + k) as isize * 4,
            Order::Fortran => ((k * 5 + j) * 4 + i) as isize * 4,
        };
        for a in 0..parts[0] {
            for b in 0..parts[1] {
                for c in 0..parts[2] {
                    wanted.push(at(starts[0] + a, starts[1] + b, starts[2] + c));
                }
            }
        }
        wanted.sort_unstable();
        assert_eq!(places(&made, 4), wanted, "{order:?}");
        assert_eq!((made.layout.lb(), made.layout.extent()), (0, 4 * 5 * 6 * 4));
        assert_eq!(made.contents().integers.len(), 3 * 3 + 2);
    }
}

#[test]
fn darrays_deal_out_every_element_once() {
    let old = int();
    let (sizes, grid) = ([7, 10, 3], [2, 3, 1]);
    for (kinds, arguments) in [([17, 18, 16], [19, 2, 19]), ([18, 17, 17], [19, 4, 3]), ([18, 18, 18], [3, 19, 2])] {
        for order in [Order::C, Order::Fortran] {
            let mut owners = vec![-1; 7 * 10 * 3];
            for rank in 0..6 {
                let made = darray(6, rank, Counts::Int(&sizes), &kinds, &arguments, &grid, order, &old).unwrap();
                assert_eq!(made.layout.extent(), 7 * 10 * 3 * 4);
                let places = places(&made, 4);
                assert!(places.is_sorted(), "in the order of memory");
                for place in places {
                    assert_eq!(core::mem::replace(&mut owners[place as usize / 4], rank), -1);
                }
            }
            for (index, owner) in owners.iter().enumerate() {
                let index = index as i32;
                let at = match order {
                    Order::C => [index / 30, index / 3 % 10, index % 3],
                    Order::Fortran => [index % 7, index / 7 % 10, index / 70],
                };
                let process = |dimension: usize| {
                    let (size, processes) = (sizes[dimension], grid[dimension]);
                    match (kinds[dimension], arguments[dimension]) {
                        (16, _) => 0,
                        (17, 19) => at[dimension] / ((size + processes - 1) / processes),
                        (17, block) => at[dimension] / block,
                        (_, 19) => at[dimension] % processes,
                        (_, block) => at[dimension] / block % processes,
                    }
                };
                assert_eq!(*owner, (process(0) * 3 + process(1)) + process(2), "element {at:?}");
            }
        }
    }
}

#[test]
fn counts_and_elements_of_messages() {
    let status = |bytes| Status::new(0, 0, bytes);
    let triple = contiguous(Number::Int(3), &int()).unwrap();
    assert_eq!((triple.count_in(&status(24)), triple.elements_in(&status(24))), (Some(2), Some(6)));
    assert_eq!((triple.count_in(&status(16)), triple.elements_in(&status(16))), (None, Some(4)));
    assert_eq!((triple.count_in(&status(15)), triple.elements_in(&status(15))), (None, None));
    let pair = named(553);
    assert_eq!((pair.count_in(&status(12)), pair.elements_in(&status(20))), (Some(1), Some(3)));
    let mixed = structure(Number::Int(2), Counts::Int(&[1, 2]), Counts::Large(&[0, 8]), &[int(), named(532)]).unwrap();
    assert_eq!(mixed.elements_in(&status(20 + 12)), Some(5));
    assert_eq!(mixed.elements_in(&status(20 + 8)), None);
    let mut said = Status::EMPTY;
    mixed.set_elements(&mut said, 5).unwrap();
    assert_eq!((said.bytes(), mixed.elements_in(&said), mixed.count_in(&said)), (32, Some(5), None));
    let nothing = contiguous(Number::Int(0), &int()).unwrap();
    assert_eq!((nothing.count_in(&status(0)), nothing.elements_in(&status(0))), (Some(0), Some(0)));
}

#[test]
fn types_by_property() {
    let _ = int();
    assert_eq!(match_size(193, 8).unwrap(), 730);
    assert!(match_size(193, 3).is_err() && match_size(1, 4).is_err());
    let real = f90_real(15, 307).unwrap();
    assert_eq!(f90_real(15, 307).unwrap(), real);
    assert_ne!(f90_real(14, 307).unwrap(), real);
    let held = borrow(real).unwrap();
    assert_eq!((held.layout.size(), held.combiner, &held.contents().integers[..]), (8, 113, &[15, 307][..]));
    assert!(free(real).is_err());
    assert_eq!(
        borrow(f90_real(18, crate::status::UNDEFINED).unwrap()).unwrap().layout.primitive(),
        named(544).layout.primitive()
    );
    assert!(f90_real(40, 1).is_err() && f90_integer(39).is_err());
    assert_eq!(borrow(f90_integer(10).unwrap()).unwrap().layout.size(), 8);
    assert_eq!(value_index(&named(532), &int()), 553);
    assert_eq!(value_index(&named(532), &named(532)), NULL);
}

#[test]
fn names() {
    let datatype = contiguous(Number::Int(1), &int()).unwrap();
    assert_eq!((datatype.name().as_str(), int().name().as_str()), ("", "MPI_INT"));
    datatype.set_name("mine".into());
    assert_eq!(datatype.name(), "mine");
}

#[test]
fn the_unit_of_a_type_whose_elements_touch() {
    open();
    assert_eq!((unit(583), unit(532)), (1, 8));
    for handle in (0..0x402).filter(|handle| unit(*handle) > 0) {
        let datatype = borrow(handle).expect("only predefined datatypes have a unit");
        let data = crate::data::Data { at: core::ptr::null_mut(), count: 3, datatype };
        assert_eq!((data.bytes(), data.contiguous()), (3 * unit(handle), Some(core::ptr::null_mut())), "{handle:#x}");
    }
    // MPI_DOUBLE_INT has a gap behind its integer: three of them are no run.
    assert!(borrow(0x229).is_some());
    assert_eq!(unit(0x229), 0);
}

#[test]
fn markers_are_members_of_structures_only() {
    let (lb, ub) = (usize::MAX - 1, usize::MAX - 2);
    let members = [member(ub).unwrap(), int(), member(lb).unwrap()];
    let (lengths, at) = (Counts::Int(&[1, 1, 1]), Counts::Large(&[12, 0, -4]));
    let made = structure(Number::Int(3), lengths, at, &members).unwrap();
    assert_eq!((made.layout.lb(), made.layout.extent(), made.layout.size()), (-4, 16, 4));
    // MPI_Type_get_contents returns the handles that were passed.
    let handles: Vec<usize> = made.contents().datatypes.iter().map(|old| register(old.clone()).unwrap()).collect();
    assert_eq!(handles, [ub, 521, lb]);
    assert!(get(lb).is_none() && borrow(ub).is_none() && member(0).is_none() && free(lb).is_err());
}
