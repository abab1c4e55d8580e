//! Point-to-point messaging layer: MPI's matching and protocols over the transports.
#![allow(unsafe_code)] // linkme's expansion

use crate::comm::Communicator;
use crate::data::Data;
use crate::error::{Class, Fault, Result};
use crate::request::Request;
use crate::status::Status;
use alloc::sync::Arc;
use core::ffi::{c_int, c_void};
use opal_core::inspect::Fact;
use opal_core::mca;
use opal_core::wait::{self, Subject};

#[cfg(ompi_direct = "pml")]
mod direct;
mod path_info;
mod select;
pub mod subject;
mod traffic;
pub mod watched;
#[cfg(ompi_direct = "pml")]
pub use direct::{Direct, selected};
pub use path_info::PathInfo;
pub use select::select;
#[cfg(not(ompi_direct = "pml"))]
pub use select::selected;
pub use traffic::{
    Happened, MessageEvent, Observer, PeerTraffic, Traffic, TrafficCount, ignore_messages, is_observed,
    observe_messages, tell_unexpected,
};

/// How a send behaves. Buffered sends are made of standard ones above this layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// MPI_Send.
    Standard,
    /// MPI_Ssend: completes only when it was matched.
    Synchronous,
    /// MPI_Rsend: the receive is already posted.
    Ready,
}

/// Where a message travels: a communicator, and whether among the user's messages or those of collectives, which never
/// match each other.
#[derive(Clone, Copy)]
pub struct MatchContext<'a> {
    /// The communicator.
    pub comm: &'a Communicator,
    /// Belongs to a collective operation.
    pub collective: bool,
}

/// A message taken out of matching by a matched probe; receive it once.
#[derive(Debug)]
pub struct Matched {
    /// Its envelope and length.
    pub status: Status,
    /// The component's name for it: a number from 1024 to 2^31 - 1 that no other message in force has, so that it can
    /// be the C handle. [`NO_PROC`] for a message from MPI_PROC_NULL.
    pub token: u64,
}

/// Bytes of an out-of-band message that any transport carries in one piece.
pub const OOB_BYTES: usize = 48;

/// The token of the message that a matched probe of MPI_PROC_NULL returns: MPI_MESSAGE_NO_PROC.
pub const NO_PROC: u64 = 0x129;

/// The running PML. Ranks are ranks of the communicator (of its remote group if it is an intercommunicator), already
/// checked, or MPI_PROC_NULL, or MPI_ANY_SOURCE where a source is wanted; tags likewise.
pub trait Module: Sync {
    /// Makes ready to match messages for a context number that was just allocated and is not yet known to any peer.
    fn open_context(&self, context: u32) -> Result<()>;

    /// What a debugger needs to know of its queues ([`opal_core::inspect`]).
    fn facts(&self) -> &'static [&'static [Fact]] {
        &[]
    }

    /// Forgets a context number that no peer was told.
    fn close_context(&self, context: u32);

    /// Connects a communicator whose peers' context numbers are known by now.
    fn add_comm(&self, comm: &Communicator) -> Result<()>;

    /// Forgets a communicator and what arrived for it unmatched. Requests still pending on it complete normally; when
    /// there are none left its context number is released (by the PML, which knows when).
    fn remove_comm(&self, comm: &Communicator);

    /// Whether a process of another job has what was sent to it, and was told what came from it. Polled before
    /// [`Module::remove_process`]; one that has been silent for long meanwhile has left.
    fn has_parted(&self, _process: u32) -> bool {
        true
    }

    /// A process of another job is left: no communicator has it any more, nothing is under way to it or from it, and nobody polls
    /// during this call. Another process may have its index afterwards.
    fn remove_process(&self, _process: u32) {}

    /// Whether no receive is posted on the communicator, no send on it waits for room or for its receive, and no message that
    /// met its receive still moves between this process and one of its peers, whatever communicator it is on.
    fn is_quiesced(&self, comm: &Communicator) -> bool;

    /// Whether the peers have everything that was sent, or the transports see to it. MPI_Finalize polls until it is so; all processes
    /// are there, too.
    fn is_drained(&self) -> bool {
        true
    }

    /// Whether nothing is under way between this process and those of other jobs: no send waits for room or for its receive, and no long
    /// message moves. The last user of MPI polls until it is so; those processes are in no barrier with this one.
    fn is_done_beyond_job(&self) -> bool {
        true
    }

    /// A process of the job has ended, says the environment: the transports end what needs it ([`opal_core::framework::btl::Module::peer_ended`]).
    fn process_ended(&self, _process: u32) {}

    /// Whether a process was found to be out of reach.
    fn is_lost(&self, _process: u32) -> bool {
        false
    }

    /// Connects to a process, so that what it sends arrives; does nothing if they are connected. `Err` if it was lost.
    /// Returns the most bytes of an out-of-band message to it: at least [`OOB_BYTES`].
    fn reach(&self, process: u32) -> Result<usize>;

    /// Sends an out-of-band message, at most as many bytes as [`Module::reach`] returned, now or as soon as there is room.
    /// Those to one process arrive in order, there at [`crate::oob::deliver`].
    fn send_oob(&self, process: u32, message: &[u8]) -> Result<()>;

    /// Blocking send.
    ///
    /// # Safety
    /// The buffer's data is readable.
    unsafe fn send(&self, data: &Data<'_>, dest: i32, tag: i32, mode: Mode, context: MatchContext<'_>) -> Result<()>;

    /// Starts a send.
    ///
    /// # Safety
    /// The buffer's data stays readable until the request completes.
    unsafe fn isend(
        &self,
        data: &Data<'_>,
        dest: i32,
        tag: i32,
        mode: Mode,
        context: MatchContext<'_>,
    ) -> Result<Request>;

    /// As `isend` in the standard mode, of a caller that computes as soon as this returns: its part of the work is better done by
    /// the receiver ([`Module::irecv_from_busy`]).
    ///
    /// # Safety
    /// As `isend`.
    unsafe fn isend_busy(&self, data: &Data<'_>, dest: i32, tag: i32, context: MatchContext<'_>) -> Result<BusySend> {
        // SAFETY: the caller's promise.
        Ok(BusySend::Shared(unsafe { self.isend(data, dest, tag, Mode::Standard, context)? }))
    }

    /// Blocking receive; the status is written unless `None`.
    ///
    /// # Safety
    /// The buffer's data is writable.
    unsafe fn recv(
        &self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        context: MatchContext<'_>,
        status: Option<&mut Status>,
    ) -> Result<()>;

    /// Starts a receive.
    ///
    /// # Safety
    /// The buffer's data stays writable, and is not read, until the request completes.
    unsafe fn irecv(&self, data: &Data<'_>, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Request>;

    /// As `irecv`, of a message whose sender computes as soon as it has sent it: a way that wants nothing more of the sender is
    /// better than one that is faster.
    ///
    /// # Safety
    /// As `irecv`.
    unsafe fn irecv_from_busy(
        &self,
        data: &Data<'_>,
        source: i32,
        tag: i32,
        context: MatchContext<'_>,
    ) -> Result<Request> {
        // SAFETY: the caller's promise.
        unsafe { self.irecv(data, source, tag, context) }
    }

    /// Whether a peer may copy these data of the caller's by itself while the caller computes ([`Module::copy_lent`]), as far as
    /// this side knows: the peer says of itself whether it can ([`Module::is_lent`]). From which length on that is worth a call of the system
    /// is for the caller to say.
    fn lends(&self, _data: &Data<'_>, _dest: i32, _context: MatchContext<'_>) -> bool {
        false
    }

    /// Whether [`Module::copy_lent`] leads to bytes that a peer has at this address and lends.
    fn is_lent(&self, _source: i32, _remote: u64, _bytes: usize, _context: MatchContext<'_>) -> bool {
        false
    }

    /// Copies what a peer lends at this address into one run, now. `Err(MPI_ERR_PROC_ABORTED)` if the peer is gone,
    /// `Err(MPI_ERR_OTHER)` if its memory cannot be read.
    ///
    /// # Safety
    /// The buffer's data is writable.
    unsafe fn copy_lent(&self, _data: &Data<'_>, _source: i32, _remote: u64, _context: MatchContext<'_>) -> Result<()> {
        Err(Fault::new(Class::UnsupportedOperation).because("this component copies nothing that is lent"))
    }

    /// Copies one run to this address in a peer's memory, now; what [`Module::copy_lent`] says of errors.
    ///
    /// # Safety
    /// The buffer's data is readable.
    unsafe fn copy_to_remote(
        &self,
        _data: &Data<'_>,
        _dest: i32,
        _remote: u64,
        _context: MatchContext<'_>,
    ) -> Result<()> {
        Err(Fault::new(Class::UnsupportedOperation).because("this component copies nothing to memory of peers"))
    }

    /// The C functions that are compiled with its [`FastPath`], if it has one.
    fn fast_path(&self) -> Option<EntryPoints> {
        None
    }

    /// The same, for messages that are counted and that nobody observes.
    fn counting_fast_path(&self) -> Option<EntryPoints> {
        None
    }

    /// From now on counts the user's messages on a communicator, if it can; always the same object for a communicator.
    fn count_traffic(&self, _comm: &Communicator) -> Option<Arc<Traffic>> {
        None
    }

    /// Whether anybody wants to know what [`Module::count_traffic`] counts, from now on: else it need not count on fast paths.
    fn set_counting(&self, _is_wanted: bool) {}

    /// Counts a message of the user's on a communicator that another component moved in parts: one that was sent to a rank, or that has
    /// arrived from one.
    fn count_message(&self, _comm: &Communicator, _has_arrived: bool, _rank: i32, _tag: i32, _bytes: usize) {}

    /// How messages reach a process, for people; `None` if it is not connected.
    fn path_info(&self, _process: u32) -> Option<PathInfo> {
        None
    }

    /// Looks for a message that could be received; makes progress once if there is none.
    fn iprobe(&self, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Status>>;

    /// Waits for a message that could be received.
    fn probe(&self, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Status> {
        let mut found = Ok(None);
        let is_there = || {
            found = self.iprobe(source, tag, context);
            !matches!(found, Ok(None))
        };
        wait::until_done(wait::awaiting(is_there, || probed(source, tag, context)))?;
        found.map(|status| status.expect("the wait ends with one"))
    }

    /// Waits for a message and takes it out of matching.
    fn mprobe(&self, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Matched> {
        let mut found = Ok(None);
        let is_there = || {
            found = self.improbe(source, tag, context);
            !matches!(found, Ok(None))
        };
        wait::until_done(wait::awaiting(is_there, || probed(source, tag, context)))?;
        found.map(|message| message.expect("the wait ends with one"))
    }

    /// As `iprobe`, and takes the message out of matching.
    fn improbe(&self, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Option<Matched>>;

    /// Receives a matched message; only the token counts. `Err(MPI_ERR_REQUEST)` if no such message is in force.
    ///
    /// # Safety
    /// As `irecv`.
    unsafe fn imrecv(&self, data: &Data<'_>, message: Matched) -> Result<Request>;
}

/// What a wait for a message is for, of a source that may be MPI_ANY_SOURCE.
pub fn probed(source: i32, tag: i32, context: MatchContext<'_>) -> Subject {
    let process = context.comm.peers().members().get(source as u32 as usize);
    subject::message(source, process, tag, context.comm.context, context.collective)
}

/// A send of a caller that computes ([`Module::isend_busy`]).
pub enum BusySend {
    /// The receiver does all that is left to do.
    LeftToReceiver(Request),
    /// The sender's progress may be needed.
    Shared(Request),
}

/// What became of a send on the fast path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is done.
    Yes,
    /// Nothing was done: ask [`FastPath::send_eager`], whose copy may be a call.
    NotInline,
    /// Nothing was done: take the slow path.
    No,
}

/// A receive on the fast path is done. Made by who does it and passed on as it is, so that a function that does the last of it
/// is jumped to, not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Done(i32);

impl Done {
    /// It is.
    pub const YES: Done = Done(0);

    /// What the C function returns.
    #[inline(always)]
    pub fn code(self) -> i32 {
        self.0
    }
}

/// The fast path of a PML: what nearly every message among the user's is, a run of bytes that need not wait. Nothing in
/// it is a call, so that [`crate::abi::fast_path`] inlines it into the C functions, which then save hardly a register;
/// whatever would need one, be it to wait or to say what is wrong, is left undone. Tags are not negative, or MPI_ANY_TAG
/// where one receives; the ranks were **not** checked.
pub trait FastPath {
    /// A standard send.
    ///
    /// # Safety
    /// `at` is readable for `bytes`.
    unsafe fn send(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> Taken;

    /// As [`FastPath::send`], and its copy may be a call.
    ///
    /// # Safety
    /// `at` is readable for `bytes`.
    unsafe fn send_eager(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> bool;

    /// The same for a send that only starts.
    ///
    /// # Safety
    /// `at` is readable for `bytes`.
    unsafe fn isend(at: *const u8, bytes: usize, dest: i32, tag: i32, comm: &Communicator) -> Taken;

    /// A receive of what arrives at once. `None`: nothing was done.
    ///
    /// # Safety
    /// `at` is writable for `room`.
    unsafe fn recv(
        at: *mut u8,
        room: usize,
        source: i32,
        tag: i32,
        comm: &Communicator,
        status: Option<&mut Status>,
    ) -> Option<Done>;

    /// The same from MPI_ANY_SOURCE, and its copy may be a call. `false`: nothing was done.
    ///
    /// # Safety
    /// `at` is writable for `room`.
    unsafe fn recv_any(at: *mut u8, room: usize, tag: i32, comm: &Communicator, status: Option<&mut Status>) -> bool;

    /// Starts a receive.
    ///
    /// # Safety
    /// `at` is writable for `room`, and not read, until the request completes.
    unsafe fn irecv(at: *mut u8, room: usize, source: i32, tag: i32, comm: &Communicator) -> Option<Request>;
}

/// `MPI_Send`.
pub type SendFn = unsafe extern "C" fn(*const c_void, c_int, usize, c_int, c_int, usize) -> c_int;
/// `MPI_Isend`.
pub type IsendFn = unsafe extern "C" fn(*const c_void, c_int, usize, c_int, c_int, usize, *mut usize) -> c_int;
/// `MPI_Recv`.
pub type RecvFn = unsafe extern "C" fn(*mut c_void, c_int, usize, c_int, c_int, usize, *mut Status) -> c_int;
/// `MPI_Irecv`.
pub type IrecvFn = unsafe extern "C" fn(*mut c_void, c_int, usize, c_int, c_int, usize, *mut usize) -> c_int;

/// C functions that are compiled with the [`FastPath`] of a PML; made by `EntryPoints::of`.
#[derive(Clone, Copy)]
pub struct EntryPoints {
    /// MPI_Send.
    pub send: SendFn,
    /// MPI_Isend.
    pub isend: IsendFn,
    /// MPI_Recv.
    pub recv: RecvFn,
    /// MPI_Irecv.
    pub irecv: IrecvFn,
}

/// A PML that may run.
pub trait Component: mca::Component {
    /// Priority and module.
    fn query(&self) -> core::result::Result<(i32, &'static dyn Module), mca::Declined>;
}

opal_core::framework! {
    /// Point-to-point messaging layer: matching and protocols.
    "pml", Ompi, version 1, OneOfMany, OMPI_PMLS: dyn Component
}

/// For a component: defines the symbols by which `--direct pml/<name>` calls its module. Does nothing in an image that
/// calls it through the table.
///
/// ```ignore
/// #[cfg(ompi_direct = "pml/ob1")]
/// ompi_core::direct_pml!(Ob1);
/// ```
#[macro_export]
macro_rules! direct_pml {
    ($module:expr) => {
        const _: () = {
            use $crate::data::Data;
            use $crate::error::Result;
            use $crate::framework::pml::{MatchContext, Mode, Module};
            use $crate::request::Request;
            use $crate::status::Status;

            #[unsafe(export_name = "__ompi_direct_pml_send_v1")]
            #[inline]
            unsafe fn send(data: &Data<'_>, dest: i32, tag: i32, mode: Mode, context: MatchContext<'_>) -> Result<()> {
                // SAFETY: the contract of `Module::send`, which the caller keeps.
                unsafe { $module.send(data, dest, tag, mode, context) }
            }
            #[unsafe(export_name = "__ompi_direct_pml_isend_v1")]
            #[inline]
            unsafe fn isend(
                data: &Data<'_>,
                dest: i32,
                tag: i32,
                mode: Mode,
                context: MatchContext<'_>,
            ) -> Result<Request> {
                // SAFETY: the contract of `Module::isend`, which the caller keeps.
                unsafe { $module.isend(data, dest, tag, mode, context) }
            }
            #[unsafe(export_name = "__ompi_direct_pml_recv_v1")]
            #[inline]
            unsafe fn recv(
                data: &Data<'_>,
                source: i32,
                tag: i32,
                context: MatchContext<'_>,
                status: Option<&mut Status>,
            ) -> Result<()> {
                // SAFETY: the contract of `Module::recv`, which the caller keeps.
                unsafe { $module.recv(data, source, tag, context, status) }
            }
            #[unsafe(export_name = "__ompi_direct_pml_irecv_v1")]
            #[inline]
            unsafe fn irecv(data: &Data<'_>, source: i32, tag: i32, context: MatchContext<'_>) -> Result<Request> {
                // SAFETY: the contract of `Module::irecv`, which the caller keeps.
                unsafe { $module.irecv(data, source, tag, context) }
            }
        };
    };
}
