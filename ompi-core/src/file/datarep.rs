//! Representations of the program's own: names, and functions that convert. MPI 5.0 §14.5.3.
//!
//! **Invariant:** nothing is locked while such a function runs. One that is registered stays for as long as the process.
#![allow(unsafe_code)]

use crate::datatype::Datatype;
use crate::error::{Class, Fault, Result};
use crate::framework::fbtl::AccessKind;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{c_int, c_void};
use opal_core::sync::ConditionalLock;

/// MPI_Datarep_extent_function: bytes of a predefined datatype in the file.
pub type ExtentFunction = unsafe extern "C" fn(usize, *mut isize, *mut c_void) -> c_int;
/// MPI_Datarep_conversion_function.
pub type ConversionFunction = unsafe extern "C" fn(*mut u8, usize, c_int, *mut u8, i64, *mut c_void) -> c_int;
/// MPI_Datarep_conversion_function_c.
pub type LargeConversionFunction = unsafe extern "C" fn(*mut u8, usize, i64, *mut u8, i64, *mut c_void) -> c_int;

/// A function that converts items between memory and a file.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// MPI_CONVERSION_FN_NULL: data lies in the file as in memory.
    Null,
    /// Of MPI_Register_datarep.
    Int(ConversionFunction),
    /// Of MPI_Register_datarep_c.
    Large(LargeConversionFunction),
}

/// The functions of a representation.
#[derive(Clone, Copy, Debug)]
pub struct DatarepFunctions {
    /// From the file to memory.
    pub read: Conversion,
    /// From memory to the file.
    pub write: Conversion,
    /// How long items are there.
    pub extent: ExtentFunction,
    /// The last argument of all three.
    pub extra: *mut c_void,
}

/// A representation that the program has registered.
#[derive(Debug)]
pub struct Datarep {
    name: String,
    functions: DatarepFunctions,
}

// SAFETY: the extra state is the user's, who promises in `register` that the functions may be called from any thread.
unsafe impl Send for Datarep {}
// SAFETY: as above; nothing in it changes.
unsafe impl Sync for Datarep {}

static REGISTERED: ConditionalLock<Vec<&'static Datarep>> = ConditionalLock::new(Vec::new());

/// MPI_Register_datarep. `Err(DupDatarep)` where the name is taken; the names of the standard are the caller's to refuse.
///
/// # Safety
/// The functions are of these types and may be called with `extra` from any thread, as MPI 5.0 §14.5.3 says.
pub unsafe fn register(name: &str, functions: DatarepFunctions) -> Result<()> {
    let mut all = REGISTERED.lock();
    if all.iter().any(|known| known.name == name) {
        return Err(taken(name));
    }
    all.push(Box::leak(Box::new(Datarep { name: name.into(), functions })));
    Ok(())
}

/// The fault of a name that is there already.
#[cold]
pub fn taken(name: &str) -> Fault {
    let why = format!("there is a representation {name} already; choose another name");
    Fault::new(Class::DupDatarep).argument("datarep").because(why)
}

/// By its name.
pub fn find(name: &str) -> Option<&'static Datarep> {
    REGISTERED.lock().iter().copied().find(|known| known.name == name)
}

impl Datarep {
    /// Its name.
    pub fn name(&'static self) -> &'static str {
        &self.name
    }

    /// Whether data that goes this way is converted.
    pub fn converts(&self, direction: AccessKind) -> bool {
        !matches!(self.conversion(direction), Conversion::Null)
    }

    /// Bytes of a predefined datatype in the file: calls the program's function.
    pub fn extent(&self, basic: &Datatype) -> Result<u32> {
        let DatarepFunctions { extent, extra, .. } = self.functions;
        let mut bytes = 0isize;
        // SAFETY: the promise made to `register`; the place is this function's own.
        let code = basic.with_handle(|handle| unsafe { extent(handle, &raw mut bytes, extra) })?;
        if code != 0 {
            return Err(self.returned("dtype_file_extent_fn", code));
        }
        match u32::try_from(bytes) {
            Ok(bytes @ 1..=LONGEST) => Ok(bytes),
            _ => {
                let why = format!(
                    "dtype_file_extent_fn of representation {} gives {} an extent of {bytes}; it must be between 1 and {LONGEST}",
                    self.name,
                    basic.name()
                );
                Err(Fault::new(Class::Conversion).argument("datarep").because(why))
            }
        }
    }

    /// Converts `count` items from item `position` of the data on, which begins at `user` and has elements of `datatype`: calls the
    /// program's function, once or as often as its count has room for all. `bytes_of` says how many bytes of the file so many
    /// items have, counted from `position` on.
    ///
    /// # Safety
    /// The data is readable (to write it) or writable (to read into it), and there are so many bytes of the file at `file`.
    pub unsafe fn convert(
        &self,
        direction: AccessKind,
        (user, datatype): (*mut u8, &Datatype),
        file: *mut u8,
        count: usize,
        bytes_of: &dyn Fn(usize) -> usize,
    ) -> Result<()> {
        let extra = self.functions.extra;
        let call = |handle: usize, at: usize, some: usize| {
            let (place, position) = (file.wrapping_add(bytes_of(at)), at as i64);
            match self.conversion(direction) {
                Conversion::Null => 0,
                // SAFETY: the promise made to `register`, and the caller's.
                Conversion::Int(call) => unsafe { call(user, handle, some as c_int, place, position, extra) },
                // SAFETY: likewise.
                Conversion::Large(call) => unsafe { call(user, handle, some as i64, place, position, extra) },
            }
        };
        let most = match self.conversion(direction) {
            Conversion::Int(_) => c_int::MAX as usize,
            _ => usize::MAX,
        };
        let code = datatype.with_handle(|handle| {
            let (mut done, mut code) = (0, 0);
            while done < count && code == 0 {
                let some = (count - done).min(most);
                code = call(handle, done, some);
                done += some;
            }
            code
        })?;
        match (code, direction) {
            (0, _) => Ok(()),
            (code, AccessKind::Read) => Err(self.returned("read_conversion_fn", code)),
            (code, AccessKind::Write) => Err(self.returned("write_conversion_fn", code)),
        }
    }

    fn conversion(&self, direction: AccessKind) -> Conversion {
        match direction {
            AccessKind::Read => self.functions.read,
            AccessKind::Write => self.functions.write,
        }
    }

    #[cold]
    fn returned(&self, function: &str, code: c_int) -> Fault {
        let why = format!("{function} of representation {} returned {code}, not MPI_SUCCESS", self.name);
        Fault::new(Class::Conversion).argument("datarep").because(why)
    }
}

/// Bytes of the longest item in a file.
const LONGEST: u32 = 1 << 30;
