//! The job segment of a host, with what only its launcher knows of its ranks.

use crate::refusal::Refusal;
use orte_core::segment::mapping::{self, Mapping};
use orte_core::segment::{Control, PortOf};
use orte_core::universe::Ports;
use rustix::fd::OwnedFd;

/// The segment of this host: the file, and its control part mapped.
pub struct Segment {
    /// Close-on-exec here; the keeper passes it on to ranks only.
    pub descriptor: OwnedFd,
    /// The control part.
    pub control: Control<Mapping>,
}

/// Makes a segment that says which program each rank of this host runs, and whose ranks all count as started: a rank may be faster
/// than the news of its start. Jobs over several hosts have the same identity on all of them.
pub fn create((job, secret): (u64, [u8; 32]), apps: &[u32], ports: &Ports) -> Result<Segment, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::system("making the job's shared memory", error);
    let (descriptor, control) = mapping::create(job, apps.len() as u32, &secret).map_err(|why| failed(&why))?;
    for (of, text) in [(PortOf::Universe, &ports.universe), (PortOf::Parent, &ports.parent)] {
        control.set_port(of, text).map_err(|_| failed(&"the text of a port is too long"))?;
    }
    for (rank, app) in apps.iter().enumerate() {
        control.set_app(rank as u32, *app).map_err(|error| failed(&format_args!("{error:?}")))?;
    }
    Ok(Segment { descriptor, control })
}
