//! coll/han's operations against formulas, over coll/basic on both levels: ranks × nodes × counts × roots × types ×
//! MPI_IN_PLACE, and that a message to a wrong rank shows.
#![allow(unsafe_code, clippy::multiple_unsafe_ops_per_block)] // the user's operation

use coll_basic::{allgather, allreduce, barrier, bcast, gather, reduce, scatter};
use coll_han::algorithm::Algorithm;
use coll_han::layout::Layout;
use coll_han::select::Choices;
use coll_han::two_level::{Here, Levels};
use core::ffi::{c_int, c_void};
use ompi_core::data::Source;
use ompi_core::error::{Class, Result};
use ompi_core::executor::{Executor, Subset};
use ompi_core::framework::coll::{Call, Function, not_here};
use ompi_core::op::Op;
use test_coll::{Buffer, Flaw, Member, Shape};

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_han, coll_self, coll_tuned];

/// Nodes of ranks; the list begins again.
const NODES: [&[u32]; 5] =
    [&[0, 0, 1, 1, 2, 2, 3, 3, 4], &[7, 3, 3, 3, 3, 5, 5, 5, 9], &[0, 1, 2], &[0, 1, 1, 0], &[4]];
const SIZES: [usize; 6] = [1, 2, 3, 5, 8, 9];

type Outcome = std::result::Result<(), String>;

/// coll/basic on both levels.
struct Below<'a> {
    layout: &'a Layout,
    rank: usize,
}

impl Levels for Below<'_> {
    fn node(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        ask(call, &self.layout.ranks(self.layout.place(self.rank).0), on)
    }

    fn leaders(&self, call: Call<'_>, on: &mut dyn Executor) -> Result<()> {
        ask(call, self.layout.leaders(), on)
    }
}

fn ask(call: Call<'_>, ranks: &[usize], on: &mut dyn Executor) -> Result<()> {
    let on = &mut Subset::new(on, ranks).ok_or(Class::Intern)?;
    match call {
        Call::Barrier => barrier::barrier(on),
        Call::Bcast(data, root) => bcast::bcast(on, data, root),
        Call::Reduce(from, to, op, root) => reduce::reduce(on, from, to, op, root),
        Call::Allreduce(from, to, op) => allreduce::allreduce(on, from, to, op),
        Call::Gather(from, to, root) => gather::gather(on, from, to, root),
        Call::Scatter(from, to, root) => scatter::scatter(on, from, to, root),
        Call::Allgather(from, to) => allgather::allgather(on, from, to),
        Call::Allgatherv(from, to) => allgather::allgatherv(on, from, to),
        _ => not_here(),
    }
}

fn values(from: usize, to: usize, ints: usize) -> Vec<i32> {
    (0..ints).map(|index| (from * 1_000_003 + to * 10_007 + index * 7 + 1) as i32).collect()
}

/// One rank of one operation, on these nodes.
struct One<'a, 'b> {
    member: &'a mut Member<'b>,
    layout: &'a Layout,
}

impl One<'_, '_> {
    fn does(&mut self, what: impl FnOnce(&Here<'_>, &mut dyn Executor) -> Result<()>) -> Outcome {
        let rank = self.member.rank();
        let below = Below { layout: self.layout, rank };
        what(&Here::new(&below, self.layout, rank), self.member)
            .map_err(|fault| format!("error {}: {}", fault.get(), fault.reason()))
    }
}

/// On these nodes.
fn on_nodes(
    size: usize,
    nodes: &[u32],
    each: impl Fn(&mut One<'_, '_>) -> Outcome + Sync,
) -> impl Fn(&mut Member<'_>) -> Outcome + Sync {
    let layout = Layout::new((0..size).map(|rank| nodes[rank % nodes.len()]));
    move |member| each(&mut One { member, layout: &layout })
}

fn run(size: usize, nodes: &[u32], each: impl Fn(&mut One<'_, '_>) -> Outcome + Sync) {
    test_coll::run(size, |_| Flaw::None, on_nodes(size, nodes, each))
        .0
        .unwrap_or_else(|what| panic!("{nodes:?}: {what}"));
}

fn everywhere(each: impl Fn(&mut One<'_, '_>) -> Outcome + Sync) {
    for nodes in NODES {
        for size in SIZES {
            run(size, nodes, &each);
        }
    }
}

fn each_case(size: usize, mut case: impl FnMut(&Shape, usize, usize) -> Outcome) -> Outcome {
    for shape in [Shape::int(), Shape::vector(), Shape::backwards()] {
        for count in [0, 1, 7] {
            for root in 0..size {
                case(&shape, count, root).map_err(|what| format!("{} x {count}, root {root}: {what}", shape.name))?;
            }
        }
    }
    Ok(())
}

fn same(difference: Option<String>) -> Outcome {
    difference.map_or(Ok(()), Err)
}

#[test]
fn no_rank_leaves_a_barrier_before_the_last_one_entered() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    for nodes in NODES {
        for size in SIZES {
            let entered = AtomicUsize::new(0);
            run(size, nodes, |one| {
                for round in 1..=10 {
                    entered.fetch_add(1, Ordering::SeqCst);
                    one.does(|here, on| here.barrier(on))?;
                    let seen = entered.load(Ordering::SeqCst);
                    if seen < round * size {
                        return Err(format!("left round {round} after {seen} of {} entries", round * size));
                    }
                }
                Ok(())
            });
        }
    }
}

fn bcasts(one: &mut One<'_, '_>) -> Outcome {
    each_case(one.member.size(), |shape, count, root| bcast_case(one, shape, count, root))
}

fn bcast_case(one: &mut One<'_, '_>, shape: &Shape, count: usize, root: usize) -> Outcome {
    let sent = values(root, 0, count * shape.ints());
    let mut buffer = if one.member.rank() == root { Buffer::of(shape, &sent) } else { Buffer::new(shape, count) };
    let data = buffer.data();
    one.does(|here, on| here.bcast((&data, root), on))?;
    same(buffer.differs(&sent))
}

#[test]
fn bcast() {
    everywhere(bcasts);
}

fn gathers(one: &mut One<'_, '_>) -> Outcome {
    each_case(one.member.size(), |shape, count, root| gather_case(one, shape, count, root))
}

fn gather_case(one: &mut One<'_, '_>, shape: &Shape, count: usize, root: usize) -> Outcome {
    let (rank, size) = (one.member.rank(), one.member.size());
    let ints = count * shape.ints();
    let all: Vec<i32> = (0..size).flat_map(|other| values(other, root, ints)).collect();
    let mine = values(rank, root, ints);
    for in_place in [false, true] {
        let (mut own, mut whole) = (Buffer::of(shape, &mine), Buffer::new(shape, count * size));
        let place = in_place && rank == root;
        if place {
            whole.set(rank * count, &mine);
        }
        let from = if place { Source::InPlace } else { Source::From(own.data()) };
        let to = (rank == root).then(|| whole.part(count));
        one.does(|here, on| here.gather(from, to.as_ref(), root, on))?;
        same(if rank == root { whole.differs(&all) } else { whole.differs(&[]) })?;
        same(own.differs(&mine))?;

        let (mut whole, mut own) = (Buffer::of(shape, &all), Buffer::new(shape, count));
        let from = (rank == root).then(|| whole.part(count));
        let to = (!place).then(|| own.data());
        one.does(|here, on| here.scatter(from.as_ref(), to.as_ref(), root, on))?;
        same(own.differs(if place { &[] } else { &mine }))?;
        same(whole.differs(&all))?;

        let (mut whole, mut own) = (Buffer::new(shape, count * size), Buffer::of(shape, &mine));
        if in_place {
            whole.set(rank * count, &mine);
        }
        let from = if in_place { Source::InPlace } else { Source::From(own.data()) };
        let to = whole.part(count);
        one.does(|here, on| here.allgather(from, &to, on))?;
        same(whole.differs(&all))?;
    }
    Ok(())
}

#[test]
fn gather_scatter_and_allgather() {
    everywhere(gathers);
}

/// Affine functions x -> a·x + b in a pair of ints: associative, not commutative.
fn compose(a: &[i32], b: &[i32]) -> [i32; 2] {
    [a[0].wrapping_mul(b[0]), a[0].wrapping_mul(b[1]).wrapping_add(a[1])]
}

unsafe extern "C" fn composed(input: *mut c_void, inout: *mut c_void, count: *mut c_int, _: *mut usize) {
    // SAFETY: the library passes valid pointers to pairs.
    let (count, input, inout) = unsafe { (*count as usize, input.cast::<[i32; 2]>(), inout.cast::<[i32; 2]>()) };
    for index in 0..count {
        // SAFETY: `count` elements.
        unsafe { inout.add(index).write(compose(&input.add(index).read(), &inout.add(index).read())) };
    }
}

unsafe extern "C" fn summed(input: *mut c_void, inout: *mut c_void, count: *mut c_int, _: *mut usize) {
    // SAFETY: as above.
    let (count, input, inout) = unsafe { (*count as usize, input.cast::<[i32; 2]>(), inout.cast::<[i32; 2]>()) };
    for index in 0..count {
        // SAFETY: `count` elements.
        let (a, b) = unsafe { (input.add(index).read(), inout.add(index).read()) };
        // SAFETY: as above.
        unsafe { inout.add(index).write([a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]) };
    }
}

fn reductions(one: &mut One<'_, '_>) -> Outcome {
    let (size, in_order) = (one.member.size(), one.layout.is_in_order());
    for (function, ordered) in [(summed as _, false), (composed as _, true)] {
        let op = Op::User { function, commutative: !ordered };
        // A module that asks in another order passes such operations on.
        if ordered && !in_order {
            continue;
        }
        for (count, root, in_place) in
            (0..size).flat_map(|root| [(0, root, false), (1, root, true), (7, root, false), (7, root, true)])
        {
            reduce_case(one, &op, (count, root, in_place))?;
        }
    }
    Ok(())
}

fn reduce_case(one: &mut One<'_, '_>, op: &Op, (count, root, in_place): (usize, usize, bool)) -> Outcome {
    let (rank, size, shape) = (one.member.rank(), one.member.size(), Shape::pair());
    let all = (0..size).map(|from| values(from, root, 2 * count));
    let sum = all.reduce(|sum, next| match !op.is_commutative() {
        true => sum.chunks(2).zip(next.chunks(2)).flat_map(|(a, b)| compose(a, b)).collect(),
        false => sum.iter().zip(&next).map(|(a, b)| a.wrapping_add(*b)).collect(),
    });
    let (sum, mine) = (sum.unwrap_or_default(), values(rank, root, 2 * count));
    let what = |what: String| format!("{count} pairs, root {root}, in place {in_place}: {what}");
    let mut own = Buffer::of(&shape, &mine);
    let place = in_place && rank == root;
    let mut result = if place { Buffer::of(&shape, &mine) } else { Buffer::new(&shape, count) };
    let from = if place { Source::InPlace } else { Source::From(own.data()) };
    let to = (rank == root).then(|| result.data());
    one.does(|here, on| here.reduce(from, to.as_ref(), (op, root), on)).map_err(what)?;
    same(result.differs(if rank == root { &sum } else { &[] })).map_err(what)?;

    let mut result = if in_place { Buffer::of(&shape, &mine) } else { Buffer::new(&shape, count) };
    let from = if in_place { Source::InPlace } else { Source::From(own.data()) };
    let to = result.data();
    one.does(|here, on| here.allreduce(from, (&to, op), on)).map_err(what)?;
    same(result.differs(&sum)).map_err(what)?;
    same(own.differs(&mine)).map_err(what)
}

#[test]
fn reduce_and_allreduce() {
    everywhere(reductions);
}

/// Of each algorithm, on two nodes of two ranks and one of one. No message is so short that a wrong offset would be none.
#[test]
fn each_message_to_a_wrong_rank_or_from_a_wrong_offset_shows() {
    type Each = fn(&mut One<'_, '_>) -> Outcome;
    let barriers: Each = |one| (0..2).try_for_each(|_| one.does(|here, on| here.barrier(on)));
    let algorithms: [(&str, Each); 6] = [
        ("barrier", barriers),
        ("bcast", |one| bcast_case(one, &Shape::pair(), 7, 2)),
        ("gather, scatter and allgather", |one| gather_case(one, &Shape::pair(), 7, 2)),
        ("reduce", |one| reduce_case(one, &Op::User { function: composed, commutative: false }, (7, 2, false))),
        ("reduce in any order", |one| {
            reduce_case(one, &Op::User { function: summed, commutative: true }, (7, 2, false))
        }),
        ("reduce in place", |one| reduce_case(one, &Op::User { function: composed, commutative: false }, (7, 2, true))),
    ];
    for (name, each) in algorithms {
        for flaw in [Flaw::WrongPartner, Flaw::WrongOffset] {
            let (unnoticed, made) = test_coll::unnoticed(5, flaw, on_nodes(5, NODES[0], each));
            assert_eq!(unnoticed, [], "{name}, {:?}: rank and message", flaw(0));
            // Messages of a barrier are empty.
            assert!(made > 0 || (name, flaw(0)) == ("barrier", Flaw::WrongOffset(0)), "{name}, {:?}", flaw(0));
        }
    }
}

#[test]
fn nodes_are_numbered_by_their_first_ranks() {
    let layout = Layout::new([7, 3, 7, 9, 3].into_iter());
    assert_eq!([layout.ranks(0), layout.ranks(1), layout.ranks(2)], [vec![0, 2], vec![1, 4], vec![3]]);
    assert_eq!(layout.leaders(), [0, 1, 3]);
    assert_eq!([layout.begin(0), layout.begin(1), layout.begin(2)], [0, 2, 4]);
    assert_eq!([layout.place(2), layout.place(4), layout.place(3)], [(0, 1), (1, 1), (2, 0)]);
    assert!(!layout.is_in_order() && layout.has_levels());
    assert!(Layout::new([5, 5, 1].into_iter()).is_in_order());
    assert_eq!(layout.fingerprint(), Layout::new([0, 1, 0, 2, 1].into_iter()).fingerprint());
    assert_ne!(layout.fingerprint(), Layout::new([0, 1, 0, 2, 2].into_iter()).fingerprint());
}

#[test]
fn one_node_or_one_rank_on_each_has_no_levels() {
    let has_levels = |nodes: &[u32]| Layout::new(nodes.iter().copied()).has_levels();
    assert!(!has_levels(&[1, 1, 1]) && !has_levels(&[1, 2, 3]) && !has_levels(&[]));
    assert!(has_levels(&[1, 2, 2]));
}

#[test]
fn few_ranks_with_few_bytes_need_no_leaders() {
    let of = |function, bytes, ranks| Choices::by_parameters().algorithm(function, bytes, ranks).0;
    for function in [Function::Bcast, Function::Allreduce] {
        assert_eq!(of(function, 1024, 4), Algorithm::Fallback);
        assert_eq!(of(function, 1024, 5), Algorithm::Leaders);
    }
    assert_eq!(of(Function::Bcast, 1025, 4), Algorithm::Leaders);
    assert_eq!(of(Function::Barrier, 0, 4), Algorithm::Leaders);
}
