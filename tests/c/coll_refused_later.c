// covers: MPI_Bcast MPI_Allgather MPI_Alltoall MPI_Reduce MPI_Allreduce
// args: reads
// args: writes
// args: in-place
// ranks: 2 3 5
/*
 * Long collectives (MPI 5.0 chapter 6) between processes of a node that the system stops from copying between each other
 * when they have found each other already: on one rank all reads or all writes fail from some moment on. What went in is
 * still there, so every operation must end right, on communicators that were in use before and on others. `in-place`: what
 * went into a reduction may be overwritten by then; that one fails on all ranks, with an error class, and the next is right.
 */
#define _GNU_SOURCE
#include "check.h"
#include "refuse.h"

enum { BCAST, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, OPERATIONS, N = 10000 };
static MPI_Comm comms[OPERATIONS];
static double *from, *to;
static int all;

static double element(int rank, int i)
{
    return rank * 7 + i % 1000;
}

static double sum(int i)
{
    return 7.0 * (all * (all - 1) / 2) + (double)all * (i % 1000);
}

/* Element i of block k of what operation leaves here. */
static double wanted(int operation, int root, int k, int i)
{
    switch (operation) {
    case BCAST: return element(root, i);
    case ALLGATHER: return element(k, i);
    case ALLTOALL: return element(k, check_rank * N + i);
    default: return sum(i);
    }
}

static void perform(int operation, int root)
{
    MPI_Comm comm = comms[operation];
    int blocks = operation == ALLGATHER || operation == ALLTOALL ? all : 1;
    for (int i = 0; i < N * all; i++)
        from[i] = element(check_rank, i), to[i] = operation == BCAST && check_rank == root ? from[i] : -1;
    switch (operation) {
    case BCAST: MPI_Bcast(to, N, MPI_DOUBLE, root, comm); break;
    case ALLGATHER: MPI_Allgather(from, N, MPI_DOUBLE, to, N, MPI_DOUBLE, comm); break;
    case ALLTOALL: MPI_Alltoall(from, N, MPI_DOUBLE, to, N, MPI_DOUBLE, comm); break;
    case REDUCE: MPI_Reduce(from, to, N, MPI_DOUBLE, MPI_SUM, root, comm); break;
    default: MPI_Allreduce(from, to, N, MPI_DOUBLE, MPI_SUM, comm); break;
    }
    for (int k = 0; k < blocks && (operation != REDUCE || check_rank == root); k++)
        for (int i = 0; i < N; i++)
            if (to[k * N + i] != wanted(operation, root, k, i)) {
                check_fail(__FILE__, __LINE__, "operation %d, root %d, block %d: element %d is %g", operation, root, k, i, to[k * N + i]);
                return;
            }
}

static void all_operations(int times)
{
    for (int time = 0; time < times; time++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            perform(operation, time % all);
}

static int allreduce_in_place(void)
{
    int code;
    for (int i = 0; i < N; i++)
        to[i] = element(check_rank, i);
    code = MPI_Allreduce(MPI_IN_PLACE, to, N, MPI_DOUBLE, MPI_SUM, comms[ALLREDUCE]);
    for (int i = 0; i < N && code == MPI_SUCCESS; i++)
        if (to[i] != sum(i)) {
            check_fail(__FILE__, __LINE__, "in place: element %d is %g", i, to[i]);
            break;
        }
    return code;
}

int main(int argc, char **argv)
{
    /* Else long data goes through shared memory at first, and both ways are measured. */
    setenv("OMPI_MCA_coll_sm_bcast_algorithm", "direct", 1);
    setenv("OMPI_MCA_coll_sm_allgather_algorithm", "direct", 1);
    setenv("OMPI_MCA_coll_sm_alltoall_algorithm", "direct", 1);
    setenv("OMPI_MCA_coll_sm_reduce_algorithm", "direct", 1);
    setenv("OMPI_MCA_coll_sm_allreduce_algorithm", "direct", 1);
    start(&argc, &argv, "coll_refused_later");
    int writes = argc > 1 && strcmp(argv[1], "writes") == 0, in_place = argc > 1 && strcmp(argv[1], "in-place") == 0;
    all = check_ranks;
    from = check_alloc((size_t)(N * all) * sizeof *from), to = check_alloc((size_t)(N * all) * sizeof *to);
    for (int i = 0; i < OPERATIONS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    all_operations(5);
    if (check_rank == all - 1)
        refuse_copies(!writes, writes);
    if (in_place) {
        MPI_Comm_set_errhandler(comms[ALLREDUCE], MPI_ERRORS_RETURN);
        CHECK_CLASS(allreduce_in_place(), MPI_ERR_OTHER);
        CHECK_EQ(allreduce_in_place(), MPI_SUCCESS);
    }
    all_operations(4);
    for (int i = 0; i < OPERATIONS; i++)
        MPI_Comm_free(&comms[i]);
    return finish();
}
