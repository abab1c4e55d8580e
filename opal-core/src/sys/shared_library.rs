//! Libraries that the system's loader opens while the process runs, so that a program runs without them elsewhere.

use alloc::ffi::CString;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_void};

/// An opened library. It is never closed: it may have threads, and what it made lives as long as the process.
#[derive(Clone, Copy, Debug)]
pub struct SharedLibrary(*mut c_void);

/// Why a library was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotOpened {
    /// The program was linked with `-static`, so it has no loader.
    StaticProgram,
    /// The loader does not find it, or cannot use what it finds: why.
    Absent(String),
}

impl SharedLibrary {
    /// Opens it under this name, a path or what the loader searches for (dlopen(3)). What runs is the library's own start-up.
    pub fn open(name: &str) -> Result<SharedLibrary, NotOpened> {
        // SAFETY: getauxval(3) takes a number.
        let interpreter = unsafe { libc::getauxval(libc::AT_BASE) };
        if interpreter == 0 {
            return Err(NotOpened::StaticProgram);
        }
        let path = CString::new(name).map_err(|_| NotOpened::Absent(String::from("its name has a zero in it")))?;
        // SAFETY: a text with a zero at its end.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if !handle.is_null() {
            return Ok(SharedLibrary(handle));
        }
        // SAFETY: takes nothing.
        let why = unsafe { libc::dlerror() };
        // SAFETY: null, or a text that is the calling thread's own until its next call of the loader.
        Err(NotOpened::Absent(unsafe { text_of(why) }))
    }

    /// The address of a function of it, or of a library that it needs; with a version (dlvsym(3)) only that one.
    pub fn find(&self, function: &CStr, version: Option<&CStr>) -> Option<*mut c_void> {
        let address = match version {
            // SAFETY: a handle that is open, and a text with a zero at its end.
            None => unsafe { libc::dlsym(self.0, function.as_ptr()) },
            // SAFETY: as above, and another such text.
            Some(version) => unsafe { libc::dlvsym(self.0, function.as_ptr(), version.as_ptr()) },
        };
        (!address.is_null()).then_some(address)
    }
}

/// A text of C as one of Rust; an empty one for null.
///
/// # Safety
/// Null, or a text with a zero at its end that nobody changes during the call.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null; the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_name_and_by_version() {
        let library = SharedLibrary::open("libc.so.6").unwrap();
        let plain = library.find(c"memcpy", None);
        assert!(plain.is_some() && library.find(c"memcpy", Some(c"GLIBC_2.14")).is_some());
        assert_eq!(library.find(c"memcpy", Some(c"GLIBC_0.1")), None);
        assert_eq!(library.find(c"no_such_function_anywhere", None), None);
    }

    #[test]
    fn what_is_absent_is_named() {
        let why = |name| match SharedLibrary::open(name) {
            Err(NotOpened::Absent(why)) => why,
            other => panic!("{name}: {other:?}"),
        };
        assert!(why("libof_nobody.so.7").contains("libof_nobody.so.7"));
        assert!(why("lib\0c").contains("zero"));
    }

    #[test]
    fn texts() {
        // SAFETY: a constant.
        assert_eq!(unsafe { text_of(c"words".as_ptr()) }, "words");
        // SAFETY: null is allowed.
        assert_eq!(unsafe { text_of(core::ptr::null()) }, "");
    }
}
