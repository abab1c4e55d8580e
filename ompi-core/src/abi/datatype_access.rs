//! What a datatype is: sizes, bounds, construction, name. MPI 5.0 §5.1 and §7.8.

use super::kinds::{
    Aint, ConstBuffer, Datatype, LargeCount, NamedType, Out, OutArray, OutCount, Raw, Text, array_mut, give_text,
};
use crate::datatype::{self, Contents, Datatype as Type};
use crate::error::{Class, Fault, Result};
use alloc::format;
use alloc::vec::Vec;
use core::ffi::{c_char, c_int};

rows! {
    /// The address of a location. MPI 5.0 §5.1.5.
    fn Get_address(location: ConstBuffer, address: Out<Aint>) [] => {
        address.set(location as Aint);
        Ok(())
    }

    /// Sum of an address and a displacement. MPI 5.0 §5.1.5.
    fn Aint_add(base: Aint, disp: Aint) -> Aint => {
        base.wrapping_add(disp)
    }

    /// Difference of two addresses. MPI 5.0 §5.1.5.
    fn Aint_diff(addr1: Aint, addr2: Aint) -> Aint => {
        addr1.wrapping_sub(addr2)
    }

    /// Bytes of data in one element. MPI 5.0 §5.1.5.
    fn Type_size(datatype: Datatype, size: OutCount) [large] => {
        size.set(datatype.layout.size() as i64);
        Ok(())
    }

    /// Bytes of data in one element, as MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Type_size_x(datatype: Datatype, size: Out<LargeCount>) [] => {
        size.set(datatype.layout.size() as i64);
        Ok(())
    }

    /// Lower bound and extent. MPI 5.0 §5.1.7.
    fn Type_get_extent(datatype: Datatype, lb: Out<Aint>, extent: Out<Aint>) [large] => {
        lb.set(datatype.layout.lb() as i64);
        extent.set(datatype.layout.extent() as i64);
        Ok(())
    }

    /// Lower bound and extent, as MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Type_get_extent_x(datatype: Datatype, lb: Out<LargeCount>, extent: Out<LargeCount>) [] => {
        lb.set(datatype.layout.lb() as i64);
        extent.set(datatype.layout.extent() as i64);
        Ok(())
    }

    /// Where the data begins and how far it spans. MPI 5.0 §5.1.8.
    fn Type_get_true_extent(datatype: Datatype, true_lb: Out<Aint>, true_extent: Out<Aint>) [large] => {
        true_lb.set(datatype.layout.true_lb() as i64);
        true_extent.set(datatype.layout.true_extent() as i64);
        Ok(())
    }

    /// Where the data begins and how far it spans, as MPI_Count. Deprecated. MPI 5.0 §16.4.
    fn Type_get_true_extent_x(datatype: Datatype, true_lb: Out<LargeCount>, true_extent: Out<LargeCount>) [] => {
        true_lb.set(datatype.layout.true_lb() as i64);
        true_extent.set(datatype.layout.true_extent() as i64);
        Ok(())
    }

    /// How a datatype was made and how many arguments that took. MPI 5.0 §5.1.13.
    fn Type_get_envelope(
        datatype: Datatype, num_integers: Out<c_int>, num_addresses: Out<c_int>, num_datatypes: Out<c_int>,
        combiner: Out<c_int>,
    ) [] => {
        let made = datatype.contents();
        if !made.counts.is_empty() {
            let why = "it was made with large counts; call MPI_Type_get_envelope_c";
            return Err(Fault::new(Class::Type).argument("datatype").because(why));
        }
        num_integers.set(made.integers.len() as c_int);
        num_addresses.set(made.addresses.len() as c_int);
        num_datatypes.set(made.datatypes.len() as c_int);
        combiner.set(datatype.combiner);
        Ok(())
    }

    /// As MPI_Type_get_envelope for constructors with large counts. MPI 5.0 §5.1.13.
    fn Type_get_envelope_c(
        datatype: Datatype, num_integers: Out<LargeCount>, num_addresses: Out<LargeCount>,
        num_large_counts: Out<LargeCount>, num_datatypes: Out<LargeCount>, combiner: Out<c_int>,
    ) [] => {
        let made = datatype.contents();
        num_integers.set(made.integers.len() as LargeCount);
        num_addresses.set(made.addresses.len() as LargeCount);
        num_large_counts.set(made.counts.len() as LargeCount);
        num_datatypes.set(made.datatypes.len() as LargeCount);
        combiner.set(datatype.combiner);
        Ok(())
    }

    /// The arguments with which a datatype was made. MPI 5.0 §5.1.13.
    fn Type_get_contents(
        datatype: Datatype, max_integers: Raw<c_int>, max_addresses: Raw<c_int>, max_datatypes: Raw<c_int>,
        array_of_integers: OutArray<c_int>, array_of_addresses: OutArray<Aint>, array_of_datatypes: OutArray<usize>,
    ) [] => {
        let made = made(datatype)?;
        if !made.counts.is_empty() {
            let why = "it was made with large counts; call MPI_Type_get_contents_c";
            return Err(Fault::new(Class::Type).argument("datatype").because(why));
        }
        // SAFETY: the arrays have room for that many elements by the standard.
        unsafe { give(&made.integers, array_of_integers, max_integers.into(), ["max_integers", "array_of_integers"])? };
        let addresses: Vec<Aint> = made.addresses.iter().map(|address| *address as Aint).collect();
        // SAFETY: as above.
        unsafe { give(&addresses, array_of_addresses, max_addresses.into(), ["max_addresses", "array_of_addresses"])? };
        room(made.datatypes.len(), max_datatypes.into(), "max_datatypes")?;
        there(&made.datatypes, array_of_datatypes, "array_of_datatypes")?;
        let handles: Result<Vec<usize>> = made.datatypes.iter().map(|datatype| datatype::register(datatype.clone())).collect();
        // SAFETY: as above.
        unsafe { give(&handles?, array_of_datatypes, max_datatypes.into(), ["max_datatypes", "array_of_datatypes"]) }
    }

    /// As MPI_Type_get_contents for constructors with large counts. MPI 5.0 §5.1.13.
    fn Type_get_contents_c(
        datatype: Datatype, max_integers: Raw<LargeCount>, max_addresses: Raw<LargeCount>,
        max_large_counts: Raw<LargeCount>, max_datatypes: Raw<LargeCount>, array_of_integers: OutArray<c_int>,
        array_of_addresses: OutArray<Aint>, array_of_large_counts: OutArray<LargeCount>,
        array_of_datatypes: OutArray<usize>,
    ) [] => {
        let made = made(datatype)?;
        // SAFETY: the arrays have room for that many elements by the standard.
        unsafe { give(&made.integers, array_of_integers, max_integers, ["max_integers", "array_of_integers"])? };
        // SAFETY: as above.
        unsafe { give(&made.counts, array_of_large_counts, max_large_counts, ["max_large_counts", "array_of_large_counts"])? };
        let addresses: Vec<Aint> = made.addresses.iter().map(|address| *address as Aint).collect();
        // SAFETY: as above.
        unsafe { give(&addresses, array_of_addresses, max_addresses, ["max_addresses", "array_of_addresses"])? };
        room(made.datatypes.len(), max_datatypes, "max_datatypes")?;
        there(&made.datatypes, array_of_datatypes, "array_of_datatypes")?;
        let handles: Result<Vec<usize>> = made.datatypes.iter().map(|datatype| datatype::register(datatype.clone())).collect();
        // SAFETY: as above.
        unsafe { give(&handles?, array_of_datatypes, max_datatypes, ["max_datatypes", "array_of_datatypes"]) }
    }

    /// The pair type of a value type and an index type. MPI 5.0 §5.1.2.
    fn Type_get_value_index(value_type: Datatype, index_type: Datatype, pair_type: Out<usize>) [] => {
        pair_type.set(datatype::value_index(value_type, index_type));
        Ok(())
    }

    /// The name of a datatype. MPI 5.0 §7.8.
    fn Type_get_name(datatype: NamedType, type_name: Out<c_char>, resultlen: Out<c_int>) [] => {
        let name = datatype.map_or("MPI_DATATYPE_NULL".into(), |datatype| datatype.name());
        // SAFETY: the standard asks for room of MPI_MAX_OBJECT_NAME characters.
        unsafe { give_text(&name, type_name, MAX_OBJECT_NAME, Some(resultlen)) };
        Ok(())
    }

    /// Names a datatype. MPI 5.0 §7.8.
    fn Type_set_name(datatype: Datatype, type_name: Text) [] => {
        let mut name = type_name.to_string_lossy().into_owned();
        name.truncate(name.floor_char_boundary(MAX_OBJECT_NAME - 1));
        datatype.set_name(name);
        Ok(())
    }
}

/// MPI_MAX_OBJECT_NAME.
const MAX_OBJECT_NAME: usize = 128;

/// How a derived datatype was made; named ones were not.
fn made(datatype: &Type) -> Result<&Contents> {
    match datatype.combiner {
        datatype::COMBINER_NAMED => {
            let why = "a predefined datatype has no contents: no call created it";
            Err(Fault::new(Class::Type).argument("datatype").because(why))
        }
        _ => Ok(datatype.contents()),
    }
}

/// Copies an array to the user's.
///
/// # Safety
/// There is room for `max` elements at `to`.
unsafe fn give<T: Copy + 'static>(from: &[T], to: *mut T, max: LargeCount, names: [&'static str; 2]) -> Result<()> {
    let [max_name, name] = names;
    room(from.len(), max, max_name)?;
    // SAFETY: `from` is not longer than `max`.
    let to = unsafe { array_mut(to, from.len(), name)? };
    to.copy_from_slice(from);
    Ok(())
}

/// Before handles are made for an array, so that none is lost.
fn there<T, U>(from: &[T], to: *mut U, argument: &'static str) -> Result<()> {
    match to.is_null() && !from.is_empty() {
        false => Ok(()),
        true => Err(Fault::new(Class::Arg).argument(argument).because("the array is a null pointer")),
    }
}

fn room(needed: usize, max: LargeCount, argument: &'static str) -> Result<()> {
    match needed as LargeCount <= max {
        true => Ok(()),
        false => Err(Fault::new(Class::Arg)
            .argument(argument)
            .because(format!("there is room for {max} entries, but {needed} are needed"))),
    }
}
