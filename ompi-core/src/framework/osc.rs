//! One-sided communication: each window has one module, of the component with the highest priority that accepts it on all of
//! its processes.
//!
//! What the standard asks of every window is checked above ([`crate::win`]): handles, ranks, displacements where sizes are known,
//! epochs, types and operations. A module moves the data and synchronises.
#![allow(unsafe_code)] // linkme's expansion; the unsafe methods

use crate::comm::Communicator;
use crate::data::Data;
use crate::error::Result;
use crate::framework::op::Operation;
use crate::request::Request;
use crate::win::gate::Gate;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ffi::c_int;
use opal_core::mca;
use opal_core::mca::select::{Verdict, record};
use opal_core::sync::{AtomicU64, Once};

/// How a window got its memory: MPI_WIN_FLAVOR_….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Flavor {
    /// MPI_Win_create.
    Create = 311,
    /// MPI_Win_allocate.
    Allocate = 312,
    /// MPI_Win_create_dynamic.
    Dynamic = 313,
    /// MPI_Win_allocate_shared.
    Shared = 314,
}

/// One process's memory in a window, as all processes know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Length; 0 for a dynamic window.
    pub bytes: usize,
    /// Bytes of a displacement of 1.
    pub unit: i64,
}

/// A window that is to be made.
pub struct Plan {
    /// A communicator of its own, in the order of the one that the program named; nobody else uses it.
    pub comm: Arc<Communicator>,
    /// How it gets its memory.
    pub flavor: Flavor,
    /// This process's memory: the program's for [`Flavor::Create`], else null.
    pub base: *mut u8,
    /// This process's part.
    pub own: Part,
    /// Memory that the module makes begins on a multiple of this, a power of two.
    pub alignment: usize,
    /// alloc_shared_noncontig: the parts of a shared window need not follow each other.
    pub noncontiguous: bool,
    /// mpi_accumulate_granularity: for so many bytes something is held that makes accumulates atomic; 0 if the program does not care.
    pub granularity: u64,
}

/// Memory of a target: `count` elements of a datatype from a displacement on.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// Whose; a rank of the window.
    pub rank: usize,
    /// In units of the target's displacement unit; for a dynamic window an address there.
    pub displacement: i64,
    /// Elements (`at` says nothing). All data of one basic type where it is combined.
    pub data: Data<'a>,
}

/// What is done with the memory of a target. Origin and result have as many bytes of data as the target.
#[derive(Clone, Copy)]
pub enum Access<'a> {
    /// Written.
    Put(Data<'a>),
    /// Read.
    Get(Data<'a>),
    /// Combined with the origin's data; never [`Operation::NoOp`].
    Accumulate(Data<'a>, Operation),
    /// Read to the second data, and combined with the first, whose count is 0 for [`Operation::NoOp`].
    GetAccumulate(Data<'a>, Data<'a>, Operation),
    /// One element: read to `result`, and replaced by `origin` if it was equal to `compare`.
    CompareAndSwap {
        /// The new value.
        origin: Data<'a>,
        /// The expected value.
        compare: Data<'a>,
        /// Where the old value goes.
        result: Data<'a>,
    },
}

/// Memory of a target that this process can load and store. Where a module says so, an access to it is done by a copy at once and needs
/// nothing else, and a flush is a full fence where something was stored since the last one.
#[derive(Clone, Copy)]
pub struct DirectMemory<'a> {
    /// Where it begins.
    pub at: *mut u8,
    /// How accumulates there are atomic.
    pub accumulates: Accumulates<'a>,
}

/// How accumulates at one target are atomic with each other.
#[derive(Clone, Copy)]
pub struct Accumulates<'a> {
    /// Through it go those that instructions do, while it is open.
    pub gate: Gate<'a>,
    /// Of so many elements at most.
    pub by_instruction: usize,
    /// Not 0 while somebody combines ([`Combining`](crate::win::Combining)), the gate being shut.
    pub lock: &'a AtomicU64,
}

/// Who else may hold a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Nobody.
    Exclusive,
    /// Others that hold it shared.
    Shared,
}

impl Lock {
    /// MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED; `None` for other numbers.
    #[inline(always)]
    pub fn of(number: c_int) -> Option<Lock> {
        match number {
            301 => Some(Lock::Exclusive),
            302 => Some(Lock::Shared),
            _ => None,
        }
    }
}

/// What serves one window. Ranks are those of the window. Calls come in the order that the standard allows, from any thread.
pub trait Module: Send + Sync {
    /// Where this process's memory begins; null if there is none.
    fn base(&self) -> *mut u8;

    /// Where this process can load and store the memory of another one, and its length.
    fn shared(&self, _rank: usize) -> Option<(*mut u8, usize)> {
        None
    }

    /// How short accesses to a target may be done without a call of [`Module::access`], if they may; it holds as long as the module.
    fn direct(&self, _rank: usize) -> Option<DirectMemory<'_>> {
        None
    }

    /// Begins an access; with `wanted` the request completes when buffers of this process may be used again, and for an
    /// access that reads when its result is there. Accumulates of this process to one element are done in their order.
    ///
    /// # Safety
    /// Until then data that is read stays readable and unchanged, and data that is written is not looked at.
    unsafe fn access(&self, access: &Access<'_>, target: &Target<'_>, wanted: bool) -> Result<Option<Request>>;

    /// Completes all accesses of all processes, which all call it; `completes` is false where the program promises that there
    /// were none (MPI_MODE_NOPRECEDE).
    fn fence(&self, completes: bool) -> Result<()>;

    /// Waits until the targets have called [`Module::post`] for this process.
    fn start(&self, targets: &[u32]) -> Result<()>;

    /// Ends the accesses to the targets that [`Module::start`] named: completes them here, and tells the targets.
    fn complete(&self, targets: &[u32]) -> Result<()>;

    /// Lets these processes access this one's memory; does not wait.
    fn post(&self, origins: &[u32]) -> Result<()>;

    /// Whether all of them have called [`Module::complete`], in which case the exposure has ended. Makes no progress.
    fn is_exposure_over(&self, origins: &[u32]) -> Result<bool>;

    /// Takes the lock of a target as [`Module::lock`] does, if that needs no wait; otherwise nothing is done. Asked of modules that have memory
    /// which this process can reach ([`Module::direct`]).
    fn try_lock(&self, _rank: usize, _lock: Lock) -> bool {
        false
    }

    /// Waits for the lock of a target. Not called where the program promises that nobody else wants it (MPI_MODE_NOCHECK).
    fn lock(&self, rank: usize, lock: Lock) -> Result<()>;

    /// Completes all accesses to a target here and there, and releases its lock.
    fn unlock(&self, rank: usize) -> Result<()>;

    /// Waits for a shared lock of each of so many ranks: all of the window. As with [`Module::lock`].
    fn lock_all(&self, ranks: usize) -> Result<()> {
        lock_each(self, ranks)
    }

    /// Completes all accesses here and there, and releases what [`Module::lock_all`] took.
    fn unlock_all(&self, ranks: usize) -> Result<()> {
        unlock_each(self, ranks)
    }

    /// Completes all accesses to a target, or to all, here and there.
    fn flush(&self, rank: Option<usize>) -> Result<()>;

    /// Completes all accesses to a target, or to all, here.
    fn flush_local(&self, rank: Option<usize>) -> Result<()>;

    /// MPI_Win_sync, after a full fence; for a module whose memory others change through progress of this process only.
    fn sync(&self) {}

    /// Adds memory to a dynamic window.
    fn attach(&self, base: *mut u8, bytes: usize) -> Result<()>;

    /// Takes memory away that was attached at this address.
    fn detach(&self, base: *mut u8) -> Result<()>;

    /// The window ends, all its accesses being complete; all processes call it. Memory of the module's is no more afterwards.
    fn close(&self) -> Result<()>;
}

/// [`Module::lock_all`] by a lock of each rank, in ascending order. With any other order two processes that lock all could each hold what a third
/// one waits for, and wait behind it for what the other holds, since locks are granted in the order in which they were asked for.
pub fn lock_each(module: &(impl Module + ?Sized), ranks: usize) -> Result<()> {
    for rank in 0..ranks {
        if let Err(fault) = module.lock(rank, Lock::Shared) {
            // That is the fault to tell.
            (0..rank).for_each(|rank| drop(module.unlock(rank)));
            return Err(fault);
        }
    }
    Ok(())
}

/// [`Module::unlock_all`] after [`lock_each`]: all are released, whatever fails.
pub fn unlock_each(module: &(impl Module + ?Sized), ranks: usize) -> Result<()> {
    (0..ranks).map(|rank| module.unlock(rank)).fold(Ok(()), Result::and)
}

/// A way to serve windows.
pub trait Component: mca::Component {
    /// Priority for a window, or why not; must not communicate. The ranks then agree on a component that all offer.
    fn query(&self, plan: &Plan) -> core::result::Result<i32, mca::Declined>;

    /// Makes the module of a window that all processes have agreed on; `parts` are those of all, by rank. May communicate over the
    /// window's communicator. After an `Err` on one process the modules of the others are dropped, and another component is asked.
    fn create(&self, plan: &Plan, parts: &[Part]) -> Result<Arc<dyn Module>>;
}

/// The components that run here, in the one order of all processes of a job (they run the same image).
pub fn opened() -> opal_core::Result<&'static [&'static dyn Component]> {
    static OPENED: Once<opal_core::Result<Vec<&'static dyn Component>>> = Once::new();
    let opened = OPENED.call_once(|| {
        let components = mca::open(&FRAMEWORK, &OMPI_OSCS)?;
        components.iter().for_each(|component| record(component.info(), Verdict::Chosen(None)));
        Ok(components)
    });
    match opened {
        Ok(components) => Ok(components),
        Err(error) => Err(*error),
    }
}

opal_core::framework! {
    /// One-sided communication.
    "osc", Ompi, version 1, ManyOfMany, OMPI_OSCS: dyn Component
}
