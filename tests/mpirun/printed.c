/* Prints a line, then ends as its argument says: what was printed must arrive, however the job ends. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "finalize";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf(!strncmp(end, "partial-", 8) ? "printed before" : "printed before\n");
    /* Both ranks have printed when one of them ends the job. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(end, "partial-abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(end, "partial-error"))
        MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        if (!strcmp(end, "abort"))
            MPI_Abort(MPI_COMM_WORLD, 3);
        if (!strcmp(end, "error"))
            MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (!strcmp(end, "segv"))
            raise(SIGSEGV);
        if (!strcmp(end, "kill"))
            raise(SIGKILL);
        if (!strcmp(end, "exit"))
            _exit(5);
    }
    MPI_Recv(&rank, 1, MPI_INT, 0, 99, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return 1;
}
