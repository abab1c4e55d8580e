//! UCX: opened by the system's loader, and asked for its version.
#![allow(unsafe_code)]

use crate::abi::{
    AmCallback, ComponentAttr, EpObject, EpParams, Handle, Iface, IfaceAttr, IfaceParams, MdAttr, RkeyBundle, Status,
    TransportResource, Worker,
};
use alloc::format;
use alloc::string::String;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::mem::transmute;
use core::ops::RangeInclusive;
use opal_core::sys::{NotOpened, SharedLibrary, text_of};
use opal_fabric::request::no_loader;

/// The table of functions and what fills it, from their C names and types.
macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of an opened UCX. It is never closed: what it made lives as long as the process.
        #[derive(Clone, Copy)]
        pub struct Library {
            version: [u8; 2],
            $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn find_all(version: [u8; 2], find: impl Fn(&CStr) -> Result<*mut c_void, String>) -> Result<Library, String> {
                $(
                    let name = concat!(stringify!($name), "\0").as_bytes();
                    let found = find(CStr::from_bytes_with_nul(name).expect("a name of C and a zero"))?;
                    // SAFETY: `header.c` compares the type with the declaration of the function of that name.
                    let $name = unsafe {
                        transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(found)
                    };
                )*
                Ok(Library { version, $($name),* })
            }
        }
    };
}

functions! {
    ucs_status_string(Status) -> *const c_char;
    ucs_async_context_create(c_int, *mut Handle) -> Status;
    ucs_async_poll(Handle);
    uct_query_components(*mut *mut Handle, *mut c_uint) -> Status;
    uct_component_query(Handle, *mut ComponentAttr) -> Status;
    uct_md_config_read(Handle, *const c_char, *const c_char, *mut Handle) -> Status;
    uct_md_open(Handle, *const c_char, Handle, *mut Handle) -> Status;
    uct_md_close(Handle);
    uct_md_query(Handle, *mut MdAttr) -> Status;
    uct_md_query_tl_resources(Handle, *mut *mut TransportResource, *mut c_uint) -> Status;
    uct_release_tl_resource_list(*mut TransportResource);
    uct_config_release(Handle);
    uct_config_modify(Handle, *const c_char, *const c_char) -> Status;
    uct_md_iface_config_read(Handle, *const c_char, *const c_char, *const c_char, *mut Handle) -> Status;
    uct_worker_create(Handle, c_int, *mut *mut Worker) -> Status;
    uct_iface_open(Handle, *mut Worker, *const IfaceParams, Handle, *mut *mut Iface) -> Status;
    uct_iface_query(*mut Iface, *mut IfaceAttr) -> Status;
    uct_iface_get_device_address(*mut Iface, *mut u8) -> Status;
    uct_iface_get_address(*mut Iface, *mut u8) -> Status;
    uct_iface_is_reachable(*mut Iface, *const u8, *const u8) -> c_int;
    uct_iface_event_fd_get(*mut Iface, *mut c_int) -> Status;
    uct_iface_event_arm(*mut Iface, c_uint) -> Status;
    uct_iface_set_am_handler(*mut Iface, u8, AmCallback, *mut c_void, u32) -> Status;
    uct_ep_create(*const EpParams, *mut *mut EpObject) -> Status;
    uct_md_mem_reg(Handle, *mut c_void, usize, c_uint, *mut Handle) -> Status;
    uct_md_mem_dereg(Handle, Handle) -> Status;
    uct_md_mkey_pack(Handle, Handle, *mut c_void) -> Status;
    uct_rkey_unpack(Handle, *const c_void, *mut RkeyBundle) -> Status;
    uct_rkey_release(Handle, *const RkeyBundle) -> Status;
}

impl Library {
    /// Opens it under this name. `Err` with a sentence.
    pub fn open(name: &str) -> Result<Library, String> {
        let absent = |why: &str| {
            format!(
                "this host has no {name} ({why}); install UCX (Debian: libucx0), or name it by --mca btl_uct_library"
            )
        };
        leave_memory_functions();
        let library = SharedLibrary::open(name).map_err(|why| match why {
            NotOpened::StaticProgram => no_loader(name),
            NotOpened::Absent(why) => absent(&why),
        })?;
        // What libucp needs is searched, too: libuct and libucs.
        let find = |function: &CStr| {
            let lacks = || absent(&format!("what was found lacks {}", function.to_string_lossy()));
            library.find(function, None).ok_or_else(lacks)
        };
        let ask = find(c"ucp_get_version")?;
        // SAFETY: void ucp_get_version(unsigned *, unsigned *, unsigned *) since UCX 1.0.
        let ask = unsafe { transmute::<*mut c_void, GetVersion>(ask) };
        let (mut major, mut minor, mut release) = (0, 0, 0);
        // SAFETY: room for three numbers.
        unsafe { ask(&mut major, &mut minor, &mut release) };
        if major != 1 || !KNOWN_MINOR.contains(&minor) {
            return Err(format!(
                "this host's UCX is {major}.{minor}.{release}, and the structures of its transport layer differ from version to version: \
                 this library knows those of 1.{} to 1.{}; name such a one by --mca btl_uct_library, or use btl/ofi",
                KNOWN_MINOR.start(),
                KNOWN_MINOR.end()
            ));
        }
        Library::find_all([major as u8, minor as u8], find)
    }

    /// Its version: the major number, then the minor one.
    pub fn version(&self) -> [u8; 2] {
        self.version
    }

    /// What UCX calls a status.
    pub fn words(&self, status: Status) -> String {
        // SAFETY: any number may be asked for.
        let text = unsafe { (self.ucs_status_string)(status) };
        // SAFETY: a text of UCX's own.
        unsafe { text_of(text) }
    }

    /// A call's result. `Err` with half a sentence.
    pub fn check(&self, what: &str, status: Status) -> Result<(), String> {
        match status {
            crate::abi::OK => Ok(()),
            error => Err(format!("{what} says: {}", self.words(error))),
        }
    }
}

/// A text of C that fills its place at most.
pub fn copied_from(place: &[c_char]) -> String {
    let bytes: alloc::vec::Vec<u8> = place.iter().map(|one| *one as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

type GetVersion = unsafe extern "C" fn(*mut c_uint, *mut c_uint, *mut c_uint);
/// Whose structures `abi.rs` has, of version 1.
const KNOWN_MINOR: RangeInclusive<c_uint> = 13..=22;

/// Unless the user says otherwise, UCX leaves the functions alone by which memory comes and goes. It would write jumps over them, those of memory/hook
/// included: rcache/grdma would not hear of memory that goes any more, and UCX 1.13 makes mremap to a fixed address fail.
fn leave_memory_functions() {
    // SAFETY: two texts of C. MPI is being initialised, when no other thread of the program reads its environment.
    unsafe { libc::setenv(c"UCX_MEM_MMAP_HOOK_MODE".as_ptr(), c"none".as_ptr(), 0) };
}
