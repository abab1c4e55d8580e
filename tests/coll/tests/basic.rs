//! Every collective of coll/basic against formulas: ranks × counts × roots × types × MPI_IN_PLACE × operations.
#![allow(unsafe_code, clippy::multiple_unsafe_ops_per_block, clippy::needless_range_loop)] // the user's operation

use coll_basic::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, reduce_scatter, scan, scatter};
use core::ffi::{c_int, c_void};
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::datatype::{self, Datatype};
use ompi_core::executor::Executor;
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;
use test_coll::{Buffer, Flaw, Member, Shape};

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_self, coll_tuned];

const RANKS: [usize; 10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];
const COUNTS: [usize; 4] = [0, 1, 7, 1000];

type Outcome = Result<(), String>;

/// What a rank contributes for a rank: any function that differs in every argument.
fn value(rank: usize, other: usize, index: usize) -> i32 {
    let mut x = ((rank as u64 + 1) << 40 | (other as u64 + 1) << 20 | index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 32;
    x as i32
}

fn values(rank: usize, other: usize, count: usize) -> Vec<i32> {
    (0..count).map(|index| value(rank, other, index)).collect()
}

fn run(size: usize, flaw: Flaw, each: impl Fn(&mut Member<'_>) -> Outcome + Sync) -> Outcome {
    test_coll::run(size, |_| flaw, each).0
}

fn everywhere(each: impl Fn(&mut Member<'_>) -> Outcome + Sync) {
    for size in RANKS {
        run(size, Flaw::None, &each).unwrap();
    }
}

/// Calls back for every combination of shape, count and root.
fn each_case(size: usize, mut case: impl FnMut(&Shape, usize, usize) -> Outcome) -> Outcome {
    for shape in [Shape::int(), Shape::vector(), Shape::backwards()] {
        for count in COUNTS {
            let roots: Vec<usize> = if count < 1000 { (0..size).collect() } else { vec![size / 2] };
            for root in roots {
                case(&shape, count, root).map_err(|what| format!("{} x {count}, root {root}: {what}", shape.name))?;
            }
        }
    }
    Ok(())
}

fn ok(result: ompi_core::error::Result<()>) -> Outcome {
    result.map_err(|fault| format!("error {}: {}", fault.get(), fault.reason()))
}

fn same(difference: Option<String>) -> Outcome {
    difference.map_or(Ok(()), Err)
}

#[test]
fn barriers() {
    everywhere(|member| (0..5).try_for_each(|_| ok(barrier::barrier(member))));
}

#[test]
fn no_rank_leaves_a_barrier_before_the_last_one_entered() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for size in RANKS {
        let entered = AtomicUsize::new(0);
        run(size, Flaw::None, |member| {
            datatype::open();
            for round in 1..=20 {
                entered.fetch_add(1, Ordering::SeqCst);
                ok(barrier::barrier(member))?;
                let seen = entered.load(Ordering::SeqCst);
                if seen < round * size {
                    return Err(format!("left round {round} after {seen} of {} entries", round * size));
                }
            }
            Ok(())
        })
        .unwrap();
    }
}

fn bcasts(member: &mut Member<'_>) -> Outcome {
    each_case(member.size(), |shape, count, root| {
        let sent = values(root, 0, count * shape.ints());
        let mut buffer = if member.rank() == root { Buffer::of(shape, &sent) } else { Buffer::new(shape, count) };
        ok(bcast::bcast(member, &buffer.data(), root))?;
        same(buffer.differs(&sent))
    })
}

#[test]
fn bcast() {
    everywhere(bcasts);
}

#[test]
fn gather_and_scatter() {
    everywhere(|member| {
        let (rank, size) = (member.rank(), member.size());
        each_case(size, |shape, count, root| {
            let ints = count * shape.ints();
            let all: Vec<i32> = (0..size).flat_map(|other| values(other, root, ints)).collect();
            let mine = values(rank, root, ints);
            for in_place in [false, true] {
                let mut own = Buffer::of(shape, &mine);
                let mut whole = Buffer::new(shape, count * size);
                let place = in_place && rank == root;
                if place {
                    whole.set(rank * count, &mine);
                }
                let from = if place { Source::InPlace } else { Source::From(own.data()) };
                let to = (rank == root).then(|| whole.part(count));
                ok(gather::gather(member, from, to.as_ref(), root))?;
                same(if rank == root { whole.differs(&all) } else { whole.differs(&[]) })?;
                same(own.differs(&mine))?;

                let mut whole = Buffer::of(shape, &all);
                let mut own = Buffer::new(shape, count);
                let from = (rank == root).then(|| whole.part(count));
                let to = (!place).then(|| own.data());
                ok(scatter::scatter(member, from.as_ref(), to.as_ref(), root))?;
                same(own.differs(if place { &[] } else { &mine }))?;
                same(whole.differs(&all))?;
            }
            Ok(())
        })
    });
}

/// Block sizes and places for the v variants: counts differ, one is zero, blocks lie in reverse with gaps.
fn uneven(size: usize, count: usize) -> (Vec<i32>, Vec<i32>, usize) {
    let counts: Vec<i32> = (0..size).map(|rank| ((count * (rank % 3)) / 2) as i32).collect();
    let mut displacements = vec![0; size];
    let mut next = 0;
    for rank in (0..size).rev() {
        displacements[rank] = next;
        next += counts[rank] + 1;
    }
    (counts, displacements, next as usize)
}

#[test]
fn gatherv_and_scatterv() {
    everywhere(|member| {
        let (rank, size) = (member.rank(), member.size());
        each_case(size, |shape, count, root| {
            let (counts, displacements, total) = uneven(size, count);
            let content: Vec<Vec<i32>> =
                (0..size).map(|other| values(other, root, counts[other] as usize * shape.ints())).collect();
            let parts: Vec<(usize, &[i32])> =
                (0..size).map(|other| (displacements[other] as usize, &content[other][..])).collect();
            let blocks = |buffer: &mut Buffer<'_>| buffer.data().at;
            let mut whole = Buffer::new(shape, total);
            let at = blocks(&mut whole);
            let described = Blocks {
                at,
                counts: Counts::Int(&counts),
                displacements: Counts::Int(&displacements),
                datatype: &shape.datatype,
            };
            let mut own = Buffer::of(shape, &content[rank]);
            let to = (rank == root).then_some(&described);
            ok(gather::gatherv(member, Source::From(own.data()), to, root))?;
            same(if rank == root { whole.differs_in(&parts) } else { whole.differs(&[]) })?;
            let mut back = Buffer::new(shape, counts[rank] as usize);
            ok(scatter::scatterv(member, to, Some(&back.data()), root))?;
            same(back.differs(&content[rank]))
        })
    });
}

#[test]
fn allgather_both() {
    everywhere(|member| {
        let (rank, size) = (member.rank(), member.size());
        each_case(size, |shape, count, root| {
            let ints = count * shape.ints();
            let all: Vec<i32> = (0..size).flat_map(|other| values(other, root, ints)).collect();
            let mine = values(rank, root, ints);
            for in_place in [false, true] {
                let mut own = Buffer::of(shape, &mine);
                let mut whole = Buffer::new(shape, count * size);
                if in_place {
                    whole.set(rank * count, &mine);
                }
                let from = if in_place { Source::InPlace } else { Source::From(own.data()) };
                ok(allgather::allgather(member, from, &whole.part(count)))?;
                same(whole.differs(&all))?;
            }
            let (counts, displacements, total) = uneven(size, count);
            let content: Vec<Vec<i32>> =
                (0..size).map(|other| values(other, root, counts[other] as usize * shape.ints())).collect();
            let parts: Vec<(usize, &[i32])> =
                (0..size).map(|other| (displacements[other] as usize, &content[other][..])).collect();
            let mut whole = Buffer::new(shape, total);
            let described = Blocks {
                at: whole.data().at,
                counts: Counts::Int(&counts),
                displacements: Counts::Int(&displacements),
                datatype: &shape.datatype,
            };
            let mut own = Buffer::of(shape, &content[rank]);
            ok(allgather::allgatherv(member, Source::From(own.data()), &described))?;
            same(whole.differs_in(&parts))
        })
    });
}

#[test]
fn alltoalls() {
    everywhere(|member| {
        let (rank, size) = (member.rank(), member.size());
        each_case(size, |shape, count, root| {
            // Roots do not exist here; every other count is enough.
            if root != size / 2 {
                return Ok(());
            }
            let ints = count * shape.ints();
            let sent: Vec<i32> = (0..size).flat_map(|other| values(rank, other, ints)).collect();
            let wanted: Vec<i32> = (0..size).flat_map(|other| values(other, rank, ints)).collect();
            let mut from = Buffer::of(shape, &sent);
            let mut to = Buffer::new(shape, count * size);
            ok(alltoall::alltoall(member, Source::From(from.part(count)), &to.part(count)))?;
            same(to.differs(&wanted))?;
            same(from.differs(&sent))?;
            let mut both = Buffer::of(shape, &sent);
            ok(alltoall::alltoall(member, Source::InPlace, &both.part(count)))?;
            same(both.differs(&wanted))?;

            // A pair's counts agree: that of i to j is a symmetric function, so that MPI_IN_PLACE works too.
            let of = |a: usize, b: usize| count * ((a + b) % 3) / 2;
            let counts: Vec<i32> = (0..size).map(|other| of(rank, other) as i32).collect();
            let places: Vec<i64> =
                (0..size).map(|other| (other + 1..size).map(|after| of(rank, after) as i64 + 1).sum()).collect();
            let total = places[0] as usize + counts[0] as usize;
            let content = |a, b| values(a, b, of(a, b) * shape.ints());
            let (mut from, mut to) = (Buffer::new(shape, total), Buffer::new(shape, total));
            let incoming: Vec<Vec<i32>> = (0..size).map(|other| content(other, rank)).collect();
            for other in 0..size {
                from.set(places[other] as usize, &content(rank, other));
            }
            let parts: Vec<(usize, &[i32])> =
                (0..size).map(|other| (places[other] as usize, &incoming[other][..])).collect();
            let blocks = |at| Blocks {
                at,
                counts: Counts::Int(&counts),
                displacements: Counts::Large(&places),
                datatype: &shape.datatype,
            };
            ok(alltoall::alltoallv(member, Some(&blocks(from.data().at)), &blocks(to.data().at)))?;
            same(to.differs_in(&parts))?;

            let types: Vec<&Datatype> = (0..size).map(|_| &shape.datatype).collect();
            let bytes: Vec<i64> = places.iter().map(|place| place * shape.datatype.layout.extent() as i64).collect();
            let typed = |at| TypedBlocks {
                at,
                counts: Counts::Int(&counts),
                displacements: Counts::Large(&bytes),
                datatypes: &types,
            };
            let mut to = Buffer::new(shape, total);
            ok(alltoall::alltoallw(member, Some(&typed(from.data().at)), &typed(to.data().at)))?;
            same(to.differs_in(&parts))?;
            ok(alltoall::alltoallv(member, None, &blocks(from.data().at)))?;
            same(from.differs_in(&parts))
        })
    });
}

#[test]
fn types_differ_between_sender_and_receiver() {
    everywhere(|member| {
        let (rank, size) = (member.rank(), member.size());
        let (spread, close) = (Shape::vector(), Shape::pair());
        for root in 0..size {
            let mine = values(rank, root, 2 * 9);
            let all: Vec<i32> = (0..size).flat_map(|other| values(other, root, 2 * 9)).collect();
            let mut own = Buffer::of(&spread, &mine);
            let mut whole = Buffer::new(&close, size * 9);
            let to = whole.part(9);
            ok(gather::gather(member, Source::From(own.data()), (rank == root).then_some(&to), root))?;
            same(whole.differs(if rank == root { &all } else { &[] }))?;
            let mut shape = if rank % 2 == 0 { Buffer::new(&spread, 9) } else { Buffer::new(&close, 9) };
            let sent = values(root, root, 2 * 9);
            if rank == root {
                shape.set(0, &sent);
            }
            ok(bcast::bcast(member, &shape.data(), root))?;
            same(shape.differs(&sent))?;
        }
        Ok(())
    });
}

/// Composition of affine functions x -> a·x + b: associative, not commutative.
fn compose(first: [i32; 2], second: [i32; 2]) -> [i32; 2] {
    [first[0].wrapping_mul(second[0]), first[0].wrapping_mul(second[1]).wrapping_add(first[1])]
}

unsafe extern "C" fn composed(input: *mut c_void, inout: *mut c_void, count: *mut c_int, handle: *mut usize) {
    // SAFETY: the library passes valid pointers.
    let (count, handle) = unsafe { (*count, *handle) };
    let datatype = datatype::borrow(handle).expect("a handle in force");
    let (extent, apart) = (datatype.layout.extent(), datatype.layout.true_extent() - 4);
    // The two shapes that are used: neighbours, or 8 first and -8 second.
    let places = if apart == 4 {
        [0, 4]
    } else if datatype.layout.lb() < 0 {
        [8, -8]
    } else {
        [0, 12]
    };
    for element in 0..count as isize {
        let at = |base: *mut c_void, which: usize| {
            base.cast::<u8>().wrapping_offset(element * extent + places[which]).cast::<i32>()
        };
        // SAFETY: the elements' two ints.
        let read = |base| [0, 1].map(|which| unsafe { at(base, which).read_unaligned() });
        let result = compose(read(input), read(inout));
        for which in 0..2 {
            // SAFETY: the elements' two ints.
            unsafe { at(inout, which).write_unaligned(result[which]) };
        }
    }
}

struct Reduction {
    op: Op,
    shape: Shape,
    combine: fn(&[i32], &[i32]) -> Vec<i32>,
}

fn reductions() -> Vec<Reduction> {
    let int = || {
        let mut shape = Shape::int();
        // Predefined operations want the predefined type itself.
        shape.datatype =
            Datatype::derived(datatype::borrow(521).unwrap().layout.as_ref().clone(), datatype::COMBINER_NAMED);
        shape
    };
    fn wise(a: &[i32], b: &[i32], f: fn(i32, i32) -> i32) -> Vec<i32> {
        a.iter().zip(b).map(|(a, b)| f(*a, *b)).collect()
    }
    fn composition(a: &[i32], b: &[i32]) -> Vec<i32> {
        a.chunks(2).zip(b.chunks(2)).flat_map(|(a, b)| compose([a[0], a[1]], [b[0], b[1]])).collect()
    }
    let user = Op::User { function: composed, commutative: false };
    vec![
        Reduction { op: Op::Predefined(Operation::Sum), shape: int(), combine: |a, b| wise(a, b, i32::wrapping_add) },
        Reduction { op: Op::Predefined(Operation::Max), shape: int(), combine: |a, b| wise(a, b, i32::max) },
        Reduction { op: Op::Predefined(Operation::Bxor), shape: int(), combine: |a, b| wise(a, b, |a, b| a ^ b) },
        Reduction { op: user, shape: Shape::pair(), combine: composition },
        Reduction { op: user, shape: Shape::vector(), combine: composition },
        Reduction { op: user, shape: Shape::backwards(), combine: composition },
    ]
}

fn fold(of: &Reduction, ranks: core::ops::Range<usize>, ints: usize) -> Vec<i32> {
    let first = values(ranks.start, 0, ints);
    ranks.skip(1).fold(first, |sum, rank| (of.combine)(&sum, &values(rank, 0, ints)))
}

fn reduce_cases(member: &mut Member<'_>) -> Outcome {
    let (rank, size) = (member.rank(), member.size());
    for reduction in reductions() {
        let (shape, op) = (&reduction.shape, &reduction.op);
        for count in COUNTS {
            let ints = count * shape.ints();
            let mine = values(rank, 0, ints);
            let total = fold(&reduction, 0..size, ints);
            for in_place in [false, true] {
                let case = |what: String| format!("{op:?} on {} x {count}, in place {in_place}: {what}", shape.name);
                let start = |place: bool| match place {
                    true => Buffer::of(shape, &mine),
                    false => Buffer::new(shape, count),
                };
                let roots: Vec<usize> = if count < 1000 { (0..size).collect() } else { vec![size - 1] };
                for root in roots {
                    let place = in_place && rank == root;
                    let (mut own, mut to) = (Buffer::of(shape, &mine), start(place));
                    let from = if place { Source::InPlace } else { Source::From(own.data()) };
                    let target = to.data();
                    let target = (rank == root).then_some(&target);
                    ok(reduce::reduce(member, from, target, op, root)).map_err(case)?;
                    let wanted: &[i32] = if rank == root { &total } else { &[] };
                    same(to.differs(wanted)).map_err(|what| case(format!("reduce to {root}: {what}")))?;
                    same(own.differs(&mine)).map_err(|what| case(format!("reduce changed its input: {what}")))?;
                }
                let (mut own, mut to) = (Buffer::of(shape, &mine), start(in_place));
                let mut from = || if in_place { Source::InPlace } else { Source::From(own.data()) };
                ok(allreduce::allreduce(member, from(), &to.data(), op)).map_err(case)?;
                same(to.differs(&total)).map_err(|what| case(format!("allreduce: {what}")))?;

                let mut to = start(in_place);
                ok(scan::scan(member, from(), &to.data(), op)).map_err(case)?;
                let wanted = fold(&reduction, 0..rank + 1, ints);
                same(to.differs(&wanted)).map_err(|what| case(format!("scan: {what}")))?;

                let mut to = start(in_place);
                ok(scan::exscan(member, from(), &to.data(), op)).map_err(case)?;
                let wanted = match rank {
                    0 if in_place => mine.clone(),
                    0 => Vec::new(),
                    _ => fold(&reduction, 0..rank, ints),
                };
                same(to.differs(&wanted)).map_err(|what| case(format!("exscan: {what}")))?;
                same(own.differs(&mine)).map_err(|what| case(format!("a scan changed its input: {what}")))?;
            }
            reduce_scatter_cases(member, &reduction, count)?;
        }
    }
    Ok(())
}

fn reduce_scatter_cases(member: &mut Member<'_>, reduction: &Reduction, count: usize) -> Outcome {
    let (rank, size) = (member.rank(), member.size());
    let (shape, op) = (&reduction.shape, &reduction.op);
    let (uneven, _, _) = uneven(size, count);
    for counts in [vec![count as i32; size], uneven] {
        let before: i32 = counts[..rank].iter().sum();
        let total: i32 = counts.iter().sum();
        let (before, total, own_count) = (before as usize, total as usize, counts[rank] as usize);
        let mine = values(rank, 0, total * shape.ints());
        let all = fold(reduction, 0..size, total * shape.ints());
        let wanted = &all[before * shape.ints()..(before + own_count) * shape.ints()];
        let even = counts.iter().all(|count| *count == counts[0]);
        for in_place in [false, true] {
            for block in [true, false] {
                if block && !even {
                    continue;
                }
                let case = |what: String| {
                    format!(
                        "{op:?} on {} x {count}, reduce_scatter block {block}, in place {in_place}: {what}",
                        shape.name
                    )
                };
                let mut own = Buffer::of(shape, &mine);
                let mut to = if in_place { Buffer::of(shape, &mine) } else { Buffer::new(shape, own_count) };
                let target: Data<'_> = to.part(own_count);
                let from = if in_place { Source::InPlace } else { Source::From(own.data()) };
                let result = match block {
                    true => reduce_scatter::reduce_scatter_block(member, from, &target, op),
                    false => reduce_scatter::reduce_scatter(member, from, &target, Counts::Int(&counts), op),
                };
                ok(result).map_err(case)?;
                let rest = if in_place { &mine[wanted.len()..] } else { &[] };
                same(to.differs(&[wanted, rest].concat())).map_err(case)?;
            }
        }
    }
    Ok(())
}

#[test]
fn reductions_everywhere() {
    everywhere(reduce_cases);
}

#[test]
fn float_sums_have_the_same_bits_everywhere_and_always() {
    datatype::open();
    opal_core::sync::raise_threads();
    let double = datatype::borrow(532).unwrap();
    for size in RANKS {
        let results = std::sync::Mutex::new(Vec::new());
        run(size, Flaw::None, |member| {
            for _ in 0..3 {
                let mine: Vec<f64> = (0..50)
                    .map(|index| value(member.rank(), 7, index) as f64 * 1e-3f64.powi(index as i32 % 7))
                    .collect();
                let mut sum = vec![0f64; 50];
                let own = Data { at: mine.as_ptr().cast_mut().cast(), count: 50, datatype: double };
                let to = Data { at: sum.as_mut_ptr().cast(), ..own };
                ok(allreduce::allreduce(member, Source::From(own), &to, &Op::Predefined(Operation::Sum)))?;
                results.lock().unwrap().push(sum.iter().map(|sum| sum.to_bits()).collect::<Vec<u64>>());
            }
            Ok(())
        })
        .unwrap();
        let results = results.into_inner().unwrap();
        assert_eq!(results.len(), 3 * size);
        assert!(results.iter().all(|result| *result == results[0]), "{size} ranks");
    }
}

#[test]
fn invalid_operations_fail_everywhere_before_any_message() {
    datatype::open();
    let double = datatype::borrow(532).unwrap();
    run(3, Flaw::None, |member| {
        let mut number = 1f64;
        let data = Data { at: (&raw mut number).cast(), count: 1, datatype: double };
        let band = Op::Predefined(Operation::Band);
        let fault = allreduce::allreduce(member, Source::InPlace, &data, &band).unwrap_err();
        assert_eq!(fault.get(), ompi_core::error::Class::Op as i32);
        assert!(fault.reason().contains("MPI_BAND on MPI_DOUBLE"), "{}", fault.reason());
        Ok(())
    })
    .unwrap();
}

#[test]
fn swapped_operands_are_noticed() {
    assert!(run(3, Flaw::SwappedOperands, reduce_cases).is_err());
}
