//! The structures that libfabric and this component hand each other, and the numbers in them: ABI 1.3 of libfabric, `rdma/fabric.h` and
//! the headers beside it. Of a table of functions only the first ones stand here, up to the last that is called.

use core::cell::Cell;
use core::ffi::{c_char, c_int, c_void};

/// A function that is not called.
pub type Uncalled = usize;
/// Where a peer stands in the address vector.
pub type FiAddr = u64;

/// `struct fi_info`.
#[repr(C)]
pub struct Info {
    pub next: *const Info,
    pub caps: u64,
    pub mode: u64,
    pub addr_format: u32,
    pub src_addr_bytes: usize,
    pub dest_addr_bytes: usize,
    pub src_addr: *const c_void,
    pub dest_addr: *const c_void,
    pub handle: *const c_void,
    pub tx: *mut TxAttr,
    pub rx: *mut RxAttr,
    pub ep: *mut EpAttr,
    pub domain: *mut DomainAttr,
    pub fabric: *mut FabricAttr,
    pub nic: *const c_void,
}

/// `struct fi_tx_attr`.
#[repr(C)]
pub struct TxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub inject_bytes: usize,
    pub size: usize,
    pub iov_limit: usize,
    pub rma_iov_limit: usize,
    pub traffic_class: u32,
}

/// `struct fi_rx_attr`.
#[repr(C)]
pub struct RxAttr {
    pub caps: u64,
    pub mode: u64,
    pub op_flags: u64,
    pub msg_order: u64,
    pub comp_order: u64,
    pub total_buffered_recv: usize,
    pub size: usize,
    pub iov_limit: usize,
}

/// `struct fi_ep_attr`, as far as it is used.
#[repr(C)]
pub struct EpAttr {
    pub kind: c_int,
    pub protocol: u32,
    pub protocol_version: u32,
    pub max_message_bytes: usize,
}

/// `struct fi_domain_attr`, as far as it is used.
#[repr(C)]
pub struct DomainAttr {
    pub domain: *const c_void,
    pub name: *const c_char,
    pub threading: c_int,
    pub control_progress: c_int,
    pub data_progress: c_int,
    pub resource_management: c_int,
    pub av_type: c_int,
    pub mr_mode: c_int,
    pub mr_key_bytes: usize,
}

/// `struct fi_fabric_attr`.
#[repr(C)]
pub struct FabricAttr {
    pub fabric: *const c_void,
    pub name: *const c_char,
    pub provider: *const c_char,
    pub provider_version: u32,
    pub api_version: u32,
}

/// `struct fid`: how every object begins.
#[repr(C)]
pub struct Fid {
    pub class: usize,
    pub context: *mut c_void,
    pub ops: &'static FidOps,
}

/// `struct fi_ops`.
#[repr(C)]
pub struct FidOps {
    pub size: usize,
    pub close: unsafe extern "C" fn(*const Fid) -> c_int,
    pub bind: unsafe extern "C" fn(*const Fid, *const Fid, u64) -> c_int,
    pub control: unsafe extern "C" fn(*const Fid, c_int, *mut c_void) -> c_int,
}

/// `struct fid_fabric`.
#[repr(C)]
pub struct FidFabric {
    pub fid: Fid,
    pub ops: &'static FabricOps,
}

/// `struct fi_ops_fabric`.
#[repr(C)]
pub struct FabricOps {
    pub size: usize,
    pub domain: unsafe extern "C" fn(*const FidFabric, *const Info, *mut *const FidDomain, *mut c_void) -> c_int,
    pub passive_ep: Uncalled,
    pub eq_open: Uncalled,
    pub wait_open: Uncalled,
    pub trywait: unsafe extern "C" fn(*const FidFabric, *const *const Fid, c_int) -> c_int,
}

/// `struct fid_domain`.
#[repr(C)]
pub struct FidDomain {
    pub fid: Fid,
    pub ops: &'static DomainOps,
    pub mr: &'static MrOps,
}

/// `struct fi_ops_domain`.
#[repr(C)]
pub struct DomainOps {
    pub size: usize,
    pub av_open: unsafe extern "C" fn(*const FidDomain, *const AvAttr, *mut *const FidAv, *mut c_void) -> c_int,
    pub cq_open: unsafe extern "C" fn(*const FidDomain, *const CqAttr, *mut *const FidCq, *mut c_void) -> c_int,
    pub endpoint: unsafe extern "C" fn(*const FidDomain, *const Info, *mut *const FidEp, *mut c_void) -> c_int,
}

/// `struct fi_ops_mr`.
#[repr(C)]
pub struct MrOps {
    pub size: usize,
    pub register: unsafe extern "C" fn(
        *const Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        *mut *const FidMr,
        *mut c_void,
    ) -> c_int,
}

/// `struct fid_mr`.
#[repr(C)]
pub struct FidMr {
    pub fid: Fid,
    pub descriptor: *mut c_void,
    pub key: u64,
}

/// `struct fid_av`.
#[repr(C)]
pub struct FidAv {
    pub fid: Fid,
    pub ops: &'static AvOps,
}

/// `struct fi_av_attr`.
#[repr(C)]
pub struct AvAttr {
    pub kind: c_int,
    pub rx_ctx_bits: c_int,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: *const c_char,
    pub map_addr: *const c_void,
    pub flags: u64,
}

/// `struct fi_ops_av`.
#[repr(C)]
pub struct AvOps {
    pub size: usize,
    pub insert: unsafe extern "C" fn(*const FidAv, *const c_void, usize, *mut FiAddr, u64, *mut c_void) -> c_int,
    pub insert_service: Uncalled,
    pub insert_symmetric: Uncalled,
    pub remove: Uncalled,
    pub lookup: Uncalled,
    pub text: unsafe extern "C" fn(*const FidAv, *const c_void, *mut c_char, *mut usize) -> *const c_char,
}

/// `struct fid_cq`.
#[repr(C)]
pub struct FidCq {
    pub fid: Fid,
    pub ops: &'static CqOps,
}

/// `struct fi_cq_attr`.
#[repr(C)]
pub struct CqAttr {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_object: c_int,
    pub signaling_vector: c_int,
    pub wait_condition: c_int,
    pub wait_set: *const c_void,
}

/// `struct fi_ops_cq`.
#[repr(C)]
pub struct CqOps {
    pub size: usize,
    pub read: unsafe extern "C" fn(*const FidCq, *mut c_void, usize) -> isize,
    pub read_from: Uncalled,
    pub read_error: unsafe extern "C" fn(*const FidCq, *mut CqError, u64) -> isize,
    pub sread: Uncalled,
    pub sread_from: Uncalled,
    pub signal: Uncalled,
    pub words: unsafe extern "C" fn(*const FidCq, c_int, *const c_void, *mut c_char, usize) -> *const c_char,
}

/// `struct fi_cq_msg_entry`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CqEntry {
    pub context: *const Context,
    pub flags: u64,
    pub bytes: usize,
}

/// `struct fi_cq_err_entry`.
#[repr(C)]
pub struct CqError {
    pub context: *const Context,
    pub flags: u64,
    pub bytes: usize,
    pub buffer: *const c_void,
    pub data: u64,
    pub tag: u64,
    pub lost_bytes: usize,
    pub errno: c_int,
    pub provider_errno: c_int,
    pub details: *const c_void,
    pub details_bytes: usize,
}

/// `struct fid_ep`, as far as it is used. A provider may change its tables while the endpoint is enabled.
#[repr(C)]
pub struct FidEp {
    pub fid: Fid,
    pub ops: Uncalled,
    pub cm: Cell<&'static CmOps>,
    pub msg: Cell<&'static MsgOps>,
    pub rma: Cell<&'static RmaOps>,
    pub tagged: Uncalled,
    pub atomic: Cell<&'static AtomicOps>,
}

/// `struct fi_ops_cm`.
#[repr(C)]
pub struct CmOps {
    pub size: usize,
    pub set_name: Uncalled,
    pub name: unsafe extern "C" fn(*const Fid, *mut c_void, *mut usize) -> c_int,
}

/// `struct fi_ops_msg`.
#[repr(C)]
pub struct MsgOps {
    pub size: usize,
    pub receive: unsafe extern "C" fn(*const FidEp, *mut c_void, usize, *mut c_void, FiAddr, *mut Context) -> isize,
    pub receive_vector: Uncalled,
    pub receive_message: Uncalled,
    pub send: unsafe extern "C" fn(*const FidEp, *const c_void, usize, *mut c_void, FiAddr, *mut Context) -> isize,
    pub send_vector: Uncalled,
    pub send_message: unsafe extern "C" fn(*const FidEp, *const Message, u64) -> isize,
}

/// `struct fi_msg`.
#[repr(C)]
pub struct Message {
    pub runs: *const libc::iovec,
    pub descriptors: *const *mut c_void,
    pub count: usize,
    pub to: FiAddr,
    pub context: *mut Context,
    pub data: u64,
}

/// `struct fi_ops_rma`.
#[repr(C)]
pub struct RmaOps {
    pub size: usize,
    pub read:
        unsafe extern "C" fn(*const FidEp, *mut c_void, usize, *mut c_void, FiAddr, u64, u64, *mut Context) -> isize,
    pub read_vector: Uncalled,
    pub read_message: Uncalled,
    pub write: Uncalled,
    pub write_vector: Uncalled,
    pub write_message: unsafe extern "C" fn(*const FidEp, *const RmaMessage, u64) -> isize,
}

/// `struct fi_msg_rma`.
#[repr(C)]
pub struct RmaMessage {
    pub runs: *const libc::iovec,
    pub descriptors: *const *mut c_void,
    pub count: usize,
    pub to: FiAddr,
    pub remote: *const RmaRun,
    pub remote_count: usize,
    pub context: *mut Context,
    pub data: u64,
}

/// `struct fi_rma_iov`.
#[repr(C)]
pub struct RmaRun {
    pub address: u64,
    pub bytes: usize,
    pub key: u64,
}

/// `struct fi_ops_atomic`.
#[repr(C)]
pub struct AtomicOps {
    pub size: usize,
    pub write: Uncalled,
    pub write_vector: Uncalled,
    pub write_message: Uncalled,
    pub inject: Uncalled,
    pub fetch: unsafe extern "C" fn(
        *const FidEp,
        *const c_void,
        usize,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        FiAddr,
        u64,
        u64,
        c_int,
        c_int,
        *mut Context,
    ) -> isize,
    pub fetch_vector: Uncalled,
    pub fetch_message: Uncalled,
    pub compare: unsafe extern "C" fn(
        *const FidEp,
        *const c_void,
        usize,
        *mut c_void,
        *const c_void,
        *mut c_void,
        *mut c_void,
        *mut c_void,
        FiAddr,
        u64,
        u64,
        c_int,
        c_int,
        *mut Context,
    ) -> isize,
    pub compare_vector: Uncalled,
    pub compare_message: Uncalled,
    pub write_valid: Uncalled,
    pub fetch_valid: unsafe extern "C" fn(*const FidEp, c_int, c_int, *mut usize) -> c_int,
    pub compare_valid: unsafe extern "C" fn(*const FidEp, c_int, c_int, *mut usize) -> c_int,
}

/// `struct fi_context2`: room that a provider may want for each operation.
#[repr(C)]
pub struct Context([usize; 8]);

pub const MSG: u64 = 1 << 1;
pub const RMA: u64 = 1 << 2;
pub const ATOMIC: u64 = 1 << 4;
pub const RECV: u64 = 1 << 10;
pub const REMOTE_READ: u64 = 1 << 12;
pub const REMOTE_WRITE: u64 = 1 << 13;
pub const DELIVERY_COMPLETE: u64 = 1 << 28;
pub const SEND: u64 = 1 << 11;
pub const TRANSMIT: u64 = SEND;
pub const COMPLETION: u64 = 1 << 24;
pub const INJECT: u64 = 1 << 25;
pub const ORDER_SAS: u64 = 1 << 8;
pub const MODE_CONTEXT: u64 = 1 << 59;
pub const MODE_CONTEXT2: u64 = 1 << 52;
pub const MR_LOCAL: c_int = 1 << 2;
pub const MR_VIRT_ADDR: c_int = 1 << 4;
pub const MR_ALLOCATED: c_int = 1 << 5;
pub const MR_PROV_KEY: c_int = 1 << 6;
pub const EP_RDM: c_int = 3;
pub const THREAD_DOMAIN: c_int = 3;
pub const PROGRESS_AUTO: c_int = 1;
pub const UINT32: c_int = 5;
pub const UINT64: c_int = 7;
pub const OP_SUM: c_int = 2;
pub const OP_BOR: c_int = 6;
pub const OP_BAND: c_int = 7;
pub const OP_BXOR: c_int = 9;
pub const OP_WRITE: c_int = 11;
pub const OP_CSWAP: c_int = 12;
pub const RM_ENABLED: c_int = 2;
pub const CQ_FORMAT_MSG: c_int = 2;
pub const WAIT_NONE: c_int = 0;
pub const WAIT_FD: c_int = 3;
pub const GETWAIT: c_int = 5;
pub const ENABLE: c_int = 6;
pub const ADDR_UNSPEC: FiAddr = u64::MAX;
pub const SOCKADDR: u32 = 1;
pub const SOCKADDR_IN: u32 = 2;
pub const SOCKADDR_IN6: u32 = 3;
pub const ADDR_STR: u32 = 9;
pub const EAGAIN: isize = 11;
pub const EAVAIL: isize = 259;
pub const ENOKEY: c_int = 266;
