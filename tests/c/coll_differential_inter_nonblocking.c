// covers: MPI_Ibcast MPI_Igather MPI_Iscatter MPI_Iallgather MPI_Ialltoall MPI_Ireduce MPI_Iallreduce MPI_Ireduce_scatter MPI_Ireduce_scatter_block
// ranks: 2 3
/*
 * The nonblocking collectives between two groups against MPI_Send and MPI_Recv, MPI 5.0 section 6.12: the draws of the
 * blocking ones' program, with a nonblocking operation for each blocking one.
 */
#include "coll_as.h"
#include "coll_differential_inter.c"
