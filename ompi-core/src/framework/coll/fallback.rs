//! Where a module passes calls that it does not serve itself.

use super::call::Call;
use super::function::{FUNCTIONS, Function, Functions, set_of};
use super::module::{Entry, Module, Table};
use crate::error::{Class, Fault, Result};
use crate::executor::Executor;
use alloc::boxed::Box;
use alloc::sync::Arc;
use opal_core::sync::Once;

/// For each of some functions, the module that would serve it without the component that holds this.
pub struct Fallback {
    functions: Functions,
    // One for each function: a look-up is on the way of the shortest calls.
    modules: Once<Box<Modules>>,
}

type Modules = [Option<Arc<dyn Module>>; FUNCTIONS];

impl Fallback {
    /// Before [`Module::set_fallback`].
    pub const fn new(functions: &[Function]) -> Fallback {
        Fallback { functions: set_of(functions), modules: Once::new() }
    }

    /// Which functions.
    #[inline]
    pub fn functions(&self) -> Functions {
        self.functions
    }

    /// Keeps the modules of [`Module::set_fallback`]; `entry` says which of a table's modules are meant.
    pub fn keep(&self, others: &Table, entry: fn(&Table, Function) -> Option<&Entry>) {
        let module = |function: Function| match self.functions & set_of(&[function]) {
            0 => None,
            _ => entry(others, function).map(|(_, module)| module.clone()),
        };
        self.modules.call_once(|| Box::new(Function::ALL.map(module)));
    }

    /// Passes the call on. `Err(UnsupportedOperation)` if no module would serve it.
    ///
    /// # Safety
    /// That of [`Module::call`].
    #[inline]
    pub unsafe fn call(&self, call: &Call<'_>, executor: &mut dyn Executor) -> Result<()> {
        match self.modules.get().and_then(|modules| modules[call.function() as usize].as_deref()) {
            // SAFETY: the caller's promise.
            Some(module) => unsafe { module.call(call, executor) },
            None => no_module(),
        }
    }

    /// [`Fallback::call`] for MPI_Barrier, which has no data.
    pub fn barrier(&self, executor: &mut dyn Executor) -> Result<()> {
        // SAFETY: there is no data.
        unsafe { self.call(&Call::Barrier, executor) }
    }
}

#[cold]
fn no_module() -> Result<()> {
    Err(Fault::new(Class::UnsupportedOperation).because("no other coll component offers it here"))
}
