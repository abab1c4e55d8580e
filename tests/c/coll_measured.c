// covers: MPI_Bcast MPI_Allgather MPI_Alltoall MPI_Reduce MPI_Allreduce
// ranks: 1 2 3 4
/*
 * The same long collectives (MPI 5.0 chapter 6) again and again, on two communicators in turn: a library that measures which way
 * is the better one changes it in between. Every call must be right, and equal calls must have equal results to the bit, on
 * all ranks (MPI 5.0 section 6.9.1): sums that are rounded, and the least of 0 and -0.
 *
 * -DSEED_MEASURED_MISTAKE: from some call on one rank brings another number.
 */
#include "check.h"

enum { BCAST, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, LEAST, OPERATIONS, N = 5000, CALLS = 170 };
static double *from, *to, *first[OPERATIONS];

static double element(int rank, int block, int i)
{
    return (rank + 1) / 3.0 + block * 7 + i % 1000;
}

static double zero(int rank, int i)
{
    return (rank + i) % 2 ? 0.0 : -0.0;
}

static double wanted(int operation, int root, int block, int i)
{
    return operation == BCAST       ? element(root, 0, i)
           : operation == ALLGATHER ? element(block, 0, i)
                                    : element(block, check_rank, i);
}

static void compare(int operation, int call, size_t bytes)
{
    if (first[operation] == NULL) {
        first[operation] = check_alloc(bytes);
        memcpy(first[operation], to, bytes);
    }
    CHECK_MSG(memcmp(first[operation], to, bytes) == 0, "operation %d, call %d: other bits than at the first call", operation, call);
}

static void perform(int operation, int call, MPI_Comm comm)
{
    int all = check_ranks, root = operation == REDUCE ? 0 : call % all;
    for (int i = 0; i < N * all; i++)
        from[i] = operation == LEAST ? zero(check_rank, i) : element(check_rank, i / N, i % N), to[i] = -1;
#ifdef SEED_MEASURED_MISTAKE
    if (call == 100 && check_rank == 0)
        from[N - 1] += 1;
#endif
    switch (operation) {
    case BCAST: MPI_Bcast(check_rank == root ? from : to, N, MPI_DOUBLE, root, comm); break;
    case ALLGATHER: MPI_Allgather(from, N, MPI_DOUBLE, to, N, MPI_DOUBLE, comm); break;
    case ALLTOALL: MPI_Alltoall(from, N, MPI_DOUBLE, to, N, MPI_DOUBLE, comm); break;
    case REDUCE: MPI_Reduce(from, to, N, MPI_DOUBLE, MPI_SUM, root, comm); break;
    case ALLREDUCE: MPI_Allreduce(from, to, N, MPI_DOUBLE, MPI_SUM, comm); break;
    default: MPI_Allreduce(from, to, N, MPI_DOUBLE, MPI_MIN, comm); break;
    }
    if (operation >= REDUCE) {
        if (operation != REDUCE || check_rank == root)
            compare(operation, call, N * sizeof *to);
        return;
    }
    for (int block = 0; block < (operation == BCAST ? 1 : all); block++)
        for (int i = 0; i < N && (operation != BCAST || check_rank != root); i++)
            if (to[block * N + i] != wanted(operation, root, block, i)) {
                check_fail(__FILE__, __LINE__, "operation %d, call %d, block %d: element %d is %g", operation, call, block, i,
                           to[block * N + i]);
                return;
            }
}

/* Rank 0 looks at what the others have. */
static void same_everywhere(int operation)
{
    if (check_rank != 0) {
        MPI_Send(first[operation], N, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        return;
    }
    for (int peer = 1; peer < check_ranks; peer++) {
        MPI_Recv(to, N, MPI_DOUBLE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_MSG(memcmp(first[operation], to, N * sizeof *to) == 0, "operation %d: rank %d has other bits", operation, peer);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comms[2];
    start(&argc, &argv, "coll_measured");
    size_t bytes = (size_t)(N * check_ranks) * sizeof *from;
    from = check_alloc(bytes), to = check_alloc(bytes);
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int call = 0; call < 2 * CALLS; call++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            perform(operation, call, comms[call % 2]);
    same_everywhere(ALLREDUCE);
    same_everywhere(LEAST);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
    return finish();
}
