//! What a datatype is: sizes, bounds, construction, name. MPI 5.0 §5.1 and §7.8.

use super::kinds::{Aint, ConstBuffer, Datatype, LargeCount, Out, OutArray, OutCount, Raw, Text};
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
    ) [] => unsupported

    /// As MPI_Type_get_envelope for constructors with large counts. MPI 5.0 §5.1.13.
    fn Type_get_envelope_c(
        datatype: Datatype, num_integers: Out<LargeCount>, num_addresses: Out<LargeCount>,
        num_large_counts: Out<LargeCount>, num_datatypes: Out<LargeCount>, combiner: Out<c_int>,
    ) [] => unsupported

    /// The arguments with which a datatype was made. MPI 5.0 §5.1.13.
    fn Type_get_contents(
        datatype: Datatype, max_integers: Raw<c_int>, max_addresses: Raw<c_int>, max_datatypes: Raw<c_int>,
        array_of_integers: OutArray<c_int>, array_of_addresses: OutArray<Aint>, array_of_datatypes: OutArray<usize>,
    ) [] => unsupported

    /// As MPI_Type_get_contents for constructors with large counts. MPI 5.0 §5.1.13.
    fn Type_get_contents_c(
        datatype: Datatype, max_integers: Raw<LargeCount>, max_addresses: Raw<LargeCount>,
        max_large_counts: Raw<LargeCount>, max_datatypes: Raw<LargeCount>, array_of_integers: OutArray<c_int>,
        array_of_addresses: OutArray<Aint>, array_of_large_counts: OutArray<LargeCount>,
        array_of_datatypes: OutArray<usize>,
    ) [] => unsupported

    /// The pair type of a value type and an index type. MPI 5.0 §5.1.2.
    fn Type_get_value_index(value_type: Datatype, index_type: Datatype, pair_type: Out<usize>) [] => unsupported

    /// The name of a datatype. MPI 5.0 §7.8.
    fn Type_get_name(datatype: Datatype, type_name: Out<c_char>, resultlen: Out<c_int>) [] => unsupported

    /// Names a datatype. MPI 5.0 §7.8.
    fn Type_set_name(datatype: Datatype, type_name: Text) [] => unsupported
}
