//! Statuses between the two forms that Fortran has: the same integers. MPI 5.0 §19.3.5.

use crate::arguments::{Ierror, In, Out};

type Words = [i32; 8];

#[unsafe(no_mangle)]
extern "C" fn pmpi_status_f2f08_(f_status: In<Words>, f08_status: Out<Words>, ierror: Ierror) {
    f08_status.set(f_status.get());
    ierror.set(0);
}

#[unsafe(no_mangle)]
extern "C" fn pmpi_status_f082f_(f08_status: In<Words>, f_status: Out<Words>, ierror: Ierror) {
    f_status.set(f08_status.get());
    ierror.set(0);
}

plain_names! { status_f2f08 status_f082f }
f08_names! { status_f2f08 status_f082f }
