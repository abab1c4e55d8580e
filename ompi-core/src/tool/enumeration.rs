//! Enumerations: the words of parameters that are one of several. MPI 5.0 §15.3.5.

use crate::error::{Class, Fault, Result};
use crate::framework::coll::{FUNCTIONS as FUNCTIONS_KNOWN, Function};
use crate::tool::cvar;
use crate::tool::event;
use crate::tool::value::words;
use opal_core::sync::Once;

pub use crate::tool::event::{FUNCTIONS, NULL, TRANSPORTS};

/// The enumeration of a control variable.
pub fn of_cvar(index: usize) -> usize {
    cvar::all().get(index).and_then(|cvar| words(cvar.param.kind)).map_or(NULL, |_| index + 1)
}

/// Name and words of an enumeration with a handle that may be anything.
pub fn get(handle: usize) -> Result<(&'static str, &'static [&'static str])> {
    static NAMES: Once<[&'static str; FUNCTIONS_KNOWN]> = Once::new();
    if handle == FUNCTIONS {
        return Ok(("collective functions", NAMES.call_once(|| Function::ALL.map(Function::name)).as_slice()));
    }
    if handle == TRANSPORTS {
        return Ok(("transports", event::transports()));
    }
    let cvar = handle.checked_sub(1).and_then(|index| cvar::all().get(index));
    cvar.and_then(|cvar| Some((cvar.name.as_str(), words(cvar.param.kind)?)))
        .ok_or_else(|| Fault::new(Class::ToolInvalidHandle).argument("enumtype").because("it is no enumeration"))
}
