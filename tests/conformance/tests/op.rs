//! The suite of framework op for every component that this processor can run, and that the suite sees a mistake.
#![allow(unsafe_code)] // a kernel that is wrong

use ompi_core::framework::op::{Component, Kernel, Operation};
use opal_core::datatype::Primitive;
use opal_core::mca::{self, Declined};
use test_conformance::op::suite;

opal_core::image![opal_core::framework::atomics, memcpy_portable, op_avx2, op_avx512, op_scalar];

#[test]
fn scalar() {
    let compared = suite(&op_scalar::COMPONENT, &op_scalar::COMPONENT).unwrap();
    assert!(compared > 100, "{compared} kernels");
}

#[test]
fn avx2() {
    vectors(&op_avx2::COMPONENT);
}

#[test]
fn avx512() {
    vectors(&op_avx512::COMPONENT);
}

fn vectors(component: &dyn Component) {
    if let Err(Declined(why)) = component.open() {
        println!("not run: {why}");
        return;
    }
    // Ten operations on eight kinds of integers, four on two floats, two on two complex types, three on four logical
    // types, three on bytes.
    assert_eq!(suite(component, &op_scalar::COMPONENT).unwrap(), 80 + 8 + 4 + 12 + 3);
}

/// Wrong in the last of many.
struct Wrong;

impl mca::Component for Wrong {
    fn info(&self) -> &'static mca::Info {
        op_scalar::COMPONENT.info()
    }
}

impl Component for Wrong {
    fn query(&self) -> Result<i32, Declined> {
        Ok(0)
    }

    fn kernel(&self, operation: Operation, primitive: Primitive) -> Option<Kernel> {
        op_scalar::COMPONENT.kernel(operation, primitive).map(|_| short as Kernel)
    }
}

unsafe fn short(_: *const u8, _: *const u8, _: *mut u8, _: usize) {}

#[test]
fn a_mistake_is_seen() {
    assert!(suite(&Wrong, &op_scalar::COMPONENT).unwrap_err().contains("differs"));
}
