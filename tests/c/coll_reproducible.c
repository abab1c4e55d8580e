// covers: MPI_Reduce MPI_Allreduce MPI_Reduce_scatter MPI_Reduce_scatter_block MPI_Scan MPI_Exscan
// ranks: 2 3 4 5 8
/*
 * Equal calls have equal results, bit by bit (advice of MPI 5.0 section 6.9.1), from the first one on a communicator on,
 * whatever is set up for the later ones; and where all ranks get the same sum, they get the same bits. The sums of these
 * doubles depend on the order in which they are added.
 */
#include "check.h"

enum { REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, FUNCTIONS, CALLS = 7, MOST = 40000 };
static const char *const names[] = {"reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};
static double out[MOST], in[MOST], first[MOST];

static void perform(int function, int count, MPI_Comm comm)
{
    int counts[64];
    for (int r = 0; r < check_ranks; r++)
        counts[r] = count / check_ranks;
    switch (function) {
    case REDUCE: MPI_Reduce(out, in, count, MPI_DOUBLE, MPI_SUM, 0, comm); break;
    case ALLREDUCE: MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, comm); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, comm); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(out, in, count / check_ranks, MPI_DOUBLE, MPI_SUM, comm); break;
    case SCAN: MPI_Scan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); break;
    default: MPI_Exscan(out, in, count, MPI_DOUBLE, MPI_SUM, comm); break;
    }
}

/* On a communicator that nobody has used before. */
static void repeat(int function, int count)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < count; i++)
        out[i] = 1.0 / (3 + check_rank * 7 + i);
    for (int call = 0; call < CALLS; call++) {
        memset(in, 0, (size_t)count * sizeof *in);
        perform(function, count, comm);
        if (call == 0)
            memcpy(first, in, (size_t)count * sizeof *in);
        if (memcmp(first, in, (size_t)count * sizeof *in) != 0)
            check_fail(__FILE__, __LINE__, "call %d of %s of %d doubles differs from the first", call, names[function], count);
    }
    if (function == ALLREDUCE) {
        MPI_Bcast(first, count, MPI_DOUBLE, check_ranks - 1, comm);
        CHECK(memcmp(first, in, (size_t)count * sizeof *in) == 0);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 8, 16, 120, 1000, MOST};
    start(&argc, &argv, "coll_reproducible");
    for (int function = 0; function < FUNCTIONS; function++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            repeat(function, counts[i]);
    MPI_Finalize();
    return verdict();
}
