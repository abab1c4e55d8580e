// covers: MPI_Ineighbor_allgather MPI_Ineighbor_allgatherv MPI_Ineighbor_alltoall MPI_Ineighbor_alltoallv MPI_Ineighbor_alltoallw MPI_Ineighbor_allgather_c MPI_Ineighbor_allgatherv_c MPI_Ineighbor_alltoall_c MPI_Ineighbor_alltoallv_c MPI_Ineighbor_alltoallw_c
// ranks: 1 2 3 4 6 8
/*
 * The nonblocking collectives among neighbours, MPI 5.0 section 8.7: every check of the blocking ones' program, and
 * several under way at the same time.
 */
#define AS_NONBLOCKING
#include "check.h"
#define MPI_Neighbor_allgather(...) completed(MPI_Ineighbor_allgather(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_allgather_c(...) completed(MPI_Ineighbor_allgather_c(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_allgatherv(...) completed(MPI_Ineighbor_allgatherv(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_allgatherv_c(...) completed(MPI_Ineighbor_allgatherv_c(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_alltoall(...) completed(MPI_Ineighbor_alltoall(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_alltoall_c(...) completed(MPI_Ineighbor_alltoall_c(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_alltoallv(...) completed(MPI_Ineighbor_alltoallv(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_alltoallv_c(...) completed(MPI_Ineighbor_alltoallv_c(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_alltoallw(...) completed(MPI_Ineighbor_alltoallw(__VA_ARGS__, &request), &request)
#define MPI_Neighbor_alltoallw_c(...) completed(MPI_Ineighbor_alltoallw_c(__VA_ARGS__, &request), &request)
#include "neighbor_1.c"
