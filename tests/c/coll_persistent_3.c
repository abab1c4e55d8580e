// covers: MPI_Bcast_init_c MPI_Gather_init_c MPI_Gatherv_init_c MPI_Scatter_init_c MPI_Scatterv_init_c MPI_Allgather_init_c MPI_Allgatherv_init_c MPI_Alltoall_init_c MPI_Alltoallv_init_c MPI_Alltoallw_init_c MPI_Reduce_init_c MPI_Allreduce_init_c MPI_Reduce_scatter_init_c MPI_Reduce_scatter_block_init_c MPI_Scan_init_c MPI_Exscan_init_c
/*
 * The persistent collectives with MPI_Count, MPI 5.0 section 6.13: every check of the blocking ones' program, with
 * a persistent operation for each blocking one.
 */
#define AS_PERSISTENT
#include "coll_as.h"
#include "coll_large_counts.c"
