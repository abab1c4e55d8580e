//! The suite of framework btl: order, whole payloads of every size, full instead of lost.

opal_core::image![opal_core::framework::atomics, btl_template, memcpy_portable, memory_none, shmem_memfd, timer_clock];

fn main() {
    test_conformance::btl::between_two(&btl_template::COMPONENT);
    println!("test conformance ... ok");
}
