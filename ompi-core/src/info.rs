//! Info objects: ordered pairs of key and value. MPI 5.0 §10.

use crate::error::{Class, Fault, Result};
use crate::handle::HandleTable;
use crate::init;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem::offset_of;
use opal_core::inspect::Fact;
use opal_core::sync::Mutex;
use opal_core::sys;
use orte_core::environment;
use orte_core::framework::ess;

/// MPI_INFO_NULL.
pub const NULL: usize = 0x130;
/// MPI_INFO_ENV.
pub const ENV: usize = 0x131;
/// MPI_MAX_INFO_KEY, with the terminating NUL.
pub const MAX_KEY: usize = 256;
/// MPI_MAX_INFO_VAL, with the terminating NUL.
pub const MAX_VALUE: usize = 1024;

/// The kinds of memory in which buffers may lie, whatever was asked for, and the key under which sessions, communicators and
/// MPI_INFO_ENV say so. MPI 5.0 §11.4.3.
pub const MEMORY_KINDS: (&str, &str) = ("mpi_memory_alloc_kinds", "mpi,system");

/// The one kind with a restriction that is there, too (MPI 5.0 §11.4.3): memory of MPI_Alloc_mem. It is named where it was
/// asked for.
const ALLOC_MEM: &str = "mpi:alloc_mem";

/// Whether the library supports a kind of memory.
pub fn is_memory_kind(kind: &str) -> bool {
    kind == ALLOC_MEM || MEMORY_KINDS.1.split(',').any(|known| known == kind)
}

/// What follows [`MEMORY_KINDS`] when these kinds were asked for, with the comma before it.
pub fn granted_kinds(asked: &str) -> String {
    let named = asked.split(',').any(|kind| kind.trim() == ALLOC_MEM);
    if named { format!(",{ALLOC_MEM}") } else { String::new() }
}

static DYNAMIC: HandleTable<Info> = HandleTable::new();

/// What a debugger needs to know of info objects.
pub(crate) static FACTS: [Fact; 4] = [
    Fact::address("info.table", &raw const DYNAMIC),
    Fact::number("info.pair", size_of::<(String, String)>()),
    Fact::number("info.pair.key", offset_of!((String, String), 0)),
    Fact::number("info.pair.value", offset_of!((String, String), 1)),
];
// The mutex begins where it does.
const _: () = assert!(offset_of!(Info, 0) == 0);

/// Keys and values in the order in which the keys were first set.
// Always locked: MPI 5.0 §11.6 lets all threads use them at any thread level.
pub struct Info(Mutex<Vec<(String, String)>>);

impl Info {
    /// One with these pairs.
    pub fn of<const N: usize>(pairs: [(&str, &str); N]) -> Info {
        Info(Mutex::new(pairs.into_iter().map(|(key, value)| (key.into(), value.into())).collect()))
    }

    /// Sets a value; a new key goes to the end.
    pub fn set(&self, key: &str, value: &str) {
        let mut pairs = self.0.lock();
        match pairs.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value.into(),
            None => pairs.push((key.into(), value.into())),
        }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.lock().iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
    }

    /// Deletes a key; false if there is none.
    pub fn delete(&self, key: &str) -> bool {
        let mut pairs = self.0.lock();
        let place = pairs.iter().position(|(known, _)| known == key);
        place.map(|place| pairs.remove(place)).is_some()
    }

    /// The key of a number.
    pub fn key(&self, number: usize) -> Option<String> {
        self.0.lock().get(number).map(|(key, _)| key.clone())
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy.
    pub fn duplicate(&self) -> Info {
        Info(Mutex::new(self.0.lock().clone()))
    }

    /// Gives it a handle.
    pub fn into_handle(self) -> Result<usize> {
        let why = "all info handles are in use; free some with MPI_Info_free";
        DYNAMIC.insert(Arc::new(self)).ok_or_else(|| Fault::new(Class::NoMem).because(why))
    }
}

/// The object behind a handle.
pub fn get(handle: usize) -> Option<Arc<Info>> {
    match handle {
        ENV => Some(Arc::new(environment(command_line()))),
        _ => DYNAMIC.get(handle),
    }
}

/// What MPI_INFO_ENV says of this process and its command line (MPI 5.0 §11.2.1): what is not known is not there.
pub fn environment(command_line: Vec<String>) -> Info {
    let info = Info::of([("host", &sys::hostname())]);
    if let Some((command, arguments)) = command_line.split_first() {
        info.set("command", &cut(command));
        info.set("argv", &cut(&arguments.join(" ")));
    }
    if cfg!(target_arch = "x86_64") {
        info.set("arch", "x86_64");
    }
    info.set(MEMORY_KINDS.0, MEMORY_KINDS.1);
    if let Some(size) = job_size() {
        info.set("maxprocs", &size);
    }
    // Before MPI_Init as after the usual one: a program that did not ask for threads has this level.
    let level = init::ThreadLevel::from_int(init::thread_level()).unwrap_or(init::ThreadLevel::Single);
    info.set("thread_level", level.symbol());
    info
}

/// The number of ranks; before MPI is started as the launcher says it to this process.
fn job_size() -> Option<String> {
    if let Some(environment) = ess::selected() {
        return Some(format!("{}", environment.identity().size));
    }
    match cfg!(ompi_bare) {
        true => sys::variable(environment::BOOT_SIZE).map(String::from),
        false => environment::told_size(sys::variable).map(String::from),
    }
}

fn cut(value: &str) -> String {
    value[..value.floor_char_boundary(MAX_VALUE - 1)].into()
}

fn command_line() -> Vec<String> {
    let bytes = sys::read_file("/proc/self/cmdline").unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    // A NUL ends each word, the last one, too.
    words.pop();
    words
}

/// MPI_Info_free: false for a handle that is none of the user's.
pub fn remove(handle: usize) -> bool {
    DYNAMIC.remove(handle).is_some()
}

/// Refuses a key that is empty or too long.
pub fn check_key(key: &str) -> Result<()> {
    let why = match key.len() {
        0 => "the key is empty".into(),
        length if length < MAX_KEY => return Ok(()),
        length => format!("the key has {length} characters, {} are allowed", MAX_KEY - 1),
    };
    Err(Fault::new(Class::InfoKey).argument("key").because(why))
}

/// Refuses a value that is too long.
pub fn check_value(value: &str) -> Result<()> {
    if value.len() < MAX_VALUE {
        return Ok(());
    }
    let why = format!("the value has {} characters, {} are allowed", value.len(), MAX_VALUE - 1);
    Err(Fault::new(Class::InfoValue).argument("value").because(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_order_and_copies_are_apart() {
        let info = Info::of([("path", "/tmp"), ("host", "a")]);
        info.set("soft", "1");
        info.set("path", "/");
        let copy = info.duplicate();
        assert!(info.delete("host") && !info.delete("host"));
        assert_eq!((info.len(), info.key(1).as_deref(), info.key(2)), (2, Some("soft"), None));
        assert_eq!(info.get("path").as_deref(), Some("/"));
        assert_eq!((copy.len(), copy.get("host").as_deref()), (3, Some("a")));
    }

    #[test]
    fn lengths_are_limited() {
        assert_eq!(check_key("").unwrap_err().get(), Class::InfoKey as i32);
        assert_eq!(check_key(&"k".repeat(MAX_KEY)).unwrap_err().get(), Class::InfoKey as i32);
        assert!(check_key(&"k".repeat(MAX_KEY - 1)).is_ok());
        assert_eq!(check_value(&"v".repeat(MAX_VALUE)).unwrap_err().get(), Class::InfoValue as i32);
    }
}
