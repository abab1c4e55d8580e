//! Environment: starting, ending, versions, time. MPI 5.0 §9 and §11.2.

use super::kinds::{Aint, Buffer, CommIfActive, Hints, Out, OutPtr, Raw, give_text};
use super::tell::tell_if_heard;
use crate::error::{Class, Fault};
use crate::init::{self, ThreadLevel};
use crate::{hardware, user_memory};
use alloc::format;
use core::ffi::{c_char, c_int, c_void};
use opal_core::framework::timer;

/// MPI_MAX_LIBRARY_VERSION_STRING.
const MAX_LIBRARY_VERSION: usize = 8192;
/// MPI_MAX_PROCESSOR_NAME.
const MAX_PROCESSOR_NAME: usize = 256;

rows! {
    /// Starts MPI. MPI 5.0 §11.2.1. The program's arguments are left alone.
    fn Init(argc: Raw<*mut c_int>, argv: Raw<*mut *mut *mut c_char>) [always] => {
        let _unused = (argc, argv);
        init::init(ThreadLevel::Single).map(drop)
    }

    /// Starts MPI for several threads. MPI 5.0 §11.2.1.
    fn Init_thread(argc: Raw<*mut c_int>, argv: Raw<*mut *mut *mut c_char>, required: Raw<c_int>, provided: Out<c_int>) [always] => {
        let _unused = (argc, argv);
        let level = ThreadLevel::from_int(required)
            .ok_or_else(|| Fault::new(Class::Arg).argument("required").because("it is not an MPI_THREAD_ level"))?;
        provided.set(init::init(level)? as c_int);
        Ok(())
    }

    /// Ends MPI. MPI 5.0 §11.2.2.
    fn Finalize() [] => {
        tell_if_heard();
        init::finalize()
    }

    /// Whether MPI_Init was called. MPI 5.0 §11.2.3.
    fn Initialized(flag: Out<c_int>) [always] => {
        flag.set(c_int::from(init::was_initialized()));
        Ok(())
    }

    /// Whether MPI_Finalize has completed. MPI 5.0 §11.2.3.
    fn Finalized(flag: Out<c_int>) [always] => {
        flag.set(c_int::from(init::is_finalized()));
        Ok(())
    }

    /// The thread level in force. MPI 5.0 §11.2.1.
    fn Query_thread(provided: Out<c_int>) [] => {
        provided.set(init::thread_level());
        Ok(())
    }

    /// Version of the standard. MPI 5.0 §9.1.1.
    fn Get_version(version: Out<c_int>, subversion: Out<c_int>) [always] => {
        version.set(5);
        subversion.set(0);
        Ok(())
    }

    /// Version of this library. MPI 5.0 §9.1.1.
    fn Get_library_version(version: Out<c_char>, resultlen: Out<c_int>) [always] => {
        // SAFETY: the standard asks for room of MPI_MAX_LIBRARY_VERSION_STRING characters.
        unsafe { give_text(&init::library_version(), version, MAX_LIBRARY_VERSION, Some(resultlen)) };
        Ok(())
    }

    /// Name of this machine. MPI 5.0 §9.1.2.
    fn Get_processor_name(name: Out<c_char>, resultlen: Out<c_int>) [] => {
        // SAFETY: the standard asks for room of MPI_MAX_PROCESSOR_NAME characters.
        unsafe { give_text(&init::processor_name(), name, MAX_PROCESSOR_NAME, Some(resultlen)) };
        Ok(())
    }

    /// Seconds since some time in the past. MPI 5.0 §9.6.
    fn Wtime() -> f64 => {
        timer::ticks() as f64 / timer::frequency() as f64
    }

    /// Resolution of MPI_Wtime in seconds. MPI 5.0 §9.6.
    fn Wtick() -> f64 => {
        1.0 / timer::frequency() as f64
    }

    /// Whether this thread started MPI. MPI 5.0 §11.6.2.
    fn Is_thread_main(flag: Out<c_int>) [] => {
        flag.set(c_int::from(init::is_main_thread()));
        Ok(())
    }

    /// Allocates memory that may suit communication. MPI 5.0 §9.2.
    fn Alloc_mem(size: Raw<Aint>, info: Hints, baseptr: Raw<*mut c_void>) [] => {
        let wanted = info.and_then(|info| info.get("mpi_minimum_memory_alignment"));
        let alignment = wanted.and_then(|value| user_memory::alignment(&value)).unwrap_or(1);
        let size = usize::try_from(size).map_err(|_| Fault::new(Class::Arg).argument("size").because("it is negative"))?;
        let place = OutPtr::new(baseptr.cast::<*mut u8>()).map_err(|fault| fault.argument("baseptr"))?;
        place.set(user_memory::allocate_shareable(size, alignment)?);
        Ok(())
    }

    /// Frees memory of MPI_Alloc_mem. MPI 5.0 §9.2.
    fn Free_mem(base: Buffer) [] => {
        // SAFETY: memory of MPI_Alloc_mem by the standard.
        unsafe { user_memory::free(base) }
    }

    /// The hardware resources on which this process runs. MPI 5.0 §9.1.2.
    fn Get_hw_resource_info(hw_info: Out<usize>) [] => {
        hw_info.set(hardware::resources().into_handle()?);
        Ok(())
    }

    /// Ends the job. MPI 5.0 §9.7.
    fn Abort(comm: CommIfActive, errorcode: Raw<c_int>) [always] => {
        let Some(comm) = comm else {
            let when = if init::is_finalized() { "after MPI_Finalize" } else { "before MPI_Init" };
            init::abort_unstarted(errorcode, &format!("called MPI_Abort {when} with error code {errorcode}"))
        };
        init::abort(errorcode, &format!("called MPI_Abort on {} with error code {errorcode}", comm.described()))
    }
}
