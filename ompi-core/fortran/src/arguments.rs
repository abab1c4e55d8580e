//! What Fortran passes: addresses of everything, and the lengths of texts behind the error.
//!
//! By the standard the program passes what the interface says; each type here stands for one such promise.

pub use crate::copied::Copied;
pub use crate::memory::{List, Terminated};
pub use crate::peers::{destinations, members, peers, sources};
pub use crate::pending::Use;
pub(crate) use crate::reach;
pub use crate::refusal::{On, Refusal};
pub use crate::requests::{Request, Requests, look, look_at, ready_list};
pub use crate::section::{Section, TextSection};

/// INTEGER, and C's int.
pub type Int = i32;

/// MPI_SUCCESS.
pub const SUCCESS: Int = 0;
/// MPI_ERR_NO_MEM.
pub const NO_MEM: Int = 39;
/// A value that no call leaves.
pub const UNWRITTEN: Int = Int::MIN;

/// The lengths that C's texts may have.
pub const MAX_DATAREP_STRING: usize = 128;
/// See above.
pub const MAX_ERROR_STRING: usize = 512;
/// See above.
pub const MAX_OBJECT_NAME: usize = 128;
/// See above.
pub const MAX_PROCESSOR_NAME: usize = 256;
/// See above.
pub const MAX_LIBRARY_VERSION_STRING: usize = 8192;
/// See above.
pub const MAX_INFO_KEY: usize = 256;
/// See above.
pub const MAX_PORT_NAME: usize = 1024;

/// A scalar that the procedure reads.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Its value.
    #[inline]
    pub fn get(self) -> T {
        // SAFETY: the address of a scalar of this type, by the interface.
        unsafe { self.0.read_unaligned() }
    }

    /// Of a value of ours.
    pub fn of(value: &T) -> In<T> {
        In(value)
    }

    /// Of an element of an array.
    pub fn at(place: *const T) -> In<T> {
        In(place)
    }
}

impl In<Int> {
    /// As a handle of C.
    #[inline]
    pub fn handle(self) -> usize {
        to_c(self.get())
    }

    /// As the length of an array.
    #[inline]
    pub fn length(self) -> usize {
        usize::try_from(self.get()).unwrap_or(0)
    }
}

impl In<i64> {
    /// As the length of an array.
    pub fn length(self) -> usize {
        usize::try_from(self.get()).unwrap_or(0)
    }
}

/// The numbers of handles are the same in C: MPI 5.0 §20.4.
#[inline]
pub fn to_c(handle: Int) -> usize {
    handle as usize
}

/// A scalar that the procedure writes, or nothing where mpi_f08 leaves it out.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Out<T>(pub *mut T);

impl<T: Copy> Out<T> {
    /// Writes it, if it is there.
    #[inline]
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the address of a scalar of this type, by the interface.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Reads it.
    pub fn get(self) -> T {
        // SAFETY: the address of a scalar of this type, by the interface.
        unsafe { self.0.read_unaligned() }
    }
}

/// The last argument: the error code; optional in mpi_f08.
pub type Ierror = Out<Int>;

/// A handle that the procedure writes or changes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handle(Out<Int>);

impl Handle {
    /// Of the program's variable.
    #[inline]
    pub fn of(place: *mut Int) -> Handle {
        Handle(Out(place))
    }

    /// The program's variable.
    pub fn variable(self) -> Out<Int> {
        self.0
    }

    /// As C has it; where nothing was stored yet, whatever lies there.
    #[inline]
    pub fn load(self) -> usize {
        to_c(self.0.get())
    }

    /// As Fortran has it.
    #[inline]
    pub fn store(self, handle: usize) {
        self.0.set(handle as Int);
    }
}

/// An array of handles.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handles(*mut Int);

impl Handles {
    /// Of the program's array.
    pub fn of(array: *mut Int) -> Handles {
        Handles(array)
    }

    /// The INTEGER of one of them.
    pub fn at(self, at: usize) -> Int {
        Out(self.0.wrapping_add(at)).get()
    }

    /// As C has them; nothing where there is no memory for them.
    pub fn load(self, count: usize) -> Option<List> {
        let mut list = List::new(count)?;
        for (at, place) in list.slice().iter_mut().enumerate() {
            let from = self.0.wrapping_add(at);
            // SAFETY: the array has that many elements, by the interface.
            *place = to_c(unsafe { *from });
        }
        Some(list)
    }

    /// As Fortran has them. What did not change is not written: another thread may read it.
    pub fn store(self, list: &List) {
        for (at, handle) in list.as_slice().iter().enumerate() {
            let place = Out(self.0.wrapping_add(at));
            if place.get() != *handle as Int {
                place.set(*handle as Int);
            }
        }
    }
}

unsafe extern "C" {
    /// The common block of the constants that stand for an address.
    static mpi_fortran_sentinels_: [u8; SENTINELS];
}

// The library brings the common block along; a program that names it has one of its own, and the linker makes them one.
core::arch::global_asm!(".comm mpi_fortran_sentinels_,92,32");
const SENTINELS: usize = 92;

/// Where a common variable stands in it.
const IN_PLACE: usize = 4;
const BUFFER_AUTOMATIC: usize = 8;
const UNWEIGHTED: usize = 80;
const WEIGHTS_EMPTY: usize = 84;

/// The distance of an address from the common block: small if it stands for a constant.
#[inline]
fn sentinel(address: usize) -> Option<usize> {
    let distance = address.wrapping_sub(&raw const mpi_fortran_sentinels_ as usize);
    (distance < SENTINELS).then_some(distance)
}

/// Tells the compiler that what follows is uncommon. It is no call, for which the shim would save registers.
#[cold]
#[inline]
fn uncommon() {}

/// A choice buffer.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Buffer(pub usize);

impl Buffer {
    /// As C has it, with the constants.
    #[inline]
    pub fn address(self) -> usize {
        match sentinel(self.0) {
            None => self.0,
            Some(distance) => {
                uncommon();
                match distance {
                    IN_PLACE => 1,
                    BUFFER_AUTOMATIC => 2,
                    // MPI_BOTTOM, and whatever else the program should not have passed.
                    _ => 0,
                }
            }
        }
    }

    /// MPI_IN_PLACE was passed.
    pub fn is_in_place(self) -> bool {
        sentinel(self.0) == Some(IN_PLACE)
    }
}

/// A status, or MPI_STATUS_IGNORE.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Status(usize);

impl Status {
    /// Of any argument.
    pub fn of<T>(address: *const T) -> Status {
        Status(address as usize)
    }

    /// As C has it.
    #[inline]
    pub fn address(self) -> usize {
        if sentinel(self.0).is_some() { 0 } else { self.0 }
    }
}

/// An array of statuses, or MPI_STATUSES_IGNORE.
pub type Statuses = Status;

/// An array of integers that the program may have left to a constant of address zero: MPI_ERRCODES_IGNORE and its like.
pub type Ignorable = Status;

/// Weights, or a constant for them.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Weights(usize);

impl Weights {
    /// As C has it.
    pub fn address(self) -> usize {
        match sentinel(self.0) {
            Some(UNWEIGHTED) => 10,
            Some(WEIGHTS_EMPTY) => 11,
            _ => self.0,
        }
    }
}

/// A procedure of the program's.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Procedure(pub usize);

impl Procedure {
    /// As C has it. Operations and error handlers are called by C with addresses, as Fortran wants it; the INTEGER of a handle is
    /// the first half of C's.
    pub fn address(self) -> usize {
        self.0
    }
}

/// CHARACTER(LEN=*); its length comes behind the error.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Text(pub *mut u8);

impl Text {
    /// Without the blanks at the end, for C.
    pub fn trimmed(self, length: usize) -> Option<Terminated> {
        let bytes = self.bytes(length);
        let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
        Terminated::new(&bytes[..end])
    }

    /// Without the blanks at both ends, for C: keys and values of info objects, and commands. MPI 5.0 §10, §11.8.
    pub fn stripped(self, length: usize) -> Option<Terminated> {
        Terminated::new(stripped(self.bytes(length)))
    }

    /// Writes C's text with blanks behind it, unless the call failed.
    pub fn fill(self, length: usize, from: &[u8], result: Int) {
        if result != SUCCESS {
            return;
        }
        let end = from.iter().position(|byte| *byte == 0).unwrap_or(from.len());
        let padded = from[..end].iter().copied().chain(core::iter::repeat(b' '));
        for (at, byte) in padded.take(length).enumerate() {
            Out(self.0.wrapping_add(at)).set(byte);
        }
    }

    /// What the program passed.
    pub fn bytes(&self, length: usize) -> &[u8] {
        if length == 0 {
            return &[];
        }
        // SAFETY: a text of this length, by the interface; nobody writes it while the procedure runs.
        unsafe { core::slice::from_raw_parts(self.0, length) }
    }
}

/// Without the blanks at both ends.
pub fn stripped(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
    let start = text.iter().position(|byte| *byte != b' ').unwrap_or(0);
    &text[start.min(end)..end]
}

/// Whether and where an index was found: Fortran counts from one, and MPI_UNDEFINED stays.
pub fn store_index(place: *mut Int, index: Int) {
    if index != UNWRITTEN {
        Out(place).set(if index < 0 { index } else { index + 1 });
    }
}

/// How many there are.
pub fn store_count(place: *mut Int, count: Int) {
    if count != UNWRITTEN {
        Out(place).set(count);
    }
}

/// Indices that C counted from zero.
pub fn from_one(places: *mut Int, count: Int) {
    for at in 0..usize::try_from(count).unwrap_or(0) {
        let place = Out(places.wrapping_add(at));
        place.set(place.get() + 1);
    }
}
