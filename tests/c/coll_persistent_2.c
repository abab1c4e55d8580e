// covers: MPI_Reduce_init MPI_Allreduce_init MPI_Reduce_scatter_init MPI_Reduce_scatter_block_init MPI_Scan_init MPI_Exscan_init
/*
 * The persistent collectives that combine data, MPI 5.0 section 6.13: every check of the blocking ones' program,
 * with a persistent operation for each blocking one.
 */
#define AS_PERSISTENT
#include "coll_as.h"
#include "coll_blocking_2.c"
