//! Making the job segment.

use crate::raw::Mapping;
use crate::refusal::Refusal;
use orte_core::segment::{Control, Layout, RankState};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, Mode, SealFlags};
use rustix::io::Errno;

/// The segment of this job: the file, and its control part mapped.
pub struct Segment {
    /// Close-on-exec here; the keeper passes it on to ranks only.
    pub descriptor: OwnedFd,
    /// The control part.
    pub control: Control<Mapping>,
}

/// Makes a segment that says which program each rank runs, and whose ranks all count as started: a rank may be faster than the news of its start.
pub fn create(ranks: u32, app_of: impl Fn(u32) -> u32) -> Result<Segment, Refusal> {
    let failed = |error: &dyn std::fmt::Display| Refusal::system("making the job's shared memory", error);
    let layout = Layout::new(job_number().map_err(|errno| failed(&errno))?, ranks)
        .ok_or_else(|| failed(&format_args!("{ranks} ranks do not fit")))?;
    let descriptor = sealed_file(&layout).map_err(|errno| match errno {
        Errno::FBIG => failed(&format_args!(
            "the limit on the size of files is too low; raise it to {} KiB (ulimit -H -f), little of which will be used",
            layout.file_bytes().div_ceil(1024)
        )),
        _ => failed(&errno),
    })?;
    let mapping = Mapping::new(&descriptor, layout.control_bytes()).map_err(|error| failed(&error))?;
    let control = Control::new(layout, mapping).ok_or_else(|| failed(&"it is too short"))?;
    control.set_secret(&random().map_err(|errno| failed(&errno))?);
    for rank in 0..ranks {
        control.set_app(rank, app_of(rank)).map_err(|error| failed(&format_args!("{error:?}")))?;
        control.set_state(rank, RankState::Started).map_err(|error| failed(&format_args!("{error:?}")))?;
    }
    Ok(Segment { descriptor, control })
}

fn sealed_file(layout: &Layout) -> Result<OwnedFd, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let name = format!("{}job {:x}", opal_core::sys::FILE_PREFIX, layout.job);
    // Kernels before 6.3 do not know NOEXEC_SEAL.
    let file = rustix::fs::memfd_create(&name, flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| rustix::fs::memfd_create(&name, flags))?;
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    // Sparse: a page exists once somebody touched it.
    rustix::fs::ftruncate(&file, layout.file_bytes())?;
    let header = layout.encode();
    if rustix::io::pwrite(&file, &header, 0)? != header.len() {
        return Err(Errno::IO);
    }
    rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(file)
}

/// Random, so that a descriptor of another job is never taken for this one's.
fn job_number() -> Result<u64, Errno> {
    random().map(u64::from_le_bytes)
}

fn random<const N: usize>() -> Result<[u8; N], Errno> {
    let mut bytes = [0; N];
    let read = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if read == bytes.len() { Ok(bytes) } else { Err(Errno::IO) }
}
