/*
 * How long it takes until a program can communicate: says so once MPI_Init has returned, with the time that it took and,
 * where clocks count from the start of the machine, how old the machine was when the program began.
 *
 *   mpirun -n 2 started
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
    int rank;
    double begin = now_us(), end;
    MPI_Init(&argc, &argv);
    end = now_us();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("initialized: main at %.0f us, MPI_Init took %.0f us\n", begin, end - begin);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
