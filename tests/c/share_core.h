/* For programs whose ranks share a core. */
#ifndef SHARE_CORE_H
#define SHARE_CORE_H
#include <mpi.h>
#include <sched.h>

/* Both ranks on the first core that both may use. */
static inline void share_core(void)
{
    cpu_set_t mine;
    int first = 0, both;
    sched_getaffinity(0, sizeof mine, &mine);
    while (!CPU_ISSET(first, &mine))
        first++;
    MPI_Allreduce(&first, &both, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CPU_ZERO(&mine);
    CPU_SET(both, &mine);
    /* Where mpirun bound the ranks they cannot: each has a core then, and waits are short. */
    sched_setaffinity(0, sizeof mine, &mine);
}
#endif
