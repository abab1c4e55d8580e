//! Registration, and what is said when MPI starts.

use crate::blocks::{self, State};
use crate::params::{self, CHILDREN, KEPT, THRESHOLD};
use opal_core::framework::memory;
use opal_core::mca::{self, Declined, Source};
use opal_core::message;

/// The component.
pub struct ShHeap;

impl mca::Component for ShHeap {
    opal_core::component_info!();

    fn open(&self) -> Result<(), Declined> {
        for param in [&THRESHOLD, &KEPT, &CHILDREN] {
            if let Source::File(path, line) = param.source() {
                message!(
                    "{path}:{line}: memory_shheap_{} is read before main, where files are not: set it in the environment or by mpirun --mca",
                    param.name
                );
            }
        }
        match blocks::state() {
            State::Gives | State::Off => {}
            State::NotCalled => memory::note(NOT_CALLED),
            State::StrictMemory => memory::note(STRICT_MEMORY),
            State::NoForks => memory::note(NO_FORKS),
        }
        Ok(())
    }
}

impl memory::Component for ShHeap {}

opal_core::component! {
    /// Gives the program's long allocations from memory that peers can map.
    pub static COMPONENT: ShHeap = ShHeap;
    in opal_core::framework::memory, name "shheap", params params::ALL
}

// What the program maps and unmaps by itself goes unseen.
fn watches() -> bool {
    false
}

opal_core::provide_memory!(watches);

const NOT_CALLED: &str = "memory/shheap: another malloc is called in this program, so that its buffers are not shareable: it is linked with \
     -static, has an allocator of its own, or has loaded the library later; then LD_PRELOAD helps. memory_shheap_threshold 0 says that it is \
     meant so";
const STRICT_MEMORY: &str = "memory/shheap: malloc's memory is not shareable, because the system grants only what it has \
     (vm.overcommit_memory 2), and would not do so with shared memory";
const NO_FORKS: &str =
    "memory/shheap: malloc's memory is not shareable, because the C library could not note what a fork has to do";
