//! The names of a procedure: MPI_ is weak, so that a profiling tool's own wins and reaches ours by PMPI_.

/// `mpi_send_` for `pmpi_send_`.
macro_rules! plain_names {
    ($($name:ident)*) => { $(alias! { concat!("mpi_", stringify!($name), "_"), concat!("pmpi_", stringify!($name), "_") })* };
}

/// The specific names of module mpi_f08 where both interfaces pass the same.
macro_rules! f08_names {
    ($($name:ident)*) => {
        $(
            alias! { concat!("mpi_", stringify!($name), "_f08_"), concat!("pmpi_", stringify!($name), "_") }
            alias! { concat!("pmpi_", stringify!($name), "_f08_"), concat!("pmpi_", stringify!($name), "_") }
        )*
    };
}

/// The specific names of module mpi_f08 where the compiler describes a buffer.
macro_rules! f08ts_names {
    ($($name:ident)*) => {
        $(alias! { concat!("mpi_", stringify!($name), "_f08ts_"), concat!("pmpi_", stringify!($name), "_f08ts_") })*
    };
}

/// What [`crate::caller`] knows of a file: routines and their bindings.
macro_rules! routines {
    ($($name:ident = $binding:literal)*) => {
        pub static ROUTINES: &[crate::routine::Routine] =
            &[$(crate::routine::Routine::new($name as *const (), $binding)),*];
    };
}

macro_rules! alias {
    ($alias:expr, $name:expr) => {
        core::arch::global_asm!(
            concat!(".weak ", $alias, "\n"),
            concat!(".type ", $alias, ",@function"),
            concat!(".set ", $alias, ", ", $name),
        );
    };
}
