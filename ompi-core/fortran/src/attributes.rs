//! Attributes: integers in Fortran, addresses in C. MPI 5.0 §7.7 and §19.3.7.
//!
//! What Fortran sets lies in a cell of ours, whose address is C's attribute: C reads the integer there, as the standard wants.
//! What C sets is no address of a cell, and Fortran gets the address itself. A key of Fortran's has our functions, which call the
//! program's and give cells back; a key of C's may lose a cell of eight bytes.

use crate::arguments::{Ierror, In, Int, NO_MEM, Out, Procedure, SUCCESS};
use crate::memory::Memory;
use core::ffi::c_void;

unsafe extern "C" {
    safe fn PMPI_Comm_create_keyval(copy: Copying, delete: Deleting, keyval: *mut Int, extra: *mut c_void) -> Int;
    safe fn PMPI_Type_create_keyval(copy: Copying, delete: Deleting, keyval: *mut Int, extra: *mut c_void) -> Int;
    safe fn PMPI_Win_create_keyval(copy: Copying, delete: Deleting, keyval: *mut Int, extra: *mut c_void) -> Int;
    safe fn PMPI_Comm_set_attr(handle: usize, keyval: Int, value: usize) -> Int;
    safe fn PMPI_Type_set_attr(handle: usize, keyval: Int, value: usize) -> Int;
    safe fn PMPI_Win_set_attr(handle: usize, keyval: Int, value: usize) -> Int;
    safe fn PMPI_Comm_get_attr(handle: usize, keyval: Int, value: *mut usize, flag: *mut Int) -> Int;
    safe fn PMPI_Type_get_attr(handle: usize, keyval: Int, value: *mut usize, flag: *mut Int) -> Int;
    safe fn PMPI_Win_get_attr(handle: usize, keyval: Int, value: *mut usize, flag: *mut Int) -> Int;
}

type Copying = extern "C" fn(usize, Int, *mut c_void, usize, *mut usize, *mut Int) -> Int;
type Deleting = extern "C" fn(usize, Int, usize, *mut c_void) -> Int;

/// What a key of Fortran's calls. It stays: an attribute may use it for as long as the process runs.
struct Key {
    copy: usize,
    delete: usize,
    extra: i64,
}

fn create(
    make: impl FnOnce(*mut Int, *mut c_void) -> Int,
    (copy, delete): (Procedure, Procedure),
    keyval: *mut Int,
    extra: i64,
    ierror: Ierror,
) {
    let Some(memory) = Memory::new(size_of::<Key>()) else { return ierror.set(NO_MEM) };
    let key = Key { copy: copy.address(), delete: delete.address(), extra };
    // SAFETY: malloc's memory is large enough and aligned for it.
    unsafe { memory.start().cast::<Key>().write(key) };
    let result = make(keyval, memory.start());
    if result == SUCCESS {
        memory.leave();
    }
    ierror.set(result);
}

/// Calls the program's copy function, whose integers have the kind `T`.
macro_rules! trampolines {
    ($copy:ident $delete:ident $kind:ty) => {
        extern "C" fn $copy(
            handle: usize,
            keyval: Int,
            key: *mut c_void,
            value: usize,
            new: *mut usize,
            flag: *mut Int,
        ) -> Int {
            // SAFETY: `create` passed this key.
            let key = unsafe { &*key.cast::<Key>() };
            let (handle, value, extra) = (handle as Int, cell::value(value) as $kind, key.extra as $kind);
            let (mut copied, mut wanted, mut error): ($kind, Int, Int) = (0, 0, SUCCESS);
            type Function = extern "C" fn(&Int, &Int, &$kind, &$kind, &mut $kind, &mut Int, &mut Int);
            // SAFETY: a procedure with this interface, by the standard.
            let function = unsafe { core::mem::transmute::<usize, Function>(key.copy) };
            function(&handle, &keyval, &extra, &value, &mut copied, &mut wanted, &mut error);
            if error == SUCCESS && wanted != 0 {
                match cell::keep(i64::from(copied)) {
                    Some(place) => Out(new).set(place),
                    None => return NO_MEM,
                }
            }
            Out(flag).set(Int::from(wanted != 0));
            error
        }

        extern "C" fn $delete(handle: usize, keyval: Int, value: usize, key: *mut c_void) -> Int {
            // SAFETY: `create` passed this key.
            let key = unsafe { &*key.cast::<Key>() };
            let (handle, extra, mut error) = (handle as Int, key.extra as $kind, SUCCESS);
            let content = cell::value(value) as $kind;
            type Function = extern "C" fn(&Int, &Int, &$kind, &$kind, &mut Int);
            // SAFETY: a procedure with this interface, by the standard.
            let function = unsafe { core::mem::transmute::<usize, Function>(key.delete) };
            function(&handle, &keyval, &content, &extra, &mut error);
            if error == SUCCESS {
                cell::give_back(value);
            }
            error
        }
    };
}

trampolines! { copy_address delete_address i64 }
trampolines! { copy_integer delete_integer i32 }

macro_rules! of_object {
    ($create:ident $create_c:ident $set:ident $set_c:ident $get:ident $get_c:ident) => {
        #[unsafe(no_mangle)]
        extern "C" fn $create(copy: Procedure, delete: Procedure, keyval: *mut Int, extra: In<i64>, ierror: Ierror) {
            let make = |keyval, extra| $create_c(copy_address, delete_address, keyval, extra);
            create(make, (copy, delete), keyval, extra.get(), ierror);
        }

        #[unsafe(no_mangle)]
        extern "C" fn $set(handle: In<Int>, keyval: In<Int>, value: In<i64>, ierror: Ierror) {
            ierror.set(set(|place| $set_c(handle.handle(), keyval.get(), place), value.get()));
        }

        #[unsafe(no_mangle)]
        extern "C" fn $get(handle: In<Int>, keyval: In<Int>, value: Out<i64>, flag: Out<Int>, ierror: Ierror) {
            let mut found = 0;
            let result = $get_c(handle.handle(), keyval.get(), &raw mut found, flag.0);
            if result == SUCCESS && flag.get() != 0 {
                value.set(read(keyval.get(), found));
            }
            ierror.set(result);
        }
    };
}

of_object! { pmpi_comm_create_keyval_ PMPI_Comm_create_keyval pmpi_comm_set_attr_ PMPI_Comm_set_attr pmpi_comm_get_attr_ PMPI_Comm_get_attr }
of_object! { pmpi_type_create_keyval_ PMPI_Type_create_keyval pmpi_type_set_attr_ PMPI_Type_set_attr pmpi_type_get_attr_ PMPI_Type_get_attr }
of_object! { pmpi_win_create_keyval_ PMPI_Win_create_keyval pmpi_win_set_attr_ PMPI_Win_set_attr pmpi_win_get_attr_ PMPI_Win_get_attr }

/// With integers of the default kind, as in MPI 1: MPI 5.0 §16.1.
#[unsafe(no_mangle)]
extern "C" fn pmpi_keyval_create_(
    copy: Procedure,
    delete: Procedure,
    keyval: *mut Int,
    extra: In<Int>,
    ierror: Ierror,
) {
    let make = |keyval, extra| PMPI_Comm_create_keyval(copy_integer, delete_integer, keyval, extra);
    create(make, (copy, delete), keyval, i64::from(extra.get()), ierror);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_attr_put_(comm: In<Int>, keyval: In<Int>, value: In<Int>, ierror: Ierror) {
    ierror.set(set(|place| PMPI_Comm_set_attr(comm.handle(), keyval.get(), place), i64::from(value.get())));
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_attr_get_(comm: In<Int>, keyval: In<Int>, value: Out<Int>, flag: Out<Int>, ierror: Ierror) {
    let mut found = 0;
    let result = PMPI_Comm_get_attr(comm.handle(), keyval.get(), &raw mut found, flag.0);
    if result == SUCCESS && flag.get() != 0 {
        value.set(read(keyval.get(), found) as Int);
    }
    ierror.set(result);
}

fn set(call: impl FnOnce(usize) -> Int, value: i64) -> Int {
    let Some(place) = cell::keep(value) else { return NO_MEM };
    let result = call(place);
    if result != SUCCESS {
        cell::give_back(place);
    }
    result
}

/// C gets the address of what the library knows; Fortran gets that itself: MPI 5.0 §7.7.4 and §12.2.6.
fn read(keyval: Int, found: usize) -> i64 {
    match keyval {
        501..=507 | 602 | 604 | 605 => i64::from(Out(found as *mut Int).get()),
        603 => Out(found as *mut i64).get(),
        601 => found as i64,
        _ => cell::value(found),
    }
}

mod cell {
    //! The cells, in chunks that stay.

    use crate::memory::Memory;
    use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    const CELLS: usize = 508;

    struct Chunk {
        next: *mut Chunk,
        used: [bool; CELLS],
        values: [i64; CELLS],
    }

    static LOCK: AtomicBool = AtomicBool::new(false);
    static FIRST: AtomicPtr<Chunk> = AtomicPtr::new(core::ptr::null_mut());

    /// Holds the lock: attributes are seldom, and nothing is called while it is held.
    struct Held;

    impl Held {
        fn take() -> Held {
            // Acquire pairs with the release in `drop`.
            while LOCK.swap(true, Ordering::Acquire) {
                core::hint::spin_loop();
            }
            Held
        }

        /// The chunk and the number of the cell at this address, if it is one.
        fn find(&self, address: usize) -> Option<(*mut Chunk, usize)> {
            // Relaxed: the lock orders it.
            let mut chunk = FIRST.load(Ordering::Relaxed);
            while !chunk.is_null() {
                // SAFETY: chunks stay, and the lock is held.
                let first = unsafe { &raw const (*chunk).values } as usize;
                let distance = address.wrapping_sub(first);
                if distance < CELLS * size_of::<i64>() && distance.is_multiple_of(size_of::<i64>()) {
                    return Some((chunk, distance / size_of::<i64>()));
                }
                // SAFETY: as before.
                chunk = unsafe { (*chunk).next };
            }
            None
        }

        /// A cell that is free; nothing where there is no memory for more.
        fn free(&self) -> Option<(*mut Chunk, usize)> {
            let first = FIRST.load(Ordering::Relaxed);
            let mut chunk = first;
            while !chunk.is_null() {
                // SAFETY: chunks stay, and the lock is held.
                let used = unsafe { &(*chunk).used };
                if let Some(at) = used.iter().position(|used| !used) {
                    return Some((chunk, at));
                }
                // SAFETY: as before.
                chunk = unsafe { (*chunk).next };
            }
            let chunk: *mut Chunk = Memory::new(size_of::<Chunk>())?.leave().cast();
            // SAFETY: malloc's memory is large enough and aligned for it.
            unsafe { chunk.write(Chunk { next: first, used: [false; CELLS], values: [0; CELLS] }) };
            FIRST.store(chunk, Ordering::Relaxed);
            Some((chunk, 0))
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            // Release pairs with the acquire in `take`.
            LOCK.store(false, Ordering::Release);
        }
    }

    /// The address of a cell with this value.
    pub fn keep(value: i64) -> Option<usize> {
        let held = Held::take();
        let (chunk, at) = held.free()?;
        // SAFETY: the cell is free, and the lock is held.
        unsafe { (*chunk).used[at] = true };
        // SAFETY: as before.
        unsafe { (*chunk).values[at] = value };
        // SAFETY: as before.
        Some(unsafe { &raw const (*chunk).values[at] } as usize)
    }

    /// What Fortran sees of an attribute.
    pub fn value(address: usize) -> i64 {
        match Held::take().find(address) {
            // SAFETY: chunks stay; a cell in use is not written.
            Some((chunk, at)) => unsafe { (*chunk).values[at] },
            None => address as i64,
        }
    }

    /// The attribute is gone.
    pub fn give_back(address: usize) {
        let held = Held::take();
        if let Some((chunk, at)) = held.find(address) {
            // SAFETY: chunks stay, and the lock is held.
            unsafe { (*chunk).used[at] = false };
        }
    }
}

macro_rules! predefined {
    ($kind:ty: $($null_copy:ident $dup:ident $null_delete:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $null_copy(
                _: &Int, _: &Int, _: &$kind, _: &$kind, _: &mut $kind, flag: &mut Int, ierror: &mut Int,
            ) {
                (*flag, *ierror) = (0, SUCCESS);
            }

            #[unsafe(no_mangle)]
            extern "C" fn $dup(
                _: &Int, _: &Int, _: &$kind, value: &$kind, new: &mut $kind, flag: &mut Int, ierror: &mut Int,
            ) {
                (*new, *flag, *ierror) = (*value, 1, SUCCESS);
            }

            #[unsafe(no_mangle)]
            extern "C" fn $null_delete(_: &Int, _: &Int, _: &$kind, _: &$kind, ierror: &mut Int) {
                *ierror = SUCCESS;
            }
        )*
    };
}

predefined! { i64:
    mpi_comm_null_copy_fn_ mpi_comm_dup_fn_ mpi_comm_null_delete_fn_
    mpi_type_null_copy_fn_ mpi_type_dup_fn_ mpi_type_null_delete_fn_
    mpi_win_null_copy_fn_ mpi_win_dup_fn_ mpi_win_null_delete_fn_
}
predefined! { i32: mpi_null_copy_fn_ mpi_dup_fn_ mpi_null_delete_fn_ }

plain_names! {
    comm_create_keyval type_create_keyval win_create_keyval comm_set_attr type_set_attr win_set_attr comm_get_attr type_get_attr
    win_get_attr keyval_create attr_put attr_get
}
f08_names! {
    comm_create_keyval type_create_keyval win_create_keyval comm_set_attr type_set_attr win_set_attr comm_get_attr type_get_attr
    win_get_attr
}

routines! {
    pmpi_keyval_create_ = "MPI_Keyval_create(copy_fn, delete_fn, keyval, extra_state, ierror)"
    pmpi_attr_put_ = "MPI_Attr_put(comm, keyval, attribute_val, ierror)"
    pmpi_attr_get_ = "MPI_Attr_get(comm, keyval, attribute_val, flag, ierror)"
}
