//! Datatypes as they lie in a file where basic types have another length than in memory. MPI 5.0 §14.5.1.

use crate::counts::Counts;
use crate::datatype::{
    Combiner, Contents, Datatype, Number, Order, contiguous, darray, hindexed, hindexed_block, hvector, indexed,
    indexed_block, resized, structure, subarray, vector,
};
use crate::error::{Class, Fault, Result};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ptr;
use opal_core::datatype::Layout;

/// The layout that the calls which made a datatype would give where each predefined type has as many bytes as `bytes` says.
pub fn scaled(datatype: &Datatype, bytes: &mut dyn FnMut(&Datatype) -> Result<u32>) -> Result<Arc<Layout>> {
    Ok(Scaling { bytes, done: BTreeMap::new() }.of(datatype)?.layout.clone())
}

struct Scaling<'a> {
    bytes: &'a mut dyn FnMut(&Datatype) -> Result<u32>,
    // By address: a type that is a part of many is made once.
    done: BTreeMap<usize, Arc<Datatype>>,
}

impl Scaling<'_> {
    fn of(&mut self, datatype: &Datatype) -> Result<Arc<Datatype>> {
        let key = ptr::from_ref(datatype).addr();
        if let Some(done) = self.done.get(&key) {
            return Ok(done.clone());
        }
        let scaled = Arc::new(self.make(datatype)?);
        self.done.insert(key, scaled.clone());
        Ok(scaled)
    }

    fn make(&mut self, datatype: &Datatype) -> Result<Datatype> {
        if datatype.is_predefined() {
            let layout = match datatype.layout.size() {
                // A bound of MPI 1.
                0 => (*datatype.layout).clone(),
                _ => Layout::item((self.bytes)(datatype)?),
            };
            return Ok(Datatype::derived(layout, datatype.combiner));
        }
        let contents = datatype.contents();
        let mut old = Vec::with_capacity(contents.datatypes.len());
        for part in &contents.datatypes {
            old.push(self.of(part)?);
        }
        again(datatype.combiner, &mut Arguments::new(contents), &old)
    }
}

/// Makes the call that made a type, with other old types.
fn again(combiner: i32, arguments: &mut Arguments<'_>, old: &[Arc<Datatype>]) -> Result<Datatype> {
    let is = |one: Combiner| combiner == one as i32;
    let first = old.first().ok_or_else(|| unknown(combiner))?;
    match () {
        () if is(Combiner::Dup) => Ok(Datatype::derived((*first.layout).clone(), combiner)),
        () if is(Combiner::Contiguous) => contiguous(arguments.number(), first),
        () if is(Combiner::Vector) => vector(arguments.number(), arguments.number(), arguments.number(), first),
        () if is(Combiner::Hvector) => hvector(arguments.number(), arguments.number(), arguments.address(), first),
        () if is(Combiner::Resized) => resized(arguments.address(), arguments.address(), true, first),
        () if is(Combiner::Subarray) => arguments.subarray(first),
        () if is(Combiner::Darray) => arguments.darray(first),
        () => arguments.blocks(combiner, old),
    }
}

/// What a call was given, in the order of its arguments.
struct Arguments<'a> {
    integers: &'a [i32],
    addresses: &'a [isize],
    counts: &'a [i64],
    // Of a function that takes large counts.
    large: bool,
}

impl<'a> Arguments<'a> {
    fn new(contents: &'a Contents) -> Arguments<'a> {
        let Contents { integers, addresses, counts, .. } = contents;
        Arguments { integers, addresses, counts, large: !counts.is_empty() }
    }

    /// Whatever the function's width: an `int`.
    fn integer(&mut self) -> i32 {
        self.integers.split_off_first().copied().unwrap_or(0)
    }

    fn number(&mut self) -> Number {
        let count = self.counts.split_off_first().copied().filter(|_| self.large);
        Number::Large(count.unwrap_or_else(|| if self.large { 0 } else { i64::from(self.integer()) }))
    }

    fn address(&mut self) -> i64 {
        match self.large {
            true => self.counts.split_off_first().copied().unwrap_or(0),
            false => self.addresses.split_off_first().copied().unwrap_or(0) as i64,
        }
    }

    fn integers(&mut self, count: i32) -> Vec<i32> {
        (0..count).map(|_| self.integer()).collect()
    }

    fn numbers(&mut self, count: i64) -> Vec<i64> {
        (0..count).map(|_| self.number().get()).collect()
    }

    fn addresses(&mut self, count: i64) -> Vec<i64> {
        (0..count).map(|_| self.address()).collect()
    }

    /// One of the constructors that list blocks.
    fn blocks(&mut self, combiner: i32, old: &[Arc<Datatype>]) -> Result<Datatype> {
        let is = |one: Combiner| combiner == one as i32;
        let (count, first) = (self.number(), old.first().ok_or_else(|| unknown(combiner))?);
        if is(Combiner::IndexedBlock) || is(Combiner::HindexedBlock) {
            let length = self.number();
            return match is(Combiner::IndexedBlock) {
                true => indexed_block(count, length, Counts::Large(&self.numbers(count.get())), first),
                false => hindexed_block(count, length, Counts::Large(&self.addresses(count.get())), first),
            };
        }
        let lengths = self.numbers(count.get());
        let lengths = Counts::Large(&lengths);
        match () {
            () if is(Combiner::Indexed) => indexed(count, lengths, Counts::Large(&self.numbers(count.get())), first),
            () if is(Combiner::Hindexed) => {
                hindexed(count, lengths, Counts::Large(&self.addresses(count.get())), first)
            }
            () if is(Combiner::Struct) => structure(count, lengths, Counts::Large(&self.addresses(count.get())), old),
            () => Err(unknown(combiner)),
        }
    }

    fn subarray(&mut self, old: &Arc<Datatype>) -> Result<Datatype> {
        let dimensions = self.integer();
        let [sizes, parts, starts] = [(); 3].map(|()| self.numbers(i64::from(dimensions)));
        let order = Order::from_c(self.integer())?;
        let [sizes, parts, starts] = [&sizes, &parts, &starts].map(|numbers| Counts::Large(numbers));
        subarray(sizes, parts, starts, dimensions as usize, order, old)
    }

    fn darray(&mut self, old: &Arc<Datatype>) -> Result<Datatype> {
        let (size, rank, dimensions) = (self.integer(), self.integer(), self.integer());
        let sizes = self.numbers(i64::from(dimensions));
        let [distributions, dealt, grid] = [(); 3].map(|()| self.integers(dimensions));
        let order = Order::from_c(self.integer())?;
        darray(size, rank, Counts::Large(&sizes), &distributions, &dealt, &grid, order, old)
    }
}

#[cold]
fn unknown(combiner: i32) -> Fault {
    let why =
        format!("a datatype does not tell how it was made (combiner {combiner}), and so not how it lies in a file");
    Fault::new(Class::UnsupportedDatarep).argument("datatype").because(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{dup, get, open};

    const INT: usize = 521;
    const CHAR: usize = 579;

    fn basic(handle: usize) -> Arc<Datatype> {
        open();
        get(handle).unwrap()
    }

    /// Each basic type has three times its bytes, MPI_CHAR has five.
    fn three(basic: &Datatype) -> Result<u32> {
        Ok(if basic.layout.size() == 1 { 5 } else { basic.layout.size() as u32 * 3 })
    }

    fn runs(layout: &Layout) -> Vec<(isize, usize)> {
        let mut all = Vec::new();
        layout.each_run(&mut |run| all.push((run.offset, run.bytes)));
        all
    }

    #[test]
    fn what_counts_elements_grows_and_what_counts_bytes_stays() {
        let int = basic(INT);
        for large in [false, true] {
            let n = |value: i32| if large { Number::Large(i64::from(value)) } else { Number::Int(value) };
            let strided = vector(n(3), n(2), n(4), &int).unwrap();
            let layout = scaled(&strided, &mut three).unwrap();
            assert_eq!((layout.size(), layout.extent()), (72, 120), "large {large}");
            assert_eq!(runs(&layout), [(0, 24), (48, 24), (96, 24)]);
            let bytes = hvector(n(2), n(1), 40, &int).unwrap();
            assert_eq!(runs(&scaled(&bytes, &mut three).unwrap()), [(0, 12), (40, 12)]);
        }
        let wide = resized(0, 100, false, &int).unwrap();
        assert_eq!(scaled(&wide, &mut three).unwrap().extent(), 100);
        assert_eq!(scaled(&dup(&int), &mut three).unwrap().extent(), 12);
    }

    #[test]
    fn structures_keep_their_places_and_are_not_padded() {
        let (int, char) = (basic(INT), basic(CHAR));
        let parts = [int.clone(), char];
        let (lengths, places) = ([1i32, 1], [0i64, 12]);
        let made = structure(Number::Int(2), Counts::Int(&lengths), Counts::Large(&places), &parts).unwrap();
        assert_eq!(made.layout.extent(), 16);
        let layout = scaled(&made, &mut three).unwrap();
        assert_eq!((layout.size(), layout.extent(), layout.primitives()), (17, 17, 2));
        // A type that is a part many times over is asked for once.
        let mut twice = Arc::new(made);
        for _ in 0..20 {
            let parts = [twice.clone(), twice];
            let made = structure(Number::Int(2), Counts::Int(&lengths), Counts::Large(&places), &parts);
            twice = Arc::new(made.unwrap());
        }
        let mut asked = 0;
        let layout = scaled(&twice, &mut |basic| {
            asked += 1;
            three(basic)
        });
        assert_eq!((layout.unwrap().size(), asked), (17 << 20, 2));
    }

    #[test]
    fn arrays_and_lists_are_made_again() {
        let int = basic(INT);
        for large in [false, true] {
            let wide = [[4i64, 6], [2, 3], [1, 2]];
            let narrow = wide.map(|pair| pair.map(|number| number as i32));
            let [sizes, parts, starts] = [0, 1, 2].map(|at| match large {
                true => Counts::Large(&wide[at]),
                false => Counts::Int(&narrow[at]),
            });
            let part = subarray(sizes, parts, starts, 2, Order::C, &int).unwrap();
            let layout = scaled(&part, &mut three).unwrap();
            assert_eq!((layout.extent(), runs(&layout)), (288, [(96, 36), (168, 36)].to_vec()));
            let dealt = darray(2, 1, sizes, &[17, 16], &[19, 19], &[2, 1], Order::C, &int).unwrap();
            let layout = scaled(&dealt, &mut three).unwrap();
            assert_eq!((layout.extent(), runs(&layout)), (288, [(144, 144)].to_vec()));
            let count = if large { Number::Large(2) } else { Number::Int(2) };
            let listed = indexed(count, parts, sizes, &int).unwrap();
            assert_eq!(runs(&scaled(&listed, &mut three).unwrap()), [(48, 60)]);
            let even = indexed_block(count, count, sizes, &int).unwrap();
            assert_eq!(runs(&scaled(&even, &mut three).unwrap()), [(48, 48)]);
            let places = [8i64, 100];
            let listed = hindexed(count, parts, Counts::Large(&places), &int).unwrap();
            assert_eq!(runs(&scaled(&listed, &mut three).unwrap()), [(8, 24), (100, 36)]);
            let even = hindexed_block(count, count, Counts::Large(&places), &int).unwrap();
            assert_eq!(runs(&scaled(&even, &mut three).unwrap()), [(8, 24), (100, 24)]);
        }
    }
}
