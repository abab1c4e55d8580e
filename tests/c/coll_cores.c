// covers: MPI_Barrier MPI_Allreduce MPI_Alltoall MPI_Reduce
// ranks: 1 3 4 8
/*
 * Short collectives (MPI 5.0 chapter 6) of ranks that move from core to core, as a system moves those that share cores: a
 * library that reckons with who is where must not depend on it. Ten thousand operations and more, because the library may look only now and then.
 *
 * -DSEED_CORES_MISTAKE: one rank brings another number to one of them.
 */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

enum { CALLS = 4000, MOVES = 1000 };

/* To another of the cores that it may use, if there is one. */
static void move(const cpu_set_t *allowed, int turn)
{
    int cores = CPU_COUNT(allowed), which = (turn * (check_rank + 1) + check_rank) % cores;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, allowed) || which-- > 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(core, &one);
        CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
        return;
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv, "coll_cores");
    int all = check_ranks, last = all - 1;
    cpu_set_t allowed;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    long *out = check_alloc(sizeof(long) * (size_t)all), *in = check_alloc(sizeof(long) * (size_t)all);
    for (int call = 0; call < CALLS; call++) {
        if (call % MOVES == 0)
            move(&allowed, call / MOVES);
        long one = 10L * call + check_rank, sum = -1, least = -1;
#ifdef SEED_CORES_MISTAKE
        one += call == CALLS - 1 && check_rank == 0;
#endif
        MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_MSG(sum == 10L * call * all + all * (all - 1L) / 2, "call %d: the sum is %ld", call, sum);
        for (int rank = 0; rank < all; rank++)
            out[rank] = 1000L * call + 10 * check_rank + rank, in[rank] = -1;
        MPI_Alltoall(out, 1, MPI_LONG, in, 1, MPI_LONG, MPI_COMM_WORLD);
        for (int rank = 0; rank < all; rank++)
            CHECK_MSG(in[rank] == 1000L * call + 10 * rank + check_rank, "call %d: rank %d brings %ld", call, rank, in[rank]);
        /* One that not all wait for, between those. */
        MPI_Reduce(&one, &least, 1, MPI_LONG, MPI_MIN, call % all, MPI_COMM_WORLD);
        CHECK_MSG(check_rank != call % all || least == 10L * call, "call %d: the least is %ld", call, least);
        if (call % 3 == last % 3)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    return finish();
}
