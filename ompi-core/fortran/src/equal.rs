//! The operators == and /= of module mpi_f08's handles.

use crate::arguments::{In, Int};

macro_rules! comparison {
    ($($equal:ident $unequal:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $equal(a: In<Int>, b: In<Int>) -> Int {
                Int::from(a.get() == b.get())
            }

            #[unsafe(no_mangle)]
            extern "C" fn $unequal(a: In<Int>, b: In<Int>) -> Int {
                Int::from(a.get() != b.get())
            }
        )*
    };
}

comparison! {
    ompi_comm_eq_ ompi_comm_ne_
    ompi_datatype_eq_ ompi_datatype_ne_
    ompi_errhandler_eq_ ompi_errhandler_ne_
    ompi_file_eq_ ompi_file_ne_
    ompi_group_eq_ ompi_group_ne_
    ompi_info_eq_ ompi_info_ne_
    ompi_message_eq_ ompi_message_ne_
    ompi_op_eq_ ompi_op_ne_
    ompi_request_eq_ ompi_request_ne_
    ompi_session_eq_ ompi_session_ne_
    ompi_win_eq_ ompi_win_ne_
}
