//! One interface of UCT's: opened with what it can be told, and joined with those of peers.
#![allow(unsafe_code)]

use super::arrivals::{Arrivals, failed};
use super::library::Library;
use super::offer::{Domain, Offer};
use crate::abi::{
    EP_DEVICE_ADDR, EP_IFACE, EP_IFACE_ADDR, EpParams, Handle, IFACE_AM_BCOPY, IFACE_AM_DUP, IFACE_AM_SHORT,
    IFACE_CB_SYNC, IFACE_CONNECT_TO_IFACE, Iface, IfaceAttr, IfaceParams, NO_RESOURCE, OK, OPEN_MODE_DEVICE,
    PARAM_CPU_MASK, PARAM_DEVICE, PARAM_ERR_HANDLER, PARAM_ERR_HANDLER_ARG, PARAM_ERR_HANDLER_FLAGS, PARAM_FEATURES,
    PARAM_OPEN_MODE, PARAM_RX_HEADROOM, PARAM_STATS_ROOT, PROGRESS_RECV, PROGRESS_SEND, Status, Worker,
};
use crate::wire::{ADDRESS_MAX, HEADER_BYTES, Place};
use alloc::ffi::CString;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::MaybeUninit;
use core::ptr::{null, null_mut};

/// One interface, and where it is reached.
pub struct Port {
    pub(super) iface: *mut Iface,
    pub(super) attr: IfaceAttr,
    transport: String,
    device_addr: Vec<u8>,
    iface_addr: Vec<u8>,
}

/// A peer as an interface knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ep(pub(super) *mut crate::abi::EpObject);

// SAFETY: it belongs to the process; it is used under the lock of the interface.
unsafe impl Send for Ep {}

/// What became of a message, or of an operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Posted {
    /// UCT has it all.
    Done,
    /// It goes on; its end is in a batch.
    Begun,
    /// There is no room; after progress there may be.
    Full,
    /// UCT refuses, by this status.
    Refused(Status),
}

impl Ep {
    /// Whether it is the one at this address.
    pub fn is(&self, ep: *const crate::abi::EpObject) -> bool {
        core::ptr::eq(self.0, ep)
    }
}

impl Port {
    /// Opens an interface of a worker. The longest message is told where the transport can be told.
    pub(super) fn open(
        library: &Library,
        worker: *mut Worker,
        domain: &Domain,
        offer: &Offer,
        arrivals: &Arrivals,
        (features, fragment_bytes): (u64, Option<usize>),
    ) -> Result<Port, String> {
        let name = |text: &str| CString::new(text).map_err(|_| String::from("its name has a zero in it"));
        let (transport, device) = (name(&offer.transport)?, name(&offer.device)?);
        let mut config = null_mut();
        // SAFETY: an open domain, the name of one of its transports, and room for an address.
        let read = unsafe {
            (library.uct_md_iface_config_read)(domain.handle, transport.as_ptr(), null(), null(), &mut config)
        };
        library.check("uct_md_iface_config_read", read)?;
        if let Some(bytes) = fragment_bytes {
            set(library, config, bytes);
        }
        let mut params = params(features, arrivals);
        (params.transport, params.device) = (transport.as_ptr(), device.as_ptr());
        let mut iface = null_mut();
        // SAFETY: an open domain, a worker, what was read for this transport, parameters whose mask says which are there, and room for an
        // address. The error handler's argument stays as long as the process lives.
        let opened = unsafe { (library.uct_iface_open)(domain.handle, worker, &params, config, &mut iface) };
        // SAFETY: read above, and used no more.
        unsafe { (library.uct_config_release)(config) };
        library.check("uct_iface_open", opened)?;
        let mut attr = MaybeUninit::<IfaceAttr>::zeroed();
        // SAFETY: an interface, and room for what it says, in this version and in longer ones.
        library.check("uct_iface_query", unsafe { (library.uct_iface_query)(iface, attr.as_mut_ptr()) })?;
        // SAFETY: numbers, which zeros are, too.
        let attr = unsafe { attr.assume_init() };
        // SAFETY: an interface that is open.
        let progress_enable = unsafe { (*iface).ops.progress_enable };
        // SAFETY: as above.
        unsafe { progress_enable(iface, PROGRESS_SEND | PROGRESS_RECV) };
        if attr.device_addr_bytes.max(attr.iface_addr_bytes) > ADDRESS_MAX {
            return Err(format!("its address has more than the {ADDRESS_MAX} bytes that there is room for"));
        }
        let mut device_addr = alloc::vec![0; attr.device_addr_bytes];
        let mut iface_addr = alloc::vec![0; attr.iface_addr_bytes];
        // SAFETY: room for as many bytes as the interface said.
        let status = unsafe { (library.uct_iface_get_device_address)(iface, device_addr.as_mut_ptr()) };
        library.check("uct_iface_get_device_address", status)?;
        // SAFETY: as above.
        let status = unsafe { (library.uct_iface_get_address)(iface, iface_addr.as_mut_ptr()) };
        library.check("uct_iface_get_address", status)?;
        Ok(Port { iface, attr, transport: offer.transport.clone(), device_addr, iface_addr })
    }

    /// Whether messages can go through it.
    pub(super) fn check(&self) -> Result<(), String> {
        let (flags, short, longest) = (self.attr.flags, self.attr.am.max_short, self.attr.am.max_bcopy);
        let needed = IFACE_AM_SHORT | IFACE_AM_BCOPY | IFACE_CB_SYNC | IFACE_CONNECT_TO_IFACE;
        if flags & IFACE_AM_DUP != 0 {
            return Err(String::from("it may bring a message twice"));
        }
        if flags & needed != needed {
            return Err(format!("it lacks {:#x} of the abilities that messages need", needed & !flags));
        }
        if short < HEADER_BYTES || longest < HEADER_BYTES_AND_SOME {
            return Err(format!(
                "its messages have {longest} bytes at most, short ones {short}; {HEADER_BYTES_AND_SOME} and {HEADER_BYTES} are needed"
            ));
        }
        Ok(())
    }

    pub(super) fn place(&self) -> Place<'_> {
        Place { transport: self.transport.as_bytes(), device: &self.device_addr, interface: &self.iface_addr }
    }

    pub(super) fn reaches(&self, library: &Library, place: &Place<'_>) -> bool {
        let Some([device, interface]) = self.padded(place) else { return false };
        // SAFETY: addresses as long as those of this interface, with zeros behind them.
        unsafe { (library.uct_iface_is_reachable)(self.iface, device.as_ptr(), interface.as_ptr()) != 0 }
    }

    pub(super) fn connect(&self, library: &Library, place: &Place<'_>) -> Result<Ep, Status> {
        let [device, interface] = self.padded(place).ok_or(crate::abi::INVALID_ADDRESS)?;
        let params = EpParams {
            field_mask: EP_IFACE | EP_DEVICE_ADDR | EP_IFACE_ADDR,
            iface: self.iface,
            user_data: null_mut(),
            device_addr: device.as_ptr(),
            iface_addr: interface.as_ptr(),
            rest: [0; 27],
        };
        let mut ep = null_mut();
        // SAFETY: parameters whose mask says which are there, and room for an address.
        match unsafe { (library.uct_ep_create)(&params, &mut ep) } {
            OK => Ok(Ep(ep)),
            error => Err(error),
        }
    }

    /// The peer's addresses with zeros behind them: UCT believes what they say of their length.
    fn padded(&self, place: &Place<'_>) -> Option<[[u8; 2 * ADDRESS_MAX]; 2]> {
        let is_alike = place.transport == self.transport.as_bytes()
            && place.device.len() == self.device_addr.len()
            && place.interface.len() == self.iface_addr.len();
        let padded = |bytes: &[u8]| {
            let mut padded = [0; 2 * ADDRESS_MAX];
            padded[..bytes.len()].copy_from_slice(bytes);
            padded
        };
        is_alike.then(|| [padded(place.device), padded(place.interface)])
    }
}

/// Tells a transport what it can be told: those over sockets know these settings, others refuse them and keep their own.
fn set(library: &Library, config: Handle, fragment_bytes: usize) {
    let settings = [
        (c"TX_SEG_SIZE", format!("{fragment_bytes}")),
        (c"RX_SEG_SIZE", format!("{}", fragment_bytes.max(1 << 16))),
        // Whoever adds a peer must not wait for it.
        (c"CONN_NB", String::from("y")),
    ];
    for (setting, value) in settings {
        let value = CString::new(value).expect("no setting has a zero in it");
        // SAFETY: what was read for an interface, and two texts with a zero at their ends.
        unsafe { (library.uct_config_modify)(config, setting.as_ptr(), value.as_ptr()) };
    }
}

fn params(features: u64, arrivals: &Arrivals) -> IfaceParams {
    IfaceParams {
        field_mask: PARAM_CPU_MASK
            | PARAM_OPEN_MODE
            | PARAM_DEVICE
            | PARAM_STATS_ROOT
            | PARAM_RX_HEADROOM
            | PARAM_ERR_HANDLER_ARG
            | PARAM_ERR_HANDLER
            | PARAM_ERR_HANDLER_FLAGS
            | PARAM_FEATURES,
        cpu_mask: [0; 16],
        open_mode: OPEN_MODE_DEVICE,
        transport: null(),
        device: null(),
        rest_of_mode: [0; 3],
        stats_root: null_mut(),
        rx_headroom: 0,
        err_handler_arg: arrivals.failures(),
        err_handler: Some(failed),
        err_handler_flags: 0,
        between: [0; 9],
        features,
    }
}

/// What a call says that returns a length or a status.
pub(super) fn posted(result: isize) -> Posted {
    match result {
        0.. => Posted::Done,
        _ if result == isize::from(NO_RESOURCE) => Posted::Full,
        error => Posted::Refused(error as Status),
    }
}

/// pml/ob1 needs 48 bytes, and less than this is of no use.
const HEADER_BYTES_AND_SOME: usize = HEADER_BYTES + 1024;
