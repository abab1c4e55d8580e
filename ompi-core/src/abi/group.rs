//! Groups. MPI 5.0 §7.3.

use super::kinds::{Array, Comm, Count, Group, Out, OutArray, array, array_mut};
use crate::error::{Class, Fault};
use crate::group;
use crate::status::{PROC_NULL, UNDEFINED};
use alloc::format;
use alloc::sync::Arc;
use core::ffi::c_int;

rows! {
    /// Number of members. MPI 5.0 §7.3.1.
    fn Group_size(group: Group, size: Out<c_int>) [] => {
        size.set(group.size() as c_int);
        Ok(())
    }

    /// This process's rank, or MPI_UNDEFINED. MPI 5.0 §7.3.1.
    fn Group_rank(group: Group, rank: Out<c_int>) [] => {
        rank.set(group.rank_or_undefined());
        Ok(())
    }

    /// The ranks in one group of members of another. MPI 5.0 §7.3.1.
    fn Group_translate_ranks(
        group1: Group, n: Count, ranks1: Array<c_int>, group2: Group, ranks2: OutArray<c_int>,
    ) [] => {
        // SAFETY: the array has `n` elements by the standard.
        let from = unsafe { array(ranks1, n, "ranks1")? };
        // SAFETY: as above.
        let to = unsafe { array_mut(ranks2, n, "ranks2")? };
        for (from, to) in from.iter().zip(to) {
            *to = match *from {
                PROC_NULL => PROC_NULL,
                rank => {
                    let member = usize::try_from(rank).ok().and_then(|rank| group1.members().get(rank)).ok_or_else(|| {
                        let why = format!("{rank} is not a rank of the group of {} processes", group1.size());
                        Fault::new(Class::Rank).argument("ranks1").because(why)
                    })?;
                    group2.rank_of(member).map_or(UNDEFINED, |rank| rank as c_int)
                }
            };
        }
        Ok(())
    }

    /// Whether two groups have the same members, in the same order. MPI 5.0 §7.3.1.
    fn Group_compare(group1: Group, group2: Group, result: Out<c_int>) [] => {
        result.set(group1.compare(&group2) as c_int);
        Ok(())
    }

    /// The group of a communicator. MPI 5.0 §7.3.2.
    fn Comm_group(comm: Comm, group: Out<usize>) [] => {
        group.set(group::insert(comm.group.clone()).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// The first group's members, then those of the second that are not among them. MPI 5.0 §7.3.2.
    fn Group_union(group1: Group, group2: Group, newgroup: Out<usize>) [] => {
        newgroup.set(group::insert(Arc::new(group1.union(&group2))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// Those members of the first group that are in the second. MPI 5.0 §7.3.2.
    fn Group_intersection(group1: Group, group2: Group, newgroup: Out<usize>) [] => {
        newgroup.set(group::insert(Arc::new(group1.intersection(&group2))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// Those members of the first group that are not in the second. MPI 5.0 §7.3.2.
    fn Group_difference(group1: Group, group2: Group, newgroup: Out<usize>) [] => {
        newgroup.set(group::insert(Arc::new(group1.difference(&group2))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// The listed members in the listed order. MPI 5.0 §7.3.2.
    fn Group_incl(group: Group, n: Count, ranks: Array<c_int>, newgroup: Out<usize>) [] => {
        // SAFETY: the array has `n` elements by the standard.
        let ranks = unsafe { array(ranks, n, "ranks")? };
        group.check(ranks, "ranks")?;
        newgroup.set(group::insert(Arc::new(group.incl(ranks))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// All but the listed members. MPI 5.0 §7.3.2.
    fn Group_excl(group: Group, n: Count, ranks: Array<c_int>, newgroup: Out<usize>) [] => {
        // SAFETY: the array has `n` elements by the standard.
        let ranks = unsafe { array(ranks, n, "ranks")? };
        group.check(ranks, "ranks")?;
        newgroup.set(group::insert(Arc::new(group.excl(ranks))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// The members in the listed ranges. MPI 5.0 §7.3.2.
    fn Group_range_incl(group: Group, n: Count, ranges: Array<[c_int; 3]>, newgroup: Out<usize>) [] => {
        // SAFETY: the array has `n` elements by the standard.
        let ranks = group.ranks_of(unsafe { array(ranges, n, "ranges")? })?;
        newgroup.set(group::insert(Arc::new(group.incl(&ranks))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// All but the members in the listed ranges. MPI 5.0 §7.3.2.
    fn Group_range_excl(group: Group, n: Count, ranges: Array<[c_int; 3]>, newgroup: Out<usize>) [] => {
        // SAFETY: the array has `n` elements by the standard.
        let ranks = group.ranks_of(unsafe { array(ranges, n, "ranges")? })?;
        newgroup.set(group::insert(Arc::new(group.excl(&ranks))).ok_or(Class::NoMem)?);
        Ok(())
    }

    /// Frees a group. MPI 5.0 §7.3.3.
    fn Group_free(group: Out<usize>) [] => {
        if !group::remove(group.get()) {
            let why = format!("{:#x} is not a valid group handle; it was freed or never created", group.get());
            return Err(Fault::new(Class::Group).argument("group").because(why));
        }
        group.set(group::NULL);
        Ok(())
    }
}
