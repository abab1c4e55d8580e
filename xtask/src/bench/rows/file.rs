//! Files: one program, named by its arguments, in the folder TMPDIR or in /dev/shm.

use super::row::{K64, M1, M4, PLAIN, Row};

/// All of them, in the order of the page.
pub const ROWS: &[Row] = &[
    Row { name: "file-write", title: "MPI_File_write_at, a piece of each rank", ..file(&["--contiguous"], LONG) },
    Row {
        name: "file-read",
        title: "MPI_File_read_at, a piece of each rank",
        ..file(&["--contiguous", "--read"], LONG)
    },
    Row {
        name: "file-write-all",
        title: "MPI_File_write_at_all, pieces of 512 bytes in turn",
        ..file(&["--interleaved"], LONG)
    },
    Row {
        name: "file-read-all",
        title: "MPI_File_read_at_all, pieces of 512 bytes in turn",
        ..file(&["--interleaved", "--read"], LONG)
    },
    Row {
        name: "file-write-alone",
        title: "MPI_File_write_at, pieces of 512 bytes in turn",
        ..file(&["--interleaved", "--alone"], LONG)
    },
    Row {
        name: "file-read-alone",
        title: "MPI_File_read_at, pieces of 512 bytes in turn",
        ..file(&["--interleaved", "--alone", "--read"], LONG)
    },
    Row {
        name: "file-write-strided",
        title: "MPI_File_write_at, pieces of 64 bytes with gaps",
        ..file(&["--strided"], &[K64])
    },
    Row {
        name: "file-read-strided",
        title: "MPI_File_read_at, pieces of 64 bytes with gaps",
        ..file(&["--strided", "--read"], &[K64])
    },
    Row {
        name: "file-write-strided-unique",
        title: "MPI_File_write_at, pieces of 64 bytes with gaps, MPI_MODE_UNIQUE_OPEN",
        ..file(&["--strided", "--unique"], &[K64])
    },
    Row {
        name: "file-write-clustered",
        title: "MPI_File_write_at_all, pieces of 512 bytes in turn in two places",
        ..file(&["--clustered"], LONG)
    },
    Row {
        name: "file-write-nonblocking",
        title: "MPI_File_iwrite_at, four at a time",
        ..file(&["--nonblocking"], LONG)
    },
    Row { name: "file-write-small", title: "MPI_File_write_at, one call", ..file(&["--small"], &[64, 4096]) },
    Row { name: "file-write-shared", title: "MPI_File_write_shared, one call", ..file(&["--shared"], &[64]) },
    Row { name: "file-open", title: "MPI_File_open and MPI_File_close", ..file(&["--open"], &[1]) },
    Row {
        name: "file-subarray-write",
        title: "MPI_File_write_at_all of a part of a cube of doubles",
        ..file(&["--subarray"], LONG)
    },
    Row {
        name: "file-subarray-read",
        title: "MPI_File_read_at_all of a part of a cube of doubles",
        ..file(&["--subarray", "--read"], LONG)
    },
];

const fn file(arguments: &'static [&'static str], sizes: &'static [u64]) -> Row {
    Row { program: "file", arguments, sizes, ..PLAIN }
}

/// Bytes of each rank.
const LONG: &[u64] = &[M1, M4];
