//! The module: turns the framework's unsafe call into calls of the algorithms, one file for each function.
#![allow(unsafe_code)] // the unsafe method of the framework's trait

use crate::bcast;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{Call, Functions, Module, not_here, set_of};

/// 5. What it serves: `Function::Bcast` is written, so put it in once you want it.
pub const FUNCTIONS: Functions = set_of(&[]);

/// The same for every communicator.
pub struct TemplateModule;

impl Module for TemplateModule {
    fn functions(&self) -> Functions {
        FUNCTIONS
    }

    // 6. The algorithms pass parts of their arguments and of the executor's scratch memory to the executor, and touch nothing else. So
    // they serve the blocking, the nonblocking and the persistent function.
    unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        match *call {
            Call::Bcast(data, root) => bcast::bcast(executor, data, root),
            _ => not_here(),
        }
    }
}
