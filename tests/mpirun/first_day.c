/* Ends in the way that its argument names: what mpirun says about it is tested. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;
    const char *what = argc > 1 ? argv[1] : "end";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "error") == 0 && rank == 0) {
        MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
