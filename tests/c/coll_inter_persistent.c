// covers: MPI_Barrier_init MPI_Bcast_init MPI_Gather_init MPI_Gatherv_init MPI_Scatter_init MPI_Scatterv_init MPI_Allgather_init MPI_Allgatherv_init MPI_Alltoall_init MPI_Alltoallv_init MPI_Alltoallw_init MPI_Reduce_init MPI_Allreduce_init MPI_Reduce_scatter_init MPI_Reduce_scatter_block_init
// ranks: 2 3 5
/*
 * The persistent collectives on intercommunicators, MPI 5.0 section 6.13: every check of the blocking ones' program,
 * with a persistent operation for each blocking one.
 */
#define AS_PERSISTENT
#include "coll_as.h"
#include "coll_inter.c"
