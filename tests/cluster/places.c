/*
 * Each rank says where it is and with whom it shares a node, and takes part in a sum. For tests of direct launch.
 *
 *   places [what]     abort: rank 1 calls MPI_Abort with 7; sleep: rank 1 says its process and waits to be killed, as all do
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank, size, here, length, sum = 0, one, is_there, *app;
    char name[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm node;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(name, &length);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &app, &is_there);
    one = rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* Messages of each pair, so that each path is used. */
    for (int peer = 0; peer < size; peer++) {
        int out = rank * 1000 + peer, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, peer, 5, &in, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (in != peer * 1000 + rank)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
    if (strcmp(what, "abort") == 0 && rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(what, "sleep") == 0 && rank == 1) {
        fprintf(stderr, "rank 1 is process %d\n", (int)getpid());
    }
    if (*what != '\0')
        MPI_Recv(&one, 1, MPI_INT, rank, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d of %d, program %d, with %d on %s, sum %d\n", rank, size, is_there ? *app : -1, here, name, sum);
    MPI_Comm_free(&node);
    MPI_Finalize();
    return 0;
}
