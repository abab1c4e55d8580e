//! What this process may know of the machine that it runs on: MPI_Get_hw_resource_info, MPI 5.0 §9.1.2.

use crate::info::Info;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::sys;

/// Per type of resource, as Linux names them, whether this process is restricted to a single one ("true" or "false").
/// What the kernel does not tell is not there.
pub fn resources() -> Info {
    let info = Info::of([("linux://machine", "true")]);
    let cores = cores();
    let restricted = |of: &dyn Fn(usize) -> Option<String>| -> Option<bool> {
        let places: Option<Vec<String>> = cores.iter().map(|core| of(*core)).collect();
        let places = places.filter(|places| !places.is_empty())?;
        Some(places.iter().all(|place| *place == places[0]))
    };
    let package = |core: usize| topology(core, "physical_package_id");
    let core_of = |core: usize| Some(format!("{} {}", package(core)?, topology(core, "core_id")?));
    let resources: [(&str, Option<bool>); 3] = [
        ("linux://package", restricted(&package)),
        ("linux://core", restricted(&core_of)),
        ("linux://cpu", restricted(&|cpu| Some(format!("{cpu}")))),
    ];
    for (name, one) in resources {
        if let Some(one) = one {
            info.set(name, if one { "true" } else { "false" });
        }
    }
    info
}

/// The numbers of the processors that this process may run on.
fn cores() -> Vec<usize> {
    let mask = sys::own_cores();
    (0..64 * mask.len()).filter(|core| mask[core / 64] & 1 << (core % 64) != 0).collect()
}

fn topology(core: usize, name: &str) -> Option<String> {
    let bytes = sys::read_file(&format!("/sys/devices/system/cpu/cpu{core}/topology/{name}"))?;
    Some(String::from_utf8_lossy(&bytes).trim().into())
}
