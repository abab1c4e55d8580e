//! coll/self against the standard: copies, MPI_IN_PLACE, exscan.
#![allow(unsafe_code)] // the framework's calls on buffers of these tests

use ompi_core::comm::Communicator;
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::datatype;
use ompi_core::errhandler;
use ompi_core::error::{Class, Result};
use ompi_core::framework::coll::{ALL_FUNCTIONS, Call, Component, FUNCTIONS, Module, NEIGHBOR_FUNCTIONS};
use ompi_core::framework::op::Operation;
use ompi_core::group::Group;
use ompi_core::op::Op;
use std::sync::{Arc, LazyLock};
use test_coll::{Buffer, Member, Shape, Team};

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_self, coll_tuned];

/// Never dropped: that would tell the PML, which does not run here.
fn communicator(size: u32) -> &'static Communicator {
    opal_core::sync::raise_threads();
    datatype::open();
    let members: Box<[u32]> = (0..size).collect();
    let contexts = members.iter().map(|_| 0).collect();
    Box::leak(Box::new(Communicator::new(Arc::new(Group::new(members, 0)), None, 0, contexts, errhandler::FATAL)))
}

/// The executor of a rank that is alone; sends and receives fail the test by never ending.
fn member() -> Member<'static> {
    static TEAM: LazyLock<Team> = LazyLock::new(|| Team::new(1));
    Member::new(&TEAM, 0)
}

fn module(comm: &Communicator) -> Arc<dyn Module> {
    coll_self::COMPONENT.query(comm).unwrap().1
}

fn does(module: &dyn Module, call: Call<'_>) -> Result<()> {
    // SAFETY: the buffers of these tests are valid.
    unsafe { module.call(&call, &mut member()) }
}

#[test]
fn it_serves_one_process_only_and_outbids_basic() {
    assert!(coll_self::COMPONENT.query(communicator(2)).is_err());
    let alone = communicator(1);
    let (priority, module) = coll_self::COMPONENT.query(alone).unwrap();
    assert_eq!(module.functions(), ALL_FUNCTIONS);
    assert_eq!((ALL_FUNCTIONS | NEIGHBOR_FUNCTIONS).count_ones() as usize, FUNCTIONS);
    assert_eq!(NEIGHBOR_FUNCTIONS.count_ones(), 5);
    assert!(priority > coll_basic::COMPONENT.query(alone).unwrap().0);
    does(&*module, Call::Barrier).unwrap();
}

#[test]
fn everything_is_a_copy() {
    let comm = communicator(1);
    let module = module(comm);
    let (spread, close) = (Shape::vector(), Shape::pair());
    let values: Vec<i32> = (0..14).map(|value| value * 3 - 7).collect();
    let (counts, zero) = (Counts::Int(&[7]), Counts::Int(&[0]));
    type Does<'a> = &'a dyn Fn(Data<'_>, Data<'_>) -> Result<()>;
    let blocks = |data: Data<'static>| Blocks { at: data.at, counts, displacements: zero, datatype: data.datatype };
    fn forever(data: Data<'_>) -> Data<'static> {
        // SAFETY: the buffers of this test outlive the calls.
        unsafe { core::mem::transmute(data) }
    }
    let calls: [(&str, Does<'_>); 9] = [
        ("gather", &|from, to| does(&*module, Call::Gather(Source::From(from), Some(&to), 0))),
        ("gatherv", &|from, to| does(&*module, Call::Gatherv(Source::From(from), Some(&blocks(forever(to))), 0))),
        ("scatter", &|from, to| does(&*module, Call::Scatter(Some(&from), Some(&to), 0))),
        ("scatterv", &|from, to| does(&*module, Call::Scatterv(Some(&blocks(forever(from))), Some(&to), 0))),
        ("allgather", &|from, to| does(&*module, Call::Allgather(Source::From(from), &to))),
        ("allgatherv", &|from, to| does(&*module, Call::Allgatherv(Source::From(from), &blocks(forever(to))))),
        ("alltoall", &|from, to| does(&*module, Call::Alltoall(Source::From(from), &to))),
        ("alltoallv", &|from, to| does(&*module, Call::Alltoallv(Some(&blocks(forever(from))), &blocks(forever(to))))),
        ("alltoallw", &|from, to| {
            let (a, b) = ([from.datatype], [to.datatype]);
            let typed = |at, datatypes| TypedBlocks { at, counts, displacements: zero, datatypes };
            does(&*module, Call::Alltoallw(Some(&typed(from.at, &a)), &typed(to.at, &b)))
        }),
    ];
    for (name, call) in calls {
        let (mut from, mut to) = (Buffer::of(&spread, &values), Buffer::new(&close, 7));
        call(from.data(), to.data()).unwrap();
        assert_eq!(to.differs(&values), None, "{name}");
        assert_eq!(from.differs(&values), None, "{name}");
    }
}

#[test]
fn reductions_of_one() {
    let comm = communicator(1);
    let module = module(comm);
    let int = datatype::borrow(521).unwrap();
    let sum = Op::Predefined(Operation::Sum);
    let (mut a, mut b) = ([1i32, 2, 3], [9i32; 3]);
    let from = Data { at: a.as_mut_ptr().cast(), count: 3, datatype: int };
    let to = Data { at: b.as_mut_ptr().cast(), ..from };
    does(&*module, Call::Exscan(Source::From(from), &to, &sum)).unwrap();
    assert_eq!(b, [9; 3], "the first rank's buffer stays");
    does(&*module, Call::Allreduce(Source::InPlace, &to, &sum)).unwrap();
    assert_eq!(b, [9; 3]);
    does(&*module, Call::Scan(Source::From(from), &to, &sum)).unwrap();
    assert_eq!(b, [1, 2, 3]);
    let double = Data { datatype: datatype::borrow(532).unwrap(), count: 1, ..to };
    let fault = does(&*module, Call::Allreduce(Source::InPlace, &double, &Op::Predefined(Operation::Band)));
    assert_eq!(fault.unwrap_err().get(), Class::Op as i32);
    let short = Data { count: 2, ..to };
    let fault = does(&*module, Call::Allgather(Source::From(from), &short));
    assert_eq!(fault.unwrap_err().get(), Class::Truncate as i32);
}
