// covers: MPI_Neighbor_allgather_init MPI_Neighbor_allgatherv_init MPI_Neighbor_alltoall_init MPI_Neighbor_alltoallv_init MPI_Neighbor_alltoallw_init MPI_Neighbor_allgather_init_c MPI_Neighbor_allgatherv_init_c MPI_Neighbor_alltoall_init_c MPI_Neighbor_alltoallv_init_c MPI_Neighbor_alltoallw_init_c
// ranks: 1 2 3 4 6 8
/*
 * The persistent collectives among neighbours, MPI 5.0 section 8.8: every check of the blocking ones' program, and
 * operations that are started often.
 */
#define AS_PERSISTENT
#include "neighbor_1.c"
