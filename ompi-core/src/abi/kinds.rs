//! The kinds of parameters: what C passes, how it is checked, what a row's body sees.
//!
//! A kind checks what it can know alone; what depends on a second argument (a rank and its communicator, a buffer and
//! its count) is checked by the small functions of [`pair`], called first thing in a row's body.

use super::Scope;
use crate::comm::Communicator;
use crate::datatype::{self, Datatype as Type};
use crate::error::{Class, Fault, Result};
use crate::op::Op as Operation;
use crate::status::{ANY_TAG, Status};
use crate::win::Window;
use alloc::format;
use alloc::sync::Arc;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::marker::PhantomData;

mod kind;
mod number;
mod pair;
mod place;

pub use kind::{Agreed, Aint, LargeCount, Offset, ParamKind};
pub use number::{AnyNumber, Count, Signed, TwinAint};
pub use pair::{
    Role, agreed_data, apart, blocks, data, distinct, in_place, in_place_on, intra, late, not_in_place, not_negative,
    rank_from, rank_to, role, root, typed_blocks,
};
pub use place::{ArrayOfCounts, CountArray, CountPlace, OutCount, OutPtr, array, array_mut, give_text};

/// A kind whose C type is the same in both twins.
macro_rules! same {
    ($(#[$doc:meta])* $kind:ident $(<$t:ident>)?, $c:ty => $value:ty, |$raw:ident| $check:expr $(, scope $scope:expr)?) => {
        $(#[$doc])*
        pub struct $kind $(<$t>(PhantomData<$t>))?;

        impl $(<$t: Copy + 'static>)? ParamKind for $kind $(<$t>)? {
            type C = $c;
            type Large = $c;
            type Value = $value;
            #[inline(always)]
            unsafe fn check($raw: $c) -> Result<$value> {
                $check
            }
            #[inline(always)]
            unsafe fn check_large($raw: $c) -> Result<$value> {
                $check
            }
            $(
                fn scope(raw: *const ()) -> Scope {
                    // SAFETY: the row macro passes a pointer to its argument, which has this type.
                    $scope(unsafe { raw.cast::<$c>().read() })
                }
            )?
        }
    };
}

same! {
    /// Passed on as it is: the row's body knows what it means.
    Raw<T>, T => T, |raw| Ok(raw)
}

same! {
    /// A buffer that is read. Null is checked with its count by [`data`].
    ConstBuffer, *const c_void => *mut u8, |raw| Ok(raw.cast_mut().cast())
}

same! {
    /// A buffer that is written. Null is checked with its count by [`data`].
    Buffer, *mut c_void => *mut u8, |raw| Ok(raw.cast())
}

same! {
    /// A place for one result.
    Out<T>, *mut T => OutPtr<T>, |raw| OutPtr::new(raw)
}

same! {
    /// MPI_Status*, or MPI_STATUS_IGNORE.
    StatusOut, *mut Status => Option<&'static mut Status>, |raw| {
        // SAFETY: null is MPI_STATUS_IGNORE, anything else a status of the caller's.
        Ok(unsafe { raw.as_mut() })
    }
}

same! {
    /// A datatype, committed or not.
    Datatype, usize => &'static Type, |raw| datatype::borrow(raw).ok_or_else(|| bad_handle(Class::Type, "datatype", raw, 0x200))
}

same! {
    /// The datatype of which another one is made, which keeps it alive.
    OldType, usize => Arc<Type>, |raw| datatype::get(raw).ok_or_else(|| bad_handle(Class::Type, "datatype", raw, 0x200))
}

same! {
    /// A committed datatype.
    Committed, usize => &'static Type, |raw| committed(raw)
}

same! {
    /// A communicator.
    Comm, usize => &'static Communicator,
    |raw| crate::comm::borrow(raw).ok_or_else(|| bad_handle(Class::Comm, "communicator", raw, 0x100)),
    scope Scope::Comm
}

same! {
    /// A communicator for a call that may come before there are any, or after: then `None`, whatever is passed.
    CommIfActive, usize => Option<&'static Communicator>,
    |raw| match crate::comm::borrow(raw) {
        None if crate::init::is_active() => Err(bad_handle(Class::Comm, "communicator", raw, 0x100)),
        found => Ok(found),
    },
    scope Scope::Comm
}

same! {
    /// A communicator or MPI_COMM_NULL.
    NamedComm, usize => Option<&'static Communicator>,
    |raw| match crate::comm::borrow(raw) {
        None if raw != crate::comm::NULL => Err(bad_handle(Class::Comm, "communicator", raw, 0x100)),
        found => Ok(found),
    },
    scope Scope::Comm
}

same! {
    /// A datatype or MPI_DATATYPE_NULL.
    NamedType, usize => Option<&'static Type>, |raw| match datatype::borrow(raw) {
        None if raw != datatype::NULL => Err(bad_handle(Class::Type, "datatype", raw, 0x200)),
        found => Ok(found),
    }
}

same! {
    /// A communicator with its handle.
    CommHandle, usize => (usize, &'static Communicator),
    |raw| match crate::comm::borrow(raw) {
        Some(comm) => Ok((raw, comm)),
        None => Err(bad_handle(Class::Comm, "communicator", raw, 0x100)),
    },
    scope Scope::Comm
}

same! {
    /// A datatype with its handle, committed or not.
    TypeHandle, usize => (usize, &'static Type), |raw| match datatype::borrow(raw) {
        Some(datatype) => Ok((raw, datatype)),
        None => Err(bad_handle(Class::Type, "datatype", raw, 0x200)),
    }
}

same! {
    /// A datatype that the standard ignores on some ranks or beside MPI_IN_PLACE; [`late`] checks it.
    LateType, usize => usize, |raw| Ok(raw)
}

same! {
    /// An operation.
    Op, usize => Operation, |raw| crate::op::get(raw).ok_or_else(|| bad_handle(Class::Op, "operation", raw, 0x20))
}

same! {
    /// A group.
    Group, usize => Arc<crate::group::Group>, |raw| crate::group::get(raw).ok_or_else(|| bad_handle(Class::Group, "group", raw, 0x108))
}

same! {
    /// A rank of a destination; checked with its communicator by [`rank_to`] or [`rank_from`].
    Rank, c_int => i32, |raw| Ok(raw)
}

same! {
    /// A tag of a send: 0 to 2^31-1.
    Tag, c_int => i32, |raw| match raw >= 0 {
        true => Ok(raw),
        false => Err(Fault::new(Class::Tag).because(format!("{raw} is negative; tags run from 0 to 2147483647"))),
    }
}

same! {
    /// A tag of a receive: 0 to 2^31-1 or MPI_ANY_TAG.
    RecvTag, c_int => i32, |raw| match raw >= 0 || raw == ANY_TAG {
        true => Ok(raw),
        false => Err(Fault::new(Class::Tag).because(format!("{raw} is neither a tag (0 to 2147483647) nor MPI_ANY_TAG"))),
    }
}

same! {
    /// An array that is read. The row's body knows its length and calls [`array()`].
    Array<T>, *const T => *const T, |raw| Ok(raw)
}

same! {
    /// An array that is written. The row's body knows its length.
    OutArray<T>, *mut T => *mut T, |raw| Ok(raw)
}

same! {
    /// A text of the caller's; not null.
    Text, *const c_char => &'static CStr, |raw| match raw.is_null() {
        // SAFETY: not null; a NUL ends it by the contract of a C string.
        false => Ok(unsafe { CStr::from_ptr(raw) }),
        true => Err(Fault::new(Class::Arg).because("a null pointer stands where a text is needed")),
    }
}

same! {
    /// A function of the user's, or one of the predefined values, which are small numbers and never called.
    Callback, *const c_void => *const c_void, |raw| Ok(raw)
}

same! {
    /// A status that is read; MPI_STATUS_IGNORE is an error.
    InStatus, *const Status => Status, |raw| match raw.is_null() {
        // SAFETY: not null, so a status of the caller's.
        false => Ok(unsafe { raw.read() }),
        true => Err(Fault::new(Class::Arg).because("MPI_STATUS_IGNORE cannot be read; pass a status")),
    }
}

same! {
    /// The place of a communicator's handle, for calls that take it and change it.
    CommPlace, *mut usize => OutPtr<usize>, |raw| OutPtr::new(raw), scope pointed_scope
}

same! {
    /// An error handler; the row's body knows for which kind of object.
    Errhandler, usize => usize, |raw| Ok(raw)
}

same! {
    /// An info object.
    Info, usize => Arc<crate::info::Info>, |raw| crate::info::get(raw).ok_or_else(|| bad_handle(Class::Info, "info object", raw, 0x130))
}

same! {
    /// Hints: an info object or MPI_INFO_NULL.
    Hints, usize => Option<Arc<crate::info::Info>>, |raw| match raw {
        crate::info::NULL => Ok(None),
        _ => crate::info::get(raw).map(Some).ok_or_else(|| bad_handle(Class::Info, "info object", raw, 0x130)),
    }
}

same! {
    /// A request; the row's body knows which kinds of request it takes.
    Request, usize => usize, |raw| Ok(raw)
}

same! {
    /// A message of a matched probe.
    Message, usize => usize, |raw| Ok(raw)
}

same! {
    /// A window.
    Win, usize => &'static Window,
    |raw| crate::win::borrow(raw).ok_or_else(|| bad_handle(Class::Win, "window", raw, crate::win::NULL)),
    scope Scope::Win
}

same! {
    /// A window with its handle.
    WinHandle, usize => (usize, &'static Window),
    |raw| match crate::win::borrow(raw) {
        Some(window) => Ok((raw, window)),
        None => Err(bad_handle(Class::Win, "window", raw, crate::win::NULL)),
    },
    scope Scope::Win
}

same! {
    /// A window or MPI_WIN_NULL.
    NamedWin, usize => Option<&'static Window>,
    |raw| match crate::win::borrow(raw) {
        None if raw != crate::win::NULL => Err(bad_handle(Class::Win, "window", raw, crate::win::NULL)),
        found => Ok(found),
    },
    scope Scope::Win
}

same! {
    /// The place of a window's handle, for calls that take it and change it.
    WinPlace, *mut usize => OutPtr<usize>, |raw| OutPtr::new(raw), scope |at: *mut usize| match pointed(at) {
        Some(handle) => Scope::Win(handle),
        None => Scope::None,
    }
}

same! {
    /// A file.
    File, usize => &'static crate::file::File,
    |raw| crate::file::borrow(raw).ok_or_else(|| bad_handle(Class::File, "file", raw, crate::file::NULL)),
    scope Scope::File
}

same! {
    /// The handle of a file, or MPI_FILE_NULL.
    FileOrNull, usize => usize,
    |raw| match crate::file::borrow(raw) {
        None if raw != crate::file::NULL => Err(bad_handle(Class::File, "file", raw, 0)),
        _ => Ok(raw),
    },
    scope Scope::File
}

same! {
    /// A file or MPI_FILE_NULL.
    NamedFile, usize => Option<&'static crate::file::File>,
    |raw| match crate::file::borrow(raw) {
        None if raw != crate::file::NULL => Err(bad_handle(Class::File, "file", raw, 0)),
        found => Ok(found),
    },
    scope Scope::File
}

same! {
    /// The place of a file's handle, for calls that take it and change it.
    FilePlace, *mut usize => OutPtr<usize>, |raw| OutPtr::new(raw), scope |at: *mut usize| match pointed(at) {
        Some(handle) => Scope::File(handle),
        None => Scope::None,
    }
}

same! {
    /// A session, with its handle.
    Session, usize => (usize, Arc<crate::session::Session>), |raw| match crate::session::get(raw) {
        Some(session) => Ok((raw, session)),
        None => Err(bad_handle(Class::Session, "session", raw, crate::session::NULL)),
    },
    scope Scope::Session
}

same! {
    /// The place of a session's handle, for calls that take it and change it.
    SessionPlace, *mut usize => OutPtr<usize>, |raw| OutPtr::new(raw), scope |at: *mut usize| match pointed(at) {
        Some(handle) => Scope::Session(handle),
        None => Scope::None,
    }
}

same! {
    /// The error handler of a communicator that the call makes; it is in force for the call's own errors, too.
    CommErrhandler, usize => usize, |raw| {
        crate::errhandler::check(raw, crate::errhandler::HandlerKind::Comm)?;
        Ok(raw)
    },
    scope |raw| Scope::Handler(raw, crate::errhandler::HandlerKind::Comm)
}

same! {
    /// The error handler of a session that the call makes; it is in force for the call's own errors, too.
    SessionErrhandler, usize => usize, |raw| {
        crate::errhandler::check(raw, crate::errhandler::HandlerKind::Session)?;
        Ok(raw)
    },
    scope |raw| Scope::Handler(raw, crate::errhandler::HandlerKind::Session)
}

/// The committed datatype behind a handle.
#[inline(always)]
fn committed(raw: usize) -> Result<&'static Type> {
    match datatype::borrow(raw) {
        Some(datatype) if datatype.is_committed() => Ok(datatype),
        Some(_) => Err(Fault::new(Class::Type).because("the datatype is not committed; call MPI_Type_commit first")),
        None => Err(bad_handle(Class::Type, "datatype", raw, 0x200)),
    }
}

fn pointed_scope(at: *mut usize) -> Scope {
    pointed(at).map_or(Scope::None, Scope::Comm)
}

fn pointed(at: *mut usize) -> Option<usize> {
    // SAFETY: null, or the place of a handle by the contract of the kind.
    unsafe { at.as_ref() }.copied()
}

#[cold]
fn bad_handle(class: Class, what: &str, raw: usize, null: usize) -> Fault {
    Fault::new(class).because(match raw {
        0 => format!("0 is not a {what}; was the variable never set?"),
        _ if raw == null => format!("it is the null {what}"),
        _ => format!("{raw:#x} is not a valid {what} handle; it was freed or never created"),
    })
}
