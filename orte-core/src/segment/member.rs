//! Framework ess for a rank whose launcher left a job segment, whichever way the segment was mapped.

use super::control::{Control, Missed, PortOf, Shared};
use super::record::{ADDRESSES_BYTES, RankState};
use crate::environment::Contract;
use crate::framework::ess::{Awaited, Identity, Module, State};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use opal_core::framework::shmem::Inherited;
use opal_core::{Error, Result, message};

/// How long to wait for others' addresses.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The parameter that says it.
    pub parameter: &'static str,
    /// Its value.
    pub seconds: fn() -> u64,
}

/// One rank of a job.
#[derive(Debug)]
pub struct Member<S> {
    contract: Contract,
    control: Control<S>,
    patience: Patience,
}

impl<S: Shared> Member<S> {
    /// Takes its place in the segment: `Err` with half a sentence if the segment is not that of the contract's job.
    pub fn new(contract: Contract, control: Control<S>, patience: Patience) -> core::result::Result<Member<S>, String> {
        let Contract { size, local_size, .. } = contract;
        if size != local_size {
            let ranks = control.layout().ranks;
            return Err(format!(
                "it holds {ranks} ranks, the launcher says {local_size} on this node and {size} in the job"
            ));
        }
        Member::of_node(contract, control, patience)
    }

    /// As `new` for a job that may have ranks on other nodes as well; of those this knows nothing.
    pub fn of_node(
        contract: Contract,
        control: Control<S>,
        patience: Patience,
    ) -> core::result::Result<Member<S>, String> {
        let layout = control.layout();
        if layout.job != contract.job {
            return Err(format!("it belongs to job {:x}, this process to job {:x}", layout.job, contract.job));
        }
        if layout.ranks != contract.local_size {
            return Err(format!(
                "it holds {} ranks, the launcher says {} on this node and {} in the job",
                layout.ranks, contract.local_size, contract.size
            ));
        }
        Ok(Member { contract, control, patience })
    }

    /// What the launcher said.
    #[cfg(not(ompi_bare))]
    pub(crate) fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The segment.
    #[cfg(not(ompi_bare))]
    pub(crate) fn control(&self) -> &Control<S> {
        &self.control
    }

    /// Until when to wait for addresses now, and how long that is.
    pub(crate) fn deadline(&self) -> (u64, u64) {
        let seconds = (self.patience.seconds)();
        (opal_core::sys::monotonic_ns().saturating_add(seconds.saturating_mul(1_000_000_000)), seconds)
    }

    /// The parameter that says it.
    #[cfg(not(ompi_bare))]
    pub(crate) fn parameter(&self) -> &'static str {
        self.patience.parameter
    }

    /// Says why addresses could not be published.
    pub(crate) fn said_of_publish(&self, error: Error, addresses: &[u8]) -> Error {
        if error == Error::OutOfResource {
            message!(
                "the addresses of this rank take {} bytes, the job segment has room for {ADDRESSES_BYTES}; \
                 leave out transports with --mca btl ^name",
                addresses.len()
            );
        }
        if error == Error::Exists {
            message!(
                "this rank was wired up before: only one process can be a rank, neither its forked child at the same time \
                 nor another program afterwards"
            );
        }
        error
    }

    /// What the rank at a place of this node published; `rank` is how it is called.
    pub(crate) fn lookup_here(&self, local: u32, rank: u32) -> Result<Vec<u8>> {
        let (deadline_ns, seconds) = self.deadline();
        let parameter = self.patience.parameter;
        self.control.lookup(local, deadline_ns).map_err(|missed| {
            match missed {
                Missed::Deadline => message!(
                    "rank {rank} did not say its addresses within {seconds} s: it hangs before or in MPI_Init, or runs \
                     another program; {parameter} sets how long to wait"
                ),
                Missed::Lost(_) | Missed::LostElsewhere(_) => {
                    message!("rank {rank} ended before it said its addresses");
                }
                Missed::Malformed => message!("rank {rank} left no readable addresses; its memory was overwritten"),
            }
            missed.into()
        })
    }
}

impl<S: Shared + Sync> Module for Member<S> {
    fn identity(&self) -> Identity {
        let Contract { job, rank, size, local_rank, local_size, .. } = self.contract;
        Identity { job, rank, size, local_rank, local_size }
    }

    fn app_number(&self) -> Option<u32> {
        Some(self.contract.app)
    }

    fn app_of(&self, rank: u32) -> Option<u32> {
        self.control.app(rank)
    }

    fn universe_size(&self) -> Option<u32> {
        Some(self.contract.universe)
    }

    fn node_of(&self, _rank: u32) -> u32 {
        // `new` made sure that all ranks of the job are in the segment.
        0
    }

    fn publish(&self, addresses: &[u8]) -> Result<()> {
        let published = self.control.publish(self.contract.local_rank, addresses);
        published.map_err(|error| self.said_of_publish(error, addresses))
    }

    fn lookup(&self, rank: u32) -> Result<Vec<u8>> {
        self.lookup_here(rank, rank)
    }

    fn barrier(&self, meanwhile: &mut dyn FnMut()) -> Result<()> {
        self.control.barrier(self.contract.local_rank, meanwhile).map_err(|missed| {
            match missed {
                Missed::Lost(rank) => message!("rank {rank} ended and will not come to the barrier"),
                _ => message!("the barrier's words in the job segment were overwritten"),
            }
            missed.into()
        })
    }

    fn secret(&self) -> Option<[u8; 32]> {
        Some(self.control.secret())
    }

    fn launcher(&self) -> Option<u32> {
        self.contract.launcher
    }

    fn universe(&self) -> core::result::Result<String, String> {
        self.control
            .port(PortOf::Universe)
            .ok_or_else(|| String::from("the system refuses mpirun the sockets by which ranks ask it"))
    }

    fn parent(&self) -> Option<String> {
        self.control.port(PortOf::Parent)
    }

    fn inherited(&self) -> Option<Inherited> {
        let layout = self.control.layout();
        Some(Inherited {
            descriptor: self.contract.segment,
            offset: layout.rx_segment_offset,
            stride: layout.rx_segment_stride,
            local_rank: self.contract.local_rank,
            local_size: self.contract.local_size,
        })
    }

    fn set_state(&self, state: State) {
        let state = match state {
            State::Initialized => RankState::Initialized,
            State::Finalized => RankState::Finalized,
        };
        let known = self.control.set_state(self.contract.local_rank, state);
        assert!(known.is_ok(), "the segment was checked to hold this rank");
    }

    fn sleeps(&self, since_ns: u64, now_ns: u64) {
        let known = self.control.set_slept(self.contract.local_rank, since_ns, now_ns);
        assert!(known.is_ok(), "the segment was checked to hold this rank");
    }

    fn awaits(&self, awaited: &Awaited<'_>) {
        let known = self.control.set_awaited(self.contract.local_rank, awaited);
        assert!(known.is_ok(), "the segment was checked to hold this rank");
    }

    fn tells(&self, at_ns: u64, words: &str) {
        let known = self.control.set_told(self.contract.local_rank, at_ns, words);
        assert!(known.is_ok(), "the segment was checked to hold this rank");
    }

    fn epoch(&self) -> u32 {
        self.control.epoch()
    }

    fn is_gone(&self, rank: u32) -> Option<bool> {
        Some(matches!(self.control.state(rank), RankState::Gone | RankState::Aborted))
    }

    fn lost_peer(&self) {
        let known = self.control.set_lost_peer(self.contract.local_rank);
        assert!(known.is_ok(), "the segment was checked to hold this rank");
    }

    fn abort(&self, status: i32, message: &str) -> ! {
        // Of two threads that abort at once the first one's words stand.
        let _ = self.control.abort(self.contract.local_rank, status, message);
        opal_core::sys::exit(exit_status(status))
    }
}

/// The system keeps eight bits; a failure must stay one.
fn exit_status(status: i32) -> i32 {
    if status != 0 && status & 0xff == 0 { 1 } else { status }
}
