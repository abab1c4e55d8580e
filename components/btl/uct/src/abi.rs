//! The structures that UCT and this component hand each other, and the numbers in them: those of UCX 1.13 to 1.22, `uct/api/uct.h` and the
//! headers beside it. What UCT fills in has room behind it, since some versions write more.

use core::ffi::{c_char, c_int, c_uint, c_void};

/// `ucs_status_t`.
pub type Status = i8;
/// A handle whose inside is UCT's own: a component, a memory domain, a worker, registered memory.
pub type Handle = *mut c_void;

/// `uct_component_attr_t`.
#[repr(C)]
pub struct ComponentAttr {
    pub field_mask: u64,
    pub name: [c_char; COMPONENT_NAME_BYTES],
    pub md_count: c_uint,
    pub mds: *mut MdResource,
    pub flags: u64,
}

/// `uct_md_resource_desc_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MdResource {
    pub name: [c_char; MD_NAME_BYTES],
}

/// `uct_tl_resource_desc_t`.
#[repr(C)]
pub struct TransportResource {
    pub transport: [c_char; TRANSPORT_NAME_BYTES],
    pub device: [c_char; DEVICE_NAME_BYTES],
    pub device_kind: c_int,
    pub system_device: u8,
}

/// `uct_md_attr_t`, as far as it is used.
#[repr(C)]
pub struct MdAttr {
    pub max_alloc: u64,
    pub max_registration: usize,
    pub flags: u64,
    pub between: [u64; 8],
    pub rkey_bytes: usize,
    pub rest: [u64; 64],
}

/// What one kind of operations allows, in `uct_iface_attr_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent {
    pub max_short: usize,
    pub max_bcopy: usize,
    pub min_zcopy: usize,
    pub max_zcopy: usize,
    pub alignment: usize,
    pub mtu: usize,
    pub last: usize,
}

/// `uct_iface_attr_t`, as far as it is used.
#[repr(C)]
pub struct IfaceAttr {
    pub put: Extent,
    pub get: Extent,
    pub am: Extent,
    pub between: [u64; 16],
    pub flags: u64,
    pub event_flags: u64,
    pub device_addr_bytes: usize,
    pub iface_addr_bytes: usize,
    pub ep_addr_bytes: usize,
    pub listen: [u64; 17],
    pub overhead_s: f64,
    pub dedicated_bandwidth: f64,
    pub shared_bandwidth: f64,
    pub latency_s: f64,
    pub latency_per_endpoint_s: f64,
    pub rest: [u64; 64],
}

/// `uct_iface_params_t`.
#[repr(C)]
pub struct IfaceParams {
    pub field_mask: u64,
    pub cpu_mask: [u64; 16],
    pub open_mode: u64,
    pub transport: *const c_char,
    pub device: *const c_char,
    pub rest_of_mode: [u64; 3],
    pub stats_root: *mut c_void,
    pub rx_headroom: usize,
    pub err_handler_arg: *mut c_void,
    pub err_handler: Option<ErrHandler>,
    pub err_handler_flags: u32,
    pub between: [u64; 9],
    pub features: u64,
}

/// `uct_ep_params_t`, as far as it is used; the mask says how far.
#[repr(C)]
pub struct EpParams {
    pub field_mask: u64,
    pub iface: *mut Iface,
    pub user_data: *mut c_void,
    pub device_addr: *const u8,
    pub iface_addr: *const u8,
    pub rest: [u64; 27],
}

/// `uct_iov_t`.
#[repr(C)]
pub struct Iov {
    pub buffer: *mut c_void,
    pub bytes: usize,
    pub memh: Handle,
    pub stride: usize,
    pub count: c_uint,
}

/// `uct_completion_t`.
#[repr(C)]
pub struct Completion {
    pub call: unsafe extern "C" fn(*mut Completion),
    pub count: c_int,
    pub status: Status,
}

/// `uct_rkey_bundle_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RkeyBundle {
    pub rkey: usize,
    pub handle: *mut c_void,
    pub kind: *mut c_void,
}

/// `uct_worker_t`: elements that are called to make progress, up to the first one without a function.
#[repr(C)]
pub struct Worker {
    pub first: CallbackElement,
}

/// `ucs_callbackq_elem_t`, as all versions have it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CallbackElement {
    pub call: Option<unsafe extern "C" fn(*mut c_void) -> c_uint>,
    pub arg: *mut c_void,
}

/// How far one element is from the next, in this version of UCX.
pub fn callback_element_bytes([_, minor]: [u8; 2]) -> usize {
    if minor < 16 { 24 } else { 16 }
}

/// `uct_ep_t`.
#[repr(C)]
pub struct EpObject {
    pub iface: *mut Iface,
}

/// `uct_iface_t`.
#[repr(C)]
pub struct Iface {
    pub ops: IfaceOps,
}

/// A function that is not called.
pub type Uncalled = usize;

/// `uct_iface_ops_t`, up to the last function that is called.
#[repr(C)]
pub struct IfaceOps {
    pub put_short: Uncalled,
    pub put_bcopy: Uncalled,
    pub put_zcopy: Move,
    pub get_short: Uncalled,
    pub get_bcopy: Uncalled,
    pub get_zcopy: Move,
    pub am_short: unsafe extern "C" fn(*mut EpObject, u8, u64, *const c_void, c_uint) -> Status,
    pub am_short_iov: Uncalled,
    pub am_bcopy: unsafe extern "C" fn(*mut EpObject, u8, Pack, *mut c_void, c_uint) -> isize,
    pub between: [Uncalled; 29],
    pub flush: unsafe extern "C" fn(*mut Iface, c_uint, *mut Completion) -> Status,
    pub fence: Uncalled,
    pub progress_enable: unsafe extern "C" fn(*mut Iface, c_uint),
}

/// `uct_ep_put_zcopy_func_t`, and that of get.
pub type Move = unsafe extern "C" fn(*mut EpObject, *const Iov, usize, u64, usize, *mut Completion) -> Status;
/// `uct_pack_callback_t`.
pub type Pack = unsafe extern "C" fn(*mut c_void, *mut c_void) -> usize;
/// `uct_am_callback_t`.
pub type AmCallback = unsafe extern "C" fn(*mut c_void, *mut c_void, usize, c_uint) -> Status;
/// `uct_error_handler_t`.
pub type ErrHandler = unsafe extern "C" fn(*mut c_void, *mut EpObject, Status) -> Status;

pub const OK: Status = 0;
pub const IN_PROGRESS: Status = 1;
pub const NO_RESOURCE: Status = -2;
pub const INVALID_ADDRESS: Status = -7;
pub const UNSUPPORTED: Status = -22;

pub const COMPONENT_NAME_BYTES: usize = 16;
pub const MD_NAME_BYTES: usize = 16;
pub const TRANSPORT_NAME_BYTES: usize = 10;
pub const DEVICE_NAME_BYTES: usize = 32;

pub const COMPONENT_NAME: u64 = 1 << 0;
pub const COMPONENT_MD_COUNT: u64 = 1 << 1;
pub const COMPONENT_MDS: u64 = 1 << 2;

pub const DEVICE_NODE: c_int = 1;
pub const DEVICE_ACCELERATOR: c_int = 2;
pub const DEVICE_SELF: c_int = 3;

pub const IFACE_AM_SHORT: u64 = 1 << 0;
pub const IFACE_AM_BCOPY: u64 = 1 << 1;
pub const IFACE_PUT_ZCOPY: u64 = 1 << 6;
pub const IFACE_GET_ZCOPY: u64 = 1 << 10;
pub const IFACE_CONNECT_TO_IFACE: u64 = 1 << 40;
pub const IFACE_AM_DUP: u64 = 1 << 43;
pub const IFACE_CB_SYNC: u64 = 1 << 44;

pub const EVENT_SEND: u64 = 1 << 0;
pub const EVENT_RECV: u64 = 1 << 1;
pub const EVENT_FD: u64 = 1 << 3;

pub const MD_REG: u64 = 1 << 1;
pub const MD_NEED_MEMH: u64 = 1 << 2;
pub const MD_NEED_RKEY: u64 = 1 << 3;
pub const MEM_ACCESS_RMA: c_uint = 1 << 5 | 1 << 6 | 1 << 8 | 1 << 9;

pub const PARAM_CPU_MASK: u64 = 1 << 0;
pub const PARAM_OPEN_MODE: u64 = 1 << 1;
pub const PARAM_DEVICE: u64 = 1 << 2;
pub const PARAM_STATS_ROOT: u64 = 1 << 4;
pub const PARAM_RX_HEADROOM: u64 = 1 << 5;
pub const PARAM_ERR_HANDLER_ARG: u64 = 1 << 6;
pub const PARAM_ERR_HANDLER: u64 = 1 << 7;
pub const PARAM_ERR_HANDLER_FLAGS: u64 = 1 << 8;
pub const PARAM_FEATURES: u64 = 1 << 18;
pub const OPEN_MODE_DEVICE: u64 = 1 << 0;
pub const FEATURE_AM: u64 = 1 << 0;
pub const FEATURE_PUT: u64 = 1 << 1;
pub const FEATURE_GET: u64 = 1 << 2;

pub const EP_IFACE: u64 = 1 << 0;
pub const EP_DEVICE_ADDR: u64 = 1 << 2;
pub const EP_IFACE_ADDR: u64 = 1 << 3;

pub const PROGRESS_SEND: c_uint = 1 << 0;
pub const PROGRESS_RECV: c_uint = 1 << 1;
pub const ASYNC_MODE_POLL: c_int = 3;
pub const THREAD_MODE_SERIALIZED: c_int = 1;
pub const INVALID_RKEY: usize = usize::MAX;
