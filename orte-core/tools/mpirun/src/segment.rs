//! The job segment of a host, with what only its launcher knows of its ranks.

use crate::refusal::Refusal;
use orte_core::segment::Control;
use orte_core::segment::mapping::{self, Mapping};
use rustix::fd::OwnedFd;

/// The segment of this host: the file, and its control part mapped.
pub struct Segment {
    /// Close-on-exec here; the keeper passes it on to ranks only.
    pub descriptor: OwnedFd,
    /// The control part.
    pub control: Control<Mapping>,
}

/// Makes a segment that says which program each rank of this host runs, and whose ranks all count as started: a rank may be faster
/// than the news of its start. Jobs over several hosts have the same number and secret on all of them.
pub fn create(identity: Option<(u64, [u8; 32])>, apps: &[u32]) -> Result<Segment, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::system("making the job's shared memory", error);
    let (number, secret) = match identity {
        Some(identity) => identity,
        // Random, so that a descriptor of another job is never taken for this one's.
        None => {
            let number = opal_core::sys::random().map(u64::from_le_bytes).map_err(|errno| failed(&errno))?;
            (number, opal_core::sys::random().map_err(|errno| failed(&errno))?)
        }
    };
    let (descriptor, control) = mapping::create(number, apps.len() as u32, &secret).map_err(|why| failed(&why))?;
    for (rank, app) in apps.iter().enumerate() {
        control.set_app(rank as u32, *app).map_err(|error| failed(&format_args!("{error:?}")))?;
    }
    Ok(Segment { descriptor, control })
}
