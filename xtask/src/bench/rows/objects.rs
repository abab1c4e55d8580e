//! What objects cost that are made and freed again, and round trips of several threads.

use super::row::{PLAIN, Row};

/// All of them, in the order of the page. Of objects the size means nothing.
pub const ROWS: &[Row] = &[
    Row { name: "objects-dup", title: "MPI_Comm_dup and MPI_Comm_free", arguments: &["--dup"], ..OBJECTS },
    Row {
        name: "objects-errhandler",
        title: "MPI_Comm_create_errhandler and MPI_Errhandler_free",
        arguments: &["--errhandler"],
        ..OBJECTS
    },
    Row {
        name: "objects-keyval",
        title: "a keyval with an attribute: made, set, asked for, deleted, freed",
        arguments: &["--keyval"],
        ..OBJECTS
    },
    Row { name: "latency-threads-three", title: "one way, one thread sends and two answer", threads: 2, ..THREADS },
    Row {
        name: "latency-threads-four",
        title: "one way, two threads send and two answer",
        arguments: &["--multiple", "--two"],
        threads: 2,
        ..THREADS
    },
    Row {
        name: "latency-threads-eight",
        title: "one way, four threads send and four answer",
        arguments: &["--multiple", "--four"],
        threads: 4,
        ..THREADS
    },
];

const OBJECTS: Row = Row { program: "objects", sizes: &[8], ..PLAIN };
const THREADS: Row = Row { program: "threads", arguments: &["--multiple"], sizes: &[8], aims: &[(8, 0.9)], ..PLAIN };
