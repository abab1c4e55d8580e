/* Ends in the way that its argument names: what mpirun says about it is tested. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Not joined with their callers. */
#define APART __attribute__((noinline, noclone))
APART int compute(volatile long *count);
APART int follow(int *nowhere);
APART int descend(volatile int depth);

int compute(volatile long *count)
{
    while (*count >= 0) {
        *count = *count / 2 + 1;
    }
    return 0;
}

int follow(int *nowhere)
{
    return *nowhere + 1;
}

int descend(volatile int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return depth == -1 ? 0 : descend(depth + 1) + room[0];
}

static void own_handler(int number)
{
    (void)number;
    _exit(9);
}

int main(int argc, char **argv)
{
    int rank;
    volatile long count = 1;
    volatile int result = 0;
    const char *what = argc > 1 ? argv[1] : "end";
    if (strcmp(what, "handler-before") == 0) {
        signal(SIGSEGV, own_handler);
    }
    if (strcmp(what, "fork-before") == 0) {
        fork();
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "fork-after") == 0 && rank == 1 && fork() == 0) {
        /* A guard of a program's own must not meet the refusal. */
        int initialized, finalized;
        MPI_Initialized(&initialized);
        MPI_Finalized(&finalized);
        if (initialized && finalized) {
            MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        }
        _exit(0);
    }
    if (strcmp(what, "fork-after") == 0 && rank == 0) {
        MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "error") == 0 && rank == 0) {
        MPI_Send(&rank, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (strcmp(what, "handler-after") == 0) {
        signal(SIGSEGV, own_handler);
    }
    if ((strcmp(what, "crash") == 0 || strncmp(what, "handler", 7) == 0) && rank == 1) {
        result = follow(NULL);
    }
    if (strcmp(what, "overflow") == 0 && rank == 1) {
        result = descend(0);
    }
    if (strcmp(what, "abort") == 0 && rank == 1) {
        abort();
    }
    if (strcmp(what, "deadlock") == 0 && rank == 0) {
        MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (strcmp(what, "wait") == 0) {
        if (rank == 0) {
            MPI_Recv(&rank, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            result = compute(&count);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return result * 0;
}
