//! Control variables: the parameters of all frameworks and components. MPI 5.0 §15.3.6.
//!
//! A parameter that is read at the start may be written until then; one that is read whenever it is needed, at any time.

use crate::error::{Class, Fault, Result};
use crate::framework::coll;
use crate::handle::HandleTable;
use crate::init;
use crate::tool::element;
use crate::tool::value::{Datum, ValueType, words};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use opal_core::mca::framework::each_param;
use opal_core::mca::param::{Change, full_name};
use opal_core::mca::{Kind, Param, Source, Value, image};
use opal_core::sync::Once;

/// MPI_T_CVAR_HANDLE_NULL.
pub const NULL: usize = 0;

/// A control variable.
pub struct Cvar {
    /// As users type it.
    pub name: String,
    /// The parameter.
    pub param: &'static Param,
    /// Name of its framework.
    pub framework: &'static str,
    /// Name of its component; empty if it belongs to the framework.
    pub component: &'static str,
}

/// All of them, in the order of their index.
pub fn all() -> &'static [Cvar] {
    static ALL: Once<Vec<Cvar>> = Once::new();
    ALL.call_once(|| {
        let mut all = Vec::new();
        each_param(&init::frameworks(), image::components(), &mut |framework, component, param| {
            all.push(Cvar { name: full_name(framework, component, param.name), param, framework, component });
        });
        all
    })
}

/// The control variable with an index that may be anything.
pub fn get(index: i32) -> Result<&'static Cvar> {
    element(all(), index, "control variables").map_err(|fault| fault.argument("cvar_index"))
}

/// The index of a name.
pub fn index(name: &str) -> Result<i32> {
    let found = all().iter().position(|cvar| cvar.name == name).map(|index| index as i32);
    found.ok_or_else(|| {
        Fault::new(Class::ToolInvalidName).argument("name").because(format!("no control variable is named {name}"))
    })
}

impl Cvar {
    /// Its datatype.
    pub fn value_type(&self) -> ValueType {
        match self.param.kind {
            Kind::Int => ValueType::Count,
            Kind::Size => ValueType::Unsigned,
            Kind::Bool | Kind::Choice(_) => ValueType::Int,
            Kind::Text => ValueType::Char,
        }
    }

    /// MPI_T_SCOPE_CONSTANT, MPI_T_SCOPE_LOCAL or MPI_T_SCOPE_ALL_EQ.
    pub fn scope(&self) -> i32 {
        match self.param.change {
            Change::Never => 1,
            Change::Local => 3,
            Change::BeforeStart | Change::AllEqual => 7,
        }
    }

    /// Its description: what it does, and the unit.
    pub fn description(&self) -> String {
        match self.param.unit {
            "" => String::from(self.param.help.trim()),
            unit => format!("{} ({unit})", self.param.help.trim()),
        }
    }

    fn read(&self) -> Datum<'static> {
        match self.param.value() {
            Value::Int(number) if self.param.kind == Kind::Size => Datum::Unsigned(number as u64),
            Value::Int(number) => Datum::Count(number),
            Value::Bool(flag) => Datum::Int(i32::from(flag)),
            Value::Text(text) => match self.param.kind {
                Kind::Choice(words) => {
                    Datum::Int(words.iter().position(|word| *word == text).map_or(-1, |at| at as i32))
                }
                _ => Datum::Text(text),
            },
        }
    }

    fn write(&self, datum: Datum<'_>) -> Result<()> {
        match self.param.change {
            Change::Never => return Err(Class::ToolCvarSetNever.into()),
            Change::BeforeStart if init::has_started() => {
                let why = format!("{} was read when MPI started", self.name);
                return Err(Fault::new(Class::ToolCvarSetNotNow).because(why));
            }
            _ => {}
        }
        let wrong = || Fault::new(Class::ToolInvalid).argument("buf").because(format!("no value of {}", self.name));
        let value = match datum {
            Datum::Count(number) => Value::Int(number),
            Datum::Unsigned(number) => Value::Int(i64::try_from(number).map_err(|_| wrong())?),
            Datum::Int(number) => {
                let known = words(self.param.kind).ok_or_else(wrong)?;
                let word = usize::try_from(number).ok().and_then(|number| known.get(number)).ok_or_else(wrong)?;
                if self.param.kind == Kind::Bool { Value::Bool(number != 0) } else { Value::Text(word) }
            }
            // Texts of parameters live as long as the process.
            Datum::Text(text) => Value::Text(Box::leak(Box::from(text))),
            Datum::Double(_) => return Err(wrong()),
        };
        if !self.param.set_value(value, Source::Program) {
            return Err(wrong());
        }
        // It may have been this framework's verbosity.
        coll::look_at_verbosity();
        Ok(())
    }
}

/// A control variable that a tool reads and writes.
pub struct CvarHandle {
    cvar: &'static Cvar,
    /// Number of elements: of a text the characters that it may have, with the terminating NUL.
    pub count: usize,
}

static HANDLES: HandleTable<CvarHandle> = HandleTable::new();

/// MPI_T_cvar_handle_alloc: handle and count.
pub fn allocate(index: i32) -> Result<(usize, usize)> {
    let cvar = get(index)?;
    let count = match cvar.read() {
        Datum::Text(text) => (text.len() + 1).max(TEXT_ROOM),
        _ => 1,
    };
    let handle = HANDLES.insert(Arc::new(CvarHandle { cvar, count })).ok_or(Class::ToolOutOfHandles)?;
    Ok((handle, count))
}

/// MPI_T_cvar_handle_free.
pub fn free(handle: usize) -> Result<()> {
    HANDLES.remove(handle).map(drop).ok_or_else(no_handle)
}

/// What a handle leads to.
pub fn of_handle(handle: usize) -> Result<Arc<CvarHandle>> {
    HANDLES.get(handle).ok_or_else(no_handle)
}

impl CvarHandle {
    /// The datatype of its elements.
    pub fn value_type(&self) -> ValueType {
        self.cvar.value_type()
    }

    /// The value in force.
    pub fn read(&self) -> Datum<'static> {
        self.cvar.read()
    }

    /// Gives the variable a value.
    pub fn write(&self, datum: Datum<'_>) -> Result<()> {
        self.cvar.write(datum)
    }
}

fn no_handle() -> Fault {
    Fault::new(Class::ToolInvalidHandle).argument("handle").because("it is no handle of a control variable in force")
}

/// Least room for a text.
const TEXT_ROOM: usize = 1024;
