//! Each algorithm over messages makes each mistake once: every message of every rank goes to a wrong rank, or comes from a
//! wrong offset, and the comparison with formulas must notice.
//!
//! coll/han's algorithms are in `levels.rs`; coll/sm sends no messages.
#![allow(unsafe_code, clippy::multiple_unsafe_ops_per_block)] // the user's operation

use coll_basic::{
    allgather, allreduce, alltoall, barrier, bcast, gather, neighbor, reduce, reduce_scatter, scan, scatter,
};
use coll_inter::cross;
use coll_inter::groups::{Groups, Root};
use coll_tuned as tuned;
use core::ffi::{c_int, c_void};
use ompi_core::data::{Blocks, Counts, Data, Source, TypedBlocks};
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::op::Op;
use ompi_core::topo::Neighbors;
use test_coll::{Buffer, Flaw, Member, Shape, unnoticed};

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_self, coll_tuned];

type Outcome = std::result::Result<(), String>;

/// An algorithm, and among how many ranks it runs here.
struct Row {
    name: &'static str,
    sizes: &'static [usize],
    run: fn(&mut Member<'_>) -> Outcome,
}

const ANY: &[usize] = &[2, 4, 5];
const EVEN: &[usize] = &[2, 4, 6];
const POWERS: &[usize] = &[2, 4];
/// Elements of two `int`s that each rank has for each: pieces of them are no shorter than an element.
const COUNT: usize = 12;
const ROOT: usize = 1;

const ROWS: &[Row] = &[
    Row { name: "basic barrier", sizes: ANY, run: |on| ok(barrier::barrier(on)) },
    Row { name: "basic bcast", sizes: ANY, run: |on| to_all(on, |on, data| bcast::bcast(on, data, ROOT)) },
    Row {
        name: "tuned bcast scatter_allgather",
        sizes: ANY,
        run: |on| to_all(on, |on, data| tuned::bcast::scatter_allgather(on, data, ROOT)),
    },
    Row {
        name: "tuned bcast chain",
        sizes: ANY,
        run: |on| to_all(on, |on, data| tuned::bcast::chain(on, data, ROOT, 24)),
    },
    Row {
        name: "basic gather",
        sizes: ANY,
        run: |on| to_root(on, |on, from, to, _| gather::gather(on, Source::From(*from), to, ROOT)),
    },
    Row {
        name: "basic gatherv",
        sizes: ANY,
        run: |on| to_root(on, |on, from, _, to| gather::gatherv(on, Source::From(*from), to, ROOT)),
    },
    Row {
        name: "basic scatter",
        sizes: ANY,
        run: |on| from_root(on, |on, from, _, to| scatter::scatter(on, from, Some(to), ROOT)),
    },
    Row {
        name: "basic scatterv",
        sizes: ANY,
        run: |on| from_root(on, |on, _, from, to| scatter::scatterv(on, from, Some(to), ROOT)),
    },
    Row {
        name: "basic allgather",
        sizes: ANY,
        run: |on| each_to_all(on, |on, from, to, _| allgather::allgather(on, from, to)),
    },
    Row {
        name: "basic allgatherv",
        sizes: ANY,
        run: |on| each_to_all(on, |on, from, _, to| allgather::allgatherv(on, from, to)),
    },
    Row {
        name: "tuned allgather doubling",
        sizes: POWERS,
        run: |on| each_to_all(on, |on, from, to, _| tuned::allgather::doubling(on, from, to)),
    },
    Row {
        name: "tuned allgather bruck",
        sizes: ANY,
        run: |on| each_to_all(on, |on, from, to, _| tuned::allgather::bruck(on, from, to)),
    },
    Row {
        name: "tuned allgather neighbor",
        sizes: EVEN,
        run: |on| each_to_all(on, |on, from, to, _| tuned::allgather::neighbor(on, from, to)),
    },
    Row {
        name: "basic alltoall",
        sizes: ANY,
        run: |on| each_to_each(on, |on, from, to| alltoall::alltoall(on, Source::From(from.data), &to.data)),
    },
    Row {
        name: "basic alltoall in place",
        sizes: ANY,
        run: |on| each_to_each_in_place(on, |on, to| alltoall::alltoall(on, Source::InPlace, &to.data)),
    },
    Row {
        name: "basic alltoallv",
        sizes: ANY,
        run: |on| each_to_each(on, |on, from, to| alltoall::alltoallv(on, Some(&from.blocks()), &to.blocks())),
    },
    Row {
        name: "basic alltoallv in place",
        sizes: ANY,
        run: |on| each_to_each_in_place(on, |on, to| alltoall::alltoallv(on, None, &to.blocks())),
    },
    Row {
        name: "basic alltoallw",
        sizes: ANY,
        run: |on| each_to_each(on, |on, from, to| alltoall::alltoallw(on, Some(&from.typed()), &to.typed())),
    },
    Row {
        name: "tuned alltoall bruck",
        sizes: ANY,
        run: |on| each_to_each(on, |on, from, to| tuned::alltoall::bruck(on, &from.data, &to.data)),
    },
    Row {
        name: "tuned alltoall pairwise",
        sizes: ANY,
        run: |on| each_to_each(on, |on, from, to| tuned::alltoall::pairwise(on, &from.data, &to.data)),
    },
    Row { name: "basic reduce", sizes: ANY, run: |on| combined_at_root(on, &IN_ORDER) },
    Row { name: "basic reduce in any order", sizes: ANY, run: |on| combined_at_root(on, &ANY_ORDER) },
    Row {
        name: "basic allreduce",
        sizes: ANY,
        run: |on| combined(on, &IN_ORDER, everybody, |on, from, to, op| allreduce::allreduce(on, from, to, op)),
    },
    Row {
        name: "tuned allreduce ring",
        sizes: ANY,
        run: |on| combined(on, &ANY_ORDER, everybody, |on, from, to, op| tuned::allreduce::ring(on, from, to, op)),
    },
    Row {
        name: "tuned allreduce halving",
        sizes: ANY,
        run: |on| combined(on, &IN_ORDER, everybody, |on, from, to, op| tuned::allreduce::halving(on, from, to, op)),
    },
    Row {
        name: "basic scan",
        sizes: ANY,
        run: |on| combined(on, &IN_ORDER, |rank, _| rank + 1, |on, from, to, op| scan::scan(on, from, to, op)),
    },
    Row {
        name: "basic exscan",
        sizes: ANY,
        run: |on| combined(on, &IN_ORDER, |rank, _| rank, |on, from, to, op| scan::exscan(on, from, to, op)),
    },
    Row {
        name: "basic reduce_scatter",
        sizes: ANY,
        run: |on| {
            combined_blocks(on, &IN_ORDER, |on, from, to, op| {
                let counts = vec![COUNT as i32; on.size()];
                reduce_scatter::reduce_scatter(on, Source::From(*from), to, Counts::Int(&counts), op)
            })
        },
    },
    Row {
        name: "basic reduce_scatter_block",
        sizes: ANY,
        run: |on| {
            combined_blocks(on, &IN_ORDER, |on, from, to, op| {
                reduce_scatter::reduce_scatter_block(on, Source::From(*from), to, op)
            })
        },
    },
    Row {
        name: "tuned reduce_scatter ring",
        sizes: ANY,
        run: |on| {
            combined_blocks(on, &ANY_ORDER, |on, from, to, op| {
                let blocks =
                    tuned::reduce_scatter::Blocks::new(Source::From(*from), to, on.size(), |rank| rank * COUNT);
                tuned::reduce_scatter::ring(on, &blocks, to, op)
            })
        },
    },
    Row {
        name: "tuned reduce_scatter halving",
        sizes: POWERS,
        run: |on| {
            combined_blocks(on, &ANY_ORDER, |on, from, to, op| {
                let blocks =
                    tuned::reduce_scatter::Blocks::new(Source::From(*from), to, on.size(), |rank| rank * COUNT);
                tuned::reduce_scatter::halving(on, &blocks, to, op)
            })
        },
    },
    Row {
        name: "basic neighbor_allgather",
        sizes: ANY,
        run: |on| with_neighbors(on, true, |on, from, to, among| neighbor::allgather(on, &from.data, &to.data, among)),
    },
    Row {
        name: "basic neighbor_allgatherv",
        sizes: ANY,
        run: |on| {
            with_neighbors(on, true, |on, from, to, among| neighbor::allgatherv(on, &from.data, &to.blocks(), among))
        },
    },
    Row {
        name: "basic neighbor_alltoall",
        sizes: ANY,
        run: |on| with_neighbors(on, false, |on, from, to, among| neighbor::alltoall(on, &from.data, &to.data, among)),
    },
    Row {
        name: "basic neighbor_alltoallv",
        sizes: ANY,
        run: |on| {
            with_neighbors(on, false, |on, from, to, among| {
                neighbor::alltoallv(on, &from.blocks(), &to.blocks(), among)
            })
        },
    },
    Row {
        name: "basic neighbor_alltoallw",
        sizes: ANY,
        run: |on| {
            with_neighbors(on, false, |on, from, to, among| neighbor::alltoallw(on, &from.typed(), &to.typed(), among))
        },
    },
    Row { name: "inter gather", sizes: ANY, run: inter_gather },
    Row { name: "inter scatter", sizes: ANY, run: inter_scatter },
    Row { name: "inter alltoall", sizes: ANY, run: inter_alltoall },
];

#[test]
fn each_message_to_a_wrong_rank_or_from_a_wrong_offset_shows() {
    for Row { name, sizes, run } in ROWS {
        for size in *sizes {
            assert_eq!(run_rightly(*size, run), Ok(()), "{name} among {size}");
            let (silent, made) = unnoticed(*size, Flaw::WrongPartner, run);
            assert!(silent.is_empty() && made > 0, "{name} among {size}, {made} wrong partners: silent {silent:?}");
            let (silent, made) = unnoticed(*size, Flaw::WrongOffset, run);
            // Its messages are empty.
            assert!(made > 0 || *name == "basic barrier", "{name} among {size}: no wrong offset");
            let scans = matches!(*name, "basic scan" | "basic exscan");
            let useless = if scans { useless_in_scans(*size) } else { Vec::new() };
            assert_eq!(silent, useless, "{name} among {size}, {made} wrong offsets: rank and message");
        }
    }
}

fn run_rightly(size: usize, run: &fn(&mut Member<'_>) -> Outcome) -> Outcome {
    test_coll::run(size, |_| Flaw::None, run).0
}

/// Partners of a scan exchange what their groups have, and the lower one only passes that on: what nobody after it needs any
/// more may be anything.
fn useless_in_scans(size: usize) -> Vec<(usize, usize)> {
    fn is_needed(rank: usize, after: usize, size: usize) -> bool {
        let bits = (0..usize::BITS).map(|bit| 1 << bit).take_while(|bit| *bit < size).filter(|bit| *bit > after);
        bits.map(|bit| (bit, rank ^ bit))
            .filter(|(_, partner)| *partner < size)
            .any(|(bit, partner)| partner > rank || is_needed(partner, bit, size))
    }
    let messages = |rank: usize| {
        let bits = (0..usize::BITS).map(|bit| 1 << bit).take_while(move |bit| *bit < size);
        bits.map(move |bit| (bit, rank ^ bit)).filter(move |(_, partner)| *partner < size).enumerate()
    };
    let useless = |rank: usize| {
        let silent = move |(bit, partner): (usize, usize)| partner < rank && !is_needed(partner, bit, size);
        messages(rank).filter(move |(_, to)| silent(*to)).map(move |(message, _)| (rank, message))
    };
    (0..size).flat_map(useless).collect()
}

fn ok(result: Result<()>) -> Outcome {
    result.map_err(|fault| format!("error {}: {}", fault.get(), fault.reason()))
}

fn same(difference: Option<String>) -> Outcome {
    difference.map_or(Ok(()), Err)
}

/// What a rank has for a rank: no two alike.
fn values(from: usize, to: usize) -> Vec<i32> {
    (0..2 * COUNT).map(|index| (from * 1_000_003 + to * 10_007 + index * 7 + 1) as i32).collect()
}

fn of_all(size: usize, values: impl Fn(usize) -> Vec<i32>) -> Vec<i32> {
    (0..size).flat_map(values).collect()
}

/// A buffer with a block per rank, as each function wants it described.
struct All<'a> {
    data: Data<'a>,
    counts: Vec<i32>,
    places: Vec<i32>,
    bytes: Vec<i32>,
    types: Vec<&'a ompi_core::datatype::Datatype>,
}

impl<'a> All<'a> {
    fn of(buffer: &mut Buffer<'a>, size: usize) -> All<'a> {
        let data = buffer.part(COUNT);
        let places: Vec<i32> = (0..size).map(|rank| (rank * COUNT) as i32).collect();
        let bytes = places.iter().map(|place| place * data.datatype.layout.extent() as i32).collect();
        All { data, counts: vec![COUNT as i32; size], places, bytes, types: vec![data.datatype; size] }
    }

    fn blocks(&self) -> Blocks<'_> {
        let (counts, displacements) = (Counts::Int(&self.counts), Counts::Int(&self.places));
        Blocks { at: self.data.at, counts, displacements, datatype: self.data.datatype }
    }

    fn typed(&self) -> TypedBlocks<'_> {
        let (counts, displacements) = (Counts::Int(&self.counts), Counts::Int(&self.bytes));
        TypedBlocks { at: self.data.at, counts, displacements, datatypes: &self.types }
    }
}

fn to_all<'a>(on: &mut Member<'a>, does: impl Fn(&mut Member<'a>, &Data<'_>) -> Result<()>) -> Outcome {
    let (shape, sent) = (Shape::pair(), values(ROOT, 0));
    let mut buffer = if on.rank() == ROOT { Buffer::of(&shape, &sent) } else { Buffer::new(&shape, COUNT) };
    ok(does(on, &buffer.data()))?;
    same(buffer.differs(&sent))
}

type ToRoot = fn(&mut Member<'_>, &Data<'_>, Option<&Data<'_>>, Option<&Blocks<'_>>) -> Result<()>;

fn to_root(on: &mut Member<'_>, does: ToRoot) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let (mut own, mut whole) = (Buffer::of(&shape, &values(rank, 0)), Buffer::new(&shape, size * COUNT));
    let all = All::of(&mut whole, size);
    let is_root = rank == ROOT;
    ok(does(on, &own.data(), is_root.then_some(&all.data), is_root.then_some(&all.blocks())))?;
    let wanted = of_all(size, |from| values(from, 0));
    same(whole.differs(if is_root { &wanted } else { &[] }))
}

type FromRoot = fn(&mut Member<'_>, Option<&Data<'_>>, Option<&Blocks<'_>>, &Data<'_>) -> Result<()>;

fn from_root(on: &mut Member<'_>, does: FromRoot) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let (mut own, mut whole) = (Buffer::new(&shape, COUNT), Buffer::of(&shape, &of_all(size, |to| values(ROOT, to))));
    let all = All::of(&mut whole, size);
    let is_root = rank == ROOT;
    ok(does(on, is_root.then_some(&all.data), is_root.then_some(&all.blocks()), &own.data()))?;
    same(own.differs(&values(ROOT, rank)))
}

type EachToAll = fn(&mut Member<'_>, Source<'_>, &Data<'_>, &Blocks<'_>) -> Result<()>;

fn each_to_all(on: &mut Member<'_>, does: EachToAll) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let (mut own, mut whole) = (Buffer::of(&shape, &values(rank, 0)), Buffer::new(&shape, size * COUNT));
    let all = All::of(&mut whole, size);
    ok(does(on, Source::From(own.data()), &all.data, &all.blocks()))?;
    same(whole.differs(&of_all(size, |from| values(from, 0))))
}

fn each_to_each(on: &mut Member<'_>, does: fn(&mut Member<'_>, &All<'_>, &All<'_>) -> Result<()>) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let mut from = Buffer::of(&shape, &of_all(size, |to| values(rank, to)));
    let mut to = Buffer::new(&shape, size * COUNT);
    ok(does(on, &All::of(&mut from, size), &All::of(&mut to, size)))?;
    same(to.differs(&of_all(size, |from| values(from, rank))))
}

fn each_to_each_in_place(on: &mut Member<'_>, does: fn(&mut Member<'_>, &All<'_>) -> Result<()>) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let mut both = Buffer::of(&shape, &of_all(size, |to| values(rank, to)));
    ok(does(on, &All::of(&mut both, size)))?;
    same(both.differs(&of_all(size, |from| values(from, rank))))
}

/// Affine functions x -> a·x + b in a pair of ints: associative, not commutative.
fn compose(a: [i32; 2], b: [i32; 2]) -> [i32; 2] {
    [a[0].wrapping_mul(b[0]), a[0].wrapping_mul(b[1]).wrapping_add(a[1])]
}

fn add(a: [i32; 2], b: [i32; 2]) -> [i32; 2] {
    [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
}

/// What is needed to combine pairs, and to know the result.
struct Combination {
    op: Op,
    pairs: fn([i32; 2], [i32; 2]) -> [i32; 2],
}

const IN_ORDER: Combination = Combination { op: Op::User { function: composed, commutative: false }, pairs: compose };
const ANY_ORDER: Combination = Combination { op: Op::User { function: added, commutative: true }, pairs: add };

unsafe extern "C" fn composed(input: *mut c_void, inout: *mut c_void, count: *mut c_int, _: *mut usize) {
    // SAFETY: the library passes valid pointers to pairs.
    unsafe { combine(compose, input.cast(), inout.cast(), *count as usize) };
}

unsafe extern "C" fn added(input: *mut c_void, inout: *mut c_void, count: *mut c_int, _: *mut usize) {
    // SAFETY: as above.
    unsafe { combine(add, input.cast(), inout.cast(), *count as usize) };
}

/// # Safety
/// Both have `count` elements.
unsafe fn combine(
    pairs: fn([i32; 2], [i32; 2]) -> [i32; 2],
    input: *const [i32; 2],
    inout: *mut [i32; 2],
    count: usize,
) {
    for index in 0..count {
        // SAFETY: `count` elements.
        unsafe { inout.add(index).write(pairs(input.add(index).read(), inout.add(index).read())) };
    }
}

impl Combination {
    /// Of what the first ranks have for a rank.
    fn of(&self, ranks: usize, to: usize) -> Vec<i32> {
        let both = |sum: Vec<i32>, next: Vec<i32>| {
            let pairs = sum.chunks(2).zip(next.chunks(2));
            pairs.flat_map(|(a, b)| (self.pairs)([a[0], a[1]], [b[0], b[1]])).collect()
        };
        (0..ranks).map(|from| values(from, to)).reduce(both).unwrap_or_default()
    }
}

fn everybody(_: usize, size: usize) -> usize {
    size
}

type Combining = fn(&mut Member<'_>, Source<'_>, &Data<'_>, &Op) -> Result<()>;

/// Each rank gets the combination of what the first ranks have, of how many `ranks` says.
fn combined(on: &mut Member<'_>, by: &Combination, ranks: fn(usize, usize) -> usize, does: Combining) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let (mut own, mut to) = (Buffer::of(&shape, &values(rank, 0)), Buffer::new(&shape, COUNT));
    ok(does(on, Source::From(own.data()), &to.data(), &by.op))?;
    same(to.differs(&by.of(ranks(rank, size), 0)))
}

fn combined_at_root(on: &mut Member<'_>, by: &Combination) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let (mut own, mut to) = (Buffer::of(&shape, &values(rank, 0)), Buffer::new(&shape, COUNT));
    let target = to.data();
    ok(reduce::reduce(on, Source::From(own.data()), (rank == ROOT).then_some(&target), &by.op, ROOT))?;
    same(to.differs(&if rank == ROOT { by.of(size, 0) } else { Vec::new() }))
}

type CombiningBlocks = fn(&mut Member<'_>, &Data<'_>, &Data<'_>, &Op) -> Result<()>;

fn combined_blocks(on: &mut Member<'_>, by: &Combination, does: CombiningBlocks) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let mut own = Buffer::of(&shape, &of_all(size, |to| values(rank, to)));
    let mut to = Buffer::new(&shape, COUNT);
    ok(does(on, &own.data(), &to.data(), &by.op))?;
    same(to.differs(&by.of(size, rank)))
}

type WithNeighbors = fn(&mut Member<'_>, &All<'_>, &All<'_>, &Neighbors) -> Result<()>;

/// In a ring: the ranks on both sides, which are the same one where there are two. `alike`: what goes to both is the same.
fn with_neighbors(on: &mut Member<'_>, alike: bool, does: WithNeighbors) -> Outcome {
    let (shape, rank, size) = (Shape::pair(), on.rank(), on.size());
    let sides = [(rank + size - 1) % size, (rank + 1) % size];
    let ranks: Box<[i32]> = sides.map(|side| side as i32).into();
    let among = Neighbors { sources: ranks.clone(), destinations: ranks, cartesian: true };
    // To the left side it is block 0, which is where the right one has it from.
    let block = |from: usize, index: usize| values(from, if alike { 0 } else { index });
    let (mut from, mut to) =
        (Buffer::of(&shape, &of_all(2, |index| block(rank, index))), Buffer::new(&shape, 2 * COUNT));
    ok(does(on, &All::of(&mut from, 2), &All::of(&mut to, 2), &among))?;
    same(to.differs(&of_all(2, |index| block(sides[index], 1 - index))))
}

/// The first two ranks and the others, or one each.
fn groups(on: &Member<'_>) -> Groups {
    let (rank, size) = (on.rank(), on.size());
    let first = size / 2;
    if rank < first { Groups::new([0..first, first..size]) } else { Groups::new([first..size, 0..first]) }
}

/// Rank 0 is the root.
fn inter_root(on: &Member<'_>) -> Root {
    match on.rank() {
        0 => Root::Here,
        rank if rank < on.size() / 2 => Root::Beside,
        _ => Root::There(0),
    }
}

fn inter_gather(on: &mut Member<'_>) -> Outcome {
    let (shape, groups, root, rank) = (Shape::pair(), groups(on), inter_root(on), on.rank());
    let number = groups.there.len();
    let (mut own, mut all) = (Buffer::of(&shape, &values(rank, 0)), Buffer::new(&shape, number * COUNT));
    let to = all.part(COUNT);
    let block = |index: usize| to.at_element((index * COUNT) as isize, COUNT);
    ok(cross::collect(on, &groups, Source::From(own.data()), (root == Root::Here).then_some(block), root))?;
    let wanted = groups.there.iter().flat_map(|from| values(*from, 0)).collect::<Vec<_>>();
    same(all.differs(if root == Root::Here { &wanted } else { &[] }))
}

fn inter_scatter(on: &mut Member<'_>) -> Outcome {
    let (shape, groups, root, rank) = (Shape::pair(), groups(on), inter_root(on), on.rank());
    let wanted = groups.there.iter().flat_map(|to| values(rank, *to)).collect::<Vec<_>>();
    let (mut all, mut own) = (Buffer::of(&shape, &wanted), Buffer::new(&shape, COUNT));
    let from = all.part(COUNT);
    let block = |index: usize| from.at_element((index * COUNT) as isize, COUNT);
    ok(cross::hand_out(on, &groups, (root == Root::Here).then_some(block), Some(&own.data()), root))?;
    same(own.differs(&if matches!(root, Root::There(_)) { values(0, rank) } else { Vec::new() }))
}

fn inter_alltoall(on: &mut Member<'_>) -> Outcome {
    let (shape, groups, rank) = (Shape::pair(), groups(on), on.rank());
    let mut from = Buffer::of(&shape, &groups.there.iter().flat_map(|to| values(rank, *to)).collect::<Vec<_>>());
    let mut to = Buffer::new(&shape, groups.there.len() * COUNT);
    let (source, target) = (from.part(COUNT), to.part(COUNT));
    ok(cross::exchange(
        on,
        &groups,
        |index| source.at_element((index * COUNT) as isize, COUNT),
        |index| target.at_element((index * COUNT) as isize, COUNT),
    ))?;
    same(to.differs(&groups.there.iter().flat_map(|from| values(*from, rank)).collect::<Vec<_>>()))
}
