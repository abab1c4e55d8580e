//! Recorded collectives against formulas: many under way at once, begun and moved on in any order, messages as late as
//! may be. Every run is drawn from a seed that a failure names.
#![allow(unsafe_code, clippy::multiple_unsafe_ops_per_block)] // the user's operation

use coll_basic::{allgather, allreduce, alltoall, barrier, bcast, gather, reduce, reduce_scatter, scan, scatter};
use core::ffi::{c_int, c_void};
use ompi_core::data::{Data, Source};
use ompi_core::datatype::{self, Datatype};
use ompi_core::error::{Class, Result};
use ompi_core::executor::Executor;
use ompi_core::framework::op::Operation;
use ompi_core::op::Op;
use ompi_core::schedule::{Recorder, Run, Schedule, Step};
use test_coll::{Buffer, Dice, Net, Shape, Wire};

use coll_tuned as tuned;

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_self, coll_tuned];

const OPERATIONS: usize = 12;
/// The kinds of `part` and how many there are.
const KINDS: usize = 22;
const ROUNDS: u64 = 12;

type Outcome = core::result::Result<(), String>;

fn values(from: usize, to: usize, which: usize, ints: usize) -> Vec<i32> {
    let mix = |index: usize| (from * 1_000_003 + to * 10_007 + which * 101 + index * 7 + 1) as i32;
    (0..ints).map(mix).collect()
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

/// What all ranks agree on about one operation.
#[derive(Clone, Copy, Debug)]
struct Plan {
    kind: usize,
    which: usize,
    count: usize,
    root: usize,
    in_place: bool,
    user: bool,
    gaps: bool,
}

impl Plan {
    fn draw(dice: &mut Dice, which: usize, size: usize) -> Plan {
        let count = [0, 1, 3, 50][dice.below(4)];
        let [in_place, user, gaps] = [0; 3].map(|_| dice.below(2) == 0);
        Plan { kind: dice.below(KINDS), which, count, root: dice.below(size), in_place, user, gaps }
    }

    fn reduces(&self) -> bool {
        matches!(self.kind, 6..=10 | 13 | 14 | 20 | 21)
    }

    /// Whether an operation that does not commute may be asked for.
    fn keeps_order(&self) -> bool {
        !matches!(self.kind, 13 | 20 | 21)
    }

    fn op(&self) -> Op {
        match self.user && self.keeps_order() {
            true => Op::User { function: composed, commutative: false },
            false => Op::Predefined(Operation::Sum),
        }
    }

    fn fold(&self, ranks: core::ops::Range<usize>, to: usize, ints: usize) -> Vec<i32> {
        let mut all = ranks.map(|rank| values(rank, to, self.which, ints));
        let first = all.next().unwrap_or_default();
        all.fold(first, |sum, next| match self.user && self.keeps_order() {
            true => sum.chunks(2).zip(next.chunks(2)).flat_map(|(a, b)| compose(a, b)).collect(),
            false => sum.iter().zip(&next).map(|(a, b)| a.wrapping_add(*b)).collect(),
        })
    }
}

/// One rank's part in one operation.
struct Part<'a> {
    schedule: Schedule,
    run: Run<usize>,
    begun: bool,
    ended: bool,
    // Memory that must not change but for the result, and what it must be in the end.
    buffers: [Buffer<'a>; 2],
    wanted: Vec<i32>,
}

fn record(rank: usize, size: usize, call: impl FnOnce(&mut Recorder) -> Result<()>) -> Schedule {
    // SAFETY: the buffers and types of these tests outlive the runs.
    let mut recorder = unsafe { Recorder::new(rank, size) };
    call(&mut recorder).unwrap();
    recorder.into_schedule()
}

fn part<'a>(plan: &Plan, rank: usize, size: usize, shape: &'a Shape) -> Part<'a> {
    let Plan { kind, which, count, root, in_place, .. } = *plan;
    let (ints, op, at_root) = (count * shape.ints(), plan.op(), rank == root);
    let concatenated = |from: &dyn Fn(usize) -> Vec<i32>| (0..size).flat_map(from).collect::<Vec<i32>>();
    let outgoing = concatenated(&|other| values(rank, other, which, ints));
    let mut from = Buffer::of(shape, &outgoing);
    let mut to = Buffer::new(shape, count * size);
    let (out, into) = (from.part(count), to.part(count));
    let mut wanted = Vec::new();
    let schedule = record(rank, size, |on| match kind {
        0 => barrier::barrier(on),
        1 | 11 | 12 => {
            wanted = values(root, 0, which, ints);
            to.set(0, if at_root { &wanted } else { &[] });
            match kind {
                1 => bcast::bcast(on, &into, root),
                11 => tuned::bcast::scatter_allgather(on, &into, root),
                _ => tuned::bcast::chain(on, &into, root, 24),
            }
        }
        2 => {
            wanted = if at_root { concatenated(&|other| values(other, 0, which, ints)) } else { Vec::new() };
            gather::gather(on, Source::From(out), at_root.then_some(&into), root)
        }
        3 => {
            wanted = values(root, rank, which, ints);
            scatter::scatter(on, at_root.then_some(&out), Some(&into), root)
        }
        4 | 15..=17 => {
            wanted = concatenated(&|other| values(other, 0, which, ints));
            if in_place {
                to.set(rank * count, &outgoing[..ints]);
            }
            let source = if in_place { Source::InPlace } else { Source::From(out) };
            match kind {
                15 if size.is_power_of_two() => tuned::allgather::doubling(on, source, &into),
                17 if size.is_multiple_of(2) => tuned::allgather::neighbor(on, source, &into),
                4 => allgather::allgather(on, source, &into),
                _ => tuned::allgather::bruck(on, source, &into),
            }
        }
        5 | 18 | 19 => {
            wanted = concatenated(&|other| values(other, rank, which, ints));
            to.set(0, if in_place { &outgoing } else { &[] });
            match kind {
                18 => tuned::alltoall::bruck(on, &out, &into),
                19 => tuned::alltoall::pairwise(on, &out, &into),
                _ => alltoall::alltoall(on, if in_place { Source::InPlace } else { Source::From(out) }, &into),
            }
        }
        8 | 20 | 21 => {
            to.set(0, if in_place { &outgoing } else { &[] });
            wanted = plan.fold(0..size, rank, ints);
            if in_place {
                wanted.extend(&outgoing[ints..]);
            }
            let source = if in_place { Source::InPlace } else { Source::From(out) };
            let blocks = tuned::reduce_scatter::Blocks::new(source, &into, size, |rank| rank * count);
            match kind {
                // The others are not for one rank.
                _ if kind == 8 || size == 1 => reduce_scatter::reduce_scatter_block(on, source, &into, &op),
                21 if size.is_power_of_two() => tuned::reduce_scatter::halving(on, &blocks, &into, &op),
                _ => tuned::reduce_scatter::ring(on, &blocks, &into, &op),
            }
        }
        _ => {
            to.set(0, if in_place { &outgoing[..ints] } else { &[] });
            wanted = plan.fold(0..size, 0, ints);
            let source = if in_place { Source::InPlace } else { Source::From(out) };
            match kind {
                6 => {
                    let source = if at_root { source } else { Source::From(out) };
                    if !at_root {
                        wanted = if in_place { outgoing[..ints].to_vec() } else { Vec::new() };
                    }
                    reduce::reduce(on, source, at_root.then_some(&into), &op, root)
                }
                7 => allreduce::allreduce(on, source, &into, &op),
                13 => tuned::allreduce::ring(on, source, &into, &op),
                14 => tuned::allreduce::halving(on, source, &into, &op),
                9 => {
                    wanted = plan.fold(0..rank + 1, 0, ints);
                    scan::scan(on, source, &into, &op)
                }
                _ => {
                    wanted = match rank {
                        0 if in_place => outgoing[..ints].to_vec(),
                        0 => Vec::new(),
                        _ => plan.fold(0..rank, 0, ints),
                    };
                    scan::exscan(on, source, &into, &op)
                }
            }
        }
    });
    Part { schedule, run: Run::new(), begun: false, ended: false, buffers: [from, to], wanted }
}

/// The predefined type itself for predefined operations, pairs for the user's, with or without gaps for what only moves.
fn shape_of(plan: &Plan) -> Shape {
    if !plan.reduces() {
        return if plan.gaps { Shape::vector() } else { Shape::pair() };
    }
    if plan.user && plan.keeps_order() {
        return Shape::pair();
    }
    let mut shape = Shape::int();
    shape.datatype =
        Datatype::derived(datatype::borrow(521).unwrap().layout.as_ref().clone(), datatype::COMBINER_NAMED);
    shape
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    OneTag,
    Hasty,
    Astray,
    Displaced,
}

fn round(seed: u64, size: usize, mistake: Mistake) -> Outcome {
    let mut dice = Dice::new(seed);
    let plans: Vec<Plan> = (0..OPERATIONS).map(|which| Plan::draw(&mut dice, which, size)).collect();
    outstanding(seed, size, mistake, &plans)
}

/// All of these at once.
fn outstanding(seed: u64, size: usize, mistake: Mistake, plans: &[Plan]) -> Outcome {
    let mut dice = Dice::new(seed);
    let shapes: Vec<Shape> = plans.iter().map(shape_of).collect();
    let mut parts: Vec<Vec<Part<'_>>> = (0..size)
        .map(|rank| plans.iter().zip(&shapes).map(|(plan, shape)| part(plan, rank, size, shape)).collect())
        .collect();
    let net = Net::new(mistake == Mistake::Hasty, mistake == Mistake::Astray, mistake == Mistake::Displaced);
    let mut idle = 0;
    while parts.iter().flatten().any(|part| !part.ended) {
        idle += 1;
        if idle > 5_000 {
            return Err(format!("seed {seed}, {size} ranks: nothing moves any more"));
        }
        if dice.below(2) == 0 {
            idle = if net.deliver(&mut dice) { 0 } else { idle };
            continue;
        }
        let (rank, which) = (dice.below(size), dice.below(plans.len()));
        // Operations begin in the order of the program; which of those under way moves on is free.
        let next = parts[rank].iter().position(|part| !part.begun).unwrap_or(plans.len());
        let which = which.min(next).min(plans.len() - 1);
        let all_began = parts.iter().all(|parts| parts[which].begun || which == next);
        let part = &mut parts[rank][which];
        if part.ended {
            continue;
        }
        part.begun = true;
        let wire = Wire { net: &net, rank, tag: if mistake == Mistake::OneTag { 0 } else { which as i32 } };
        // SAFETY: the buffers are this test's and live.
        if let Some(ended) = unsafe { part.run.advance(&part.schedule, &wire) } {
            let case = |what: String| format!("seed {seed}, rank {rank} of {size}, {:?}: {what}", plans[which]);
            ended.map_err(|fault| case(fault.reason().to_owned()))?;
            part.ended = true;
            idle = 0;
            if plans[which].kind == 0 && !all_began {
                return Err(case("a barrier ended before all had begun it".to_owned()));
            }
            part.buffers[1].differs(&part.wanted).map_or(Ok(()), |what| Err(case(what)))?;
        }
    }
    match net.left_over() {
        0 => Ok(()),
        number => Err(format!("seed {seed}, {size} ranks: {number} messages never met")),
    }
}

fn ready() {
    datatype::open();
    opal_core::sync::raise_threads();
}

#[test]
fn many_at_once() {
    ready();
    for size in [1, 2, 3, 4, 5, 8, 9] {
        for seed in 0..ROUNDS {
            round(seed * 100 + size as u64, size, Mistake::None).unwrap();
        }
    }
}

#[test]
fn every_algorithm() {
    ready();
    for size in [2, 3, 5, 6, 8, 9] {
        for kind in 0..KINDS {
            let counts = [0, 1, size - 1, 61].into_iter().enumerate();
            let flags = |bits: usize| (bits & 1 != 0, bits & 2 != 0);
            let cases = counts.flat_map(|(which, count)| [0, 3].map(|bits| (2 * which + bits / 3, count, flags(bits))));
            let plans: Vec<Plan> = cases
                .map(|(which, count, (in_place, user))| Plan {
                    kind,
                    which,
                    count,
                    root: which % size,
                    in_place,
                    user,
                    gaps: in_place,
                })
                .collect();
            outstanding((kind * 100 + size) as u64, size, Mistake::None, &plans).unwrap();
        }
    }
}

#[test]
fn mistakes_are_noticed() {
    ready();
    for mistake in [Mistake::OneTag, Mistake::Hasty] {
        let found = (0..ROUNDS).filter(|seed| round(*seed, 4, mistake).is_err()).count();
        assert!(found as u64 > ROUNDS / 2, "only {found} of {ROUNDS} rounds");
    }
    for kind in 0..KINDS {
        let plan = Plan { kind, which: 1, count: 61, root: 2, in_place: false, user: false, gaps: false };
        assert!(outstanding(5, 4, Mistake::Astray, &[plan]).is_err(), "kind {kind}, wrong partner");
        // The dice say which message is displaced. A few may be: scans exchange sums of which some have no further use.
        let noticed = (0..8).filter(|seed| outstanding(*seed, 4, Mistake::Displaced, &[plan]).is_err()).count();
        // A barrier has no data that could be wrong.
        assert!(kind == 0 || noticed >= 4, "kind {kind}, wrong offset: noticed with {noticed} of 8 seeds");
    }
}

#[test]
fn a_schedule_runs_again_with_new_contents() {
    ready();
    let (size, shape) =
        (3, shape_of(&Plan { kind: 7, which: 0, count: 5, root: 0, in_place: true, user: true, gaps: false }));
    let plan = Plan { kind: 7, which: 1, count: 5, root: 0, in_place: true, user: true, gaps: false };
    let mut parts: Vec<Part<'_>> = (0..size).map(|rank| part(&plan, rank, size, &shape)).collect();
    let (net, mut dice) = (Net::default(), Dice::new(7));
    for which in 1..5 {
        let plan = Plan { which, ..plan };
        for (rank, part) in parts.iter_mut().enumerate() {
            part.buffers[1].set(0, &values(rank, 0, which, 10));
            (part.run, part.ended) = (Run::new(), false);
        }
        while parts.iter().any(|part| !part.ended) {
            net.deliver(&mut dice);
            for (rank, part) in parts.iter_mut().enumerate().filter(|(_, part)| !part.ended) {
                let wire = Wire { net: &net, rank, tag: 3 };
                // SAFETY: the buffers are this test's and live.
                let ended = unsafe { part.run.advance(&part.schedule, &wire) };
                part.ended = ended.is_some_and(|ended| ended.is_ok());
            }
        }
        let wanted = plan.fold(0..size, 0, 10);
        parts.iter().for_each(|part| assert_eq!(part.buffers[1].differs(&wanted), None));
    }
}

#[test]
fn after_a_failure_no_step_is_begun_and_all_messages_end() {
    ready();
    let int = datatype::borrow(521).unwrap();
    let (mut long, mut short) = ([7i32; 4], [0i32; 2]);
    let out = Data { at: long.as_mut_ptr().cast(), count: 4, datatype: int };
    let into = Data { at: short.as_mut_ptr().cast(), count: 2, datatype: int };
    let sender = record(0, 2, |on| on.send(&out, 1).and_then(|()| on.finish()));
    let receiver = record(1, 2, |on| on.recv(&into, 0).and_then(|()| on.send(&into, 0)));
    assert!(matches!(receiver.steps(), [Step::Recv { .. }, Step::Send { .. }]));
    let (net, mut dice) = (Net::default(), Dice::new(1));
    let wires = [0, 1].map(|rank| Wire { net: &net, rank, tag: 0 });
    let mut runs = [Run::new(), Run::new()];
    // SAFETY: the buffers live.
    assert!(unsafe { runs[0].advance(&sender, &wires[0]) }.is_none());
    // SAFETY: the buffers live.
    assert!(unsafe { runs[1].advance(&receiver, &wires[1]) }.is_none());
    assert!(net.deliver(&mut dice));
    // SAFETY: the buffers live.
    assert!(unsafe { runs[0].advance(&sender, &wires[0]) }.unwrap().is_ok());
    // SAFETY: the buffers live.
    let ended = unsafe { runs[1].advance(&receiver, &wires[1]) };
    assert_eq!(ended.unwrap().unwrap_err().get(), Class::Truncate as i32);
    assert_eq!((net.left_over(), short), (0, [7, 7]));
}

#[test]
fn types_are_kept_until_the_schedule_goes() {
    ready();
    let layout = opal_core::datatype::Layout::contiguous(3, &datatype::borrow(521).unwrap().layout).unwrap();
    let handle = Datatype::derived(layout, datatype::COMBINER_CONTIGUOUS).into_handle().unwrap();
    let mut ints = [0i32; 6];
    let datatype = datatype::borrow(handle).unwrap();
    let data = Data { at: ints.as_mut_ptr().cast(), count: 2, datatype };
    let schedule = record(0, 2, |on| {
        let room = on.scratch(&data)?;
        on.copy(&data, &room)?;
        on.send(&room, 1)
    });
    assert_eq!(schedule.holds(), (1, 1));
    let weak = std::sync::Arc::downgrade(&datatype::get(handle).unwrap());
    datatype::free(handle).unwrap();
    assert!(weak.upgrade().is_some());
    drop(schedule);
    assert!(weak.upgrade().is_none());
}
