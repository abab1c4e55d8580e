//! The suite of framework coll: whatever a component serves on an intracommunicator, byte for byte against coll/basic.
//!
//! It calls what a component offers to describe to an executor; neighborhood collectives, and what runs at once only, are
//! for the programs of tests/c.

use crate::{Buffer, Flaw, Member, Shape, run};
use core::ffi::{c_int, c_void};
use ompi_core::comm::Communicator;
use ompi_core::data::{Blocks, Counts, Source, TypedBlocks};
use ompi_core::datatype::{self, Datatype};
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{ALL_FUNCTIONS, Call, Candidate, Component, Function, Module, Table, set_of};
use ompi_core::framework::op::Operation;
use ompi_core::group::Group;
use ompi_core::op::Op;
use opal_core::mca::Declined;
use std::sync::Arc;

/// Runs every function that the component serves, on communicators of several sizes: how many calls were compared.
///
/// # Panics
/// With the component's own sentence if it declines to open or declines every communicator, and at the first difference.
pub fn suite(component: &'static dyn Component) -> usize {
    let info = component.info();
    component.open().unwrap_or_else(|Declined(why)| panic!("{info:?} declines: {why}"));
    let (mut compared, mut declined) = (0, "");
    for size in SIZES {
        match component.query(communicator(size, 0)) {
            Ok(_) => compared += of_size(component, size),
            Err(Declined(why)) => declined = why,
        }
    }
    assert!(compared > 0 || declined.is_empty(), "{info:?} declines: {declined}");
    assert!(compared > 0, "{info:?} offers no function that could be compared");
    compared
}

fn of_size(component: &'static dyn Component, size: usize) -> usize {
    let served = module(component, size, 0).recordable() & ALL_FUNCTIONS;
    let functions: Vec<Function> =
        Function::ALL.into_iter().filter(|function| served & set_of(&[*function]) != 0).collect();
    let each = |member: &mut Member<'_>| {
        let rank = member.rank();
        let tested = module(component, size, rank);
        let reference = module(&coll_basic::COMPONENT, size, rank);
        if tested.recordable() & ALL_FUNCTIONS != served {
            return Err(format!("it serves {:#x} here and {served:#x} on rank 0", tested.recordable()));
        }
        let case = |case: &Case<'_>| {
            let wanted =
                case.run(&*reference, member).map_err(|what| format!("coll/basic: {}: {what}", case.name()))?;
            let got = case.run(&*tested, member).map_err(|what| format!("{}: {what}", case.name()))?;
            match got.iter().zip(&wanted).position(|(got, wanted)| got != wanted) {
                None => Ok(()),
                Some(at) => Err(format!("{}: byte {at} is {:#x}, not {:#x}", case.name(), got[at], wanted[at])),
            }
        };
        each_case(&functions, size, case)
    };
    let (outcome, _) = run(size, |_| Flaw::None, each);
    outcome.unwrap_or_else(|what| panic!("{:?}: {what}", component.info()));
    let mut calls = 0;
    each_case(&functions, size, |_| {
        calls += 1;
        Ok(())
    })
    .map_or(0, |()| calls)
}

/// The component's module for one rank, which passes on to coll/basic's what it declines.
fn module(component: &dyn Component, size: usize, rank: usize) -> Arc<dyn Module> {
    let comm = communicator(size, rank);
    let query = |component: &dyn Component| {
        let answer = component.query(comm);
        answer.unwrap_or_else(|Declined(why)| panic!("{:?} declines rank {rank} of {size}: {why}", component.info()))
    };
    let (priority, basic) = query(&coll_basic::COMPONENT);
    let functions = basic.functions();
    let mut table = Table::default();
    let basic = Candidate { name: "basic", priority, functions, recordable: functions, forced: 0, module: basic };
    table.fill(vec![basic], None);
    let (_, module) = query(component);
    module.set_fallback(&table);
    module
}

/// Never dropped: that would tell the PML, which does not run here.
fn communicator(size: usize, rank: usize) -> &'static Communicator {
    opal_core::sync::raise_threads();
    datatype::open();
    let members: Box<[u32]> = (0..size as u32).collect();
    let contexts = members.iter().map(|_| 0).collect();
    let group = Arc::new(Group::new(members, rank as u32));
    Box::leak(Box::new(Communicator::new(group, None, 0, contexts, ompi_core::errhandler::FATAL)))
}

/// Calls back for each call: function × shape × operation × count × root × MPI_IN_PLACE.
fn each_case(
    functions: &[Function],
    size: usize,
    mut each: impl FnMut(&Case<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let predefined = named_int();
    let sum = Op::Predefined(Operation::Sum);
    let composition = Op::User { function: composed, commutative: false };
    let (vector, pair) = (Shape::vector(), Shape::pair());
    for function in functions.iter().copied() {
        let ways = match reduces(function) {
            true => [(&predefined, &sum), (&pair, &composition)],
            false => [(&vector, &sum), (&pair, &sum)],
        };
        for (shape, op) in ways {
            for count in COUNTS {
                for root in if is_rooted(function) { 0..size } else { 0..1 } {
                    for in_place in if function == Function::Barrier { 0..1 } else { 0..2 } {
                        each(&Case { function, shape, op, count, root, in_place: in_place == 1 })?;
                    }
                }
            }
        }
    }
    Ok(())
}

struct Case<'a> {
    function: Function,
    shape: &'a Shape,
    op: &'a Op,
    count: usize,
    root: usize,
    in_place: bool,
}

impl Case<'_> {
    fn name(&self) -> String {
        let place = if self.in_place { ", in place" } else { "" };
        format!("{} of {} x {}, root {}{place}", self.function.name(), self.shape.name, self.count, self.root)
    }

    /// What lies in the target afterwards, with the bytes around it, and then in the source.
    fn run(&self, module: &dyn Module, on: &mut Member<'_>) -> Result<Vec<u8>, String> {
        let (size, most) = (on.size(), self.count + 1);
        let ints = size * most * self.shape.ints();
        let values = |seed: usize| (0..ints).map(|at| (seed * 7919 + at * 31 + 5) as i32).collect::<Vec<i32>>();
        let (rank, root) = (on.rank(), self.root);
        // What MPI_Bcast leaves is the root's.
        let (mut from, mut to) = (Buffer::of(self.shape, &values(rank)), Buffer::of(self.shape, &values(rank + 1000)));
        // Blocks of uneven lengths with gaps between them. Rank i sends rank j as many as the other way round.
        let pairs: Vec<i32> = (0..size).map(|other| (self.count * ((rank + other) % 3) / 2) as i32).collect();
        let each: Vec<i32> = (0..size).map(|other| (self.count * (other % 3) / 2) as i32).collect();
        let places: Vec<i32> = (0..size).map(|other| (other * most) as i32).collect();
        let extent = self.shape.datatype.layout.extent() as i32;
        let bytes: Vec<i32> = places.iter().map(|place| place * extent).collect();
        let datatypes: Vec<&Datatype> = vec![&self.shape.datatype; size];
        let blocks = |at, counts| Blocks {
            at,
            counts: Counts::Int(counts),
            displacements: Counts::Int(&places),
            datatype: &self.shape.datatype,
        };
        let typed = |at| TypedBlocks {
            at,
            counts: Counts::Int(&pairs),
            displacements: Counts::Int(&bytes),
            datatypes: &datatypes,
        };
        let (here, own) = (rank == root, each[rank] as usize);
        let (one, all, mine, yours) = (from.part(self.count), to.part(self.count), from.part(own), to.part(own));
        let source = |data, at_root: bool| match self.in_place && at_root {
            true => Source::InPlace,
            false => Source::From(data),
        };
        let (from_each, to_each, to_pairs) = (blocks(one.at, &each), blocks(all.at, &each), blocks(all.at, &pairs));
        let (from_pairs, from_typed, to_typed) = (blocks(one.at, &pairs), typed(one.at), typed(all.at));
        let apart = !self.in_place;
        let call = match self.function {
            Function::Barrier => Call::Barrier,
            Function::Bcast => Call::Bcast(&all, root),
            Function::Gather => Call::Gather(source(one, here), here.then_some(&all), root),
            Function::Gatherv => Call::Gatherv(source(mine, here), here.then_some(&to_each), root),
            Function::Scatter => Call::Scatter(here.then_some(&one), (apart || !here).then_some(&all), root),
            Function::Scatterv => Call::Scatterv(here.then_some(&from_each), (apart || !here).then_some(&yours), root),
            Function::Allgather => Call::Allgather(source(one, true), &all),
            Function::Allgatherv => Call::Allgatherv(source(mine, true), &to_each),
            Function::Alltoall => Call::Alltoall(source(one, true), &all),
            Function::Alltoallv => Call::Alltoallv(apart.then_some(&from_pairs), &to_pairs),
            Function::Alltoallw => Call::Alltoallw(apart.then_some(&from_typed), &to_typed),
            Function::Reduce => Call::Reduce(source(one, here), here.then_some(&all), self.op, root),
            Function::Allreduce => Call::Allreduce(source(one, true), &all, self.op),
            Function::ReduceScatter => {
                // In place the operand lies where the result goes, and is as long as all blocks.
                Call::ReduceScatter(source(from.part(total(&each)), true), &yours, Counts::Int(&each), self.op)
            }
            Function::ReduceScatterBlock => {
                Call::ReduceScatterBlock(source(from.part(self.count * size), true), &all, self.op)
            }
            Function::Scan => Call::Scan(source(one, true), &all, self.op),
            Function::Exscan => Call::Exscan(source(one, true), &all, self.op),
            _ => return Err("not among the functions of every communicator".to_owned()),
        };
        // SAFETY: all that the call describes lies in the two buffers, which live until the executor is done.
        let called = unsafe { module.call(&call, on) };
        called.map_err(|fault| format!("error {}: {}", fault.get(), fault.reason()))?;
        Ok([to.bytes(), from.bytes()].concat())
    }
}

fn total(counts: &[i32]) -> usize {
    counts.iter().map(|count| *count as usize).sum()
}

fn reduces(function: Function) -> bool {
    use Function::{Allreduce, Exscan, Reduce, ReduceScatter, ReduceScatterBlock, Scan};
    [Allreduce, Exscan, Reduce, ReduceScatter, ReduceScatterBlock, Scan].contains(&function)
}

fn is_rooted(function: Function) -> bool {
    use Function::{Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv};
    [Bcast, Gather, Gatherv, Reduce, Scatter, Scatterv].contains(&function)
}

/// Predefined operations want the predefined type itself.
fn named_int() -> Shape {
    let layout = datatype::borrow(521).expect("MPI_INT").layout.as_ref().clone();
    let mut shape = Shape::int();
    shape.datatype = Datatype::derived(layout, datatype::COMBINER_NAMED);
    shape
}

/// Composition of affine functions x -> a·x + b: associative, not commutative. For [`Shape::pair`].
unsafe extern "C" fn composed(input: *mut c_void, inout: *mut c_void, count: *mut c_int, _: *mut usize) {
    // SAFETY: the library passes a pointer to the count.
    let count = unsafe { *count } as usize;
    for element in 0..count {
        let at = |base: *mut c_void, which: usize| base.cast::<i32>().wrapping_add(2 * element + which);
        // SAFETY: the two ints of an element.
        let read = |base, which| unsafe { at(base, which).read_unaligned() };
        let (a, b, c, d) = (read(input, 0), read(input, 1), read(inout, 0), read(inout, 1));
        let result = [a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b)];
        for (which, value) in result.into_iter().enumerate() {
            // SAFETY: as above.
            unsafe { at(inout, which).write_unaligned(value) };
        }
    }
}

const SIZES: [usize; 6] = [1, 2, 3, 4, 5, 8];
const COUNTS: [usize; 4] = [0, 1, 7, 500];
