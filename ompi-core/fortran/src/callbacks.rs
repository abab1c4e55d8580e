//! Procedures of the program that C calls with values where Fortran wants addresses: generalized requests (MPI 5.0 §13.2) and data
//! representations (§14.5.3). Operations and error handlers need nothing in between.

use crate::arguments::{Handle, Ierror, Int, NO_MEM, Out, Procedure, SUCCESS, Text};
use crate::memory::Memory;
use core::ffi::c_void;

unsafe extern "C" {
    safe fn PMPI_Grequest_start(
        query: Query,
        free: Free,
        cancel: Cancel,
        extra: *mut c_void,
        request: *mut usize,
    ) -> Int;
    safe fn PMPI_Register_datarep(
        datarep: usize,
        read: Option<Convert>,
        write: Option<Convert>,
        extent: Extent,
        extra: *mut c_void,
    ) -> Int;
    safe fn PMPI_Register_datarep_c(
        datarep: usize,
        read: Option<ConvertLarge>,
        write: Option<ConvertLarge>,
        extent: Extent,
        extra: *mut c_void,
    ) -> Int;
}

type Query = extern "C" fn(*mut c_void, usize) -> Int;
type Free = extern "C" fn(*mut c_void) -> Int;
type Cancel = extern "C" fn(*mut c_void, Int) -> Int;
type Extent = extern "C" fn(usize, *mut i64, *mut c_void) -> Int;
type Convert = extern "C" fn(usize, usize, Int, usize, i64, *mut c_void) -> Int;
type ConvertLarge = extern "C" fn(usize, usize, i64, usize, i64, *mut c_void) -> Int;

/// What C hands back to each function: three procedures and the program's own state.
struct State {
    functions: [usize; 3],
    extra: i64,
    /// The program's variable, which follows what its procedures make of the state; the procedures get the value that it had.
    variable: Out<i64>,
}

impl State {
    fn keep(functions: [Procedure; 3], variable: Out<i64>) -> Option<Memory> {
        let memory = Memory::new(size_of::<State>())?;
        let state = State { functions: functions.map(Procedure::address), extra: variable.get(), variable };
        // SAFETY: malloc's memory is large enough and aligned for it.
        unsafe { memory.start().cast::<State>().write(state) };
        Some(memory)
    }

    /// From what C handed back.
    fn of<'a>(extra: *mut c_void) -> &'a State {
        // SAFETY: a shim below passed it, and it is there until the function that frees the request.
        unsafe { &*extra.cast::<State>() }
    }
}

/// Calls a procedure of a request with the state, which it may change.
fn with_state(extra: *mut c_void, call: impl FnOnce(&State, &mut i64) -> Int) -> Int {
    let state = State::of(extra);
    let mut value = state.extra;
    let error = call(state, &mut value);
    if value != state.extra {
        state.variable.set(value);
        // SAFETY: `keep` made it, so the place is in bounds.
        let place = unsafe { &raw mut (*extra.cast::<State>()).extra };
        // SAFETY: MPI calls one procedure of a request at a time, and nothing reads the state until the next one.
        unsafe { place.write(value) };
    }
    error
}

/// Calls the procedure of this number with these arguments and an error behind them.
macro_rules! call {
    ($state:expr, $number:expr, ($($kind:ty: $value:expr),*)) => {{
        let mut error = SUCCESS;
        // SAFETY: a procedure with this interface, by the standard.
        let function = unsafe {
            core::mem::transmute::<usize, extern "C" fn($($kind),*, &mut Int)>($state.functions[$number])
        };
        function($($value),*, &mut error);
        error
    }};
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_grequest_start_(
    query: Procedure,
    free: Procedure,
    cancel: Procedure,
    extra: Out<i64>,
    request: Handle,
    ierror: Ierror,
) {
    let Some(state) = State::keep([query, free, cancel], extra) else { return ierror.set(NO_MEM) };
    let mut request_c = request.load();
    let result = PMPI_Grequest_start(query_request, free_request, cancel_request, state.start(), &raw mut request_c);
    if result == SUCCESS {
        state.leave();
    }
    request.store(request_c);
    ierror.set(result);
}

extern "C" fn query_request(extra: *mut c_void, status: usize) -> Int {
    with_state(extra, |state, value| call!(state, 0, (&mut i64: value, usize: status)))
}

extern "C" fn free_request(extra: *mut c_void) -> Int {
    let error = with_state(extra, |state, value| call!(state, 1, (&mut i64: value)));
    // SAFETY: the request ends with this call, and it left this memory.
    drop(unsafe { Memory::take(extra) });
    error
}

extern "C" fn cancel_request(extra: *mut c_void, complete: Int) -> Int {
    with_state(extra, |state, value| call!(state, 2, (&mut i64: value, &Int: &complete)))
}

extern "C" fn extent(datatype: usize, extent: *mut i64, extra: *mut c_void) -> Int {
    let state = State::of(extra);
    call!(state, 2, (&Int: &(datatype as Int), *mut i64: extent, &i64: &state.extra))
}

macro_rules! conversions {
    ($($name:ident $number:literal $count:ty)*) => {
        $(
            extern "C" fn $name(user: usize, datatype: usize, count: $count, file: usize, position: i64, extra: *mut c_void) -> Int {
                let state = State::of(extra);
                call!(state, $number, (usize: user, &Int: &(datatype as Int), &$count: &count, usize: file, &i64: &position,
                    &i64: &state.extra))
            }
        )*
    };
}

conversions! { read_small 0 Int write_small 1 Int read_large 0 i64 write_large 1 i64 }

macro_rules! register {
    ($name:ident $c:ident $read:ident $write:ident) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            datarep: Text,
            read: Procedure,
            write: Procedure,
            extent_fn: Procedure,
            extra: Out<i64>,
            ierror: Ierror,
            datarep_len: usize,
        ) {
            let Some(datarep_c) = datarep.trimmed(datarep_len) else { return ierror.set(NO_MEM) };
            let Some(state) = State::keep([read, write, extent_fn], extra) else { return ierror.set(NO_MEM) };
            let result = $c(
                datarep_c.address(),
                (!is_null(read)).then_some($read),
                (!is_null(write)).then_some($write),
                extent,
                state.start(),
            );
            // A representation stays until MPI_Finalize.
            if result == SUCCESS {
                state.leave();
            }
            ierror.set(result);
        }
    };
}

register! { pmpi_register_datarep_ PMPI_Register_datarep read_small write_small }
register! { pmpi_register_datarep_c_ PMPI_Register_datarep_c read_large write_large }

/// MPI_CONVERSION_FN_NULL: a name that programs pass and nobody calls.
#[unsafe(no_mangle)]
extern "C" fn mpi_conversion_fn_null_() {}

alias! { "mpi_conversion_fn_null_c_", "mpi_conversion_fn_null_" }

fn is_null(procedure: Procedure) -> bool {
    procedure.address() == mpi_conversion_fn_null_ as *const () as usize
}

plain_names! { grequest_start register_datarep }
f08_names! { grequest_start register_datarep register_datarep_c }

routines! {
    pmpi_grequest_start_ = "MPI_Grequest_start(query_fn, free_fn, cancel_fn, extra_state, request, ierror)"
}
