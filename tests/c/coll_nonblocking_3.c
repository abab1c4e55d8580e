// covers: MPI_Ibcast_c MPI_Igather_c MPI_Igatherv_c MPI_Iscatter_c MPI_Iscatterv_c MPI_Iallgather_c MPI_Iallgatherv_c MPI_Ialltoall_c MPI_Ialltoallv_c MPI_Ialltoallw_c MPI_Ireduce_c MPI_Iallreduce_c MPI_Ireduce_scatter_c MPI_Ireduce_scatter_block_c MPI_Iscan_c MPI_Iexscan_c
/*
 * The nonblocking collectives with MPI_Count, MPI 5.0 section 6.12: every check of the blocking ones' program,
 * with a nonblocking operation for each blocking one.
 */
#include "coll_as.h"
#include "coll_large_counts.c"
