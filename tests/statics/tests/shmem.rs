//! The shmem suite for every component.

use opal_core::framework;
use opal_core::mca::image;

opal_core::image![framework::atomics, memcpy_portable, memory_none, timer_clock, shmem_file, shmem_memfd, shmem_posix,];

test_statics::shmem_suite! {
    file: shmem_file::COMPONENT;
    memfd: shmem_memfd::COMPONENT;
    posix: shmem_posix::COMPONENT;
}

#[test]
fn image_is_whole() {
    image::verify(framework::ALL).unwrap();
}
