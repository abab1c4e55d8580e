//! The job segment, with what only mpirun knows of its ranks.

use crate::refusal::Refusal;
use orte_core::segment::Control;
use orte_core::segment::mapping::{self, Mapping};
use rustix::fd::OwnedFd;

/// The segment of this job: the file, and its control part mapped.
pub struct Segment {
    /// Close-on-exec here; the keeper passes it on to ranks only.
    pub descriptor: OwnedFd,
    /// The control part.
    pub control: Control<Mapping>,
}

/// Makes a segment that says which program each rank runs, and whose ranks all count as started: a rank may be faster than the
/// news of its start.
pub fn create(ranks: u32, app_of: impl Fn(u32) -> u32) -> Result<Segment, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::system("making the job's shared memory", error);
    // Random, so that a descriptor of another job is never taken for this one's.
    let number = opal_core::sys::random().map(u64::from_le_bytes).map_err(|errno| failed(&errno))?;
    let secret = opal_core::sys::random().map_err(|errno| failed(&errno))?;
    let (descriptor, control) = mapping::create(number, ranks, &secret).map_err(|why| failed(&why))?;
    for rank in 0..ranks {
        control.set_app(rank, app_of(rank)).map_err(|error| failed(&format_args!("{error:?}")))?;
    }
    Ok(Segment { descriptor, control })
}
