// covers: MPI_Bcast_init MPI_Gather_init MPI_Scatter_init MPI_Allgather_init MPI_Alltoall_init MPI_Reduce_init MPI_Allreduce_init MPI_Reduce_scatter_init MPI_Reduce_scatter_block_init MPI_Scan_init MPI_Exscan_init
// ranks: 2 3
/*
 * The persistent collectives against MPI_Send and MPI_Recv, MPI 5.0 section 6.13: the draws of the
 * blocking ones' program, with a persistent operation for each blocking one.
 */
#define AS_PERSISTENT
#include "coll_as.h"
#include "coll_differential.c"
