/* Handles and statuses for a debugger to show. */
#include <mpi.h>
#include <stdio.h>

void look_here(void)
{
    puts("here");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm comm = MPI_COMM_WORLD, own, none = MPI_COMM_NULL;
    MPI_Datatype datatype = MPI_DOUBLE;
    MPI_Op op = MPI_SUM;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int word = 7;
    MPI_Comm_dup(comm, &own);
    MPI_Sendrecv(&word, 1, MPI_INT, 0, 9, &word, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &status);
    status.MPI_ERROR = MPI_SUCCESS;
    look_here();
    MPI_Comm_free(&own);
    MPI_Finalize();
    return none == comm || datatype == MPI_INT || op == MPI_MAX || request != MPI_REQUEST_NULL;
}
