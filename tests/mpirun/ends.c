/* The last rank ends in the way that the argument names while the others wait for it: mpirun names it, and no other one. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *what, const char *name)
{
    return strncmp(what, name, strlen(name)) == 0;
}

/* Does not return. */
static void end(const char *what)
{
    if (is(what, "abort")) {
        MPI_Abort(MPI_COMM_WORLD, 42);
    } else if (is(what, "kill")) {
        raise(SIGKILL);
    } else if (is(what, "leave")) {
        _exit(0);
    }
    _exit(3);
}

int main(int argc, char **argv)
{
    int rank, size, code, byte = 0;
    const char *what = argc > 1 ? argv[1] : "exit";
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    if (is(what, "early") && number != NULL && atoi(number) == atoi(getenv("OMPI_COMM_WORLD_SIZE")) - 1) {
        return 0;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!is(what, "early")) {
        /* All are connected. */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1) {
            MPI_Send(&byte, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Recv(&byte, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == size - 1) {
            end(what);
        }
    }
    if (strstr(what, "-all") != NULL) {
        MPI_Request requests[2];
        MPI_Status statuses[2];
        MPI_Irecv(&byte, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&code, 1, MPI_INT, size - 1, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
    }
    if (strstr(what, "-caught") != NULL) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    code = MPI_Recv(&byte, 1, MPI_INT, size - 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) {
        return 0;
    }
    if (strcmp(what, "exit-caught-exit") == 0) {
        exit(1);
    }
    MPI_Abort(MPI_COMM_WORLD, 5);
    return 0;
}
