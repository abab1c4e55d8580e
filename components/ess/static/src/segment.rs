//! From a contract on the boot line to a checked place in the job's memory.

use crate::raw::Mapping;
use alloc::format;
use alloc::string::String;
use hw_x86_64::ivshmem;
use opal_core::sys;
use orte_core::environment::Contract;
use orte_core::segment::layout::HEADER_BYTES;
use orte_core::segment::member::{Member, Patience};
use orte_core::segment::{Control, Layout, Shared};

/// Checks that the shared device holds the job of the boot line. `Err` with a sentence.
pub fn open(contract: Contract, patience: Patience) -> Result<Member<Mapping>, String> {
    let size = contract.size;
    let memory = ivshmem::memory()
        .map_err(|why| format!("the boot line says size={size}, but the ranks share no memory: {why}; {ADVICE}"))?;
    let wrong =
        |why: &str| format!("the memory of this machine's ivshmem device is not that of this job: {why}; {ADVICE}");
    let mapping = Mapping::new(memory);
    if memory.own {
        prepare(&contract, &mapping)?;
    }
    let mut header = [0; HEADER_BYTES];
    mapping.read(&mut header);
    let layout = Layout::new_checked(&header, memory.bytes as u64).map_err(|flaw| wrong(&format!("{flaw}")))?;
    let control = Control::new(layout, mapping).ok_or_else(|| wrong("it is too short"))?;
    Member::new(contract, control, patience).map_err(|why| wrong(&why))
}

/// A machine's own memory is nobody's but its ranks': the first of them says what lies where, the others wait for it.
fn prepare(contract: &Contract, mapping: &Mapping) -> Result<(), String> {
    let Contract { job, size, local_rank, .. } = *contract;
    let layout = Layout::new(job, size).ok_or_else(|| format!("the boot line says size={size}; that is too many"))?;
    let wanted_mib = layout.bytes.div_ceil(1 << 20);
    if (mapping.bytes() as u64) < layout.bytes {
        return Err(format!("the boot line says shared_mib=, but {size} ranks need more; say shared_mib={wanted_mib}"));
    }
    let here = sys::variable("SMP").and_then(|smp| smp.parse().ok()).unwrap_or(1);
    if size != here {
        return Err(format!(
            "the boot line says size={size} and smp={here}: no other machine sees the memory of shared_mib=; say smp={size}"
        ));
    }
    if local_rank == 0 {
        mapping.write(&layout.encode());
        return Ok(());
    }
    let end = sys::monotonic_ns() + PATIENCE_NS;
    while !mapping.is_written() {
        if sys::monotonic_ns() > end {
            return Err("the machine's first rank did not prepare the memory that its ranks share".into());
        }
        sys::yield_now();
    }
    Ok(())
}

/// For the first rank to come so far.
const PATIENCE_NS: u64 = 10_000_000_000;
const ADVICE: &str = "start the machines with `cargo xtask boot` of the same ompi-rs, or see docs/bare-metal.md";
