// covers: MPI_Ineighbor_allgather MPI_Ineighbor_allgatherv MPI_Ineighbor_alltoall MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallw MPI_Ineighbor_allgather_c MPI_Ineighbor_allgatherv_c MPI_Ineighbor_alltoall_c MPI_Ineighbor_alltoallv_c MPI_Ineighbor_alltoallw_c
// ranks: 1 2 3 4 6 8
/*
 * The nonblocking collectives among neighbours, MPI 5.0 section 8.7: every check of the blocking ones' program, and
 * several under way at the same time.
 */
#define AS_NONBLOCKING
#include "neighbor_1.c"
