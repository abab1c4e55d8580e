//! Eight bytes through the crate and through MPI_Send, a value behind a lock that one thread does not need and one without,
//! sixteen times each: `cargo xtask test rust/instructions rust/lock` runs this under callgrind and compares what the functions
//! below cost. Alone it shows that both sends are the same library.

use ompi::topology::{Process, SimpleCommunicator};
use ompi::traits::*;
use opal_core::sync::ConditionalLock;
use std::ffi::{c_int, c_void};
use std::hint::black_box;

// SAFETY: as in mpi.h of the standard ABI; the library that the crate brings along defines it.
unsafe extern "C" {
    fn MPI_Send(buf: *const c_void, count: c_int, datatype: usize, dest: c_int, tag: c_int, comm: usize) -> c_int;
}

const CALLS: usize = 16;
const TAG: i32 = 17;
/// MPI_DOUBLE and MPI_COMM_WORLD.
const DOUBLE: usize = 532;
const WORLD: usize = 0x101;

fn main() -> ompi::Result<()> {
    let universe = ompi::initialize().expect("MPI starts once per process");
    let world = universe.world();
    let values = [0.5f64; CALLS];
    for turn in 0..3 {
        // The first turns set up what is set up lazily, with other functions than those that are counted.
        turns(&world, &values, turn)?;
    }
    let mut plain = 0;
    count_guarded(&GUARDED);
    count_plain(&mut plain);
    assert_eq!(GUARDED.lock_alone().map(|number| *number), Some(plain));
    Ok(())
}

static GUARDED: ConditionalLock<u64> = ConditionalLock::new(0);

fn turns(world: &SimpleCommunicator, values: &[f64; CALLS], turn: i32) -> ompi::Result<()> {
    let (rank, peer) = (world.rank(), world.process_at_rank(1 % world.size()));
    if rank == 0 {
        match turn {
            0 => values.iter().try_for_each(|value| peer.send_with_tag(value, TAG))?,
            1 => count_crate(&peer, values)?,
            _ => count_standard(values, peer.rank()),
        }
    }
    // Nothing was received meanwhile, so that nobody waited for room or was woken.
    world.barrier()?;
    if rank == peer.rank() {
        for _ in 0..CALLS {
            let mut value = 0.0;
            let status = world.process_at_rank(0).receive_into_with_tag(&mut value, TAG)?;
            assert_eq!((value, status.count::<f64>()), (0.5, Some(1)));
        }
    }
    world.barrier()
}

#[unsafe(no_mangle)]
#[inline(never)]
fn count_crate(peer: &Process<'_>, values: &[f64; CALLS]) -> ompi::Result<()> {
    for value in values {
        black_box(peer).send_with_tag(black_box(value), TAG)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
#[inline(never)]
fn count_standard(values: &[f64; CALLS], peer: c_int) {
    for value in values {
        let at: *const f64 = black_box(value);
        // SAFETY: a value that is borrowed; the other arguments are the standard's and a rank of the world.
        let code = unsafe { MPI_Send(at.cast(), 1, DOUBLE, black_box(peer), TAG, WORLD) };
        assert_eq!(code, 0);
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn count_guarded(number: &ConditionalLock<u64>) {
    for _ in 0..CALLS {
        if let Some(mut number) = black_box(number).lock_alone() {
            *number += 1;
        }
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn count_plain(number: &mut u64) {
    let mut number = number;
    for _ in 0..CALLS {
        number = black_box(number);
        *number += 1;
    }
}
