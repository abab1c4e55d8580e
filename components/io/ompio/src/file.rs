//! An open file: what its methods share.

use alloc::boxed::Box;
use alloc::ffi::CString;
use alloc::sync::Arc;
use alloc::vec::Vec;
use ompi_core::comm::Communicator;
use ompi_core::error::{Class, Fault, Result};
use ompi_core::file::{Amode, FileHints, Striping, View, agree, as_first, failure};
use ompi_core::framework::io::FileArguments;
use ompi_core::framework::{fbtl, fcoll, fs, sharedfp};
use ompi_core::info::Info;
use opal_core::sync::{AtomicBool, ConditionalLock, Ordering};
use opal_core::sys::{Errno, File};

/// Who does what with a file.
pub struct Parts {
    /// With the whole of it.
    pub fs: &'static dyn fs::Module,
    /// With its bytes.
    pub fbtl: &'static dyn fbtl::Module,
    /// Those of whom one does what all processes do together.
    pub fcoll: Vec<fcoll::Offer>,
}

/// An open file.
pub struct Ompio {
    /// Who has it open.
    pub comm: Arc<Communicator>,
    /// Its name.
    pub path: CString,
    /// How it was opened.
    pub amode: Amode,
    /// The descriptor.
    pub file: Arc<File>,
    /// Who does what.
    pub parts: Parts,
    /// Whether accesses are atomic.
    pub atomic: AtomicBool,
    /// Threads that share the file share its locks, too: they exclude each other here.
    pub alone: ConditionalLock<()>,
    /// What calls change.
    pub state: ConditionalLock<State>,
    /// None if no component serves these processes.
    pub shared: Option<Box<dyn sharedfp::Module>>,
}

/// What changes.
pub struct State {
    /// The view in force.
    pub view: Arc<View>,
    /// This process's file pointer, in etypes.
    pub pointer: i64,
    /// The hints in force.
    pub hints: FileHints,
    /// What lies between the parts that processes see.
    pub gaps: Gaps,
}

/// Whether gaps can be written back, the same on all processes.
#[derive(Clone, Copy)]
pub struct Gaps {
    /// The view of some process has some.
    pub are_seen: bool,
    /// The file system locks ranges for each process that would.
    pub can_be_locked: bool,
}

impl Gaps {
    /// No view has any.
    pub const NONE: Gaps = Gaps { are_seen: false, can_be_locked: true };

    /// Of the bits that all have told: 1 where its view has gaps, 2 where it would have to lock and cannot.
    pub fn of(bits: impl IntoIterator<Item = u64>) -> Gaps {
        let all = bits.into_iter().fold(0, |all, bits| all | bits);
        Gaps { are_seen: all & 1 != 0, can_be_locked: all & 2 == 0 }
    }
}

impl Ompio {
    /// A file that all processes have open.
    pub fn new(
        comm: Arc<Communicator>,
        opened: fs::OpenedFile,
        arguments: FileArguments<'_>,
        parts: Parts,
    ) -> Result<Ompio> {
        let mut hints = fcoll::known(&parts.fcoll, arguments.hints);
        // What was not done is not in force; the unit tells fcoll where to cut, too.
        hints.striping = Striping { unit: hints.striping.unit, ..opened.striping };
        let state = State { view: Arc::new(View::whole()), pointer: 0, hints, gaps: Gaps::NONE };
        let shared = sharedfp::make(&comm, arguments.path);
        let mut opened = Ompio {
            comm,
            path: arguments.path.into(),
            amode: arguments.amode,
            file: Arc::new(opened.file),
            parts,
            atomic: AtomicBool::new(false),
            alone: ConditionalLock::new(()),
            state: ConditionalLock::new(state),
            shared: None,
        };
        let end = if opened.amode.appends() { opened.length() } else { Ok(0) };
        // What one process alone cannot have is told to all before any of them goes on.
        let (shared, end) = agree(&opened.comm, shared.and_then(|shared| Ok((shared, end?))))?;
        opened.shared = shared;
        opened.state.lock().pointer = end as i64;
        opened.tell_style(&FileHints::default());
        if let Some(shared) = opened.shared.as_ref().filter(|_| end > 0) {
            as_first(&opened.comm, || shared.begin(end))?;
        }
        Ok(opened)
    }

    /// The hints in force, with what is understood of an info object.
    pub fn updated(&self, info: &Info) -> FileHints {
        let before = self.state.lock().hints;
        let mut hints = fcoll::known(&self.parts.fcoll, before.updated(info));
        // A file that is there keeps its stripes.
        (hints.striping.factor, hints.striping.start_device) = (before.striping.factor, before.striping.start_device);
        hints
    }

    /// Tells the system how the file is accessed, if hints say it and those before did not.
    pub fn tell_style(&self, before: &FileHints) {
        let hints = self.state.lock().hints;
        if let Some(style) = hints.access_style.filter(|style| before.access_style != Some(*style)) {
            self.parts.fs.expect(&self.file, style);
        }
    }

    /// The shared file pointer.
    pub fn shared(&self) -> Result<&dyn sharedfp::Module> {
        self.shared.as_deref().ok_or_else(sharedfp::missing)
    }

    /// The first etype of the view that does not begin within the file.
    pub fn end(&self) -> Result<i64> {
        let view = self.seen()?;
        Ok(view.first_behind(self.length()?) as i64)
    }

    /// The fault for what the system said.
    pub fn failed(&self, errno: Errno, what: &str) -> Fault {
        failure(errno, &self.path, what)
    }

    /// Its length in bytes.
    pub fn length(&self) -> Result<u64> {
        self.parts.fs.size(&self.file).map_err(|errno| self.failed(errno, "does not tell its size"))
    }

    /// The view in force.
    pub fn view_set(&self) -> Arc<View> {
        self.state.lock().view.clone()
    }

    /// The view in force, which knows where its bytes lie.
    pub fn seen(&self) -> Result<Arc<View>> {
        let view = self.view_set();
        if view.is_placed() {
            return Ok(view);
        }
        // Functions of the program's run here: nothing is locked.
        let placed = Arc::new(view.placed(self.amode.writes())?);
        let mut state = self.state.lock();
        if Arc::ptr_eq(&state.view, &view) {
            state.view = placed.clone();
        }
        Ok(placed)
    }

    /// As an access this way sees the file.
    pub fn seen_by(&self, direction: fbtl::AccessKind) -> Result<Arc<View>> {
        match self.view_set().unconverted(direction) {
            Some(view) => Ok(Arc::new(view)),
            None => self.seen(),
        }
    }

    /// Whether accesses are atomic.
    pub fn atomic(&self) -> bool {
        self.atomic.load(Ordering::Relaxed)
    }

    /// Refuses to write what is only read.
    pub fn may_write(&self) -> Result<()> {
        match self.amode.writes() {
            true => Ok(()),
            false => Err(Fault::new(Class::ReadOnly).because("the file was opened with MPI_MODE_RDONLY")),
        }
    }

    /// Refuses another length where that is not for this process or file to have (MPI 5.0 §14.2.4, §14.2.5).
    pub fn may_resize(&self) -> Result<()> {
        self.may_write().and_then(|()| self.not_sequential())
    }

    /// Refuses what a sequential file has not.
    pub fn not_sequential(&self) -> Result<()> {
        match self.amode.is_sequential() {
            false => Ok(()),
            true => {
                let why = "the file was opened with MPI_MODE_SEQUENTIAL: it is read or written from its beginning to its end, at the shared file pointer";
                Err(Fault::new(Class::UnsupportedOperation).because(why))
            }
        }
    }
}
