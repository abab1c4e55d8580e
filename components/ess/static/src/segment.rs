//! From a contract on the boot line to a checked place in the job's memory.

use crate::raw::Mapping;
use alloc::format;
use alloc::string::String;
use hw_x86_64::ivshmem;
use orte_core::environment::Contract;
use orte_core::segment::layout::HEADER_BYTES;
use orte_core::segment::member::{Member, Patience};
use orte_core::segment::{Control, Layout};

/// Checks that the shared device holds the job of the boot line. `Err` with a sentence.
pub fn open(contract: Contract, patience: Patience) -> Result<Member<Mapping>, String> {
    let size = contract.size;
    let memory = ivshmem::memory()
        .map_err(|why| format!("the boot line says size={size}, but the ranks share no memory: {why}; {ADVICE}"))?;
    let wrong =
        |why: &str| format!("the memory of this machine's ivshmem device is not that of this job: {why}; {ADVICE}");
    let mapping = Mapping::new(memory);
    let mut header = [0; HEADER_BYTES];
    mapping.read(&mut header);
    let layout = Layout::new_checked(&header, memory.bytes as u64).map_err(|flaw| wrong(&format!("{flaw}")))?;
    let control = Control::new(layout, mapping).ok_or_else(|| wrong("it is too short"))?;
    Member::new(contract, control, patience).map_err(|why| wrong(&why))
}

const ADVICE: &str = "start the machines with `cargo xtask boot` of the same ompi-rs, or see docs/bare-metal.md";
