// covers: MPI_Bcast_c MPI_Reduce_c MPI_Allreduce_c MPI_Ibcast_c
/*
 * Collectives (MPI 5.0 chapter 6) of very many elements of one byte, each checked at every place. Argument: how many; by
 * default a few. With more than 2^31, which `cargo xtask test --all coll/giant` asks for, no int counts them, and a rank
 * needs that much memory.
 */
#include "check.h"

static unsigned char *at;
static MPI_Count n;

static unsigned char value(int rank, MPI_Count i)
{
    return (unsigned char)(i * 131 + (i >> 20) * 7 + rank * 29);
}

static unsigned char all_xored(MPI_Count i)
{
    unsigned char x = 0;
    for (int r = 0; r < check_ranks; r++)
        x ^= value(r, i);
    return x;
}

static void put(int rank)
{
    for (MPI_Count i = 0; i < n; i++)
        at[i] = rank < 0 ? 0 : value(rank, i);
}

static void expect(const char *what, int root)
{
    for (MPI_Count i = 0; i < n; i++)
        if (at[i] != (root < 0 ? all_xored(i) : value(root, i))) {
            check_fail(__FILE__, __LINE__, "%s: byte %lld is %d", what, (long long)i, at[i]);
            return;
        }
}

int main(int argc, char **argv)
{
    MPI_Request q;
    int last;
    start(&argc, &argv, "coll_giant");
    last = check_ranks - 1;
    n = argc > 1 ? atoll(argv[1]) : 100003;
    at = check_alloc((size_t)n);
    /* The first calls on a communicator may go another way. */
    for (int i = 0; i < 4; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    put(check_rank == last ? last : -1);
    MPI_Bcast_c(at, n, MPI_BYTE, last, MPI_COMM_WORLD);
    expect("MPI_Bcast_c", last);
    put(check_rank == 0 ? 0 : -1);
    MPI_Ibcast_c(at, n, MPI_BYTE, 0, MPI_COMM_WORLD, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    expect("MPI_Ibcast_c", 0);
    put(check_rank);
    MPI_Allreduce_c(MPI_IN_PLACE, at, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD);
    expect("MPI_Allreduce_c", -1);
    put(check_rank);
    MPI_Reduce_c(check_rank == 0 ? MPI_IN_PLACE : at, check_rank == 0 ? at : NULL, n, MPI_BYTE, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (check_rank == 0)
        expect("MPI_Reduce_c", -1);
    free(at);
    return finish();
}
