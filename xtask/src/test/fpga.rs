//! The barrier machine: its test benches, and its Verilog against its Rust model.

use super::{Session, Verdict};
use crate::failure::Result;
use crate::fpga;

/// `fpga/…`.
pub fn tier(session: &mut Session) -> Result<()> {
    session.case("fpga/benches", |session| verdict(fpga::benches(&session.tree)));
    session.case("fpga/lockstep", |session| {
        // 13 has no factor in common with the number of states, so that all bits of the state vary.
        let (stride, ticks) = if session.options.all { (1, 2_000_000) } else { (13, 200_000) };
        verdict(fpga::verify(&session.tree, stride, ticks, 1))
    });
    Ok(())
}

fn verdict(result: Result<Vec<String>>) -> Verdict {
    match result {
        Ok(lines) => Verdict::Passed(lines.last().cloned().unwrap_or_default()),
        Err(failure) if failure.status == fpga::MISSING => Verdict::Skipped(failure.text),
        Err(failure) => failure.into(),
    }
}
