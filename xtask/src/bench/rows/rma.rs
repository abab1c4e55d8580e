//! One-sided communication of two ranks of a node: windows whose memory MPI makes, windows over memory of MPI_Alloc_mem (given), and over
//! the program's own (created).

use super::row::{K8, M4, PLAIN, Row};

/// All of them, in the order of the page. MPI's memory is accessed by loads and stores. The program's own nobody else can map: the target
/// itself must touch it, asked by a word that goes there and one that comes back, or the system, in a call of its own. That is what others
/// do, too, so their time is the aim.
pub const ROWS: &[Row] = &[
    Row { name: "rma-put", title: PUT, aims: &[(8, 1.0), (M4, 1.0)], ..rma(&["--put"], &[8, K8, M4]) },
    Row {
        name: "rma-put-created",
        title: PUT,
        aims: &[(8, 1.0), (M4, 0.5)],
        ..rma(&["--put", "--created"], &[8, K8, M4])
    },
    Row { name: "rma-put-given", title: PUT, aims: &[(8, 0.15)], ..rma(&["--put", "--given"], &[8, K8]) },
    Row { name: "rma-get", title: GET, ..rma(&["--get"], &[8, K8, M4]) },
    Row { name: "rma-get-created", title: GET, ..rma(&["--get", "--created"], &[8, K8, M4]) },
    Row { name: "rma-many", title: MANY, aims: &[(8, 0.9)], ..rma(&["--many"], &[8]) },
    Row { name: "rma-many-created", title: MANY, aims: &[(8, 1.0)], ..rma(&["--many", "--created"], &[8]) },
    Row { name: "rma-many-given", title: MANY, aims: &[(8, 0.15)], ..rma(&["--many", "--given"], &[8]) },
    Row { name: "rma-accumulate", title: ACCUMULATE, aims: &[(K8, 0.8)], ..rma(&["--accumulate"], &[8, K8]) },
    Row { name: "rma-accumulate-created", title: ACCUMULATE, ..rma(&["--accumulate", "--created"], &[8, K8]) },
    Row { name: "rma-fetch", title: FETCH, aims: &[(8, 1.0)], ..rma(&["--fetch"], &[8]) },
    Row { name: "rma-fetch-created", title: FETCH, aims: &[(8, 1.0)], ..rma(&["--fetch", "--created"], &[8]) },
    Row { name: "rma-fetch-given", title: FETCH, aims: &[(8, 0.2)], ..rma(&["--fetch", "--given"], &[8]) },
    Row { name: "rma-swap", title: SWAP, aims: &[(8, 1.0)], ..rma(&["--swap"], &[8]) },
    Row { name: "rma-swap-created", title: SWAP, aims: &[(8, 1.0)], ..rma(&["--swap", "--created"], &[8]) },
    Row { name: "rma-swap-given", title: SWAP, aims: &[(8, 0.2)], ..rma(&["--swap", "--given"], &[8]) },
    Row { name: "rma-lock", title: LOCK, aims: &[(8, 1.0)], ..rma(&["--lock"], &[8]) },
    Row { name: "rma-lock-created", title: LOCK, ..rma(&["--lock", "--created"], &[8]) },
    Row { name: "rma-fence", title: FENCE, aims: &[(8, 0.75)], ..rma(&["--fence"], &[8]) },
    Row { name: "rma-fence-created", title: FENCE, ..rma(&["--fence", "--created"], &[8]) },
    Row { name: "rma-fence-4", title: FENCE_RING, ranks: 4, ..rma(&["--fence"], &[8]) },
    Row { name: "rma-fence-8", title: FENCE_RING, ranks: 8, ..rma(&["--fence"], &[8]) },
    Row { name: "rma-lock-all", title: LOCK_ALL, ..rma(&["--lock-all"], &[8]) },
    Row { name: "rma-lock-all-4", title: LOCK_ALL, ranks: 4, ..rma(&["--lock-all"], &[8]) },
    Row { name: "rma-lock-all-8", title: LOCK_ALL, ranks: 8, ..rma(&["--lock-all"], &[8]) },
    Row { name: "rma-pscw", title: PSCW, aims: &[(8, 0.6)], ..rma(&["--pscw"], &[8]) },
    Row { name: "rma-pscw-created", title: PSCW, ..rma(&["--pscw", "--created"], &[8]) },
    Row { name: "rma-make", title: "MPI_Win_allocate and MPI_Win_free", aims: &[(K8, 0.3)], ..rma(&["--make"], &[K8]) },
    Row { name: "rma-make-created", title: "MPI_Win_create and MPI_Win_free", ..rma(&["--make", "--created"], &[K8]) },
];

const fn rma(arguments: &'static [&'static str], sizes: &'static [u64]) -> Row {
    Row { program: "rma", arguments, sizes, ..PLAIN }
}

const PUT: &str = "MPI_Put and MPI_Win_flush";
const GET: &str = "MPI_Get and MPI_Win_flush";
const MANY: &str = "64 times MPI_Put of so many bytes, and MPI_Win_flush";
const ACCUMULATE: &str = "MPI_Accumulate of doubles with MPI_SUM, and MPI_Win_flush";
const FETCH: &str = "MPI_Fetch_and_op with MPI_SUM, and MPI_Win_flush";
const SWAP: &str = "MPI_Compare_and_swap and MPI_Win_flush";
const LOCK: &str = "MPI_Win_lock, MPI_Put, MPI_Win_unlock";
const FENCE: &str = "MPI_Put both ways and MPI_Win_fence";
const FENCE_RING: &str = "MPI_Put to the next rank and MPI_Win_fence";
const LOCK_ALL: &str = "MPI_Win_lock_all and MPI_Win_unlock_all by all ranks; bytes mean nothing";
const PSCW: &str = "post, start, MPI_Put both ways, complete, wait";
