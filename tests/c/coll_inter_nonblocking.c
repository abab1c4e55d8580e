// covers: MPI_Ibarrier MPI_Ibcast MPI_Igather MPI_Igatherv MPI_Iscatter MPI_Iscatterv MPI_Iallgather MPI_Iallgatherv MPI_Ialltoall MPI_Ialltoallv MPI_Ialltoallw MPI_Ireduce MPI_Iallreduce MPI_Ireduce_scatter MPI_Ireduce_scatter_block
// ranks: 2 3 5
/*
 * The nonblocking collectives on intercommunicators, MPI 5.0 section 6.12: every check of the blocking ones' program,
 * with a nonblocking operation for each blocking one.
 */
#include "coll_as.h"
#include "coll_inter.c"
