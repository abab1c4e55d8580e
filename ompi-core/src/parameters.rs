//! Parameters of MPI as a whole: `mpi_<name>`. Here, below all that asks for them; [`crate::init::FRAMEWORK`] registers them.

use opal_core::params;

/// What [`INITIAL_ERRHANDLER`] may be.
pub const INITIAL_HANDLERS: [&str; 3] = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

params! {
    /// Print at start, on rank 0, which components run and why the others do not.
    pub static SHOW_COMPONENTS: Bool = Bool(false), "", level 2;
    /// When a signal such as SIGSEGV ends a rank, print the signal, the address and the calls that it was in. Handlers of the
    /// program come first. A stack that overflowed is reported of the thread that called MPI_Init; other threads need a
    /// sigaltstack of their own for that, which Rust's have. Not on bare metal.
    pub static REPORT_CRASHES: Bool = Bool(true), "", level 2;
    /// The error handler of MPI_COMM_WORLD, of MPI_COMM_SELF and of calls that concern no object, until the program sets
    /// others: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return.
    pub static INITIAL_ERRHANDLER: Text = Text("mpi_errors_are_fatal"), "", level 2, change Never;
    /// Named sets of processes of which sessions make groups, as `mpirun --pset` has them: NAME:RANKS, such as left:0-3,5, with a
    /// semicolon between two.
    pub static PROCESS_SETS: Text = Text(""), "", level 3, change Never;
    /// How long MPI_Comm_connect waits for the other side to accept, and how long for an answer of mpirun's about names of ports.
    pub static CONNECT_TIMEOUT_S: Size = Int(60), "s", level 4, change Local;
    /// Refuse MPI_SUM and the other arithmetic, bitwise and logical operations on MPI_CHAR, MPI_CHARACTER and MPI_WCHAR, as
    /// MPI 5.0 section 6.9.2 says. Otherwise these types are reduced as signed integers of their size, as Open MPI and MPICH
    /// do with the first two.
    pub static STRICT_REDUCTIONS: Bool = Bool(false), "", level 3, change AllEqual;
    /// An error in a call that concerns no communicator, session or file is handled by MPI_COMM_WORLD's error handler, as up
    /// to MPI 3.1, instead of MPI_COMM_SELF's.
    pub static COMPAT_MPI3: Bool = Bool(false), "", level 3, change Local;
    /// Whether MPI_Alloc_mem gives memory that processes of the node can map, so that messages from and to it are copied once, and
    /// windows of MPI_Win_create over it are served without messages. A child of fork shares such memory with its parent,
    /// or has a copy where malloc's memory is of this kind.
    pub static ALLOC_MEM_SHAREABLE: Bool = Bool(true), "", level 5, change Never;
}
