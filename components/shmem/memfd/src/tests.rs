//! White-box: what is refused.

use super::*;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::MemfdFlags;

const STRIDE: u64 = 1 << 20;
const OFFSET: u64 = 1 << 16;

fn file(bytes: u64, seal: bool) -> OwnedFd {
    let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    rustix::fs::ftruncate(&file, bytes).unwrap();
    if seal {
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
    }
    file
}

fn module(file: &OwnedFd, local_rank: u32) -> core::result::Result<Memfd, &'static str> {
    let inherited =
        Inherited { descriptor: file.as_raw_fd(), offset: OFFSET, stride: STRIDE, local_rank, local_size: 2 };
    Memfd::new(inherited)
}

#[test]
fn a_segment_that_cannot_hold_all_is_declined() {
    assert!(module(&file(OFFSET + 2 * STRIDE, true), 0).is_ok());
    assert!(module(&file(OFFSET + 2 * STRIDE - 1, true), 0).is_err());
    assert!(module(&file(OFFSET + 2 * STRIDE, false), 0).unwrap_err().contains("sealed"));
    assert!(module(&file(OFFSET + 2 * STRIDE, true), 2).is_err());
}

#[test]
fn both_ends_see_the_same_bytes() {
    let file = file(OFFSET + 2 * STRIDE, true);
    let (owner, peer) = (module(&file, 1).unwrap(), module(&file, 0).unwrap());
    let own = owner.create(5000).unwrap();
    assert_eq!(own.bytes, 8192);
    assert!(owner.create(1).is_err());
    let theirs = peer.attach(&owner.address()).unwrap();
    assert_eq!(theirs.bytes, own.bytes);
    rustix::io::pwrite(&file, b"seen", OFFSET + STRIDE).unwrap();
    for segment in [own, theirs] {
        // Reading another mapping of the same file through the system keeps this test free of unsafe code.
        let address = segment.base as usize as u64;
        let memory =
            rustix::fs::open(c"/proc/self/mem", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
        let mut bytes = [0; 4];
        rustix::io::pread(&memory, &mut bytes, address).unwrap();
        assert_eq!(&bytes, b"seen");
    }
    peer.detach(theirs);
    owner.detach(own);
}

#[test]
fn more_than_the_slice_is_out_of_resource() {
    let file = file(OFFSET + 2 * STRIDE, true);
    let module = module(&file, 0).unwrap();
    assert_eq!(module.create(STRIDE as usize + 1).unwrap_err(), Error::OutOfResource);
    assert_eq!(module.create(usize::MAX).unwrap_err(), Error::OutOfResource);
}

#[test]
fn hostile_addresses_are_malformed() {
    let file = file(OFFSET + 2 * STRIDE, true);
    let module = module(&file, 0).unwrap();
    let good = Slice { slot: 1, stride: STRIDE, bytes: 4096 };
    module.detach(module.attach(&good.encode()).unwrap());
    for bad in [
        Slice { slot: 2, ..good },
        Slice { slot: u32::MAX, ..good },
        Slice { stride: STRIDE * 2, ..good },
        Slice { bytes: 0, ..good },
        Slice { bytes: 4097, ..good },
        Slice { bytes: STRIDE + 4096, ..good },
        Slice { bytes: u64::MAX, ..good },
    ] {
        assert_eq!(module.attach(&bad.encode()).unwrap_err(), Error::Malformed, "{bad:?}");
    }
    assert_eq!(module.attach(&[0; 24]).unwrap_err(), Error::Malformed);
}

#[test]
fn a_descriptor_that_changed_its_meaning_is_noticed() {
    let segment = file(OFFSET + 2 * STRIDE, true);
    let other = file(OFFSET + 2 * STRIDE, true);
    let mut copy = rustix::io::dup(&segment).unwrap();
    let module = module(&copy, 0).unwrap();
    let good = Slice { slot: 1, stride: STRIDE, bytes: 4096 };
    module.detach(module.attach(&good.encode()).unwrap());
    rustix::io::dup2(&other, &mut copy).unwrap();
    assert_eq!(module.attach(&good.encode()).unwrap_err(), Error::System);
}
