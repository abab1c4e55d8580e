//! Point to point: latency, rate, bandwidth, matching, and the same over TCP.

use super::row::{K4, K8, K16, K32, K64, K256, M1, M4, PLAIN, Row, Transport};

/// All of them, in the order of the page.
pub const ROWS: &[Row] = &[
    Row {
        name: "latency",
        title: "one way, MPI_Send and MPI_Recv, buffers untouched in between",
        program: "latency",
        sizes: &[0, 8, 64, 512, K4, K16, K64, K256, M1, M4],
        raw: Some(("raw_sm", &[])),
        aims: &[
            (0, 0.62),
            (8, 0.6),
            (64, 0.65),
            (512, 0.55),
            (K4, 0.85),
            (K64, 0.7),
            (K256, 0.7),
            (M1, 0.7),
            (M4, 0.7),
        ],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "latency-rewritten",
        title: "one way, each message written before it is sent and read after it came",
        program: "latency",
        arguments: &["--rewrite"],
        sizes: &[8, 512, K4, K16, K64, K256, M1, M4],
        raw: Some(("raw_sm", &["--rewrite"])),
        aims: &[(K64, 0.7), (K256, 0.7), (M1, 0.7), (M4, 0.7)],
        ..PLAIN
    },
    Row {
        name: "latency-vector",
        title: "one way, blocks of 8 bytes that lie 8 bytes apart on both sides",
        program: "latency",
        arguments: &["--vector"],
        sizes: &[64, 512, K4, K64, M1],
        ..PLAIN
    },
    Row {
        name: "latency-any",
        title: "one way, received from MPI_ANY_SOURCE with MPI_ANY_TAG",
        program: "latency",
        arguments: &["--any"],
        sizes: &[0, 8, 512, K4, K64],
        ..PLAIN
    },
    Row {
        name: "latency-multiple",
        title: "one way under MPI_THREAD_MULTIPLE, one thread in each rank",
        program: "latency",
        arguments: &["--multiple"],
        sizes: &[0, 8, 512, K4, K64],
        ..PLAIN
    },
    Row {
        name: "rate",
        title: "messages per second, windows of 64 MPI_Isend and MPI_Irecv",
        program: "rate",
        sizes: &[8, 64, 512],
        raw: Some(("raw_sm", &["--rate"])),
        aims: &[(8, 3.0)],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "rate-multiple",
        title: "messages per second under MPI_THREAD_MULTIPLE, one thread in each rank",
        program: "rate",
        arguments: &["--multiple"],
        sizes: &[8],
        ..PLAIN
    },
    Row {
        name: "rate-pairs",
        title: "messages per second of two pairs together",
        program: "rate",
        sizes: &[8],
        ranks: 4,
        ..PLAIN
    },
    Row {
        name: "bandwidth",
        title: "windows of up to 64 MPI_Isend and MPI_Irecv, each message with a buffer of its own",
        program: "bandwidth",
        sizes: &[8, 512, K4, K16, K64, K256, M1, M4],
        raw: Some(("raw_sm", &["--stream"])),
        aims: &[(K4, 1.3), (K64, 1.1), (M1, 1.3), (M4, 1.25)],
        quick: true,
        ..PLAIN
    },
    Row {
        name: "bandwidth-rewritten",
        title: "the same, each message written before it is sent",
        program: "bandwidth",
        arguments: &["--rewrite"],
        sizes: &[K4, K64, M1, M4],
        ..PLAIN
    },
    Row {
        name: "bidirectional",
        title: "windows both ways at once, both directions added up",
        program: "bandwidth",
        arguments: &["--bidir"],
        sizes: &[8, 512, K4, K64, K256, M1, M4],
        ..PLAIN
    },
    Row {
        name: "latency-osu",
        title: "one way as OSU's benchmark measures it: the first 1,000 round trips after 100, buffers apart and untouched",
        program: "osu",
        sizes: &[K4, K8, K16, K32, K64, K256, M1, M4],
        raw: Some(("raw_cells", &[])),
        aims: &[(K4, 0.65), (K8, 0.8), (K16, 0.9), (K32, 1.0), (K64, 1.0), (K256, 1.0), (M1, 0.95), (M4, 0.8)],
        ..PLAIN
    },
    Row {
        name: "bandwidth-osu",
        title: "windows of 64 from and to one buffer, as OSU's benchmark measures them",
        program: "osu",
        arguments: &["--windows"],
        sizes: &[K4, K16, K64, K256, M1],
        raw: Some(("raw_cells", &["--windows"])),
        aims: &[(K4, 1.1), (K16, 1.1), (K64, 1.1), (K256, 1.1), (M1, 1.1)],
        ..PLAIN
    },
    Row {
        name: "bidirectional-osu",
        title: "the same both ways at once, both directions added up",
        program: "osu",
        arguments: &["--both"],
        sizes: &[K4, K16, K64, K256, M1],
        raw: Some(("raw_cells", &["--both"])),
        aims: &[(K4, 1.0), (K16, 1.0), (K64, 1.0), (K256, 1.0), (M1, 1.0)],
        ..PLAIN
    },
    Row {
        name: "latency-osu-given",
        title: "one way as in latency-osu, buffers of MPI_Alloc_mem",
        program: "osu",
        arguments: &["--given"],
        sizes: &[K16, K32, K64, K256, M1, M4],
        aims: &[(K64, 0.6), (K256, 0.5), (M1, 0.6), (M4, 0.5)],
        ..PLAIN
    },
    Row {
        name: "latency-osu-given-rewritten",
        title: "the same, each message written before it is sent and read after it came",
        program: "osu",
        arguments: &["--given", "--rewrite"],
        sizes: &[K64, K256, M1, M4],
        aims: &[(K64, 1.0), (K256, 1.0), (M1, 1.0), (M4, 1.0)],
        ..PLAIN
    },
    Row {
        name: "bidirectional-osu-given",
        title: "windows both ways at once as in bidirectional-osu, buffers of MPI_Alloc_mem",
        program: "osu",
        arguments: &["--both", "--given"],
        sizes: &[K64, K256, M1],
        aims: &[(K64, 1.3), (K256, 1.3), (M1, 1.3)],
        ..PLAIN
    },
    Row {
        name: "partitioned-16",
        title: "one way of 16 partitions of this size, all marked ready at once",
        program: "partitioned",
        sizes: &[64, K4, K64],
        aims: &[(64, 0.5), (K4, 0.3)],
        ..PLAIN
    },
    Row {
        name: "partitioned-64",
        title: "one way of 64 partitions of this size, all marked ready at once",
        program: "partitioned",
        arguments: &["--many"],
        sizes: &[64, K64],
        aims: &[(64, 0.3), (K64, 0.3)],
        ..PLAIN
    },
    Row {
        name: "partitioned-threads-16",
        title: "the round of partitioned-16, each quarter marked by a thread of its own, a barrier of four threads in each round",
        arguments: &["--multiple", "--threads"],
        sizes: &[64, K4, K64],
        aims: &[(64, 0.5), (K4, 0.3)],
        ..IN_THREADS
    },
    Row {
        name: "partitioned-threads-64",
        title: "the same of 64 partitions",
        arguments: &["--multiple", "--threads", "--many"],
        sizes: &[64, K64],
        aims: &[(64, 0.3), (K64, 0.3)],
        ..IN_THREADS
    },
    Row {
        name: "partitioned-apart",
        title: "one way of 16 partitions of this size beside some 20 µs of computing before each is marked ready",
        program: "partitioned",
        arguments: &["--apart"],
        sizes: &[K4, K64],
        ..PLAIN
    },
    Row {
        name: "partitioned-late",
        title: "the same where all computing comes before the first is marked ready",
        program: "partitioned",
        arguments: &["--late"],
        sizes: &[K4, K64],
        ..PLAIN
    },
    Row {
        name: "fortran-whole",
        title: "one way of a whole array by module mpi_f08",
        arguments: &["--whole"],
        ..FORTRAN
    },
    Row { name: "fortran-whole-in-c", title: "the same by C", arguments: &["--whole", "--c"], ..FORTRAN },
    Row {
        name: "fortran-section",
        title: "one way of 16 of the 64 rows of an array, as a section, by module mpi_f08",
        arguments: &["--rows"],
        ..FORTRAN
    },
    Row {
        name: "fortran-section-in-c",
        title: "the same rows as a committed vector datatype by C",
        arguments: &["--rows", "--c"],
        ..FORTRAN
    },
    Row {
        name: "matching-posted",
        title: "one way of 8 bytes behind posted receives that do not match",
        program: "matching",
        sizes: &[1, 100, 10_000],
        over: "receives",
        ..PLAIN
    },
    Row {
        name: "matching-unexpected",
        title: "one way of 8 bytes behind messages that nobody receives",
        program: "matching",
        arguments: &["--unexpected"],
        sizes: &[1, 100, 10_000],
        over: "messages",
        ..PLAIN
    },
    Row {
        name: "halo",
        title: "a solver's step: exchange with both neighbours around about 1 µs of computing",
        program: "halo",
        sizes: &[8, 512, K4, K64, K256],
        ..PLAIN
    },
    Row {
        name: "halo-4",
        title: "the same step of four ranks: who waits has to give its core up in time",
        program: "halo",
        sizes: &[8, 512, K4],
        ranks: 4,
        ..PLAIN
    },
    Row {
        name: "latency-checksum",
        title: "one way, each message with a checksum by pml_ob1_checksum 1; peers and raw: without",
        program: "latency",
        sizes: &[8, K4, K64, M1],
        transport: Transport::SmChecked,
        raw: Some(("raw_sm", &[])),
        ..PLAIN
    },
    Row {
        name: "tcp-latency",
        title: "one way over TCP on the loopback",
        program: "latency",
        sizes: &[1, 8, K4, K64, M1],
        transport: Transport::Tcp,
        raw: Some(("raw_tcp", &[])),
        aims: &[(8, 0.9), (K64, 1.0), (M1, 0.9)],
        ..PLAIN
    },
    Row {
        name: "tcp-rate",
        title: "messages per second over TCP on the loopback; raw: one system call each",
        program: "rate",
        sizes: &[8],
        transport: Transport::Tcp,
        raw: Some(("raw_tcp", &["--rate"])),
        aims: &[(8, 3.0)],
        ..PLAIN
    },
    Row {
        name: "tcp-bandwidth",
        title: "windows over TCP on the loopback",
        program: "bandwidth",
        sizes: &[K4, K64, M1],
        transport: Transport::Tcp,
        raw: Some(("raw_tcp", &["--stream"])),
        ..PLAIN
    },
    Row {
        name: "tcp-auth-latency",
        title: "one way over TCP on the loopback, proved by btl_tcp_protect auth; peers and raw: not protected",
        program: "latency",
        sizes: &[8, K4, K64, M1],
        transport: Transport::TcpAuth,
        raw: Some(("raw_tcp", &[])),
        ..PLAIN
    },
    Row {
        name: "tcp-auth-bandwidth",
        title: "windows over TCP on the loopback, proved by btl_tcp_protect auth; peers and raw: not protected",
        program: "bandwidth",
        sizes: &[K4, K64, M1],
        transport: Transport::TcpAuth,
        raw: Some(("raw_tcp", &["--stream"])),
        ..PLAIN
    },
    Row {
        name: "tcp-encrypt-bandwidth",
        title: "windows over TCP on the loopback, encrypted by btl_tcp_protect encrypt; peers and raw: not protected",
        program: "bandwidth",
        sizes: &[K4, K64, M1],
        transport: Transport::TcpEncrypt,
        raw: Some(("raw_tcp", &["--stream"])),
        ..PLAIN
    },
];

const IN_THREADS: Row = Row { program: "partitioned", threads: 4, ..PLAIN };
const FORTRAN: Row = Row { program: "sections", sizes: &[64, K4, K64], ..PLAIN };
