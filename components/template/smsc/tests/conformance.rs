//! The suite of framework smsc: all bytes of any range, none beside it, and an error where there is nothing.

opal_core::image![opal_core::framework::atomics, memcpy_portable, memory_none, shmem_memfd, smsc_template, timer_clock];

fn main() {
    test_conformance::smsc::between_two(&smsc_template::COMPONENT);
    println!("test conformance ... ok");
}
