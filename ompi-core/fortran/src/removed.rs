//! Routines that MPI 3.0 removed (MPI 5.0 §17), for programs that still call them: over those that replaced them, with addresses and
//! displacements of default kind, as MPI 1.1 §3.12 has it. What does not fit in an INTEGER is refused, never cut.
//!
//! Neither module has an interface of them; mpif.h and module mpi have their constants.

use crate::arguments::{Buffer, Handle, Handles, Ierror, In, Int, List, NO_MEM, On, Out, Procedure, Refusal, SUCCESS};

unsafe extern "C" {
    safe fn PMPI_Get_address(location: usize, address: *mut i64) -> Int;
    safe fn PMPI_Type_get_extent(datatype: usize, lb: *mut i64, extent: *mut i64) -> Int;
    safe fn PMPI_Type_create_hvector(count: Int, length: Int, stride: i64, old: usize, new: *mut usize) -> Int;
    safe fn PMPI_Type_create_hindexed(n: Int, lengths: *const Int, at: *const i64, old: usize, new: *mut usize) -> Int;
    safe fn PMPI_Type_create_struct(
        n: Int,
        lengths: *const Int,
        at: *const i64,
        types: *mut usize,
        new: *mut usize,
    ) -> Int;
    safe fn PMPI_Comm_create_errhandler(function: usize, errhandler: *mut usize) -> Int;
    safe fn PMPI_Comm_get_errhandler(comm: usize, errhandler: *mut usize) -> Int;
    safe fn PMPI_Comm_set_errhandler(comm: usize, errhandler: usize) -> Int;
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_address_(location: Buffer, address: Out<Int>, ierror: Ierror) {
    let mut whole = 0;
    let result = PMPI_Get_address(location.address(), &raw mut whole);
    narrow(result, whole, address, "address", ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_type_extent_(datatype: In<Int>, extent: Out<Int>, ierror: Ierror) {
    let (result, [_, whole]) = bounds(datatype);
    narrow(result, whole, extent, "extent", ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_type_lb_(datatype: In<Int>, displacement: Out<Int>, ierror: Ierror) {
    let (result, [lb, _]) = bounds(datatype);
    narrow(result, lb, displacement, "displacement", ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_type_ub_(datatype: In<Int>, displacement: Out<Int>, ierror: Ierror) {
    let (result, [lb, extent]) = bounds(datatype);
    narrow(result, lb.wrapping_add(extent), displacement, "displacement", ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_type_hvector_(
    count: In<Int>,
    blocklength: In<Int>,
    stride: In<Int>,
    oldtype: In<Int>,
    newtype: Handle,
    ierror: Ierror,
) {
    let stride = i64::from(stride.get());
    let make = |new| PMPI_Type_create_hvector(count.get(), blocklength.get(), stride, oldtype.handle(), new);
    created(newtype, make, ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_type_hindexed_(
    count: In<Int>,
    array_of_blocklengths: *const Int,
    array_of_displacements: *const Int,
    oldtype: In<Int>,
    newtype: Handle,
    ierror: Ierror,
) {
    let Some(mut at) = widened(array_of_displacements, count.length()) else { return ierror.set(NO_MEM) };
    let make =
        |new| PMPI_Type_create_hindexed(count.get(), array_of_blocklengths, at.pointer().cast(), oldtype.handle(), new);
    created(newtype, make, ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_type_struct_(
    count: In<Int>,
    array_of_blocklengths: *const Int,
    array_of_displacements: *const Int,
    array_of_types: Handles,
    newtype: Handle,
    ierror: Ierror,
) {
    let Some(mut at) = widened(array_of_displacements, count.length()) else { return ierror.set(NO_MEM) };
    let Some(mut types) = array_of_types.load(count.length()) else { return ierror.set(NO_MEM) };
    let make =
        |new| PMPI_Type_create_struct(count.get(), array_of_blocklengths, at.pointer().cast(), types.pointer(), new);
    created(newtype, make, ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_errhandler_create_(function: Procedure, errhandler: Handle, ierror: Ierror) {
    created(errhandler, |new| PMPI_Comm_create_errhandler(function.address(), new), ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_errhandler_get_(comm: In<Int>, errhandler: Handle, ierror: Ierror) {
    created(errhandler, |new| PMPI_Comm_get_errhandler(comm.handle(), new), ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_errhandler_set_(comm: In<Int>, errhandler: In<Int>, ierror: Ierror) {
    ierror.set(PMPI_Comm_set_errhandler(comm.handle(), errhandler.handle()));
}

/// Lower bound and extent.
fn bounds(datatype: In<Int>) -> (Int, [i64; 2]) {
    let (mut lb, mut extent) = (0, 0);
    let result = PMPI_Type_get_extent(datatype.handle(), &raw mut lb, &raw mut extent);
    (result, [lb, extent])
}

fn narrow(result: Int, whole: i64, place: Out<Int>, argument: &'static str, ierror: Ierror) {
    ierror.set(match (result, Int::try_from(whole)) {
        (SUCCESS, Ok(value)) => {
            place.set(value);
            SUCCESS
        }
        (SUCCESS, Err(_)) => Refusal::TooWide.raise(On::Nothing, argument),
        (error, _) => error,
    });
}

/// As C has them; nothing where there is no memory for them.
fn widened(displacements: *const Int, count: usize) -> Option<List> {
    let mut list = List::new(count)?;
    for (at, place) in list.slice().iter_mut().enumerate() {
        *place = In::at(displacements.wrapping_add(at)).get() as usize;
    }
    Some(list)
}

fn created(place: Handle, make: impl FnOnce(*mut usize) -> Int, ierror: Ierror) {
    let mut handle = place.load();
    let result = make(&raw mut handle);
    place.store(handle);
    ierror.set(result);
}

plain_names! {
    address type_extent type_lb type_ub type_hvector type_hindexed type_struct errhandler_create errhandler_get errhandler_set
}

routines! {
    pmpi_address_ = "MPI_Address(location, address, ierror)"
    pmpi_type_extent_ = "MPI_Type_extent(datatype, extent, ierror)"
    pmpi_type_lb_ = "MPI_Type_lb(datatype, displacement, ierror)"
    pmpi_type_ub_ = "MPI_Type_ub(datatype, displacement, ierror)"
}
