// covers: MPI_Ireduce MPI_Iallreduce MPI_Ireduce_scatter MPI_Ireduce_scatter_block MPI_Iscan MPI_Iexscan
/*
 * The nonblocking collectives that combine data, MPI 5.0 section 6.12: every check of the blocking ones' program,
 * with a nonblocking operation for each blocking one.
 */
#include "coll_as.h"
#include "coll_blocking_2.c"
