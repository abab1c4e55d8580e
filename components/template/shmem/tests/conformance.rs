//! The suite of framework shmem: two processes see the same bytes, and nothing of a dead one is left behind.

use opal_core::framework;

opal_core::image![framework::atomics, memcpy_portable, memory_none, shmem_template, timer_clock];

test_statics::shmem_suite! {
    template: shmem_template::COMPONENT;
}
