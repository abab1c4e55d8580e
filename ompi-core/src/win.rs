//! Windows: the object and its handle. The files of `win/` make windows, check accesses and keep their epochs. MPI 5.0 §12.
//!
//! **Invariant:** nothing is locked while a module of framework osc runs.

use crate::attr::{self, KeyvalKind};
use crate::comm::Communicator;
use crate::errhandler;
use crate::error::{Class, Fault, Result};
use crate::executor;
use crate::framework::osc::{self, Flavor, Part};
use crate::group::Group;
use crate::handle::HandleTable;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::ffi::{c_int, c_void};
use core::mem::offset_of;
use direct_parts::DirectParts;
use opal_core::inspect::Fact;
use opal_core::sync::{AtomicUsize, ConditionalLock};
use unfenced::Unfenced;

mod access;
pub mod attached;
mod combining;
mod create;
pub mod direct;
mod direct_locks;
mod direct_parts;
mod epoch;
pub mod gate;
mod hints;
mod instruction;
#[cfg(not(ompi_bare))]
pub mod node;
mod rank_list;
mod synchronize;
mod unfenced;

pub use access::{accumulated, can_be_swapped, check_swapped, span};
pub use combining::Combining;
pub use create::{Wish, create};
pub use direct_locks::{direct_lock, direct_unlock};
pub use epoch::Epoch;
pub use hints::WinHints;

/// MPI_WIN_NULL.
pub const NULL: usize = 0x110;

static DYNAMIC: HandleTable<Window> = HandleTable::new();

/// What a debugger needs to know of windows.
pub(crate) static FACTS: [Fact; 6] = [
    Fact::address("win.table", &raw const DYNAMIC),
    Fact::number("win.comm", offset_of!(Window, comm)),
    Fact::number("win.name", offset_of!(Window, name) + ConditionalLock::<String>::VALUE),
    Fact::number("win.size", offset_of!(Window, attributes.size)),
    Fact::number("win.unit", offset_of!(Window, attributes.unit)),
    Fact::number("win.flavor", offset_of!(Window, attributes.flavor)),
];

/// A window.
pub struct Window {
    /// A communicator of its own.
    comm: Arc<Communicator>,
    /// The processes of the communicator that it was made with.
    pub group: Arc<Group>,
    /// How it got its memory.
    pub flavor: Flavor,
    /// The memory of each process, by rank.
    parts: Box<[Part]>,
    /// The hints in use.
    pub hints: WinHints,
    /// The handle of the error handler in force.
    pub errhandler: AtomicUsize,
    name: ConditionalLock<String>,
    epoch: ConditionalLock<Epoch>,
    unfenced: Unfenced,
    // Looks at the module: it ends first.
    direct: DirectParts,
    module: Arc<dyn osc::Module>,
    attributes: Attributes,
}

/// Where the values of predefined attributes lie (MPI 5.0 §12.2.6).
struct Attributes {
    size: i64,
    unit: c_int,
    flavor: c_int,
    model: c_int,
}

/// MPI_WIN_UNIFIED: modules work on the memory itself, and every processor here sees what another one has written.
const UNIFIED: c_int = 321;

impl Window {
    fn new(
        comm: Arc<Communicator>,
        flavor: Flavor,
        parts: Box<[Part]>,
        hints: WinHints,
        module: Arc<dyn osc::Module>,
    ) -> Window {
        let me = comm.rank as usize;
        let own = parts[me];
        let unit = c_int::try_from(own.unit).unwrap_or(c_int::MAX);
        let direct = DirectParts::of(&*module, &parts);
        let attributes = Attributes { size: own.bytes as i64, unit, flavor: flavor as c_int, model: UNIFIED };
        Window {
            group: comm.group.clone(),
            comm,
            flavor,
            parts,
            hints,
            errhandler: AtomicUsize::new(errhandler::FATAL),
            name: ConditionalLock::new(String::new()),
            epoch: ConditionalLock::new(Epoch::of(me)),
            unfenced: Unfenced::default(),
            direct,
            module,
            attributes,
        }
    }

    /// Number of processes.
    pub fn size(&self) -> usize {
        self.parts.len()
    }

    /// Where this process's memory begins.
    pub fn base(&self) -> *mut u8 {
        self.module.base()
    }

    /// The value of a predefined attribute: the base, or where the others lie.
    pub fn attribute(&self, key: WinAttribute) -> *mut c_void {
        let Attributes { size, unit, flavor, model } = &self.attributes;
        let at = match key {
            WinAttribute::Base => return self.base().cast(),
            WinAttribute::Size => (&raw const *size).cast(),
            WinAttribute::Unit => (&raw const *unit).cast(),
            WinAttribute::Flavor => (&raw const *flavor).cast(),
            WinAttribute::Model => (&raw const *model).cast::<c_void>(),
        };
        at.cast_mut()
    }

    /// Address, length and displacement unit of a process's memory for loads and stores of this one; with `None` those of the
    /// first process that has any (MPI 5.0 §12.2.3).
    pub fn shared_query(&self, rank: Option<usize>) -> Result<(*mut u8, Part)> {
        let with_memory = || self.parts.iter().position(|part| part.bytes > 0);
        let Some(rank) = rank.or_else(with_memory) else {
            return Ok((core::ptr::null_mut(), Part { bytes: 0, unit: 0 }));
        };
        match self.module.shared(rank) {
            Some((at, bytes)) => Ok((at, Part { bytes, unit: self.parts[rank].unit })),
            // MPI 5.0 §12.2.3: a process whose memory is not shared with the caller is no error where windows were not made to
            // be shared.
            None if self.flavor == Flavor::Shared || self.flavor == Flavor::Dynamic => {
                let why = "the window has no memory that processes share; make it with MPI_Win_allocate_shared";
                Err(Fault::new(Class::RmaFlavor).argument("win").because(why))
            }
            None => Ok((core::ptr::null_mut(), Part { bytes: 0, unit: 0 })),
        }
    }

    /// Adds memory to a dynamic window.
    pub fn attach(&self, base: *mut u8, bytes: usize) -> Result<()> {
        self.only_dynamic()?;
        self.module.attach(base, bytes)
    }

    /// Takes memory away that was attached.
    pub fn detach(&self, base: *mut u8) -> Result<()> {
        self.only_dynamic()?;
        self.module.detach(base)
    }

    fn only_dynamic(&self) -> Result<()> {
        match self.flavor {
            Flavor::Dynamic => Ok(()),
            _ => Err(Fault::new(Class::RmaFlavor).argument("win").because("it is no window of MPI_Win_create_dynamic")),
        }
    }

    /// MPI_Win_get_name.
    pub fn name(&self) -> String {
        self.name.lock().clone()
    }

    /// MPI_Win_set_name; the caller has cut it to MPI_MAX_OBJECT_NAME - 1 bytes.
    pub fn set_name(&self, name: String) {
        *self.name.lock() = name;
    }

    /// Its name for a message.
    #[cold]
    pub fn described(&self) -> String {
        let name = self.name();
        if name.is_empty() { format!("a window without a name ({} ranks)", self.size()) } else { name }
    }

    /// A rank of the window; `None` for MPI_PROC_NULL.
    pub fn rank(&self, rank: i32, argument: &'static str) -> Result<Option<usize>> {
        if (rank as u32 as usize) < self.parts.len() {
            return Ok(Some(rank as usize));
        }
        match rank {
            crate::status::PROC_NULL => Ok(None),
            _ => {
                let why = format!("{rank} is no rank of the window (0 to {})", self.parts.len() - 1);
                Err(Fault::new(Class::Rank).argument(argument).because(why))
            }
        }
    }
}

/// The predefined attributes of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WinAttribute {
    /// MPI_WIN_BASE.
    Base,
    /// MPI_WIN_SIZE.
    Size,
    /// MPI_WIN_DISP_UNIT.
    Unit,
    /// MPI_WIN_CREATE_FLAVOR.
    Flavor,
    /// MPI_WIN_MODEL.
    Model,
}

impl Drop for Window {
    fn drop(&mut self) {
        errhandler::release(self.errhandler.load(opal_core::sync::Ordering::Relaxed));
    }
}

/// The window behind a handle.
#[inline(always)]
pub fn borrow(handle: usize) -> Option<&'static Window> {
    DYNAMIC.borrow(handle)
}

/// The handle of the window whose own communicator has this context number; for errors of requests.
#[cold]
pub fn of_context(context: u32) -> Option<usize> {
    DYNAMIC.search(|window| window.comm.context == context).map(|(handle, _)| handle)
}

/// MPI_Win_free: waits for all processes, then ends the handle.
pub fn free(handle: usize) -> Result<()> {
    let Some(window) = DYNAMIC.get(handle) else {
        let why = format!("{handle:#x} is no window in force; was it freed, or never made?");
        return Err(Fault::new(Class::Win).argument("win").because(why));
    };
    window.epoch.lock().check_free()?;
    // The callbacks of its attributes may still use it.
    attr::delete_all(KeyvalKind::Win, handle)?;
    executor::barrier(&window.comm)?;
    window.module.close()?;
    DYNAMIC.remove(handle).map(drop).ok_or_else(|| Class::Win.into())
}
