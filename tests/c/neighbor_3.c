// covers: MPI_Neighbor_allgather_init MPI_Neighbor_allgatherv_init MPI_Neighbor_alltoall_init MPI_Neighbor_alltoallv_init MPI_Neighbor_alltoallw_init MPI_Neighbor_allgather_init_c MPI_Neighbor_allgatherv_init_c MPI_Neighbor_alltoall_init_c MPI_Neighbor_alltoallv_init_c MPI_Neighbor_alltoallw_init_c
// ranks: 1 2 3 4 6 8
/*
 * The persistent collectives among neighbours, MPI 5.0 section 8.8: every check of the blocking ones' program, and
 * operations that are started often.
 */
#define AS_PERSISTENT
#include "check.h"
#define MPI_Neighbor_allgather(...) completed(MPI_Neighbor_allgather_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_allgather_c(...) completed(MPI_Neighbor_allgather_init_c(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_allgatherv(...) completed(MPI_Neighbor_allgatherv_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_allgatherv_c(...) completed(MPI_Neighbor_allgatherv_init_c(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_alltoall(...) completed(MPI_Neighbor_alltoall_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_alltoall_c(...) completed(MPI_Neighbor_alltoall_init_c(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_alltoallv(...) completed(MPI_Neighbor_alltoallv_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_alltoallv_c(...) completed(MPI_Neighbor_alltoallv_init_c(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_alltoallw(...) completed(MPI_Neighbor_alltoallw_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#define MPI_Neighbor_alltoallw_c(...) completed(MPI_Neighbor_alltoallw_init_c(__VA_ARGS__, MPI_INFO_NULL, &request), &request)
#include "neighbor_1.c"
