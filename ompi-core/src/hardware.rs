//! What this process may know of the machine that it runs on: MPI_Get_hw_resource_info, MPI 5.0 §9.1.2.

use crate::info::Info;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sys;

/// The types of resource that are known, as Linux names them, the largest first. Each lies inside the one before it.
pub const TYPES: [&str; 4] = ["linux://machine", "linux://package", "linux://core", "linux://cpu"];

/// Per type of resource whether this process is restricted to a single one ("true" or "false"). What the kernel does not
/// tell is not there.
pub fn resources() -> Info {
    let info = Info::of([]);
    for name in TYPES {
        if let Some(places) = places(name) {
            info.set(name, if places.iter().all(|place| *place == places[0]) { "true" } else { "false" });
        }
    }
    info
}

/// Which resource of a type it is that this process is restricted to, for comparison with others of its machine; `None`
/// for an unknown type, and if it may run on several.
pub fn instance(name: &str) -> Option<String> {
    let mut places = places(name)?;
    let first = places.pop()?;
    places.iter().all(|place| *place == first).then_some(first)
}

/// The resource of a type at each processor that this process may run on; `None` if one of them is not known.
fn places(name: &str) -> Option<Vec<String>> {
    let package = |core: usize| topology(core, "physical_package_id");
    let of = |core: &usize| match name {
        "linux://machine" => Some(String::new()),
        "linux://package" => package(*core),
        "linux://core" => Some(format!("{} {}", package(*core)?, topology(*core, "core_id")?)),
        "linux://cpu" => Some(format!("{core}")),
        _ => None,
    };
    let places: Option<Vec<String>> = cores().iter().map(of).collect();
    places.filter(|places| !places.is_empty())
}

/// The package, the largest shared cache, the core and the hardware thread that this process is bound to, as numbers that
/// tell those of one machine apart; `None` if it may run on several or the kernel does not say.
pub fn place() -> [Option<u64>; 4] {
    let cores = cores();
    let single = |of: &dyn Fn(usize) -> Option<u64>| {
        let first = of(*cores.first()?)?;
        cores.iter().all(|core| of(*core) == Some(first)).then_some(first)
    };
    let number = |core, name: &str| processor(core, name)?.parse().ok();
    [
        single(&|core| number(core, "topology/physical_package_id")),
        single(&|core| number(core, "cache/index3/id").or_else(|| number(core, "cache/index2/id"))),
        single(&|core| number(core, "topology/core_id")),
        single(&|core| Some(core as u64)),
    ]
}

/// The numbers of the processors that this process may run on.
fn cores() -> Vec<usize> {
    let mask = sys::own_cores();
    (0..64 * mask.len()).filter(|core| mask[core / 64] & 1 << (core % 64) != 0).collect()
}

fn topology(core: usize, name: &str) -> Option<String> {
    processor(core, &format!("topology/{name}"))
}

fn processor(core: usize, file: &str) -> Option<String> {
    let bytes = sys::read_file(&format!("/sys/devices/system/cpu/cpu{core}/{file}"))?;
    Some(String::from_utf8_lossy(&bytes).trim().into())
}
