//! How MPI_T functions give texts and values to a tool, and take them. MPI 5.0 §15.3.3 and §15.3.6.

use crate::error::{Class, Fault, Result};
use crate::tool::value::{Datum, ValueType};
use core::ffi::{CStr, c_char, c_int};

/// Writes a result if the tool wants it: null is allowed where functions say what something is.
///
/// # Safety
/// Null, or the place of a value.
pub unsafe fn put<T>(at: *mut T, value: T) {
    if !at.is_null() {
        // SAFETY: not null, so the place of a value.
        unsafe { at.write(value) };
    }
}

/// Writes as much of a text as there is room for, with a terminating NUL, and the length of all of it with the NUL. With a null
/// length nothing, with a null text or no room the length only (MPI 5.0 §15.3.3).
///
/// # Safety
/// `length` is null or the place of the number of characters that `at` has room for, if that is not null.
pub unsafe fn give(text: &str, at: *mut c_char, length: *mut c_int) -> Result<()> {
    if length.is_null() {
        return Ok(());
    }
    // SAFETY: not null.
    let room = unsafe { length.read() };
    let room = usize::try_from(room).map_err(|_| Fault::new(Class::ToolInvalid).because("a negative length"))?;
    if !at.is_null() && room > 0 {
        // SAFETY: room for so many characters.
        unsafe { store_text(text, at.cast(), room) };
    }
    // SAFETY: not null.
    unsafe { length.write(text.len() as c_int + 1) };
    Ok(())
}

/// Writes a value; of a text what fits into `room` characters, with the terminating NUL.
///
/// # Safety
/// `at` is the place of such a value.
pub unsafe fn store(datum: Datum<'_>, at: *mut u8, room: usize) -> Result<()> {
    buffer(at)?;
    match datum {
        // SAFETY: the caller's promise; here and below.
        Datum::Int(number) => unsafe { at.cast::<i32>().write_unaligned(number) },
        // SAFETY: see above.
        Datum::Count(number) => unsafe { at.cast::<i64>().write_unaligned(number) },
        // SAFETY: see above.
        Datum::Unsigned(number) => unsafe { at.cast::<u64>().write_unaligned(number) },
        // SAFETY: see above.
        Datum::Double(number) => unsafe { at.cast::<f64>().write_unaligned(number) },
        // SAFETY: see above.
        Datum::Text(text) => unsafe { store_text(text, at, room) },
    }
    Ok(())
}

/// Reads a value; a text ends within `room` characters.
///
/// # Safety
/// `at` is the place of such a value, which stays while the result is used.
pub unsafe fn load<'a>(of: ValueType, at: *const u8, room: usize) -> Result<Datum<'a>> {
    buffer(at)?;
    Ok(match of {
        // SAFETY: the caller's promise; here and below.
        ValueType::Int => Datum::Int(unsafe { at.cast::<i32>().read_unaligned() }),
        // SAFETY: see above.
        ValueType::Count => Datum::Count(unsafe { at.cast::<i64>().read_unaligned() }),
        // SAFETY: see above.
        ValueType::Unsigned => Datum::Unsigned(unsafe { at.cast::<u64>().read_unaligned() }),
        // SAFETY: see above.
        ValueType::Double => Datum::Double(unsafe { at.cast::<f64>().read_unaligned() }),
        ValueType::Char => {
            // SAFETY: see above: a NUL ends it.
            let text = unsafe { CStr::from_ptr(at.cast()) };
            let text = text.to_str().ok().filter(|text| text.len() < room);
            let wrong = || Fault::new(Class::ToolInvalid).argument("buf").because("too long, or no UTF-8");
            Datum::Text(text.ok_or_else(wrong)?)
        }
    })
}

/// Refuses null.
pub fn buffer(at: *const u8) -> Result<()> {
    match at.is_null() {
        false => Ok(()),
        true => Err(Fault::new(Class::ToolInvalid).argument("buf").because("a null pointer")),
    }
}

/// # Safety
/// `at` has room for `room` characters, which is not 0.
unsafe fn store_text(text: &str, at: *mut u8, room: usize) {
    let bytes = text.len().min(room - 1);
    // SAFETY: at most room - 1 bytes.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), at, bytes) };
    // SAFETY: the last of at most `room` characters.
    unsafe { at.wrapping_add(bytes).write(0) };
}
