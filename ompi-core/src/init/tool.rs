//! The life of the tool interface: counted, and apart from MPI's own.

use super::configure;
use super::state::{TOOLS, ThreadLevel};
use crate::error::{Class, Fault, Result};
use opal_core::sync::{Ordering, raise_threads};

/// MPI_T_init_thread: gives every parameter its value, as MPI_Init would.
pub fn open_tool(wanted: ThreadLevel) -> Result<ThreadLevel> {
    if configure().is_err() {
        let why = "a parameter or a component is wrong; the lines above say which";
        return Err(Fault::new(Class::ToolCannotInit).because(why));
    }
    // A thread may then read what another one counts, whatever the level of MPI is.
    if wanted >= ThreadLevel::Serialized {
        raise_threads();
    }
    TOOLS.fetch_add(1, Ordering::AcqRel);
    Ok(wanted)
}

/// MPI_T_finalize.
pub fn close_tool() -> Result<bool> {
    let mut tools = TOOLS.load(Ordering::Acquire);
    loop {
        let less = tools.checked_sub(1).ok_or(Class::ToolNotInitialized)?;
        match TOOLS.compare_exchange(tools, less, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Ok(less == 0),
            Err(now) => tools = now,
        }
    }
}
