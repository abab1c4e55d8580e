//! The barrier machine beside a job of guests: tuc-fpga runs mpirun and is the machine at the other end of the guests'
//! parallel ports, which `hw/rig/shim`, preloaded into QEMU, plugs into its cable. Ordinary processes of the job have
//! emulated ports on the same cable.

use super::options::{BarrierMachine, Options};
use crate::failure::{Result, refuse};
use crate::fpga::{self, rig};
use crate::tree::Tree;
use std::path::Path;
use std::process::Command;

/// The program that mpirun and its arguments are given to: mpirun, or the machine that runs it.
pub fn launcher(tree: &Tree, options: &Options, mpirun: &Path) -> Result<Command> {
    if options.fpga == BarrierMachine::Off {
        return Ok(Command::new(mpirun));
    }
    let nodes = nodes(options)?;
    let mut command = Command::new(rig::machine(tree)?);
    command.args(["--say", "--nodes", &nodes.to_string()]).args(&options.faults);
    let mode = options.mca.chunks(2).rfind(|pair| pair[0] == MODE).map_or("classic", |pair| &pair[1]);
    // What is no mode the ranks refuse, with the right words.
    command.arg(if mode == "channels" { "--channels" } else { "--classic" });
    if options.fpga == BarrierMachine::Verilator {
        command.arg("--core").arg(fpga::core(tree, nodes)?);
    }
    command.env(SHIM, rig::shim(tree)?);
    // Ordinary processes of the job; guests get their own on the boot line.
    command.env(format!("OMPI_MCA_{PORT}"), "emulated");
    command.env(format!("OMPI_MCA_{RANKS_PER_PORT}"), options.smp.to_string());
    command.arg(mpirun);
    Ok(command)
}

/// One for each guest, and for as many ordinary processes as a guest has ranks.
fn nodes(options: &Options) -> Result<usize> {
    if options.hosted > 0 && !options.n.is_multiple_of(options.smp) {
        return Err(refuse(format!(
            "-n {} --smp {} --hosted {}: the last guest has fewer ranks than the others, and ordinary processes cannot \
             share its port; make -n a multiple of --smp, or leave --fpga out",
            options.n, options.smp, options.hosted
        )));
    }
    let nodes = (options.n + options.hosted).div_ceil(options.smp) as usize;
    if nodes > hw_fpga::NODES {
        let most = hw_fpga::NODES;
        return Err(refuse(format!("--fpga: the machine has wires for {most} nodes, and the job has {nodes}")));
    }
    Ok(nodes)
}

/// Plugs a guest's port into the machine's cable, if there is one.
pub fn plug(qemu: &mut Command, node: u32) {
    if let Some(shim) = std::env::var_os(SHIM) {
        qemu.env("LD_PRELOAD", shim).args(rig::port(node as usize));
    }
}

/// What stands on the boot line of a guest with such a port and so many ranks, unless the user `typed` it.
pub fn parameters(ranks: u32, typed: &str) -> String {
    let wanted = [(PORT, "inout".to_owned()), (RANKS_PER_PORT, ranks.to_string())];
    let wanted = wanted.iter().filter(|(name, _)| !typed.split(',').any(|said| said == *name));
    let has_port = std::env::var_os(SHIM).is_some();
    wanted.filter(|_| has_port).map(|(name, value)| format!(" --mca {name} {value}")).collect()
}

const MODE: &str = "coll_hwbarr_mode";
const PORT: &str = "coll_hwbarr_port";
const RANKS_PER_PORT: &str = "coll_hwbarr_ranks_per_port";
/// Says that the machine runs, and where the shim is; the cable's name is tuc-fpga's own affair.
const SHIM: &str = "OMPI_RS_BOOT_SHIM";
