//! libfabric: opened by the system's loader, and asked what it offers.
#![allow(unsafe_code)]

use crate::abi::{
    self, ATOMIC, EpAttr, FidFabric, Info, MODE_CONTEXT, MODE_CONTEXT2, MR_ALLOCATED, MR_LOCAL, MR_PROV_KEY,
    MR_VIRT_ADDR, MSG, ORDER_SAS, PROGRESS_AUTO, RM_ENABLED, RMA, SOCKADDR, SOCKADDR_IN, SOCKADDR_IN6, THREAD_DOMAIN,
};
use crate::wire::HEADER_BYTES;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::transmute;
use core::ptr::null;
use core::slice;
use opal_core::sys::{NotOpened, SharedLibrary, text_of};
use opal_fabric::request::no_loader;

type GetInfo = unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *const Info) -> c_int;
type FreeInfo = unsafe extern "C" fn(*const Info);
type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
/// `fi_fabric`.
pub type OpenFabric = unsafe extern "C" fn(*const abi::FabricAttr, *mut *const FidFabric, *mut c_void) -> c_int;
type StrError = unsafe extern "C" fn(c_int) -> *const c_char;
type Version = unsafe extern "C" fn() -> u32;

/// The functions of an opened libfabric. It is never closed: providers have threads.
#[derive(Clone, Copy)]
pub struct Library {
    get_info: GetInfo,
    free_info: FreeInfo,
    dup_info: DupInfo,
    /// `fi_fabric`.
    pub open_fabric: OpenFabric,
    str_error: StrError,
    version: Version,
}

/// One way into a fabric that libfabric offers: a provider over an interface. Its record is never given back.
pub struct Offer {
    /// What libfabric says of it.
    pub info: &'static Info,
    /// The provider's name.
    pub provider: String,
    /// The interface.
    pub domain: String,
    /// The network behind it.
    pub fabric: String,
    /// Where this process would be there.
    pub at: At,
    /// The format of its addresses.
    pub format: u32,
}

/// What an address says of whom it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// This machine alone.
    Loopback,
    /// The machines of one wire; an address of it means nothing elsewhere.
    LinkLocal,
    /// Others, by an address of IPv4.
    Four,
    /// Others, by an address of IPv6.
    Six,
    /// It is no address of the Internet.
    Own,
}

/// How an endpoint reaches memory.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// How many operations may be under way; 0: it reaches none.
    pub operations: u32,
    /// Peers name bytes by their addresses here, not by their distance from the beginning of the registered memory.
    pub by_address: bool,
    /// Keys that this process may choose; `None`: the provider does.
    pub key_mask: Option<u64>,
    /// Whether atomic operations may be asked of it.
    pub has_atomics: bool,
}

impl Reach {
    /// Of an offer.
    pub fn of(offer: &Offer) -> Reach {
        let most = offer.sizes().0.min(OPERATIONS_MAX);
        Reach {
            operations: if offer.reaches_memory() { most as u32 } else { 0 },
            by_address: offer.mr_mode() & MR_VIRT_ADDR != 0,
            key_mask: offer.key_mask(),
            has_atomics: most > 0 && offer.reaches_memory() && offer.info.caps & ATOMIC != 0,
        }
    }
}

impl Library {
    /// Opens it under this name. `Err` with a sentence.
    pub fn open(name: &str) -> Result<Library, String> {
        let absent = |why: &str| {
            format!(
                "this host has no {name} ({why}); install libfabric (Debian: libfabric1), or name it by --mca btl_ofi_library"
            )
        };
        let library = SharedLibrary::open(name).map_err(|why| match why {
            NotOpened::StaticProgram => no_loader(name),
            NotOpened::Absent(why) => absent(&why),
        })?;
        let find = |function: &CStr, version: &CStr| {
            let lacks = || {
                let (function, version) = (function.to_string_lossy(), version.to_string_lossy());
                absent(&format!(
                    "what was found lacks {function} of {version}; libfabric 1.9 is the oldest that has it"
                ))
            };
            library.find(function, Some(version)).ok_or_else(lacks)
        };
        // SAFETY: `header.c` compares each type with the declaration of the function of that name; for all below.
        let get_info = unsafe { transmute::<*mut c_void, GetInfo>(find(c"fi_getinfo", c"FABRIC_1.3")?) };
        // SAFETY: see `get_info`.
        let free_info = unsafe { transmute::<*mut c_void, FreeInfo>(find(c"fi_freeinfo", c"FABRIC_1.3")?) };
        // SAFETY: see `get_info`.
        let dup_info = unsafe { transmute::<*mut c_void, DupInfo>(find(c"fi_dupinfo", c"FABRIC_1.3")?) };
        // SAFETY: see `get_info`.
        let open_fabric = unsafe { transmute::<*mut c_void, OpenFabric>(find(c"fi_fabric", c"FABRIC_1.1")?) };
        // SAFETY: see `get_info`.
        let str_error = unsafe { transmute::<*mut c_void, StrError>(find(c"fi_strerror", c"FABRIC_1.0")?) };
        // SAFETY: see `get_info`.
        let version = unsafe { transmute::<*mut c_void, Version>(find(c"fi_version", c"FABRIC_1.0")?) };
        Ok(Library { get_info, free_info, dup_info, open_fabric, str_error, version })
    }

    /// Its version as people write it.
    pub fn version(&self) -> String {
        // SAFETY: the function takes nothing.
        let version = unsafe { (self.version)() };
        format!("{}.{}", version >> 16, version & 0xffff)
    }

    /// What libfabric calls an error, a positive number.
    pub fn words(&self, error: c_int) -> String {
        // SAFETY: any number may be asked for.
        let text = unsafe { (self.str_error)(error) };
        // SAFETY: a text of libfabric's own.
        unsafe { text_of(text) }
    }

    /// All that carries messages in order between endpoints without connections, in libfabric's order: first what also reaches memory of
    /// peers, with atomic operations where it can, then what does not. `Err` with half a sentence.
    pub fn offers(&self) -> Result<Vec<Offer>, String> {
        let mut offers = self.offers_with(MSG | RMA)?;
        for better in self.offers_with(MSG | RMA | ATOMIC)? {
            let is_same = |one: &&mut Offer| {
                one.info.caps & ATOMIC == 0 && one.format == better.format && one.described() == better.described()
            };
            if let Some(same) = offers.iter_mut().find(is_same) {
                *same = better;
            }
        }
        for offer in self.offers_with(MSG)? {
            let is_same = |one: &Offer| one.format == offer.format && one.described() == offer.described();
            if !offers.iter().any(is_same) {
                offers.push(offer);
            }
        }
        Ok(offers)
    }

    fn offers_with(&self, caps: u64) -> Result<Vec<Offer>, String> {
        // SAFETY: null asks for a record of zeros, with one of each kind of attributes.
        let hints = unsafe { (self.dup_info)(null()) };
        if hints.is_null() {
            return Err(String::from("there is no memory for its records"));
        }
        // SAFETY: just made, with all its attributes, and nobody else's.
        unsafe { fill_hints(hints, caps) };
        let mut first: *const Info = null();
        // SAFETY: no node and no service, a record, and room for one address.
        let result = unsafe { (self.get_info)(API, null(), null(), 0, hints, &mut first) };
        // SAFETY: the record came from fi_dupinfo and is used no more.
        unsafe { (self.free_info)(hints) };
        match result {
            0 => {}
            NO_DATA => return Ok(Vec::new()),
            error => return Err(format!("fi_getinfo says: {}", self.words(-error))),
        }
        let mut offers = Vec::new();
        // SAFETY: null or a record that fi_getinfo made; it is never given back.
        let mut next = unsafe { first.as_ref::<'static>() };
        while let Some(info) = next {
            offers.push(offer(info));
            // SAFETY: as the first one.
            next = unsafe { info.next.as_ref::<'static>() };
        }
        Ok(offers)
    }
}

/// What a provider must be able to do, and what of its wishes is met.
///
/// # Safety
/// The record and its attributes are there.
unsafe fn fill_hints(hints: *mut Info, caps: u64) {
    // SAFETY: the caller's promise.
    let hints = unsafe { &mut *hints };
    hints.caps = caps;
    hints.mode = MODE_CONTEXT | MODE_CONTEXT2;
    // SAFETY: the caller's promise.
    unsafe { (*hints.ep).kind = abi::EP_RDM };
    // SAFETY: the caller's promise.
    unsafe { (*hints.tx).msg_order = ORDER_SAS };
    // SAFETY: the caller's promise.
    unsafe { (*hints.rx).msg_order = ORDER_SAS };
    // SAFETY: the caller's promise.
    let domain = unsafe { &mut *hints.domain };
    domain.threading = THREAD_DOMAIN;
    domain.resource_management = RM_ENABLED;
    domain.mr_mode = MR_LOCAL | MR_VIRT_ADDR | MR_ALLOCATED | MR_PROV_KEY;
}

fn offer(info: &'static Info) -> Offer {
    // SAFETY: fi_getinfo's records have all attributes.
    let domain = unsafe { &*info.domain };
    // SAFETY: as above.
    let fabric = unsafe { &*info.fabric };
    let address: &[u8] = match info.src_addr.is_null() {
        true => &[],
        // SAFETY: not null, and the record says how long it is.
        false => unsafe { slice::from_raw_parts(info.src_addr.cast::<u8>(), info.src_addr_bytes) },
    };
    Offer {
        info,
        // SAFETY: names in the record, or null, here and below.
        provider: unsafe { text_of(fabric.provider) },
        // SAFETY: see `provider`.
        domain: unsafe { text_of(domain.name) },
        // SAFETY: see `provider`.
        fabric: unsafe { text_of(fabric.name) },
        at: at(info.addr_format, address),
        format: info.addr_format,
    }
}

/// Reads an address of this machine.
pub fn at(format: u32, address: &[u8]) -> At {
    match (format, address.len()) {
        (SOCKADDR | SOCKADDR_IN, 16..) if address[0] == libc::AF_INET as u8 => match address[4..8] {
            [127, ..] => At::Loopback,
            [169, 254, ..] => At::LinkLocal,
            _ => At::Four,
        },
        (SOCKADDR | SOCKADDR_IN6, 28..) if address[0] == libc::AF_INET6 as u8 => match address[8..24] {
            [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] => At::Loopback,
            [0xfe, second, ..] if second & 0xc0 == 0x80 => At::LinkLocal,
            _ => At::Six,
        },
        _ => At::Own,
    }
}

impl Offer {
    /// What the provider speaks, and in which version.
    pub fn protocol(&self) -> (u32, u32) {
        (self.ep().protocol, self.ep().protocol_version)
    }

    /// The longest payload behind a header.
    pub fn message_bytes(&self) -> usize {
        self.ep().max_message_bytes.saturating_sub(HEADER_BYTES)
    }

    /// Whether memory of peers can be reached as it is. Where local memory must be registered for each operation, it is not done yet.
    pub fn reaches_memory(&self) -> bool {
        self.info.caps & RMA != 0 && self.mr_mode() & MR_LOCAL == 0
    }

    /// Whether operations on this process's memory go on while it polls nothing.
    pub fn has_own_progress(&self) -> bool {
        // SAFETY: fi_getinfo's records have all attributes.
        unsafe { (*self.info.domain).data_progress == PROGRESS_AUTO }
    }

    /// What the provider wants of registered memory.
    pub fn mr_mode(&self) -> c_int {
        // SAFETY: fi_getinfo's records have all attributes.
        unsafe { (*self.info.domain).mr_mode }
    }

    /// The keys that this process may choose, as a mask; `None`: the provider chooses them.
    pub fn key_mask(&self) -> Option<u64> {
        // SAFETY: fi_getinfo's records have all attributes.
        let bytes = unsafe { (*self.info.domain).mr_key_bytes };
        (self.mr_mode() & MR_PROV_KEY == 0).then(|| u64::MAX >> (64 - 8 * bytes.clamp(1, 8)))
    }

    /// How many sends and receives may be under way.
    pub fn sizes(&self) -> (usize, usize) {
        // SAFETY: fi_getinfo's records have all attributes.
        let tx = unsafe { &*self.info.tx };
        // SAFETY: as above.
        let rx = unsafe { &*self.info.rx };
        (tx.size, rx.size)
    }

    /// One that is never opened.
    #[cfg(test)]
    pub fn for_tests(provider: &str, domain: &str, fabric: &str, at: At, format: u32) -> Offer {
        let [provider, domain, fabric] = [provider, domain, fabric].map(String::from);
        // SAFETY: zeros are null pointers and numbers.
        let info: Info = unsafe { core::mem::zeroed() };
        Offer { info: alloc::boxed::Box::leak(alloc::boxed::Box::new(info)), provider, domain, fabric, at, format }
    }

    fn ep(&self) -> &'static EpAttr {
        // SAFETY: fi_getinfo's records have all attributes.
        unsafe { &*self.info.ep }
    }

    /// For people.
    pub fn described(&self) -> String {
        format!("{} over {} ({})", self.provider, self.domain, self.fabric)
    }
}

/// What this component was written against: version 1.9.
const API: u32 = 1 << 16 | 9;
const NO_DATA: c_int = -61;
const OPERATIONS_MAX: usize = 256;
