//! Which MPI call a rank is in: each thread of its process is stopped for a moment (ptrace), and its stack is read from outside. So
//! ranks need not record their calls.

mod rust;

use crate::raw::Stopped;
use crate::tree;
use opal_core::stack::{Frame, Name, Process, Walk};

/// What the stacks of a rank's process tell: that of its first thread, if nothing else is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// The outermost call of MPI, as the standard spells it.
    pub mpi: Option<String>,
    /// The functions, the innermost one first.
    pub functions: Vec<String>,
    /// Its other threads, in the order of their numbers.
    pub others: Vec<Thread>,
    /// The process holds this library; an emulator in a rank's place does not, and its stack tells nothing of its guest.
    pub has_library: bool,
}

/// What the stack of another thread tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub id: i32,
    /// The outermost call of MPI.
    pub mpi: Option<String>,
    /// The functions, the innermost one first.
    pub functions: Vec<String>,
}

impl Calls {
    /// The calls of MPI that other threads are in, each once.
    pub fn of_others(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.others.iter().filter_map(|thread| thread.mpi.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// All stacks as lines, the first thread's without its number.
    pub fn lines(&self) -> Vec<String> {
        let numbered = |functions: &[String], indent: &str| -> Vec<String> {
            functions.iter().enumerate().map(|(number, function)| format!("{indent}#{number} {function}")).collect()
        };
        let mut lines = numbered(&self.functions, "");
        for thread in &self.others {
            lines.push(format!("thread {}", thread.id));
            lines.extend(numbered(&thread.functions, "  "));
        }
        lines
    }

    /// Whether the names tell that it is in none of the library's functions; where a program has no names nobody can know.
    pub fn is_outside(&self) -> bool {
        let has_names = self.functions.iter().any(|name| name.contains(" + ") && !name.contains(".so"));
        self.mpi.is_none() && self.has_library && has_names && self.in_crates().is_empty()
    }

    /// Of a program in Rust, which calls no symbol of MPI: the function of the library's crates that it called, as Rust writes
    /// it. `None` if it is in none, or in a function of its own that the library called. Where the method that the program called is
    /// not on the stack, because it is inlined, its caller is named.
    pub fn rust(&self) -> Option<String> {
        let called = rust::path(self.in_crates().last()?);
        let caller = self.functions.iter().find(|name| rust::is_of_program(name));
        Some(match caller.filter(|_| !called.starts_with("ompi::")) {
            Some(caller) => format!("{called}, called by {}", rust::path(caller)),
            None => called,
        })
    }

    /// The innermost functions that are the library's, one below the other: those of Rust's own crates, and of others that the
    /// library calls, may stand before and between them.
    fn in_crates(&self) -> Vec<&String> {
        let up_to_program = self.functions.iter().take_while(|name| !rust::is_of_program(name));
        up_to_program.filter(|name| rust::is_ours(name)).collect()
    }
}

/// Looks at a rank, or at what the shell in its place started. `None` if the system forbids it.
pub fn of_rank(pid: u32) -> Option<Calls> {
    let found: Vec<Calls> = tree::family(pid as i32).into_iter().filter_map(of_process).collect();
    let in_mpi = found.iter().position(|calls| calls.mpi.is_some() || !calls.of_others().is_empty());
    // Without a call of MPI the last process is the program itself: shells stand above it.
    let chosen = in_mpi.unwrap_or(found.len().checked_sub(1)?);
    found.into_iter().nth(chosen)
}

fn of_process(pid: i32) -> Option<Calls> {
    // Nobody knows when it could be stopped, and until then it could not be let go either.
    if tree::is_stuck(pid) {
        return None;
    }
    // It goes on when this is dropped.
    let stopped = Stopped::new(pid)?;
    let process = Process::open(&format!("/proc/{pid}/mem"), &format!("/proc/{pid}/maps"))?;
    let (mpi, functions) = stack(&process, &stopped);
    drop(stopped);
    let others = other_threads(pid).into_iter().filter_map(|id| of_thread(&process, id)).collect();
    Some(Calls { mpi, functions, others, has_library: has_library(pid) })
}

/// Of a thread that is not the first; `None` if it is gone, or hangs inside the system.
fn of_thread(process: &Process, id: i32) -> Option<Thread> {
    if tree::is_stuck(id) {
        return None;
    }
    let stopped = Stopped::new(id)?;
    let (mpi, functions) = stack(process, &stopped);
    Some(Thread { id, mpi, functions })
}

/// The numbers of threads that are not the first, as many as are looked at.
fn other_threads(pid: i32) -> Vec<i32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut ids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    ids.retain(|id| *id != pid);
    ids.sort_unstable();
    ids.truncate(MOST_THREADS);
    ids
}

/// The outermost call of MPI, and all functions, the innermost one first.
fn stack(process: &Process, stopped: &Stopped) -> (Option<String>, Vec<String>) {
    let (mut mpi, mut functions) = (None, Vec::new());
    for frame in Walk::new(process, stopped.registers()).take(MOST) {
        if let Some(name) = called(process, frame).filter(|name| name.starts_with("MPI_")) {
            mpi = Some(name);
        }
        functions.push(function(process, frame));
    }
    (mpi, functions)
}

/// Whether a process has this library mapped, or its program holds the archive or the crates.
fn has_library(pid: i32) -> bool {
    let contains = |file: &str, names: &[&str]| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        names.iter().any(|name| bytes.windows(name.len()).any(|window| window == name.as_bytes()))
    };
    contains("maps", &["libmpi_abi"]) || contains("exe", &["PMPI_Init", "ompi_core"])
}

/// The function that holds a place, or its file.
fn function(process: &Process, frame: Frame) -> String {
    let inside = frame.address - u64::from(frame.is_return);
    let Some(image) = process.image(inside) else { return format!("{:#x}", frame.address) };
    match Name::find(process, &image, inside) {
        Some(name) => format!("{name} + {:#x} ({})", name.offset, image.name()),
        None => format!("{} {:#x}", image.name(), inside - image.bias(process).unwrap_or(0)),
    }
}

/// What the call before a return address called. The function that runs there may be another one by now, because calls in
/// last place are jumps: so are MPI's fast paths.
fn called(process: &Process, frame: Frame) -> Option<String> {
    let after = frame.is_return.then_some(frame.address)?;
    let target = match (process.byte(after - 5), process.quarter(after - 6)) {
        // call through a table, relative to the instruction
        (_, Some(0x15ff)) => process.word(relative(process, after)?)?,
        (Some(0xe8), _) => relative(process, after)?,
        _ => return None,
    };
    let name = named(process, target).or_else(|| named(process, stub(process, target)?))?;
    // The profiling name is the same function.
    Some(if name.starts_with("PMPI_") { name[1..].to_owned() } else { name })
}

/// Where a stub of the linker leads: `endbr64` perhaps, then a jump through a table.
fn stub(process: &Process, target: u64) -> Option<u64> {
    (0..8).find_map(|skip| {
        let jump = target + skip;
        let is_jump = process.quarter(jump)? == 0x25ff;
        is_jump.then(|| process.word(relative(process, jump + 6)?))?
    })
}

/// The address that the four bytes before `end` name relative to it.
fn relative(process: &Process, end: u64) -> Option<u64> {
    Some(end.wrapping_add_signed(i64::from(process.half(end - 4)? as i32)))
}

fn named(process: &Process, address: u64) -> Option<String> {
    let image = process.image(address)?;
    let name = Name::find(process, &image, address)?;
    (name.offset == 0).then(|| name.text().to_owned())
}

/// As many functions of a stack as are looked at.
const MOST: usize = 64;
/// As many threads of a process are looked at beside the first: each stands still meanwhile.
const MOST_THREADS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_program_in_rust() {
        let calls = |functions: &[&str]| Calls {
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
            has_library: true,
            ..Calls::default()
        };
        let waits = "opal_core::wait::Backoff::check + 0xcd (x)";
        let receives = "<pml_ob1::module::Ob1 as ompi_core::framework::pml::Module>::recv + 0xc2 (x)";
        let own = "run_hang_rs::main + 0x34d (x)";
        let scope = "ompi::request::scope::scope + 0x34d (x)";
        let receiving = calls(&["syscall + 0x19 (libc.so.6)", waits, receives, own]);
        assert_eq!(
            (receiving.rust().as_deref(), receiving.is_outside()),
            (Some("pml_ob1::module::Ob1::recv, called by run_hang_rs::main"), false)
        );
        // A closure of the program's own, that the library called.
        let computing = calls(&[own, scope, own]);
        assert_eq!((computing.rust(), computing.is_outside()), (None, true));
        // Without optimization what the library calls is on the stack, too.
        let (yields, passed) =
            ("rustix::thread::sched::sched_yield + 0x9 (x)", "core::ops::function::FnOnce::call_once + 0x5 (x)");
        let debug = calls(&[yields, waits, passed, receives, scope, passed, own, scope, own]);
        assert_eq!((debug.rust().as_deref(), debug.is_outside()), (Some("ompi::request::scope::scope"), false));
        assert!(calls(&[yields, own]).is_outside());
        assert!(calls(&[own]).is_outside());
    }

    #[test]
    fn threads_beside_the_first() {
        let thread = |id, mpi: Option<&str>, functions: &[&str]| Thread {
            id,
            mpi: mpi.map(str::to_owned),
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        };
        let others = vec![
            thread(8, Some("MPI_Wait"), &["poll", "work"]),
            thread(9, None, &[]),
            thread(12, Some("MPI_Recv"), &["spin"]),
            thread(13, Some("MPI_Wait"), &[]),
        ];
        let calls = Calls { functions: vec!["a".to_owned(), "main".to_owned()], others, ..Calls::default() };
        assert_eq!(calls.of_others(), ["MPI_Recv", "MPI_Wait"]);
        assert_eq!(
            calls.lines(),
            [
                "#0 a",
                "#1 main",
                "thread 8",
                "  #0 poll",
                "  #1 work",
                "thread 9",
                "thread 12",
                "  #0 spin",
                "thread 13"
            ]
        );
    }
}
