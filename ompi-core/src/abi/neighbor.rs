//! Collectives among neighbours of a topology. MPI 5.0 §8.6 to §8.8.

use super::kinds::{Aint, Array, Buffer, Comm, Committed, ConstBuffer, Count, Counts, Hints, Out};

rows! {
    /// The same block to every neighbour. MPI 5.0 §8.6.1.
    fn Neighbor_allgather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// The same block to every neighbour, received in any size. MPI 5.0 §8.6.1.
    fn Neighbor_allgatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// To every neighbour a block of its own, all equal. MPI 5.0 §8.6.2.
    fn Neighbor_alltoall(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// To every neighbour a block of its own, of any size. MPI 5.0 §8.6.2.
    fn Neighbor_alltoallv(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: Committed, comm: Comm,
    ) [large] => unsupported

    /// To every neighbour a block of its own, of any size and datatype. MPI 5.0 §8.6.2.
    fn Neighbor_alltoallw(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Array<Aint>, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Array<Aint>, recvtypes: Array<usize>, comm: Comm,
    ) [large] => unsupported

    /// Begins MPI_Neighbor_allgather. MPI 5.0 §8.7.1.
    fn Ineighbor_allgather(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Neighbor_allgatherv. MPI 5.0 §8.7.1.
    fn Ineighbor_allgatherv(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Neighbor_alltoall. MPI 5.0 §8.7.2.
    fn Ineighbor_alltoall(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Neighbor_alltoallv. MPI 5.0 §8.7.2.
    fn Ineighbor_alltoallv(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: Committed, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Begins MPI_Neighbor_alltoallw. MPI 5.0 §8.7.2.
    fn Ineighbor_alltoallw(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Array<Aint>, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Array<Aint>, recvtypes: Array<usize>, comm: Comm, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Neighbor_allgather. MPI 5.0 §8.8.1.
    fn Neighbor_allgather_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Neighbor_allgatherv. MPI 5.0 §8.8.1.
    fn Neighbor_allgatherv_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcounts: Counts,
        displs: Counts, recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Neighbor_alltoall. MPI 5.0 §8.8.2.
    fn Neighbor_alltoall_init(
        sendbuf: ConstBuffer, sendcount: Count, sendtype: Committed, recvbuf: Buffer, recvcount: Count,
        recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Neighbor_alltoallv. MPI 5.0 §8.8.2.
    fn Neighbor_alltoallv_init(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Counts, sendtype: Committed, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Counts, recvtype: Committed, comm: Comm, info: Hints, request: Out<usize>,
    ) [large] => unsupported

    /// Makes a persistent request for MPI_Neighbor_alltoallw. MPI 5.0 §8.8.2.
    fn Neighbor_alltoallw_init(
        sendbuf: ConstBuffer, sendcounts: Counts, sdispls: Array<Aint>, sendtypes: Array<usize>, recvbuf: Buffer,
        recvcounts: Counts, rdispls: Array<Aint>, recvtypes: Array<usize>, comm: Comm, info: Hints,
        request: Out<usize>,
    ) [large] => unsupported
}
