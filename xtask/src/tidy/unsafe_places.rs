//! Where the lint `unsafe_code` may be allowed. Everywhere else the workspace denies it.

use super::files::{Source, Sources};

/// Files that allow it and are not listed, and listed places that no longer need to be.
pub fn check(sources: &Sources) -> Vec<String> {
    // In two halves, so that this file does not name itself.
    let attribute = concat!("allow(", "unsafe_code)");
    let allowing: Vec<&str> =
        code(sources).filter(|source| source.text.contains(attribute)).map(|source| source.path.as_str()).collect();
    let strangers = allowing.iter().filter(|path| !PLACES.iter().any(|place| covers(place, path)));
    let strangers = strangers.map(|path| {
        format!("{path} allows unsafe code but is not listed in xtask/src/tidy/unsafe_places.rs; move it to a raw.rs")
    });
    let idle = PLACES.iter().filter(|place| !allowing.iter().any(|path| covers(place, path)));
    let idle = idle.map(|place| format!("{place} allows no unsafe code any more; take it off the list"));
    strangers.chain(idle).collect()
}

/// What is in a product. Tests and benches play C programs and boot crates.
fn code(sources: &Sources) -> impl Iterator<Item = &Source> {
    let plays = |path: &str| path.ends_with("/test_image.rs") || path.starts_with("benches/");
    sources.rust().filter(move |source| !source.is_test() && !plays(&source.path))
}

/// A place is a file, or a folder and everything below it when it ends with `/`; `*` is one folder.
fn covers(place: &str, path: &str) -> bool {
    let (mut place, mut path) = (place.split('/'), path.split('/'));
    loop {
        match (place.next(), path.next()) {
            (Some(""), Some(_)) | (None, None) => return true,
            (Some("*"), Some(_)) => {}
            (Some(wanted), Some(have)) if wanted == have => {}
            _ => return false,
        }
    }
}

const PLACES: &[&str] = &[
    "components/*/*/src/raw.rs",
    // The unsafe methods of a framework's trait.
    "components/*/*/src/module.rs",
    "components/btl/ofi/src/raw/",
    "components/btl/tcp/src/lazy.rs",
    "components/btl/uct/src/raw/",
    "components/pml/ob1/src/checksum/transport.rs",
    // Lends a program's data to the frameworks below.
    "components/io/ompio/src/access.rs",
    // Leaf crates of loads, stores and read-modify-writes in inline assembly.
    "components/atomics/asm/src/",
    "opal-core/src/datatype/",
    // Addresses that only debuggers follow.
    "opal-core/src/inspect.rs",
    "ompi-core/src/inspect.rs",
    "opal-core/src/mca/",
    "opal-core/src/mem/",
    "opal-core/src/queue/",
    "opal-core/src/sync/",
    "opal-core/src/sys/",
    "opal-core/src/shareable.rs",
    "opal-core/src/shareable/fork.rs",
    // The macros that register a component or define its symbols.
    "opal-core/src/framework/",
    "orte-core/src/framework/",
    // The mapped memory file of a job.
    "orte-core/src/segment/mapping.rs",
    "ompi-core/src/framework/",
    "ompi-core/src/abi/",
    // Objects of MPI that hold what a C program gave: addresses of buffers, functions, extra state.
    "ompi-core/src/accumulate.rs",
    "ompi-core/src/attr.rs",
    "ompi-core/src/buffer.rs",
    "ompi-core/src/comm.rs",
    // Words in memory that other processes have mapped, too.
    "ompi-core/src/shared_pool.rs",
    "ompi-core/src/data.rs",
    "ompi-core/src/errhandler.rs",
    "ompi-core/src/executor/immediate.rs",
    // Moves a program's data to and from the places of a view.
    "ompi-core/src/file/at_once.rs",
    "ompi-core/src/file/convert.rs",
    "ompi-core/src/file/datarep.rs",
    "ompi-core/src/file/gather.rs",
    "ompi-core/src/file/gather/raw.rs",
    "ompi-core/src/file/place.rs",
    "ompi-core/src/file/representation.rs",
    "ompi-core/src/file/sieve.rs",
    "ompi-core/src/file/transfer.rs",
    "ompi-core/src/op.rs",
    // Buffers of its own for a collective operation.
    "ompi-core/src/report/gather.rs",
    "ompi-core/src/request/",
    "ompi-core/src/schedule.rs",
    "ompi-core/src/topo/exchange.rs",
    "ompi-core/src/user_memory.rs",
    "ompi-core/src/win/access.rs",
    "ompi-core/src/win/direct.rs",
    "ompi-core/src/win/direct_parts.rs",
    // Atomic accesses to memory of a window, by address.
    "ompi-core/src/win/instruction.rs",
    // A program's data and mapped memory of targets.
    "ompi-core/src/win/node/access.rs",
    // The unsafe methods of traits.
    "ompi-core/src/win/node/module.rs",
    // The table that is looked up without a lock.
    "ompi-core/src/handle.rs",
    // Addresses that Fortran programs pass, and procedures of theirs.
    "ompi-core/fortran/src/lib.rs",
    // The safe interface for Rust programs: promises about buffers and types, loans, and what hands them to the library.
    "ompi-core/rust/src/attribute.rs",
    "ompi-core/rust/src/collective/",
    "ompi-core/rust/src/datatype/",
    "ompi-core/rust/src/request/",
    "ompi-core/rust/src/topology/neighbors.rs",
    "ompi-core/rust/src/topology/shared.rs",
    "ompi-core/rust/src/window/epoch.rs",
    "ompi-core/rust/src/raw.rs",
    // The promise that the derive macro makes for a struct.
    "ompi-core/rust/derive/src/lib.rs",
    // Abort, and a symbol that the compiler asks for.
    "ompi-core/image/src/lib.rs",
    // Port instructions, ioctls, mapped registers, a fault's handler; the cable in shared memory.
    "hw/pport/src/",
    "hw/rig/src/cable.rs",
    // The library that Verilator made, in tuc-fpga.
    "hw/rig/src/verilog.rs",
    // Symbols before the C library's, in QEMU.
    "hw/rig/shim/src/raw.rs",
    // The machine itself: instructions, ports, page tables, registers, what the loader left, a C program's system calls.
    "hw/x86_64/src/",
    // Fork, pidfd and friends.
    "orte-core/tools/mpirun/src/raw.rs",
];

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn places() {
        assert!(covers("components/*/*/src/raw.rs", "components/btl/sm/src/raw.rs"));
        assert!(!covers("components/*/*/src/raw.rs", "components/btl/sm/src/send.rs"));
        assert!(covers("opal-core/src/sys/", "opal-core/src/sys/a/b.rs"));
        assert!(!covers("opal-core/src/sys/", "opal-core/src/system/b.rs"));
        assert!(!covers("a/b.rs", "a/b.rs/c"));
    }
}
