//! One process that sends to itself: MPI's matching, the protocols of pml/ob1 with checksums, btl/faulty and btl/self as they are,
//! in virtual time, for many seeds. Each seed makes its own faults, messages and receives, and a model says which receive gets
//! which message.
//!
//! `cargo run -p test-netsim -- 0..1000` runs these seeds, `-- 77` one of them, and prints a line for each. A seed does the same
//! whichever ran before it.
//!
//! Not covered: several processes, which the statics of a process forbid; what processes share beside messages; sleeping.

mod alone;
mod clock;
mod model;
mod mpi;
mod traffic;

use clock::INFO;
use std::process::{Command, ExitCode};

opal_core::image![
    opal_core::framework::atomics,
    bml_r2,
    btl_faulty,
    btl_self,
    clock,
    coll_basic,
    ess_singleton,
    memcpy_portable,
    memory_none,
    op_scalar,
    pml_ob1,
];

/// Parameters, which a process takes from its environment.
const PARAMETERS: [(&str, &str); 3] =
    [("OMPI_MCA_btl", "^self"), ("OMPI_MCA_btl_faulty_wraps", "self"), ("OMPI_MCA_pml_ob1_checksum", "1")];

fn main() -> ExitCode {
    let seeds = std::env::args().nth(1).unwrap_or_else(|| String::from("0..100"));
    let (first, end) = match seeds.split_once("..") {
        Some((first, end)) => (number(first), number(end)),
        None => (number(&seeds), number(&seeds) + 1),
    };
    if std::env::var_os(PARAMETERS[1].0).is_none() {
        return again();
    }
    mpi::init();
    for seed in first..end {
        match traffic::run(seed) {
            Ok(outcome) => println!("seed {seed}: {outcome:?}"),
            Err(wrong) => {
                eprintln!("seed {seed}: {wrong}; again by: cargo run -p test-netsim -- {seed}");
                return ExitCode::FAILURE;
            }
        }
    }
    alone::finalize();
    ExitCode::SUCCESS
}

fn number(text: &str) -> u64 {
    text.parse().expect("a seed, or FIRST..END")
}

/// The same with the parameters.
fn again() -> ExitCode {
    let program = std::env::current_exe().expect("the system knows this program");
    let status = Command::new(program).args(std::env::args().skip(1)).envs(PARAMETERS).status();
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
