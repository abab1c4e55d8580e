//! The suite of framework coll for those components that describe what they do to any executor, and that it sees a mistake.
#![allow(unsafe_code)] // a module that is wrong

use ompi_core::comm::Communicator;
use ompi_core::error::Result;
use ompi_core::executor::Executor;
use ompi_core::framework::coll::{About, Call, Case, Component, Function, Functions, Module, set_of};
use opal_core::mca::{self, Declined};
use std::sync::Arc;
use test_coll::suite;

opal_core::image![memcpy_portable, op_scalar, coll_basic, coll_self, coll_tuned];

#[test]
fn basic() {
    suite(&coll_basic::COMPONENT);
}

#[test]
fn alone() {
    suite(&coll_self::COMPONENT);
}

#[test]
fn tuned() {
    suite(&coll_tuned::COMPONENT);
}

/// Broadcasts from the next rank.
struct Wrong(Arc<dyn Module>);

impl Module for Wrong {
    fn functions(&self) -> Functions {
        set_of(&[Function::Bcast])
    }

    unsafe fn call(&self, call: &Call<'_>, on: &mut dyn Executor) -> Result<()> {
        let size = on.size();
        let call = match *call {
            Call::Bcast(data, root) => Call::Bcast(data, (root + 1) % size),
            call => call,
        };
        // SAFETY: the caller's promise.
        unsafe { self.0.call(&call, on) }
    }
}

struct WrongColl;

impl mca::Component for WrongColl {
    fn info(&self) -> &'static mca::Info {
        coll_basic::COMPONENT.info()
    }
}

impl Component for WrongColl {
    fn about(&self, _: Function, _: Case) -> Option<About> {
        None
    }

    fn query(&self, comm: &Communicator) -> std::result::Result<(i32, Arc<dyn Module>), Declined> {
        Ok((0, Arc::new(Wrong(coll_basic::COMPONENT.query(comm)?.1))))
    }
}

#[test]
#[should_panic(expected = "MPI_Bcast of vector x 1, root 0: byte")]
fn a_mistake_is_seen() {
    suite(&WrongColl);
}
